"""A watch that continues after interruptions. Mirrors client-go/tools/watch/retrywatcher.go."""

from __future__ import annotations

import threading
from typing import Any

from clientgo import context, klog
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import net, wait
from clientgo.apimachinery.watch import Event, EventType, Interface
from clientgo.context import Context
from clientgo.golang.channel import Case, Channel, Done, Send, Signal, select
from clientgo.tools import cache

__all__ = ["RetryWatcher", "new_retry_watcher", "new_retry_watcher_with_context"]

_GONE = 410
_RETRIED_CODES = (500, 504)


class RetryWatcher:
    """A watch that reopens itself at the last seen resource version when it ends.

    Its consumer does not notice timeouts and lost connections. It ends, after an ERROR event, when the server no longer
    has the version or does not permit the watch. Informers handle the first case by relisting. Go: watch.RetryWatcher.

    One thread, "retry-watcher", receives and sends. It ends soon after `stop` or the end of the context, even if the
    consumer does not read the events. `_last_resource_version` belongs to it.
    """

    def __init__(
        self,
        ctx: Context,
        initial_resource_version: str,
        watcher_client: cache.WatcherWithContext,
        min_restart_delay: float,
    ) -> None:
        """Initialize a watcher. Use `new_retry_watcher_with_context` instead."""
        self._ctx, self._cancel = context.with_cancel_cause(ctx)
        self._last_resource_version = initial_resource_version
        self._watcher_client = watcher_client
        self._result_chan: Channel[Event] = Channel()
        self._done = Signal()
        self._min_restart_delay = min_restart_delay
        threading.Thread(target=self._receive, name="retry-watcher", daemon=True).start()

    def result_chan(self) -> Channel[Event]:
        """Return the events, without bookmarks; unbuffered, and closed when the watcher has ended.

        Go: RetryWatcher.ResultChan.
        """
        return self._result_chan

    def stop(self) -> None:
        """Stop the watcher. Does not block; `done` is set when it has ended. Go: RetryWatcher.Stop."""
        self._cancel(RuntimeError("asked to stop"))

    def done(self) -> Done:
        """Return the signal that is set when the watcher has ended. Go: RetryWatcher.Done."""
        return self._done

    def _receive(self) -> None:
        logger = klog.from_context(self._ctx)
        logger.v(4).info("Starting RetryWatcher")
        receiving, cancel = context.with_cancel(self._ctx)

        def watch_once(ctx: Context) -> None:
            done, retry_after = self._do_receive(ctx)
            if done:
                cancel()
            elif context.sleep(ctx, retry_after):
                logger.v(4).info("Restarting RetryWatcher", resourceVersion=self._last_resource_version)

        try:
            # Not sliding: a watch that ends normally, by timeout, is reopened without a delay, and one that ends at
            # once is not.
            wait.non_sliding_until_with_context(receiving, watch_once, self._min_restart_delay)
        finally:
            cancel()
            self._cancel(None)
            logger.v(4).info("Stopping RetryWatcher")
            self._result_chan.close()
            self._done.set()

    def _do_receive(self, ctx: Context) -> tuple[bool, float]:
        """Open one watch and send its events. Returns whether to end, and otherwise the delay in seconds."""
        options = metav1.ListOptions(resource_version=self._last_resource_version, allow_watch_bookmarks=True)
        try:
            watcher: Interface | None = self._watcher_client.watch_with_context(ctx, options)
        except Exception as err:
            return self._watch_failed(ctx, err), 0.0
        logger = klog.from_context(ctx)
        if watcher is None:
            logger.error(None, "Watch returned nil watcher")
            return False, 0.0
        cases: list[Case] = [ctx.done(), watcher.result_chan()]
        try:
            while True:
                case, event, ok = select(cases)
                if case == 0:
                    logger.v(4).info("Stopping RetryWatcher")
                    return True, 0.0
                if not ok:
                    logger.v(4).info(
                        "Failed to get event - re-creating the watcher", resourceVersion=self._last_resource_version
                    )
                    return False, 0.0
                outcome = self._handle(ctx, event)
                if outcome is not None:
                    return outcome
        finally:
            watcher.stop()

    def _watch_failed(self, ctx: Context, err: Exception) -> bool:
        """Handle a watch that did not start. Returns True to end."""
        logger = klog.from_context(ctx)
        if isinstance(err, net.ErrUnexpectedEOF):
            logger.v(1).info("Watch closed with unexpected EOF", err=err)
            return False
        if type(err) is EOFError:
            return False
        if net.is_probable_eof(err) or net.is_timeout(err):
            logger.v(5).info("Watch failed", err=err)
            return False
        if not (apierrors.is_forbidden(err) or apierrors.is_unauthorized(err)):
            logger.error(err, "Watch failed")
            return False

        # Log more details than the server's message, which is only "unknown".
        advice = "ensure the client has valid credentials and watch permissions on the resource"
        logger.error(err, f"Watch failed: {advice}")
        if not isinstance(err, apierrors.StatusError):
            logger.error(err, "Watch failed: encountered an unexpected Unauthorized or Forbidden error type")
            return True
        if not self._send(ctx, Event(EventType.ERROR, err.status())):
            logger.error(None, "Failed to send the Unauthorized or Forbidden watch event")
            return False
        return True

    def _handle(self, ctx: Context, event: Event) -> tuple[bool, float] | None:
        """Send one event. Returns None to continue with this watch, otherwise the result of `_do_receive`."""
        if event.type == EventType.ERROR:
            return self._handle_error(ctx, event)
        if event.type not in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED, EventType.BOOKMARK):
            klog.from_context(ctx).error(None, "Failed to recognize event", type=event.type)
            return self._abort(ctx, f'retryWatcher failed to recognize Event type "{event.type}"')
        if not hasattr(event.object, "get_resource_version"):
            return self._abort(ctx, "retryWatcher: doesn't support resourceVersion")
        resource_version = event.object.get_resource_version()
        if resource_version == "":
            return self._abort(ctx, f"retryWatcher: object {event.object!r} doesn't support resourceVersion")
        if event.type != EventType.BOOKMARK and not self._send(ctx, event):
            return True, 0.0
        self._last_resource_version = resource_version
        return None

    def _abort(self, ctx: Context, text: str) -> tuple[bool, float]:
        """Send an error and end: continuing could skip the version of an event that was not decoded."""
        self._send(ctx, Event(EventType.ERROR, apierrors.new_internal_error(RuntimeError(text)).status()))
        return True, 0.0

    def _handle_error(self, ctx: Context, event: Event) -> tuple[bool, float]:
        err = apierrors.from_object(event.object)
        logger = klog.from_context(ctx)
        if not isinstance(err, apierrors.StatusError):
            logger.error(None, "Received an error which is not *metav1.Status", errorObject=repr(event.object))
            return False, 0.0
        status = err.status()
        if status.code == _GONE:
            # The version is too old, so a retry would fail too.
            self._send(ctx, event)
            return True, 0.0
        if status.code not in _RETRIED_CODES:
            # Retried as well, unless that is certain to fail; the log shows the codes that occur.
            logger.v(5).info("Retrying after unexpected error", errorObject=repr(event.object))
        return False, _retry_after(status)

    def _send(self, ctx: Context, event: Event) -> bool:
        """Block until the consumer receives the event (return True) or the watcher stops (return False)."""
        return select([ctx.done(), Send(self._result_chan, event)]).case == 1

    def __repr__(self) -> str:
        state = "ended" if self._done.is_set() else "running"
        return f"<RetryWatcher at {self._last_resource_version}, {state}>"


