"""Values computed when wanted. Go: synctrack/lazy_test.go."""

from __future__ import annotations

import itertools
import threading

import pytest

from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools.cache import synctrack


def test_a_value_is_evaluated_anew_after_each_notification_and_never_goes_back() -> None:
    """Go: TestLazy"""
    counter = itertools.count(1)
    lazy = synctrack.Lazy(lambda: next(counter))

    def watch(seen: list[int]) -> None:
        for _ in range(50):
            seen.append(lazy.get())

    def scenario() -> None:
        seen: list[list[int]] = [[] for _ in range(3)]
        threads = [threading.Thread(target=watch, args=(values,)) for values in seen]
        for thread in threads:
            thread.start()
        for _ in range(50):
            lazy.notify()
        for thread in threads:
            thread.join()
        for values in seen:
            assert values == sorted(values)

    for seed in range(5):
        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))
    before = lazy.get()
    assert lazy.get() == before
    lazy.notify()
    assert lazy.get() == before + 1


def test_all_waiting_threads_share_one_evaluation() -> None:
    """Go: TestLazyThroughput"""
    with synctest.bubble() as bubble:
        release = Signal()
        evaluations: list[int] = []

        def evaluate() -> int:
            evaluations.append(1)
            release.wait()
            return len(evaluations)

        lazy = synctrack.Lazy(evaluate)
        got: list[int] = []
        threads = [threading.Thread(target=lambda: got.append(lazy.get())) for _ in range(10)]
        for thread in threads:
            thread.start()
        bubble.wait()
        assert evaluations == [1]
        release.set()
        for thread in threads:
            thread.join()
        assert got == [1] * 10


class SlowValue:
    """A function that returns the number of the evaluation. The test ends each evaluation."""

    def __init__(self) -> None:
        self.gates: list[Signal] = []
        self.lazy = synctrack.Lazy(self._evaluate)

    def _evaluate(self) -> int:
        number = len(self.gates)
        self.gates.append(Signal())
        self.gates[number].wait()
        return number

    def get_in_thread(self, got: list[int]) -> threading.Thread:
        thread = threading.Thread(target=lambda: got.append(self.lazy.get()))
        thread.start()
        return thread


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_an_older_evaluation_never_takes_the_place_of_a_newer_one(order: tuple[int, int]) -> None:
    """This holds for both orders of their ends.

    Go: TestLazySlowEval
    Go: TestLazySlowEval2
    """
    with synctest.bubble() as bubble:
        value = SlowValue()
        got: list[int] = []
        threads = [value.get_in_thread(got)]
        bubble.wait()
        value.lazy.notify()
        threads.append(value.get_in_thread(got))
        bubble.wait()
        assert len(value.gates) == 2
        for number in order:
            value.gates[number].set()
            bubble.wait()
        assert got == list(order)
        assert value.lazy.get() == 1
        assert len(value.gates) == 2
        for thread in threads:
            thread.join()


def test_without_a_notification_it_evaluates_once() -> None:
    """Go: TestLazyOnlyOnce"""
    calls: list[int] = []
    lazy = synctrack.Lazy(lambda: calls.append(1))
    for _ in range(3):
        lazy.get()
    assert calls == [1]


def test_an_error_is_raised_and_not_kept() -> None:
    """Go: TestLazyError"""
    outcomes = iter([RuntimeError("not yet"), RuntimeError("not yet"), None])

    def evaluate() -> str:
        if (err := next(outcomes)) is not None:
            raise err
        return "fine"

    lazy = synctrack.Lazy(evaluate)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not yet"):
            lazy.get()
    assert lazy.get() == "fine"
    assert lazy.get() == "fine"


def test_a_lazy_value_must_say_how_it_is_evaluated() -> None:
    with pytest.raises(RuntimeError, match="evaluate is not set"):
        synctrack.Lazy().get()
