"""Textbook bugs of work queues, each a small variant of a correct queue. The README's recipe finds all of them.

`python test/support/queue_bugs.py` runs the recipe on each and prints the table of test/property/README.md.
`python test/support/queue_bugs.py LimiterNeverForgets` prints the lines of the named bugs.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import Phase, given, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from simple_queue import (
    HeapPriorityQueue,
    MarksTheItemAsProcessedTooLate,
    SimpleDelayingQueue,
    SimplePriorityQueue,
    SimpleQueue,
    SimpleRateLimitingQueue,
)

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import (
    DelayingQueueMachine,
    PriorityQueueMachine,
    QueueMachine,
    RateLimitingQueueMachine,
    exponential,
    interleave,
)

# ---- lost wakeups


class LooksWithoutTheLock(SimpleQueue):
    """`get` finds the list empty without the lock, and then waits."""

    def get(self) -> tuple[str | None, bool]:
        while not self.queue and not self.down:
            with self.lock:
                self.changed.wait()
        with self.lock:
            return self.take()


class MissesAShutdownBetweenLookingAndSleeping(SimpleQueue):
    """`get` looks at the shutdown without the lock, and then waits."""

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue:
                    return self.take()
            if self.down:
                return None, True
            with self.lock:  # the shutdown may have come since
                if not self.queue:
                    self.changed.wait()


class ClearsTheEventAfterLooking(SimpleQueue):
    """`get` waits for an Event, and clears it after it has looked."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.event = threading.Event()

    def push(self, item: str) -> None:
        self.queue.append(item)
        self.event.set()

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue or self.down:
                    return self.take()
            self.event.clear()  # forgets an add that came since
            self.event.wait()

    def shut_down(self) -> None:
        super().shut_down()
        while not self.event.is_set():
            self.event.set()

    def shut_down_with_drain(self) -> None:
        super().shut_down_with_drain()
        while not self.event.is_set():
            self.event.set()


class ClearsTheEventOnceItHasTheLastItem(SimpleQueue):
    """`get` clears the Event without the lock after it took the last item. Workers that find nothing wait actively."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.some = threading.Event()

    def push(self, item: str) -> None:
        super().push(item)
        self.some.set()

    def get(self) -> tuple[str | None, bool]:
        while True:
            self.some.wait()
            with self.lock:
                if not self.queue and not self.down:
                    continue
                taken = self.take()
                is_last = not self.queue and not self.down
            if is_last:
                self.some.clear()  # another thread may have added an item since
            return taken

    def shut_down(self) -> None:
        super().shut_down()
        self.some.set()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
        self.some.set()
        super().shut_down_with_drain()


class WakesOneWorkerOnShutdown(SimpleQueue):
    """`shut_down` notifies one waiter of several."""

    def shut_down(self) -> None:
        with self.lock:
            self.down = True
            self.draining = False
            self.changed.notify()


class MergesTwoWakeups(SimpleQueue):
    """A flag stands for the wakeup: two adds set it once, and one of two workers clears it."""

    flag = False

    def push(self, item: str) -> None:
        self.queue.append(item)
        self.flag = True
        self.changed.notify_all()

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.flag and not self.down:
                self.changed.wait()
            self.flag = False
            return self.take() if self.queue or self.down else self.again()

    def again(self) -> tuple[str | None, bool]:
        self.lock.release()
        try:
            return self.get()
        finally:
            self.lock.acquire()


class WakesOnlyWhenTheQueueWasEmpty(SimpleQueue):
    """`add` notifies only for the first item, so a second worker sleeps on."""

    def push(self, item: str) -> None:
        self.queue.append(item)
        if len(self.queue) == 1:
            self.changed.notify()


class LeavesItsTicketBehind(SimpleQueue):
    """Each `get` lines up a ticket and leaves it there if it need not wait: `add` calls a number that is gone."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.tickets: list[threading.Event] = []

    def push(self, item: str) -> None:
        super().push(item)
        if self.tickets:
            self.tickets.pop(0).set()

    def get(self) -> tuple[str | None, bool]:
        while True:
            ticket = threading.Event()
            with self.lock:
                self.tickets.append(ticket)
                if self.queue or self.down:
                    return self.take()
            ticket.wait()

    def shut_down(self) -> None:
        super().shut_down()
        self.call_all()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
        self.call_all()
        super().shut_down_with_drain()

    def call_all(self) -> None:
        with self.lock:
            for ticket in self.tickets:
                ticket.set()


