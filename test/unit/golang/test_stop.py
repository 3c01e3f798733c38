"""Stop signals call back, whatever they are, and leave no thread behind."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from invariants import check_invariants
from patience import PATIENCE
from threadtools import in_thread

from clientgo import context
from clientgo.golang import stop as stops
from clientgo.golang.stop import Signal
from clientgo.testing import synctest
from clientgo.utils.clock import RealClock


class Foreign:
    """A StopChannel that is no threading.Event."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.set, self.is_set, self.wait = self._event.set, self._event.is_set, self._event.wait


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == stops.WATCHER_NAME]


def test_an_event_calls_back_and_stays_as_it_is():
    """An event has no public way to call back; a thread waits for it, and nothing inside it is replaced."""
    stop = threading.Event()
    inside = dict(vars(stop))
    waiting = in_thread(stop.wait)
    calls: list[object] = []
    remove = stops.add_done_callback(stop, lambda: calls.append("removed"))
    stops.add_done_callback(stop, lambda: calls.append(threading.current_thread()))
    assert remove()
    (watcher,) = watchers()
    assert not stop.wait(0.001)
    assert vars(stop) == inside
    stop.set()
    watcher.join(PATIENCE)
    assert calls == [watcher]
    assert waiting.result() is True
    stops.add_done_callback(stop, lambda: calls.append("late"))
    assert calls == [watcher, "late"]
    assert not watchers()


def test_an_event_may_be_set_while_it_gets_callbacks(monkeypatch):
    for seed in range(100):

        def scenario() -> None:
            # A lock from outside would block for real when its holder is preempted.
            monkeypatch.setattr(stops, "_watchers_lock", threading.Lock())
            stop = threading.Event()
            calls: list[int] = []
            threads = [
                threading.Thread(target=stop.set),
                threading.Thread(target=lambda: stops.add_done_callback(stop, lambda: calls.append(1))),
                threading.Thread(target=lambda: stops.add_done_callback(stop, lambda: calls.append(2))),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            synctest.wait()
            assert sorted(calls) == [1, 2]

        synctest.run(scenario, schedule=synctest.RandomSchedule(seed), preempt_in=[stops])
        monkeypatch.undo()


def test_in_a_bubble_a_watcher_is_neither_a_leak_nor_a_reason_to_let_time_pass():
    def abandoned() -> None:
        stops.add_done_callback(threading.Event(), lambda: None)()

    def stuck() -> None:
        stops.add_done_callback(threading.Event(), lambda: None)
        threading.Event().wait()

    synctest.run(abandoned)
    with pytest.raises(synctest.DeadlockError, match=r"at virtual time \+0s"):
        synctest.run(stuck)
    assert not stops._watchers


def test_watching_a_foreign_stop_channel_leaves_no_thread():
    stop = Foreign()
    calls: list[int] = []
    stops.add_done_callback(stop, lambda: calls.append(1))
    remove = stops.add_done_callback(stop, lambda: calls.append(2))
    (watcher,) = watchers()
    assert remove()
    stop.set()
    watcher.join(PATIENCE)
    assert calls == [1]
    assert not stops._watchers
    stops.add_done_callback(stop, lambda: calls.append(3))
    assert calls == [1, 3]


def test_an_abandoned_watcher_ends(monkeypatch):
    monkeypatch.setattr(stops, "WATCHER_IDLE_SECONDS", 0.001)
    remove = stops.add_done_callback(Foreign(), lambda: None)
    (watcher,) = watchers()
    assert remove()
    assert not remove()
    watcher.join(PATIENCE)
    assert not watcher.is_alive()


def test_signal_runs_callbacks_once_in_order():
    signal = Signal()
    calls: list[str] = []
    signal.add_done_callback(lambda: calls.append("a"))
    remove = signal.add_done_callback(lambda: calls.append("b"))
    signal.add_done_callback(lambda: calls.append("c"))
    assert remove()
    assert signal.set()
    assert not signal.set()
    assert calls == ["a", "c"]
    signal.add_done_callback(lambda: calls.append("d"))
    assert calls == ["a", "c", "d"]
    check_invariants(signal)


def test_a_failing_callback_does_not_stop_the_others(caplog):
    signal = Signal()
    calls: list[str] = []
    signal.add_done_callback(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    signal.add_done_callback(lambda: calls.append("b"))
    signal.set()
    assert calls == ["b"]
    assert "A done callback failed" in caplog.text


def fail() -> None:
    raise KeyError("nope")


class Failing:
    def method(self) -> None:
        fail()

    def __call__(self) -> None:
        fail()


FUNCTIONS = {
    "fail": fail,
    "Failing.method": Failing().method,
    "Failing": Failing(),
    "<lambda>": lambda: fail(),
}


def in_own_thread_of_context(fn: Callable[[], None]) -> str:
    ctx, cancel = context.with_cancel(context.background())
    context.after_func(ctx, fn)
    cancel()
    return "context-after-func"


def in_own_thread_of_clock(fn: Callable[[], None]) -> str:
    RealClock().after_func(0.0, fn)
    return "clock-after-func"


@pytest.mark.parametrize("call", [in_own_thread_of_context, in_own_thread_of_clock])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_report_of_a_function_that_fails_in_its_own_thread_names_it_first(
    name: str, call: Callable[[Callable[[], None]], str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    ended = threading.Event()

    def report(args: Any) -> None:
        threading.__excepthook__(args)
        ended.set()

    monkeypatch.setattr(threading, "excepthook", report)
    thread_name = call(functools.partial(FUNCTIONS[name]))
    assert ended.wait(PATIENCE)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"Exception in thread {thread_name} of {name} at test_stop.py:\d+:", lines[0])
    assert lines[-1] == "KeyError: 'nope'"


def test_the_log_of_a_builtin_callback_that_fails_names_it(caplog: pytest.LogCaptureFixture) -> None:
    signal = Signal()
    signal.add_done_callback(functools.partial(int, "x"))  # type: ignore[arg-type]
    signal.set()
    assert caplog.messages == ["A done callback failed: ValueError: invalid literal for int() with base 10: 'x' at int"]


def test_signal_wakes_its_waiters():
    signal = Signal()
    assert not signal.wait(0.001)
    waiting = in_thread(signal.wait)
    signal.set()
    assert waiting.result() is True
    assert signal.wait(0)
