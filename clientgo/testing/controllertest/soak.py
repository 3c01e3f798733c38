"""The soak profile: after a day of virtual time a controller has the threads, queues and memory of its beginning."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import clientgo
from clientgo.testing import synctest
from clientgo.testing.controllertest.history import History
from clientgo.testing.controllertest.runner import ControllerFailure
from clientgo.testing.controllertest.steps import Drop, Fail, Step
from clientgo.testing.controllertest.world import Violated, World
from clientgo.util import workqueue

if TYPE_CHECKING:
    from clientgo.testing.controllertest.machine import ControllerMachine

# pytest leaves this module's frames out of a traceback: the program replaces them.
__tracebackhide__ = True

# Memory counts where the controller itself, its queues and its informers allocate it. Elsewhere the server shares the
# lines, or a cache with a limit fills, such as those of times and of the correlator of events.
_LIBRARY = Path(clientgo.__file__).parent
_COUNTED = tuple(f"{_LIBRARY / each}{os.sep}" for each in ("controller_runtime", "tools/cache", "util/workqueue"))
_PACKAGES = Path(hypothesis.__file__).parent.parent
_NOT_COUNTED = (
    f"{_LIBRARY}{os.sep}",
    f"{Path(threading.__file__).parent}{os.sep}",
    "<",
    *(f"{_PACKAGES / each}{os.sep}" for each in ("_pytest", "hypothesis", "msgspec", "google", "urllib3", "yaml")),
)
# Bytes that a line may keep of each round, and in each half of the soak.
_BYTES_A_ROUND = 40
_BYTES_A_HALF = 1500
# Rounds before the first measurement, in which pools and caches fill.
_WARM_UP = 3
_SHORTEST = 9
# Rows of the history that a long run keeps.
_ROWS = 200
_ACTIONS = 4


@dataclass(frozen=True)
class Resources:
    """The resources that a controller holds at one moment."""

    seconds: float
    """Virtual time since the beginning of the run."""
    threads: Counter[str]
    """Number of living threads, by name."""
    watches: Counter[str]
    """Number of open watches, by resource."""
    queued: int
    """Number of items in the work queues, ready or delayed."""
    memory: dict[str, int] = field(repr=False)
    """Bytes, by the line of the controller, of the work queues or of the informers that allocated them."""


@dataclass(frozen=True)
class Soak:
    """The result of a soak without a violation."""

    rounds: int
    requests: int
    first: Resources
    last: Resources


def soak(
    machine_type: type[ControllerMachine],
    hours: float = 24.0,
    *,
    period: float = 1800.0,
    steps: Sequence[Step] | None = None,
    may_grow: Sequence[str] = (),
) -> Soak:
    """Run the controller for some hours of virtual time, and check that it keeps nothing of its work.

    In each round the user does the steps, watches break once, a request fails once, time passes, and the user deletes
    all objects. Resyncs and renewals of leases happen meanwhile. Each round ends in the same state, so the threads,
    the watches, the lengths of the work queues, and the memory of each source line must be those of the first rounds.
    Memory counts only if it grows in both halves of the time: a cache with a limit is full after the first.

    hours: at least nine periods. period: virtual seconds of a round. steps: the user's steps in each round; by default
    some of `desired()`, the same in each run. may_grow: parts of file names whose memory may grow.

    Blocks: a day of 48 rounds takes some seconds, with leader election a minute. Traces memory with tracemalloc.
    Raises ControllerFailure with the check "soak", or that of another violation, and ValueError for too few hours.
    """
    rounds = round(hours * 3600 / period)
    if rounds < _SHORTEST:
        raise ValueError(f"{hours:g} h are {rounds} rounds of {period:g} s; a soak needs at least {_SHORTEST}")
    actions = _drawn(machine_type) if steps is None else list(steps)
    world = World(machine_type, endless=True)
    world.history = _RecentHistory()
    measured: list[Resources] = []
    try:
        with _traced(), world, contextlib.suppress(Violated):
            measured = _course(world, actions, rounds, period)
            if problem := _growth(measured, rounds, may_grow):
                world.report("soak", problem)
    except synctest.BubbleError as err:
        world.report("hang", str(err))
    check, problem = world.problem
    if check:
        raise ControllerFailure(check, problem, _program(machine_type, hours, period, actions), world.history)
    return Soak(rounds, world.requests.total(), measured[0], measured[-1])


def _course(world: World, steps: Sequence[Step], rounds: int, period: float) -> list[Resources]:
    """Return the resources after the warm-up, in the middle, and at the end."""
    world.start()
    world.sleep(1.0)
    watched = sorted(world.watched)
    measured = []
    measure_after = (_WARM_UP, (_WARM_UP + rounds) // 2, rounds)
    for number in range(1, rounds + 1):
        begin = world.now()
        Fail(1, 500).run(world)
        for step in steps:
            step.run(world)
            world.sleep(5.0)
        if watched:
            Drop(watched[number % len(watched)], 1.0, compact=number % 2 == 0).run(world)
        world.heal()
        world.sleep(max(0.0, period - 2.5 * world.machine.quiet_for - (world.now() - begin)))
        world.user.delete_all()
        world.user.wanted.clear()
        world.user.actions.clear()
        world.settle()
        world.sleep(max(0.0, period - (world.now() - begin)))
        # As etcd does every five minutes. The server's own memory is not the subject.
        world.server.store.compact(world.server.store.version)
        world.idle_writes.clear()
        world.errors = 0
        if number in measure_after:
            measured.append(_measure(world))
    world.stop()
    return measured


def _measure(world: World) -> Resources:
    gc.collect()
    memory: dict[str, int] = {}
    for each in tracemalloc.take_snapshot().statistics("lineno"):
        frame = each.traceback[0]
        if frame.filename.startswith(_COUNTED) or not frame.filename.startswith(_NOT_COUNTED):
            memory[f"{frame.filename}:{frame.lineno}"] = each.size
    threads = Counter(each.name for each in threading.enumerate() if each.is_alive())
    watches = Counter(each for process in world.processes for each in process.life.wire.open_watches)
    return Resources(world.now(), threads, watches, sum(queue.len() for queue in _queues()), memory)


def _queues() -> Iterator[Any]:
    """Yield the work queues of the process."""
    for obj in gc.get_objects():
        if isinstance(obj, workqueue.Typed):
            yield obj


def _growth(measured: Sequence[Resources], rounds: int, may_grow: Sequence[str]) -> str:
    """Return a description of the resources that grow, or ""."""
    first, middle, last = measured
    after = f"after {last.seconds / 3600:.1f} h of virtual time"
    for name, before, now in (("threads", first.threads, last.threads), ("watches", first.watches, last.watches)):
        if before != now:
            return f"{after} the controller has other {name}: {_changes(before, now)}"
    if last.queued:
        return f"{after} its work queues have {last.queued} items that no worker takes"
    limit = max(_BYTES_A_HALF, _BYTES_A_ROUND * (rounds - _WARM_UP) // 2)
    grown = {}
    for place, size in last.memory.items():
        half, start = middle.memory.get(place, 0), first.memory.get(place, 0)
        if min(size - half, half - start) >= limit and not any(part in place for part in may_grow):
            grown[place] = size - start
    if not grown:
        return ""
    lines = [
        f"  {size / 1024:,.1f} KiB more of {place}"
        for place, size in sorted(grown.items(), key=lambda each: -each[1])[:8]
    ]
    return f"{after}, with the same objects, memory grows in each half of the time:\n" + "\n".join(lines)


def _changes(before: Counter[str], now: Counter[str]) -> str:
    names = [name for name in sorted({*before, *now}) if before[name] != now[name]]
    return ", ".join(f"{name} {now[name]} instead of {before[name]}" for name in names)


@contextlib.contextmanager
def _traced() -> Iterator[None]:
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        yield
    finally:
        if not was_tracing:
            tracemalloc.stop()


def _drawn(machine_type: type[ControllerMachine]) -> list[Step]:
    """Return some user actions of the machine, the same for each call."""
    drawn: list[list[Step]] = []
    wanted = machine_type().desired()

    @seed(0)
    @settings(max_examples=5, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(wanted, min_size=_ACTIONS, max_size=_ACTIONS))
    def draw(steps: list[Step]) -> None:
        drawn.append(steps)

    draw()
    return drawn[-1]


class _RecentHistory(History):
    """A history that forgets its old rows."""

    def add(self, seconds: float, actor: str, request: str, response: str = "") -> None:
        """Append a row, and drop the oldest one of a full history."""
        super().add(seconds, actor, request, response)
        if len(self.rows) > 2 * _ROWS:
            del self.rows[:_ROWS]


def _program(machine: type[ControllerMachine], hours: float, period: float, steps: Sequence[Step]) -> str:
    """Return a program that repeats the soak without Hypothesis."""
    name = machine.__qualname__
    return "\n".join(
        [
            "from clientgo.testing import controllertest as ct",
            f"from {machine.__module__} import {name}",
            "",
            f"ct.soak({name}, {hours:g}, period={period:g}, steps=[",
            *(f"    ct.{step!r}," for step in steps),
            "])",
        ]
    )
