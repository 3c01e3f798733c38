"""For threads that live in somebody else's program."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["signals_for_others"]


@contextmanager
def signals_for_others() -> Iterator[None]:
    """Threads that start meanwhile take no signals: a program that waits for one with sigwait shall get it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
