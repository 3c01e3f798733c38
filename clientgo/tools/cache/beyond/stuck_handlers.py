"""Log lines about event handlers that do not return. Has no Go file: there a blocked handler is silent.

A handler of a shared informer has a thread and a buffer of its own, so a blocked one delays no other handler. Its
program misses events, and its informer cannot stop. Each costs one line at the default level:

  * ten to twelve seconds after the handler was called;
  * ten seconds after the informer began to wait for it, to stop.

The informer reads no clock for a delivery. While notifications wait, a check runs every two seconds. It compares the
notification that each handler is handling with the notification of the previous check.

A debugger that keeps a handler from being called, such as the informer tour, does so within `holding`. The time in it
does not count.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import describe_function
from clientgo.tools.cache.notifications import Notification
from clientgo.utils.clock import PassiveClock
from clientgo.utils.clock.watchdog import check_later, checked_after

if TYPE_CHECKING:
    from clientgo.tools.cache.beyond.records import HandlerStatistics
    from clientgo.tools.cache.controller import ResourceEventHandler

_PERIOD = 2.0
# With the check that sees a notification first, this makes ten seconds.
_CHECKS = 5
_SHUTDOWN_PATIENCE = 10.0


# The threads of the handlers from which debuggers keep a notification. Each thread adds and removes itself. A
# notification belongs to all handlers together, so its identity does not tell them apart.
_held: set[int] = set()


class CallTimer(threading.local):
    """The time at which the current thread's handler was called; the end of a hold, if there was one."""

    clock: PassiveClock | None = None
    started = 0.0

    def start(self, clock: PassiveClock) -> None:
        """Note that the thread calls its handler now, in the time of `clock`."""
        self.clock = clock
        self.started = clock.now()

    def restart(self) -> None:
        """Note that a hold has ended and the handler is called only now."""
        if self.clock is not None:
            self.started = self.clock.now()


call_timer = CallTimer()
"""The timer of each thread."""


class Listener(Protocol):
    """The part of a handler's listener that is needed here. None of the methods waits for the handler."""

    logger: klog.Logger

    def delivering(self) -> Notification | None:
        """Return the notification that the handler is handling."""
        ...

    def thread_ident(self) -> int | None:
        """Return the identifier of the thread that calls the handler; None before its start."""
        ...

    def waiting(self) -> int:
        """Return the number of notifications that the handler has not handled."""
        ...

    def statistics(self) -> HandlerStatistics:
        """Return the handler's name, and the number and age of its notifications."""
        ...

    def is_alive(self) -> bool:
        """Report whether the thread that calls the handler runs."""
        ...


class StuckHandlers:
    """Reporter of the handlers of one informer that do not return. Thread-safe.

    `is_watching` is read without the lock. The processor reads it after it has queued a notification, and a check
    clears it before it counts the waiting notifications, so one of the two notices the other.
    """

    def __init__(self, clock: PassiveClock) -> None:
        self._clock = clock
        # Guards everything below. Never held while a line is logged.
        self._lock = threading.Lock()
        self.is_watching = False
        # The processor's own collection, which changes meanwhile; copying it is one operation.
        self._listeners: Iterable[Listener] = ()
        # For each listener the notification of the last check, and the number of checks that saw it before.
        self._seen: dict[Listener, tuple[Notification, int]] = {}
        self._was_idle = False
        self._reported: weakref.WeakSet[Listener] = weakref.WeakSet()
        self._cancel: Callable[[], object] = _nothing

    def watch(self, listeners: Iterable[Listener]) -> None:
        """Check `listeners` until their handlers have handled everything."""
        with self._lock:
            if not self.is_watching:
                self._listeners = listeners
                self._was_idle = False
                self._check_later_locked()

    def end(self) -> None:
        """Stop checking."""
        with self._lock:
            self._cancel()
            self._listeners, self._seen = (), {}

    def joining(self, listeners: Iterable[Listener]) -> AbstractContextManager[None]:
        """Report the handlers that the block still waits for after ten seconds."""
        return checked_after(self._clock, _SHUTDOWN_PATIENCE, lambda: _report_joined(listeners))

    def _check_later_locked(self) -> None:
        self.is_watching = True
        self._cancel = check_later(self._clock, _PERIOD, self._check_handlers)

    def _check_handlers(self) -> None:
        with self._lock:
            self.is_watching = False
            listeners = [each for each in list(self._listeners) if each not in self._reported]
            stuck = self._find_stuck_locked(listeners)
            self._reported.update(stuck)
            # A notification is neither waiting nor being handled for an instant: one idle check does not prove that.
            is_idle = not any(listener.waiting() for listener in listeners if listener not in stuck)
            if not (is_idle and self._was_idle):
                self._check_later_locked()
            self._was_idle = is_idle
        for listener in stuck:
            _report(listener)

    def _find_stuck_locked(self, listeners: Iterable[Listener]) -> list[Listener]:
        seen, self._seen = self._seen, {}
        stuck = []
        for listener in listeners:
            notification = listener.delivering()
            if notification is None or listener.thread_ident() in _held:
                continue
            before, checks = seen.get(listener, (None, 0))
            checks = checks + 1 if before is notification else 0
            if checks >= _CHECKS:
                stuck.append(listener)
            else:
                self._seen[listener] = notification, checks
        return stuck


