"""A server in memory that reflectors can list and watch, with the ways in which real ones fail.

Objects carry the resource versions they are given; the server only remembers the newest. Lists come in key order and
ignore the limit. A version becomes too old with `expire`, and a watch from it is refused then.
"""

from __future__ import annotations

import threading
from typing import Any

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.watch import Event, EventType


class MemoryServer:
    """A collection of ConfigMaps behind list and watch."""

    def __init__(self) -> None:
        # Guards all below.
        self._lock = threading.Lock()
        self.objects: dict[str, corev1.ConfigMap] = {}
        self.version = 0
        # Versions below this one are too old to watch from.
        self._oldest = 0
        self._history: list[Event] = []
        self._watches: list[watch.RaceFreeFakeWatcher] = []
        self.lists = 0

    def change(self, kind: EventType, obj: corev1.ConfigMap, notify: bool = True) -> None:
        """Make a change that gives the collection the version of `obj`; tell the open watches, unless told not to."""
        with self._lock:
            self.version = int(obj.get_resource_version())
            if kind == EventType.DELETED:
                self.objects.pop(obj.object_key(), None)
            else:
                self.objects[obj.object_key()] = obj
            self._history.append(Event(kind, obj))
            if notify:
                for opened in self._watches:
                    opened.action(kind, obj.deep_copy())

    def expire(self) -> None:
        """Make all versions but the present one too old."""
        with self._lock:
            self._oldest = self.version
            self._history = []

    def close_watches(self, expired: bool = False) -> None:
        """End all open watches; if `expired`, with an ERROR event that says that their version is too old."""
        with self._lock:
            watches, self._watches = self._watches, []
        for opened in watches:
            if expired:
                opened.error(_expired().status())
            opened.stop()

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        with self._lock:
            self.lists += 1
            items = [obj.deep_copy() for _, obj in sorted(self.objects.items())]
            metadata = metav1.ListMeta(resource_version=str(self.version))
            return corev1.ConfigMapList(metadata=metadata, items=items)

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> watch.Interface:
        with self._lock:
            version = int(options.resource_version or 0)
            if version < self._oldest:
                raise _expired()
            self._watches = [opened for opened in self._watches if not opened.is_stopped()]
            opened = watch.new_race_free_fake()
            for event in self._history:
                if int(event.object.get_resource_version()) > version:
                    opened.action(event.type, event.object.deep_copy())
            self._watches.append(opened)
            return opened


def _expired() -> apierrors.StatusError:
    return apierrors.new_resource_expired("too old resource version")
