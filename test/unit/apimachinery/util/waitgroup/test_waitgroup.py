"""A wait group takes no more work once it is waited for."""

from __future__ import annotations

import threading

import pytest
from patience import PATIENCE

from clientgo.apimachinery.util.waitgroup import SafeWaitGroup


def test_the_wait_ends_when_all_work_has() -> None:
    """Go: TestWaitGroup."""
    group, go_on, started = SafeWaitGroup(), threading.Event(), threading.Semaphore(0)

    def work() -> None:
        started.release()
        go_on.wait(PATIENCE)
        group.done()

    group.add(3)
    workers = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for worker in workers:
        worker.start()
    for _ in workers:
        assert started.acquire(timeout=PATIENCE)
    waiting = threading.Thread(target=group.wait, daemon=True)
    waiting.start()
    assert waiting.is_alive()

    go_on.set()

    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    assert repr(group) == "<SafeWaitGroup 0, waited for>"


def test_no_work_is_added_after_the_wait() -> None:
    """Go: TestWaitGroupAddFail."""
    group = SafeWaitGroup()
    group.add(1)
    group.add(-1)
    group.wait()

    with pytest.raises(RuntimeError, match="^add with positive delta after Wait is forbidden$"):
        group.add(1)

    group.add(0)
    group.wait()


def test_the_counter_is_never_below_zero() -> None:
    group = SafeWaitGroup()

    with pytest.raises(ValueError, match="negative WaitGroup counter"):
        group.done()
