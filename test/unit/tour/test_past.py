"""Queries about the past: chains from the API write to a place, and the last change of a part, in every scenario."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from clientgo import tour
from clientgo.tour import past

Json = dict[str, Any]
SCENARIOS = list(tour.SCENARIOS)
# Places whose keys a view shows, and how to read them: (key, handler).
SHOWN = {
    "apiserver.objects": lambda view: [(each["key"], "") for each in view.get("objects", [])],
    "fifo.deltas": lambda view: [(each["key"], "") for each in view.get("keys", []) if each["key"]],
    "indexer.objects": lambda view: [(each["key"], "") for each in view.get("objects", [])],
    "queue.order": lambda view: [(key, "") for key in view.get("order", [])],
    "queue.dirty": lambda view: [(key, "") for key in view.get("dirty", [])],
    "queue.processing": lambda view: [(key, "") for key in view.get("processing", [])],
    "queue.waiting": lambda view: [(each["key"], "") for each in view.get("waiting", [])],
    "queue.failures": lambda view: [(key, "") for key in view.get("failures", {})],
    "workers": lambda view: [(each["key"], "") for each in view.get("workers", {}).values() if each["key"]],
    "handlers.pending": lambda view: [
        (each["key"], handler["name"]) for handler in view.get("handlers", []) for each in handler["pending"]
    ],
    "handlers.delivering": lambda view: [
        (handler["delivering"]["key"], handler["name"]) for handler in view.get("handlers", []) if handler["delivering"]
    ],
}


@cache
def run(scenario: str, fault: str = "") -> tuple[list[Json], list[Json]]:
    """Return the hops of a run as JSON, and the state after each."""
    decisions = [tour.Decision(20, "fault", fault)] if fault else []
    trace = tour.execute(tour.SCENARIOS[scenario], None, decisions, limit=tour.MAX_HOPS)
    states: list[Json] = []
    for point in trace.points:
        states.append({**(states[-1] if states else {}), **point.changed})
    return [point.hop.to_dict() for point in trace.points], states


def named(hops: list[Json], links: list[past.Link]) -> list[str]:
    return [f"{hops[link.at]['station']}.{hops[link.at]['kind']}" for link in links]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_key_that_is_shown_has_a_chain_from_the_api_write(scenario):
    hops, states = run(scenario)
    for at, state in enumerate(states):
        for place, read in SHOWN.items():
            for key, handler in read(state.get(place.partition(".")[0], {})):
                links = past.chain(hops, at, place, key, handler=handler)
                assert links, f"hop {at}: nothing brought {key} to {place}"
                numbers = [link.at for link in links]
                assert numbers == sorted(set(numbers)) and numbers[-1] <= at
                assert named(hops, links)[0].startswith("apiserver."), f"hop {at}: {place} {key} {named(hops, links)}"
                assert hops[numbers[0]]["key"] == links[0].key


def test_a_chain_names_every_station_on_the_way():
    hops, _ = run("queue")
    at = next(number for number, hop in enumerate(hops) if (hop["station"], hop["kind"]) == ("workers", "reconcile"))
    assert named(hops, past.chain(hops, at, "workers", "default/apple")) == [
        "apiserver.created",
        "reflector.listed",
        "fifo.queued",
        "fifo.popped",
        "indexer.relisted",
        "handlers.buffered",
        "handlers.called",
        "queue.added",
        "queue.taken",
        "workers.reconcile",
    ]


def test_a_retry_leads_back_through_the_failure_and_the_heap():
    hops, _ = run("backoff")
    at = max(number for number, hop in enumerate(hops) if (hop["station"], hop["kind"]) == ("queue", "due"))
    found = named(hops, past.chain(hops, at + 2, "queue.processing", "default/bread"))
    assert found[-6:] == [
        "workers.error",
        "queue.failure",
        "queue.waits",
        "queue.due",
        "queue.added",
        "queue.taken",
    ]
    assert found.count("workers.error") == 3


def test_a_key_that_came_back_leads_back_to_the_change_that_marked_it():
    hops, _ = run("queue")
    at = next(number for number, hop in enumerate(hops) if hop["kind"] == "requeued")
    found = past.chain(hops, at, "queue.order", "default/apple")
    assert named(hops, found)[-3:] == ["handlers.called", "queue.marked", "queue.requeued"]
    assert hops[found[0].at]["thread"] == "kubectl"


def test_a_streaming_list_and_a_resync_have_chains_too():
    scenario = tour.SCENARIOS["resync"]
    settings = tour.Settings.of({**scenario.settings.to_dict(), "watch_list": True})
    hops = [point.hop.to_dict() for point in tour.execute(scenario, settings, limit=tour.MAX_HOPS).points]
    at = max(number for number, hop in enumerate(hops) if hop["kind"] == "called")
    found = named(hops, past.chain(hops, at, "handlers.delivering", hops[at]["key"]))
    assert found[:3] == ["apiserver.updated", "reflector.line", "fifo.queued"]
    assert found[-5:] == ["fifo.resync", "fifo.queued", "fifo.popped", "handlers.buffered", "handlers.called"]


def test_only_the_asked_handler_and_version_count():
    hops, states = run("handlers")
    at = max(number for number, hop in enumerate(hops) if hop["kind"] == "taken" and hop["station"] == "handlers")
    enqueuer, bystander = (each["name"] for each in states[at]["handlers"]["handlers"])
    calls = {
        name: past.arrival(hops, at, "handlers.delivering", "default/bread", handler=name)
        for name in (enqueuer, bystander)
    }
    assert calls[bystander] < calls[enqueuer]
    first = min(int(hop["version"]) for hop in hops if hop["key"] == "default/bread" and hop["version"])
    found = past.chain(hops, at, "indexer.objects", "default/bread", version=str(first))
    assert named(hops, found)[0] == "apiserver.created"


def test_a_key_that_no_hop_knows_has_no_chain():
    hops, _ = run("queue")
    assert past.chain(hops, len(hops) - 1, "queue.order", "default/nothing") == []
    assert past.chain([], -1, "queue", "default/apple") == []
    # The hops that a live tour has dropped are missing: the chain begins later.
    at = next(number for number, hop in enumerate(hops) if (hop["station"], hop["kind"]) == ("queue", "taken"))
    kept = hops[10 : at + 1]
    assert named(kept, past.chain(kept, len(kept) - 1, "queue.processing", "default/apple")) == [
        "handlers.called",
        "queue.added",
        "queue.taken",
    ]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    ("scenario", "fault"),
    [*((scenario, "") for scenario in SCENARIOS), ("queue", "restart"), ("handlers", "writes-fail"), ("level", "kill")],
)
def test_every_change_of_a_part_is_at_a_hop_that_may_change_it(scenario, fault):
    """Live tours have no states: they rely on the kinds alone."""
    hops, states = run(scenario, fault)
    before: dict[str, Any] = {}
    for hop, state in zip(hops, states, strict=True):
        after = dict(past.fields(state))
        for part, kinds in past.CHANGES.items():
            # Tables of other stations may change by the way: a worker's card shows its line, a queue's heap its time.
            if part in ("workers.workers", "queue.waiting", "handlers.handlers", "reflector.version"):
                continue
            if (
                before.get(part) != after.get(part)
                and before
                and part in before
                and hop["station"] == part.split(".")[0]
            ):
                assert hop["kind"] in kinds, f"{part} changed at {hop['station']}.{hop['kind']}"
        before = after


@pytest.mark.parametrize("scenario", ["backoff", "fifos", "handlers"])
def test_the_last_change_of_a_part_is_the_one_behind_which_it_stayed_the_same(scenario):
    _, states = run(scenario)
    for at in range(0, len(states), 17):
        for part, value in past.fields(states[at]):
            values = [dict(past.fields(state)).get(part) for state in states[: at + 1]]
            changed = [number for number in range(1, at + 1) if values[number] != values[number - 1]]
            if values[0]:
                changed.insert(0, 0)
            found = past.last_change(states, at, part)
            if not changed:
                assert found is None
            else:
                assert found is not None
                assert (found.at, found.after) == (changed[-1], value)
                assert found.before == (values[found.at - 1] if found.at else None)


def test_without_states_the_last_change_is_the_last_hop_that_may_have_made_it():
    hops, _ = run("queue")
    found = past.last_changes(hops)
    assert hops[found["reflector.lists"]]["kind"] == "list"
    assert found["queue.processing"] == max(
        number for number, hop in enumerate(hops) if hop["kind"] in ("taken", "done") and hop["station"] == "queue"
    )
    only = past.last_changes(hops, "default/bread")
    assert hops[only["queue.processing"]]["key"] == "default/bread"
    assert "reflector.lists" not in only


def test_an_error_is_changed_only_by_hops_that_bring_or_end_one():
    def hop(kind: str, key: str = "", error: str | None = None) -> Json:
        more = {} if error is None else {"error": error}
        return {"station": "reflector", "kind": kind, "key": key, "version": "", "thread": "reflector", "more": more}

    quiet = [hop("list"), hop("listed"), hop("watch"), hop("line", "default/apple"), hop("bookmark"), hop("ended")]
    assert "reflector.error" not in past.last_changes(quiet)
    assert "reflector.error" not in past.last_changes([*quiet, hop("ended", error="")])
    failed = [*quiet, hop("failed", error="OSError: gone"), hop("backoff", error="OSError: gone"), hop("list")]
    assert past.last_changes(failed)["reflector.error"] == len(quiet)
    for kind, key in (("listed", ""), ("line", "default/apple"), ("bookmark", "")):
        ended = [*failed, hop(kind, key), *quiet]
        assert past.last_changes(ended)["reflector.error"] == len(failed)
    of_apple = [*failed, hop("line", "default/apple"), *quiet]
    assert past.last_changes(of_apple, "default/apple")["reflector.error"] == len(failed)
    assert "reflector.error" not in past.last_changes(of_apple, "default/bread")


def test_several_informers_have_parts_of_their_own():
    state = {"fifo": {"informers": [{"kind": "Foo", "keys": []}, {"kind": "Bar"}]}, "queue": {"order": ["a"]}}
    assert dict(past.fields(state)) == {"fifo.Foo.keys": [], "queue.order": ["a"]}


def test_of_a_server_outside_of_the_program_the_chain_is_the_line_of_its_watch():
    hops, _ = run("handlers")
    outside = [hop for hop in hops if hop["station"] != "apiserver"]
    line = next(hop for hop in outside if (hop["station"], hop["kind"]) == ("reflector", "line"))
    key, version = line["key"], line["version"]
    links = past.chain(outside, len(outside) - 1, "apiserver.history", key, version=version)
    assert [outside[link.at] for link in links] == [line] and links[0].key == key
    assert past.chain(outside, len(outside) - 1, "apiserver.history", key, version="1") == []
    assert past.chain(outside, len(outside) - 1, "apiserver.history", "default/unknown", version=version) == []
