"""Workers and producers on one queue, under a schedule that picks the thread to run next."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from types import EllipsisType, ModuleType
from typing import Any

from clientgo.golang.functions import create_checked
from clientgo.testing import synctest
from clientgo.testing.workqueue_machine.failures import Failures
from clientgo.testing.workqueue_machine.model import METHODS, Item, copied
from clientgo.testing.workqueue_machine.order import PriorityOrder
from clientgo.testing.workqueue_machine.session import NewQueue, blocked_threads
from clientgo.util.workqueue import AddOpts

# pytest leaves this module's frames out of a traceback: the story replaces them.
__tracebackhide__ = True


class QueueRace(AssertionError):
    """A violation of the queue's contract. The message lists the calls that led to it."""

    is_livelock = False
    """True: the run did not end, so that a repetition takes as long as the limit of operations lets it."""


@dataclass(frozen=True)
class Shape:
    """The threads and the work of one run of `interleave`, and the way in which the run ends."""

    workers: int = 2
    producers: int = 2
    items: Sequence[Item] = "ab"
    rounds: int = 2
    drain_after: int | None = None
    shutdown: str = "with drain"
    delay: float = 0.0
    work: float | None = 0.0
    """Seconds of an item's work. With None a worker gives way only where the schedule switches."""
    between_lines: bool = False
    """True: a switch may come before each line of the queue, not only at its locks."""
    rate_limited: bool = False
    """True: a worker's first attempt at each item fails, and it adds the item with `add_rate_limited`. So do all
    producers but the first."""
    priorities: Sequence[int] = ()
    """The priorities of a producer's adds, one after the other and again from the first. Empty: it uses `add`."""
    pause: float = 0.0
    """Seconds that a producer waits after a delayed add. Its every second add then has no delay: after a pause as long
    as the delay, it comes at the moment when the delay ends."""
    polls: float = 0.0
    """Seconds that a call may sleep although it could go on."""

    @property
    def correct_steps(self) -> int:
        """Operations of a correct queue, at most."""
        return 200 * (1 + self.workers + self.producers) * len(self.items) * self.rounds

    def __str__(self) -> str:
        """Return the arguments of `interleave` that fix this shape."""
        hidden = {"between_lines"} if self.polls else {"between_lines", "polls"}
        names = [each.name for each in fields(self) if each.name not in hidden]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


# Times the operations of a correct queue until a run counts as a livelock, at first and once a search has found one.
_PATIENCE, _PATIENCE_LATER = 100, 10

_SMALLEST = Shape(workers=1, producers=1, items="a", rounds=1)

