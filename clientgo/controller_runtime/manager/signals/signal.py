"""A context that SIGINT and SIGTERM end. Mirrors pkg/manager/signals/signal.go."""

from __future__ import annotations

import threading

from clientgo import context
from clientgo.context import Context
from clientgo.util.signals import notify_context

__all__ = ["setup_signal_handler"]

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
        ctx = notify_context(context.background())
        _installed = True
        return ctx
