"""Rate limiters: compute the delay before a failed item is retried. Mirrors util/workqueue/default_rate_limiters.go.

Delays are float seconds. The exponential limiter computes in whole nanoseconds like Go, and returns the same results as
Go when a value overflows 64 bits. A limiter with a token bucket takes a clock in addition to Go's arguments.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.util.flowcontrol import rate
from clientgo.util.workqueue.beyond.inspection import components_of
from clientgo.util.workqueue.beyond.unhashable import check_hashable
from clientgo.utils.clock import WithDelayedExecution

__all__ = [
    "BucketRateLimiter",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "RateLimiter",
    "TypedBucketRateLimiter",
    "TypedItemExponentialFailureRateLimiter",
    "TypedItemFastSlowRateLimiter",
    "TypedMaxOfRateLimiter",
    "TypedRateLimiter",
    "TypedWithMaxWaitRateLimiter",
    "WithMaxWaitRateLimiter",
    "default_controller_rate_limiter",
    "default_item_based_rate_limiter",
    "default_typed_controller_rate_limiter",
    "default_typed_item_based_rate_limiter",
    "new_item_exponential_failure_rate_limiter",
    "new_item_fast_slow_rate_limiter",
    "new_max_of_rate_limiter",
    "new_typed_item_exponential_failure_rate_limiter",
    "new_typed_item_fast_slow_rate_limiter",
    "new_typed_max_of_rate_limiter",
    "new_typed_with_max_wait_rate_limiter",
    "new_with_max_wait_rate_limiter",
]

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", bound=Hashable, contravariant=True)

_NS = 1_000_000_000
_MIN_INT64 = -(2**63)
_TWO_TO_63 = 2.0**63


class TypedRateLimiter(Protocol[T_contra]):
    """A source of delays before an item is retried. Implementations are thread-safe. Go: workqueue.TypedRateLimiter."""

    def when(self, item: T_contra, /) -> float:
        """Count one more failure of `item` and return the seconds to wait before the retry."""
        ...

    def forget(self, item: T_contra, /) -> None:
        """Reset the failures of `item`, because it succeeded or the caller stops retrying it."""
        ...

    def num_requeues(self, item: T_contra, /) -> int:
        """Return the number of failures of `item` since the last `forget`."""
        ...


RateLimiter: TypeAlias = TypedRateLimiter[Any]
"""Deprecated: use TypedRateLimiter."""


def default_controller_rate_limiter(clock: WithDelayedExecution | None = None) -> RateLimiter:
    """Deprecated: use default_typed_controller_rate_limiter."""
    return default_typed_controller_rate_limiter(clock)


def default_typed_controller_rate_limiter(clock: WithDelayedExecution | None = None) -> TypedRateLimiter[Any]:
    """Return the recommended rate limiter for controllers. Go: workqueue.DefaultTypedControllerRateLimiter.

    The first retry of an item waits 5 ms, and each further retry twice as long, up to 1000 s. All items together are
    retried at most 10 times per second, after a burst of 100.
    """
    return new_typed_max_of_rate_limiter(
        new_typed_item_exponential_failure_rate_limiter(0.005, 1000.0),
        TypedBucketRateLimiter(limiter=rate.new_limiter(10, 100, clock)),
    )


class TypedBucketRateLimiter(Generic[T]):
    """A limiter of all items together, by one token bucket. Go: TypedBucketRateLimiter."""

    def __init__(self, limiter: rate.Limiter) -> None:
        self.limiter = limiter

    def when(self, item: T) -> float:
        """Reserve a token and return the seconds until it is due; rate.INF_DURATION if the bucket can never supply one.
        """
        return self.limiter.reserve().delay()

    def num_requeues(self, item: T) -> int:
        """Return 0: the bucket does not count failures per item."""
        return 0

    def forget(self, item: T) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return f"<TypedBucketRateLimiter {self.limiter!r}>"


BucketRateLimiter: TypeAlias = TypedBucketRateLimiter[Any]
"""Deprecated: use TypedBucketRateLimiter."""


class TypedItemExponentialFailureRateLimiter(Generic[T]):
    """A limiter with the delay base_delay * 2 ** failures, at most max_delay. Go:
    TypedItemExponentialFailureRateLimiter.

    The failures of an item are counted until `forget`.
    """

    def __init__(self, base_delay: float, max_delay: float) -> None:
        # Guards _failures.
        self._failures_lock = threading.Lock()
        self._failures: dict[T, int] = {}
        self._base_delay = require_seconds(base_delay, "base_delay")
        self._base_ns = float(round(base_delay * _NS))
        self._max_delay = require_seconds(max_delay, "max_delay")
        self._max_ns = max_delay * _NS

    @hop("queue.when_exponential", go="(*TypedItemExponentialFailureRateLimiter).When")
    def when(self, item: T) -> float:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                exponent = self._failures.get(item, 0)
                self._failures[item] = exponent + 1
        except TypeError:
            check_hashable(item)
            raise

        backoff_ns = self._base_ns * (2.0**exponent if exponent < 1024 else math.inf)
        if backoff_ns > _TWO_TO_63:
            return self._max_delay
        calculated_ns = _to_int64(backoff_ns)
        if calculated_ns > self._max_ns:
            return self._max_delay
        return calculated_ns / _NS

    def num_requeues(self, item: T) -> int:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                return self._failures.get(item, 0)
        except TypeError:
            check_hashable(item)
            raise

    @hop("queue.forget_exponential", go="(*TypedItemExponentialFailureRateLimiter).Forget")
    def forget(self, item: T) -> None:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                # An empty dict's `pop` does not hash its argument: `in` rejects an unhashable item at any time.
                if item in self._failures:
                    del self._failures[item]
        except TypeError:
            check_hashable(item)
            raise

    def failures(self) -> dict[T, int]:
        """Return the number of failures of each item, except forgotten items. Beyond Go."""
        with self._failures_lock:
            return dict(self._failures)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base_delay}s to {self._max_delay}s, {len(self._failures)} items>"


def _to_int64(value: float) -> int:
    """Convert a float to int64 as Go does on amd64: values out of range and not-a-number become the smallest integer.
    """
    return int(value) if _MIN_INT64 <= value < _TWO_TO_63 else _MIN_INT64


ItemExponentialFailureRateLimiter: TypeAlias = TypedItemExponentialFailureRateLimiter[Any]
"""Deprecated: use TypedItemExponentialFailureRateLimiter."""


def new_item_exponential_failure_rate_limiter(base_delay: float, max_delay: float) -> RateLimiter:
    """Deprecated: use new_typed_item_exponential_failure_rate_limiter."""
    return new_typed_item_exponential_failure_rate_limiter(base_delay, max_delay)


def new_typed_item_exponential_failure_rate_limiter(base_delay: float, max_delay: float) -> TypedRateLimiter[Any]:
    """Return a limiter whose delays double up to `max_delay`. Go: workqueue.NewTypedItemExponentialFailureRateLimiter.
    """
    return TypedItemExponentialFailureRateLimiter(base_delay, max_delay)


def default_item_based_rate_limiter() -> RateLimiter:
    """Deprecated: use default_typed_item_based_rate_limiter."""
    return default_typed_item_based_rate_limiter()


def default_typed_item_based_rate_limiter() -> TypedRateLimiter[Any]:
    """Return a limiter whose delays double from 1 ms to 1000 s. Go: workqueue.DefaultTypedItemBasedRateLimiter."""
    return new_typed_item_exponential_failure_rate_limiter(0.001, 1000.0)


class TypedItemFastSlowRateLimiter(Generic[T]):
    """A limiter with the delay `fast_delay` for an item's first failures, and then `slow_delay`. Go:
    TypedItemFastSlowRateLimiter.

    The failures of an item are counted until `forget`.
    """

    def __init__(self, fast_delay: float, slow_delay: float, max_fast_attempts: int) -> None:
        # Guards _failures.
        self._failures_lock = threading.Lock()
        self._failures: dict[T, int] = {}
        self._max_fast_attempts = max_fast_attempts
        self._fast_delay = require_seconds(fast_delay, "fast_delay")
        self._slow_delay = require_seconds(slow_delay, "slow_delay")

    @hop("queue.when_fast_slow", go="(*TypedItemFastSlowRateLimiter).When")
    def when(self, item: T) -> float:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                failures = self._failures.get(item, 0) + 1
                self._failures[item] = failures
        except TypeError:
            check_hashable(item)
            raise
        return self._fast_delay if failures <= self._max_fast_attempts else self._slow_delay

    def num_requeues(self, item: T) -> int:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                return self._failures.get(item, 0)
        except TypeError:
            check_hashable(item)
            raise

    @hop("queue.forget_fast_slow", go="(*TypedItemFastSlowRateLimiter).Forget")
    def forget(self, item: T) -> None:
        """See TypedRateLimiter."""
        try:
            with self._failures_lock:
                # An empty dict's `pop` does not hash its argument: `in` rejects an unhashable item at any time.
                if item in self._failures:
                    del self._failures[item]
        except TypeError:
            check_hashable(item)
            raise

    def failures(self) -> dict[T, int]:
        """Return the number of failures of each item, except forgotten items. Beyond Go."""
        with self._failures_lock:
            return dict(self._failures)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self._max_fast_attempts} times {self._fast_delay}s, then {self._slow_delay}s, "
            f"{len(self._failures)} items>"
        )


ItemFastSlowRateLimiter: TypeAlias = TypedItemFastSlowRateLimiter[Any]
"""Deprecated: use TypedItemFastSlowRateLimiter."""


def new_item_fast_slow_rate_limiter(fast_delay: float, slow_delay: float, max_fast_attempts: int) -> RateLimiter:
    """Deprecated: use new_typed_item_fast_slow_rate_limiter."""
    return new_typed_item_fast_slow_rate_limiter(fast_delay, slow_delay, max_fast_attempts)


def new_typed_item_fast_slow_rate_limiter(
    fast_delay: float, slow_delay: float, max_fast_attempts: int
) -> TypedRateLimiter[Any]:
    """Return a limiter with some fast retries, then slow ones. Go: workqueue.NewTypedItemFastSlowRateLimiter."""
    return TypedItemFastSlowRateLimiter(fast_delay, slow_delay, max_fast_attempts)


class TypedMaxOfRateLimiter(Generic[T]):
    """The longest delay of several limiters. Go: TypedMaxOfRateLimiter.

    If one of them is a token bucket, more items than its burst may become ready together, because other limiters
    delayed some of these items longer.
    """

    def __init__(self, *limiters: TypedRateLimiter[T]) -> None:
        self._limiters = limiters

    def when(self, item: T) -> float:
        """Return the longest delay of all limiters, at least 0.0."""
        longest = 0.0
        for limiter in self._limiters:
            longest = max(longest, limiter.when(item))
        return longest

    def num_requeues(self, item: T) -> int:
        """Return the largest failure count of all limiters."""
        return max((limiter.num_requeues(item) for limiter in self._limiters), default=0)

    def forget(self, item: T) -> None:
        """Reset the failures of `item` in every limiter."""
        for limiter in self._limiters:
            limiter.forget(item)

    def failures(self) -> dict[T, int]:
        """Return the largest failure count of each item in all limiters. Beyond Go."""
        counts: dict[T, int] = {}
        for limiter in self._limiters:
            for item, count in getattr(limiter, "failures", dict)().items():
                counts[item] = max(count, counts.get(item, 0))
        return counts

    def components(self) -> tuple[object, ...]:
        """Return the combined limiters, and the components of those that have some. Beyond Go."""
        return tuple(part for limiter in self._limiters for part in components_of(limiter))

    def __repr__(self) -> str:
        return f"<TypedMaxOfRateLimiter {', '.join(map(repr, self._limiters))}>"


MaxOfRateLimiter: TypeAlias = TypedMaxOfRateLimiter[Any]
"""Deprecated: use TypedMaxOfRateLimiter."""


def new_max_of_rate_limiter(*limiters: TypedRateLimiter[Any]) -> RateLimiter:
    """Deprecated: use new_typed_max_of_rate_limiter."""
    return new_typed_max_of_rate_limiter(*limiters)


def new_typed_max_of_rate_limiter(*limiters: TypedRateLimiter[T]) -> TypedRateLimiter[T]:
    """Return a limiter that uses the longest delay of several limiters. Go: workqueue.NewTypedMaxOfRateLimiter."""
    return TypedMaxOfRateLimiter(*limiters)


class TypedWithMaxWaitRateLimiter(Generic[T]):
    """A limiter that caps the delays of another one at `max_delay`. Go: TypedWithMaxWaitRateLimiter."""

    def __init__(self, limiter: TypedRateLimiter[T], max_delay: float) -> None:
        self._limiter = limiter
        self._max_delay = max_delay

    def when(self, item: T) -> float:
        """See TypedRateLimiter."""
        return min(self._limiter.when(item), self._max_delay)

    def forget(self, item: T) -> None:
        """See TypedRateLimiter."""
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        """See TypedRateLimiter."""
        return self._limiter.num_requeues(item)

    def failures(self) -> dict[T, int]:
        """Return the inner limiter's number of failures of each item. Beyond Go."""
        counts: dict[T, int] = getattr(self._limiter, "failures", dict)()
        return counts

    def components(self) -> tuple[object, ...]:
        """Return the inner limiter's components. Beyond Go."""
        return components_of(self._limiter)

    def __repr__(self) -> str:
        return f"<TypedWithMaxWaitRateLimiter {self._max_delay}s, {self._limiter!r}>"


WithMaxWaitRateLimiter: TypeAlias = TypedWithMaxWaitRateLimiter[Any]
"""Deprecated: use TypedWithMaxWaitRateLimiter."""


def new_with_max_wait_rate_limiter(limiter: RateLimiter, max_delay: float) -> RateLimiter:
    """Deprecated: use new_typed_with_max_wait_rate_limiter."""
    return new_typed_with_max_wait_rate_limiter(limiter, max_delay)


def new_typed_with_max_wait_rate_limiter(limiter: TypedRateLimiter[T], max_delay: float) -> TypedRateLimiter[T]:
    """Return a limiter that caps the delays of `limiter` at `max_delay`. Go: workqueue.NewTypedWithMaxWaitRateLimiter.
    """
    return TypedWithMaxWaitRateLimiter(limiter, max_delay)