# Smallest first: with fewer threads and operations, more schedules hit a race's window, and the report is shorter. The
# larger shapes find the races that need more. A shutdown comes at several moments.
SHAPES: tuple[Shape, ...] = (
    _SMALLEST,
    *(replace(_SMALLEST, drain_after=turns) for turns in (0, 1, 2, 4)),
    *(replace(_SMALLEST, drain_after=turns, shutdown="at once") for turns in (1, 3)),
    replace(_SMALLEST, delay=0.5),
    replace(_SMALLEST, delay=0.5, drain_after=2, shutdown="at once"),
    replace(_SMALLEST, workers=2),
    replace(_SMALLEST, workers=2, shutdown="at once"),
    replace(_SMALLEST, producers=2),
    replace(_SMALLEST, workers=2, drain_after=3),
    replace(_SMALLEST, workers=2, drain_after=2, shutdown="at once"),
    replace(_SMALLEST, between_lines=True),
    replace(_SMALLEST, between_lines=True, drain_after=1),
    replace(_SMALLEST, between_lines=True, drain_after=0, shutdown="at once"),
    Shape(workers=2, producers=1, items="ab", rounds=1),
    Shape(workers=2, producers=1, items="ab", rounds=1, drain_after=1),
    Shape(workers=2, producers=1, items="ab", rounds=1, drain_after=1, work=0.5),
    Shape(workers=1, producers=2, items="ab", rounds=1, drain_after=4),
    Shape(workers=2, producers=2, items="a", rounds=1, between_lines=True),
    Shape(workers=2, producers=1, items="ab", rounds=1, work=None),
    Shape(workers=2, producers=1, items="ab", rounds=1, between_lines=True),
    # For a late add between two lines of `done`, which each of these shapes has in one of a hundred schedules.
    replace(_SMALLEST, rounds=2, work=None, between_lines=True),
    replace(_SMALLEST, rounds=3, work=None, between_lines=True),
    replace(_SMALLEST, producers=2, work=None, between_lines=True),
    replace(_SMALLEST, producers=3, work=None, between_lines=True),
    Shape(workers=2, producers=2, items="a", rounds=2, work=None, between_lines=True),
    replace(_SMALLEST, rate_limited=True),
    Shape(workers=2, producers=1, items="ab", rounds=1, rate_limited=True),
    Shape(workers=2, producers=1, items="ab", rounds=1, rate_limited=True, between_lines=True),
    Shape(workers=2, producers=2, items="ab", rounds=1, work=0.5),
    Shape(workers=2, producers=2, items="ab", rounds=1, delay=0.5, work=0.25),
    Shape(workers=2, producers=2, items="ab", rounds=2, drain_after=8),
    Shape(workers=3, producers=2, items="ab", rounds=1, drain_after=6, work=None),
    Shape(workers=3, producers=2, items="ab", rounds=2),
    Shape(workers=1, producers=2, items="a", rounds=3, rate_limited=True, work=None),
    Shape(workers=1, producers=1, items="abc", rounds=1, delay=0.5, pause=0.5, work=None),
    replace(_SMALLEST, rounds=2, priorities=(0, 1), work=None, between_lines=True),
    replace(_SMALLEST, items="ab", priorities=(0, 1)),
    Shape(workers=1, producers=2, items="ab", rounds=1, priorities=(0, 1), work=None),
    Shape(workers=1, producers=2, items="ab", rounds=1, priorities=(0, 1), work=None, between_lines=True),
    Shape(workers=2, producers=1, items="ab", rounds=1, priorities=(1, 0), work=0.5),
    Shape(workers=2, producers=2, items="ab", rounds=1, priorities=(0, 1), drain_after=4, work=None),
    Shape(workers=2, producers=1, items="ab", rounds=1, priorities=(0, 1), rate_limited=True),
    Shape(workers=1, producers=2, items="abc", rounds=2, priorities=(0, 1, 2), delay=0.5, pause=0.5, work=0.25),
    Shape(workers=2, producers=2, items="abc", rounds=2, priorities=(0, 2, 1), work=None),
)
"""The shapes of one call of `interleave`, for what its arguments do not fix."""


