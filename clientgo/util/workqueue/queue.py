"""The basic work queue: fair, without duplicates, at most one worker per item. Mirrors util/workqueue/queue.go.

Two differences from Go affect only speed. Getters and drains wait on separate Conditions; in Go they share one, but
never wait at the same time. An add notifies the Condition only if a getter waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from clientgo.hops import hop
from clientgo.util.workqueue import metrics as _metrics
from clientgo.util.workqueue.beyond.inspection import InspectableQueue
from clientgo.util.workqueue.beyond.unfinished import Unfinished
from clientgo.util.workqueue.beyond.unhashable import check_hashable
from clientgo.util.workqueue.beyond.waiting import Sleepers, acquire_contended
from clientgo.utils.clock import REAL_CLOCK, WithTicker

__all__ = [
    "Interface",
    "Queue",
    "QueueConfig",
    "Type",
    "Typed",
    "TypedInterface",
    "TypedQueueConfig",
    "default_queue",
    "new",
    "new_named",
    "new_typed",
    "new_typed_with_config",
    "new_with_config",
]

T = TypeVar("T", bound=Hashable)


class TypedInterface(Protocol[T]):
    """A queue of work items. `Typed` documents each method's guarantees. Go: workqueue.TypedInterface."""

    def add(self, item: T, /) -> None: ...

    def len(self) -> int: ...

    def get(self) -> tuple[T, bool]: ...

    def done(self, item: T, /) -> None: ...

    def shut_down(self) -> None: ...

    def shut_down_with_drain(self) -> None: ...

    def shutting_down(self) -> bool: ...


Interface: TypeAlias = TypedInterface[Any]
"""Deprecated: use TypedInterface."""


class Queue(Protocol[T]):
    """Storage that determines the order of a work queue's items. Go: workqueue.Queue.

    The work queue calls all methods with its lock held. So they need no lock, must be fast, and must not call the work
    queue. The work queue stores an item at most once.
    """

    def touch(self, item: T, /) -> None:
        """Handle the repeated add of a queued item. An implementation may raise the item's priority."""
        ...

    def push(self, item: T, /) -> None:
        """Store an item."""
        ...

    def len(self) -> int:
        """Return the number of items."""
        ...

    def pop(self) -> T:
        """Remove and return the next item. Called only when there is one."""
        ...


def default_queue() -> Queue[T]:
    """Return a first-in-first-out Queue. Go: workqueue.DefaultQueue."""
    return _FIFO()


class _FIFO(Generic[T]):
    """A first-in-first-out Queue. Its methods are those of the deque, so that a call needs no Python frame."""

    __slots__ = ("items", "len", "pop", "push")

    def __init__(self) -> None:
        self.items: deque[T] = deque()
        self.push: Callable[[T], None] = self.items.append
        self.pop: Callable[[], T] = self.items.popleft
        self.len: Callable[[], int] = self.items.__len__

    def touch(self, item: T, /) -> None:
        """Do nothing: an item that is added again keeps its place."""


@dataclass(kw_only=True)
class TypedQueueConfig(Generic[T]):
    """Options of a queue. Go: workqueue.TypedQueueConfig."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: _metrics.MetricsProvider | None = None
    """Replaces the provider passed to `set_provider`."""
    clock: WithTicker | None = None
    """The queue's clock; None selects the real clock."""
    queue: Queue[T] | None = None
    """Determines the order of the items; None selects first in, first out."""


QueueConfig: TypeAlias = TypedQueueConfig[Any]
"""Deprecated: use TypedQueueConfig."""


def new() -> Type:
    """Deprecated: use new_typed."""
    return new_with_config(QueueConfig())


def new_typed() -> Typed[Any]:
    """Return a queue without a name and without metrics. Annotate it: `q: Typed[str] = new_typed()`.

    Go: workqueue.NewTyped.
    """
    return new_typed_with_config(TypedQueueConfig())


def new_with_config(config: QueueConfig) -> Type:
    """Deprecated: use new_typed_with_config."""
    return new_typed_with_config(config)


