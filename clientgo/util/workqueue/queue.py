"""The plain work queue: fair, without duplicates, never the same item in two workers. Mirrors util/workqueue/queue.go.

Differs from Go in two ways that only speed shows. Getters and drains wait on a Condition each instead of sharing one
(Go's never wait at the same time, so nobody else is woken), and an add wakes nobody unless a getter sleeps.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from clientgo.util.workqueue import metrics as _metrics
from clientgo.util.workqueue.sleepers import Sleepers
from clientgo.util.workqueue.unfinished import Unfinished
from clientgo.util.workqueue.unhashable import check_hashable
from clientgo.utils.clock import REAL_CLOCK, WithTicker
from clientgo.utils.convoy import acquire_contended
from clientgo.utils.snapshot import in_one_go

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
    """A queue of work. Go: workqueue.TypedInterface. `Typed` says what each method promises."""

    def add(self, item: T) -> None: ...

    def len(self) -> int: ...

    def get(self) -> tuple[T, bool]: ...

    def done(self, item: T) -> None: ...

    def shut_down(self) -> None: ...

    def shut_down_with_drain(self) -> None: ...

    def shutting_down(self) -> bool: ...


Interface: TypeAlias = TypedInterface[Any]
"""Deprecated: use TypedInterface."""


class Queue(Protocol[T]):
    """The order of a work queue: where its items lie until somebody gets them. Go: workqueue.Queue.

    The work queue calls all methods with its lock held, so they need none of their own, must be quick and must not
    call the work queue. It holds an item at most once.
    """

    def touch(self, item: T, /) -> None:
        """An item that is queued was added again: a place to raise its priority."""
        ...

    def push(self, item: T, /) -> None:
        """Take in an item."""
        ...

    def len(self) -> int:
        """How many items there are."""
        ...

    def pop(self) -> T:
        """Hand out the next item and forget it. Only called when there is one."""
        ...


def default_queue() -> Queue[T]:
    """A first-in-first-out Queue. Go: workqueue.DefaultQueue."""
    return _FIFO()


class _FIFO(Generic[T]):
    """First in, first out. The methods are the deque's own, so that no call passes through a Python frame."""

    __slots__ = ("items", "len", "pop", "push")

    def __init__(self) -> None:
        self.items: deque[T] = deque()
        self.push: Callable[[T], None] = self.items.append
        self.pop: Callable[[], T] = self.items.popleft
        self.len: Callable[[], int] = self.items.__len__

    def touch(self, item: T, /) -> None:
        """A second add changes nothing: the item keeps its place."""


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """How much a work queue holds. Beyond Go."""

    queued: int
    """How many items are ready to get."""

    processing: int
    """How many items workers have in hand."""

    added_again: int
    """How many of those were added meanwhile, and will be queued by their `done`."""

    shutting_down: bool

    waiting: int = 0
    """How many items a delaying queue will add later."""


@dataclass(frozen=True, slots=True)
class QueueContents(Generic[T]):
    """What a work queue holds, for inspection. Beyond Go."""

    order: tuple[T, ...]
    """What is ready to get, in the order in which it will be got; empty when a Queue of yours keeps the order."""

    dirty: frozenset[T]
    """What still has to be handed out."""

    processing: frozenset[T]
    """What workers have in hand."""

    waiting: tuple[tuple[float, T], ...] = ()
    """What a delaying queue will add, each with the seconds until then, earliest first."""

    failures: Mapping[T, int] = field(default_factory=dict)
    """What a rate limiter remembers: how many times each has failed."""

    priorities: Mapping[T, int] = field(default_factory=dict)
    """What a priority queue has, ready, waiting or in work, each with its priority."""


