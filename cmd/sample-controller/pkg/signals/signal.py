"""A context that the first SIGINT or SIGTERM ends; the second ends the process. Mirrors pkg/signals/signal.go.

Python runs signal handlers in the main thread between any two instructions, also while that thread holds a lock that
`cancel` needs. So the handler only writes a byte to a pipe, and a thread reads it and does the rest.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from clientgo import context
from clientgo.context import Context

SHUTDOWN_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_only_one = threading.Event()


def setup_signal_handler() -> Context:
    """Register the signals and return the context. Call it once, in the main thread.

    Raises RuntimeError the second time. The first signal cancels the context, the second exits with code 1 at once.
    Go: SetupSignalHandler.
    """
    if _only_one.is_set():
        raise RuntimeError("setup_signal_handler can be called only once")
    _only_one.set()

    reader, writer = os.pipe()
    ctx, cancel = context.with_cancel(context.background())
    threading.Thread(target=_watch, args=(reader, cancel), name="signal-handler", daemon=True).start()
    for number in SHUTDOWN_SIGNALS:
        signal.signal(number, functools.partial(_tell, writer))
    return ctx


def _tell(writer: int, number: int, frame: FrameType | None) -> None:
    os.write(writer, b"!")


def _watch(reader: int, cancel: Callable[[], None]) -> None:
    os.read(reader, 1)
    cancel()
    os.read(reader, 1)
    os._exit(1)
