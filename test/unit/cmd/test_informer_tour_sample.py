"""The sample-controller in the stepping tour: the real one, in virtual time, with all switches and faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samplecontroller
from processes import ROOT
from programs import ImportedProgram

import controller
from clientgo import tour

with ImportedProgram("informer-tour") as program:
    SCENARIO: tour.Scenario = program.module("sample").SCENARIO
# The first part ends when a user has changed the Deployment, which must return to the Foo's spec.
KEPT = replace(SCENARIO, steps=SCENARIO.steps[:4], after=200.0)


def run(scenario: tour.Scenario, *faults: tuple[int, str], **changes: Any) -> tour.Trace:
    settings = tour.Settings.of({**SCENARIO.settings.to_dict(), **changes})
    decisions = [tour.Decision(at, "fault", name) for at, name in faults]
    trace = tour.execute(scenario, settings, decisions, limit=tour.MAX_HOPS)
    assert trace.is_complete
    return trace


def last(trace: tour.Trace) -> dict[str, Any]:
    return trace.state(len(trace.points) - 1)


def caches(state: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["key"], each["version"]) for view in state["indexer"]["informers"] for each in view["objects"]]


def wanted_and_there(trace: tour.Trace) -> dict[str, tuple[int, int]]:
    """Return the wanted and the actual replicas of each Foo."""
    objects = [trace.objects[each["ref"]] for each in last(trace)["apiserver"]["objects"]]
    of = {each["metadata"]["name"]: each["spec"]["replicas"] for each in objects if each["kind"] == "Deployment"}
    return {
        each["metadata"]["name"]: (each["spec"]["replicas"], of[each["spec"]["deploymentName"]])
        for each in objects
        if each["kind"] == "Foo"
    }


def test_the_controller_is_the_one_of_its_program_and_no_copy():
    tap = SCENARIO.program.worker
    assert tap.find() is controller.Controller.sync_handler is samplecontroller.Controller.sync_handler
    assert Path(str(controller.__file__)) == ROOT / "cmd" / "sample-controller" / "controller.py"


def test_a_reconcile_is_seen_hop_by_hop_with_the_line_the_worker_is_at():
    trace = run(SCENARIO)
    began = next(n for n, point in enumerate(trace.points) if point.hop.kind == "reconcile")
    seen = []
    for number in range(began, began + 5):
        hop = trace.points[number].hop
        worker = trace.state(number)["workers"]["workers"]["foo-worker-0"]
        seen.append((f"{hop.station}.{hop.kind}", hop.key, worker["text"].partition("(")[0]))
    assert seen == [
        ("workers.reconcile", "default/example-foo", ""),
        ("apiserver.created", "default/example-nginx", "return client.create"),
        ("apiserver.updated", "default/example-foo", "client.update_status"),
        ("events.recorded", "default/example-foo", "self.recorder.event"),
        ("workers.ok", "default/example-foo", ""),
    ]
    # The line is one of the function that its source pane shows.
    lines = (ROOT / trace.points[began].hop.code.file).read_text().splitlines()
    worker = trace.state(began + 2)["workers"]["workers"]["foo-worker-0"]
    assert lines[worker["line"] - 1].strip() == "self.update_foo_status(ctx, foo, deployment)"


def test_the_number_and_the_text_of_a_workers_line_belong_together():
    trace = run(SCENARIO)
    shown = 0
    for number, point in enumerate(trace.points):
        for worker in trace.state(number).get("workers", {}).get("workers", {}).values():
            if worker["text"]:
                shown += 1
                lines = (ROOT / "cmd" / "sample-controller" / "controller.py").read_text().splitlines()
                assert lines[worker["reached"] - 1].strip() == worker["text"], point.hop
    assert shown > 3


def test_each_informer_has_a_view_of_its_own():
    trace = run(KEPT)
    state = last(trace)
    for station in ("reflector", "fifo", "indexer"):
        assert [each["kind"] for each in state[station]["informers"]] == ["Foo", "Deployment"]
    lines = [point.hop for point in trace.points if point.hop.kind == "line"]
    for view, kind in zip(state["reflector"]["informers"], ("foo", "nginx"), strict=True):
        assert view["lines"] == sum(hop.key == f"default/example-{kind}" for hop in lines) > 0
        assert view["watches"] == 1
    assert [each["informer"] for each in state["handlers"]["handlers"]] == ["Foo", "Deployment"]
    assert {each["kind"] for each in state["apiserver"]["objects"]} == {"Foo", "Deployment"}


def test_threads_of_both_informers_can_be_told_apart():
    names = {name for point in run(KEPT).points for name in point.runnable if name.startswith("reflector ")}
    assert {name.rpartition("/")[2].partition(":")[0] for name in names} == {"foo.py", "deployment.py"}


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize("fault", sorted(tour.FAULTS))
def test_whatever_breaks_the_controller_recovers_when_it_is_mended(fault):
    # A half-open connection is given up when its watch should have ended.
    scenario = replace(KEPT, after=1000.0) if fault == "half-open" else KEPT
    trace = run(scenario, (60, fault), (70, "mend"), handlers=2)
    state = last(trace)
    assert caches(state) == [(each["key"], each["version"]) for each in state["apiserver"]["objects"]]
    assert state["queue"]["dirty"] == state["queue"]["processing"] == state["queue"]["waiting"] == []
    expected = {"delete-unseen": {}, "gone": {"example-foo": (2, 2), "meanwhile": (1, 1)}}
    assert wanted_and_there(trace) == expected.get(fault, {"example-foo": (2, 2)})


@pytest.mark.parametrize(
    ("changes", "station", "shown"),
    [
        ({"fifo": "DeltaFIFO", "replace": "Sync", "watch_list": False}, "fifo", {"Sync", "Added", "Updated"}),
        ({"queue": "PriorityQueue", "limiter": "exponential", "workers": 1}, "workers", {"foo-worker-0"}),
        ({"replicas": 2}, "election", {"one", "two"}),
    ],
    ids=["old FIFO", "priority queue", "election"],
)
def test_with_another_machine_it_does_the_same(changes, station, shown):
    before = replace(KEPT, before=[SCENARIO.steps[0]], steps=KEPT.steps[1:], after=12.0)
    trace = run(before, **changes)
    assert wanted_and_there(trace) == {"example-foo": (2, 2)}
    hops = [point.hop for point in trace.points if point.hop.station == station]
    found = {
        "fifo": {hop.more["type"] for hop in hops if hop.kind in ("queued", "appended")},
        "workers": {hop.thread for hop in hops},
        "election": {hop.key for hop in hops},
    }
    assert found[station] == shown


def test_a_worker_that_fails_is_told_and_tried_again():
    trace = run(KEPT, (12, "worker-raises"))
    errors = [point.hop.more["error"] for point in trace.points if point.hop.kind == "error"]
    assert errors == ["RuntimeError: this worker was told to fail"] * 3
    delays = [point.hop.more["delay"] for point in trace.points if point.hop.kind == "failure"]
    assert delays == [0.005, 0.01, 0.02]  # the sample-controller's own limiter