class CallsTheSleepersWithoutTheLock(SimpleQueue):
    """`shut_down` goes through a deque of sleepers without the lock, and raises if another worker goes to sleep."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.sleepers: collections.deque[threading.Event] = collections.deque()

    def push(self, item: str) -> None:
        self.queue.append(item)
        if self.sleepers:
            self.sleepers.popleft().set()

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue or self.down:
                    return self.take()
                sleeper = threading.Event()
                self.sleepers.append(sleeper)
            sleeper.wait()

    def shut_down(self) -> None:
        super().shut_down()
        self.call_all()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
        self.call_all()
        super().shut_down_with_drain()

    def call_all(self) -> None:
        for sleeper in self.sleepers:
            sleeper.set()


class DoneQueuesWithoutWaking(SimpleQueue):
    """`done` queues what was added meanwhile and notifies no worker."""

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.queue.append(item)
            elif not self.processing:
                self.changed.notify_all()


class WaitsOnceInPlaceOfALoop(SimpleQueue):
    """`if` for `while` around `wait`: a worker that another one overtook finds nothing, and takes it for a shutdown."""

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            if not self.queue and not self.down:
                self.changed.wait()
            return self.take()


class KeepsASecondItemForLater(SimpleQueue):
    """A worker takes two items at once, and the second waits for it while another worker sleeps."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.kept: dict[int, str] = {}

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            if (kept := self.kept.pop(threading.get_ident(), None)) is not None:
                return kept, False
            while not self.queue and not self.down:
                self.changed.wait()
            first, shutdown = self.take()
            if self.queue:
                self.kept[threading.get_ident()] = self.take()[0] or ""
            return first, shutdown

    def len(self) -> int:
        with self.lock:
            return len(self.queue) + len(self.kept)


class TakesATimeoutForTheShutdown(SimpleQueue):
    """`get` waits for half a minute at most, and an idle worker ends."""

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.queue and not self.down:
                if not self.changed.wait(30.0):
                    return None, True
            return self.take()


class TakesTwoLocksInTwoOrders(SimpleQueue):
    """`add` takes the lock of dirty and then that of the queue, `done` takes them the other way around."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.dirty_lock = threading.Lock()

    def add(self, item: str) -> None:
        with self.dirty_lock:
            super().add(item)

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            with self.dirty_lock:
                if item in self.dirty:
                    self.push(item)
            self.changed.notify_all()


# ---- dirty and processing


class DoneDecidesWithoutTheLock(SimpleQueue):
    """`done` leaves processing before it takes the lock to look at dirty: an add between queues the item too."""

    def done(self, item: str) -> None:
        self.processing.remove(item)
        with self.lock:
            if item in self.dirty:
                self.push(item)
            self.changed.notify_all()

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.dirty.discard(item)
        self.processing.add(item)
        if self.depth:
            self.depth.dec()
        return item, False


class AddLooksAtDirtyWithoutTheLock(SimpleQueue):
    """Two adds both find the item clean, and both queue it."""

    def add(self, item: str) -> None:
        if self.down or item in self.dirty:
            return
        with self.lock:
            self.dirty.add(item)
            if self.depth:
                self.depth.inc()
            if item not in self.processing:
                self.push(item)

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.dirty.discard(item)
        self.processing.add(item)
        if self.depth:
            self.depth.dec()
        return item, False

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.discard(item)
            if item in self.dirty:
                self.push(item)
            self.changed.notify_all()


class ReplacesDirtyWithAnOldCopy(SimpleQueue):
    """`get` copies dirty without its item and replaces it, without the lock: what was added between is not dirty."""

    def get(self) -> tuple[str | None, bool]:
        item, shutdown = super().get()
        if item is not None:
            dirty = self.dirty - {item}
            self.dirty = dirty  # another worker may have added its item since
        return item, shutdown

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.processing.add(item)
        if self.depth:
            self.depth.dec()
        return item, False


class DoneDecidesOnDirtyOfBefore(SimpleQueue):
    """ABA: `done` reads dirty, gives the lock back, and acts on what it read; dirty was set and cleared since."""

    def done(self, item: str) -> None:
        with self.lock:
            again = item in self.dirty
            if not again:
                self.changed.notify_all()
        with self.lock:
            self.processing.discard(item)
            if again:
                self.push(item)
            self.changed.notify_all()


class SwapsTheHeadThatCameBack(SimpleQueue):
    """ABA: `get` reads the head and what follows it, and swaps them later if the head is the same, which came back."""

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                while not self.queue and not self.down:
                    self.changed.wait()
                if not self.queue:
                    return None, True
                head, rest = self.queue[0], self.queue[1:]
            with self.lock:
                if self.queue[:1] == [head] and len(self.queue) >= len(rest):
                    later = self.queue[len(rest) + 1 :]
                    self.queue = [*rest, *later]
                    self.dirty.discard(head)
                    self.processing.add(head)
                    if self.depth:
                        self.depth.dec()
                    return head, False

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.discard(item)
            if item in self.dirty:
                self.push(item)
            self.changed.notify_all()


class RemembersOneItemAddedMeanwhile(SimpleQueue):
    """There is one place for what was added while it was processed, and two items may need it."""

    again: str | None = None

    def add(self, item: str) -> None:
        with self.lock:
            if item in self.processing and not self.down:
                self.again = item
                return
        super().add(item)

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if self.again == item:
                self.again = None
                self.dirty.add(item)
                self.push(item)
            self.changed.notify_all()


# ---- drains


class DrainDropsWhatIsQueued(SimpleQueue):
    """A drain waits for what is processed and drops the rest."""

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.queue.clear()
        super().shut_down_with_drain()


class DrainMissesTheLastDone(SimpleQueue):
    """A drain looks at processing without the lock, and then waits."""

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
        while self.processing and self.draining:
            with self.lock:  # the last item may be done since
                self.changed.wait()


class DrainWaitsForWhatWasProcessedWhenItBegan(SimpleQueue):
    """A drain waits for the items that were processed when it began, and not for those that were got since."""

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
            before = set(self.processing)
            while before & self.processing and self.draining:
                self.changed.wait()


class DoneReleasesADrainOnlyIfNothingIsQueued(SimpleQueue):
    """`done` notifies a drain if the queue is empty, but a drain waits for what is processed and not for the rest."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.idle = threading.Condition(self.lock)

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.push(item)
            if not self.queue:
                self.idle.notify_all()

    def shut_down(self) -> None:
        super().shut_down()
        with self.lock:
            self.idle.notify_all()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
            while self.processing and self.draining:
                self.idle.wait()


