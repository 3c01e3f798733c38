"""Runs in virtual time: hop by hop, forwards and backwards, with decisions on the way.

A run is always the same: it happens in a bubble of `clientgo.testing.synctest`, where one thread runs at a time and
time is virtual; random numbers come from a seed. So a point of it is named by the scenario, its settings, the decisions
made so far and the number of hops. `execute` goes there from the start, and keeps a picture of every hop on the way;
whoever wants to go back looks at an earlier one. A decision (this thread goes on; this breaks) is made at a hop, and
the run is executed again with it: up to that hop it is the same run.

One run at a time: a process has one bubble. `execute` waits for its turn.
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
"""How long a run may become."""

_FIRST_HOPS = 250
_SEED = 20_000_101
# Seconds of virtual time: longer than any of its waits that nothing ends.
_LET_GO = 120.0

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Decision:
    """What the visitor wants to happen right behind a hop."""

    at: int
    """The hop's number."""
    kind: str
    """thread: that one goes on. fault: that one happens."""
    name: str

    def check(self) -> None:
        """Raise ValueError for what cannot be."""
        if self.kind not in ("thread", "fault"):
            raise ValueError(f"a decision is about a thread or a fault, not {self.kind!r}")
        if self.kind == "fault" and self.name not in FAULTS:
            raise ValueError(f"there is no fault {self.name!r}")
        if not 0 <= self.at < MAX_HOPS:
            raise ValueError(f"a decision is made at a hop below {MAX_HOPS}, not {self.at}")

    @classmethod
    def of(cls, given: Any) -> Decision:
        """One from JSON. Raises ValueError."""
        match given:
            case {"at": int(at), "kind": str(kind), "name": str(name)} if not isinstance(at, bool):
                return cls(at, kind, name)
        raise ValueError("a decision has at, kind and name")

    def to_dict(self) -> Json:
        """As JSON."""
        return {"at": self.at, "kind": self.kind, "name": self.name}


@dataclass(frozen=True)
class Point:
    """One hop of a run."""

    hop: Hop
    changed: Mapping[str, Json]
    """The views of the stations that look different from before."""
    runnable: tuple[str, ...]
    """The threads that could go on, the one that made the hop first."""
    log: tuple[str, ...]
    """What was logged since the hop before."""

    def to_dict(self) -> Json:
        """As JSON."""
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
    """Whether the run came to its end; else there are more hops to be had."""
    origin: float = 0.0
    """Of a recording that is replayed: at which of its moments the run begins."""

    def state(self, number: int) -> dict[str, Json]:
        """What every station holds after hop `number`; nothing before the first."""
        state: dict[str, Json] = {}
        for point in self.points[: number + 1]:
            state.update(point.changed)
        return state

    def to_dict(self) -> Json:
        """As JSON."""
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
    """Play `scenario` in a bubble until its end, or until so many hops have happened. Blocks; takes a part of a second.

    Raises ValueError for a decision that cannot be, and what a bubble reports (a deadlock ...), which would be a bug.
    """
    settings = settings or scenario.settings
    settings.check()
    trace = Trace(scenario, settings, tuple(decisions))
    perform(trace, lambda: _Scripted(scenario, settings), [scenario.program.worker], limit)
    return trace


def perform(trace: Trace, make: Callable[[], Stage], taps: Sequence[Tap], limit: int) -> None:
    """Fill `trace`: let a stage, which is made in a bubble, play until its end or so many hops. As `execute`.

    taps: functions of the stage's own that are watched too.
    """
    for decision in trace.decisions:
        decision.check()
    log: list[str] = []
    order = _Order(trace.settings.last)
    with _ONE_AT_A_TIME, _same_random_numbers(), _no_log_elsewhere(log), _bubble(order) as bubble:
        order.bubble = bubble
        _Run(trace, bubble, log, taps, max(1, min(limit, MAX_HOPS))).run(make)


class Stage(Protocol):
    """What a run shows. Made, run and ended inside a bubble."""

    @property
    def painter(self) -> Painter:
        """Who paints it."""
        ...

    def play(self, enough: threading.Event) -> None:
        """Let it all happen, or until enough is seen. Blocks."""
        ...

    def is_shown(self, hop: Hop) -> bool:
        """Whether a hop is a part of the run."""
        ...

    def break_(self, fault: str) -> threading.Thread | None:
        """Let something break, in a thread that is given."""
        ...

    def stop(self) -> None:
        """End it all; all threads have ended then."""
        ...