class DirectDelivery:
    """The Listener for a handler that the thread of the process loop calls, as in an informer that is not shared.

    Reports the handler if it does not return. Only this thread calls `delivering_now`.
    """

    def __init__(self, logger: klog.Logger, handler: ResourceEventHandler, clock: PassiveClock) -> None:
        self.logger = logger
        self._handler = handler
        self._clock = clock
        self._stuck = StuckHandlers(clock)
        # The notification in delivery and its thread. Each is replaced as a whole.
        self._current: Notification | None = None
        self._thread: int | None = None

    def delivering_now(self, notification: Notification | None) -> None:
        """Note that the handler is called with `notification` now; None if it is not called."""
        self._current = notification
        if notification is not None and not self._stuck.is_watching:
            self._thread = threading.get_ident()
            self._stuck.watch((self,))

    def delivering(self) -> Notification | None:
        """See Listener."""
        return self._current

    def thread_ident(self) -> int | None:
        """See Listener."""
        return self._thread

    def waiting(self) -> int:
        """See Listener."""
        return int(self._current is not None)

    def statistics(self) -> HandlerStatistics:
        """See Listener."""
        from clientgo.tools.cache.beyond.records import HandlerStatistics  # Here: for reports only.

        functions = [getattr(self._handler, f"{event}_func", None) for event in ("add", "update", "delete")]
        name = ", ".join(describe_function(each) for each in functions if each is not None)
        name = name or type(self._handler).__qualname__
        return HandlerStatistics(name, self.waiting(), _PERIOD * _CHECKS, 0, 0, False)

    def is_alive(self) -> bool:
        """See Listener."""
        return True


@contextmanager
def holding() -> Iterator[None]:
    """Keep a notification from the handler of the current thread in this block, without a report about the handler.

    The ten seconds begin anew at the end of the block, when the handler is called. Takes no lock.
    """
    ident = threading.get_ident()
    _held.add(ident)
    try:
        yield
    finally:
        call_timer.restart()
        _held.discard(ident)


def _report(listener: Listener) -> None:
    statistics = listener.statistics()
    listener.logger.info(
        "Warning: an event handler has not returned for ten seconds, and its notifications wait: let it only add a key "
        "to a work queue, and do the work in a worker",
        handler=statistics.handler,
        pendingNotifications=statistics.pending,
        oldest=format_duration(statistics.oldest_age),
    )


def _report_joined(listeners: Iterable[Listener]) -> None:
    for listener in listeners:
        if listener.is_alive():
            listener.logger.info(
                "Warning: the informer cannot stop before its event handler returns: let the handler only add a key to "
                "a work queue, or end with the context of the program",
                handler=listener.statistics().handler,
            )


def _nothing() -> None:
    """Cancel nothing."""


__all__ = ["CallTimer", "DirectDelivery", "Listener", "StuckHandlers", "call_timer", "holding"]
