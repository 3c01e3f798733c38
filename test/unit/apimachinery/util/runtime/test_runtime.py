"""Crashes are logged and raised on, or swallowed where one says so; errors are logged and slowed down."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang import fmt
from clientgo.testing import synctest


@pytest.fixture(autouse=True)
def restore(monkeypatch):
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", list(utilruntime.PANIC_HANDLERS))
    monkeypatch.setattr(utilruntime.runtime, "ERROR_HANDLERS", list(utilruntime.ERROR_HANDLERS))
    monkeypatch.setattr(utilruntime.runtime, "REALLY_CRASH", False)


def test_the_error_of_a_function_reaches_its_caller_and_the_log():
    """This is the port of Go's `return fmt.Errorf(...)` below `defer HandleCrash()`."""

    def run() -> None:
        with utilruntime.handle_crash():
            raise fmt.errorf("failed to wait for %s to sync", "caches")

    with pytest.raises(RuntimeError, match="failed to wait for caches to sync"):
        run()
    for guard in (
        utilruntime.handle_crash(),
        utilruntime.handle_crash_with_context(context.background()),
        utilruntime.handle_crash_with_logger(klog.background()),
    ):
        with pytest.raises(ValueError, match="boom"), guard:
            raise ValueError("boom")


def test_handle_crash_logs_with_traceback_and_goes_on(caplog):
    """Go: TestHandleCrash, TestHandleCrashLog."""
    with utilruntime.handle_crash(go_on=True):
        raise ValueError("boom")
    (record,) = caplog.records
    message = record.getMessage()
    line = int(message.partition("test_runtime.py:")[2].partition(" ")[0])
    at = f"test_runtime.py:{line} in test_handle_crash_logs_with_traceback_and_goes_on"
    text = """\"Observed a panic" panic="boom" panicGoValue="ValueError('boom')\""""
    assert message.startswith(f'{text} at="{at}" stacktrace=<')
    assert 'raise ValueError("boom")' in caplog.text
    assert record.filename == "test_runtime.py"
    assert record.funcName == "test_handle_crash_logs_with_traceback_and_goes_on"


def test_handle_crash_runs_all_handlers():
    """Go: TestCustomHandleCrash."""
    seen: list[tuple[str, str]] = []
    utilruntime.PANIC_HANDLERS.append(lambda ctx, err: seen.append(("global", str(err))))
    with utilruntime.handle_crash(lambda err: seen.append(("own", str(err))), go_on=True):
        raise ValueError("boom")
    ctx = context.with_value(context.background(), "k", "v")
    own = utilruntime.handle_crash_with_context(
        ctx, lambda inner, err: seen.append((inner.value("k"), str(err))), go_on=True
    )
    with own:
        raise ValueError("bang")
    assert seen == [("global", "boom"), ("own", "boom"), ("global", "bang"), ("v", "bang")]


def test_handle_crash_with_logger(caplog):
    """Go: TestHandleCrashContextual."""
    with utilruntime.handle_crash_with_logger(klog.background().with_name("worker"), go_on=True):
        raise ValueError("boom")
    assert 'logger="worker"' in caplog.text


def test_no_crash_no_handlers():
    guard = utilruntime.handle_crash(lambda err: pytest.fail("called"))
    for _ in range(2):
        with guard:
            pass


def test_interrupts_pass_through():
    for kind in (KeyboardInterrupt, SystemExit):
        with pytest.raises(kind), utilruntime.handle_crash(lambda err: pytest.fail("called")):
            raise kind


def test_an_exit_in_a_thread_is_a_crash_with_a_remedy(caplog):
    """Python ends the thread without a message, and the program continues without it."""
    went_on = []

    def work() -> None:
        guard = utilruntime.handle_crash(went_on.append, go_on=True)
        for _ in range(2):
            with guard:
                sys.exit(3)

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()
    assert [type(err) for err in went_on] == [SystemExit, SystemExit]
    first = caplog.messages[0].splitlines()[0]
    assert re.search(r'panicGoValue="SystemExit\(3\)" at="test_runtime.py:\d+ in work" remedy="sys.exit ends', first)


def test_an_interrupt_in_a_thread_is_no_crash():
    passed = []

    def work() -> None:
        try:
            with utilruntime.handle_crash(lambda err: pytest.fail("called"), go_on=True):
                raise KeyboardInterrupt
        except KeyboardInterrupt as err:
            passed.append(err)

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()
    assert len(passed) == 1


def test_the_first_line_of_a_panic_names_the_cause(caplog):
    with utilruntime.handle_crash(go_on=True):
        try:
            {}["replicas"]
        except KeyError as err:
            raise RuntimeError("cannot scale") from err
    first = caplog.messages[0].splitlines()[0]
    assert re.search(r'panic="cannot scale".* at="test_runtime.py:\d+ in test_.*" cause="KeyError: .replicas."', first)


def test_the_first_line_of_a_panic_about_the_network_names_the_line_that_failed(caplog):
    not_found = errors.new_not_found(GroupResource("", "pods"), "web")
    for err in (TimeoutError("the third step took too long"), not_found, ConnectionError("gone")):
        caplog.clear()
        with utilruntime.handle_crash(go_on=True):
            raise err
        first = caplog.messages[0].splitlines()[0]
        assert re.search(r' at="test_runtime.py:\d+ in test_the_first_line', first), first


