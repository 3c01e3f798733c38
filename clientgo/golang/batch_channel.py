"""A channel for a sender that has many values at once: `BatchChannel`.

Go has none: its channels hand over one value at a time, which costs it little. Here `send_all` takes the lock once a
batch, and a sender that waits for room is woken once for many values.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from clientgo.golang.channel import Channel, ChannelClosed

__all__ = ["BatchChannel"]

T = TypeVar("T")


class BatchChannel(Channel[T]):
    """A Channel with a buffer, to which `send_all` sends many values in order. Thread-safe, as every channel."""

    def __init__(self, capacity: int) -> None:
        """Make an empty channel. Raises ValueError when capacity is not positive."""
        if capacity <= 0:
            raise ValueError(f"capacity must be positive, got {capacity}")
        super().__init__(capacity)
        # Notified when the full buffer is half empty. With room for one, it would be woken for each value.
        self._has_room = threading.Condition(self._lock)
        self._is_full = False

    def send_all(self, values: Sequence[T]) -> None:
        """Send the values in order, as many as there is room for at a time. Blocks until the last one is in the buffer.

        Raises ChannelClosed, also while waiting; what was sent until then stays.
        """
        position, end = 0, len(values)
        with self._lock:
            while position < end:
                if self._closed:
                    raise ChannelClosed("send on closed channel")
                while self._receivers and position < end:
                    self._send_now(values[position])
                    position += 1
                taken = values[position : position + self._capacity - len(self._buffer)]
                self._buffer.extend(taken)
                position += len(taken)
                if position < end:
                    self._is_full = True
                    self._has_room.wait()

    def abandon(self) -> None:
        """Close the channel and drop the values that were not received. Drops them even if it is closed."""
        with self._lock:
            self._buffer.clear()
            if not self._closed:
                self._close_now()

    def _receive_now(self) -> tuple[T | None, bool, bool]:
        received = super()._receive_now()
        if self._is_full:
            self._notify_of_room()
        return received

    def _receive_all_now(self) -> deque[T]:
        taken = super()._receive_all_now()
        if self._is_full:
            self._notify_of_room()
        return taken

    def _notify_of_room(self) -> None:
        if len(self._buffer) <= self._capacity // 2:
            self._is_full = False
            self._has_room.notify_all()

    def _close_now(self) -> None:
        super()._close_now()
        self._has_room.notify_all()
