"""Log lines about caches that have not synced. Has no Go file, where such a program just seems to hang.

It costs one line at the default level, which states the remedy, when the cache does not sync because it has rejected an
object of the initial list for ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import klog
from clientgo.tools.cache.refusals import Refusals
from clientgo.utils.clock import RESOLUTION, PassiveClock
from clientgo.utils.lookout import look_later

_PATIENCE = 10.0


class RejectionReport:
    """Reports an object that keeps one cache from syncing."""

    def __init__(self, name: str, refusals: Refusals, clock: PassiveClock, is_synced: Callable[[], bool]) -> None:
        """`name` names the type of the objects. Takes over `refusals.on_refused`."""
        self._name = name
        self._refusals = refusals
        self._clock = clock
        self._is_synced = is_synced
        self._is_over = False
        refusals.on_refused = self._look_later

    def _look_later(self) -> None:
        if not self._is_over and not self._is_synced():
            look_later(self._clock, _PATIENCE, self._look)

    def _look(self) -> None:
        rejected = self._refusals.by_key()
        if not rejected or self._is_over or self._is_synced():
            return
        key, oldest = min(rejected.items(), key=lambda item: item[1].since)
        if self._clock.since(oldest.since) < _PATIENCE - RESOLUTION:  # the one of before was accepted meanwhile
            self._look_later()
            return
        self._is_over = True
        klog.background().info(
            "Warning: the cache has not synced, because it rejects an object of the initial list: mend the index or "
            "transform function that fails for it",
            type=self._name,
            object=key,
            rejectedObjects=len(rejected),
            err=oldest.err,
        )


__all__ = ["RejectionReport"]
