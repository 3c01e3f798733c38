"""A log line for a client whose own rate limit slows a program down. No Go file.

Go logs each long wait, without the setting that causes it, and logs nothing at the default verbosity for many short
waits. This line appears once for each rate limiter, in addition to Go's lines.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.util.flowcontrol import RateLimiter

# The thresholds of the line: seconds that one request waits, and seconds that all requests of a window wait together.
_LONG_WAIT = 1.0
_MUCH_WAITING = 10.0
_WINDOW = 60.0


@dataclass(slots=True)
class _Waits:
    """The waits for one rate limiter, in a window of time."""

    window_start: float
    total: float = 0.0
    logged: bool = False

    def add(self, seconds: float, now: float) -> bool:
        """Count a wait and report whether the line is due."""
        if now - self.window_start > _WINDOW:
            self.window_start, self.total = now, 0.0
        self.total += seconds
        if self.logged or (seconds <= _LONG_WAIT and self.total < _MUCH_WAITING):
            return False
        self.logged = True
        return True


# Guards _WAITS and its values.
_LOCK = threading.Lock()
# The clients of a clientset share one limiter, which the line is about. An entry ends with its limiter.
_WAITS: WeakKeyDictionary[RateLimiter, _Waits] = WeakKeyDictionary()


def log_remedy(logger: klog.Logger, limiter: RateLimiter, waited: float, now: float) -> None:
    """Count that a request waited `waited` seconds for `limiter`; log the remedy once if that is too long.

    `now` is a time of the client's clock. A limiter that cannot be hashed or weakly referenced gets no line.
    """
    try:
        with _LOCK:
            waits = _WAITS.setdefault(limiter, _Waits(now - waited))
            is_due = waits.add(waited, now)
    except TypeError:
        return
    if not is_due:
        return
    # A limiter made from qps and burst of a Config has this method; a user's own limiter may not have it.
    burst = getattr(limiter, "burst", None)
    if callable(burst):
        logger.info(
            "The client's own rate limit delays its requests: raise qps and burst in its rest.Config, "
            "for example qps=50, burst=100; qps=-1 removes the limit",
            qps=limiter.qps(),
            burst=burst(),
            delay=format_duration(waited),
        )
    else:
        logger.info(
            "The client's own rate limiter delays its requests: set a faster rate_limiter in its rest.Config, "
            "or qps and burst instead",
            rateLimiter=type(limiter).__name__,
            delay=format_duration(waited),
        )
