"""Readers: the events of a watch, one after the other, for the thread that uses them. Has no Go file.

Go's reflector selects on a result channel, which costs a goroutine little. Here each channel between two threads costs
an event two context switches, so a reader hides how the events come: `StreamWatcher` reads the connection in the
calling thread, and `_ChannelReader` takes all that waits in a result channel at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from clientgo.apimachinery.watch import Event, Interface
from clientgo.golang.channel import Channel
from clientgo.golang.receiver import Receiver
from clientgo.golang.stop import Done
from clientgo.utils.clock import PassiveClock


@runtime_checkable
class Reader(Protocol):
    """A watch that is read without a result channel. One thread reads it; `stop` may be called from any thread."""

    read_at: float
    """Time at which the last event arrived, in seconds of the clock that reads."""

    def read_events(self, done: Done, clock: PassiveClock) -> Iterator[Event]:
        """Yield the events until the watch ends or `done` is set. Blocks between events.

        A caller that leaves the iteration may call again: the next call yields what comes after the last event. After
        `done` was set, the watch cannot be read any more.
        """
        ...

    def stop(self) -> None:
        """End the watch. See watch.Interface."""
        ...


class _ChannelReader:
    """A reader of any watch, through its result channel."""

    def __init__(self, w: Interface) -> None:
        self.read_at = 0.0
        self.stop = w.stop
        self._events: Channel[Event] = w.result_chan()
        # Events that were received together and not yielded yet.
        self._received: deque[Event] = deque()

    def read_events(self, done: Done, clock: PassiveClock) -> Iterator[Event]:
        is_done, receiver = done.is_set, Receiver(self._events, done)
        try:
            while not is_done():
                if self._received:
                    yield self._received.popleft()
                    continue
                self._received = receiver.receive_all()
                if not self._received:
                    return
                self.read_at = clock.now()
        finally:
            receiver.close()

    def __repr__(self) -> str:
        return f"<reader of {self._events!r}, {len(self._received)} events received>"


def new_reader(w: Interface) -> Reader:
    """Return `w` itself if it is a Reader, else a reader of its result channel."""
    return w if isinstance(w, Reader) else _ChannelReader(w)


__all__ = ["Reader", "new_reader"]
