"""Workers and producers on one queue, under a schedule that says who runs next."""

from __future__ import annotations

import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from types import EllipsisType, ModuleType
from typing import Any

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import NewQueue

# pytest leaves this module's frames out of a traceback: the story replaces them.
__tracebackhide__ = True


class QueueRace(AssertionError):
    """Threads that share the queue met something they must not; the text tells it as a story in the queue's words."""


@dataclass(frozen=True)
class Shape:
    """How many threads do how much in one run of `interleave`, and how the run ends."""

    workers: int = 2
    producers: int = 2
    items: Sequence[Item] = "ab"
    rounds: int = 2
    drain_after: int | None = None
    shutdown: str = "with drain"
    delay: float = 0.0
    work: float | None = 0.0
    """None: a thread gives way only where the schedule says so, and may stand still for as long."""
    between_lines: bool = False
    """Whether a switch may come before each line of the queue, not only where it locks."""

    @property
    def max_steps(self) -> int:
        """Operations after which a run counts as a livelock: a hundred times those of a queue that works."""
        return 20_000 * (1 + self.workers + self.producers) * len(self.items) * self.rounds

    def __str__(self) -> str:
        """The arguments of `interleave` that fix this shape."""
        names = [each.name for each in fields(self) if each.name != "between_lines"]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


_SMALLEST = Shape(workers=1, producers=1, items="a", rounds=1)

# Smallest first: the fewer threads and operations, the more of the schedules hit a race's window, and the shorter the
# story. A race that needs more has a larger shape; a shutdown comes at several moments.
SHAPES: tuple[Shape, ...] = (
    _SMALLEST,
    *(replace(_SMALLEST, drain_after=turns) for turns in (0, 1, 2, 4)),
    *(replace(_SMALLEST, drain_after=turns, shutdown="at once") for turns in (1, 3)),
    replace(_SMALLEST, delay=0.5),
    replace(_SMALLEST, delay=0.5, drain_after=2, shutdown="at once"),
    replace(_SMALLEST, workers=2),
    replace(_SMALLEST, producers=2),
    replace(_SMALLEST, workers=2, drain_after=3),
    replace(_SMALLEST, workers=2, drain_after=2, shutdown="at once"),
    replace(_SMALLEST, between_lines=True),
    Shape(workers=2, producers=1, items="ab", rounds=1),
    Shape(workers=2, producers=1, items="ab", rounds=1, drain_after=1),
    Shape(workers=2, producers=1, items="ab", rounds=1, drain_after=1, work=0.5),
    Shape(workers=1, producers=2, items="ab", rounds=1, drain_after=4),
    Shape(workers=2, producers=2, items="a", rounds=1, between_lines=True),
    Shape(workers=2, producers=1, items="ab", rounds=1, work=None),
    Shape(workers=2, producers=2, items="ab", rounds=1, work=0.5),
    Shape(workers=2, producers=2, items="ab", rounds=1, delay=0.5, work=0.25),
    Shape(workers=2, producers=2, items="ab", rounds=2, drain_after=8),
    Shape(workers=3, producers=2, items="ab", rounds=1, drain_after=6, work=None),
    Shape(workers=3, producers=2, items="ab", rounds=2),
)
"""What `interleave` goes through when its arguments leave it the choice."""


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
    preempt_in: Sequence[ModuleType] | None = None,
    log: Callable[[str], object] | None = None,
) -> None:
    """Run workers and producers on one queue under `schedule` and check what must hold however they interleave.

      * no item is in two hands at once
      * what was added before the shutdown began is processed after its last add: nothing is lost
      * no item is handed out more often than it was added
      * no worker sleeps while an item is ready, and none gets a shutdown before there is one
      * shut_down_with_drain returns only after a moment in which nothing was being processed, and then all threads end

    One call goes through all of SHAPES under the one schedule, smallest first, each with a queue of its own. An
    argument that is given is the same in all of them; equal shapes run once. So all arguments together fix one run.
    Once a search with `explore` has found a race, its other calls run only the shape that showed the race: shrinking
    is then twenty times as fast.

    Every producer adds every item `rounds` times, each beginning with another one; every worker adds each item once
    more while it holds it. `work` is how long an item takes, in seconds of virtual time. All threads that can run go on
    before even a work of 0.0 is over; with None they do so only where the schedule switches, and a thread may stand at
    one line while others process item after item. With `drain_after` the shutdown does not wait until all is done, as
    with None, but begins after the main thread had that many turns.
    `shutdown` is "with drain" or "at once". With `delay`, in seconds, the producers use `add_after`; a queue without it
    is spared the shapes with a delay. In the modules `preempt_in` a switch may come before every line; by default in
    two shapes, in those of the queue.

    Raises QueueRace, which tells what happened: `worker-1 gets 'b' while worker-0 holds it`; its note has the arguments
    that repeat the run. `log=print` tells it as it happens, of runs that succeed too, and the stacks of a deadlock.
    """
    given = {
        "workers": workers,
        "producers": producers,
        "items": items,
        "rounds": rounds,
        "shutdown": shutdown,
        "delay": delay,
    }
    fixed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
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
        shape, modules = memory[searched]
        _run(new_queue, schedule, shape, modules, log)
        return
    queue_type: type | None = None
    for shape in dict.fromkeys(replace(shape, **fixed) for shape in SHAPES):
        if "delay" not in fixed and shape.delay and not hasattr(queue_type, "add_after"):
            continue
        modules = () if not shape.between_lines else _modules_of(queue_type) if preempt_in is None else preempt_in
        try:
            queue_type = _run(new_queue, schedule, shape, modules, log)
        except QueueRace:
            memory[searched] = shape, modules
            raise


