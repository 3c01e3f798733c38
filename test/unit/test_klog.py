"""klog's line format, verbosity and contextual loggers."""

from __future__ import annotations

import argparse
import inspect
import logging
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from clientgo import context, klog


@pytest.fixture(autouse=True)
def quiet():
    """Every test starts at verbosity 0 and leaves the logger as it was."""
    logger = logging.getLogger("clientgo")
    level, handlers, propagate = logger.level, list(logger.handlers), logger.propagate
    klog.set_verbosity(0)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers
    logger.propagate = propagate


@dataclass
class Thing:
    name: str

    def get_name(self) -> str:
        return self.name

    def get_namespace(self) -> str:
        return "ns"


class Name(NamedTuple):
    name: str

    def __str__(self) -> str:
        return f"name {self.name}"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", '"text"'),
        ('say "hi" \\ there', '"say \\"hi\\" \\\\ there"'),
        ("bell\x07 tab\t ünïcode \u200b", '"bell\\a tab\\t ünïcode \\u200b"'),
        ("two\nlines", "<\n\ttwo\n\tlines\n >"),
        ("ends with a break\n", "<\n\tends with a break\n >"),
        (5, "5"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([1, "a"], '[1,"a"]'),
        ({"a": None}, '{"a":null}'),
        (b"raw", '"raw"'),
        (ValueError("bad"), '"bad"'),
        (klog.kref("ns", "name"), '"ns/name"'),
        (klog.kref("", "name"), '"name"'),
        (klog.kobj(Thing("a")), '"ns/a"'),
        (klog.kobj(None), '""'),
        (klog.kobj_slice([Thing("a"), None, Thing("b")]), '"[ns/a <nil> ns/b]"'),
        (klog.kobj_slice(None), '"[]"'),
        (Name("a"), '"name a"'),
        (Unprintable(), '"<panic: no text>"'),
    ],
)
def test_values_are_quoted_as_klog_does(value, text):
    assert klog.format_message("m", {"k": value}) == f'"m" k={text}'


def test_the_error_comes_first_and_the_message_stays_on_one_line():
    assert klog.format_message("a\nb", {"k": 1}, ValueError("bad")) == '"a\\nb" err="bad" k=1'


def test_header():
    record = logging.LogRecord("x", logging.WARNING, "/src/controller.py", 84, "hello", (), None)
    record.process = 106657
    record.msecs, record.created = 44.0, record.created
    line = klog.KlogFormatter().format(record)
    assert re.fullmatch(r"W\d{4} \d\d:\d\d:\d\d\.\d{6}  106657 controller\.py:84\] hello", line)
    assert klog.KlogFormatter(skip_headers=True).format(record) == "hello"


@pytest.mark.parametrize(
    ("level", "letter"),
    [(1, "I"), (logging.INFO, "I"), (logging.WARNING, "W"), (logging.ERROR, "E"), (logging.CRITICAL, "F")],
)
def test_severity_letters(level, letter):
    record = logging.LogRecord("x", level, "f.py", 1, "m", (), None)
    assert klog.KlogFormatter().format(record)[0] == letter


def test_a_foreign_record_with_an_exception_shows_its_traceback(caplog):
    try:
        raise ValueError("bad")
    except ValueError:
        logging.getLogger("other").exception("failed: %s", "x")
    text = klog.KlogFormatter().format(caplog.records[0])
    assert "] failed: x\nTraceback" in text
    assert text.endswith("ValueError: bad")


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_lines_name_their_caller(caplog):
    klog.set_verbosity(1)
    logger = klog.background()
    klog.info("x"), klog.infof("x"), klog.info_s("x"), klog.warning("x"), klog.warningf("x"), klog.error("x")
    klog.errorf("x"), klog.error_s(None, "x"), klog.v(1).info("x"), klog.v(1).infof("x"), logger.info("x")
    logger.error(None, "x"), logger.v(1).info("x")
    last = here() - 1
    assert [record.lineno for record in caplog.records] == [last - 2] * 6 + [last - 1] * 5 + [last] * 2
    assert {record.filename for record in caplog.records} == {"test_klog.py"}


def test_call_depth_names_the_helpers_caller(caplog):
    def helper() -> None:
        klog.background().with_call_depth(1).info("x")

    helper()
    assert caplog.records[0].lineno == here() - 1


