"""A session's place, answers and decisions on runs of a known length, and the choice of the thread that runs next."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import tour
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.tour import stepping
from clientgo.tour.hop import Code, Hop
from clientgo.tour.stepping import Decision, Point, Session, Trace

CODE = Code("file.py", "f", "file.go", "Function", 1, (), "file.py:1")


def point(number: int, key: str = "a", kind: str = "added", changed: Any = None) -> Point:
    hop = Hop(number=number, station="queue", kind=kind, key=key, time=0.5, thread="main", code=CODE)
    return Point(hop, changed or {}, ("t", "u"), ("a line",))


class Runs:
    """Executions of a run of `length` hops with the keys a, b, c in turn."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.asked: list[Any] = []

    def __call__(self, scenario: Any, settings: Any, decisions: Sequence[Decision] = (), limit: int = 250) -> Trace:
        self.asked.append((settings, [(each.at, each.kind, each.name) for each in decisions], limit))
        points = [point(number, "abc"[number % 3], changed={"n": number}) for number in range(min(limit, self.length))]
        return Trace(scenario, settings, tuple(decisions), points, is_complete=limit >= self.length)


def session_of(monkeypatch: pytest.MonkeyPatch, length: int, settings: Any = None) -> tuple[Session, Runs]:
    runs = Runs(length)
    monkeypatch.setattr(stepping, "execute", runs)
    scenario: Any = SimpleNamespace(settings="the scenario's")
    return Session(scenario, settings), runs


def test_each_step_reports_whether_there_was_one(monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = session_of(monkeypatch, 3)
    assert session.position == -1 and session.point is None and session.state() == {} and session.decisions == ()
    assert [(session.step(), session.position) for _ in range(4)] == [(True, 0), (True, 1), (True, 2), (False, 2)]
    assert session.point is not None and session.point.hop.number == 2 and session.state() == {"n": 2}
    assert [(session.back(), session.position) for _ in range(4)] == [(True, 1), (True, 0), (True, -1), (False, -1)]
    assert [(session.to(at), session.position) for at in (2, 3, -1, -2, 0)] == [
        (True, 2),
        (False, 2),
        (True, -1),
        (False, -1),
        (True, 0),
    ]
    assert session.point is not None and session.point.hop.number == 0


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, 1),
        ({"key": "a"}, 3),
        ({"key": "b"}, 1),
        ({"station": "queue", "kind": "added", "key": "c"}, 2),
        ({"station": "fifo"}, None),
        ({"kind": "done"}, None),
        ({"key": "d"}, None),
    ],
)
def test_a_search_goes_to_the_next_such_hop_or_stays(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, str], found: int | None
) -> None:
    session, _ = session_of(monkeypatch, 6)
    session.to(0)
    assert session.run_to(**asked) is (found is not None)
    assert session.position == (0 if found is None else found)


def test_a_run_is_executed_as_far_as_the_place_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    session, runs = session_of(monkeypatch, 5000, "other settings")
    assert session.to(249) and [each[2] for each in runs.asked] == [250]
    assert session.to(250) and [each[2] for each in runs.asked] == [250, 500]
    assert session.to(1700) and [each[2] for each in runs.asked] == [250, 500, 1701]
    assert session.to(2999) and [each[2] for each in runs.asked] == [250, 500, 1701, 3402]
    count = len(runs.asked)
    session, runs = session_of(monkeypatch, 5000)
    assert not session.to(3000) and len(runs.asked) == 1 and session.position == 249
    assert count == 4 and runs.asked[0] == ("the scenario's", [], 250)
    session, runs = session_of(monkeypatch, 250)
    assert not session.to(250) and session.position == 249 and len(runs.asked) == 1


