"""Log lines in JSON: `-logging-format=json`, and `JSONFormatter` with a program's own handlers."""

from __future__ import annotations

import argparse
import io
import json
import logging
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo import klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.klog import output

Json = dict[str, Any]


@pytest.fixture
def lines() -> Iterator[Callable[[], list[Json]]]:
    """Give klog a handler that writes JSON; the fixture returns a function that returns the lines so far."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(klog.JSONFormatter())
    logger = logging.getLogger("clientgo")
    logger.addHandler(handler)
    yield lambda: [json.loads(line) for line in text.getvalue().splitlines()]
    logger.removeHandler(handler)


def test_a_structured_line_keeps_its_values(lines: Callable[[], list[Json]]) -> None:
    klog.info_s("Synced", foo=klog.kref("default", "web"), node=klog.kref("", "n1"), replicas=3, ready=True, note=None)
    (line,) = lines()
    assert list(line)[:4] == ["ts", "caller", "msg", "v"]
    assert line.pop("ts") > 1.7e12
    assert line.pop("caller").startswith("unit/test_klog_json.py:")
    assert line == {
        "msg": "Synced",
        "v": 0,
        "foo": {"name": "web", "namespace": "default"},
        "node": {"name": "n1"},
        "replicas": 3,
        "ready": True,
        "note": None,
    }


def test_a_logger_has_its_name_and_verbosity(lines: Callable[[], list[Json]]) -> None:
    klog.set_verbosity(4)
    try:
        klog.background().with_name("hello").with_name("world").with_values(shard=1).v(4).info("Details")
    finally:
        klog.set_verbosity(0)
    (line,) = lines()
    assert (line["logger"], line["msg"], line["v"], line["shard"]) == ("hello.world", "Details", 4, 1)


def test_free_text_is_the_message(lines: Callable[[], list[Json]]) -> None:
    klog.infof("%d of %d\nfound", 1, 2)
    klog.warning("careful")
    info, warning = lines()
    assert (info["msg"], info["v"]) == ("1 of 2\nfound", 0)
    assert (warning["msg"], warning["severity"]) == ("careful", "warning")


def test_an_error_of_the_api_is_one_text_and_a_bug_has_its_traceback(lines: Callable[[], list[Json]]) -> None:
    klog.error_s(errors.new_not_found(GroupResource("", "pods"), "web"), "Lookup failed", pod="web")
    try:
        {}["nope"]
    except KeyError as err:
        klog.error_s(err, "Error syncing", "key", "a/b")
    api, bug = lines()
    assert (api["err"], api["pod"]) == ('pods "web" not found', "web")
    assert "v" not in api and "stacktrace" not in api
    assert (bug["err"], bug["key"]) == ("KeyError: 'nope'", "a/b")
    assert "test_klog_json.py" in bug["at"] and "Traceback" in bug["stacktrace"]


def test_a_record_that_is_kept_keeps_no_exception(caplog: pytest.LogCaptureFixture) -> None:
    class Held:
        """An object in a frame of the exception's traceback."""

    def fail() -> weakref.ref[Held]:
        held = Held()
        try:
            raise OSError("closed")
        except OSError as err:
            klog.error_s(err, "Failed", other=err)
        return weakref.ref(held)

    assert fail()() is None
    assert caplog.records


def test_an_error_of_a_mebibyte_is_cut(lines: Callable[[], list[Json]]) -> None:
    klog.error_s(OSError("x" * (1 << 20)), "Failed", other=OSError("y" * (1 << 20)))
    (line,) = lines()
    for text in (line["err"], line["other"]):
        assert len(text) < 20_000
        assert text.endswith("more characters)")


def test_a_pair_cannot_replace_a_field_of_the_line(lines: Callable[[], list[Json]]) -> None:
    klog.error_s(ValueError("boom"), "Failed", "msg", "forged", "err", "forged", "v", 9)
    (line,) = lines()
    assert line["msg"] == "Failed"
    assert "boom" in line["err"]
    assert (line["msg_"], line["err_"], line["v"]) == ("forged", "forged", 9)


def test_a_record_of_another_logger_is_a_line_too(lines: Callable[[], list[Json]]) -> None:
    record = logging.LogRecord("urllib3", logging.DEBUG, "/a/pool.py", 7, "retry %d", (3,), None)
    line = json.loads(klog.JSONFormatter().format(record))
    assert (line["msg"], line["caller"], line["v"]) == ("retry 3", "a/pool.py:7", 10)


class _Odd:
    def __str__(self) -> str:
        raise RuntimeError("no text")


_CIRCLE: list[Any] = []
_CIRCLE.append(_CIRCLE)


_TEXTS = ("\ud800", "\x1b[31m\x9b\u2028\n")


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), _CIRCLE, {1: {(2, 3): 4}}, b"\xff", *_TEXTS, _Odd(), object()]
)
def test_any_value_makes_one_line_that_a_parser_reads(value: object, lines: Callable[[], list[Json]]) -> None:
    klog.info_s("Odd", value=value, after=1)
    (line,) = lines()
    assert (line["msg"], line["after"]) == ("Odd", 1)
    assert "value" in line


@given(st.text(), st.dictionaries(st.text(), st.text() | st.binary() | st.floats() | st.none()))
def test_any_text_and_pairs_are_one_line(msg: str, pairs: dict[str, Any]) -> None:
    record = logging.LogRecord("clientgo", logging.INFO, "/a/b.py", 1, klog.format_message(msg, pairs), (), None)
    text = klog.JSONFormatter().format(record)
    assert "\n" not in text
    parsed = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert len(parsed) >= 4


def parse(*flags: str) -> None:
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    parser.parse_args(flags)


def test_the_flag_selects_the_format_of_stderr_and_files(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("clientgo")
    propagate = logger.propagate
    try:
        parse("-logging-format=json", f"-log_file={tmp_path / 'log'}")
        klog.error("bad")
    finally:
        parse("--logging-format=text", "-log_file=", "-logtostderr=true")
        logger.propagate = propagate
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert json.loads(line)["msg"] == json.loads(capsys.readouterr().err)["msg"] == "bad"


def test_another_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("-logging-format=xml")
    assert 'unsupported log format "xml"' in capsys.readouterr().err
    with pytest.raises(ValueError, match="unsupported log format: 'xml'"):
        klog.install(format="xml")
    with pytest.raises(ValueError, match="unsupported log format: 'xml'"):
        output.configure(format="xml", skip_headers=True)
    assert (output.SETTINGS.format, output.SETTINGS.skip_headers) == ("text", False)
