"""A context that the first SIGINT or SIGTERM ends; the second ends the process. Mirrors pkg/signals/signal.go."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from clientgo import context
from clientgo.context import Context
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

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

    signals = Channel[signal.Signals](2)
    ctx, cancel = context.with_cancel(context.background())
    notify(signals, *SHUTDOWN_SIGNALS)
    threading.Thread(target=_watch, args=(signals, cancel), name="signal-handler", daemon=True).start()
    return ctx


def _watch(signals: Channel[signal.Signals], cancel: Callable[[], None]) -> None:
    signals.receive()
    cancel()
    signals.receive()
    os._exit(1)