def test_really_crash_raises_in_the_main_thread():
    utilruntime.REALLY_CRASH = True
    assert utilruntime.REALLY_CRASH
    with pytest.raises(ValueError, match="boom"), utilruntime.handle_crash(go_on=True):
        raise ValueError("boom")


def test_really_crash_ends_the_process_from_any_thread():
    program = (
        "import threading\n"
        "from clientgo.apimachinery.util import runtime\n"
        "runtime.REALLY_CRASH = True\n"
        "def work():\n"
        "    with runtime.handle_crash():\n"
        "        raise ValueError('boom')\n"
        "threading.Thread(target=work).start()\n"
        "threading.Event().wait()\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, env=env)
    assert done.returncode == 2
    assert "Observed a panic" in done.stderr


def test_handle_error(caplog):
    """Go: TestHandleError."""
    utilruntime.handle_error(None)
    assert not caplog.records
    utilruntime.handle_error(ValueError("bad"))
    assert caplog.messages == ['"Unhandled Error" err="bad" logger="UnhandledError"']
    assert caplog.records[0].filename == "test_runtime.py"


def test_handle_error_with_context_and_logger(caplog):
    logger = klog.background().with_name("queue")
    utilruntime.handle_error_with_context(klog.new_context(context.background(), logger), None, "Odd", key="k")
    utilruntime.handle_error_with_logger(logger, ValueError("bad"), "Odd")
    assert caplog.messages == [
        '"Odd" logger="queue.UnhandledError" key="k"',
        '"Odd" err="bad" logger="queue.UnhandledError"',
    ]
    assert {record.filename for record in caplog.records} == {"test_runtime.py"}


def test_pairs_of_an_error_may_be_given_as_in_go(caplog):
    ctx, logger = context.background(), klog.background()
    utilruntime.handle_error_with_context(ctx, ValueError("bad"), "Error syncing", "objectReference", "ns/a")
    utilruntime.handle_error_with_logger(logger, None, "Odd", "key", 1, other=2)
    assert caplog.messages == [
        '"Error syncing" err="bad" logger="UnhandledError" objectReference="ns/a"',
        '"Odd" logger="UnhandledError" key=1 other=2',
    ]


def test_error_handlers_can_be_replaced():
    """Go: TestCustomHandleError."""
    seen: list[object] = []
    utilruntime.ERROR_HANDLERS = [lambda ctx, err, msg, /, **pairs: seen.append((str(err), msg, pairs))]
    utilruntime.handle_error_with_context(context.background(), ValueError("bad"), "m", a=1)
    assert seen == [("bad", "m", {"a": 1})]


def test_errors_that_come_too_fast_wait_a_millisecond():
    """Go: Test_rudimentaryErrorBackoff_OnError_ParallelSleep."""
    backoff = utilruntime.runtime._RudimentaryErrorBackoff
    with synctest.bubble() as b:
        slow = backoff(0.001, utilruntime.runtime.REAL_CLOCK)
        for _ in range(5):
            slow.on_error(context.background(), None, "m")
        # Time counts from before the wait, as in Go, so of errors in a row every second one waits.
        assert b.elapsed == pytest.approx(0.003, abs=1e-5)
        b.sleep(1.0)
        before = b.elapsed
        slow.on_error(context.background(), None, "m")
        assert b.elapsed == before


def test_error_to_string():
    """Go: TestErrorToString."""
    assert utilruntime.error_to_string(ValueError("bad"), "m", a=1) == '"m" err="bad" a=1'


def test_get_caller():
    def called() -> str:
        return utilruntime.get_caller()

    assert called().endswith("test_get_caller")


def test_recover_from_panic():
    with pytest.raises(RuntimeError, match='recovered from panic "boom"') as caught, utilruntime.recover_from_panic():
        raise ValueError("boom")
    assert "Call stack:\nTraceback" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    with utilruntime.recover_from_panic():
        pass


def test_must():
    utilruntime.must(None)
    with pytest.raises(ValueError):
        utilruntime.must(ValueError("bad"))


def test_the_package_has_no_other_magic_names():
    with pytest.raises(AttributeError):
        _ = utilruntime.NOT_THERE


class _Unreadable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("err", "text", "value"),
    [
        (_Unreadable(), "<panic: no text>", "<_Unreadable>"),
        (ExceptionGroup("many", [ValueError(str(i)) for i in range(5000)]), "many (5000 sub-exceptions)",
         f"ExceptionGroup('many', [{', '.join(f'ValueError({str(i)!r})' for i in range(5000))}"[:1000] + "..."),
    ],
)  # fmt: skip
def test_the_first_line_of_a_panic_names_its_type_and_its_place(
    err: Exception, text: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.suppress(Exception), utilruntime.handle_crash():
        raise err
    first = caplog.text.partition("\n")[0]
    assert f'panic="{text}" panicGoValue="{value}" at="test_runtime.py:' in first
