"""MutationDetector, which detects changes of cached objects.

Mirrors tools/cache/mutation_detector.go. Shared informers make cached objects read-only, so that an ordinary write
fails at once and at its place. The detector finds all other changes. The environment variable
KUBE_CACHE_MUTATION_DETECTOR=true enables it.

Differs from Go: `run` raises where Go panics, and the change is logged, not printed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from clientgo import klog
from clientgo.apimachinery.runtime import Object
from clientgo.golang.channel import StopChannel, select
from clientgo.tools.cache.delta_fifo import DeletedFinalStateUnknown
from clientgo.utils.clock import Clock, RealClock

_TRUE = ("1", "t", "T", "true", "TRUE", "True")

mutation_detection_enabled = os.environ.get("KUBE_CACHE_MUTATION_DETECTOR", "") in _TRUE
"""True if `new_cache_mutation_detector` returns a working detector. Read and set it as a module attribute."""


class MutationDetector(Protocol):
    """Observes objects for changes for a limited time. Go: MutationDetector."""

    def add_object(self, obj: Any, /) -> None:
        """Observe `obj` from now on."""
        ...

    def run(self, stop: StopChannel, /) -> None:
        """Compare the objects periodically. Blocks until `stop` is set."""
        ...


def new_cache_mutation_detector(name: str, *, clock: Clock | None = None) -> MutationDetector:
    """Return a detector for the cache `name`; without detection it does nothing. Go: NewCacheMutationDetector."""
    if not mutation_detection_enabled:
        return _DummyMutationDetector()
    klog.warning("Mutation detector is enabled, this will result in memory leakage.")
    return _DefaultCacheMutationDetector(name, clock or RealClock())


class _DummyMutationDetector:
    """Does nothing. Go: dummyMutationDetector."""

    def add_object(self, obj: Any) -> None:
        pass

    def run(self, stop: StopChannel) -> None:
        pass


@dataclass(slots=True)
class _CacheObj:
    """An object and the copy it should equal. Go: cacheObj."""

    cached: Object
    copied: Object


class _DefaultCacheMutationDetector:
    """Compares objects with the copies it made of them. Go: defaultCacheMutationDetector.

    It detects a change, but not its origin. An object is observed for two to four minutes.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._period = 1.0
        self._retain_duration = 120.0
        # Held while objects are compared. Guards the lists of observed objects.
        self._compare_objects_lock = threading.Lock()
        self._cached_objs: list[_CacheObj] = []
        self._retained_cached_objs: list[_CacheObj] = []
        self._last_rotated: float | None = None
        # Guards the list of new objects, so that adding never waits for a comparison.
        self._added_objs_lock = threading.Lock()
        self._added_objs: list[_CacheObj] = []
        # Called instead of raising, in tests.
        self._failure_func: Callable[[str], None] | None = None

    def run(self, stop: StopChannel) -> None:
        """Compare every second. Blocks until `stop` is set.

        Raises RuntimeError when an object was changed: the results of the program are unreliable from then on.
        """
        while True:
            self._rotate()
            self.compare_objects()
            if select([stop, self._clock.after(self._period)]).case == 0:
                return

    def _rotate(self) -> None:
        now = self._clock.now()
        if self._last_rotated is None:
            self._last_rotated = now
        elif now - self._last_rotated > self._retain_duration:
            with self._compare_objects_lock:
                self._retained_cached_objs, self._cached_objs = self._cached_objs, []
            self._last_rotated = now

    def add_object(self, obj: Any) -> None:
        """Copy `obj` and observe it from now on. Ignores tombstones and objects that are no API objects."""
        if isinstance(obj, DeletedFinalStateUnknown) or not isinstance(obj, Object):
            return
        watched = _CacheObj(cached=obj, copied=obj.deep_copy())
        with self._added_objs_lock:
            self._added_objs.append(watched)

    def compare_objects(self) -> None:
        """Compare all objects now, log the changed ones, and raise RuntimeError if there are any."""
        with self._compare_objects_lock:
            with self._added_objs_lock:
                self._cached_objs += self._added_objs
                self._added_objs = []
            altered = False
            for objs in (self._cached_objs, self._retained_cached_objs):
                for i, obj in enumerate(objs):
                    if obj.cached != obj.copied:
                        altered = True
                        klog.errorf("CACHE %s[%d] ALTERED!\n%s", self._name, i, _diff(obj.copied, obj.cached))
        if not altered:
            return
        message = f"cache {self._name} modified"
        if self._failure_func is None:
            raise RuntimeError(message)
        self._failure_func(message)

    def __repr__(self) -> str:
        n = len(self._cached_objs) + len(self._retained_cached_objs) + len(self._added_objs)
        return f"<MutationDetector {self._name!r} {n} objects>"


def _diff(before: Object, after: Object) -> str:
    from clientgo.apimachinery.util.diff.lines import unified  # only needed after a mistake

    return "\n".join(unified(_lines(before), _lines(after), "cached", "now"))


def _lines(obj: Object) -> list[str]:
    return json.dumps(obj.to_dict(), indent=2, sort_keys=True, default=str).splitlines()
