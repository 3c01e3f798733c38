"""Tell when a controller has worked through everything its informer listed at the start.

Mirrors tools/cache/synctrack/synctrack.go. An informer's own "has synced" says that the store is filled; a tracker says
that the consumer behind it has *processed* what the first list brought.

Differs in one thing: a SingleFileTracker's methods take a count, so that a batch of items costs one lock, not many.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

from clientgo import context

T = TypeVar("T", bound=Hashable)


class AsyncTracker(Generic[T]):
    """For consumers that process items in any order, on any number of threads. Go: AsyncTracker.

    The owner watches the source and calls `upstream_has_synced` once that has delivered its first list; every item of
    that list must have been passed to `start` by then. Thread-safe; no method blocks longer than the lock.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # Guards the two below. Never held while somebody who waits for the sync is told.
        self._lock = threading.Lock()
        self._upstream_has_synced = False
        self._waiting: set[T] = set()
        self._synced, self._cancel = context.with_cancel(context.background())

    def start(self, key: T) -> None:
        """To be called before an item of the first list is processed. Go: Start."""
        with self._lock:
            self._waiting.add(key)

    def finished(self, key: T) -> None:
        """To be called when an item has been processed; keys never started are welcome too. Go: Finished."""
        with self._lock:
            self._waiting.discard(key)
            synced = self._upstream_has_synced and not self._waiting
        if synced:
            self._cancel()

    def upstream_has_synced(self) -> None:
        """Tell the tracker that its source has handed over the whole first list. Go: UpstreamHasSynced."""
        with self._lock:
            self._upstream_has_synced = True
            synced = not self._waiting
        if synced:
            self._cancel()

    def has_synced(self) -> bool:
        """Whether the source has synced and every item of its first list was processed; stays true. Go: HasSynced."""
        return self._synced.err() is not None

    def done(self) -> context.StopChannel:
        """Set once `has_synced` is true. Go: Done."""
        return self._synced.done()

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        state = "synced" if self.has_synced() else f"{len(self._waiting)} waiting"
        return f"<AsyncTracker {self._name!r} {state}>"


class SingleFileTracker:
    """For consumers that process items one after the other: it only counts. Go: SingleFileTracker.

    Thread-safe; no method blocks longer than the lock.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # The upstream's checker, if it has one; see unstarted.py of tools/cache.
        self.awaited: object = None
        # Guards the two below. Never held while somebody who waits for the sync is told.
        self._lock = threading.Lock()
        self._upstream_has_synced = False
        self._count = 0
        self._synced, self._cancel = context.with_cancel(context.background())

    def start(self, count: int = 1) -> None:
        """To be called before `count` items of the first list are processed. Go: Start."""
        with self._lock:
            self._count += count

    def finished(self, count: int = 1) -> None:
        """To be called when `count` items have been processed. Go: Finished.

        Raises RuntimeError when there was no `start` for it (Go panics): `has_synced` can no longer be trusted then.
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
        """Tell the tracker that its source has handed over the whole first list. Go: UpstreamHasSynced."""
        with self._lock:
            self._upstream_has_synced = True
            synced = self._count == 0
        if synced:
            self._cancel()

    def has_synced(self) -> bool:
        """Whether the source has synced and every item of its first list was processed; stays true. Go: HasSynced."""
        return self._synced.err() is not None

    def done(self) -> context.StopChannel:
        """Set once `has_synced` is true. Go: Done."""
        return self._synced.done()

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        state = "synced" if self.has_synced() else f"{self._count} waiting"
        return f"<SingleFileTracker {self._name!r} {state}>"


def new_async_tracker(name: str) -> AsyncTracker[T]:
    """Go: NewAsyncTracker."""
    return AsyncTracker(name)


def new_single_file_tracker(name: str) -> SingleFileTracker:
    """Go: NewSingleFileTracker."""
    return SingleFileTracker(name)


__all__ = ["AsyncTracker", "SingleFileTracker", "new_async_tracker", "new_single_file_tracker"]
