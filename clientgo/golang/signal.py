"""Signals of the process as values on a channel. Go: os/signal.

Python runs a signal handler in the main thread, between any two instructions, and this has two traps. The main thread
may be holding a lock: a handler that needs the same lock never comes back (`threading.Event.set` is one, when the main
thread is just beginning to wait for the event). And the main thread may be blocked: a signal that comes when it has
looked for signals for the last time, and does not wait yet, is handled when something else wakes it.

So no handler does anything here. The interpreter itself writes a byte for each signal, in the moment it comes and in
whichever thread (`signal.set_wakeup_fd`), and a thread of ours reads it and sends.
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

    A signal that comes while the channel is full is lost, so give the channel room for as many as matter. Several
    channels may ask for one signal. The signals no longer do what they did before, and are not handled again by
    stopping to receive. To be called by the main thread: raises ValueError in any other.

    It takes the process's wakeup descriptor (`signal.set_wakeup_fd`) unless another has it, as an asyncio loop may.

    Go: signal.Notify.
    """
    global _relay
    if _relay is None:
        _relay = _Relay()
    _relay.wanted.append((channel, frozenset(signals)))
    for each in signals:
        signal.signal(each, _relay.handle)


class _Relay:
    """The process's wakeup descriptor, and the thread that reads it. There is one, since the descriptor is one.

    Raises ValueError outside of the main thread.
    """

    def __init__(self) -> None:
        # Only ever appended to, by the main thread; the relay's reads it, which a list allows at any time.
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
        """Python's handler, without which no byte is written. It runs in the main thread, and maybe long after."""
        if not self._claim():
            with contextlib.suppress(BlockingIOError):  # thousands are waiting
                os.write(self._writer, bytes([number]))

    def _claim(self) -> bool:
        """Take the wakeup descriptor if it is free.

        Report whether it was this object's, so that the byte is written.
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
