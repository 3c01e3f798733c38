"""A context that SIGINT and SIGTERM end. Mirrors pkg/manager/signals/signal.go."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from clientgo import context
from clientgo.context import Context
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

__all__ = ["setup_signal_handler"]

_SHUTDOWN_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOCK = threading.Lock()
_installed = False


def setup_signal_handler() -> Context:
    """Return a context that the first SIGTERM or SIGINT ends; a second one exits the process with status 1.

    Call it once, in the main thread. Raises RuntimeError on a second call, ValueError in another thread.
    Go: signals.SetupSignalHandler.
    """
    global _installed
    with _LOCK:
        if _installed:
            raise RuntimeError("setup_signal_handler was called twice: the process has one signal handler")
        ctx, cancel = context.with_cancel(context.background())
        signals = Channel[signal.Signals](2)
        notify(signals, *_SHUTDOWN_SIGNALS)
        threading.Thread(target=_watch, args=(signals, cancel), name="signal-handler", daemon=True).start()
        _installed = True
        return ctx


def _watch(signals: Channel[signal.Signals], cancel: Callable[[], None]) -> None:
    signals.receive()
    cancel()
    signals.receive()
    os._exit(1)
