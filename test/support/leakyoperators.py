"""Operators that keep something of each object forever, and one that does not, as machines for a soak."""

from __future__ import annotations

import threading
from typing import Any

from widgetoperator import Operator, Widgets


class Resyncs(Operator):
    resync = 10.0


class Resyncing(Widgets):
    """The operator without known bugs, with resyncs."""

    operator = Resyncs


class KeepsNotifications(Resyncs):
    """An operator that remembers each notification."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[Any] = []

    def widget_updated(self, old: Any, new: Any) -> None:
        self.seen += (old.get_resource_version(), new.get_resource_version())
        super().widget_updated(old, new)


class LeaksMemory(Resyncing):
    operator = KeepsNotifications


class PollsDeleted(Resyncs):
    """An operator that starts a thread for each widget, which does not end with the widget."""

    def widget_added(self, obj: Any) -> None:
        name = f"poller of {obj.get_name()}"
        threading.Thread(target=self.ctx.done().wait, name=name, daemon=True).start()
        super().widget_added(obj)


class LeaksThreads(Resyncing):
    operator = PollsDeleted


class QueuesForever(Resyncs):
    """An operator that queues a visit of each deleted widget for the next year."""

    def widget_deleted(self, obj: Any) -> None:
        super().widget_deleted(obj)
        for day in range(20):
            self.queue.add_after(f"{obj.get_uid()}-{day}", 1e6)


class LeaksQueueItems(Resyncing):
    operator = QueuesForever


class StopsWorking(Resyncs):
    """An operator whose worker ends with the first error, so that the queue fills."""

    def failed(self, name: str, err: Exception) -> None:
        raise SystemExit


class FillsQueue(Resyncing):
    operator = StopsWorking
