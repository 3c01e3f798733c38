"""A context that the first SIGINT or SIGTERM ends; the second ends the process. Mirrors pkg/signals/signal.go."""

from __future__ import annotations

import threading

from clientgo import context
from clientgo.context import Context
from clientgo.util.signals import notify_context

_only_one = threading.Event()


def setup_signal_handler() -> Context:
    """Register the signals and return the context. Call it once, in the main thread.

    Raises RuntimeError the second time. The first signal cancels the context, the second exits with code 1 at once.
    Go: SetupSignalHandler.
    """
    if _only_one.is_set():
        raise RuntimeError("setup_signal_handler can be called only once")
    _only_one.set()
    return notify_context(context.background())
