"""The notifications that wait for a handler: their number and age, and a bound. Has no Go file.

In Go a handler's backlog has no bound and is not visible. Here `statistics()` of the registration and a metric show it,
and a handler that stays far behind is logged once a minute. `HandlerOptions.max_pending` sets a bound. A slow handler
delays no other handler.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import require_function, require_plain
from clientgo.tools.cache.delta_fifo import DeletedFinalStateUnknown
from clientgo.tools.cache.fifo_metrics import HandlerMetrics
from clientgo.tools.cache.notifications import (
    AddNotification,
    DeleteNotification,
    Notification,
    UpdateNotification,
)
from clientgo.tools.cache.store import meta_namespace_key_func
from clientgo.tools.cache.synctrack import SingleFileTracker
from clientgo.utils.clock import Clock

if TYPE_CHECKING:
    from clientgo.tools.cache.beyond.records import HandlerContents, HandlerStatistics

# A handler has fallen behind when more notifications wait, and the first of them for longer. It is logged once a
# period.
_LARGE_BACKLOG = 1000
_OLD_BACKLOG_SECONDS = 10.0
_BACKLOG_WARNING_PERIOD = 60.0


class Overflow(Enum):
    """The effect on a handler when more notifications than `max_pending` wait for it. Beyond Go."""

    MERGE = "merge"
    """The notifications of each object become one, from the state that the handler knows to the newest state.

    An object that was added and deleted since then causes no notification. At most twice as many notifications as
    objects wait."""

    REMOVE = "remove"
    """The handler is removed like with `remove_event_handler`, and an error is logged."""


def stamp(notifications: Sequence[Notification], now: float) -> None:
    """Set the time at which the notifications were queued for the handlers."""
    for notification in notifications:
        notification.queued_at = now


class HandlerProgress(Protocol):
    """The part of a handler's registration that Go does not have."""

    def statistics(self) -> HandlerStatistics:
        """Return the number and age of the notifications that wait for the handler. Beyond Go."""
        ...


class Backlog:
    """The notifications that wait for one handler, and that its thread has taken. The base class of its listener.

    The listener guards the buffer with `_cond`. A closed backlog is empty. With a bound and Overflow.MERGE at most one
    notification of each object waits when there are more than the bound and than twice the objects. `_check` asserts
    these invariants.
    """

    logger: klog.Logger

    def __init__(
        self,
        handler_name: str,
        clock: Clock,
        sync_tracker: SingleFileTracker,
        max_pending: int,
        overflow: Overflow,
        metrics: HandlerMetrics | None,
    ) -> None:
        self._handler_name = handler_name
        self._clock = clock
        self._sync_tracker = sync_tracker
        # Guards the buffer. Never held while the handler runs. Notified when the buffer is no longer empty, and by
        # close.
        self._cond = threading.Condition(threading.Lock())
        self._pending: deque[Notification] = deque()
        self._overflow = overflow
        self._max_pending = max_pending
        # Number of pending notifications at which they are merged next.
        self._merge_at = max_pending
        self._merged = 0
        self._next_warning = 0.0
        self._metrics = metrics
        # Only the listener's thread changes these three.
        self._taken: deque[Notification] = deque()
        self._delivering: Notification | None = None
        self._failed = 0
        # Set once. The listener's thread reads it without the lock, between two notifications.
        self._closed = False

    def is_within_bounds_locked(self) -> bool:
        """Publish the backlog; if it is large, log it and merge notifications. Return False to remove the handler."""
        if self._metrics is not None:
            self._publish(self._metrics)
        length = len(self._pending) + len(self._taken)
        if length <= _LARGE_BACKLOG and (length <= self._max_pending or not self._max_pending):
            return True
        now = self._clock.now()
        length, age = self._length_and_age(now)
        if length > _LARGE_BACKLOG and age > _OLD_BACKLOG_SECONDS and now >= self._next_warning:
            self._next_warning = now + _BACKLOG_WARNING_PERIOD
            self.logger.info(
                "Warning: a handler falls behind, it should hand long work to a queue",
                handler=self._handler_name,
                pendingNotifications=length,
                oldest=format_duration(age),
            )
        if not 0 < self._max_pending < length:
            return True
        if self._overflow is Overflow.REMOVE:
            self.logger.error(
                None, "Removing a handler that fell too far behind", handler=self._handler_name, pending=length
            )
            return False
        if len(self._pending) > self._merge_at:
            self._merge_locked()
        return True

    def _merge_locked(self) -> None:
        """Merge the pending notifications, and again when twice as many are pending: O(1) for each notification."""
        before, self._pending = self._pending, merge(self._pending)
        self._merged += len(before) - len(self._pending)
        self._merge_at = max(self._max_pending, 2 * len(self._pending))
        dropped = sum(each.is_in_initial_list for each in before) - sum(
            each.is_in_initial_list for each in self._pending
        )
        if dropped:
            self._sync_tracker.finished(dropped)

    def publish_delivery(self) -> None:
        """Publish the backlog after a delivery."""
        if self._metrics is not None:
            self._publish(self._metrics)

    def _publish(self, metrics: HandlerMetrics) -> None:
        now = self._clock.now()
        length, age = self._length_and_age(now)
        metrics.pending.set(float(length))
        metrics.oldest.set(now - age if length else 0.0)

    def _length_and_age(self, now: float) -> tuple[int, float]:
        """Return the number of undelivered notifications and the age of the first. Takes no lock."""
        first = self._delivering
        length = len(self._taken) + len(self._pending) + (first is not None)
        for waiting in (self._taken, self._pending):
            with contextlib.suppress(IndexError):
                first = first or waiting[0]
        return length, 0.0 if first is None else max(now - first.queued_at, 0.0)

    def statistics(self) -> HandlerStatistics:
        """See HandlerProgress."""
        from clientgo.tools.cache.beyond.records import HandlerStatistics

        with self._cond:
            length, age = self._length_and_age(self._clock.now())
            return HandlerStatistics(
                handler=self._handler_name,
                pending=length,
                oldest_age=age,
                failed=self._failed,
                merged=self._merged,
                closed=self._closed,
            )

    def name(self) -> str:
        """Return the handler's name in logs."""
        return self._handler_name

    def delivering(self) -> Notification | None:
        """Return the notification that the handler is handling. Takes no lock, like `contents`."""
        return self._delivering

    def waiting(self) -> int:
        """Return the number of notifications that the handler has not handled. O(1). Takes no lock."""
        return len(self._pending) + len(self._taken) + (self._delivering is not None)

    def lengths(self) -> tuple[int, int]:
        """Return the length of the buffer, and the number that the listener's thread has taken. O(1). Takes no lock."""
        return len(self._pending), len(self._taken)

    def contents(self, most: int = sys.maxsize) -> HandlerContents:
        """Return the first `most` notifications of the buffer, and of those that the listener's thread has taken.

        O(most). Takes no lock, so that a debugger can inspect a handler that is stuck.
        """
        from clientgo.snapshot import consistent_copy, first_items
        from clientgo.tools.cache.beyond.records import HandlerContents

        pending = consistent_copy(lambda: tuple(itertools.islice(self._pending, most)), self._cond)
        taken = first_items(self._taken, most)
        return HandlerContents(self._handler_name, pending, taken, self._delivering, self._closed)

    def _check(self) -> None:
        with self._cond:
            assert not (self._closed and self._pending)
            statistics = len(self._pending), self._max_pending, self._merge_at
            if self._overflow is Overflow.MERGE and self._max_pending > 0:
                assert len(self._pending) <= max(self._max_pending, self._merge_at), statistics