def _modules_of(queue_type: type | None) -> Sequence[ModuleType]:
    """The modules in whose lines the queue works: those of its classes, without the standard library's."""
    names = {each.__module__ for each in queue_type.__mro__} if queue_type is not None else set()
    own = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    return [sys.modules[name] for name in sorted(own) if getattr(sys.modules.get(name), "__file__", None)]


def _run(
    new_queue: NewQueue,
    schedule: synctest.Schedule | synctest.RandomSchedule | None,
    shape: Shape,
    preempt_in: Sequence[ModuleType],
    log: Callable[[str], object] | None,
) -> type:
    """Run one shape and return the queue's type."""
    story = _Story(log)
    try:
        with synctest.bubble(schedule, preempt_in=preempt_in, max_steps=shape.max_steps) as b:
            story.bubble = b
            queue = new_queue(None)
            _Interleaving(b, queue, story, shape).run()
            return type(queue)
    except AssertionError as err:
        race = QueueRace(story.ending_with(err))
        modules = f", preempt_in=[{', '.join(module.__name__ for module in preempt_in)}]"
        picks = story.bubble.trace if story.bubble is not None else synctest.Schedule()
        race.add_note(f"synctest: replay with schedule={picks}, {shape}{modules}")
        raise race from _cause(err)


def _cause(err: AssertionError) -> BaseException | None:
    """Return the exception of the queue's own code behind a failure; None when the story is the whole of it."""
    origin = err.__cause__ or err
    if isinstance(origin, synctest.BubbleError):
        return None
    *_, (frame, _) = traceback.walk_tb(origin.__traceback__)
    return None if frame.f_code.co_filename == __file__ else origin


class _Story:
    """What the threads did, line by line; a line comes before the call it tells of, and after a `get`."""

    def __init__(self, log: Callable[[str], object] | None) -> None:
        self.bubble: synctest.Bubble | None = None
        self._log = log
        self._lines: list[str] = []
        self._ended = False
        self.waiting: list[str] = []  # who is in `get`

    def tell(self, what: str) -> None:
        if self._ended:
            return
        line = f"{threading.current_thread().name} {what}"
        elapsed = self.bubble.elapsed if self.bubble is not None else 0.0
        if elapsed:
            line = f"+{elapsed:g}s {line}"
        self._lines.append(line)
        if self._log is not None:
            self._log(line)

    def end(self) -> None:
        """What the other threads go on doing is no part of it."""
        self._ended = True

    def ending_with(self, err: AssertionError) -> str:
        """Return the problem, the last lines of what led to it, and where the blocked threads stand."""
        if isinstance(err, synctest.ThreadError) and isinstance(err.__cause__, AssertionError):
            err = err.__cause__
        problem, _, stacks = str(err).partition("\n")
        if stacks and self._log is not None:
            self._log(stacks)
        waiting = [] if self._ended else [f"{name} waits in get" for name in self.waiting]
        blocked = _blocked(stacks) or waiting
        lines = [*self._lines, *blocked]
        if len(lines) > _LINES:
            shown = max(0, _LINES - len(blocked) - 1)
            left_out = len(self._lines) - shown
            lines = [f"({left_out} lines before: log=print shows them)", *self._lines[left_out:], *blocked]
        return "\n".join([problem.removesuffix(","), "", *lines])


# With the problem, an empty line and the note about the schedule it is ten.
_LINES = 7


