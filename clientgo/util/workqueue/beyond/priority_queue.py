"""A rate limiting queue that returns the items of the highest priority first. Has no Go file in client-go.

client-go has an extension point for such a queue (`TypedQueueConfig.queue`) but no implementation. The names and rules
follow controller-runtime's implementation (pkg/controller/priorityqueue). The queue can be used as any
TypedRateLimitingInterface. It differs from the other queues: an item has a priority, and the queue holds an item once,
waiting or ready. So `add` makes a waiting item ready, and the item is not added a second time when its delay ends.

The order is controller-runtime's. `PriorityQueue` keeps three guarantees of the other queues that controller-runtime
does not give; dropping_priority_queue.py holds the variant without them.
"""

from __future__ import annotations

import enum
import heapq
import math
import threading
from collections.abc import Hashable
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.duration import format_duration
from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.klog import Logger
from clientgo.util.workqueue import metrics as _metrics
from clientgo.util.workqueue.beyond.inspection import QueueContents, QueueStatistics
from clientgo.util.workqueue.beyond.long_delays import LongDelays, is_long
from clientgo.util.workqueue.beyond.priority_options import (
    LOW_PRIORITY,
    AddOpts,
    DepthMetricWithPriority,
    MetricsProviderWithPriority,
    PriorityQueueConfig,
)
from clientgo.util.workqueue.beyond.unfinished import Unfinished
from clientgo.util.workqueue.beyond.unhashable import check_hashable
from clientgo.util.workqueue.beyond.waiting import Sleepers, acquire_contended
from clientgo.util.workqueue.default_rate_limiters import TypedRateLimiter, default_typed_controller_rate_limiter
from clientgo.util.workqueue.queue import _DEFAULT_UNFINISHED_WORK_UPDATE_PERIOD, TypedInterface
from clientgo.util.workqueue.rate_limiting_queue import TypedRateLimitingInterface
from clientgo.utils.clock import REAL_CLOCK, RESOLUTION, WithTicker

__all__ = ["PriorityQueue", "add_event", "new_priority_queue"]

_GO_FILE = "controller-runtime: pkg/controller/priorityqueue/priorityqueue.go"

T = TypeVar("T", bound=Hashable)


def new_priority_queue(config: PriorityQueueConfig[T] | None = None) -> PriorityQueue[T]:
    """Return a priority queue with the options in `config`. Starts its thread."""
    return PriorityQueue(config if config is not None else PriorityQueueConfig())


def add_event(queue: TypedInterface[T], item: T, is_in_initial_list: bool) -> None:
    """Add `item` for an informer's event; with low priority if it is in the initial list and the queue has priorities.

    For use in `on_add(obj, is_in_initial_list)`: after a restart, new changes need not wait for the whole list.
    """
    if is_in_initial_list and isinstance(queue, PriorityQueue):
        queue.add_with_opts(AddOpts(priority=LOW_PRIORITY), item)
    else:
        queue.add(item)


# A heap entry: (due at or urgency, then -priority or 0, order, item). Orders are unique, so items are never compared.
_Entry: TypeAlias = tuple[float, int, int, T]


class _State(enum.Enum):
    WAITING = "its delay is not over"
    HELD = "due, but being processed"
    READY = "get may hand it out"


class _Record(Generic[T]):
    """The state of an item that is waiting, ready or held."""

    __slots__ = ("due_since", "entry", "order", "priority", "state")

    def __init__(self, priority: int, order: int) -> None:
        self.priority = priority
        self.state = _State.WAITING
        # The item's valid entry on the heap of its state. Other entries with this item were replaced.
        self.entry: _Entry[T] | None = None
        # The order among equal items: the number of the addition or, for an item that waited, of the end of its delay.
        self.order = order
        # The time at which the item became due. Set only if items age.
        self.due_since = 0.0


# Number of replaced entries that may always stay on a heap, even a small one.
_REPLACED_AT_LEAST = 64
# A Condition rejects very long timeouts, as in the delaying queue.
_LONGEST_WAIT = 86_400.0
_LOG_PERIOD = 10.0


