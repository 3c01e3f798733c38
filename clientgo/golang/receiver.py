"""A receiver that waits for one channel or a stop signal, again and again: `Receiver`.

Go's runtime has no file to mirror. `select` subscribes to the stop signal for each wait, which costs as much as the
wait itself; a Receiver subscribes once.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar, cast

from clientgo.golang.channel import Channel, _discard, _Turn, _Waiter
from clientgo.golang.stop import StopChannel, add_done_callback

__all__ = ["Receiver"]

T = TypeVar("T")


class Receiver(Generic[T]):
    """Receives from `channel` until `stop` is set. Belongs to one thread; call `close` at the end."""

    def __init__(self, channel: Channel[T], stop: StopChannel) -> None:
        self._channel = channel
        # Guarded by the channel's lock: `stop` is set; the wait in progress.
        self._is_stopped = False
        self._waiter: _Waiter | None = None
        self._unsubscribe = add_done_callback(stop, self._stop)

    def receive_all(self) -> deque[T]:
        """Block until there is a value, and return every value that needs no waiting, in order.

        Returns an empty deque when the channel is closed and drained, or when `stop` is set.
        """
        channel = self._channel
        with channel._lock:
            if self._is_stopped:
                return deque()
            received = channel._receive_all_now()
            if received or channel._closed:
                return received
            turn = _Turn()
            self._waiter = waiter = _Waiter(turn, 0, None)
            channel._receivers.append(waiter)
        try:
            turn.wait()
        except BaseException:  # KeyboardInterrupt in the main thread: do not stay in the queue.
            channel._withdraw(turn, waiter, channel._receivers)
            raise
        return deque((cast(T, turn.value),)) if turn.ok else deque()

    def close(self) -> None:
        """Unsubscribe from the stop signal."""
        self._unsubscribe()

    def _stop(self) -> None:
        """End the wait in progress and all later ones. Runs in the thread that sets the signal."""
        with self._channel._lock:
            self._is_stopped = True
            waiter = self._waiter
            if waiter is not None and waiter.turn.claim():
                _discard(self._channel._receivers, waiter)
                waiter.turn.finish(0, None, False)

    def __repr__(self) -> str:
        return f"<Receiver of {self._channel!r}, {'stopped' if self._is_stopped else 'open'}>"
