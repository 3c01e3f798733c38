"""Trackers that report when a controller has processed all objects of its informer's first list.

Mirrors tools/cache/synctrack/synctrack.go. An informer's own "has synced" reports that the store is filled. A tracker
reports that the consumer has *processed* the objects of the first list.

Differs from Go: the methods of SingleFileTracker take a count, so that a batch of items takes the lock only once.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

from clientgo import context

T = TypeVar("T", bound=Hashable)


class AsyncTracker(Generic[T]):
    """A tracker for a consumer that processes items in any order, on any number of threads. Go: AsyncTracker.

    The owner calls `upstream_has_synced` when the source has delivered its first list. Every item of the list must have
    been passed to `start` before. Thread-safe; methods block only to acquire the lock.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # Guards the two fields below. Never held while waiters are notified of the sync.
        self._lock = threading.Lock()
        self._upstream_has_synced = False
        self._waiting: set[T] = set()
        self._synced, self._cancel = context.with_cancel(context.background())

    def start(self, key: T) -> None:
        """Record that an item of the first list will be processed. Go: Start."""
        with self._lock:
            self._waiting.add(key)

    def finished(self, key: T) -> None:
        """Record that an item was processed. Ignores a key that was not started. Go: Finished."""
        with self._lock:
            self._waiting.discard(key)
            synced = self._upstream_has_synced and not self._waiting
        if synced:
            self._cancel()

    def upstream_has_synced(self) -> None:
        """Record that the source has delivered the whole first list. Go: UpstreamHasSynced."""
        with self._lock:
            self._upstream_has_synced = True
            synced = not self._waiting
        if synced:
            self._cancel()

    def has_synced(self) -> bool:
        """Report whether the source has synced and its whole first list was processed; stays true. Go: HasSynced."""
        return self._synced.err() is not None

    def done(self) -> context.StopChannel:
        """Return a signal that is set once `has_synced` is true. Go: Done."""
        return self._synced.done()

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        state = "synced" if self.has_synced() else f"{len(self._waiting)} waiting"
        return f"<AsyncTracker {self._name!r} {state}>"


class SingleFileTracker:
    """A tracker for a consumer that processes items in order, which only counts them. Go: SingleFileTracker.

    Thread-safe; methods block only to acquire the lock.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # The upstream's checker, if it has one; see beyond/unstarted.py of tools/cache.
        self.awaited: object = None
        # Guards the two fields below. Never held while waiters are notified of the sync.
        self._lock = threading.Lock()
        self._upstream_has_synced = False
        self._count = 0
        self._synced, self._cancel = context.with_cancel(context.background())

    def start(self, count: int = 1) -> None:
        """Record that `count` items of the first list will be processed. Go: Start."""
        with self._lock:
            self._count += count

    def finished(self, count: int = 1) -> None:
        """Record that `count` items were processed. Go: Finished.

        Raises RuntimeError for more items than were started, where Go panics: `has_synced` is unreliable then.
        """
        with self._lock:
            self._count -= count
            if self._count < 0:
                raise RuntimeError(
                    "synctrack: negative counter; this logic error means HasSynced may return incorrect value"
                )
            synced = self._count == 0 and self._upstream_has_synced
        if synced:
            self._cancel()

    def upstream_has_synced(self) -> None:
        """Record that the source has delivered the whole first list. Go: UpstreamHasSynced."""
        with self._lock:
            self._upstream_has_synced = True
            synced = self._count == 0
        if synced:
            self._cancel()

    def has_synced(self) -> bool:
        """Report whether the source has synced and its whole first list was processed; stays true. Go: HasSynced."""
        return self._synced.err() is not None

    def done(self) -> context.StopChannel:
        """Return a signal that is set once `has_synced` is true. Go: Done."""
        return self._synced.done()

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        state = "synced" if self.has_synced() else f"{self._count} waiting"
        return f"<SingleFileTracker {self._name!r} {state}>"


def new_async_tracker(name: str) -> AsyncTracker[T]:
    """Return an AsyncTracker. Go: NewAsyncTracker."""
    return AsyncTracker(name)


def new_single_file_tracker(name: str) -> SingleFileTracker:
    """Return a SingleFileTracker. Go: NewSingleFileTracker."""
    return SingleFileTracker(name)


__all__ = ["AsyncTracker", "SingleFileTracker", "new_async_tracker", "new_single_file_tracker"]
