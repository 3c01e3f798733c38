"""Taking a contended lock."""

from __future__ import annotations

import threading

import pytest

from clientgo.testing import synctest
from clientgo.util.workqueue.beyond.waiting import acquire_contended


def test_it_waits_for_the_lock() -> None:
    with synctest.bubble() as bubble:
        lock = threading.Lock()
        lock.acquire()
        order: list[str] = []

        def take() -> None:
            acquire_contended(lock)
            order.append("taken")
            lock.release()

        thread = threading.Thread(target=take)
        thread.start()
        bubble.wait()
        assert order == []
        order.append("released")
        lock.release()
        thread.join()
        assert order == ["released", "taken"]
        assert bubble.elapsed == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_the_lock_has_one_holder(seed: int) -> None:
    with synctest.bubble(synctest.RandomSchedule(seed)):
        lock, pause = threading.Lock(), threading.Lock()
        holders: list[int] = []
        most = 0

        def work(number: int) -> None:
            nonlocal most
            for _ in range(5):
                if not lock.acquire(False):
                    acquire_contended(lock)
                try:
                    holders.append(number)
                    with pause:
                        most = max(most, len(holders))
                    holders.remove(number)
                finally:
                    lock.release()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == 1