def _blocked(stacks: str) -> list[str]:
    """Where in the queue each thread of a bubble's report is blocked: the innermost line of its stack."""
    found = []
    for part in re.split(r"^  thread ", stacks, flags=re.MULTILINE)[1:]:
        name = re.match(r"'(.*?)'", part)
        place = part.rstrip().splitlines()[-1].strip()
        if name and not place.startswith(__file__) and " in " in place:
            found.append(f"{name[1]} waits at {place}")
    return found


class _Interleaving:
    """The bookkeeping needs no lock: there is no preemption point between its lines."""

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
        self._unused = threading.Lock()  # each look at it is a possible switch
        self.delay = shape.delay
        self.closing = False
        self.version = Counter[Item]()  # how often each item changed
        self.owed = Counter[Item]()  # the version that was added in time and has to be processed
        self.handed_out = Counter[Item]()  # how often
        self.seen = Counter[Item]()  # the version it had when it was handed out last
        self.processed = Counter[Item]()
        self.in_hand: dict[Item, str] = {}  # who holds it
        self.times_empty = 0

    def run(self) -> None:
        shape = self.shape
        crew = [threading.Thread(target=self._work, name=f"worker-{n}") for n in range(shape.workers)]
        for n in range(shape.producers):
            crew.append(threading.Thread(target=self._produce, args=(n,), name=f"producer-{n}"))
        for thread in crew:
            thread.start()
        if shape.drain_after is None:
            self._watch_until_quiet()
        else:
            for _ in range(shape.drain_after):
                time.sleep(0)
        self.closing = True
        if shape.shutdown == "at once":
            self.story.tell("calls shut_down")
            self.queue.shut_down()
        else:
            self._drain()
        for thread in crew:
            thread.join()
        lost = [item for item, version in self.owed.items() if self.processed[item] < version]
        names = ", ".join(map(repr, lost))
        assert not lost, f"lost: {names} was added before the shutdown and never processed after it"

    def _drain(self) -> None:
        nothing_in_hand, times_empty = not self.in_hand, self.times_empty
        self.story.tell("calls shut_down_with_drain")
        self.queue.shut_down_with_drain()
        self.story.tell("returns from shut_down_with_drain")
        assert nothing_in_hand or self.times_empty > times_empty, (
            f"shut_down_with_drain returned, but all the time an item was being processed, now {list(self.in_hand)}"
        )

    def _watch_until_quiet(self) -> None:
        for _ in range(100):
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
        """Add the items, each producer beginning with another one, so that several are queued at once."""
        first = number % len(self.items) if self.items else 0
        for item in [*self.items[first:], *self.items[:first]]:
            if self.delay:
                self.version[item] += 1
                self.story.tell(f"adds {item!r} after {self.delay:g}s")
                self.queue.add_after(item, self.delay)
            else:
                self._add(item)
            # Give way, or a producer is over before the first worker wakes.
            self._work_for(None if self.work is None else 0.0)

    def _add(self, item: Item) -> None:
        self.version[item] += 1
        version = self.version[item]
        self.story.tell(f"adds {item!r}")
        self.queue.add(item)
        if not self.closing:
            self.owed[item] = max(self.owed[item], version)

    def _work_for(self, seconds: float | None) -> None:
        """Take the time, or leave it to the schedule whether other threads run now."""
        if seconds is None:
            self._unused.locked()
        else:
            time.sleep(seconds)

    def _work(self) -> None:
        me = threading.current_thread().name
        to_add_again = set(self.items)
        while True:
            self.story.waiting.append(me)
            item, shutdown = self.queue.get()
            self.story.waiting.remove(me)
            if shutdown:
                self.story.tell("gets the shutdown")
                assert self.closing, f"{me} gets the shutdown before there is one"
                return
            holder = self.in_hand.get(item)
            self.story.tell(f"gets {item!r}" + (f" while {holder} holds it" if holder else ""))
            if holder:
                self.story.end()
                raise AssertionError(f"{item!r} is in two hands at once")
            self.in_hand[item] = me
            version = self.seen[item] = self.version[item]
            self.handed_out[item] += 1
            assert self.handed_out[item] <= version, f"{item!r} is handed out more often than it was added"
            self._work_for(self.work)
            if item in to_add_again:
                to_add_again.discard(item)
                self._add(item)
            self.processed[item] = max(self.processed[item], version)
            del self.in_hand[item]
            self.times_empty += not self.in_hand
            self.story.tell(f"is done with {item!r}")
            self.queue.done(item)