class PriorityQueue(Generic[T]):
    """A work queue ordered by priority; implements TypedRateLimitingInterface.

    `get` returns a ready item of the highest priority; among equal priorities, the item that came first. If an item is
    added again, it keeps the higher priority and the earlier time. It keeps its place too, with two exceptions: an item
    that is raised to a higher priority goes behind the items of that priority, and an item whose delay ends goes behind
    the ready items of its own priority. As in `Typed`, at most one worker processes an item at a time, and an item that
    is added while a worker processes it is returned again after `done`. Items are hashable. Thread-safe; only `get`,
    the shutdowns and the end of their threads block. O(log n) for n items.

    Invariants (`_check` asserts them):
      * `_records` holds every item that `get` still has to return, once: WAITING until its delay ends (on the waiting
        heap), READY (on the ready heap), or HELD while due and being processed (on neither heap);
      * no READY item is being processed; `_ready_count` counts the READY items;
      * a record's entry is on the heap of its state; there are at most 64 more replaced entries than valid ones;
      * after shutdown `get` returns the READY and HELD items, then reports the shutdown; WAITING items are dropped;
      * a record's `order` is unique; an item that waited receives it when its delay ends.
    """

    # True if `get` returns no further items once a shutdown has begun.
    _DROPS: ClassVar[bool] = False

    @hop("queue.new_priority", go="New", go_file=_GO_FILE)
    def __init__(self, config: PriorityQueueConfig[T]) -> None:
        """Create the queue. Callers use `new_priority_queue`."""
        self._name = config.name
        self._clock: WithTicker = config.clock or REAL_CLOCK
        # Times below are seconds since `_began`: plain floats that do not change when the wall clock is set.
        self._began = self._clock.now()
        self._ageing = config.ageing
        limiter = config.rate_limiter
        self._rate_limiter: TypedRateLimiter[T] = limiter or default_typed_controller_rate_limiter()
        self._long_delays = LongDelays(config.name, self._rate_limiter, config.log)
        self.forget = self._rate_limiter.forget
        self.num_requeues = self._rate_limiter.num_requeues

        # Guards everything below. Held while metrics are called, never while workers or the rate limiter run.
        self._lock = threading.Lock()
        # Notified when an item becomes ready, and by shutdown.
        self._sleepers = Sleepers(self._lock)
        # Notified when no item is being processed any more. Only shut_down_with_drain waits here.
        self._drained = threading.Condition(self._lock)
        # Notified by shutdown, and when an item is due before the waiting thread's current timeout.
        self._wakeup = threading.Condition(self._lock)
        self._wakes_at = -math.inf
        # Notified by shutdown. Only the thread that updates metrics waits here.
        self._stopping = threading.Condition(self._lock)

        self._records: dict[T, _Record[T]] = {}
        self._waiting: list[_Entry[T]] = []
        self._ready: list[_Entry[T]] = []
        self._ready_count = 0
        self._orders = count()
        # Items in progress, with the priority at which `get` returned each.
        self._processing: dict[T, int] = {}
        self._unfinished = Unfinished(config.name, self._lock, self._processing, self._clock, config.log)
        self._shutting_down = False
        self._drain = False

        self._metrics: _metrics._DefaultQueueMetrics[T] | None = None
        # The depth of each priority. None if the provider has no such metric; then _metrics counts all items.
        self._depths: DepthMetricWithPriority | None = None
        provider = _metrics._listener(config.metrics_provider, config.name)
        if isinstance(provider, MetricsProviderWithPriority):
            self._depths = provider.new_depth_metric_with_priority(config.name)
            self._metrics = _metrics._DefaultQueueMetrics(provider, config.name, self._clock, _metrics._NoopMetric())
        elif provider is not None:
            self._metrics = _metrics._DefaultQueueMetrics(provider, config.name, self._clock)
        self._retry_metrics = _metrics._new_retry_metrics(config.name, config.metrics_provider)
        self._threads = [
            threading.Thread(target=self._waiting_loop, name=f"priorityqueue-{config.name}-delay", daemon=True)
        ]
        if self._metrics is not None:
            self._threads.append(
                threading.Thread(target=self._metrics_loop, name=f"priorityqueue-{config.name}-metrics", daemon=True)
            )
        if config.log is not None:
            log = config.log.v(5)
            self._threads.append(
                threading.Thread(
                    target=self._log_loop, args=(log,), name=f"priorityqueue-{config.name}-log", daemon=True
                )
            )
        for thread in self._threads:
            thread.start()

    # ---- adding

    def add(self, item: T) -> None:
        """Mark `item` as needing work now, with priority 0. Does nothing after a shutdown."""
        self._add(item, -math.inf, 0)

    def add_after(self, item: T, duration: float) -> None:
        """Add `item` after `duration` seconds. An item that is being processed keeps its priority."""
        self._add_delayed(item, duration, None)

    def add_rate_limited(self, item: T) -> None:
        """Add `item` after the rate limiter's delay. An item that is being processed keeps its priority."""
        self._add_delayed(item, self._limit(item), None)

    def add_with_opts(self, opts: AddOpts, *items: T) -> None:
        """Add `items` with a priority, a delay, or a rate limit. Never blocks."""
        for item in items:
            after = opts.after
            if type(after) is not float:
                require_seconds(after, f"the delay of {item!r}")
            if opts.rate_limited:
                limited = self._limit(item)
                after = min(after, limited) if after else limited
            if opts.rate_limited or not after <= 0:
                self._add_delayed(item, after, opts.priority)
            else:
                self._add(item, -math.inf, opts.priority or 0)

    def _limit(self, item: T) -> float:
        """Return the rate limiter's delay for one more failure of `item`, and report the first long one."""
        delay = self._rate_limiter.when(item)
        if is_long(delay, self._rate_limiter):
            self._long_delays.report(item, delay)
        return delay

    def _add_delayed(self, item: T, duration: float, priority: int | None) -> None:
        if self.shutting_down():
            return
        if type(duration) is not float:  # The text below costs more than the check.
            require_seconds(duration, f"the delay of {item!r}")
        if duration != duration:  # Go's durations are integers
            raise ValueError(f"the delay of {item!r} is not a number")
        if self._retry_metrics is not None:
            self._retry_metrics.retry()
        self._add(item, self._clock.since(self._began) + duration if duration > 0 else -math.inf, priority)

    @hop("queue.add_with_priority", go="(*priorityqueue).lockedAddWithOpts", go_file=_GO_FILE)
    def _add(self, item: T, due_at: float, priority: int | None) -> None:
        """Add an item, or update its record. `due_at` is -inf for an item without a delay."""
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            if self._shutting_down:
                return
            if priority is None:
                priority = self._processing.get(item, 0)
            record = self._records.get(item)
            if record is None:
                record = self._records[item] = _Record(priority, next(self._orders))
                self._schedule(item, record, due_at)
                return
            if priority > record.priority:
                self._raise_priority(item, record, priority)
            if record.state is _State.WAITING:
                assert record.entry is not None
                # A raised item has another place among the items that become due at the same moment.
                earliest = min(due_at, record.entry[0])
                if earliest < record.entry[0] or record.entry[1] != -record.priority:
                    self._schedule(item, record, earliest)
        except TypeError:
            check_hashable(item)
            raise
        finally:
            lock.release()

    def _raise_priority(self, item: T, record: _Record[T], priority: int) -> None:
        """Raise the item's priority and move it behind the items of that priority."""
        if self._depths is not None and record.state is not _State.WAITING:
            self._depths.dec(record.priority)
            self._depths.inc(priority)
        record.priority = priority
        record.order = next(self._orders)
        if record.state is _State.READY:
            self._push_ready(item, record)

    def _schedule(self, item: T, record: _Record[T], due_at: float) -> None:
        """Make the item ready or held if it is due; otherwise let it wait until `due_at`."""
        if due_at == -math.inf:
            self._make_due(item, record)
            return
        record.entry = (due_at, -record.priority, record.order, item)
        heapq.heappush(self._waiting, record.entry)
        self._shed(self._waiting, len(self._records) - self._ready_count)
        if due_at < self._wakes_at:
            self._wakes_at = -math.inf
            self._wakeup.notify()

    def _make_due(self, item: T, record: _Record[T]) -> None:
        if self._ageing is not None:
            record.due_since = self._clock.now()
        if item in self._processing:
            record.state, record.entry = _State.HELD, None
        else:
            self._make_ready(item, record)
        if self._metrics is not None:
            self._metrics.add(item)
            if self._depths is not None:
                self._depths.inc(record.priority)

    def _make_ready(self, item: T, record: _Record[T]) -> None:
        record.state = _State.READY
        self._ready_count += 1
        self._push_ready(item, record)
        if self._sleepers.count:
            self._sleepers.wake_one()

    def _push_ready(self, item: T, record: _Record[T]) -> None:
        """Push the item on the ready heap. Replaces its previous entry."""
        urgency = float(-record.priority)
        if self._ageing is not None:
            # All items age at the same rate, so their order never changes while they wait.
            urgency += record.due_since / self._ageing
        record.entry = (urgency, 0, record.order, item)
        heapq.heappush(self._ready, record.entry)
        self._shed(self._ready, self._ready_count)

    def _shed(self, heap: list[_Entry[T]], live: int) -> None:
        """Rebuild the heap when most entries are replaced ones. It at least halves: O(1) for each insertion."""
        if len(heap) <= 2 * live + _REPLACED_AT_LEAST:
            return
        heap[:] = [entry for entry in heap if self._is_live(entry)]
        heapq.heapify(heap)

    def _is_live(self, entry: _Entry[T]) -> bool:
        record = self._records.get(entry[3])
        return record is not None and record.entry is entry

    # ---- working

    def len(self) -> int:
        """Return the number of ready items. For information only: it may change before the caller reads it."""
        with self._lock:
            return self._ready_count

    def get(self) -> tuple[T, bool]:
        """Block until an item is ready and return (item, False), or (None, True) once shut down and empty."""
        item, _, shutdown = self.get_with_priority()
        return item, shutdown

    @hop("queue.get_with_priority", go="(*priorityqueue).GetWithPriority", go_file=_GO_FILE)
    def get_with_priority(self) -> tuple[T, int, bool]:
        """Get an item with its priority: (item, priority, shutdown). See `get`."""
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            while not self._ready_count or (self._shutting_down and self._DROPS):
                if self._shutting_down:
                    return cast(T, None), 0, True
                self._sleepers.sleep()
            entry = heapq.heappop(self._ready)
            while not self._is_live(entry):
                entry = heapq.heappop(self._ready)
            item = entry[3]
            priority = self._records.pop(item).priority
            self._ready_count -= 1
            if not self._ready_count:
                # Only replaced entries are left: release their items.
                self._ready.clear()
            self._processing[item] = priority
            if self._unfinished.idle:
                self._unfinished.watch(item)
            if self._metrics is not None:
                self._metrics.get(item)
                if self._depths is not None:
                    self._depths.dec(priority)
            return item, priority, False
        finally:
            lock.release()

    @hop("queue.done_with_priority", go="(*priorityqueue).Done", go_file=_GO_FILE)
    def done(self, item: T) -> None:
        """Mark `item` as processed. If it was added meanwhile, it becomes ready or continues to wait."""
        lock = self._lock
        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            self._processing.pop(item, None)
            if self._unfinished.noted:
                self._unfinished.noted.pop(item, None)
            record = self._records.get(item)
            if record is not None and record.state is _State.HELD:
                self._make_ready(item, record)
            if self._shutting_down and not self._processing:
                self._drained.notify_all()
            if self._metrics is not None:
                self._metrics.done(item)
        except TypeError:
            check_hashable(item)
            raise
        finally:
            lock.release()

    def name(self) -> str:
        """Return the name from the queue's config; "" without one."""
        return self._name

    def statistics(self) -> QueueStatistics:
        """Return the numbers of ready, waiting and processing items. O(n) for n in progress; see Typed.statistics.

        Beyond Go.
        """
        with self._lock:
            held = self._held_count()
            waiting = len(self._records) - self._ready_count - held
            return QueueStatistics(self._ready_count, len(self._processing), held, self._shutting_down, waiting)

    def contents(self) -> QueueContents[T]:
        """Return the ready, waiting and processing items. O(n log n). Takes no lock; see Typed.contents."""
        records, processing = dict(self._records), dict(self._processing)
        elapsed = self._clock.since(self._began)
        ready: list[_Entry[T]] = []
        waiting: list[_Entry[T]] = []
        for record in records.values():
            entry, state = record.entry, record.state
            if entry is not None:
                (waiting if state is _State.WAITING else ready).append(entry)
        return QueueContents(
            order=tuple(entry[3] for entry in sorted(ready, key=lambda entry: entry[:3])),
            dirty=frozenset(item for item, record in records.items() if record.state is not _State.WAITING),
            processing=frozenset(processing),
            waiting=tuple(
                (max(0.0, entry[0] - elapsed), entry[3]) for entry in sorted(waiting, key=lambda entry: entry[:3])
            ),
            failures=getattr(self._rate_limiter, "failures", dict)(),
            priorities=processing | {item: record.priority for item, record in records.items()},
        )

    def processing(self) -> frozenset[T]:
        """Return the items that workers are processing. Takes no lock, like `contents`."""
        return frozenset(dict(self._processing))

    def state_of(self, item: T) -> tuple[bool, bool]:
        """Report whether `item` is ready or held, and whether a worker processes it. Takes no lock, like `contents`."""
        record = self._records.get(item)
        return record is not None and record.state is not _State.WAITING, item in self._processing

    def due(self, item: T) -> tuple[float, float] | None:
        """Return (sort key, seconds) until a waiting item is ready; None if the item does not wait.

        Takes no lock, like `contents`.
        """
        record = self._records.get(item)
        entry = None if record is None or record.state is not _State.WAITING else record.entry
        return None if entry is None else (entry[0], max(0.0, entry[0] - self._clock.since(self._began)))

    def due_until(self, time: float) -> list[T]:
        """Return the items that wait until `time` at most, on the scale of `due`, earliest first.

        The caller holds the lock: without a GIL a thread must not read a heap while another thread changes it.
        """
        due = sorted((entry for entry in self._waiting if entry[0] <= time), key=lambda entry: entry[:3])
        return [entry[3] for entry in due if self._is_live(entry)]

    def priority_of(self, item: T) -> int:
        """Return the item's priority; 0 for an item that is not in the queue. Takes no lock, like `contents`."""
        record = self._records.get(item)
        return self._processing.get(item, 0) if record is None else record.priority

    def _held_count(self) -> int:
        records = self._records
        return sum(item in records and records[item].state is _State.HELD for item in self._processing)

    # ---- ending

    def shut_down(self) -> None:
        """Shut down: ignore new items and drop waiting ones; `get` returns the ready items, then reports the shutdown.

        Releases every `shut_down_with_drain`. May be called again. Returns after the queue's threads ended.
        """
        with self._lock:
            self._drain = False
            self._begin_shutdown()
        self._join()

    def shut_down_with_drain(self) -> None:
        """Shut down like `shut_down`, but block until no item is being processed, or until `shut_down` is called."""
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

    def _begin_shutdown(self) -> None:
        self._shutting_down = True
        for item in [item for item, record in self._records.items() if record.state is _State.WAITING]:
            del self._records[item]
        self._waiting.clear()
        self._sleepers.wake_all()
        for condition in (self._drained, self._wakeup, self._stopping):
            condition.notify_all()

    def _join(self) -> None:
        self._unfinished.end()
        for thread in self._threads:
            thread.join()

    # ---- the queue's threads

    def _waiting_loop(self) -> None:
        """Make items ready when their delay ends, until shutdown."""
        guard = utilruntime.handle_crash(go_on=True)
        with self._lock:
            while not self._shutting_down:
                with guard:
                    self._make_due_until(self._clock.since(self._began) + RESOLUTION)
                self._wakes_at = self._waiting[0][0] if self._waiting else math.inf
                if self._waiting:
                    remaining = max(0.0, self._wakes_at - self._clock.since(self._began))
                    self._clock.wait(self._wakeup, min(remaining, _LONGEST_WAIT))
                else:
                    self._clock.wait(self._wakeup)
                self._wakes_at = -math.inf

    @hop("queue.make_due", go="(*priorityqueue).handleReadyItems", go_file=_GO_FILE)
    def _make_due_until(self, time: float) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] <= time:
            entry = heapq.heappop(waiting)
            if self._is_live(entry):
                record = self._records[entry[3]]
                record.order = next(self._orders)
                self._make_due(entry[3], record)

    def _metrics_loop(self) -> None:
        """Report the duration of the work in progress once per period, until shutdown."""
        assert self._metrics is not None
        period = _DEFAULT_UNFINISHED_WORK_UPDATE_PERIOD
        with self._lock:
            _metrics._update_until_shutdown(
                self._metrics, self._clock, period, self._stopping, lambda: self._shutting_down
            )

    def _log_loop(self, log: Logger) -> None:
        """Log the items every ten seconds while the log verbosity is 5 or higher, until shutdown."""
        guard = utilruntime.handle_crash(go_on=True)
        while True:
            with self._lock:
                if not self._shutting_down:
                    self._clock.wait(self._stopping, _LOG_PERIOD)
                if self._shutting_down:
                    return
                items = self._described() if log.enabled() else None
            if items is not None:
                with guard:
                    log.info("workqueue_items", items=items)

    def _described(self) -> list[dict[str, object]]:
        """Return descriptions of the waiting items, earliest first, then of the ready items, in the order of `get`."""
        found: list[dict[str, object]] = []
        for heap in (self._waiting, self._ready):
            for entry in sorted(filter(self._is_live, heap), key=lambda entry: entry[:3]):
                described: dict[str, object] = {"key": entry[3], "priority": self._records[entry[3]].priority}
                if heap is self._waiting:
                    described["readyIn"] = format_duration(max(0.0, entry[0] - self._clock.since(self._began)))
                found.append(described)
        return found

    def __repr__(self) -> str:
        state = "open" if not self._shutting_down else "draining" if self._drain else "shut down"
        states = [record.state for record in list(self._records.values())]
        return (
            f"<PriorityQueue {self._name!r} {states.count(_State.READY)} ready, "
            f"{states.count(_State.WAITING)} waiting, {len(self._processing)} processing, "
            f"{states.count(_State.HELD)} of them dirty, {state}>"
        )

    def _check(self) -> None:
        with self._lock:
            by_state: dict[_State, list[T]] = {state: [] for state in _State}
            for item, record in self._records.items():
                by_state[record.state].append(item)
            assert self._ready_count == len(by_state[_State.READY]), self
            assert not self._processing.keys() & set(by_state[_State.READY]), self
            assert self._processing.keys() >= set(by_state[_State.HELD]), self
            for heap, state in ((self._waiting, _State.WAITING), (self._ready, _State.READY)):
                live = [entry[3] for entry in heap if self._is_live(entry)]
                assert sorted(map(hash, live)) == sorted(map(hash, by_state[state])), (self, state)
                assert not heap or min(heap) == heap[0], self
            assert len(self._ready) <= 2 * self._ready_count + _REPLACED_AT_LEAST + 1, self
            assert not (self._sleepers.count and self._shutting_down), self


if TYPE_CHECKING:
    _: TypedRateLimitingInterface[Any] = new_priority_queue()
