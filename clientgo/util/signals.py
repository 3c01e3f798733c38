"""A context that SIGTERM and Ctrl-C end, for programs that put the primitives together themselves.

    ctx = signals.notify_context(context.background())
    factory.start_with_context(ctx)
    ctx.done().wait()

Mirrors os/signal.NotifyContext of Go, with the second signal of Kubernetes' programs. Differences: the signals lose
their previous effect for good, so there is no function that restores it; and a second signal ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from clientgo import context
from clientgo.context import Context
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify

__all__ = ["SHUTDOWN_SIGNALS", "notify_context"]

SHUTDOWN_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def notify_context(parent: Context, *signals: signal.Signals) -> Context:
    """Return a context that the first of the signals cancels; the second exits the process with code 1 at once.

    Without arguments the signals are SIGINT and SIGTERM. Does not block. A thread waits for the signals for as long as
    the process lives. Call it in the main thread: it raises ValueError in any other. Go: signal.NotifyContext.
    """
    received = Channel[signal.Signals](2)
    ctx, cancel = context.with_cancel(parent)
    notify(received, *(signals or SHUTDOWN_SIGNALS))
    threading.Thread(target=_watch, args=(received, cancel), name="signal-handler", daemon=True).start()
    return ctx


def _watch(received: Channel[signal.Signals], cancel: Callable[[], None]) -> None:
    received.receive()
    cancel()
    received.receive()
    os._exit(1)
