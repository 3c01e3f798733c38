"""What an informer tells its handlers. Go has these types in tools/cache/shared_informer.go.

They stand apart since controller.py makes them, for its own informers and for the shared ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime import Object
from clientgo.hops import hop

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import ResourceEventHandler


class AddNotification:
    """An object to tell a handler of as added. Go: addNotification."""

    __slots__ = ("is_in_initial_list", "new_obj", "queued_at")

    # When it was passed to the handlers, in seconds of the informer's clock; in all three.
    queued_at: float

    def __init__(self, new_obj: Any, is_in_initial_list: bool) -> None:
        """Create the notification of an object. It belongs to all handlers together."""
        self.new_obj = new_obj
        self.is_in_initial_list = is_in_initial_list

    def is_sync(self) -> bool:
        """Whether only handlers that are due for a resync want to hear of it."""
        return False

    @hop("handlers.add", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        """Call the handler's `on_add`."""
        handler.on_add(self.new_obj, self.is_in_initial_list)


class UpdateNotification:
    """A change to tell a handler of. Go: updateNotification."""

    __slots__ = ("new_obj", "old_obj", "queued_at")

    queued_at: float
    is_in_initial_list = False

    def __init__(self, old_obj: Any, new_obj: Any) -> None:
        self.old_obj = old_obj
        self.new_obj = new_obj

    def is_sync(self) -> bool:
        """Whether nothing changed: a resync, or a new list with the old object."""
        old, new = self.old_obj, self.new_obj
        if not isinstance(old, Object) or not isinstance(new, Object):
            return False
        return old.get_resource_version() == new.get_resource_version()

    @hop("handlers.update", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        handler.on_update(self.old_obj, self.new_obj)


class DeleteNotification:
    """An object to tell a handler of as deleted. Go: deleteNotification."""

    __slots__ = ("old_obj", "queued_at")

    queued_at: float
    is_in_initial_list = False

    def __init__(self, old_obj: Any) -> None:
        self.old_obj = old_obj

    def is_sync(self) -> bool:
        return False

    @hop("handlers.delete", go="(*processorListener).run", go_file="tools/cache/shared_informer.go")
    def deliver(self, handler: ResourceEventHandler) -> None:
        handler.on_delete(self.old_obj)


Notification = AddNotification | UpdateNotification | DeleteNotification

# Passes notifications on, in order. Must not raise.
Notify = Callable[[Sequence[Notification]], None]


def stamp(notifications: Sequence[Notification], now: float) -> None:
    """Write down when they are passed to the handlers."""
    for notification in notifications:
        notification.queued_at = now