class _Scripted:
    """A program's machine, with a script of what somebody does beside it. A Stage."""

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
        """Of the API server only the resources that the program is about; nothing of a replica that was killed."""
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
    """Who runs next: as ever, but threads whose names begin so only when no other can."""

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
    """What the bubble's threads log goes into `lines`; other threads log as ever."""

    def divert(record: logging.LogRecord) -> bool:
        if synctest.current() is None:
            return True
        lines.append(record.getMessage())
        return False

    logger = logging.getLogger("clientgo")
    # All but the first, which logs: one remembers across runs when it was called, and slows the next error down by it.
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
        # First: the API server makes objects of its own, which nobody wants to see, and to watch them takes long.
        self._stage = stage = make()
        with Seam((*TAPS, *self._taps), self._on_hop, lines=True):
            try:
                stage.play(self._enough)
                self._trace.is_complete = not self._is_over
            finally:
                self._is_over = True
                self._trace.objects = stage.painter.objects
                stage.stop()
                # Threads that nobody joins, such as the reflector's list, may still wait for a slow answer or a retry.
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
        # Without what belongs to this run alone, and numbered among those that are shown.
        self._trace.points.append(Point(replace(hop, number=number, object=None, owner=None), changed, names, log))
        if len(self._trace.points) >= self._limit:
            self._is_over = True
            self._enough.set()
            return
        for decision in self._trace.decisions:
            if decision.at == number:
                self._obey(decision, stage)

    def _obey(self, decision: Decision, stage: Stage) -> None:
        if decision.kind == "thread":
            thread = next((each for each in self._bubble.runnable[1:] if each.name == decision.name), None)
        else:
            thread = stage.break_(decision.name)
        if thread is not None:
            self._bubble.switch_to(thread)


class Session:
    """A visitor of one scenario: where he is, and which decisions brought him there. Not thread-safe.

    `position` is the hop he looks at; -1 before the first.
    """

    def __init__(self, scenario: Scenario, settings: Settings | None = None) -> None:
        self.scenario = scenario
        self.settings = settings or scenario.settings
        self.decisions: tuple[Decision, ...] = ()
        self.position = -1
        self._trace = execute(scenario, self.settings)

    def state(self) -> dict[str, Json]:
        """What every station holds here."""
        return self._trace.state(self.position)

    @property
    def point(self) -> Point | None:
        """The hop here; None before the first."""
        return self._trace.points[self.position] if self.position >= 0 else None

    def to(self, number: int) -> bool:
        """Go to a hop; False, and to the last one, when the run has not so many."""
        self._reach(number)
        self.position = max(-1, min(number, len(self._trace.points) - 1))
        return self.position == number

    def step(self) -> bool:
        """The next hop; False at the end."""
        return self.to(self.position + 1)

    def back(self) -> bool:
        """The hop before; False at the beginning."""
        return self.position >= 0 and self.to(self.position - 1)

    def run_to(self, *, station: str = "", kind: str = "", key: str = "") -> bool:
        """Go on to the next hop that is so; "" is any. False, and nowhere, when there is none."""
        number = self.position + 1
        while self._reach(number):
            hop = self._trace.points[number].hop
            if station in ("", hop.station) and kind in ("", hop.kind) and key in ("", hop.key):
                return self.to(number)
            number += 1
        return False

    def choose(self, thread: str) -> None:
        """Let another thread go on from here. What happened later on the way before is forgotten."""
        self._decide(Decision(max(self.position, 0), "thread", thread))

    def break_(self, fault: str) -> None:
        """Let something break here. What happened later on the way before is forgotten."""
        self._decide(Decision(max(self.position, 0), "fault", fault))

    def _decide(self, decision: Decision) -> None:
        decision.check()
        self.position = decision.at
        self.decisions = (*(each for each in self.decisions if each.at <= decision.at), decision)
        self._trace = execute(self.scenario, self.settings, self.decisions, max(_FIRST_HOPS, 2 * decision.at))

    def _reach(self, number: int) -> bool:
        """Execute as far as needed; whether there is such a hop."""
        while number >= len(self._trace.points) and not self._trace.is_complete and number < MAX_HOPS:
            limit = max(2 * len(self._trace.points), number + 1)
            self._trace = execute(self.scenario, self.settings, self.decisions, limit)
        return number < len(self._trace.points)