def test_verbosity(caplog):
    klog.set_verbosity(4)
    assert klog.verbosity() == 4
    klog.v(4).info("shown", key="k")
    klog.v(5).info("hidden")
    assert klog.v(4).enabled()
    assert not klog.v(5)
    assert caplog.messages == ['"shown" key="k"']
    klog.set_verbosity(100)
    assert klog.v(18)
    assert klog.v(50)


def test_verbosity_is_the_level_of_the_standard_logger():
    logging.getLogger("clientgo").setLevel(logging.DEBUG)
    assert klog.verbosity() == 10
    assert klog.v(10)
    assert not klog.v(11)
    logging.getLogger("clientgo").setLevel(logging.ERROR)
    assert klog.verbosity() == -1


def test_free_text_joins_as_go_does(caplog):
    klog.info("a", 1, 2, "b")
    klog.infof("%s and %d", "x", 3)
    klog.infof("100%")
    assert caplog.messages == ["a1 2b", "x and 3", "100%"]


def test_loggers_are_immutable_and_add_up(caplog):
    root = klog.background()
    named = klog.logger_with_name(root, "a").with_values(k=1, other=2)
    deeper = klog.logger_with_values(named.with_name("b"), k=3)
    root.info("m")
    named.info("m")
    deeper.info("m", other=4)
    deeper.error(ValueError("bad"), "m", err="kept")
    assert caplog.messages == [
        '"m"',
        '"m" logger="a" k=1 other=2',
        '"m" logger="a.b" k=3 other=4',
        '"m" err="bad" logger="a.b" other=2 k=3 err="kept"',
    ]


def test_verbosities_of_loggers_add_up(caplog):
    klog.set_verbosity(3)
    logger = klog.background().v(2)
    assert logger.enabled()
    assert not logger.v(2).enabled()
    assert logger.v(1).get_v() == 3
    logger.v(2).info("hidden")
    logger.v(9).error(None, "errors always show")
    assert caplog.messages == ['"errors always show"']


def test_the_logger_travels_in_the_context(caplog):
    ctx = klog.new_context(context.background(), klog.background().with_name("c"))
    child, _ = context.with_cancel(ctx)
    klog.from_context(child).info("m")
    assert klog.from_context(context.background()) is klog.background() is klog.todo()
    assert caplog.messages == ['"m" logger="c"']


@pytest.mark.parametrize("flags", [["-v=4"], ["-v", "4"], ["--v=4"], ["--v", "4", "-logtostderr=false"]])
def test_flags(flags):
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    namespace = parser.parse_args(flags)
    assert klog.verbosity() == 4
    assert namespace.v == 4


def test_log_file_flag(tmp_path):
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    parser.parse_args(["-skip_headers", f"-log_file={tmp_path / 'log'}"])
    klog.info_s("to the file", n=1)
    klog.flush()
    logging.getLogger("clientgo").handlers[-1].close()
    assert (tmp_path / "log").read_text() == '"to the file" n=1\n'


def test_a_bad_flag_is_refused(capsys):
    parser = argparse.ArgumentParser()
    klog.add_flags(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["-logtostderr=maybe"])
    assert "invalid boolean value" in capsys.readouterr().err


def run_program(program: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env)


def test_a_program_without_logging_gets_klog_lines_on_stderr():
    done = run_program("from clientgo import klog; klog.info_s('hi', k=1); klog.v(1).info('no')")
    assert re.fullmatch(r'I\d{4} [\d:.]{15} +\d+ <string>:1\] "hi" k=1\n', done.stderr)
    assert done.stdout == ""


def test_a_program_with_logging_gets_records():
    done = run_program(
        "import logging; logging.basicConfig(format='%(levelname)s %(name)s %(message)s')\n"
        "from clientgo import klog; klog.warning('hi')"
    )
    assert done.stderr == "WARNING clientgo hi\n"


def test_fatal_ends_the_process():
    done = run_program("from clientgo import klog; klog.fatalf('no %s', 'way'); print('not reached')")
    assert done.returncode == 255
    assert done.stderr.startswith("F")
    assert done.stderr.endswith("no way\n")
    assert done.stdout == ""