def test_a_decision_keeps_earlier_ones_and_runs_beyond_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    session, runs = session_of(monkeypatch, 900)
    session.choose("t")
    assert session.position == 0 and runs.asked[-1][1:] == ([(0, "thread", "t")], 250)
    session.to(125)
    session.break_("cut")
    assert runs.asked[-1][1:] == ([(0, "thread", "t"), (125, "fault", "cut")], 250)
    session.to(126)
    session.choose("u")
    assert runs.asked[-1][2] == 252
    session.to(125)
    session.choose("v")
    assert runs.asked[-1][1] == [(0, "thread", "t"), (125, "fault", "cut"), (125, "thread", "v")]
    session.to(0)
    before = session.decisions
    with pytest.raises(ValueError, match="no fault 'fire'"):
        session.break_("fire")
    assert session.decisions == before and len(before) == 3


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        (("thread", "any", 0), ""),
        (("fault", "cut", 2999), ""),
        (("fault", "cut", 3000), "below 3000, not 3000"),
        (("thread", "any", -1), "below 3000, not -1"),
        (("fault", "any", 0), "no fault 'any'"),
        (("other", "cut", 0), "not 'other'"),
    ],
)
def test_a_decision_is_about_a_thread_or_a_fault_at_a_hop(decision: tuple[str, str, int], problem: str) -> None:
    kind, name, at = decision
    made = Decision(at, kind, name)
    assert Decision.of(made.to_dict()) == made and made.to_dict() == {"at": at, "kind": kind, "name": name}
    if problem:
        with pytest.raises(ValueError, match=problem):
            made.check()
    else:
        made.check()
    others: list[Any] = [{}, []]
    for wrong in (
        *others,
        {**made.to_dict(), "at": True},
        {**made.to_dict(), "at": "1"},
        {**made.to_dict(), "name": 1},
    ):
        with pytest.raises(ValueError, match="a decision has at, kind and name"):
            Decision.of(wrong)


def test_a_trace_has_the_last_view_of_each_station() -> None:
    scenario: Any = SimpleNamespace(name="one")
    points: Any = [point(0, changed={"x": 1, "y": 1}), point(1, changed={"x": 2}), point(2, changed={"y": 3})]
    decision = Decision(1, "fault", "cut")
    trace = Trace(scenario, tour.Settings(), (decision,), points, {"a@1": {"kind": "A"}}, True)
    states: Any = [trace.state(number) for number in (-1, 0, 1, 2, 9)]
    assert states == [
        {},
        {"x": 1, "y": 1},
        {"x": 2, "y": 1},
        {"x": 2, "y": 3},
        {"x": 2, "y": 3},
    ]
    assert trace.to_dict() == {
        "scenario": "one",
        "settings": tour.Settings().to_dict(),
        "decisions": [{"at": 1, "kind": "fault", "name": "cut"}],
        "points": [each.to_dict() for each in points],
        "objects": {"a@1": {"kind": "A"}},
        "complete": True,
        "origin": 0.0,
    }
    assert points[1].to_dict() == {
        "hop": points[1].hop.to_dict(),
        "changed": {"x": 2},
        "runnable": ["t", "u"],
        "log": ["a line"],
    }


# ---- the thread that runs next


@pytest.mark.parametrize(
    ("last", "names", "forced", "chosen"),
    [
        ("", "ab", False, 0),
        ("w", "ab", False, 0),
        ("w", "wab", False, 1),
        ("w", "wwa", False, 2),
        ("w", "www", False, 0),
        # The first thread has just run: a forced switch is to one of the others.
        ("w", "awa", True, 1),
        ("w", "wab", True, 0),
        ("w", "aww", True, 0),
        ("w", "awwa", True, 2),
    ],
)
def test_threads_that_go_last_run_when_no_other_can(last: str, names: str, forced: bool, chosen: int) -> None:
    order = stepping._Order(last)
    assert order.choose(len(names), forced) == 0, "without a bubble"
    bubble: Any = SimpleNamespace(runnable=[SimpleNamespace(name=f"{name}orker") for name in names])
    order.bubble = bubble
    assert order.choose(len(names) - forced, forced) == chosen


# ---- a run


