"""What waits for a handler: how much, since when, and what happens when it is too much. Beyond Go.

In Go the backlog of a handler has no bound, and nobody can see it. Here its registration tells (`statistics()`), a
metric does, a warning is logged once a minute while a handler stays far behind, and a program may set a bound with
`HandlerOptions.max_pending`. None of this makes anybody wait: a slow handler delays no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import Any

from clientgo.tools.cache.delta_fifo import DeletedFinalStateUnknown
from clientgo.tools.cache.notifications import (
    AddNotification,
    DeleteNotification,
    Notification,
    UpdateNotification,
)
from clientgo.tools.cache.store import meta_namespace_key_func


class Overflow(Enum):
    """What becomes of a handler's notifications when more wait than its `max_pending`. Beyond Go."""

    MERGE = "merge"
    """Those about one object become one, which says the same: from the state the handler knows to the newest. What was
    added and deleted meanwhile is not told at all. No more wait then than twice the number of objects."""

    REMOVE = "remove"
    """The handler is removed, with an error in the log, as by `remove_event_handler`."""


def merge(pending: Iterable[Notification]) -> deque[Notification]:
    """At most one notification for each object, in the place of its first, that says the same as all. O(n)."""
    ends: dict[object, tuple[Notification, Notification]] = {}
    for notification in pending:
        key = _key_of(notification)
        first, _ = ends.get(key, (notification, notification))
        ends[key] = first, notification
    return deque(merged for first, last in ends.values() if (merged := _join(first, last)) is not None)


def _key_of(notification: Notification) -> object:
    """The object's key; one of its own for what has none."""
    obj = notification.old_obj if isinstance(notification, DeleteNotification) else notification.new_obj
    try:
        return obj.key if isinstance(obj, DeletedFinalStateUnknown) else meta_namespace_key_func(obj)
    except Exception:
        return id(notification)


def _join(first: Notification, last: Notification) -> Notification | None:
    """What says the same as all from `first` to `last`, which are about one object; None for nothing.

    `first` tells what the handler knows, `last` what it has to know.
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
    elif (known := _last_state(first.old_obj)) is None:  # deleted, nobody knows in which state, and made anew
        joined = AddNotification(last.new_obj, False)
    else:
        joined = UpdateNotification(known, last.new_obj)
    joined.queued_at = first.queued_at
    return joined


def _last_state(obj: Any) -> Any:
    return obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj


__all__ = ["Overflow", "merge"]
