"""A controller's queue lists its items for who wants to see them."""

from __future__ import annotations

import threading
from typing import Any

from clientgo import context, logr
from clientgo.controller_runtime import controller, reconcile, source
from clientgo.testing import synctest


class Lines:
    """A log sink that keeps what it gets."""

    def __init__(self, lines: list[tuple[str, dict[str, Any]]], pairs: dict[str, Any]) -> None:
        self.lines = lines
        self.pairs = pairs

    def init(self, info: Any) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return True

    def info(self, level: int, msg: str, /, **pairs: Any) -> None:
        self.lines.append((msg, self.pairs | pairs))

    def with_values(self, /, **pairs: Any) -> Lines:
        return Lines(self.lines, self.pairs | pairs)


def test_the_queue_of_a_controller_lists_its_items_under_its_name() -> None:
    lines: list[tuple[str, dict[str, Any]]] = []
    sink: Any = Lines(lines, {})
    with synctest.bubble() as bubble:
        options: controller.Options = controller.Options(
            reconciler=lambda ctx, request: reconcile.Result(requeue_after=3600.0),
            logger=logr.new(sink),
            skip_name_validation=True,
        )
        made = controller.new_unmanaged("listed", options)
        made.watch(source.Func(lambda ctx, queue: queue.add(reconcile.Request("ns", "a"))))
        ctx, cancel = context.with_cancel(context.background())
        running = threading.Thread(target=made.start, args=(ctx,), name="controller")
        running.start()
        bubble.sleep(15.0)
        cancel()
        running.join()
    (listed,) = [pairs for msg, pairs in lines if msg == "workqueue_items"]
    assert listed["controller"] == "listed"
    assert listed["items"] == [{"key": reconcile.Request("ns", "a"), "priority": 0, "readyIn": "59m50s"}]