def interleave(
    new_queue: NewQueue,
    schedule: synctest.Schedule | synctest.RandomSchedule | None = None,
    *,
    workers: int | None = None,
    producers: int | None = None,
    items: Sequence[Item] | None = None,
    rounds: int | None = None,
    work: float | EllipsisType | None = ...,
    drain_after: int | EllipsisType | None = ...,
    shutdown: str | None = None,
    delay: float | None = None,
    rate_limited: bool | None = None,
    priorities: Sequence[int] | None = None,
    pause: float | None = None,
    preempt_in: Sequence[ModuleType] | None = None,
    polls: float = 0.0,
    log: Callable[[str], object] | None = None,
) -> None:
    """Run workers and producers on one queue under `schedule`, and check the queue's contract.

      * two workers never hold the same item
      * an item that was added before the shutdown is processed after its last add
      * `get` returns an item at most as often as it was added
      * no worker sleeps while an item is ready, and `get` reports no shutdown before it begins
      * `shut_down_with_drain` returns only after a moment without an item in progress, and then all threads end
      * the queue counts the failures of an item until `forget`
      * with priorities, no `get` returns an item while one of a higher priority has been ready since before

    One call runs all of SHAPES under the same schedule, smallest first, each with a new queue. An argument fixes its
    value in all of them, and equal shapes run once. So all arguments together fix one run. Once a search with `explore`
    has found a race, its other calls run only the shape that showed the race. This makes shrinking twenty times faster.
    Once it has found a run without an end, the other calls end after a tenth of the operations.

    Every producer adds every item `rounds` times; producers begin with different items. Every worker adds each item
    once more while it holds it. `work` is the duration of an item's work, in seconds of virtual time. Even a work of
    0.0 ends only after every thread that can run has run. With None the threads switch only where the schedule says so:
    a thread may wait at one line while others process many items. With `drain_after` the shutdown begins after the main
    thread had that many turns; with None it begins when all work is done. `shutdown` is "with drain" or "at once".

    With `delay`, in seconds, the producers use `add_after`. With `rate_limited` a worker adds an item again with
    `add_rate_limited`, as after a failure, and calls `forget` when it gets the item again. The producers but the first
    use `add_rate_limited` too. With `priorities`, a sequence of numbers, the producers use `add_with_opts`, and each
    add has the next of them. With `pause`, in seconds, a producer waits after a delayed add, and its every second add
    has no delay. A queue without these methods skips such shapes.

    In the modules `preempt_in` a switch may come before every line. By default this holds for the queue's modules, in
    thirteen of the shapes. `polls` is the longest sleep, in seconds, of a queue whose calls sleep, as one that polls
    instead of waiting to be notified: a worker may sleep so long while an item is ready.

    Raises QueueRace. Its message lists the calls, such as `worker-1 gets 'b' while worker-0 holds it`, and its note has
    the arguments that repeat the run. `log=print` prints the calls as they happen, of every run, and the stacks of a
    deadlock.
    """
    given = {
        "workers": workers,
        "producers": producers,
        "items": items if items is None or isinstance(items, str) else tuple(items),
        "rounds": rounds,
        "shutdown": shutdown,
        "delay": delay,
        "rate_limited": rate_limited,
        "priorities": None if priorities is None else tuple(priorities),
        "pause": pause,
    }
    fixed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    fixed["polls"] = polls
    if not isinstance(drain_after, EllipsisType):
        fixed["drain_after"] = drain_after
    if not isinstance(work, EllipsisType):
        fixed["work"] = work
    if fixed.get("shutdown", "at once") not in ("with drain", "at once"):
        raise ValueError(f"shutdown is 'with drain' or 'at once', not {shutdown!r}")
    if preempt_in is not None:
        fixed["between_lines"] = bool(preempt_in)
    memory = schedule.memory if isinstance(schedule, synctest.Schedule) else {}
    searched = new_queue, repr((fixed, preempt_in))
    if searched in memory:
        shape, modules, patience = memory[searched]
        try:
            _run(new_queue, schedule, shape, modules, log, patience)
        except QueueRace as race:
            if race.is_livelock:
                memory[searched] = shape, modules, _PATIENCE_LATER
            raise
        return
    queue_type: type | None = None
    if delay == 0.0:
        fixed.setdefault("pause", 0.0)  # a pause meets the end of a delay
    for shape in dict.fromkeys(replace(shape, **fixed) for shape in SHAPES):
        if "delay" not in fixed and shape.delay and not hasattr(queue_type, "add_after"):
            continue
        if "rate_limited" not in fixed and shape.rate_limited and not hasattr(queue_type, "add_rate_limited"):
            continue
        if "priorities" not in fixed and shape.priorities and not hasattr(queue_type, "add_with_opts"):
            continue
        modules = () if not shape.between_lines else _modules_of(queue_type) if preempt_in is None else preempt_in
        try:
            queue_type = _run(new_queue, schedule, shape, modules, log)
        except QueueRace as race:
            memory[searched] = shape, modules, _PATIENCE_LATER if race.is_livelock else _PATIENCE
            raise


def _modules_of(queue_type: type | None) -> Sequence[ModuleType]:
    """Return the modules of the queue's classes, without the standard library's."""
    names = {each.__module__ for each in queue_type.__mro__} if queue_type is not None else set()
    own = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    return [sys.modules[name] for name in sorted(own) if getattr(sys.modules.get(name), "__file__", None)]


def _run(
    new_queue: NewQueue,
    schedule: synctest.Schedule | synctest.RandomSchedule | None,
    shape: Shape,
    preempt_in: Sequence[ModuleType],
    log: Callable[[str], object] | None,
    patience: int = _PATIENCE,
) -> type:
    """Run one shape and return the queue's type. Raises QueueRace.

    A run counts as a livelock after `patience` times the operations of a correct queue.
    """
    story = _Story(log)
    try:
        with synctest.bubble(schedule, preempt_in=preempt_in, max_steps=patience * shape.correct_steps) as b:
            story.bubble = b
            queue = create_checked(new_queue, (None,), *METHODS)
            _Interleaving(b, queue, story, shape).run()
            return type(queue)
    except Exception as err:
        race = QueueRace(story.ending_with(err))
        race.is_livelock = isinstance(err, synctest.LivelockError)
        modules = f", preempt_in=[{', '.join(module.__name__ for module in preempt_in)}]"
        picks = story.bubble.trace if story.bubble is not None else synctest.Schedule()
        race.add_note(f"synctest: replay with schedule={picks}, {shape}{modules}")
        raise race from _cause(err)


def _cause(err: Exception) -> BaseException | None:
    """Return the exception of the queue's own code that caused a failure, or None if the calls explain it."""
    origin = err.__cause__ or err
    if isinstance(origin, synctest.BubbleError):
        return None
    *_, (frame, _) = traceback.walk_tb(origin.__traceback__)
    return None if frame.f_code.co_filename == __file__ else origin