class NotifiesOneOfWorkersAndDrain(SimpleQueue):
    """`done` notifies one waiter, and workers and a drain wait on one condition: a worker may wake for the drain."""

    def push(self, item: str) -> None:
        self.queue.append(item)
        self.changed.notify()

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.push(item)
            elif not self.processing:
                self.changed.notify()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            while self.processing and self.draining:
                self.changed.wait()
            self.changed.notify_all()


class HandsAnItemToAWorkerThatSeesTheShutdown(SimpleQueue):
    """`add` hands the item to a sleeping worker, which looks at the shutdown first when it wakes."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.hands: list[list[str]] = []

    def push(self, item: str) -> None:
        if self.hands:
            self.hands.pop(0).append(item)
            self.changed.notify_all()
        else:
            self.queue.append(item)

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            if self.queue or self.down:
                return self.take()
            hand: list[str] = []
            self.hands.append(hand)
            while not hand and not self.down:
                self.changed.wait()
            if self.down:
                return None, True
            self.queue[:0] = hand
            return self.take()


class EndsWithASentinel(SimpleQueue):
    """A shutdown appends a sentinel, and workers end there: what `done` queues comes behind it."""

    def shut_down(self) -> None:
        with self.lock:
            self.queue += [] if self.down else ["END"]
            self.down = True
            self.draining = False
            self.changed.notify_all()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.queue += [] if self.down else ["END"]
        super().shut_down_with_drain()

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.queue:
                self.changed.wait()
            return (None, True) if self.queue[0] == "END" else self.take()

    def len(self) -> int:
        with self.lock:
            return len(self.queue) - ("END" in self.queue)


class DoneDropsWhatWasAddedOnceItShutsDown(SimpleQueue):
    """After a shutdown `done` no longer queues what was added meanwhile."""

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty and not self.down:
                self.push(item)
            self.changed.notify_all()


class ShutsDownWithoutTheLock(SimpleQueue):
    """`shut_down` sets its flag without the lock, and notifies only if the lock is free."""

    def shut_down(self) -> None:
        self.down = True
        self.draining = False
        if self.lock.acquire(blocking=False):
            self.changed.notify_all()
            self.lock.release()


# ---- items


class TakesAnEmptyItemForNone(SimpleQueue):
    """`get` goes on waiting when it has taken the item "", since it tests the item and not whether there is one."""

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            item: str | None = None
            while not item:
                while not self.queue and not self.down:
                    self.changed.wait()
                item, shutdown = self.take()
                if shutdown:
                    break
            return item, shutdown


class ComparesItemsWithIs(SimpleQueue):
    """`add` looks for the same object, and queues the equal key of another event once more."""

    def add(self, item: str) -> None:
        with self.lock:
            if self.down or any(known is item for known in self.dirty):
                return
            self.dirty.add(item)
            if self.depth:
                self.depth.inc()
            if item not in self.processing:
                self.push(item)


# ---- delays


class DelayReorders(SimpleDelayingQueue):
    """An item with a short delay waits for one with a longer delay that came before it."""

    def insert(self, item: str, ready_at: float) -> None:
        super().insert(item, max([ready_at, *self.waiting.values()]))


class LaterDuplicateWins(SimpleDelayingQueue):
    """A second `add_after` with a longer delay puts the item off."""

    def insert(self, item: str, ready_at: float) -> None:
        self.waiting[item] = ready_at


class DecidesToSleepBeforeItTakesTheLock(SimpleDelayingQueue):
    """The waiting loop computes its sleep, and misses what is added until it sleeps."""

    def loop(self) -> None:
        while not self.shutting_down():
            now = time.monotonic()
            for item in self.take_ready(now):
                self.add(item)
            with self.lock:
                rest = min((ready_at - now for ready_at in self.waiting.values()), default=1000.0)
            with self.lock:  # an item or the shutdown may have come since
                if rest > 0 and not self.down:
                    self.waiting_changed.wait(rest)


class RejectsANegativeDelay(SimpleDelayingQueue):
    """`add_after` raises for a deadline that has passed, for which Go adds the item at once."""

    def add_after(self, item: str, delay: float) -> None:
        if delay < 0:
            raise ValueError("the delay is negative")
        super().add_after(item, delay)


class LosesOneOfTwoEqualDeadlines(SimpleDelayingQueue):
    """The waiting items are kept by their deadlines, and two deadlines may be equal."""

    def __init__(self, metrics_provider: Any = None) -> None:
        self.by_deadline: dict[float, str] = {}
        super().__init__(metrics_provider)

    def insert(self, item: str, ready_at: float) -> None:
        self.by_deadline[ready_at] = item
        self.waiting = {item: ready_at for ready_at, item in sorted(self.by_deadline.items(), reverse=True)}

    def take_ready(self, now: float) -> list[str]:
        ready = super().take_ready(now)
        self.by_deadline = {ready_at: item for ready_at, item in self.by_deadline.items() if item not in ready}
        return ready


class ShutdownEndsDelays(SimpleDelayingQueue):
    """`shut_down` adds what waits, instead of dropping it."""

    def shut_down(self) -> None:
        with self.lock:
            waiting, self.waiting = self.waiting, {}
        for item in waiting:
            self.add(item)
        super().shut_down()


class AddCancelsADelay(SimpleDelayingQueue):
    """`add` drops the delayed add of the item: its worker wanted to see it again at that time."""

    def add(self, item: str) -> None:
        with self.lock:
            self.waiting.pop(item, None)
        super().add(item)


class ReplacesWaitingWithACopy(SimpleDelayingQueue):
    """The loop copies what waits on, and replaces the waiting items later: what is added between is lost."""

    def take_ready(self, now: float) -> list[str]:
        with self.lock:
            ready = [item for item, ready_at in self.waiting.items() if ready_at <= now]
            others = {item: ready_at for item, ready_at in self.waiting.items() if ready_at > now}
        if ready:
            with self.lock:  # an item may have been added since
                self.waiting = others
        return ready


# ---- limiters and metrics


class LimiterNeverForgets(SimpleRateLimitingQueue):
    """`forget` leaves the failures, so that an item that recovered waits ever longer."""

    def forget(self, item: str) -> None:
        pass


class ForgetCancelsADelay(SimpleRateLimitingQueue):
    """`forget` of an item that waits drops it, and its retry never comes."""

    def forget(self, item: str) -> None:
        super().forget(item)
        with self.lock:
            self.waiting.pop(item, None)


class LimiterHasNoCeiling(SimpleRateLimitingQueue):
    """The delay doubles with each failure, without a limit."""

    def delay(self, failures: int) -> float:
        return exponential(failures, limit=math.inf)


class LimiterOverflows(SimpleRateLimitingQueue):
    """The delay is computed before it is limited, and 2.0 ** 1024 raises."""

    def delay(self, failures: int) -> float:
        return min(0.125 * 2.0**failures, 8.0)


class LimiterForgetsAllItems(SimpleRateLimitingQueue):
    """`forget` of one item forgets the failures of all."""

    def forget(self, item: str) -> None:
        self.failures.clear()


class LimiterForgetsTheCountAlone(SimpleRateLimitingQueue):
    """`forget` resets the number of failures, and not the delay."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.delays: dict[str, float] = {}

    def add_rate_limited(self, item: str) -> None:
        with self.lock:
            self.failures[item] = self.failures.get(item, 0) + 1
            delay = self.delays.get(item, 0.125)
            self.delays[item] = min(2 * delay, 8.0)
        self.add_after(item, delay)


