"""A server for one kind of object that fails in every way a reflector has to live with, and a handler that checks.

To be used inside a synctest bubble. `StormyServer` keeps the truth; whatever it does to its clients, they have to end
with `objects`. `ReplayingHandler` rebuilds that state from notifications alone and objects to any that make no sense.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from scriptedwatch import ERRORS

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang.channel import Channel
from clientgo.tools import cache


class Stream:
    """One open watch."""

    def __init__(self) -> None:
        self._channel: Channel[Event] = Channel(10_000)
        self._lock = threading.Lock()
        self._open = True

    def result_chan(self) -> Channel[Event]:
        return self._channel

    def send(self, type: EventType, obj: Any) -> None:
        with self._lock:
            if self._open:
                assert self._channel.try_send(Event(type, obj)), "nobody reads the watch"

    def stop(self) -> None:
        with self._lock:
            if self._open:
                self._open = False
                self._channel.close()


class StormyServer:
    """A ListerWatcher over objects in memory. Every change gets the next version and goes to all open watches."""

    def __init__(self, streams_lists: bool) -> None:
        # Whether it understands sendInitialEvents; a server that does not answers 422.
        self.streams_lists = streams_lists
        # Guards all below.
        self._lock = threading.Lock()
        self.objects: dict[str, corev1.ConfigMap] = {}
        self._version = 100
        self._history: list[tuple[int, EventType, corev1.ConfigMap]] = []
        self._forgotten = 100  # a watch from an earlier version is answered 410
        self._streams: list[Stream] = []
        self._list_errors: deque[str] = deque()
        self._watch_errors: deque[str] = deque()

    # ---- for the test

    def versions(self) -> dict[str, str]:
        """Return the version of each object."""
        with self._lock:
            return {name: obj.metadata.resource_version for name, obj in self.objects.items()}

    def write(self, name: str) -> None:
        """Create the object, or change it."""
        with self._lock:
            self._version += 1
            type = EventType.MODIFIED if name in self.objects else EventType.ADDED
            meta = metav1.ObjectMeta(name=name, namespace="ns", resource_version=str(self._version))
            self.objects[name] = corev1.ConfigMap(metadata=meta)
            self._record(type, self.objects[name])

    def delete(self, name: str) -> None:
        with self._lock:
            obj = self.objects.pop(name, None)
            if obj is None:
                return
            self._version += 1
            last = obj.deep_copy()
            last.set_resource_version(str(self._version))
            self._record(EventType.DELETED, last)

    def close_watches(self) -> None:
        """End all watches as a timeout does: without a word."""
        with self._lock:
            self._close_streams()

    def break_watches(self, error: str) -> None:
        """End all watches with an error event."""
        with self._lock:
            for stream in self._streams:
                err = ERRORS[error]()
                assert isinstance(err, apierrors.StatusError)
                stream.send(EventType.ERROR, err.status())
            self._close_streams()

    def forget_history(self) -> None:
        """Reject watches from versions before the current one, as after etcd's compaction."""
        with self._lock:
            self._forgotten = self._version

    def send_bookmark(self) -> None:
        with self._lock:
            for stream in self._streams:
                stream.send(EventType.BOOKMARK, self._bookmark())

    def fail(self, list_errors: list[str], watch_errors: list[str]) -> None:
        """Answer the next calls with these errors."""
        with self._lock:
            self._list_errors.extend(list_errors)
            self._watch_errors.extend(watch_errors)

    def calm_down(self) -> None:
        """Send no more errors."""
        with self._lock:
            self._list_errors.clear()
            self._watch_errors.clear()

    # ---- for the reflector

    def list(self, options: metav1.ListOptions) -> corev1.ConfigMapList:
        with self._lock:
            if self._list_errors:
                raise ERRORS[self._list_errors.popleft()]()
            return corev1.ConfigMapList(
                metadata=metav1.ListMeta(resource_version=str(self._version)),
                items=[obj.deep_copy() for obj in self.objects.values()],
            )

    def watch(self, options: metav1.ListOptions) -> Stream:
        with self._lock:
            if self._watch_errors:
                raise ERRORS[self._watch_errors.popleft()]()
            stream = Stream()
            if options.send_initial_events:
                if not self.streams_lists:
                    raise ERRORS["invalid"]()
                self._send_all(stream)
            else:
                self._send_since(stream, int(options.resource_version))
            self._streams.append(stream)
            return stream

    def _send_all(self, stream: Stream) -> None:
        for obj in self.objects.values():
            stream.send(EventType.ADDED, obj.deep_copy())
        bookmark = self._bookmark()
        bookmark.metadata.annotations[metav1.INITIAL_EVENTS_ANNOTATION_KEY] = "true"
        stream.send(EventType.BOOKMARK, bookmark)

    def _send_since(self, stream: Stream, version: int) -> None:
        if version < self._forgotten:
            raise ERRORS["expired"]()
        for changed_at, type, obj in self._history:
            if changed_at > version:
                stream.send(type, obj.deep_copy())

    # ---- with the lock held

    def _record(self, type: EventType, obj: corev1.ConfigMap) -> None:
        self._history.append((self._version, type, obj))
        for stream in self._streams:
            stream.send(type, obj.deep_copy())

    def _bookmark(self) -> corev1.ConfigMap:
        return corev1.ConfigMap(metadata=metav1.ObjectMeta(resource_version=str(self._version)))

    def _close_streams(self) -> None:
        for stream in self._streams:
            stream.stop()
        self._streams.clear()


class ReplayingHandler:
    """Handler that builds the state from notifications. `problems` has the contradictions.

    Each object is added once before anything else, each update carries the object as it was before, each deletion is of
    an object that is there.
    """

    def __init__(self, seconds_per_call: float = 0.0) -> None:
        self._seconds_per_call = seconds_per_call
        self.state: dict[str, str] = {}
        self.calls = 0
        self.problems: list[str] = []

    def versions(self) -> dict[str, str]:
        return self.state

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._take_time()
        name = obj.metadata.name
        self._expect(name not in self.state, f"{name} added twice")
        self.state[name] = obj.metadata.resource_version

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._take_time()
        name, old = new_obj.metadata.name, old_obj.metadata.resource_version
        self._expect(self.state.get(name) == old, f"{name} updated from {old}, but was {self.state.get(name)}")
        self.state[name] = new_obj.metadata.resource_version

    def on_delete(self, obj: Any) -> None:
        self._take_time()
        name = cache.deletion_handling_object_to_name(obj).name
        self._expect(name in self.state, f"{name} deleted, but was not there")
        self.state.pop(name, None)

    def _take_time(self) -> None:
        self.calls += 1
        if self._seconds_per_call:
            time.sleep(self._seconds_per_call)

    def _expect(self, fits: bool, problem: str) -> None:
        if not fits:
            self.problems.append(problem)
