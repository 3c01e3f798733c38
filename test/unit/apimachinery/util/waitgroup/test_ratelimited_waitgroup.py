"""Work ends no faster than the rate limiter lets it, once the group is waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from patience import PATIENCE

from clientgo.apimachinery.util.waitgroup import NotDrainedError, RateLimitedSafeWaitGroup, RateLimiter
from clientgo.context import Canceled, Context, background, with_cancel


class Turnstile:
    """A rate limiter that lets one end for each `let_one`."""

    def __init__(self) -> None:
        self._turns = threading.Semaphore(0)
        self.waiting = threading.Semaphore(0)

    def let_one(self) -> None:
        self._turns.release()

    def wait(self, ctx: Context) -> None:
        self.waiting.release()
        assert self._turns.acquire(timeout=PATIENCE)
        raise RuntimeError("a limiter's error changes nothing")


class Waiting:
    """A thread that waits for a group; `made` tells that it has the limiter."""

    def __init__(self, group: RateLimitedSafeWaitGroup, limiter: RateLimiter) -> None:
        self.made = threading.Event()
        self.result: tuple[int, int] | Exception | None = None
        self.ctx, self.cancel = with_cancel(background())
        self._group, self._limiter = group, limiter
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self.made.wait(PATIENCE)

    def _factory(self, count: int) -> tuple[RateLimiter, Context, Callable[[], None]]:
        self.count = count
        self.made.set()
        return self._limiter, self.ctx, self.cancel

    def _run(self) -> None:
        try:
            self.result = self._group.wait(self._factory)
        except NotDrainedError as err:
            self.result = err

    def join(self) -> tuple[int, int] | Exception | None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.result


def test_work_ends_at_the_limiters_pace_while_the_group_is_waited_for() -> None:
    """Go: TestRateLimitedSafeWaitGroup, TestRateLimitedSafeWaitGroupWithBurstOfOne."""
    group, turnstile = RateLimitedSafeWaitGroup(), Turnstile()
    group.add(3)
    group.done()  # Before the wait there is no limit.
    waiting = Waiting(group, turnstile)
    workers = [threading.Thread(target=group.done, daemon=True) for _ in range(2)]

    for worker in workers:
        worker.start()
    for _ in workers:
        assert turnstile.waiting.acquire(timeout=PATIENCE)
    assert all(worker.is_alive() for worker in workers) and waiting.result is None
    turnstile.let_one()
    turnstile.let_one()

    assert waiting.join() == (2, 0)
    assert waiting.count == 2
    assert waiting.ctx.err() is not None
    with pytest.raises(RuntimeError, match="^add with positive delta after Wait is forbidden$"):
        group.add(1)


def test_the_wait_ends_with_its_context() -> None:
    """Go: TestRateLimitedSafeWaitGroupWithHardTimeout."""
    group = RateLimitedSafeWaitGroup()
    group.add(2)
    waiting = Waiting(group, Turnstile())

    waiting.cancel()

    err = waiting.join()
    assert isinstance(err, NotDrainedError)
    assert (err.before, err.after) == (2, 2)
    assert isinstance(err.__cause__, Canceled) and str(err) == str(err.__cause__)


def test_a_wait_needs_a_factory_and_the_counter_stays_above_zero() -> None:
    group = RateLimitedSafeWaitGroup()

    with pytest.raises(ValueError, match="^rate limiter factory must be specified$"):
        group.wait(None)
    for fail in (group.done, lambda: group.add(-1)):
        with pytest.raises(ValueError, match="negative WaitGroup counter"):
            fail()