def new_typed_with_config(config: TypedQueueConfig[T]) -> Typed[T]:
    """Return a queue with the options in `config`. Go: workqueue.NewTypedWithConfig."""
    return _new_queue_with_config(config, _DEFAULT_UNFINISHED_WORK_UPDATE_PERIOD)


def new_named(name: str) -> Type:
    """Deprecated: use new_with_config."""
    return new_with_config(QueueConfig(name=name))


def _new_queue_with_config(config: TypedQueueConfig[T], update_period: float) -> Typed[T]:
    clock = config.clock or REAL_CLOCK
    queue: Queue[T] = config.queue if config.queue is not None else default_queue()
    metrics: _metrics._QueueMetrics[T] | None = _metrics._new_queue_metrics(config.metrics_provider, config.name, clock)
    return Typed(clock, queue, metrics, update_period, name=config.name)


_DEFAULT_UNFINISHED_WORK_UPDATE_PERIOD = 0.5


class Typed(InspectableQueue[T]):
    """A queue of work items. Items are hashable; equal items are the same item. Go: workqueue.Typed.

    A worker calls `get`, processes the item, and calls `done`. No other worker gets the item before `done`. If the item
    was added meanwhile, `done` queues it again. Thread-safe. Only `get` and `shut_down_with_drain` block; `shut_down`
    blocks while the thread that updates metrics ends.

    Invariants, if `done` is called only for items that `get` returned (`_check` asserts them):
      * an item is queued at most once, and never while a worker processes it;
      * the dirty items are those that `get` still has to return: the queued ones, and those added while being
        processed;
      * so no item is lost between add and done: the items that are dirty and not processing are exactly the queued
        ones;
      * after shutdown `get` returns the queued items, then reports the shutdown to every caller.
    """

    def __init__(
        self,
        clock: WithTicker,
        queue: Queue[T],
        metrics: _metrics._QueueMetrics[T] | None,
        unfinished_work_update_period: float,
        *,
        name: str = "",
    ) -> None:
        """Create the queue and, with metrics, start the thread that updates them. Callers use `new_typed_with_config`.
        """
        self._name = name
        self._clock = clock
        # Guards everything below. Held while the inner queue and the metrics are called, never while workers run.
        # The hot methods acquire it without `with`; see `acquire_contended`.
        self._lock = threading.Lock()
        # Notified when an item is ready, and by shutdown.
        self._sleepers = Sleepers(self._lock)
        # Notified when the last item in progress is done. Only shut_down_with_drain waits here.
        self._drained = threading.Condition(self._lock)
        # Notified by shutdown. Only the thread that updates metrics waits here.
        self._stopping = threading.Condition(self._lock)

        self._queue = queue
        self._push = queue.push
        self._pop = queue.pop
        self._queue_len = queue.len
        self._dirty: set[T] = set()
        self._processing: set[T] = set()
        self._unfinished = Unfinished(name, self._lock, self._processing, clock)
        self._shutting_down = False
        self._drain = False

        self._metrics = metrics
        self._update_period = unfinished_work_update_period
        self._updater: threading.Thread | None = None
        if metrics is not None:
            self._updater = threading.Thread(
                target=self._update_unfinished_work_loop, name=f"workqueue-{name}-metrics", daemon=True
            )
            self._updater.start()

    @hop("queue.add", go="(*Typed).Add")
    def add(self, item: T) -> None:
        """Mark `item` as needing work. Does nothing if the item is queued already or the queue is shutting down.

        If a worker is processing the item, its `done` queues it again. Raises TypeError for an unhashable item.
        """
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            if self._shutting_down:
                return
            if item in self._dirty:
                if item not in self._processing:
                    self._queue.touch(item)
                return
            if self._metrics is not None:
                self._metrics.add(item)
            self._dirty.add(item)
            if item in self._processing:
                return
            self._push(item)
            if self._sleepers.count:
                self._sleepers.wake_one()
        except TypeError:
            check_hashable(item)
            raise
        finally:
            lock.release()

    def len(self) -> int:
        """Return the number of ready items. For information only: it may change before the caller reads it."""
        with self._lock:
            return self._queue_len()

    @hop("queue.get", go="(*Typed).Get")
    def get(self) -> tuple[T, bool]:
        """Block until an item is ready and return (item, False), or (None, True) once the queue is shut down and empty.

        A worker ends after (None, True). Otherwise it must call `done` with the item, also after a failure.
        """
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            while not self._queue_len():
                if self._shutting_down:
                    return cast(T, None), True
                self._sleepers.sleep()
            item = self._pop()
            if self._metrics is not None:
                self._metrics.get(item)
            self._processing.add(item)
            if self._unfinished.idle:
                self._unfinished.watch(item)
            self._dirty.discard(item)
            return item, False
        finally:
            lock.release()

    @hop("queue.done", go="(*Typed).Done")
    def done(self, item: T) -> None:
        """Mark `item` as processed. If it was added meanwhile, queue it again."""
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            if self._metrics is not None:
                self._metrics.done(item)
            self._processing.discard(item)
            if self._unfinished.noted:
                self._unfinished.noted.pop(item, None)
            if item in self._dirty:
                self._push(item)
                if self._sleepers.count:
                    self._sleepers.wake_one()
                elif self._shutting_down:
                    self._drained.notify()
            elif self._shutting_down and not self._processing:
                # Notify one drain, as Go does, even if several wait: each needs an event of its own.
                self._drained.notify()
        except TypeError:
            check_hashable(item)
            raise
        finally:
            lock.release()

    def shut_down(self) -> None:
        """Shut down: ignore new items; `get` returns the queued items and then reports the shutdown.

        Releases every waiting `shut_down_with_drain`. May be called again. Returns after the queue's thread ended.
        """
        with self._lock:
            self._drain = False
            self._begin_shutdown()
        self._join()

    def shut_down_with_drain(self) -> None:
        """Shut down like `shut_down`, but block until no item is being processed, or until `shut_down` is called.

        Blocks forever if a worker does not call `done`. As in Go, it does not wait for queued items that no worker has
        taken: `get` still returns them.
        """
        with self._lock:
            self._drain = True
            self._begin_shutdown()
            while self._processing and self._drain:
                self._drained.wait()
        self._join()

    def shutting_down(self) -> bool:
        """Report whether a shutdown has begun."""
        with self._lock:
            return self._shutting_down

    def _ready_items(self) -> Iterable[T]:
        return self._queue.items if isinstance(self._queue, _FIFO) else ()

    def _begin_shutdown(self) -> None:
        self._shutting_down = True
        self._sleepers.wake_all()
        self._drained.notify_all()
        self._stopping.notify_all()

    def _join(self) -> None:
        self._unfinished.end()
        if self._updater is not None:
            self._updater.join()

    def _update_unfinished_work_loop(self) -> None:
        """Report the duration of the work in progress once per period, until shutdown."""
        assert self._metrics is not None
        with self._lock:
            _metrics._update_until_shutdown(
                self._metrics, self._clock, self._update_period, self._stopping, lambda: self._shutting_down
            )

    def __repr__(self) -> str:
        state = "open" if not self._shutting_down else "draining" if self._drain else "shut down"
        return (
            f"<{type(self).__name__} {self._name!r} {self._queue_len()} queued, {len(self._processing)} processing, "
            f"{len(self._dirty & self._processing)} of them dirty, {state}>"
        )

    def _check(self) -> None:
        with self._lock:
            assert self._sleepers.count >= 0
            waiting = self._dirty - self._processing
            assert self._queue_len() == len(waiting), self
            if isinstance(self._queue, _FIFO):
                assert set(self._queue.items) == waiting, (self, self._queue.items, waiting)
            assert not (self._sleepers.count and self._shutting_down), self


Type: TypeAlias = Typed[Any]
"""Deprecated: use Typed."""
