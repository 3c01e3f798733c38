"""MutationDetector, which finds out that somebody changed a cached object.

Mirrors tools/cache/mutation_detector.go. Here shared informers make what they cache read-only, so that an ordinary
write fails at once and in the right place; the detector finds what goes around that. Set the environment variable
KUBE_CACHE_MUTATION_DETECTOR=true to switch it on.

Differs from Go in that `run` raises where Go panics, and in that the change is logged, not printed.
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
"""Whether `new_cache_mutation_detector` makes a detector that does something; read and set as a module attribute."""


class MutationDetector(Protocol):
    """Watches objects for changes for a while. Go: MutationDetector."""

    def add_object(self, obj: Any) -> None:
        """Watch `obj` from now on."""
        ...

    def run(self, stop: StopChannel) -> None:
        """Compare again and again; blocks until `stop`."""
        ...


def new_cache_mutation_detector(name: str, *, clock: Clock | None = None) -> MutationDetector:
    """A detector for the cache `name`; one that does nothing unless detection is on. Go: NewCacheMutationDetector."""
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

    It cannot say who changed an object, only that it was changed. What is watched is forgotten after between two and
    four minutes.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._period = 1.0
        self._retain_duration = 120.0
        # Held while objects are compared; guards the lists of those that were taken over.
        self._compare_objects_lock = threading.Lock()
        self._cached_objs: list[_CacheObj] = []
        self._retained_cached_objs: list[_CacheObj] = []
        self._last_rotated: float | None = None
        # Guards the list of the new ones, so that adding never waits for a comparison.
        self._added_objs_lock = threading.Lock()
        self._added_objs: list[_CacheObj] = []
        # Called instead of raising, in tests.
        self._failure_func: Callable[[str], None] | None = None

    def run(self, stop: StopChannel) -> None:
        """Compare every second; blocks until `stop`.

        Raises RuntimeError when an object was changed: from then on no result of the program can be trusted.
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
        """Copy `obj` and watch it from now on; tombstones, and what is no API object, are not watched."""
        if isinstance(obj, DeletedFinalStateUnknown) or not isinstance(obj, Object):
            return
        watched = _CacheObj(cached=obj, copied=obj.deep_copy())
        with self._added_objs_lock:
            self._added_objs.append(watched)

    def compare_objects(self) -> None:
        """Compare all of them now, log those that were changed, and raise RuntimeError if there are any."""
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
    import difflib  # Here, not above: it is for mistakes alone.

    return "\n".join(difflib.unified_diff(_lines(before), _lines(after), "cached", "now", lineterm=""))


def _lines(obj: Object) -> list[str]:
    return json.dumps(obj.to_dict(), indent=2, sort_keys=True, default=str).splitlines()
