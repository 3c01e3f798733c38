"""The metrics of a controller: when a series exists, and what counts as a timeout."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from clientgo import context, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.controller_runtime import controller as ctrlcontroller
from clientgo.controller_runtime import metrics, reconcile
from clientgo.controller_runtime.internal import controller
from clientgo.testing import synctest
from clientgo.util import workqueue


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


def a_controller(do: Callable[[context.Context, str], Any], timeout: float = 0.0) -> controller.Controller[str]:
    limiter: Any = workqueue.default_typed_controller_rate_limiter()
    return controller.new(
        controller.Options(
            do=do,
            rate_limiter=limiter,
            new_queue=lambda name, limiter: workqueue.new_typed_rate_limiting_queue(limiter),
            log_constructor=lambda request: klog.background(),
            name=f"test-{uuid.uuid4()}",
            reconciliation_timeout=timeout,
        )
    )


def series(name: str) -> dict[str, float]:
    """Return a controller's series, also those that are 0, with the label `result`."""
    samples = [sample for family in metrics.REGISTRY.collect() for sample in family.samples]
    return {
        sample.name.removeprefix("controller_runtime_") + sample.labels.get("result", ""): sample.value
        for sample in samples
        if sample.labels.get("controller") == name
        and "le" not in sample.labels
        and not sample.name.endswith("_created")
    }


def test_the_context_of_a_reconcile_has_the_controllers_logger_with_its_id(
    bubble: synctest.Bubble, caplog: pytest.LogCaptureFixture
) -> None:
    ids: list[str] = []

    def reconcile(ctx: context.Context, request: str) -> None:
        ids.append(controller.reconcile_id_from_context(ctx))
        klog.from_context(ctx).info("in the reconcile")

    ctrl = a_controller(reconcile)
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=ctrl.start, args=(ctx,))
    thread.start()
    bubble.wait()
    ctrl.queue.add("a")
    bubble.wait()
    cancel()
    thread.join()

    (line,) = [message for message in caplog.messages if "in the reconcile" in message]
    assert ids[0] in line


def test_a_controllers_series_exist_from_start_on(bubble: synctest.Bubble) -> None:
    """Go: Controller.initMetrics, called by Start; WithLabelValues makes the others with the first call."""
    ctrl = a_controller(lambda ctx, request: None)
    assert series(ctrl.name) == {}
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=ctrl.start, args=(ctx,))
    thread.start()
    bubble.wait()
    assert series(ctrl.name) == {
        "active_workers": 0.0,
        "max_concurrent_reconciles": 1.0,
        "reconcile_errors_total": 0.0,
        "reconcile_panics_total": 0.0,
        "reconcile_timeouts_total": 0.0,
        "reconcile_totalerror": 0.0,
        "reconcile_totalrequeue": 0.0,
        "reconcile_totalrequeue_after": 0.0,
        "reconcile_totalsuccess": 0.0,
        "terminal_reconcile_errors_total": 0.0,
    }
    cancel()
    thread.join()


@pytest.mark.parametrize(
    ("err", "counted"),
    [
        (None, {"reconcile_timeouts_total": 1.0}),
        (ValueError("late"), {"reconcile_timeouts_total": 1.0}),
        (KeyError("a panic"), {"reconcile_panics_total": 1.0}),
    ],
    ids=["returns", "raises", "panics"],
)
def test_a_panic_is_not_counted_as_a_timeout(
    bubble: synctest.Bubble, monkeypatch: pytest.MonkeyPatch, err: Exception | None, counted: dict[str, float]
) -> None:
    def reconcile(ctx: context.Context, request: str) -> None:
        ctx.done().wait()
        if err is not None:
            raise err

    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [])
    ctrl = a_controller(reconcile, timeout=2.0)
    try:
        ctrl.reconcile(context.background(), "a")
    except Exception as raised:
        assert err is not None and str(err) in str(raised)
    # Also: before start there are no series but those counted in.
    assert series(ctrl.name) == counted


@pytest.mark.parametrize("seconds", ["5s", timedelta(seconds=5), float("nan"), None], ids=repr)
def test_a_requeue_after_that_is_no_number_of_seconds_is_a_bug_of_the_reconciler(
    bubble: synctest.Bubble, seconds: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A NaN would be no requeue, and any other value would end the manager."""
    ctrl = a_controller(lambda ctx, request: reconcile.Result(requeue_after=seconds))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=ctrl.start, args=(ctx,))
    thread.start()
    bubble.wait()
    ctrl.queue.add("a")
    bubble.sleep(1.0)
    assert thread.is_alive()
    cancel()
    thread.join()
    panics = [line for line in caplog.messages if line.startswith('"Observed a panic"')]
    assert len(panics) > 1, "the object is tried again"
    assert f"requeue_after is a number of seconds; this reconciler returned {seconds!r}" in panics[0].splitlines()[0]


def test_a_controller_that_has_not_started_has_no_queue() -> None:
    made = a_controller(lambda ctx, request: reconcile.Result())

    assert repr(made) == f"<Controller {made.name!r}, not started, no queue yet>"


def test_the_context_of_a_sources_sync_ends_with_the_sync(bubble: synctest.Bubble) -> None:
    """Otherwise its timer would stay until the timeout, which may be minutes."""
    synced: list[context.Context] = []

    class Source:
        def start(self, ctx: context.Context, queue: Any) -> None: ...

        def wait_for_sync(self, ctx: context.Context) -> None:
            synced.append(ctx)

    made = a_controller(lambda ctx, request: reconcile.Result())
    made.watch(Source())
    ctx, cancel = context.with_cancel(context.background())
    running = threading.Thread(target=made.start, args=(ctx,), name="controller")
    running.start()
    bubble.wait()

    assert ctx.err() is None
    assert [each.err() is not None for each in synced] == [True]
    cancel()
    running.join()


def test_a_source_has_two_minutes_for_its_first_synchronization() -> None:
    options = ctrlcontroller.Options(reconciler=reconcile.Func(lambda ctx, request: None))
    made: Any = ctrlcontroller.new_unmanaged(f"test-{uuid.uuid4()}", options)

    assert made.cache_sync_timeout == 120.0
    assert a_controller(lambda ctx, item: None).cache_sync_timeout == 120.0


class ReturnsItsError:
    """A source that returns its error, as Go's do."""

    def start(self, ctx: context.Context, queue: Any, /) -> Any:
        return OSError("no broker")

    def __str__(self) -> str:
        return "broker"


def test_a_source_that_returns_its_error_has_failed(bubble: synctest.Bubble) -> None:
    ctrl = a_controller(lambda ctx, request: None)
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=ctrl.start, args=(ctx,))
    thread.start()
    bubble.wait()
    with pytest.raises(OSError, match="no broker"):
        ctrl.watch(ReturnsItsError())
    early = a_controller(lambda ctx, request: None)
    early.watch(ReturnsItsError())
    with pytest.raises(OSError, match="no broker"):
        early.start(ctx)
    cancel()
    thread.join()
