"""A health check for caches that went stale without an error. Beyond Go.

A server can fail, or a connection die without either end noticing, and then a cache shows the past. A reflector records
when its server last reported the current state, at least by a bookmark. The check fails when that is too long ago. It
accepts the informers of every factory, controllers and reflectors:

    check = cache.StalenessCheck(max_silence=180.0)
    check.add("pods", factory.core().v1().pods().informer())
    check.check()  # in the handler of the liveness probe; raises StaleError

It also fails when a cache has not stored an object for that long; see `refused` of informers.

A silent watch is healthy: a server without changes sends a bookmark about once a minute, so that three minutes are
enough to wait for one or two. Servers without a watch cache send none (kube-apiserver has none for events). They can be
silent for as long as a watch lasts, ten minutes; the default allows for that.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from clientgo.golang.duration import format_duration
from clientgo.klog.exceptions import operational_error
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

# The longest watch that a reflector requests by default, and a minute to open the next one. Informers with a
# `min_watch_timeout` of more than five minutes need more.
DEFAULT_MAX_SILENCE = 11 * 60.0


class HasLastContact(Protocol):
    """A shared informer, a controller or a reflector."""

    def last_contact(self) -> float | None:
        """Return the time at which the server last reported the current state."""
        ...


class Rejected(Protocol):
    """An object that a cache does not store."""

    @property
    def err(self) -> Exception:
        """The reason."""
        ...

    @property
    def since(self) -> float:
        """Time of the first failure, in seconds of the informer's clock."""
        ...


@runtime_checkable
class RejectionSource(Protocol):
    """A source of rejected objects: a shared informer or a controller."""

    def refused(self) -> Mapping[str, Rejected]:
        """Return the objects that the cache does not store, by key."""
        ...


@operational_error
class StaleError(Exception):
    """Some caches have not received anything from the server for too long, or lack an object that it has."""


class StalenessCheck:
    """A health check that fails when an informer has received nothing from its server for `max_silence` seconds.

    It has the methods of a health check of Go's healthz package (`name`, `check`), as HealthzAdaptor has. For an
    informer that has received nothing yet, the time starts at `add`. Thread-safe; no method blocks.
    """

    def __init__(self, max_silence: float = DEFAULT_MAX_SILENCE, clock: PassiveClock = REAL_CLOCK) -> None:
        self._max_silence = max_silence
        self._clock = clock
        # Guards changes of `_watched`.
        self._lock = threading.Lock()
        # Name, informer and time of each `add`. Replaced as a whole, so that a reader needs no lock.
        self._watched: tuple[tuple[str, HasLastContact, float], ...] = ()

    def add(self, name: str, informer: HasLastContact) -> None:
        """Add `informer` under `name`."""
        with self._lock:
            self._watched = (*self._watched, (name, informer, self._clock.now()))

    def remove(self, name: str) -> None:
        """Remove the informers of this name, which were stopped on purpose."""
        with self._lock:
            self._watched = tuple(each for each in self._watched if each[0] != name)

    def name(self) -> str:
        """Return the name of the check."""
        return "informers-heard-from-server"

    def check(self, request: object = None) -> None:
        """Raise StaleError, with the names of the stale caches, if there are any. Ignores `request`."""
        now = self._clock.now()
        silent = []
        behind = []
        for name, informer, added in self._watched:
            last_contact = informer.last_contact()
            silence = now - (added if last_contact is None else last_contact)
            if silence > self._max_silence:
                silent.append(f"{name} (for {_in_words(silence)})")
            if isinstance(informer, RejectionSource):
                behind += self._behind(name, informer.refused(), now)
        problems = []
        if silent:
            problems.append(f"nothing heard from the server: {', '.join(silent)}")
        if behind:
            problems.append(f"not taken into the cache: {', '.join(behind)}")
        if problems:
            raise StaleError("; ".join(problems))

    def _behind(self, name: str, refused: Mapping[str, Rejected], now: float) -> list[str]:
        """Describe the object that a cache has rejected longest, with the number of the others; [] for none."""
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
