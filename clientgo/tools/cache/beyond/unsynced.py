"""Log lines about caches that have not synced. Has no Go file, where such a program just seems to hang.

Each costs one line at the default level, which states the remedy:

  * `RejectionReport`: the cache does not sync, because it has rejected an object of the initial list for ten seconds;
  * `EarlyReads`: a lister is read before the cache behind it has synced, or a store whose informer was not started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from clientgo import klog
from clientgo.golang.channel import StopChannel
from clientgo.tools.cache.beyond.refusals import Refusals
from clientgo.utils.clock import RESOLUTION, PassiveClock
from clientgo.utils.clock.watchdog import check_later

_PATIENCE = 10.0


class RejectionReport:
    """Reporter of an object that keeps one cache from syncing."""

    def __init__(self, name: str, refusals: Refusals, clock: PassiveClock, is_synced: Callable[[], bool]) -> None:
        """Take over `refusals.on_refused`. `name` is the type of the objects."""
        self._name = name
        self._refusals = refusals
        self._clock = clock
        self._is_synced = is_synced
        self._is_over = False
        refusals.on_refused = self._check_later

    def _check_later(self) -> None:
        if not self._is_over and not self._is_synced():
            check_later(self._clock, _PATIENCE, self._report_rejections)

    def _report_rejections(self) -> None:
        rejected = self._refusals.by_key()
        if not rejected or self._is_over or self._is_synced():
            return
        key, oldest = min(rejected.items(), key=lambda item: item[1].since)
        if self._clock.since(oldest.since) < _PATIENCE - RESOLUTION:
            # A later rejection: the earlier object was accepted meanwhile.
            self._check_later()
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


# The threads in which the machinery calls functions of the program. Adding and discarding is one operation each.
_calling_threads: set[int] = set()


@contextmanager
def calling_handlers() -> Iterator[None]:
    """Mark the current thread as one that calls event handlers. Their reads are never early."""
    thread = threading.get_ident()
    _calling_threads.add(thread)
    try:
        yield
    finally:
        _calling_threads.discard(thread)


_START_THE_FACTORY = "start the factory after requesting the informers and listers"
RUN_THE_CONTROLLER = "call the controller's run_with_context in a thread"


class EarlyReads:
    """A reporter of the first read of an indexer before its informer has synced.

    Two early reads are legitimate. An event handler may read while it handles the initial list. A test may fill an
    indexer by hand and never start an informer.

    Before the informer starts, every read counts. While the cache syncs, only reads through listers count, since
    reconcilers use listers; the informer itself, debuggers and health checks use `get_store()` and `get_indexer()`.

    The indexer refers to this object until the informer has synced or stopped.
    """

    def __init__(self, name: str, indexer: Any, synced: StopChannel, remedy: str = _START_THE_FACTORY) -> None:
        """Set up the reporter.

        `name` is the type of the objects. `synced` is set when the informer has synced. `remedy` tells how to start it.
        """
        self._name = name
        self._synced = synced
        self._remedy = remedy
        # None once reads of the store are no longer reported.
        self._unstarted: Any = indexer
        # Set by the informer.
        self.is_stopped = False
        self._is_started = False
        indexer.early_reads = self
        indexer.report_reads(self._report_store)

    def start(self) -> None:
        """Stop reporting reads of the store. The informer calls this when it starts."""
        self._is_started = True
        self._ignore_store()

    def report(self, indexer: Any) -> None:
        """Report a lister's read of `indexer`, unless it is legitimate."""
        if self._synced.is_set() or self.is_stopped:
            indexer.early_reads = None
            return
        if threading.get_ident() in _calling_threads or (not self._is_started and indexer.size()):
            return
        indexer.early_reads = None
        if self._is_started:
            klog.background().info(_READ_TOO_EARLY, type=self._name)
        else:
            self._report_unstarted("a lister")

    def _report_store(self) -> None:
        """Report a read of the store of an informer that was not started, unless it is legitimate."""
        indexer = self._unstarted
        if indexer is not None and threading.get_ident() not in _calling_threads and not indexer.size():
            self._report_unstarted("a store")

    def _report_unstarted(self, reader: str) -> None:
        indexer = self._unstarted
        if indexer is not None:
            indexer.early_reads = None  # a lister of the same store is not reported again
        self._ignore_store()
        klog.background().info(_READ_UNSTARTED % (reader, self._remedy), type=self._name)

    def _ignore_store(self) -> None:
        indexer, self._unstarted = self._unstarted, None
        if indexer is not None:
            indexer.report_reads(None)


def announce_start(informer: Any) -> None:
    """Treat the informer as started: a factory calls this before the thread that runs it, which may begin later.

    A read in between comes before the sync, but its remedy is not to start the factory.
    """
    early_reads = getattr(informer.get_indexer(), "early_reads", None)
    if early_reads is not None:
        early_reads.start()


@contextmanager
def running(early_reads: EarlyReads | None) -> Iterator[None]:
    """Mark the block as the run of an informer that calls its handler in the current thread. None does nothing."""
    if early_reads is None:
        yield
        return
    early_reads.start()
    try:
        with calling_handlers():
            yield
    finally:
        early_reads.is_stopped = True


_READ_TOO_EARLY = (
    "Warning: a lister was read before its cache had synced, so that objects may be missing: first wait for the caches "
    "to sync, then read listers and start workers"
)
_READ_UNSTARTED = (
    "Warning: %s was read whose informer was not started, so that it is empty: %s, then wait for the caches to sync, "
    "then read"
)


def report_early_read(indexer: Any) -> None:
    """Report a lister's read of `indexer` if the cache has not synced. Cheap otherwise."""
    early_reads = getattr(indexer, "early_reads", None)
    if early_reads is not None:
        early_reads.report(indexer)


__all__ = ["RUN_THE_CONTROLLER", "EarlyReads", "RejectionReport", "calling_handlers", "report_early_read", "running"]
