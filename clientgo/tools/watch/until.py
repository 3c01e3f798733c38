"""Functions that wait until events of a watch meet conditions. Mirrors client-go/tools/watch/until.go.

Go returns the last event together with the error; here the errors have it as the attribute `last_event`.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import context, klog
from clientgo.apimachinery.util.wait import ErrWaitTimeout
from clientgo.apimachinery.watch import Event, Interface
from clientgo.context import CancelFunc, Context
from clientgo.golang.channel import Case, select
from clientgo.klog.answers import is_true
from clientgo.klog.exceptions import operational_error
from clientgo.tools import cache
from clientgo.tools.watch.informerwatcher import new_indexer_informer_watcher_with_logger
from clientgo.tools.watch.retrywatcher import new_retry_watcher_with_context

__all__ = [
    "ConditionFunc",
    "ErrWatchClosed",
    "PreconditionFunc",
    "context_with_optional_timeout",
    "until",
    "until_with_sync",
    "until_without_retry",
]

PreconditionFunc = Callable[[cache.Store], bool]
"""Reports whether the synced store already meets the condition; may raise. Go: watch.PreconditionFunc."""

ConditionFunc = Callable[[Event], bool]
"""Reports whether the event meets the condition; may raise. Go: watch.ConditionFunc.

Examine the object's state rather than the kind of change: the change may have been missed.
"""


@operational_error
class ErrWatchClosed(Exception):
    """The watch ended before all conditions were met. Go: watch.ErrWatchClosed."""

    def __init__(self, last_event: Event | None = None) -> None:
        super().__init__("watch closed before UntilWithoutRetry timeout")
        self.last_event = last_event


class _UntilInterrupted(ErrWaitTimeout):
    """Raised if the context is done before all conditions were met; `wait.interrupted` detects it."""

    def __init__(self, last_event: Event | None) -> None:
        super().__init__()
        self.last_event = last_event


def until_without_retry(ctx: Context, watcher: Interface, *conditions: ConditionFunc) -> Event | None:
    """Wait until the conditions are met one after the other; return the event that met the last one.

    Stops the watcher. Each condition starts with the event that met the previous one. Returns None only without
    conditions. Raises ErrWatchClosed if the watch ends, an error that is `wait.interrupted` if the context is done, and
    the errors of conditions. A watch may end at any time: prefer `until` or `until_with_sync`.
    Go: watch.UntilWithoutRetry.
    """
    try:
        last_event: Event | None = None
        for condition in conditions:
            if last_event is None or not is_true(condition, last_event):
                last_event = _next_match(ctx, watcher, condition, last_event)
        return last_event
    finally:
        watcher.stop()


def _next_match(ctx: Context, watcher: Interface, condition: ConditionFunc, last_event: Event | None) -> Event:
    cases: list[Case] = [ctx.done(), watcher.result_chan()]
    while True:
        case, event, ok = select(cases)
        if case == 0:
            raise _UntilInterrupted(last_event)
        if not ok:
            raise ErrWatchClosed(last_event)
        latest: Event = event
        if is_true(condition, latest):
            return latest
        last_event = latest


def until(
    ctx: Context, initial_resource_version: str, watcher_client: cache.Watcher, *conditions: ConditionFunc
) -> Event | None:
    """Wait for the conditions like `until_without_retry`, with a RetryWatcher: conditions see every event, in order.

    So it fails if the server no longer has the version at which it was interrupted. Use it where the exact sequence
    matters, for example in tests. Raises ValueError for the versions "" and "0".

    Go: watch.Until.
    """
    watcher = new_retry_watcher_with_context(
        ctx, initial_resource_version, cache.to_watcher_with_context(watcher_client)
    )
    try:
        return until_without_retry(ctx, watcher, *conditions)
    finally:
        watcher.done().wait()


def until_with_sync(
    ctx: Context,
    lw: cache.ListerWatcher,
    obj_type: object,
    precondition: PreconditionFunc | None,
    *conditions: ConditionFunc,
) -> Event | None:
    """Wait for the conditions like `until_without_retry`, with an informer.

    It survives all interruptions, but may miss changes between two states. With a `precondition`, it waits until the
    informer's store has synced and calls it first. Returns None if the precondition is met already. Returns only after
    the informer has stopped. Raises RuntimeError when the context is done before the store has synced.

    Go: watch.UntilWithSync.
    """
    indexer, informer, watcher, done = new_indexer_informer_watcher_with_logger(klog.from_context(ctx), lw, obj_type)
    try:
        if precondition is not None:
            if not cache.wait_for_cache_sync(ctx.done(), informer.has_synced):
                raise RuntimeError(f"UntilWithSync: unable to sync caches: {ctx.err()}") from ctx.err()
            if is_true(precondition, indexer):
                return None
        return until_without_retry(ctx, watcher, *conditions)
    finally:
        watcher.stop()
        done.wait()


def context_with_optional_timeout(parent: Context, timeout: float) -> tuple[Context, CancelFunc]:
    """Return a context with a timeout in seconds; 0 means no timeout. A negative one is logged and counts as 0.

    Go: watch.ContextWithOptionalTimeout.
    """
    if timeout < 0:
        klog.from_context(parent).error(None, "Timeout for context shall not be negative")
        timeout = 0
    return context.with_cancel(parent) if timeout == 0 else context.with_timeout(parent, timeout)
