"""An imaginary collection of objects that can be listed and watched, to put a reflector or an informer in front of.

Mirrors tools/cache/testing/fake_controller_source.go. Differs in three things: watchers get copies of the objects,
since an informer makes what it caches read-only; after `shutdown` every method raises, where Go's block for ever; and
a hundred changes may wait for the broadcaster, not twenty-five, since threads cost more to switch than goroutines.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ListObject, Object
from clientgo.apimachinery.watch import Event, EventType

# How many events a watcher may lag behind before the source waits for it.
_QUEUE_LENGTH = 100


class _NNU(NamedTuple):
    """Namespace, name and UID: an object's key here. Go: nnu."""

    namespace: str
    name: str
    uid: str


class _FakeList(ListObject):
    """A list whose items are the given objects, of whatever types. Go: v1.List with runtime.Objects set."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Sequence[Object]) -> None:
        super().__init__(api_version="v1", kind="List")
        self._objects: Sequence[Object] = objects

    def extract_items(self) -> list[Any]:
        return list(self._objects)


class FakeControllerSource:
    """Objects in memory, each change numbered, that can be listed and watched. Go: FakeControllerSource.

    A ListerWatcher. Changes are kept until `reset_watch`, so that a watch may begin at an earlier version. Thread-safe;
    a change blocks while a watcher lags a hundred events behind.
    """

    def __init__(self) -> None:
        # Guards all below. Held while an event is handed out, so that a new watch misses none and gets none twice.
        self._lock = threading.Lock()
        self.items: dict[_NNU, Object] = {}
        # Change number n + 1 follows n; the first one's number is that of its object.
        self._changes: list[Event] = []
        self.broadcaster = _new_broadcaster()
        self._last_rv = 0
        self._shut_down = False
        # Raised by `list` when set.
        self.list_error: BaseException | None = None

    def reset_watch(self) -> None:
        """Close all watches and drop the history, as after a lost connection: clients must relist. Go: ResetWatch."""
        with self._lock:
            self._raise_if_shut_down()
            self.broadcaster.shutdown()
            self.broadcaster = _new_broadcaster()
            self._changes = []

    def add(self, obj: Object) -> None:
        """Add `obj` with the next version, and notify the watchers. Go: Add."""
        self.change(Event(EventType.ADDED, obj), 1.0)

    def modify(self, obj: Object) -> None:
        """Replace the stored object by `obj` with the next version, and notify the watchers. Go: Modify."""
        self.change(Event(EventType.MODIFIED, obj), 1.0)

    def delete(self, last_value: Object) -> None:
        """Remove the object, give `last_value` the next version, and notify the watchers. Go: Delete."""
        self.change(Event(EventType.DELETED, last_value), 1.0)

    def add_drop_watch(self, obj: Object) -> None:
        """Add the object without an event for the watchers. Go: AddDropWatch."""
        self.change(Event(EventType.ADDED, obj), 0.0)

    def modify_drop_watch(self, obj: Object) -> None:
        """Modify the object without an event for the watchers. Go: ModifyDropWatch."""
        self.change(Event(EventType.MODIFIED, obj), 0.0)

    def delete_drop_watch(self, last_value: Object) -> None:
        """Delete the object without an event for the watchers. Go: DeleteDropWatch."""
        self.change(Event(EventType.DELETED, last_value), 0.0)

    def change(self, e: Event, watch_probability: float) -> None:
        """Make the change with the next version, and notify the watchers with probability `watch_probability`.

        Go: Change.
        """
        with self._lock:
            self._raise_if_shut_down()
            # What comes out of a cache is read-only; a test may hand it back here all the same.
            obj = e.object.deep_copy() if e.object.frozen else e.object
            self._last_rv += 1
            obj.set_resource_version(str(self._last_rv))
            self._changes.append(Event(e.type, obj))
            key = _NNU(obj.get_namespace(), obj.get_name(), obj.get_uid())
            if e.type == EventType.DELETED:
                self.items.pop(key, None)
            else:
                self.items[key] = obj
            if random.random() < watch_probability:
                self.broadcaster.action(e.type, obj.deep_copy())

    def list(self, options: metav1.ListOptions) -> Object:
        """Return copies of all objects at the current version. Ignores the options. Go: List."""
        return self._list(_FakeList)

    def _list(self, make: Callable[[Sequence[Object]], ListObject]) -> Object:
        with self._lock:
            self._raise_if_shut_down()
            if self.list_error is not None:
                raise self.list_error
            # Copies, so that a client that changes one and writes it back does not change this collection before.
            listed = make([obj.deep_copy() for obj in self.items.values()])
            listed.set_resource_version(str(self._last_rv))
            return listed

    def watch(self, options: metav1.ListOptions) -> watch.Interface:
        """Return a watch that begins with all changes after the version in `options`. Go: Watch.

        Raises Expired when those were forgotten, and ValueError when the version is none, or in the future.
        """
        with self._lock:
            self._raise_if_shut_down()
            version = int(options.resource_version)
            if version > self._last_rv:
                raise ValueError("resource version in the future not supported by this fake")
            if version == self._last_rv:
                return self.broadcaster.watch()
            return self.broadcaster.watch_with_prefix(self._changes_after(version))

    def _changes_after(self, version: int) -> Sequence[Event]:
        if not self._changes:
            raise _too_old(version, self._last_rv)
        oldest = int(self._changes[0].object.get_resource_version())
        if version < oldest:
            raise _too_old(version, oldest)
        return [Event(e.type, e.object.deep_copy()) for e in self._changes[version - oldest + 1 :]]

    def shutdown(self) -> None:
        """Hand out what is on its way, and close all watches. Nothing else may be called afterwards. Go: Shutdown."""
        with self._lock:
            self._shut_down = True
            self.broadcaster.shutdown()

    def _raise_if_shut_down(self) -> None:
        if self._shut_down:
            raise RuntimeError("the fake controller source was shut down")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self.items)} objects at {self._last_rv}, {len(self._changes)} changes>"


class FakePVControllerSource(FakeControllerSource):
    """A source of PersistentVolumes: it lists a PersistentVolumeList. Go: FakePVControllerSource."""

    def list(self, options: metav1.ListOptions) -> Object:
        """Return a list of the stored objects. Go: List."""
        return self._list(lambda items: corev1.PersistentVolumeList(items=cast("list[corev1.PersistentVolume]", items)))


class FakePVCControllerSource(FakeControllerSource):
    """A source of PersistentVolumeClaims: it lists a PersistentVolumeClaimList. Go: FakePVCControllerSource."""

    def list(self, options: metav1.ListOptions) -> Object:
        """Return a list of the stored objects. Go: List."""
        return self._list(
            lambda items: corev1.PersistentVolumeClaimList(items=cast("list[corev1.PersistentVolumeClaim]", items))
        )


def _too_old(version: int, oldest: int) -> apierrors.StatusError:
    return apierrors.new_resource_expired(f"too old resource version: {version} ({oldest})")


def _new_broadcaster() -> watch.Broadcaster:
    return watch.new_long_queue_broadcaster(_QUEUE_LENGTH, watch.FullChannelBehavior.WAIT_IF_CHANNEL_FULL)


def new_fake_controller_source() -> FakeControllerSource:
    """Return a source without objects. Go: NewFakeControllerSource."""
    return FakeControllerSource()


def new_fake_pv_controller_source() -> FakePVControllerSource:
    """Return a source of PersistentVolumes. Go: NewFakePVControllerSource."""
    return FakePVControllerSource()


def new_fake_pvc_controller_source() -> FakePVCControllerSource:
    """Return a source of PersistentVolumeClaims. Go: NewFakePVCControllerSource."""
    return FakePVCControllerSource()


__all__ = [
    "FakeControllerSource",
    "FakePVCControllerSource",
    "FakePVControllerSource",
    "new_fake_controller_source",
    "new_fake_pv_controller_source",
    "new_fake_pvc_controller_source",
]
