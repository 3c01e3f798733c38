"""Runs in virtual time: hop by hop, forwards and backwards, with decisions on the way.

Equal input gives an equal run: it happens in a bubble of `clientgo.testing.synctest`, where one thread runs at a time
and time is virtual; random numbers come from a seed. So the scenario, its settings, the decisions made so far and the
number of hops identify a point of a run. `execute` runs from the start to such a point and keeps a picture of every
hop. Going back means reading an earlier picture. A decision (this thread continues; this breaks) is made at a hop, and
`execute` runs again with it: up to that hop it is the same run.

A process has one bubble, so one run happens at a time. `execute` waits for its turn.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.tour.hop import Hop
from clientgo.tour.machine import Machine
from clientgo.tour.picture import Json, Painter
from clientgo.tour.scenario import Scenario
from clientgo.tour.script import FAULTS, play
from clientgo.tour.seam import Seam, Tap
from clientgo.tour.settings import Settings
from clientgo.tour.taps import TAPS
from clientgo.utils.clock.clock import REAL_CLOCK

__all__ = ["MAX_HOPS", "Decision", "Point", "Session", "Stage", "Trace", "execute", "perform"]

MAX_HOPS = 3000
"""Hops of the longest run."""

_FIRST_HOPS = 250
_SEED = 20_000_101
# Seconds of virtual time, longer than any wait of a run that only time ends.
_LET_GO = 120.0

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Decision:
    """A visitor's choice of what happens directly after a hop."""

    at: int
    """The hop's number."""
    kind: str
    """thread: that thread continues. fault: that fault happens."""
    name: str

    def check(self) -> None:
        """Raise ValueError for an impossible decision."""
        if self.kind not in ("thread", "fault"):
            raise ValueError(f"a decision is about a thread or a fault, not {self.kind!r}")
        if self.kind == "fault" and self.name not in FAULTS:
            raise ValueError(f"there is no fault {self.name!r}")
        if not 0 <= self.at < MAX_HOPS:
            raise ValueError(f"a decision is made at a hop below {MAX_HOPS}, not {self.at}")

    @classmethod
    def of(cls, given: Any) -> Decision:
        """Return the decision of a JSON object. Raises ValueError."""
        match given:
            case {"at": int(at), "kind": str(kind), "name": str(name)} if not isinstance(at, bool):
                return cls(at, kind, name)
        raise ValueError("a decision has at, kind and name")

    def to_dict(self) -> Json:
        """Return the decision as JSON."""
        return {"at": self.at, "kind": self.kind, "name": self.name}


@dataclass(frozen=True)
class Point:
    """One hop of a run."""

    hop: Hop
    changed: Mapping[str, Json]
    """The views of the stations that this hop changed."""
    runnable: tuple[str, ...]
    """Names of the threads that could continue; the first is the thread that made the hop."""
    log: tuple[str, ...]
    """Log lines since the hop before."""

    def to_dict(self) -> Json:
        """Return the point as JSON."""
        return {
            "hop": self.hop.to_dict(),
            "changed": dict(self.changed),
            "runnable": list(self.runnable),
            "log": list(self.log),
        }


@dataclass
class Trace:
    """A run, up to a number of hops."""

    scenario: Scenario
    settings: Settings
    decisions: tuple[Decision, ...]
    points: list[Point] = field(default_factory=list)
    objects: Mapping[str, Json] = field(default_factory=dict)
    is_complete: bool = False
    """True when the run reached its end; a longer limit gives more hops otherwise."""
    origin: float = 0.0
    """The moment of a replayed recording at which the run begins, in seconds."""

    def state(self, number: int) -> dict[str, Json]:
        """Return every station's view after hop `number`; {} before the first hop."""
        state: dict[str, Json] = {}
        for point in self.points[: number + 1]:
            state.update(point.changed)
        return state

    def to_dict(self) -> Json:
        """Return the trace as JSON."""
        return {
            "scenario": self.scenario.name,
            "settings": self.settings.to_dict(),
            "decisions": [decision.to_dict() for decision in self.decisions],
            "points": [point.to_dict() for point in self.points],
            "objects": dict(self.objects),
            "complete": self.is_complete,
            "origin": self.origin,
        }


def execute(
    scenario: Scenario, settings: Settings | None = None, decisions: Sequence[Decision] = (), limit: int = _FIRST_HOPS
) -> Trace:
    """Run `scenario` in a bubble until its end, or until `limit` hops have happened. Blocks for a part of a second.

    Raises ValueError for an impossible decision, and the bubble's errors such as a deadlock, which would be bugs.
    """
    settings = settings or scenario.settings
    settings.check()
    trace = Trace(scenario, settings, tuple(decisions))
    perform(trace, lambda: _Scripted(scenario, settings), [scenario.program.worker], limit)
    return trace


