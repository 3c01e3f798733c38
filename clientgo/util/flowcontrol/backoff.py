"""Exponential backoff for many IDs. Mirrors util/flowcontrol/backoff.go.

An ID that is not updated for twice the longest backoff starts again. Difference from Go: times and durations are float
seconds, and the lock is not part of the public interface.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from clientgo.klog.answers import is_true
from clientgo.utils.clock import REAL_CLOCK, RESOLUTION, PassiveClock

__all__ = [
    "Backoff",
    "new_back_off",
    "new_back_off_with_jitter",
    "new_fake_back_off",
    "new_fake_back_off_with_jitter",
]


@dataclass(slots=True)
class _BackoffEntry:
    backoff: float
    last_update: float


class Backoff:
    """The backoff of each id; doubles with every `next`. Thread-safe, never blocks. Go: flowcontrol.Backoff.

    Entries stay until `gc`, `reset` or `delete_entry`: call `gc` periodically. `gc` is O(ids), the others are O(1).
    """

    def __init__(self, initial: float, maximum: float, clock: PassiveClock, max_jitter_factor: float = 0.0) -> None:
        """Initialize the backoffs; use `new_back_off` instead.

        Durations are seconds; jitter adds up to `max_jitter_factor` times the current backoff.
        """
        self.clock = clock
        self.has_expired_func: Callable[[float, float, float], bool] | None = None
        """Reports from (event_time, last_update, max_duration) whether an entry has expired.

        None means after more than 2 * max_duration. Called with the lock held.
        """
        # Guards _per_item_backoff and its entries, and _rand.
        self._lock = threading.Lock()
        self._default_duration = initial
        self._max_duration = maximum
        self._per_item_backoff: dict[str, _BackoffEntry] = {}
        self._max_jitter_factor = max_jitter_factor
        self._rand = random.Random(clock.now()) if max_jitter_factor > 0 else None

    def get(self, id: str) -> float:
        """Return the current backoff of `id` in seconds, or 0.0."""
        with self._lock:
            entry = self._per_item_backoff.get(id)
            return entry.backoff if entry is not None else 0.0

    def next(self, id: str, event_time: float) -> None:
        """Advance `id` to its next backoff: the initial one if it is new or expired by `event_time`, otherwise the
        double.
        """
        with self._lock:
            entry = self._per_item_backoff.get(id)
            if entry is None or self._has_expired(event_time, entry.last_update):
                entry = self._init_entry_unsafe(id)
                entry.backoff += self._jitter(entry.backoff)
            else:
                entry.backoff = min(entry.backoff * 2 + self._jitter(entry.backoff), self._max_duration)
            entry.last_update = self.clock.now()

    def reset(self, id: str) -> None:
        """Drop `id`."""
        with self._lock:
            self._per_item_backoff.pop(id, None)

    def is_in_back_off_since(self, id: str, event_time: float) -> bool:
        """Report whether less time than the backoff of `id` has passed since `event_time`."""
        with self._lock:
            entry = self._live_entry(id, event_time)
            return entry is not None and entry.backoff - self.clock.since(event_time) > RESOLUTION

    def is_in_back_off_since_update(self, id: str, event_time: float) -> bool:
        """Report whether less time than the backoff of `id` has passed from the last `next` until `event_time`."""
        with self._lock:
            entry = self._live_entry(id, event_time)
            return entry is not None and entry.backoff - (event_time - entry.last_update) > RESOLUTION

    def gc(self) -> None:
        """Drop all expired IDs."""
        with self._lock:
            now = self.clock.now()
            expired = [id for id, entry in self._per_item_backoff.items() if self._has_expired(now, entry.last_update)]
            for id in expired:
                del self._per_item_backoff[id]

    def delete_entry(self, id: str) -> None:
        """Drop `id`, as `reset` does."""
        self.reset(id)

    def _live_entry(self, id: str, event_time: float) -> _BackoffEntry | None:
        entry = self._per_item_backoff.get(id)
        if entry is None or self._has_expired(event_time, entry.last_update):
            return None
        return entry

    def _init_entry_unsafe(self, id: str) -> _BackoffEntry:
        entry = _BackoffEntry(self._default_duration, 0.0)
        self._per_item_backoff[id] = entry
        return entry

    def _jitter(self, delay: float) -> float:
        if self._rand is None:
            return 0.0
        return self._rand.random() * self._max_jitter_factor * delay

    def _has_expired(self, event_time: float, last_update: float) -> bool:
        if self.has_expired_func is not None:
            return is_true(self.has_expired_func, event_time, last_update, self._max_duration)
        return event_time - last_update > self._max_duration * 2 + RESOLUTION

    def __repr__(self) -> str:
        return f"<Backoff {self._default_duration}s to {self._max_duration}s, {len(self._per_item_backoff)} ids>"


def new_fake_back_off(initial: float, max: float, tc: PassiveClock) -> Backoff:
    """Return a Backoff with a test's clock. Go: flowcontrol.NewFakeBackOff."""
    return Backoff(initial, max, tc)


def new_back_off(initial: float, max: float) -> Backoff:
    """Return a Backoff from `initial` to `max` seconds. Go: flowcontrol.NewBackOff."""
    return new_back_off_with_jitter(initial, max, 0.0)


def new_fake_back_off_with_jitter(initial: float, max: float, tc: PassiveClock, max_jitter_factor: float) -> Backoff:
    """Return a Backoff with jitter and a test's clock. Go: flowcontrol.NewFakeBackOffWithJitter."""
    return Backoff(initial, max, tc, max_jitter_factor)


def new_back_off_with_jitter(initial: float, max: float, max_jitter_factor: float) -> Backoff:
    """Return a Backoff that adds up to `max_jitter_factor` times the backoff. Go: flowcontrol.NewBackOffWithJitter."""
    return Backoff(initial, max, REAL_CLOCK, max_jitter_factor)
