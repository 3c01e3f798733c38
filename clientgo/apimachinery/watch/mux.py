"""A broadcaster, which distributes events to several watchers.

Mirrors k8s.io/apimachinery/pkg/watch/mux.go. One thread, "watch-broadcaster", sends each event to all watchers. Adding
and removing a watcher uses the same queue, so a watcher receives exactly the events that were sent after it was added.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from clientgo.apimachinery.watch.watch import Event, Interface
from clientgo.golang.channel import Channel, Send, Signal, select
from clientgo.klog.exceptions import operational_error


class FullChannelBehavior(Enum):
    """The treatment of an event for a watcher whose channel is full. Go: watch.FullChannelBehavior."""

    WAIT_IF_CHANNEL_FULL = 0
    DROP_IF_CHANNEL_FULL = 1


_INCOMING_QUEUE_LENGTH: Final = 25
"""The capacity of the broadcaster's queue, in events of all watchers together. Go: watch.incomingQueueLength."""

_INTERNAL_RUN_FUNCTION_MARKER: Final = "internal-do-function"


@operational_error
class BroadcasterStoppedError(RuntimeError):
    """Raised for an action after `shutdown`, which is usual at the end of a program: a log shows it in one line."""

    def __init__(self) -> None:
        super().__init__("broadcaster already stopped")


class Broadcaster:
    """A broadcaster that sends every event to every watcher, in the same order. Go: watch.Broadcaster.

    Thread-safe; `shutdown` joins the thread.

    Invariants (`_check`): only the broadcaster's thread accesses the watchers and closes their channels; nothing enters
    the queue once the broadcaster is stopped.
    """

    def __init__(
        self,
        queue_length: int,
        full_channel_behavior: FullChannelBehavior,
        incoming_queue_length: int = _INCOMING_QUEUE_LENGTH,
    ) -> None:
        self._watchers: dict[int, _BroadcasterWatcher] = {}
        self._next_watcher = 0
        # Held during additions to the queue, so that none follows once `shutdown` has decided to stop.
        self._incoming_block = threading.Lock()
        self._incoming: Channel[Event] = Channel(incoming_queue_length)
        self._stopped = Signal()
        self._watch_queue_length = queue_length
        self._drop_if_full = full_channel_behavior is FullChannelBehavior.DROP_IF_CHANNEL_FULL
        self._distributing = threading.Thread(target=self._loop, name="watch-broadcaster", daemon=True)
        self._distributing.start()

    def watch(self) -> Interface:
        """Return a watch that receives every event from now on.

        Blocks until the queue has room and the earlier events are delivered. Raises RuntimeError if the broadcaster is
        stopped. Go: Broadcaster.Watch.
        """
        return self.watch_with_prefix(())

    def watch_with_prefix(self, queued_events: Sequence[Event]) -> Interface:
        """Return a watch that receives these events first. Go: Broadcaster.WatchWithPrefix."""
        added: list[_BroadcasterWatcher] = []

        def add() -> None:
            length = max(self._watch_queue_length, len(queued_events) + 1 if queued_events else 0)
            watcher = _BroadcasterWatcher(self, self._next_watcher, length)
            for event in queued_events:
                watcher.result.try_send(event)
            self._watchers[self._next_watcher] = watcher
            self._next_watcher += 1
            added.append(watcher)

        self._block_queue(add)
        if not added:
            raise BroadcasterStoppedError
        return added[0]

    def action(self, action: str, obj: Any) -> None:
        """Send an event to all watchers. Blocks while the queue is full.

        Raises RuntimeError if the broadcaster is stopped. Go: Broadcaster.Action.
        """
        with self._incoming_block:
            self._raise_if_stopped()
            self._incoming.send(Event(action, obj))

    def action_or_drop(self, action: str, obj: Any) -> bool:
        """Send an event to all watchers unless the queue is full. Returns True if it was queued.

        Never blocks for room in the queue. Raises RuntimeError if the broadcaster is stopped.
        Go: Broadcaster.ActionOrDrop.
        """
        with self._incoming_block:
            self._raise_if_stopped()
            return self._incoming.try_send(Event(action, obj))

    def shutdown(self) -> None:
        """Deliver the queued events, close all watches and end the thread. Blocks until done.

        Go: Broadcaster.Shutdown.
        """

        def stop() -> None:
            self._stopped.set()
            self._incoming.close()

        self._block_queue(stop)
        self._distributing.join()

    def _raise_if_stopped(self) -> None:
        if self._stopped.is_set():
            raise BroadcasterStoppedError

    def _block_queue(self, f: Callable[[], None]) -> None:
        """Run `f` in the broadcaster's thread, between two events, and wait for it. Does nothing once stopped."""
        with self._incoming_block:
            if self._stopped.is_set():
                return
            done = Signal()

            def run() -> None:
                try:
                    f()
                finally:
                    done.set()

            self._incoming.send(Event(_INTERNAL_RUN_FUNCTION_MARKER, run))
            done.wait()

    def _stop_watching(self, id: int) -> None:
        def remove() -> None:
            watcher = self._watchers.pop(id, None)
            if watcher is not None:
                watcher.result.close()

        self._block_queue(remove)

    def _loop(self) -> None:
        distribute = self._distribute
        for event in self._incoming:
            if event.type is _INTERNAL_RUN_FUNCTION_MARKER:
                event.object()
            else:
                distribute(event)
        self._close_all()

    def _distribute(self, event: Event) -> None:
        for watcher in self._watchers.values():
            if watcher.result.try_send(event):
                continue
            if self._drop_if_full:
                self.event_dropped()
            else:
                select([watcher.stopped, Send(watcher.result, event)])

    def event_dropped(self) -> None:
        """Handle an event that a watcher's full channel dropped. A hook for subclasses; runs in the broadcaster's
        thread.
        """

    def _close_all(self) -> None:
        for watcher in self._watchers.values():
            watcher.result.close()
        self._watchers = {}

    def __repr__(self) -> str:
        state = "stopped" if self._stopped.is_set() else "running"
        return f"<Broadcaster {len(self._watchers)} watchers, {len(self._incoming)} queued, {state}>"

    def _check(self) -> None:
        self._incoming._check()
        assert not self._stopped.is_set() or self._incoming.closed


def new_broadcaster(queue_length: int, full_channel_behavior: FullChannelBehavior) -> Broadcaster:
    """Return a broadcaster whose watchers buffer `queue_length` events each. Go: watch.NewBroadcaster."""
    return Broadcaster(queue_length, full_channel_behavior)


def new_long_queue_broadcaster(queue_length: int, full_channel_behavior: FullChannelBehavior) -> Broadcaster:
    """Return a broadcaster whose common queue is as long as each watcher's. Go: watch.NewLongQueueBroadcaster."""
    return Broadcaster(queue_length, full_channel_behavior, incoming_queue_length=queue_length)


class _BroadcasterWatcher:
    """A broadcaster's watch. Go: watch.broadcasterWatcher."""

    def __init__(self, broadcaster: Broadcaster, id: int, queue_length: int) -> None:
        self.result: Channel[Event] = Channel(queue_length)
        # Lets the broadcaster's thread stop waiting for this watcher.
        self.stopped = Signal()
        self._broadcaster = broadcaster
        self._id = id

    def result_chan(self) -> Channel[Event]:
        return self.result

    def stop(self) -> None:
        """Stop receiving events. Blocks until the channel is closed; buffered events can still be received."""
        if self.stopped.set():
            self._broadcaster._stop_watching(self._id)

    def __repr__(self) -> str:
        return f"<BroadcasterWatcher {self._id} {self.result!r}>"