def merge(pending: Iterable[Notification]) -> deque[Notification]:
    """Return at most one notification for each object, at the position of its first, with the effect of all. O(n)."""
    ends: dict[object, tuple[Notification, Notification]] = {}
    for notification in pending:
        key = _key_of(notification)
        first, _ = ends.get(key, (notification, notification))
        ends[key] = first, notification
    return deque(merged for first, last in ends.values() if (merged := _join(first, last)) is not None)


def _key_of(notification: Notification) -> object:
    """Return the object's key; a unique one for an object without a key."""
    obj = notification.old_obj if isinstance(notification, DeleteNotification) else notification.new_obj
    try:
        return obj.key if isinstance(obj, DeletedFinalStateUnknown) else meta_namespace_key_func(obj)
    except Exception:
        return id(notification)


def _join(first: Notification, last: Notification) -> Notification | None:
    """Return a notification with the effect of all from `first` to `last`, which are about one object; None for none.

    `first` has the state that the handler knows, `last` the newest state.
    """
    if first is last:
        return first
    joined: Notification
    if isinstance(last, DeleteNotification):
        if isinstance(first, AddNotification):
            return None
        joined = DeleteNotification(last.old_obj)
    elif isinstance(first, AddNotification):
        joined = AddNotification(last.new_obj, first.is_in_initial_list)
    elif (known := _last_state(first.old_obj)) is None:  # deleted in an unknown state, then created again
        joined = AddNotification(last.new_obj, False)
    else:
        joined = UpdateNotification(known, last.new_obj)
    joined.queued_at = first.queued_at
    return joined


def _last_state(obj: Any) -> Any:
    return obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj


def check_handler(handler: object) -> None:
    """Raise TypeError for an object that is no handler: its thread could only log an error at each event."""
    if isinstance(handler, type) or not all(
        callable(getattr(handler, method, None)) for method in ("on_add", "on_update", "on_delete")
    ):
        raise TypeError(
            f"a handler is an object with on_add, on_update and on_delete, such as a ResourceEventHandlerFuncs made of "
            f"functions; got {handler!r}"
        )
    for method, parameters in _PARAMETERS.items():
        require_plain(getattr(handler, method), f"{method} of an event handler", parameters)
    bases = {cls.__name__ for cls in type(handler).__mro__ if cls.__module__ == "clientgo.tools.cache.controller"}
    if not bases:
        return  # the user's own class, whose attributes have any meaning
    parts = vars(handler)
    for method, parameters in _PARAMETERS.items():
        function = parts.get(name := f"{method.removeprefix('on_')}_func")
        if function is not None:
            if "ResourceEventHandlerFuncs" in bases:
                parameters = parameters.removesuffix(", is_in_initial_list")
            require_function(function, f"the {name} of an event handler", parameters)
    if "filter_func" in parts:
        require_function(parts["filter_func"], "the filter_func of an event handler", "obj")
        check_handler(parts["handler"])


# The parameters of the methods of an event handler.
_PARAMETERS = {"on_add": "obj, is_in_initial_list", "on_update": "old, new", "on_delete": "obj"}


__all__ = ["Backlog", "HandlerProgress", "Overflow", "check_handler", "merge", "stamp"]