def _retry_after(status: Any) -> float:
    return float(status.details.retry_after_seconds) if status.details is not None else 0.0


def new_retry_watcher(initial_resource_version: str, watcher_client: cache.Watcher) -> RetryWatcher:
    """Return a RetryWatcher without a context. Deprecated in Go. Go: watch.NewRetryWatcher."""
    return new_retry_watcher_with_context(
        context.background(), initial_resource_version, cache.to_watcher_with_context(watcher_client)
    )


def new_retry_watcher_with_context(
    ctx: Context, initial_resource_version: str, watcher_client: cache.WatcherWithContext
) -> RetryWatcher:
    """Return a watch from `initial_resource_version` that reopens itself at most once per second.

    Raises ValueError for the versions "" and "0", for which a server returns arbitrary data.
    Go: watch.NewRetryWatcherWithContext.
    """
    return _new_retry_watcher(ctx, initial_resource_version, watcher_client, 1.0)


def _new_retry_watcher(
    ctx: Context, initial_resource_version: str, watcher_client: cache.WatcherWithContext, min_restart_delay: float
) -> RetryWatcher:
    if initial_resource_version in ("", "0"):
        raise ValueError(
            f'initial RV "{initial_resource_version}" is not supported due to issues with underlying WATCH'
        )
    return RetryWatcher(ctx, initial_resource_version, watcher_client, min_restart_delay)