class LimiterReplacesItsFailures(SimpleRateLimitingQueue):
    """`add_rate_limited` copies all counts and replaces them: a failure of another item is lost."""

    def add_rate_limited(self, item: str) -> None:
        with self.lock:
            failures = {**self.failures, item: self.failures.get(item, 0) + 1}
        with self.lock:  # another worker may have counted since
            self.failures = failures
        self.add_after(item, self.delay(failures[item] - 1))


class LimiterIgnoresWhatIsProcessed(SimpleRateLimitingQueue):
    """A limited item that becomes ready while a worker holds it is dropped."""

    def add_rate_limited(self, item: str) -> None:
        if item not in self.processing:
            super().add_rate_limited(item)
            return
        with self.lock:
            self.failures[item] = self.failures.get(item, 0) + 1


class LimiterLocksInTwoOrders(SimpleRateLimitingQueue):
    """`add_rate_limited` takes the limiter's lock and then the queue's, `forget` takes them the other way around."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.limiter_lock = threading.Lock()

    def add_rate_limited(self, item: str) -> None:
        with self.limiter_lock:
            super().add_rate_limited(item)

    def forget(self, item: str) -> None:
        with self.lock, self.limiter_lock:
            super().forget(item)


class KeepsTheLockWhenAMetricRaises(SimpleQueue):
    """`add` takes the lock by hand, and a metric that raises leaves it taken."""

    def add(self, item: str) -> None:
        self.lock.acquire()
        if not self.down and item not in self.dirty:
            if self.depth:
                self.depth.inc()
            self.dirty.add(item)
            if item not in self.processing:
                self.push(item)
        self.lock.release()


# ---- priorities


class RepeatedAddKeepsThePriority(SimplePriorityQueue):
    """An add with a higher priority does not raise an item that is queued."""

    def improve(self, entry: Any, ready_at: float, priority: int) -> None:
        super().improve(entry, ready_at, entry.priority)


class RepeatedAddLowersThePriority(SimplePriorityQueue):
    """An add with a lower priority lowers an item that is queued."""

    def improve(self, entry: Any, ready_at: float, priority: int) -> None:
        entry.priority = min(priority, entry.priority)
        super().improve(entry, ready_at, priority)


class RetryForgetsThePriority(SimplePriorityQueue):
    """A rate-limited add without a priority does not keep that of the item in progress."""

    def priority_of_retry(self, item: str) -> int:
        return 0


class WaitsForTheHighestPriority(SimplePriorityQueue):
    """`get` waits for the item of the highest priority although its delay is not over."""

    def ready(self) -> list[str]:
        ready = super().ready()
        free = [entry for item, entry in self.entries.items() if item not in self.processing]
        highest = max((entry.priority for entry in free), default=0)
        return [item for item in ready if self.entries[item].priority == highest]


class EqualPrioritiesInReverse(SimplePriorityQueue):
    """Items of equal priority leave in the reverse order of their adds, so that the first one may starve."""

    def rank(self, entry: Any) -> tuple[int, int]:
        return -entry.priority, -entry.place


class RetryTakesThePriorityOfAnotherWorker(HeapPriorityQueue):
    """`add_rate_limited` keeps the priority of the last `get`, which may be that of another worker."""

    last = 0

    def take(self) -> tuple[str | None, bool]:
        item, shutdown = super().take()
        self.last = self.processing[item or ""]
        return item, shutdown

    def add_one(self, item: str, delay: float, priority: int | None) -> None:
        if priority is None:
            priority = self.last if item in self.processing else 0
        super().add_one(item, delay, priority)


class ForgetDropsThePriority(HeapPriorityQueue):
    """`forget` drops the priority in progress too, and the next retry has none."""

    def forget(self, item: str) -> None:
        super().forget(item)
        with self.lock:
            if item in self.processing:
                self.processing[item] = 0


class AddsSeveralAndWakesOne(HeapPriorityQueue):
    """`add_with_opts` of several items notifies one worker after the last."""

    def add_with_opts(self, opts: Any, *items: str) -> None:
        if opts.rate_limited or opts.after > 0:
            super().add_with_opts(opts, *items)
            return
        with self.lock:
            some, self.some = self.some, threading.Condition(self.lock)
            for item in items if not self.down else ():
                self.put(item, None, opts.priority or 0)
            self.some = some
            some.notify()


# ---- races of priorities


class DoneReadsTheRecordWithoutTheLock(HeapPriorityQueue):
    """`done` reads what was added meanwhile without the lock, and puts it back: a raise since is lost."""

    def done(self, item: str) -> None:
        record = self.records.get(item)
        before = record and (record.priority, record.place)
        with self.lock:
            if record and before:
                record.priority, record.place = before
        super().done(item)


class RaisesWithoutTheLock(HeapPriorityQueue):
    """`add` raises a queued item without the lock: between its lines the item has no entry on the heap."""

    def add_one(self, item: str, delay: float, priority: int | None) -> None:
        record = self.records.get(item)
        is_queued = record is not None and record.ready_at is None and item not in self.processing
        if record is None or not is_queued or delay > 0 or (priority or 0) <= record.priority:
            super().add_one(item, delay, priority)
            return
        record.priority = priority or 0
        record.place = next(self.places)
        self.push(item, record)


class RaisesInTwoStepsWithoutAWakeup(HeapPriorityQueue):
    """`add` of a higher priority takes the item out and puts it in again later: a worker between sleeps on."""

    def add_one(self, item: str, delay: float, priority: int | None) -> None:
        with self.lock:
            record = self.records.get(item)
            is_queued = record is not None and record.ready_at is None and item not in self.processing
            if record is None or not is_queued or (priority or 0) <= record.priority or self.down:
                record = None
            else:
                del self.records[item]
                self.count -= 1
        if record is None:
            super().add_one(item, delay, priority)
            return
        with self.lock:
            record.priority, record.place = priority or 0, next(self.places)
            self.records[item] = record
            self.count += 1
            self.push(item, record)


class RaisesWithTwoLocks(HeapPriorityQueue):
    """`add` takes the lock of priorities and then the queue's, `get` takes them the other way around."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.priorities_lock = threading.Lock()

    def add_one(self, item: str, delay: float, priority: int | None) -> None:
        with self.priorities_lock if priority else contextlib.nullcontext():
            super().add_one(item, delay, priority)

    def take(self) -> tuple[str | None, bool]:
        with self.priorities_lock:
            return super().take()