class Stage:
    """A stage on which `play` reports hops, which changes one view with each of them."""

    def __init__(self, hops: int, fails: bool = False) -> None:
        self.painter: Any = SimpleNamespace(paint=self.paint, objects={"a@1": {}})
        self.hops, self.fails = hops, fails
        self.events: list[Any] = []
        self.on_hop: Any = None

    def paint(self, hop: Hop) -> Any:
        return {"quiet": {"n": 0}, "loud": {"n": hop.number // 2}}

    def play(self, enough: threading.Event) -> None:
        for number in range(self.hops):
            logging.getLogger("clientgo").warning("line %d", number)
            self.on_hop(point(number, "hidden" if number == 1 else "a").hop)
            self.events.append(enough.is_set())
        if self.fails:
            raise RuntimeError("the stage failed")

    def is_shown(self, hop: Hop) -> bool:
        return hop.key != "hidden"

    def break_(self, fault: str) -> None:
        self.events.append(fault)

    def stop(self) -> None:
        self.events.append("stop")
        self.on_hop(point(99).hop)


def perform(monkeypatch: pytest.MonkeyPatch, stage: Stage, limit: int, *decisions: Decision) -> Trace:
    def seam(taps: Any, listener: Any, *, lines: bool) -> Any:
        stage.on_hop = listener
        assert taps[-1:] == ("a tap of the stage",) and len(taps) == 1 + len(tour.TAPS) and lines
        return tour.Seam((), listener)

    monkeypatch.setattr(stepping, "Seam", seam)
    scenario: Any = None
    trace = Trace(scenario, tour.Settings(), tuple(decisions))
    taps: Any = ["a tap of the stage"]
    stepping.perform(trace, lambda: stage, taps, limit)
    return trace


@pytest.mark.parametrize(
    ("limit", "numbers", "is_complete"), [(9, 4, True), (5, 4, True), (4, 4, False), (2, 2, False), (0, 1, False)]
)
def test_a_run_has_the_shown_hops_up_to_its_limit_and_what_each_changed(
    monkeypatch: pytest.MonkeyPatch, limit: int, numbers: int, is_complete: bool
) -> None:
    stage = Stage(5)
    trace = perform(monkeypatch, stage, limit)
    assert trace.is_complete is is_complete and trace.objects == {"a@1": {}}
    assert [each.hop.number for each in trace.points] == list(range(numbers))
    changed = [{"quiet": {"n": 0}, "loud": {"n": 0}}, {"loud": {"n": 1}}, {}, {"loud": {"n": 2}}]
    assert [each.changed for each in trace.points] == changed[:numbers]
    log = [("line 0",), ("line 1", "line 2"), ("line 3",), ("line 4",)]
    assert [each.log for each in trace.points] == log[:numbers]
    # The second hop is not shown.
    assert stage.events == [*(count >= numbers and not is_complete for count in (1, 1, 2, 3, 4)), "stop"]


def test_a_decision_happens_directly_behind_its_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(3)
    none = Decision(1, "thread", "no such thread")
    perform(monkeypatch, stage, 9, Decision(1, "fault", "cut"), none, Decision(5, "fault", "kill"))
    assert stage.events == [False, False, "cut", False, "stop"]
    with pytest.raises(ValueError, match="no fault"):
        perform(monkeypatch, Stage(1), 9, Decision(1, "fault", "fire"))


def test_a_stage_is_stopped_and_everything_is_as_before_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    state, handlers = random.getstate(), list(utilruntime.ERROR_HANDLERS)
    logger = logging.getLogger("clientgo")
    filters = list(logger.filters)
    stage = Stage(2, fails=True)
    with pytest.raises(RuntimeError, match="the stage failed"):
        perform(monkeypatch, stage, 9)
    assert stage.events[-1] == "stop" and synctest.current() is None
    assert random.getstate() == state and handlers == utilruntime.ERROR_HANDLERS and logger.filters == filters
    assert not stepping._ONE_AT_A_TIME.locked()
