"""The notifications that an informer passes to its handlers. Go has these types in tools/cache/shared_informer.go.

They are a module of their own because controller.py creates them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.fmt import go_value
from clientgo.golang.stop import is_crash
from clientgo.hops import hop
from clientgo.klog.exceptions import name_subject

if TYPE_CHECKING:
    from clientgo import klog
    from clientgo.tools.cache.controller import ResourceEventHandler


class AddNotification:
    """The addition of an object. Go: addNotification."""

    __slots__ = ("is_in_initial_list", "new_obj", "queued_at")

    # Time at which the notification was queued for the handlers, in seconds of the informer's clock; in all three.
    queued_at: float

    def __init__(self, new_obj: Any, is_in_initial_list: bool) -> None:
        """Create the notification of an object. It belongs to all handlers together."""
        self.new_obj = new_obj
        self.is_in_initial_list = is_in_initial_list

    def is_sync(self) -> bool:
        """Report whether only handlers that are due for a resync get the notification."""
        return False

    @hop("handlers.add", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        """Call the handler's `on_add`."""
        handler.on_add(self.new_obj, self.is_in_initial_list)


class UpdateNotification:
    """The change of an object. Go: updateNotification."""

    __slots__ = ("new_obj", "old_obj", "queued_at")

    queued_at: float
    is_in_initial_list = False

    def __init__(self, old_obj: Any, new_obj: Any) -> None:
        self.old_obj = old_obj
        self.new_obj = new_obj

    def is_sync(self) -> bool:
        """Report whether the object has not changed: it comes from a resync or a relist. Go: in OnUpdate."""
        old, new = self.old_obj, self.new_obj
        if not isinstance(old, Object) or not isinstance(new, Object):
            return False
        return old.get_resource_version() == new.get_resource_version()

    @hop("handlers.update", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        """Call the handler's `on_update`."""
        handler.on_update(self.old_obj, self.new_obj)


class DeleteNotification:
    """The deletion of an object. Go: deleteNotification."""

    __slots__ = ("old_obj", "queued_at")

    queued_at: float
    is_in_initial_list = False

    def __init__(self, old_obj: Any) -> None:
        self.old_obj = old_obj

    def is_sync(self) -> bool:
        """Return False: every handler gets the notification."""
        return False

    @hop("handlers.delete", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        """Call the handler's `on_delete`."""
        handler.on_delete(self.old_obj)


Notification = AddNotification | UpdateNotification | DeleteNotification



def name_notification(err: BaseException, notification: Notification) -> None:
    """Add the object and the kind of the event to the log line of a handler's exception."""
    event = type(notification).__name__.removesuffix("Notification").lower()
    obj = notification.old_obj if isinstance(notification, DeleteNotification) else notification.new_obj
    name_subject(err, object=name_of(obj), event=event)


def name_of(obj: Any) -> str:
    """Return an object's key for a log line; the text of one that has none. Never raises."""
    from clientgo.tools.cache.delta_fifo import deletion_handling_meta_namespace_key_func  # a cycle of imports

    try:
        return deletion_handling_meta_namespace_key_func(obj)
    except Exception:
        return go_value(obj)


# Passes notifications on, in order. Must not raise.
Notify = Callable[[Sequence[Notification]], None]


def notify_each(
    logger: klog.Logger,
    handler: ResourceEventHandler,
    delivering: Callable[[Notification | None], None] = lambda notification: None,
) -> Notify:
    """Return a function that delivers notifications to `handler`, in order, and logs the exceptions of the handler.

    Calls `delivering` with each notification before its delivery, and with None after the last one.
    """

    def notify(notifications: Sequence[Notification]) -> None:
        for notification in notifications:
            delivering(notification)
            try:
                notification.deliver(handler)
            except BaseException as err:
                if not is_crash(err):
                    raise
                name_notification(err, notification)
                with utilruntime.handle_crash_with_logger(logger, go_on=True):
                    raise
        delivering(None)

    return notify
