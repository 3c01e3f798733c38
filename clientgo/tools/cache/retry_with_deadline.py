"""The time for which a reflector retries a watch that fails with one kind of error.

Mirrors tools/cache/retry_with_deadline.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.klog.answers import is_true
from clientgo.utils.clock import Clock


class RetryWithDeadline(Protocol):
    """A limit on the total time of retries. Not thread-safe; never blocks. Go: RetryWithDeadline."""

    def after(self, err: BaseException | None, /) -> None:
        """Record the outcome of an attempt; None and errors that are not retryable change nothing. Go: After."""
        ...

    def should_retry(self) -> bool:
        """Report whether the limit allows another attempt now. Go: ShouldRetry."""
        ...


class _RetryWithDeadlineImpl:
    """Allows retries until `max_retry_duration` after the first of a series of errors.

    A series ends after `min_reset_period` without an error, or when the time is over.
    """

    def __init__(
        self,
        max_retry_duration: float,
        min_reset_period: float,
        is_retryable: Callable[[BaseException | None], bool],
        clock: Clock,
    ) -> None:
        self._max_retry_duration = max_retry_duration
        self._min_reset_period = min_reset_period
        self._is_retryable = is_retryable
        self._clock = clock
        self._first_error_time: float | None = None
        self._last_error_time: float | None = None

    def _reset(self) -> None:
        self._first_error_time = None
        self._last_error_time = None

    def after(self, err: BaseException | None) -> None:
        if not is_true(self._is_retryable, err):
            return
        now = self._clock.now()
        if self._last_error_time is None or now - self._last_error_time >= self._min_reset_period:
            self._reset()
        if self._first_error_time is None:
            self._first_error_time = now
        self._last_error_time = now

    def should_retry(self) -> bool:
        if self._max_retry_duration <= 0:
            return False
        first = self._first_error_time
        if first is not None and self._clock.now() - first <= self._max_retry_duration:
            return True
        self._reset()
        return False

    def __repr__(self) -> str:
        row = "no error" if self._first_error_time is None else f"errors since {self._first_error_time:.3f}"
        return f"<RetryWithDeadline {self._max_retry_duration}s, {row}>"


def new_retry_with_deadline(
    max_retry_duration: float,
    min_reset_period: float,
    is_retryable: Callable[[BaseException | None], bool],
    clock: Clock,
) -> RetryWithDeadline:
    """Return a limit of `max_retry_duration` seconds; zero or less never retries. Go: NewRetryWithDeadline."""
    return _RetryWithDeadlineImpl(max_retry_duration, min_reset_period, is_retryable, clock)


__all__ = ["RetryWithDeadline", "new_retry_with_deadline"]