class _Story:
    """The calls of the threads, one a line. The line of a call is added before it; the line of a `get` after it."""

    def __init__(self, log: Callable[[str], object] | None) -> None:
        self.bubble: synctest.Bubble | None = None
        self._log = log
        self._lines: list[str] = []
        self._ended = False
        self.waiting: list[str] = []  # the threads in `get`

    def add(self, event: str) -> None:
        if self._ended:
            return
        line = f"{threading.current_thread().name} {event}"
        elapsed = self.bubble.elapsed if self.bubble is not None else 0.0
        if elapsed:
            line = f"+{elapsed:g}s {line}"
        self._lines.append(line)
        if self._log is not None:
            self._log(line)

    def end(self) -> None:
        """Ignore later calls: the other threads may still run."""
        self._ended = True

    def ending_with(self, err: Exception) -> str:
        """Return the problem, the last calls before it, and the lines at which threads are blocked."""
        if isinstance(err, synctest.ThreadError) and isinstance(err.__cause__, AssertionError):
            err = err.__cause__
        problem, _, stacks = str(err).partition("\n")
        if not isinstance(err, AssertionError):
            problem = f"{threading.current_thread().name} raises {type(err).__name__}: {problem}"
        if stacks and self._log is not None:
            self._log(stacks)
        waiting = [] if self._ended else [f"{name} waits in get" for name in self.waiting]
        blocked = blocked_threads(stacks) or waiting
        lines = [*self._lines, *blocked]
        if len(lines) > _LINES:
            shown = max(0, _LINES - len(blocked) - 1)
            left_out = len(self._lines) - shown
            lines = [f"({left_out} lines before: log=print shows them)", *self._lines[left_out:], *blocked]
        return "\n".join([problem.removesuffix(","), "", *lines])


# Together with the problem, an empty line and the note about the schedule these are ten.
_LINES = 7