class EndsADelayTwice(HeapPriorityQueue):
    """The loop looks which delays are over, and ends them later: an add between has made the item ready already."""

    def loop(self) -> None:
        while not self.shutting_down():
            with self.lock:
                now = time.monotonic()
                due = [item for item, record in self.waiting().items() if record.ready_at <= now]
            for item in due:
                with self.lock:  # another thread may have added the item since
                    if item in self.records:
                        self.end_delay(item)
            self.sleep_until_due()

    def sleep_until_due(self) -> None:
        with self.lock:
            now = time.monotonic()
            rests = [record.ready_at - now for record in self.waiting().values()]
            if not self.down and min(rests, default=1.0) > 0:
                self.due.wait(min(rests, default=None))


class LimiterCountsInTwoSteps(SimpleRateLimitingQueue):
    """`add_rate_limited` takes the lock twice, to read the failures and to set them: two failures count as one."""

    def add_rate_limited(self, item: str) -> None:
        with self.lock:
            failures = self.failures.get(item, 0)
        with self.lock:
            self.failures[item] = failures + 1
        self.add_after(item, self.delay(failures))


class LimiterReadsItsCountWithoutTheLock(SimpleRateLimitingQueue):
    """`add_rate_limited` counts a failure and then reads the count without the lock: a `forget` between removes it."""

    def add_rate_limited(self, item: str) -> None:
        with self.lock:
            self.failures[item] = self.failures.get(item, 0) + 1
        self.add_after(item, self.delay(self.failures[item] - 1))


