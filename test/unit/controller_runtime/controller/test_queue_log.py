"""A controller's queue lists its items for who wants to see them."""

from __future__ import annotations

import logging
import re
import threading
from typing import Any

import pytest

from clientgo import context, logr
from clientgo.controller_runtime import controller, reconcile, source
from clientgo.testing import synctest
from clientgo.utils.clock import REAL_CLOCK


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


@pytest.mark.parametrize("use_priority_queue", [True, False])
@pytest.mark.parametrize(("seconds", "reported"), [(50.0, 0), (70.0, 1)])
def test_a_reconcile_that_takes_more_than_a_minute_is_reported_once(
    use_priority_queue: bool, seconds: float, reported: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def work(ctx: context.Context, request: reconcile.Request) -> reconcile.Result:
        REAL_CLOCK.sleep(seconds)
        return reconcile.Result(requeue_after=1.0)

    with synctest.bubble() as bubble:
        options: controller.Options = controller.Options(
            reconciler=work, use_priority_queue=use_priority_queue, skip_name_validation=True
        )
        made = controller.new_unmanaged("slow", options)
        made.watch(source.Func(lambda ctx, queue: queue.add(reconcile.Request("ns", "a"))))
        ctx, cancel = context.with_cancel(context.background())
        running = threading.Thread(target=made.start, args=(ctx,), name="controller")
        running.start()
        bubble.sleep(300.0)
        cancel()
        running.join()
    lines = [each.getMessage() for each in caplog.records if "in progress a minute after get" in each.getMessage()]
    assert len(lines) == reported
    assert all('queue="slow"' in line and "ns/a" in line for line in lines)


def test_a_source_whose_wait_has_a_bug_is_logged_with_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def start(self, ctx: context.Context, queue: object) -> None:
            pass

        def wait_for_sync(self, ctx: context.Context) -> None:
            raise KeyError("synced")

    with synctest.bubble():
        options: controller.Options = controller.Options(
            reconciler=lambda ctx, request: reconcile.Result(), skip_name_validation=True
        )
        made = controller.new_unmanaged("broken", options)
        made.watch(Broken())
        ctx, cancel = context.with_cancel(context.background())
        with pytest.raises(RuntimeError, match="failed to wait for broken caches to sync"):
            made.start(ctx)
        cancel()
    (first,) = [line.splitlines()[0] for line in caplog.messages if line.startswith('"Could not wait for Cache')]
    assert re.search(r'at="test_queue_log.py:\d+ in wait_for_sync" cause="KeyError: \'synced\'"', first)
