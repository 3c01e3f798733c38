"""A value that is computed on the first read and kept until a notification marks it as stale.

Mirrors tools/cache/synctrack/lazy.go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _CacheEntry(Generic[T]):
    """One generation of the value; a notification starts the next one.

    So an evaluation that began before a notification cannot overwrite one that began after it: it fills an entry that
    no reader uses any more.
    """

    def __init__(self, evaluate: Callable[[], T]) -> None:
        self._evaluate = evaluate
        # Held while evaluating, so that all readers of this generation share one evaluation.
        self._lock = threading.Lock()
        self._result: tuple[T] | None = None

    def get(self) -> T:
        result = self._result
        if result is not None:
            return result[0]
        with self._lock:
            if self._result is None:
                self._result = (self._evaluate(),)
            return self._result[0]


class Lazy(Generic[T]):
    """Defers `evaluate` until its value is read. Go: Lazy.

    Thread-safe. `evaluate` may run on several threads at once, for different generations of the value.
    """

    def __init__(self, evaluate: Callable[[], T] | None = None) -> None:
        # Go: Evaluate. May be set later, before the first `get`.
        self.evaluate = evaluate
        # Guards _cache. Never held while evaluating.
        self._lock = threading.Lock()
        self._cache: _CacheEntry[T] | None = None

    def _new_cache_entry(self) -> _CacheEntry[T]:
        if self.evaluate is None:
            raise RuntimeError("Lazy.evaluate is not set")
        return _CacheEntry(self.evaluate)

    def notify(self) -> None:
        """Drop the value because its source has changed. Does not evaluate. Go: Notify."""
        entry = self._new_cache_entry()
        with self._lock:
            self._cache = entry

    def get(self) -> T:
        """Return the current value. Evaluates a stale value, or waits for the thread that does. Go: Get.

        Raises any exception of `evaluate`. An error is not kept: the next call evaluates again.
        """
        with self._lock:
            entry = self._cache
            if entry is None:
                entry = self._cache = self._new_cache_entry()
        return entry.get()


__all__ = ["Lazy"]