def perform(trace: Trace, make: Callable[[], Stage], taps: Sequence[Tap], limit: int) -> None:
    """Fill `trace`: make a stage in a bubble and run it until its end or `limit` hops. Blocks and raises as `execute`.

    taps: functions of the stage itself at which hops happen.
    """
    for decision in trace.decisions:
        decision.check()
    log: list[str] = []
    order = _Order(trace.settings.last)
    with _ONE_AT_A_TIME, _same_random_numbers(), _no_log_elsewhere(log), _bubble(order) as bubble:
        order.bubble = bubble
        _Run(trace, bubble, log, taps, max(1, min(limit, MAX_HOPS))).run(make)


class Stage(Protocol):
    """The subject of a run. It is created, runs and ends inside a bubble."""

    @property
    def painter(self) -> Painter:
        """The painter of its pictures."""
        ...

    def play(self, enough: threading.Event) -> None:
        """Run until the end, or until `enough` is set. Blocks."""
        ...

    def is_shown(self, hop: Hop) -> bool:
        """Report whether a hop is a part of the run."""
        ...

    def break_(self, fault: str) -> threading.Thread | None:
        """Start a fault and return its thread; None if there is none."""
        ...

    def stop(self) -> None:
        """Stop everything and join every thread. Blocks."""
        ...


class _Scripted:
    """A program's machine and a script of a user's commands. A Stage."""

    def __init__(self, scenario: Scenario, settings: Settings) -> None:
        self._scenario = scenario
        self._machine = machine = Machine(settings, scenario.program)
        self.painter = Painter(machine.scene)

    def play(self, enough: threading.Event) -> None:
        machine, scenario = self._machine, self._scenario
        machine.spawn("kubectl", play, machine, scenario.before).join()
        machine.start()
        machine.spawn("kubectl", play, machine, scenario.steps)
        last = max((step.at for step in scenario.steps), default=0.0)
        enough.wait(last + scenario.after)

    def is_shown(self, hop: Hop) -> bool:
        """Show the API server's hops of the program's resources alone, and no hop of a killed replica."""
        machine = self._machine
        if machine.replica.is_killed and hop.station not in ("apiserver", "election"):
            return False
        resources = machine.program.resources
        return hop.more.get("resource", resources[0]) in resources

    def break_(self, fault: str) -> threading.Thread | None:
        return self._machine.spawn(f"break: {fault}", FAULTS[fault].do, self._machine)

    def stop(self) -> None:
        self._machine.stop()


def _bubble(order: _Order) -> synctest.Bubble:
    return synctest.bubble(order.choose, two_clocks=True)


class _Order:
    """The choice of the thread that runs next: threads whose names begin with `last` run only when no other can."""

    def __init__(self, last: str) -> None:
        self._last = last
        self.bubble: synctest.Bubble | None = None

    def choose(self, candidates: int, forced: bool) -> int:
        if not self._last or self.bubble is None:
            return 0
        threads = self.bubble.runnable[1:] if forced else self.bubble.runnable
        others = (number for number, thread in enumerate(threads) if not thread.name.startswith(self._last))
        return next(others, 0)


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    state = random.getstate()
    random.seed(_SEED)
    try:
        yield
    finally:
        random.setstate(state)


@contextmanager
def _no_log_elsewhere(lines: list[str]) -> Iterator[None]:
    """Divert the log of the bubble's threads into `lines`; the log of other threads is unchanged."""

    def divert(record: logging.LogRecord) -> bool:
        if synctest.current() is None:
            return True
        lines.append(record.getMessage())
        return False

    logger = logging.getLogger("clientgo")
    # Keep the first, which logs. Another remembers its last call across runs and delays the next error by it.
    handlers = [*utilruntime.ERROR_HANDLERS]
    utilruntime.ERROR_HANDLERS[1:] = []
    logger.addFilter(divert)
    try:
        yield
    finally:
        logger.removeFilter(divert)
        utilruntime.ERROR_HANDLERS[:] = handlers


