"""A thread that runs all controllers, and passes them the commits of the store.

Deterministic enough for tests: everything happens within milliseconds, and wait_idle says when it is done.
"""

from __future__ import annotations

import threading
from collections import deque

from clientgo import klog
from clientgo.testing.apiserver.controllers import namespaces
from clientgo.testing.apiserver.controllers.definitions import Definitions
from clientgo.testing.apiserver.controllers.garbage import GarbageCollector
from clientgo.testing.apiserver.controllers.namespaces import Namespaces
from clientgo.testing.apiserver.controllers.objects import Objects
from clientgo.testing.apiserver.kinds import crd
from clientgo.testing.apiserver.store.storage import Event
from clientgo.utils.clock import Clock

# How many events may wait for one that matters.
_MOST_RESTING = 100


class Controllers:
    """start() and stop() belong to the server. Thread-safe; the controllers themselves run on the one thread."""

    def __init__(self, objects: Objects, clock: Clock, *, collect_garbage: bool = True) -> None:
        self._objects = objects
        self._clock = clock
        self._namespaces = Namespaces(objects)
        self._definitions = Definitions(objects)
        self._garbage = GarbageCollector(objects) if collect_garbage else None
        # Guards the queue and the flags.
        self._cond = threading.Condition()
        self._queue: deque[tuple[str, Event]] = deque()
        # Whether the thread shall look at the queue. What matters to no controller by itself rests there until
        # something does, or a thread waits: waking a thread costs more than most writes.
        self._due = False
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<Controllers {len(self._queue)} queued>"

    def start(self) -> None:
        for bucket, stored in self._objects.store.walk():
            self._queue.append((bucket, Event("ADDED", None, stored)))
        self._due = True
        self._thread = threading.Thread(target=self._run, name="apiserver-controllers", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the controllers. Blocks until the thread has ended."""
        with self._cond:
            self._stopping = True
            self._cond.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def offer(self, bucket: str, event: Event) -> None:
        """Queue an event. The store calls this under its lock."""
        with self._cond:
            self._queue.append((bucket, event))
            if not self._due and (_matters(bucket, event) or len(self._queue) >= _MOST_RESTING):
                self._due = True
                self._cond.notify_all()

    def wait_idle(self, timeout: float = 10.0) -> bool:
        """Block until everything committed so far has been handled."""
        end = self._clock.now() + timeout
        with self._cond:
            if self._queue and not self._due:
                self._due = True
                self._cond.notify_all()
            while self._queue or self._busy:
                left = end - self._clock.now()
                if left <= 0:
                    return False
                self._clock.wait(self._cond, left)
        return True

    def _run(self) -> None:
        while True:
            with self._cond:
                self._busy = False
                if not self._queue:
                    self._due = False
                    self._cond.notify_all()
                while not self._due and not self._stopping:
                    self._cond.wait()
                if self._stopping:
                    return
                bucket, event = self._queue.popleft()
                self._busy = True
            try:
                self._handle(bucket, event)
            except Exception as err:
                klog.error_s(err, "Controller failed", resource=bucket, key=event.new.key)

    def _handle(self, bucket: str, event: Event) -> None:
        if self._garbage is not None:
            self._garbage.track(bucket, event)
        if bucket == namespaces.STORAGE and event.type != "DELETED":
            self._namespaces.sync(event.new)
        elif bucket == crd.STORAGE and event.type != "DELETED":
            self._definitions.sync(event.new)
        elif event.type == "DELETED":
            if event.new.namespace:
                self._namespaces.content_gone(event.new.namespace)
            self._definitions.object_gone(bucket)


def _matters(bucket: str, event: Event) -> bool:
    """Report whether the event may need work of a controller. Other events only update the indexes."""
    if event.type == "DELETED" or bucket in (namespaces.STORAGE, crd.STORAGE):
        return True
    metadata = event.new.obj["metadata"]
    if metadata.get("deletionTimestamp") or metadata.get("ownerReferences"):
        return True
    return event.old is not None and bool(event.old.obj["metadata"].get("ownerReferences"))
