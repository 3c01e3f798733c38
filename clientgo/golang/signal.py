"""Signals of the process as values on a channel. Go: os/signal.

Python runs a signal handler in the main thread, between any two instructions, which has two problems. First, the main
thread may hold a lock: a handler that needs the same lock never returns (for example `threading.Event.set`, while the
main thread starts to wait for the event). Second, the main thread may be about to block: a signal that arrives after
its last check for signals is only handled when something else wakes it.

Therefore no handler does any work here. The interpreter itself writes a byte for each signal as it arrives, in
whichever thread (`signal.set_wakeup_fd`). A separate thread reads the byte and sends the signal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from signal import Signals
from types import FrameType

from clientgo.golang.channel import Channel

__all__ = ["notify"]


def notify(channel: Channel[Signals], *signals: Signals) -> None:
    """Send each of these signals to `channel` from now on, for as long as the process lives. Does not block.

    A signal that arrives while the channel is full is lost, so give the channel a sufficient buffer. Several channels
    may receive the same signal. The signals lose their previous effect, permanently. Call it in the main thread: it
    raises ValueError in any other.

    It uses the process's wakeup descriptor (`signal.set_wakeup_fd`) unless other code has set it, for example asyncio.

    Go: signal.Notify.
    """
    global _relay
    if _relay is None:
        _relay = _Relay()
    _relay.wanted.append((channel, frozenset(signals)))
    for each in signals:
        signal.signal(each, _relay.handle)


class _Relay:
    """The process's wakeup descriptor, and the thread that reads it. There is one instance, since there is one
    descriptor.

    Raises ValueError outside of the main thread.
    """

    def __init__(self) -> None:
        # Only appended to, by the main thread; the relay's thread reads it, which is safe for a list.
        self.wanted: list[tuple[Channel[Signals], frozenset[Signals]]] = []
        reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        try:
            self._claim()
        except ValueError:
            os.close(reader)
            os.close(self._writer)
            raise
        threading.Thread(target=self._run, args=(reader,), name="signal-relay", daemon=True).start()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Write the signal's byte if the interpreter did not.

        Python writes no bytes without a handler. It runs in the main thread, possibly much later.
        """
        if not self._claim():
            with contextlib.suppress(BlockingIOError):  # thousands are pending
                os.write(self._writer, bytes([number]))

    def _claim(self) -> bool:
        """Take the wakeup descriptor if it is free.

        Returns True if it was already this object's, so that the interpreter wrote the byte.
        """
        holder = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        if holder not in (-1, self._writer):
            with contextlib.suppress(ValueError, OSError):  # closed: then it stays ours
                signal.set_wakeup_fd(holder)
        return holder == self._writer

    def _run(self, reader: int) -> None:
        while number := os.read(reader, 1):
            for channel, signals in self.wanted:
                if number[0] in signals:
                    channel.try_send(Signals(number[0]))


_relay: _Relay | None = None