class _Run:
    """One run inside its bubble. Its state belongs to the thread that runs."""

    def __init__(self, trace: Trace, bubble: synctest.Bubble, log: list[str], taps: Sequence[Tap], limit: int) -> None:
        self._taps = taps
        self._trace = trace
        self._bubble = bubble
        self._log = log
        self._limit = limit
        self._is_over = False
        self._enough = threading.Event()
        self._shown: dict[str, Json] = {}

    def run(self, make: Callable[[], Stage]) -> None:
        # Before the seam: the API server makes objects of its own, which are no part of a run and take long to watch.
        self._stage = stage = make()
        with Seam((*TAPS, *self._taps), self._on_hop, lines=True):
            try:
                stage.play(self._enough)
                self._trace.is_complete = not self._is_over
            finally:
                self._is_over = True
                self._trace.objects = stage.painter.objects
                stage.stop()
                # Threads without a join, such as the reflector's list, may still wait for a slow answer or a retry.
                REAL_CLOCK.sleep(_LET_GO)

    def _on_hop(self, hop: Hop) -> None:
        stage = self._stage
        if self._is_over or not stage.is_shown(hop):
            return
        number = len(self._trace.points)
        view = stage.painter.paint(hop)
        changed = {station: each for station, each in view.items() if self._shown.get(station) != each}
        self._shown = view
        names = tuple(dict.fromkeys(thread.name for thread in self._bubble.runnable))
        log, self._log[:] = tuple(self._log), []
        # Without references to this run's objects, and numbered among the hops that are shown.
        self._trace.points.append(Point(replace(hop, number=number, object=None, owner=None), changed, names, log))
        if len(self._trace.points) >= self._limit:
            self._is_over = True
            self._enough.set()
            return
        for decision in self._trace.decisions:
            if decision.at == number:
                self._apply_decision(decision, stage)

    def _apply_decision(self, decision: Decision, stage: Stage) -> None:
        if decision.kind == "thread":
            thread = next((each for each in self._bubble.runnable[1:] if each.name == decision.name), None)
        else:
            thread = stage.break_(decision.name)
        if thread is not None:
            self._bubble.switch_to(thread)


class Session:
    """A visitor's position in one scenario and the decisions that led to it. Not thread-safe.

    `position` is the number of the hop; -1 before the first.
    """

    def __init__(self, scenario: Scenario, settings: Settings | None = None) -> None:
        self.scenario = scenario
        self.settings = settings or scenario.settings
        self.decisions: tuple[Decision, ...] = ()
        self.position = -1
        self._trace = execute(scenario, self.settings)

    def state(self) -> dict[str, Json]:
        """Return every station's view at the position."""
        return self._trace.state(self.position)

    @property
    def point(self) -> Point | None:
        """The hop at the position; None before the first."""
        return self._trace.points[self.position] if self.position >= 0 else None

    def to(self, number: int) -> bool:
        """Go to a hop. Go to the last hop and return False when the run is shorter."""
        self._reach(number)
        self.position = max(-1, min(number, len(self._trace.points) - 1))
        return self.position == number

    def step(self) -> bool:
        """Go to the next hop; return False at the end."""
        return self.to(self.position + 1)

    def back(self) -> bool:
        """Go to the hop before; return False at the start."""
        return self.position >= 0 and self.to(self.position - 1)

    def run_to(self, *, station: str = "", kind: str = "", key: str = "") -> bool:
        """Go to the next hop with these properties; "" matches any. Return False and stay when there is none."""
        number = self.position + 1
        while self._reach(number):
            hop = self._trace.points[number].hop
            if station in ("", hop.station) and kind in ("", hop.kind) and key in ("", hop.key):
                return self.to(number)
            number += 1
        return False

    def choose(self, thread: str) -> None:
        """Let another thread continue from here. Drops the decisions made at later hops."""
        self._decide(Decision(max(self.position, 0), "thread", thread))

    def break_(self, fault: str) -> None:
        """Start a fault here. Drops the decisions made at later hops."""
        self._decide(Decision(max(self.position, 0), "fault", fault))

    def _decide(self, decision: Decision) -> None:
        decision.check()
        self.position = decision.at
        self.decisions = (*(each for each in self.decisions if each.at <= decision.at), decision)
        self._trace = execute(self.scenario, self.settings, self.decisions, max(_FIRST_HOPS, 2 * decision.at))

    def _reach(self, number: int) -> bool:
        """Execute as far as needed and report whether the run has such a hop."""
        while number >= len(self._trace.points) and not self._trace.is_complete and number < MAX_HOPS:
            limit = max(2 * len(self._trace.points), number + 1)
            self._trace = execute(self.scenario, self.settings, self.decisions, limit)
        return number < len(self._trace.points)
