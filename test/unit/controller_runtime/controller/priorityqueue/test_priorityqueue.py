"""A queue that forwards to another one, and new queues. Mirrors pkg/controller/priorityqueue/priorityqueue.go."""

from __future__ import annotations

import pytest

from clientgo.controller_runtime.controller import priorityqueue
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import ForwardingQueue
from clientgo.testing import synctest


def test_each_call_is_forwarded() -> None:
    with synctest.bubble() as bubble:
        inner = priorityqueue.new("")
        queue: ForwardingQueue[str] = ForwardingQueue(inner)
        queue.add("a")
        assert (queue.len(), inner.len(), queue.shutting_down()) == (1, 1, False)
        item, shutdown = queue.get()
        assert (item, shutdown, queue.len()) == ("a", False, 0)
        queue.add_rate_limited("a")
        assert queue.num_requeues("a") == inner.num_requeues("a") == 1
        queue.forget("a")
        assert queue.num_requeues("a") == 0
        queue.done("a")
        queue.add_after("b", 5.0)
        bubble.sleep(5.1)
        assert {queue.get()[0] for _ in range(queue.len())} == {"a", "b"}
        queue.done("a")
        queue.done("b")
        queue.shut_down()
        assert queue.shutting_down() and inner.shutting_down()


@pytest.mark.parametrize("drains", [False, True])
def test_a_drain_waits_for_the_items_in_work(drains: bool) -> None:
    calls: list[str] = []

    class Inner:
        def shut_down(self) -> None:
            calls.append("shut down")

        def shut_down_with_drain(self) -> None:
            calls.append("drain")

    queue: ForwardingQueue[str] = ForwardingQueue(Inner())  # type: ignore[arg-type]
    (queue.shut_down_with_drain if drains else queue.shut_down)()
    assert calls == ["drain" if drains else "shut down"]
