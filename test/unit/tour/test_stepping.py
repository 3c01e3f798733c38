"""Runs in virtual time, forwards and backwards."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from processes import ROOT
from programs import ImportedProgram

from clientgo import klog, tour
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import synctest
from clientgo.tour import stepping
from clientgo.utils.clock import REAL_CLOCK

with ImportedProgram("informer-tour") as program:
    SAMPLE: tour.Scenario = program.module("sample").SCENARIO
SCENARIOS = {**tour.SCENARIOS, SAMPLE.name: SAMPLE}
LESSONS = [*tour.SCENARIOS]
NAMES = [*SCENARIOS]


@cache
def run(name: str) -> tour.Trace:
    return tour.execute(SCENARIOS[name], limit=tour.MAX_HOPS)


def digest(trace: tour.Trace) -> str:
    return hashlib.sha256(json.dumps(trace.to_dict(), sort_keys=True).encode()).hexdigest()


def kinds(trace: tour.Trace) -> list[str]:
    return [f"{point.hop.station}.{point.hop.kind}" for point in trace.points]


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_always_the_same(name):
    assert run(name).is_complete
    assert tour.execute(SCENARIOS[name], limit=tour.MAX_HOPS).to_dict() == run(name).to_dict()


@pytest.mark.takes_turns(6)
def test_a_run_is_the_same_in_another_process():
    """The other process has another order of sets."""
    program = (
        "import hashlib, json, sys; from clientgo import tour\n"
        "sys.path.append('cmd/informer-tour'); from lessons import SCENARIOS\n"
        "for name in sorted(SCENARIOS):\n"
        "    trace = tour.execute(SCENARIOS[name], limit=tour.MAX_HOPS).to_dict()\n"
        "    print(name, hashlib.sha256(json.dumps(trace, sort_keys=True).encode()).hexdigest())\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert dict(line.split() for line in out.stdout.splitlines()) == {name: digest(run(name)) for name in NAMES}


def test_a_shorter_run_is_the_beginning_of_a_longer_one():
    short = tour.execute(tour.SCENARIOS["queue"], limit=40)
    assert not short.is_complete and len(short.points) == 40
    assert [point.to_dict() for point in short.points] == [point.to_dict() for point in run("queue").points[:40]]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_hop_is_a_documented_one_and_the_tour_had_no_trouble(name):
    for point in run(name).points:
        assert point.hop.kind in tour.KINDS[point.hop.station]
        assert not [line for line in point.log if "tour could not" in line or "listener raised" in line]


def test_together_the_scenarios_and_faults_show_every_kind_of_hop():
    more = [
        tour.execute(tour.SCENARIOS["deltas"], tour.Settings(resync=3.0, fifo="DeltaFIFO", handlers=2)),
        tour.execute(tour.SCENARIOS["list-and-watch"], tour.Settings(watch_list=True, handlers=2),
                     [tour.Decision(9, "fault", "handler-raises"), tour.Decision(40, "fault", "restart")]),
        tour.execute(tour.SCENARIOS["events"], tour.Settings(events=True, replicas=2),
                     [tour.Decision(75, "fault", "restart")], tour.MAX_HOPS),
        tour.execute(tour.SCENARIOS["events"], None,
                     [tour.Decision(kinds(run("events")).index("events.new"), "fault", "writes-fail")]),
    ]  # fmt: skip
    seen = {kind for trace in [*map(run, NAMES), *more] for kind in kinds(trace)}
    everything = {f"{station}.{kind}" for station, of in tour.KINDS.items() for kind in of}
    # Needs a delete that is reported twice, and a failing list, and an add_after while another waits.
    assert everything - seen <= {"fifo.merged", "reflector.failed", "queue.sooner"}


@pytest.mark.parametrize("name", LESSONS)
def test_at_the_end_the_cache_is_what_the_server_has_and_the_work_is_done(name):
    trace = run(name)
    state = trace.state(len(trace.points) - 1)
    assert state["indexer"]["objects"] == state["apiserver"]["objects"]
    assert state["queue"]["dirty"] == state["queue"]["processing"] == state["queue"]["waiting"] == []
    for shown in state["indexer"]["objects"]:
        data = trace.objects[shown["ref"]]["data"]
        assert data["shout"] == data["text"].upper()


FAULTS = sorted(tour.FAULTS)


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("fifo", ["RealFIFO", "DeltaFIFO"])
def test_whatever_breaks_it_recovers_when_it_is_mended(fault, fifo):
    scenario = tour.SCENARIOS["list-and-watch"]
    decisions = [tour.Decision(50, "fault", fault), tour.Decision(60, "fault", "mend")]
    # A half-open connection is given up when its watch should have ended.
    patient = replace(scenario, after=1000.0 if fault == "half-open" else 200.0)
    trace = tour.execute(patient, tour.Settings(handlers=2, fifo=fifo), decisions, limit=1500)
    assert trace.is_complete
    assert trace.points[:51] == tour.execute(patient, tour.Settings(handlers=2, fifo=fifo), limit=51).points
    state = trace.state(len(trace.points) - 1)
    assert state["indexer"]["objects"] == state["apiserver"]["objects"]
    assert state["queue"]["dirty"] == state["queue"]["waiting"] == []


def test_who_goes_last_decides_how_many_deltas_a_key_keeps():
    together, apart = tour.Settings(fifo="DeltaFIFO"), tour.Settings(fifo="DeltaFIFO", last="reflector")
    scenario = tour.SCENARIOS["deltas"]
    assert kinds(tour.execute(scenario, together)).count("fifo.appended") == 3
    assert kinds(tour.execute(scenario, apart)).count("fifo.appended") == 0


@pytest.mark.parametrize("replace", ["Replaced", "Sync"])
def test_a_delta_fifo_calls_what_a_list_brings_as_the_switch_says(replace):
    trace = tour.execute(tour.SCENARIOS["queue"], tour.Settings(fifo="DeltaFIFO", replace=replace), limit=10)
    assert [point.hop.more["type"] for point in trace.points if point.hop.kind == "queued"] == [replace] * 2


@pytest.mark.parametrize(
    ("limiter", "delays"), [("exponential", [1, 2, 4]), ("fast-slow", [1, 1, 1]), ("default", [1, 2, 4])]
)
def test_the_limiter_is_the_one_of_the_switch(limiter, delays):
    trace = tour.execute(tour.SCENARIOS["backoff"], tour.Settings(limiter=limiter))
    assert [point.hop.more["delay"] for point in trace.points if point.hop.kind == "failure"] == delays


def stations(trace: tour.Trace, number: int) -> dict[str, object]:
    return trace.state(number if number >= 0 else len(trace.points) + number)


def test_a_controller_that_is_killed_is_heard_no_more_and_another_takes_over_from_nothing():
    decisions = [tour.Decision(30, "fault", "kill")]
    trace = tour.execute(tour.SCENARIOS["list-and-watch"], tour.Settings(), decisions, limit=tour.MAX_HOPS)
    assert trace.is_complete
    began = trace.points[30].hop.time
    silent = [p.hop for p in trace.points[31:] if p.hop.time < began + 9.9 and p.hop.station != "apiserver"]
    assert silent == []
    assert stations(trace, 31)["indexer"] == stations(trace, 31)["queue"] == {}
    again = next(n for n, p in enumerate(trace.points) if p.hop.time > began + 9.9 and p.hop.kind == "list")
    assert stations(trace, again)["indexer"]["objects"] == [] and stations(trace, again)["reflector"]["lists"] == 1
    assert stations(trace, -1)["indexer"]["objects"] == stations(trace, -1)["apiserver"]["objects"]


@pytest.mark.parametrize(("replicas", "name"), [(1, "backoff"), (2, "list-and-watch")])
def test_a_clock_that_is_put_ahead_changes_no_delay_and_no_leader(replicas, name):
    settings = tour.Settings(replicas=replicas)
    decisions = [tour.Decision(25, "fault", "clock-jump")]
    trace = tour.execute(tour.SCENARIOS[name], settings, decisions, limit=tour.MAX_HOPS)
    plain = tour.execute(tour.SCENARIOS[name], settings, limit=tour.MAX_HOPS)
    assert trace.is_complete
    for station in ("queue", "workers"):
        # Sorted: what happens at one moment may happen in another order, since a thread more was there.
        hops = [
            sorted((p.hop.time, p.hop.key, p.hop.kind) for p in t.points if p.hop.station == station)
            for t in (trace, plain)
        ]
        assert hops[0] == hops[1]
    assert [p.hop.key for p in trace.points if p.hop.kind == "leading"] == ["one"] * (replicas - 1)
    made = {each["metadata"]["creationTimestamp"] for each in trace.objects.values()}
    assert made == {"2000-01-01T00:00:00Z", "2000-01-01T01:00:02Z"}


def test_with_two_replicas_one_leads_at_a_time():
    trace = tour.execute(tour.SCENARIOS["election"], limit=tour.MAX_HOPS)
    terms = [(p.hop.key, p.hop.kind) for p in trace.points if p.hop.kind in ("leading", "stopped")]
    assert terms == [("one", "leading"), ("one", "stopped"), ("two", "leading")]
    for number, point in enumerate(trace.points):
        if point.hop.station == "workers":
            assert any(each["leads"] for each in stations(trace, number)["election"]["candidates"].values())


def test_a_worker_that_raises_tries_again_with_backoff():
    trace = tour.execute(tour.SCENARIOS["list-and-watch"], None, [tour.Decision(50, "fault", "worker-raises")])
    errors = [point.hop for point in trace.points if point.hop.kind == "error"]
    assert [hop.more["error"] for hop in errors] == ["RuntimeError: this worker was told to fail"] * 3
    assert kinds(trace).count("queue.waits") == 3 and trace.state(len(trace.points))["queue"]["failures"] == {}


def test_a_worker_that_hangs_does_nothing_until_it_is_mended():
    decisions = [tour.Decision(50, "fault", "worker-hangs"), tour.Decision(80, "fault", "mend")]
    hung = tour.execute(tour.SCENARIOS["list-and-watch"], None, decisions[:1], limit=tour.MAX_HOPS)
    assert hung.is_complete
    last = hung.points[-1].hop.number
    assert stations(hung, last)["queue"]["processing"] and stations(hung, last)["queue"]["order"]
    assert "workers.ok" not in kinds(hung)[60:]
    mended = tour.execute(tour.SCENARIOS["list-and-watch"], None, decisions, limit=tour.MAX_HOPS)
    assert stations(mended, -1)["queue"]["processing"] == stations(mended, -1)["queue"]["order"] == []
    assert "workers.ok" in kinds(mended)[80:]


def test_every_fault_has_a_place_in_the_picture():
    assert {fault.place for fault in tour.FAULTS.values()} == {"", "wire", "clock", "apiserver", "handlers", "workers"}


def test_another_thread_may_be_chosen_and_then_it_goes_on():
    trace = run("queue")
    number = next(
        n for n, point in enumerate(trace.points[:-1])
        if len(point.runnable) > 1 and trace.points[n + 1].hop.thread != point.runnable[-1]
        and point.runnable[-1].startswith(("handler", "worker"))
    )  # fmt: skip
    chosen = trace.points[number].runnable[-1]
    branched = tour.execute(tour.SCENARIOS["queue"], None, [tour.Decision(number, "thread", chosen)])
    assert branched.points[: number + 1] == trace.points[: number + 1]
    assert branched.points[number + 1].hop.thread == chosen


def test_a_second_decision_keeps_the_first_and_what_came_of_it():
    session = tour.Session(tour.SCENARIOS["list-and-watch"])
    session.to(20)
    session.break_("cut")
    assert session.run_to(station="reflector", kind="ended")
    state = session.state()
    session.break_("slow-server")
    assert [decision.name for decision in session.decisions] == ["cut", "slow-server"]
    assert session.state() == state
    session.to(10)
    session.break_("gone")
    assert [decision.name for decision in session.decisions] == ["gone"]


def test_a_session_goes_to_breakpoints_and_back():
    session = tour.Session(tour.SCENARIOS["backoff"])
    assert session.point is None and session.state() == {}
    assert session.run_to(station="queue", kind="waits")
    assert session.point.hop.kind == "waits"
    at, state = session.position, session.state()
    assert session.back() and session.position == at - 1 and session.state() != state
    assert session.step() and session.state() == state
    assert not session.run_to(station="queue", key="nobody")
    assert session.position == at
    while session.back():
        pass
    assert session.position == -1 and not session.back()
    assert not session.to(10**6)
    assert not session.step()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"fifo": "FIFO"}, "RealFIFO or DeltaFIFO"),
        ({"replace": "x"}, "Replaced or Sync"),
        ({"limiter": ""}, "exponential or fast-slow or default"),
        ({"workers": 0}, "workers is between"),
        ({"workers": True}, "no int"),
        ({"resync": "1"}, "no float"),
        ({"resync": float("nan")}, "resync is between"),
        ({"speed": 1}, "no setting 'speed'"),
        ({"last": "x" * 101}, "at most 100"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(given, problem):
    with pytest.raises(ValueError, match=problem):
        tour.Settings.of(given)


@pytest.mark.parametrize(
    "decision", [(-1, "fault", "cut"), (0, "fault", "fire"), (0, "magic", "cut"), (10**9, "thread", "x")]
)
def test_decisions_that_cannot_be_are_refused(decision):
    with pytest.raises(ValueError):
        tour.execute(tour.SCENARIOS["queue"], None, [tour.Decision(*decision)])


# What was seen at a point, whichever way one came: by scenario, settings, decisions and number.
SEEN: dict[tuple[str, tour.Settings, tuple[tour.Decision, ...], int], str] = {}

MACHINES = st.builds(
    tour.Settings,
    fifo=st.sampled_from(["RealFIFO", "DeltaFIFO"]),
    queue=st.sampled_from(["workqueue", "PriorityQueue"]),
    limiter=st.sampled_from(["exponential", "fast-slow", "default"]),
    resync=st.sampled_from([0.0, 3.0]),
    handlers=st.just(2),
    workers=st.sampled_from([1, 2]),
    replicas=st.sampled_from([1, 2]),
    events=st.booleans(),
)


class Walk(RuleBasedStateMachine):
    """A visitor who goes forwards and backwards, branches, and breaks things."""

    def __init__(self) -> None:
        super().__init__()

    @initialize(name=st.sampled_from(["queue", "events", "owners", SAMPLE.name]), settings=MACHINES)
    def begins(self, name, settings):
        self.session = tour.Session(SCENARIOS[name], settings)

    @rule(count=st.integers(1, 30))
    def steps(self, count):
        for _ in range(count):
            self.session.step()

    @rule(count=st.integers(1, 30))
    def backs(self, count):
        for _ in range(count):
            self.session.back()

    @rule(number=st.integers(-5, 150))
    def goes_to(self, number):
        self.session.to(number)

    @rule(station=st.sampled_from(tour.STATIONS))
    def runs_to(self, station):
        self.session.run_to(station=station)

    @precondition(lambda self: self.session.position >= 0 and len(self.session.decisions) < 3)
    @rule(fault=st.sampled_from(FAULTS))
    def breaks(self, fault):
        before = self.session.state()
        self.session.break_(fault)
        assert self.session.state() == before

    @precondition(lambda self: self.session.position >= 0 and len(self.session.decisions) < 3)
    @rule(data=st.data())
    def branches(self, data):
        before = self.session.state()
        self.session.choose(data.draw(st.sampled_from(self.session.point.runnable)))
        assert self.session.state() == before

    @invariant()
    def the_state_here_is_the_same_whichever_way_one_came(self):
        session = self.session
        before = tuple(each for each in session.decisions if each.at < session.position)
        state = json.dumps(session.state(), sort_keys=True)
        where = session.scenario.name, session.settings, before, session.position
        assert SEEN.setdefault(where, state) == state

    def teardown(self):
        if not hasattr(self, "session"):
            return
        session = self.session
        if session.position < 0:
            return
        fresh = tour.execute(session.scenario, session.settings, session.decisions, session.position + 1)
        assert fresh.state(session.position) == session.state()


Walk.TestCase.settings = settings(
    max_examples=6, stateful_step_count=8, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestWalk = Walk.TestCase


def test_a_session_goes_further_than_it_was_executed_at_first():
    name = max(NAMES, key=lambda each: len(run(each).points))
    last = len(run(name).points) - 1
    session = tour.Session(SCENARIOS[name])
    assert last > 250 and session.to(last) and session.position == last
    assert session.point is not None and session.point.to_dict() == run(name).points[last].to_dict()
    assert not session.to(last + 1) and session.position == last and not session.step()


@pytest.mark.parametrize("name", tour.SCENARIOS)
def test_threads_and_handlers_are_named_after_the_program_not_after_the_tours_files(name):
    trace = tour.execute(tour.SCENARIOS[name], limit=tour.MAX_HOPS)
    threads = {thread for point in trace.points for thread in (point.hop.thread, *point.runnable)}
    handlers = {point.hop.more["handler"] for point in trace.points if "handler" in point.hop.more}
    assert [each for each in (*threads, *handlers) if "tour" in each] == []
    assert "reflector shouter" in threads and "handler shouter.Enqueuer" in threads


def test_a_run_ends_so_many_seconds_behind_its_last_step():
    steps = [tour.Step(at, "create", name, "text") for at, name in ((2.0, "early"), (8.0, "late"))]
    scenario = tour.Scenario(name="two", title="Two", steps=steps, after=5.0)
    trace = tour.execute(scenario, limit=tour.MAX_HOPS)
    created = [(point.hop.key, round(point.hop.time)) for point in trace.points if point.hop.kind == "created"]
    assert trace.is_complete and created == [("default/early", 2), ("default/late", 8)]
    assert trace.points[-1].hop.time < 13.1


def test_a_hop_of_a_run_has_the_lines_that_ran():
    trace = tour.execute(tour.SCENARIOS["queue"], limit=40)
    codes = [point.hop.code for point in trace.points if point.hop.station == "queue"]
    assert codes and all(code.lines and min(code.lines) > code.first for code in codes)


def test_only_the_log_of_a_run_is_diverted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    lines: list[str] = []
    before = [*utilruntime.ERROR_HANDLERS]
    with stepping._no_log_elsewhere(lines):
        klog.info("outside")
        assert before[:1] == utilruntime.ERROR_HANDLERS
        with synctest.bubble():
            klog.info("inside")
    klog.info("behind")
    assert len(lines) == 1 and "inside" in lines[0]
    assert "outside" in caplog.text and "behind" in caplog.text and "inside" not in caplog.text
    assert before == utilruntime.ERROR_HANDLERS


def test_random_numbers_of_a_run_are_its_own() -> None:
    random.seed(7)
    expected = [random.random() for _ in range(2)]
    random.seed(7)
    drawn = [random.random()]
    runs = []
    for _ in range(2):
        with stepping._same_random_numbers():
            runs.append(random.random())
    assert [*drawn, random.random()] == expected and runs[0] == runs[1] not in expected


def test_a_run_ends_at_its_limit(monkeypatch):
    ended = []
    play = stepping._Scripted.play

    def noted(stage, enough):
        play(stage, enough)
        ended.append(enough.is_set())

    monkeypatch.setattr(stepping._Scripted, "play", noted)
    for limit in (5, tour.MAX_HOPS):
        trace = tour.execute(tour.SCENARIOS["queue"], limit=limit)
        assert trace.is_complete is (limit != 5)
    assert ended == [True, False]


@pytest.mark.parametrize(("steps", "lasts"), [((), 5.0), ((tour.Step(2.0, "create", "a", "text"),), 7.0)])
def test_a_run_lasts_from_its_first_step_to_so_many_seconds_behind_the_last(monkeypatch, steps, lasts):
    times = []
    play = stepping._Scripted.play

    def noted(stage, enough):
        began = REAL_CLOCK.now()
        play(stage, enough)
        times.append(REAL_CLOCK.now() - began)

    monkeypatch.setattr(stepping._Scripted, "play", noted)
    tour.execute(tour.Scenario(name="short", title="Short", steps=steps, after=5.0), limit=tour.MAX_HOPS)
    assert times == [pytest.approx(lasts)]
