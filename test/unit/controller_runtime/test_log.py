"""LOG stands for the logger the program chooses; contexts carry loggers; zap's forms."""

from __future__ import annotations

import argparse
import io
import json
import logging
from typing import Any

import pytest

from clientgo import context, klog, logr
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import log
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.log.deleg import DelegatingLogger, Root
from clientgo.controller_runtime.reconcile import Request


def written(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_before_a_logger_is_chosen_lines_go_to_klog(caplog: pytest.LogCaptureFixture) -> None:
    """In Go they are dropped. Go: log: logging > top-level logger"""
    logger = DelegatingLogger(Root()).with_name("setup").with_values(a=1)
    with caplog.at_level(logging.INFO, "clientgo"):
        logger.info("hello", b=2)
    assert caplog.messages == ['"hello" logger="setup" a=1 b=2']
    assert caplog.records[0].filename == "test_log.py"


def test_loggers_made_before_the_choice_follow_it_with_their_names_values_and_verbosity() -> None:
    """Go: log: logging > lazy logger initialization"""
    root, out = Root(), io.StringIO()
    logger = DelegatingLogger(root)
    named, valued, verbose = logger.with_name("a").with_name("b"), logger.with_values(x=1), logger.v(1)
    root.fulfill(zap.new(zap.write_to(out), zap.level(0)))
    named.info("named")
    valued.with_values(y=2).info("valued")
    verbose.info("not shown")
    assert not verbose.enabled() and logger.enabled()
    lines = [{key: value for key, value in line.items() if key not in ("ts", "level")} for line in written(out)]
    assert lines == [{"logger": "a.b", "msg": "named"}, {"msg": "valued", "x": 1, "y": 2}]


def test_only_the_first_choice_counts() -> None:
    root, first, second = Root(), io.StringIO(), io.StringIO()
    root.fulfill(zap.new(zap.write_to(first)))
    root.fulfill(zap.new(zap.write_to(second)))
    DelegatingLogger(root).info("hello")
    assert first.getvalue() and not second.getvalue()


def test_context_gives_its_logger_and_otherwise_the_global_one() -> None:
    """Go: log: logging > logger from context"""
    logger = logr.new(log.NullLogSink())
    ctx = log.into_context(context.background(), logger)
    assert log.from_context(ctx) is logger
    assert klog.from_context(ctx) is logger
    assert log.from_context(context.background()) is log.LOG
    assert log.from_context(None) is log.LOG


def test_null_sink_writes_nothing() -> None:
    logger = logr.new(log.NullLogSink()).with_name("a").with_values(b=1)
    assert not logger.enabled()
    logger.info("hello")
    logger.error(ValueError("x"), "bad")


@pytest.mark.parametrize(("deduplicate", "times"), [(False, 2), (True, 1)])
def test_warnings_of_the_server_are_logged(deduplicate: bool, times: int) -> None:
    out = io.StringIO()
    ctx = log.into_context(context.background(), zap.new(zap.write_to(out)))
    handler = log.new_kube_api_warning_logger(log.KubeAPIWarningLoggerOptions(deduplicate=deduplicate))
    for code, text in ((299, "old"), (299, "old"), (199, "other"), (299, "")):
        handler.handle_warning_header_with_context(ctx, code, "agent", text)
    assert [line["msg"] for line in written(out)] == ["old"] * times


def options_from(*args: str) -> zap.Options:
    options = zap.Options()
    parser = argparse.ArgumentParser(exit_on_error=False)
    options.bind_flags(parser)
    parser.parse_args(args)
    return options


def lines_with(*args: str) -> tuple[zap.Options, str]:
    out = io.StringIO()
    options = options_from(*args)
    logger = zap.new(zap.use_flag_options(options), zap.write_to(out))
    for n in range(4):
        logger.v(n).info(f"level {n}")
    logger.error(RuntimeError("boom"), "failed")
    return options, out.getvalue()


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ((), ["level 0", "failed"]),
        (("--zap-log-level=debug",), ["level 0", "level 1", "failed"]),
        (("-zap-log-level=3",), ["level 0", "level 1", "level 2", "level 3", "failed"]),
        (("--zap-log-level=error",), ["failed"]),
        (("--zap-log-level=panic",), []),
    ],
)
def test_log_level_flag(args: tuple[str, ...], shown: list[str]) -> None:
    """Go: log/zap: Zap log level flag options setup > with zap-log-level

    Go: log/zap: Zap options setup
    """
    _, text = lines_with(*args)
    assert [json.loads(line)["msg"] for line in text.splitlines()] == shown