@dataclass(kw_only=True)
class TypedQueueConfig(Generic[T]):
    """What can be chosen about a queue. Go: workqueue.TypedQueueConfig."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: _metrics.MetricsProvider | None = None
    """Used instead of the one given to `set_provider`."""
    clock: WithTicker | None = None
    """The real clock when None."""
    queue: Queue[T] | None = None
    """The order of the items; first in, first out when None."""


QueueConfig: TypeAlias = TypedQueueConfig[Any]
"""Deprecated: use TypedQueueConfig."""


def new() -> Type:
    """Deprecated: use new_typed."""
    return new_with_config(QueueConfig())


def new_typed() -> Typed[Any]:
    """A queue without name and metrics. Go: workqueue.NewTyped. Say of what: `q: Typed[str] = new_typed()`."""
    return new_typed_with_config(TypedQueueConfig())


def new_with_config(config: QueueConfig) -> Type:
    """Deprecated: use new_typed_with_config."""
    return new_typed_with_config(config)


def new_typed_with_config(config: TypedQueueConfig[T]) -> Typed[T]:
    """A queue as `config` says. Go: workqueue.NewTypedWithConfig."""
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


class Typed(Generic[T]):
    """A queue of work items. Go: workqueue.Typed. Items are hashable; equal items are the same item.

    A worker calls `get`, works, and calls `done`. Until `done` no other worker gets that item; if it was added
    meanwhile it is queued again by `done`. Thread-safe; only `get`, `shut_down_with_drain` and, for the time it takes
    to end the thread that updates metrics, `shut_down` block.

    Invariants, as long as `done` is only called for items that `get` handed out (`_check` asserts them):
      * an item is queued at most once, and never while it is processed;
      * dirty is what still has to be handed out: everything queued, and what was added while processed;
      * so nothing is lost between add and done: dirty without processing is exactly what is queued;
      * after shutdown `get` hands out what is left, then reports the shutdown to every caller.
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
        """Use `new_typed_with_config`. With metrics, starts the thread that updates them until shutdown."""
        self._name = name
        self._clock = clock
        # Guards everything below. Held while the inner queue and the metrics are called, never while workers run.
        # The hot methods take it by hand, see clientgo.utils.convoy.
        self._lock = threading.Lock()
        # Woken when an item can be handed out, and by shutdown.
        self._sleepers = Sleepers(self._lock)
        # Woken when the last item in progress is done. Only shut_down_with_drain waits here.
        self._drained = threading.Condition(self._lock)
        # Woken by shutdown. Only the thread that updates metrics waits here.
        self._stopping = threading.Condition(self._lock)

        self._queue = queue
        self._push = queue.push
        self._pop = queue.pop
        self._queue_len = queue.len
        self._dirty: set[T] = set()
        # The items in progress, in the order of their `get`.
        self._processing: dict[T, int] = {}
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

    def add(self, item: T) -> None:
        """Mark `item` as needing work. Does nothing when it is queued already or the queue shuts down.

        An item that is being processed is queued again by its `done`. Raises TypeError for an unhashable item.
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
        """How many items are ready. For information only: it may have changed when the caller reads it."""
        with self._lock:
            return self._queue_len()

    def get(self) -> tuple[T, bool]:
        """Block until there is an item and return (item, False), or (None, True) once the queue is shut down and empty.

        After (None, True) the worker should end. Call `done` with the item when the work is over, also after a failure.
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
            self._processing[item] = self._unfinished.stamp or self._unfinished.watch()
            self._dirty.discard(item)
            return item, False
        finally:
            lock.release()

    def done(self, item: T) -> None:
        """The work on `item` is over; if it was added meanwhile, queue it again."""
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            if self._metrics is not None:
                self._metrics.done(item)
            self._processing.pop(item, None)
            if item in self._dirty:
                self._push(item)
                if self._sleepers.count:
                    self._sleepers.wake_one()
                elif self._shutting_down:
                    self._drained.notify()
            elif self._shutting_down and not self._processing:
                # Wakes one drain, as Go does, also when several wait: each needs an event of its own.
                self._drained.notify()
        except TypeError:
            check_hashable(item)
            raise
        finally:
            lock.release()

    def statistics(self) -> QueueStatistics:
        """How much is queued and in work. O(1). Beyond Go."""
        with self._lock:
            queued = self._queue_len()
            return QueueStatistics(queued, len(self._processing), len(self._dirty) - queued, self._shutting_down)

    def contents(self) -> QueueContents[T]:
        """What is queued and in work. O(n). Beyond Go.

        Takes no lock (but see clientgo.utils.snapshot), so that one can look at a queue that is stuck: each part is
        from one moment, but not all from the same one.
        """
        queue = self._queue
        order = in_one_go(lambda: tuple(queue.items), self._lock) if isinstance(queue, _FIFO) else ()
        return QueueContents(order, frozenset(self._dirty), self.processing())

    def processing(self) -> frozenset[T]:
        """What is being processed. Takes no lock, as `contents`. Beyond Go."""
        return frozenset(dict(self._processing))

    def whereabouts(self, item: T) -> tuple[bool, bool]:
        """Whether `item` is dirty, and whether it is processed. Takes no lock, as `contents`. Beyond Go."""
        return item in self._dirty, item in self._processing

    def shut_down(self) -> None:
        """Ignore what is added from now on; `get` hands out what is queued and then reports the shutdown.

        Releases every `shut_down_with_drain` that waits. May be called again. Returns after the queue's thread ended.
        """
        with self._lock:
            self._drain = False
            self._begin_shutdown()
        self._join()

    def shut_down_with_drain(self) -> None:
        """Like `shut_down`, but block until no item is being processed, or until `shut_down` is called.

        Workers must call `done` for each item, or this blocks for ever. As in Go, items that are queued but in nobody's
        hands do not hold it up: `get` still hands them out.
        """
        with self._lock:
            self._drain = True
            self._begin_shutdown()
            while self._processing and self._drain:
                self._drained.wait()
        self._join()

    def shutting_down(self) -> bool:
        """Whether a shutdown has begun."""
        with self._lock:
            return self._shutting_down

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
        """Report every period how long the work in progress has taken, until shutdown."""
        assert self._metrics is not None
        with self._lock:
            _metrics._update_until_shutdown(
                self._metrics, self._clock, self._update_period, self._stopping, lambda: self._shutting_down
            )

    def __repr__(self) -> str:
        state = "open" if not self._shutting_down else "draining" if self._drain else "shut down"
        return (
            f"<{type(self).__name__} {self._name!r} {self._queue_len()} queued, {len(self._processing)} processing, "
            f"{len(self._dirty & self.processing())} of them dirty, {state}>"
        )

    def _check(self) -> None:
        with self._lock:
            assert self._sleepers.count >= 0
            waiting = self._dirty - self.processing()
            assert self._queue_len() == len(waiting), self
            if isinstance(self._queue, _FIFO):
                assert set(self._queue.items) == waiting, (self, self._queue.items, waiting)
            assert not (self._sleepers.count and self._shutting_down), self


Type: TypeAlias = Typed[Any]
"""Deprecated: use Typed."""
