"""A log line about an item whose retries have become slow. Has no Go file: Go does not log this.

The delay of an item grows with each `add_rate_limited` until `forget`. A worker that never calls `forget`, or that uses
`add_rate_limited` to look again later, works well at first. A day later one failure of an item costs it a quarter of an
hour. A reconcile that requeues without an end looks the same. The queue cannot distinguish these mistakes from work
that fails, so the line names the remedy for each.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.util.workqueue.default_rate_limiters import TypedRateLimiter

__all__ = ["LONG_DELAY", "LongDelays", "is_long"]

LONG_DELAY = 30.0
"""Seconds until a retry from which on the delay is reported. The default limiter returns more at the 14th failure, less
than a minute after the first one."""

# A delay after fewer failures is the choice of a limiter: of a token bucket, or of one whose delays start long.
_MANY_FAILURES = 10

T = TypeVar("T", bound=Hashable)


class LongDelays(Generic[T]):
    """A reporter of the first long delay of one queue. Thread-safe."""

    def __init__(self, name: str, limiter: TypedRateLimiter[T], log: klog.Logger | None = None) -> None:
        """Create the reporter. `log` defaults to klog's background logger."""
        self._name = name
        self._limiter: TypedRateLimiter[Any] = limiter
        self._log = log
        # Guards _is_logged.
        self._lock = threading.Lock()
        self._is_logged = False

    def report(self, item: T, delay: float) -> None:
        """Log that `item` waits `delay` seconds, at least LONG_DELAY, if its failures are the cause."""
        if self._is_logged or (failures := self._limiter.num_requeues(item)) < _MANY_FAILURES:
            return
        with self._lock:
            if self._is_logged:
                return
            self._is_logged = True
        (self._log or klog.background()).info(
            "Warning: an item waits long for its next retry, because its delay grows with each add_rate_limited until "
            "forget: call forget after each success; if the work fails, mend the error that its worker logs; to look "
            "again later use add_after, and in controller_runtime requeue_after in place of requeue",
            queue=self._name or "(without a name)",
            item=item,
            failures=failures,
            delay=format_duration(delay),
        )


def is_long(delay: float, limiter: object) -> bool:
    """Report whether a rate limiter's delay is long. Raises TypeError if it is no number, as None without a return."""
    try:
        return delay >= LONG_DELAY
    except TypeError:
        name = type(limiter).__qualname__
        raise TypeError(f"{name}.when returned {delay!r}: it returns a number of seconds") from None
