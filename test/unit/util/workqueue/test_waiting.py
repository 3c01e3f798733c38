"""Taking a contended lock."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import RecordingMetrics
from clientgo.util import workqueue
from clientgo.util.workqueue.beyond.waiting import Sleepers, acquire_contended
from clientgo.utils.clock import REAL_CLOCK


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


def test_the_waiters_that_were_not_notified_are_counted() -> None:
    with synctest.bubble() as bubble:
        lock = threading.Lock()
        sleepers = Sleepers(lock)
        counts = [sleepers.count]

        def sleep() -> None:
            with lock:
                sleepers.sleep()

        threads = [threading.Thread(target=sleep) for _ in range(3)]
        for thread in threads:
            thread.start()
        bubble.wait()
        with lock:
            counts.append(sleepers.count)
            sleepers.wake_one()
            counts.append(sleepers.count)
            sleepers.wake_all()
            counts.append(sleepers.count)
        for thread in threads:
            thread.join()
        assert counts == [0, 3, 2, 0]


class SlowAdds(RecordingMetrics):
    """Metrics that hold the queue's lock for a second."""

    def new_adds_metric(self, name: str) -> Any:
        adds = super().new_adds_metric(name)
        inc = adds.inc

        def slow_inc() -> None:
            REAL_CLOCK.sleep(1.0)
            inc()

        adds.inc = slow_inc
        return adds


@pytest.mark.parametrize("operation", ["add", "get", "done"])
@pytest.mark.parametrize("kind", ["plain", "priority"])
def test_each_operation_waits_for_the_thread_that_holds_the_lock(kind: str, operation: str) -> None:
    with synctest.bubble() as bubble:
        options: Any = {"name": "q", "metrics_provider": SlowAdds()}
        queue: Any = (
            workqueue.new_typed_with_config(workqueue.TypedQueueConfig(**options))
            if kind == "plain"
            else workqueue.new_priority_queue(workqueue.PriorityQueueConfig(**options))
        )
        for item in ("first", "second"):
            queue.add(item)
        queue.get()
        began = bubble.elapsed
        ended: list[float] = []
        holder = threading.Thread(target=queue.add, args=("third",))
        holder.start()
        bubble.wait()

        def operate() -> None:
            getattr(queue, operation)(*{"add": ("second",), "get": (), "done": ("first",)}[operation])
            ended.append(bubble.elapsed - began)

        other = threading.Thread(target=operate)
        other.start()
        for thread in (holder, other):
            thread.join()
        assert ended == [pytest.approx(1.0)]
        queue.shut_down()