def test_development_mode_is_columns_from_debug_on() -> None:
    """Go: log/zap: Zap log level flag options setup > with only -zap-devel flag provided"""
    _, text = lines_with("--zap-devel")
    assert "\tINFO\tlevel 0\n" in text and "\tDEBUG\tlevel 1\n" in text and "level 2" not in text
    assert '\tERROR\tfailed\t{"error": "boom"}\nRuntimeError: boom\n' in text


@pytest.mark.parametrize(("level", "stacks"), [("info", 2), ("error", 1), ("panic", 0)])
def test_stacktrace_level_flag(level: str, stacks: int) -> None:
    """Go: log/zap: Zap log level flag options setup > with zap-stacktrace-level options provided"""
    _, text = lines_with(f"--zap-stacktrace-level={level}")
    assert sum("stacktrace" in json.loads(line) for line in text.splitlines()) == stacks


@pytest.mark.parametrize(
    ("name", "type_"), [("epoch", float), ("millis", float), ("nano", int), ("iso8601", str), ("rfc3339nano", str)]
)
def test_time_encoding_flag(name: str, type_: type) -> None:
    """Go: log/zap: Zap log level flag options setup > with zap-time-encoding flag provided"""
    _, text = lines_with(f"--zap-time-encoding={name}")
    assert isinstance(json.loads(text.splitlines()[0])["ts"], type_)


@pytest.mark.parametrize(
    "arg", ["--zap-log-level=0", "--zap-log-level=x", "--zap-encoder=xml", "--zap-time-encoding=x", "--zap-devel=maybe"]
)
def test_what_a_flag_may_not_say_is_refused(arg: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((SystemExit, argparse.ArgumentError)):
        options_from(arg)
    assert arg.partition("=")[0] in capsys.readouterr().err


def test_options_of_the_program() -> None:
    """Go: log/zap: Zap log level flag options setup > with encoder options provided programmatically"""
    out = io.StringIO()

    def rename(config: Any) -> None:
        config.message_key = "MillisecondTimeFormat"

    logger = zap.new(zap.write_to(out), zap.json_encoder(rename), zap.level(-1))
    logger.v(1).info("hello")
    assert written(out)[0]["MillisecondTimeFormat"] == "hello"
    assert not logger.v(2).enabled()


def test_objects_are_shown_by_their_names_and_secrets_stay_hidden() -> None:
    """Go: log/zap: Zap logger setup > when logging kubernetes objects"""
    out = io.StringIO()
    secret = corev1.Secret(metadata=metav1.ObjectMeta(namespace="ns", name="s"), string_data={"password": "hunter2"})
    logger = zap.new(zap.write_to(out))
    logger.info("here", obj=secret, request=Request("ns", "r"), cluster_wide=Request("", "r"))
    line = written(out)[0]
    assert "hunter2" not in out.getvalue()
    assert {"namespace": "ns", "name": "s"}.items() <= line["obj"].items()
    assert line["request"] == {"namespace": "ns", "name": "r"}
    assert line["cluster_wide"] == {"name": "r"}
    loud = io.StringIO()
    zap.new(zap.write_to(loud), zap.level(-10)).info("here", obj=secret)
    assert "hunter2" in loud.getvalue()
