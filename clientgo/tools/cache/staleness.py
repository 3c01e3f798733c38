"""A health check for caches that went silently stale. Beyond Go.

A server can fail, or a connection die without either end noticing, and then a cache shows the past for as long as
nobody looks. A reflector knows when its server last said how things stand, be it only by a bookmark; the check here
fails when that is too long ago. It takes the informers of every factory, controllers and reflectors:

    check = cache.StalenessCheck(max_silence=180.0)
    check.add("pods", factory.core().v1().pods().informer())
    check.check()  # where the program answers its liveness probe; raises StaleError

It fails as well when a cache could not take in what its server said, and that for as long: see `refused` of informers.

A silent watch is healthy: a server that has nothing to tell sends a bookmark about once a minute, so that three minutes
are enough to wait for one or two. Servers that send none, for want of a watch cache (kube-apiserver has none for
events), can be silent for as long as a watch lasts, ten minutes; the default allows for that.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from clientgo.golang.duration import format_duration
from clientgo.klog.exceptions import operational_error
from clientgo.tools.cache.refusals import Refusal
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

# Longer than the longest watch a reflector asks for by default, with a minute to open the next one. To be raised for
# informers with a `min_watch_timeout` of more than five minutes.
DEFAULT_MAX_SILENCE = 11 * 60.0


class Listening(Protocol):
    """What tells when it last heard from its server: a shared informer, a controller or a reflector."""

    def last_heard(self) -> float | None: ...


@runtime_checkable
class Refusing(Protocol):
    """What tells what it could not take in: a shared informer or a controller."""

    def refused(self) -> Mapping[str, Refusal]: ...


@operational_error
class StaleError(Exception):
    """Some caches have not heard from their server for too long, or could not take in what it said."""


class StalenessCheck:
    """Fails when one of several informers has not heard from its server for more than `max_silence` seconds.

    It has the shape of a health check of Go's healthz package (`name`, `check`), as HealthzAdaptor does. An informer
    that has not heard anything yet counts from the time at which it was added here. Thread-safe; no method blocks.
    """

    def __init__(self, max_silence: float = DEFAULT_MAX_SILENCE, clock: PassiveClock = REAL_CLOCK) -> None:
        self._max_silence = max_silence
        self._clock = clock
        # Held by those who add and remove.
        self._lock = threading.Lock()
        # Each informer with its name and the time at which it was added. Replaced as a whole, so that reading needs no
        # lock.
        self._watched: tuple[tuple[str, Listening, float], ...] = ()

    def add(self, name: str, informer: Listening) -> None:
        """Check `informer` too, under this name."""
        with self._lock:
            self._watched = (*self._watched, (name, informer, self._clock.now()))

    def remove(self, name: str) -> None:
        """Forget the informers of this name, because they were stopped on purpose."""
        with self._lock:
            self._watched = tuple(each for each in self._watched if each[0] != name)

    def name(self) -> str:
        """What to call the check."""
        return "informers-heard-from-server"

    def check(self, request: object = None) -> None:
        """Raises StaleError with the names of the stale caches. `request` is not used."""
        now = self._clock.now()
        silent = []
        behind = []
        for name, informer, added in self._watched:
            heard = informer.last_heard()
            silence = now - (added if heard is None else heard)
            if silence > self._max_silence:
                silent.append(f"{name} (for {_in_words(silence)})")
            if isinstance(informer, Refusing):
                behind += self._behind(name, informer.refused(), now)
        complaints = []
        if silent:
            complaints.append(f"nothing heard from the server: {', '.join(silent)}")
        if behind:
            complaints.append(f"not taken into the cache: {', '.join(behind)}")
        if complaints:
            raise StaleError("; ".join(complaints))

    def _behind(self, name: str, refused: Mapping[str, Refusal], now: float) -> list[str]:
        """What a cache has lacked for too long: the one that is lacking longest, and how many."""
        overdue = [(each.since, key) for key, each in refused.items() if now - each.since > self._max_silence]
        if not overdue:
            return []
        since, key = min(overdue)
        others = f" and {len(overdue) - 1} more" if len(overdue) > 1 else ""
        return [f"{name} {key}{others} (for {_in_words(now - since)}: {refused[key].err})"]

    def __repr__(self) -> str:
        return f"<StalenessCheck of {len(self._watched)} informers, {format_duration(self._max_silence)} allowed>"


def _in_words(seconds: float) -> str:
    return format_duration(float(round(seconds)))


__all__ = ["DEFAULT_MAX_SILENCE", "StaleError", "StalenessCheck"]
