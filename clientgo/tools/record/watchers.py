"""Threads that run a broadcaster's handlers, and a shutdown that waits for them. No Go file.

In Go, a broadcaster that shuts down passes the queued events to its watchers and does not wait until they are
processed: events recorded just before the end of a program are lost. `shutdown_with_drain` of both broadcasters waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo import context
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.golang.channel import select
from clientgo.golang.functions import require_function, require_methods
from clientgo.golang.stop import Signal
from clientgo.klog.exceptions import name_subject

__all__ = ["EventWatchers", "call_handler", "require_event", "require_handler"]


def call_handler(event_handler: Callable[[Any], None], event: Any) -> None:
    """Call the handler. Log an exception, with the event that the handler has not handled."""
    with utilruntime.handle_crash(go_on=True):
        try:
            event_handler(event)
        except BaseException as err:
            name_subject(err, event=event)
            raise


def require_handler(event_handler: Callable[..., None], parameters: str = "event") -> None:
    """Raise TypeError for an async handler or a generator, whose code would not run, and for what is no function.

    Raises it also for a function with other parameters.
    """
    require_function(event_handler, "the handler of events", parameters)


def require_sink(sink: object) -> None:
    """Raise TypeError for an object without the methods of a sink, which each event would log."""
    require_methods(sink, "the sink of events", "create", "update", "patch")


def require_event(returned: object, cls: type, sink: object) -> None:
    """Raise TypeError unless a sink has returned an event, which Go's compiler ensures."""
    if not isinstance(returned, cls):
        name = type(sink).__qualname__
        raise TypeError(f"{name} returned {returned!r}: return the event as the server stored it")


class EventWatchers:
    """The "event-watcher" threads of one broadcaster. Thread-safe.

    Invariant: `_running` has a Signal for each thread that has not ended.
    """

    def __init__(self) -> None:
        # Guards _running.
        self._lock = threading.Lock()
        self._running: set[Signal] = set()
        self._retrying, self._stop_retrying = context.with_cancel(context.background())

    def start(self, run: Callable[[], None]) -> None:
        """Call `run` in a new thread."""
        ended = Signal()

        def run_to_the_end() -> None:
            try:
                run()
            finally:
                with self._lock:
                    self._running.discard(ended)
                ended.set()

        with self._lock:
            self._running.add(ended)
        threading.Thread(target=run_to_the_end, name="event-watcher", daemon=True).start()

    def pause(self, ctx: Context, seconds: float) -> bool:
        """Sleep before another attempt; return False if `ctx` is done first or the broadcaster is being drained."""
        pausing, cancel = context.with_cancel(ctx)
        forget = self._retrying.add_done_callback(cancel)
        try:
            return context.sleep(pausing, seconds)
        finally:
            forget()
            cancel()

    def stop_pausing(self) -> None:
        """End all pauses and further attempts, so that an unreachable server does not delay the end of a program."""
        self._stop_retrying()

    def wait(self, ctx: Context) -> bool:
        """Block until all threads have ended; return False if `ctx` is done first. Their watches must be closed."""
        with self._lock:
            running = [*self._running]
        return all(select([ended, ctx.done()]).case == 0 for ended in running)