class EndsADelayWithAnOldPriority(HeapPriorityQueue):
    """The loop looks which delays are over, and ends them later with the old priorities: a raise between is lost."""

    def loop(self) -> None:
        while not self.shutting_down():
            with self.lock:
                now = time.monotonic()
                due = {item: each.priority for item, each in self.waiting().items() if each.ready_at <= now}
            for item, priority in due.items():
                with self.lock:  # a delayed add may have raised the item since
                    if item in self.waiting():
                        self.records[item].priority = priority
                        self.end_delay(item)
            with self.lock:
                rests = [each.ready_at - time.monotonic() for each in self.waiting().values()]
                if not self.down and min(rests, default=1.0) > 0:
                    self.due.wait(min(rests, default=None))


# The part of the recipe that finds each bug sooner: random operations one at a time, or random interleavings.
BUGS: dict[type[Any], str] = {
    LooksWithoutTheLock: "interleavings",
    MissesAShutdownBetweenLookingAndSleeping: "interleavings",
    ClearsTheEventAfterLooking: "interleavings",
    ClearsTheEventOnceItHasTheLastItem: "interleavings",
    WakesOneWorkerOnShutdown: "interleavings",
    MergesTwoWakeups: "interleavings",
    WakesOnlyWhenTheQueueWasEmpty: "interleavings",
    LeavesItsTicketBehind: "interleavings",
    CallsTheSleepersWithoutTheLock: "interleavings",
    DoneQueuesWithoutWaking: "operations",
    WaitsOnceInPlaceOfALoop: "operations",
    KeepsASecondItemForLater: "interleavings",
    TakesATimeoutForTheShutdown: "operations",
    TakesTwoLocksInTwoOrders: "interleavings",
    DoneDecidesWithoutTheLock: "interleavings",
    MarksTheItemAsProcessedTooLate: "interleavings",
    AddLooksAtDirtyWithoutTheLock: "interleavings",
    ReplacesDirtyWithAnOldCopy: "interleavings",
    DoneDecidesOnDirtyOfBefore: "interleavings",
    SwapsTheHeadThatCameBack: "interleavings",
    RemembersOneItemAddedMeanwhile: "interleavings",
    DrainDropsWhatIsQueued: "interleavings",
    DrainMissesTheLastDone: "interleavings",
    DrainWaitsForWhatWasProcessedWhenItBegan: "interleavings",
    DoneReleasesADrainOnlyIfNothingIsQueued: "operations",
    NotifiesOneOfWorkersAndDrain: "interleavings",
    HandsAnItemToAWorkerThatSeesTheShutdown: "interleavings",
    EndsWithASentinel: "operations",
    DoneDropsWhatWasAddedOnceItShutsDown: "operations",
    ShutsDownWithoutTheLock: "interleavings",
    TakesAnEmptyItemForNone: "operations",
    ComparesItemsWithIs: "interleavings",
    DelayReorders: "operations",
    LaterDuplicateWins: "operations",
    DecidesToSleepBeforeItTakesTheLock: "interleavings",
    RejectsANegativeDelay: "operations",
    LosesOneOfTwoEqualDeadlines: "interleavings",
    ShutdownEndsDelays: "operations",
    AddCancelsADelay: "operations",
    ReplacesWaitingWithACopy: "interleavings",
    LimiterNeverForgets: "operations",
    ForgetCancelsADelay: "operations",
    LimiterHasNoCeiling: "operations",
    LimiterOverflows: "operations",
    LimiterForgetsAllItems: "interleavings",
    LimiterForgetsTheCountAlone: "operations",
    LimiterReplacesItsFailures: "interleavings",
    LimiterIgnoresWhatIsProcessed: "interleavings",
    LimiterLocksInTwoOrders: "interleavings",
    KeepsTheLockWhenAMetricRaises: "operations",
    RepeatedAddKeepsThePriority: "operations",
    RepeatedAddLowersThePriority: "operations",
    RetryForgetsThePriority: "operations",
    WaitsForTheHighestPriority: "operations",
    EqualPrioritiesInReverse: "operations",
    RetryTakesThePriorityOfAnotherWorker: "operations",
    ForgetDropsThePriority: "operations",
    AddsSeveralAndWakesOne: "operations",
    DoneReadsTheRecordWithoutTheLock: "interleavings",
    RaisesWithoutTheLock: "interleavings",
    RaisesInTwoStepsWithoutAWakeup: "interleavings",
    RaisesWithTwoLocks: "interleavings",
    EndsADelayTwice: "interleavings",
    LimiterCountsInTwoSteps: "interleavings",
    LimiterReadsItsCountWithoutTheLock: "interleavings",
    EndsADelayWithAnOldPriority: "interleavings",
}


