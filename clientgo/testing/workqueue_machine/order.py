"""Check the order in which concurrent workers get the items of a priority queue."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from clientgo.testing.workqueue_machine.model import Item

# Seconds of virtual time that a queue's clock may be off.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Moment:
    """The number of an event, and its virtual time."""

    event: int
    time: float


@dataclass
class Add:
    """An add of an item. Its priority is between `lowest` and `highest`."""

    lowest: float
    highest: float
    ready_at: float
    """The virtual time at which the delay ends; -inf without a delay."""
    begun: Moment
    ended: float = math.inf
    """The number of the event at which the call returned."""


@dataclass(frozen=True)
class _Taken:
    """An item that a call of `get` took between two events."""

    worker: str
    item: Item
    after: Moment
    before: int
    highest: float


class PriorityOrder:
    """A record of the calls of all threads, which shows that `get` returned an item of too low a priority.

    Calls overlap, so that the record knows the priority and the readiness of an item only within limits. It reports an
    item that was ready before a worker could take an item of a lower priority, and that was returned by a later call.
    Of two overlapping calls either may come first.

    Needs no lock: no thread is preempted between these lines.
    """

    def __init__(self, now: Callable[[], float], polls: float = 0.0) -> None:
        """Begin the record of a queue that reacts after `polls` seconds at most. `now` returns the virtual time."""
        self._now = now
        self._late = polls + _TOLERANCE
        self._events = itertools.count(1)
        self._adds: defaultdict[Item, list[Add]] = defaultdict(list)  # those that the next `get` may take
        self._taken: list[_Taken] = []
        self._returned = Counter[Item]()  # the end of the last `get` of each item
        self._free_since: defaultdict[Item, float] = defaultdict(float)  # the end of its `done`
        self._in_progress: dict[Item, tuple[float, float]] = {}  # the limits of the priority

    def moment(self) -> Moment:
        """Count an event, such as a call that begins."""
        return Moment(next(self._events), self._now())

    def begin_add(self, item: Item, priority: int, delay: float = 0.0) -> Add:
        """Record an add."""
        return self._begin_add(item, priority, priority, delay)

    def begin_retry(self, item: Item, of_its_worker: bool) -> Add:
        """Record an add with an unknown delay, which keeps the priority with which a worker holds the item."""
        unknown = (-math.inf, math.inf)
        return self._begin_add(item, *(self._in_progress.get(item, (0, 0)) if of_its_worker else unknown), math.inf)

    def _begin_add(self, item: Item, lowest: float, highest: float, delay: float) -> Add:
        begun = self.moment()
        add = Add(lowest, highest, begun.time + delay if delay else -math.inf, begun)
        self._adds[item].append(add)
        return add

    def end_add(self, add: Add, is_certain: bool = True) -> None:
        """Record that the call of an add returned. A queue that shuts down may have ignored an uncertain one."""
        add.ended = next(self._events)
        if not is_certain:
            add.lowest, add.ready_at = -math.inf, math.inf

    def end_get(self, worker: str, begun: Moment, item: Item) -> int:
        """Record that `get` returned `item`, and return the number of this event.

        Raises AssertionError if an earlier `get` returned an item of a lower priority although this one was ready.
        """
        ended = next(self._events)
        for taken in self._taken:
            lowest = self._lowest(item, taken.after)
            if taken.before < begun.event and taken.after.event > self._free_since[item] and lowest is not None:
                assert lowest <= taken.highest, (
                    f"{taken.worker} got {taken.item!r} of priority {taken.highest}, "
                    f"but {item!r} of priority {lowest} was ready before"
                )
        adds = self._adds[item]
        after = max(begun, min((add.begun for add in adds), key=_event, default=begun), key=_event)
        lowest, highest = min((add.lowest for add in adds), default=0), max((add.highest for add in adds), default=0)
        self._taken.append(_Taken(worker, item, after, ended, highest))
        certain = self._lowest(item, begun)
        self._in_progress[item] = (lowest if certain is None else certain, highest)
        # A delay may end later than that of an add which this `get` took.
        self._adds[item] = [add for add in adds if add.ended > begun.event or add.ready_at > -math.inf]
        self._returned[item] = ended
        self._free_since[item] = math.inf
        return ended

    def begin_done(self, item: Item, taken: int) -> None:
        """Record a call of `done` for an item that was returned at event `taken`."""
        if self._returned[item] == taken:
            self._in_progress.pop(item, None)

    def end_done(self, item: Item, taken: int) -> None:
        """Record that this call returned."""
        if self._returned[item] == taken:
            self._free_since[item] = next(self._events)

    def _lowest(self, item: Item, at: Moment) -> float | None:
        """Return the lowest priority that the item may have had; None if it may not have been ready.

        An add raises the item at once, also one whose delay is not over.
        """
        adds = [add for add in self._adds[item] if self._returned[item] < add.begun.event and add.ended < at.event]
        if not any(add.ready_at + self._late < at.time for add in adds):
            return None
        return max(add.lowest for add in adds)


def _event(moment: Moment) -> int:
    return moment.event