class _Interleaving:
    """One run. Its state needs no lock: no thread is preempted between these lines."""

    def __init__(
        self,
        bubble: synctest.Bubble,
        queue: Any,
        story: _Story,
        shape: Shape,
    ) -> None:
        self.bubble = bubble
        self.queue = queue
        self.story = story
        self.shape = shape
        self.items = [*shape.items] * shape.rounds
        self.work = shape.work
        self._unused = threading.Lock()  # each call of `locked` is a possible switch
        self.delay = shape.delay
        self.order = PriorityOrder(lambda: bubble.elapsed, shape.polls)
        self.closing = False
        self.version = Counter[Item]()  # changes of each item
        self.owed = Counter[Item]()  # the last version that was added before the shutdown
        self.handed_out = Counter[Item]()  # calls of `get` that returned the item
        self.seen = Counter[Item]()  # the version at the last of these calls
        self.processed = Counter[Item]()
        self.failures = Failures()
        self.in_hand: dict[Item, str] = {}  # the worker that holds each item
        self.times_empty = 0

    def run(self) -> None:
        shape = self.shape
        threads = [threading.Thread(target=self._work, name=f"worker-{n}") for n in range(shape.workers)]
        for n in range(shape.producers):
            threads.append(threading.Thread(target=self._produce, args=(n,), name=f"producer-{n}"))
        for thread in threads:
            thread.start()
        if shape.drain_after is None:
            self._watch_until_quiet()
        else:
            for _ in range(shape.drain_after):
                time.sleep(0)
        self.closing = True
        if shape.shutdown == "at once":
            self.story.add("calls shut_down")
            self.queue.shut_down()
        else:
            self._drain()
        for thread in threads:
            thread.join()
        # Here a thread that failed last is reported. With polls the queue's own threads see the shutdown.
        self.bubble.sleep(shape.polls) if shape.polls else self.bubble.wait()
        lost = [item for item, version in self.owed.items() if self.processed[item] < version]
        names = ", ".join(map(repr, lost))
        assert not lost, f"lost: {names} was added before the shutdown and never processed after it"

    def _drain(self) -> None:
        nothing_in_hand, times_empty = not self.in_hand, self.times_empty
        self.story.add("calls shut_down_with_drain")
        self.queue.shut_down_with_drain()
        self.story.add("returns from shut_down_with_drain")
        assert nothing_in_hand or self.times_empty > times_empty, (
            f"shut_down_with_drain returned, but all the time an item was being processed, now {list(self.in_hand)}"
        )

    def _watch_until_quiet(self) -> None:
        for _ in range(100):
            if self.shape.polls:
                self.bubble.sleep(self.shape.polls)
            else:
                self.bubble.wait()
            ready = self.queue.len()
            idle = len(self.story.waiting)
            assert not (ready and idle), f"{idle} workers sleep while {ready} items are ready"
            left = [item for item, version in self.owed.items() if version > self.seen[item]]
            assert not (idle and set(left) - self.in_hand.keys()), f"a worker sleeps, and none has the added {left}"
            if self.processed == self.version and not self.in_hand:
                return
            self.bubble.sleep(self.work or 1.0)
        raise AssertionError(f"lost: changed {dict(self.version)}, processed {dict(self.processed)}")

    def _produce(self, number: int) -> None:
        """Add the items. Each producer begins with another one, so that several are queued at once."""
        first = number % len(self.items) if self.items else 0
        priorities, pause = self.shape.priorities, self.shape.pause
        for place, item in enumerate([*self.items[first:], *self.items[:first]]):
            delay = 0.0 if pause and place % 2 else self.delay
            if self.shape.rate_limited and number:
                self._retry(item, of_its_worker=False)
            else:
                self._add(item, delay, priorities[place % len(priorities)] if priorities else None)
            # Give way; otherwise a producer ends before the first worker wakes.
            self._work_for(pause if delay and pause else None if pause or self.work is None else 0.0)

    def _add(self, item: Item, delay: float = 0.0, priority: int | None = None) -> None:
        self.version[item] += 1
        version = self.version[item]
        options = f" with priority {priority}" * (priority is not None) + f" after {delay:g}s" * bool(delay)
        self.story.add(f"adds {item!r}{options}")
        add = self.order.begin_add(item, priority or 0, delay)
        if priority is not None:
            self.queue.add_with_opts(AddOpts(after=delay, priority=priority), copied(item))
        elif delay:
            self.queue.add_after(copied(item), delay)
        else:
            self.queue.add(copied(item))
        self.order.end_add(add, is_certain=not self.closing)
        if not delay and not self.closing:
            self.owed[item] = max(self.owed[item], version)

    def _retry(self, item: Item, of_its_worker: bool = True) -> None:
        """Add an item as after a failure."""
        self.version[item] += 1
        self.story.add(f"adds {item!r} rate-limited")
        add = self.order.begin_retry(item, of_its_worker)
        with self.failures.failing(item):
            self.queue.add_rate_limited(copied(item))
        self.order.end_add(add, is_certain=not self.closing)
        self._check_failures(item)

    def _forget(self, item: Item) -> None:
        self.story.add(f"forgets {item!r}")
        with self.failures.forgetting(item):
            self.queue.forget(copied(item))
        self._check_failures(item)

    def _check_failures(self, item: Item) -> None:
        with self.failures.counting(item) as expected:
            found = self.queue.num_requeues(copied(item))
        wanted = expected()
        assert found in wanted, f"num_requeues({item!r}) is {found}, expected {' or '.join(map(str, wanted))}"

    def _work_for(self, seconds: float | None) -> None:
        """Sleep, or with None let the schedule decide whether other threads run now."""
        if seconds is None:
            self._unused.locked()
        else:
            time.sleep(seconds)

    def _work(self) -> None:
        me = threading.current_thread().name
        to_add_again = set(self.items)
        while True:
            self.story.waiting.append(me)
            begun = self.order.moment()
            item, shutdown = self.queue.get()
            self.story.waiting.remove(me)
            if shutdown:
                self.story.add("gets the shutdown")
                assert self.closing, f"{me} gets the shutdown before there is one"
                return
            holder = self.in_hand.get(item)
            self.story.add(f"gets {item!r}" + (f" while {holder} holds it" if holder else ""))
            if holder:
                self.story.end()
                raise AssertionError(f"{item!r} is in two hands at once")
            self.in_hand[item] = me
            taken = self.order.end_get(me, begun, item)
            version = self.seen[item] = self.version[item]
            self.handed_out[item] += 1
            assert self.handed_out[item] <= version, f"{item!r} is handed out more often than it was added"
            self._work_for(self.work)
            is_first = item in to_add_again
            to_add_again.discard(item)
            if self.shape.rate_limited:
                self._retry(item) if is_first else self._forget(item)
            elif is_first:
                self._add(item)
            self.processed[item] = max(self.processed[item], version)
            del self.in_hand[item]
            self.times_empty += not self.in_hand
            self.story.add(f"is done with {item!r}")
            self.order.begin_done(item, taken)
            self.queue.done(copied(item))
            self.order.end_done(item, taken)