# ---- the recipe


def machine_of(bug: type[Any]) -> type[QueueMachine]:
    """Return the machine that the README names for a queue of this kind."""
    if hasattr(bug, "add_with_opts"):
        return PriorityQueueMachine.of(bug)
    if hasattr(bug, "add_rate_limited"):
        return RateLimitingQueueMachine.of(bug)
    return DelayingQueueMachine.of(bug) if hasattr(bug, "add_after") else QueueMachine.of(bug)


def run_recipe(bug: type[Any], part: str, **options: Any) -> AssertionError | None:
    """Run a part of the recipe as pytest does and return its failure. options: of Hypothesis' settings."""
    try:
        if part == "operations":
            case = machine_of(bug).TestCase
            case.settings = settings(case.settings, **{"database": None, **options})
            case().runTest()
        else:
            with profile(**options):
                explored(bug)()
    except AssertionError as err:
        return err
    return None


def explored(bug: type[Any]) -> Callable[[], None]:
    """Return the second half of the recipe."""

    @synctest.explore()
    def test_my_queue_interleaved(schedule: synctest.Schedule) -> None:
        interleave(bug, schedule)

    return test_my_queue_interleaved


@contextlib.contextmanager
def profile(**options: Any) -> Iterator[None]:
    """Set other options of Hypothesis within the block, since `explore` takes them from the profile."""
    before = settings.get_current_profile_name()
    settings.register_profile("recipe", settings(settings(), **{"database": None, **options}))
    settings.load_profile("recipe")
    try:
        yield
    finally:
        settings.load_profile(before)


