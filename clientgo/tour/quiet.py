"""Threads inside another program: they leave its signals alone."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["signals_for_others"]


@contextmanager
def signals_for_others() -> Iterator[None]:
    """Start threads that take no signals in the body, so that a program's sigwait gets them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
