"""A health check for caches that went silently stale. Beyond Go.

A server can fail, or a connection die without either end noticing, and then a cache shows the past for as long as
nobody looks. A reflector knows when its server last said how things stand, be it only by a bookmark; the check here
fails when that is too long ago. It takes the informers of every factory, controllers and reflectors:

    check = cache.StalenessCheck(max_silence=180.0)
    check.add("pods", factory.core().v1().pods().informer())
    check.check()  # where the program answers its liveness probe; raises StaleError

A silent watch is healthy: a server that has nothing to tell sends a bookmark about once a minute, so that three minutes
are enough to wait for one or two. Servers that send none, for want of a watch cache (kube-apiserver has none for
events), can be silent for as long as a watch lasts, ten minutes; the default allows for that.
"""

from __future__ import annotations

import threading
from typing import Protocol

from clientgo.apimachinery.apis.meta.v1.duration import format_duration
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

# Longer than the longest watch a reflector asks for by default, with a minute to open the next one. To be raised for
# informers with a `min_watch_timeout` of more than five minutes.
DEFAULT_MAX_SILENCE = 11 * 60.0


class Listening(Protocol):
    """What tells when it last heard from its server: a shared informer, a controller or a reflector."""

    def last_heard(self) -> float | None: ...


class StaleError(Exception):
    """Some caches have not heard from their server for too long."""


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
        stale = []
        for name, informer, added in self._watched:
            heard = informer.last_heard()
            silence = now - (added if heard is None else heard)
            if silence > self._max_silence:
                stale.append(f"{name} (for {format_duration(float(round(silence)))})")
        if stale:
            raise StaleError(f"nothing heard from the server: {', '.join(stale)}")

    def __repr__(self) -> str:
        return f"<StalenessCheck of {len(self._watched)} informers, {format_duration(self._max_silence)} allowed>"


__all__ = ["DEFAULT_MAX_SILENCE", "StaleError", "StalenessCheck"]
