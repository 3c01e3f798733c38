"""Threads for an elector's callbacks, and a log line for a callback that does not return. Has no Go file.

Go's `Run` returns while `OnStartedLeading` still runs. Here `run` joins its threads, so a callback that ignores its
context blocks `run`. The log line shows the cause.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec

from clientgo import klog
from clientgo.apimachinery.util import wait
from clientgo.context import Context
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import require_function
from clientgo.tools.leaderelection import resourcelock as rl
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.clock import Clock, Timer, WithDelayedExecution

P = ParamSpec("P")

# Seconds from the end of the context to the log line.
_SLOW = 10.0


class CallbackThreads:
    """The threads of one elector's callbacks. Thread-safe.

    Logs once, ten seconds after `expect_end`, which callbacks still run, if any.
    """

    def __init__(self, clock: Clock, callbacks: object) -> None:
        """Raise TypeError if a callback is async or a generator: the process would lead without any work."""
        parameters_of = {"on_started_leading": "ctx", "on_stopped_leading": "", "on_new_leader": "identity"}
        for name, parameters in parameters_of.items():
            if (callback := getattr(callbacks, name)) is not None:
                require_function(callback, f"the callback {name}", parameters)
        self._clock = clock if isinstance(clock, WithDelayedExecution) else REAL_CLOCK
        self._group = wait.Group()
        # Guards the rest.
        self._lock = threading.Lock()
        # The running functions, each with the name of its thread, and whether it has a context to watch.
        self._running: list[tuple[Callable[..., object], str, bool]] = []
        self._timer: Timer | None = None

    def start(self, run: Callable[[], object], name: str) -> None:
        """Start `run`, which uses `call`, in a new thread with this name."""
        self._group.start(run, name=name)

    def call(self, callback: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call `callback` in this thread. A log line names it if it runs too long."""
        entry = (callback, threading.current_thread().name, any(isinstance(arg, Context) for arg in args))
        with self._lock:
            self._running.append(entry)
        try:
            callback(*args, **kwargs)
        finally:
            with self._lock:
                self._running.remove(entry)

    def expect_end(self, ctx: Context, lock: rl.Interface) -> None:
        """Log the callbacks that still run after ten seconds. Later calls do nothing.

        Call it when the callbacks' context is done. `wait` cancels the log line.
        """
        with self._lock:
            if self._timer is None:
                self._timer = self._clock.after_func(_SLOW, lambda: self._log(klog.from_context(ctx), lock))

    def wait(self) -> None:
        """Block until all threads have ended."""
        self._group.wait()
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.stop()

    def _log(self, logger: klog.Logger, lock: rl.Interface) -> None:
        # Imported here, since an election does not need tools.cache otherwise.
        from clientgo.tools.cache.event_handler_name import name_for_function

        with self._lock:
            running = list(self._running)
        for callback, thread, has_context in running:
            remedy = "let it return when ctx.done() is set" if has_context else "it gets no context: let it never wait"
            logger.info(
                f"Leader election cannot end: a callback still runs although the context is done; {remedy}",
                callback=name_for_function(callback),
                thread=thread,
                since=format_duration(_SLOW),
                lock=lock.describe(),
            )

    def __repr__(self) -> str:
        with self._lock:
            return f"<CallbackThreads {', '.join(thread for _, thread, _ in self._running) or 'none running'}>"