def lines_of(err: AssertionError) -> int:
    """Return the number of lines that a user reads: the text and its notes."""
    return sum(len(text.splitlines()) for text in (str(err), *getattr(err, "__notes__", ())))


# ---- the table


def found_after(bug: type[Any], part: str, cases: int, number: int) -> float:
    """Return the number of cases until a random search finds the bug, or infinity."""
    count = 0

    def counted(metrics_provider: Any) -> Any:
        nonlocal count
        count += 1
        return bug(metrics_provider)

    if part == "operations":
        machine = machine_of(bug)
        machine.new_queue = staticmethod(counted)
        test: Any = seed(number)(machine)
        options = settings(machine.TestCase.settings, max_examples=cases, database=None, phases=[Phase.generate])
        run = functools.partial(run_state_machine_as_test, test, settings=options)
    else:

        @settings(max_examples=cases, database=None, phases=[Phase.generate], deadline=None)
        @seed(number)
        @given(schedule=synctest.schedules())
        def run(schedule: synctest.Schedule) -> None:
            nonlocal count
            count += 1
            interleave(bug, schedule)

    try:
        run()
    except AssertionError:
        return count - 1 or 1  # Hypothesis repeats the failing case to report it
    return math.inf


PROFILES = {"default": 100, "thorough": 20_000}
_SEEDS = range(5)


def row(bug: type[Any], found: Counter[str]) -> str:
    """Search for a bug with several seeds and return its line of the table."""
    part, runs = BUGS[bug], list[float]()
    for number in _SEEDS:
        for cases in PROFILES.values():
            if (after := found_after(bug, part, cases, number)) < math.inf:
                break
        runs.append(after)
    for name, cases in PROFILES.items():
        found[name] += all(after <= cases for after in runs)
    began = time.process_time()
    err = run_recipe(bug, part, max_examples=PROFILES["default"])
    took, lines = time.process_time() - began, lines_of(err) if err else 0
    summary = (bug.__doc__ or "").partition("\n")[0].strip()
    cells = f"`{bug.__name__}`", summary, part, f"{statistics.median(runs):g}", f"{max(runs):g}", f"{took:.0f}", lines
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table, or with names of bugs as arguments only their lines."""
    found = Counter[str]()
    write = functools.partial(print, flush=True, file=sys.stdout)
    write(
        "| Bug | | found by random | cases until found, median of 5 | worst of 5 | CPU seconds with shrinking | lines |"
    )
    write("|---|---|---|---|---|---|---|")
    bugs = [bug for bug in BUGS if bug.__name__ in sys.argv[1:] or not sys.argv[1:]]
    for bug in bugs:
        write(row(bug, found))
    sums = [f"{found[name]} of {len(bugs)} at the {name} profile ({cases:,} cases)" for name, cases in PROFILES.items()]
    write(f"\nFound with each of 5 seeds: {', '.join(sums)}")


if __name__ == "__main__":
    main()
