"""The stations' views: each producer sends what the page reads, in every state."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from livequeues import QUEUES, fill

from clientgo import context, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import liveview
from clientgo.tour.viewschema import SCHEMA, ViewError, check_views, view_error

OUTAGE = Path(__file__).parent / "outage.jsonl"
STATIONS = ("apiserver", "reflector", "fifo", "indexer", "handlers", "queue", "workers")


def surplus(kind: Any, value: Any, place: str) -> list[str]:
    """Return the fields of a view that the schema does not have."""
    if isinstance(kind, str) or value is None:
        return []
    ((form, inner),) = kind.items()
    if form == "or-null":
        return surplus(inner, value, place)
    if form == "list":
        return [found for each in value for found in surplus(inner, each, place)]
    if form == "map":
        return [found for each in value.values() for found in surplus(inner, each, place)]
    known = {name.removesuffix("?"): each for name, each in inner.items()}
    found = [f"{place}.{name}" for name in value if name not in known]
    for name, each in known.items():
        found += surplus(each, value.get(name), f"{place}.{name}")
    return found


def check(views: Mapping[str, Any]) -> None:
    """Check views in both directions: nothing is missing, and the schema names all that is sent."""
    check_views(views)
    for station, view in views.items():
        fields = {**SCHEMA[station], "facts?": {"list": "fact"}}
        for each in view.get("informers", [view]):
            assert surplus({"fields": {**fields, "kind?": "text", "informers?": {"list": "text"}}}, each, station) == []


@pytest.mark.parametrize("queue", QUEUES)
def test_a_live_queue_of_each_kind_is_as_the_page_reads_it(queue: str) -> None:
    with synctest.bubble(), tour.Live() as live:
        held = QUEUES[queue]()
        fill(held, many=100)
        view = tour.LiveView(live).paint()["views"]["queue"]
        held.shut_down()
    check({"queue": view})
    assert view["order"] and view["dirty"] and view["processing"] == ["default/again", "default/working"]
    assert bool(view["waiting"]) == (queue != "plain")
    assert bool(view["priorities"]) == (queue == "priority")


@pytest.mark.parametrize("in_order", [True, False])
def test_a_live_informer_is_as_the_page_reads_it_from_its_beginning_to_its_end(in_order: bool) -> None:
    def config_map(name: str) -> corev1.ConfigMap:
        return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"))

    with synctest.bubble() as bubble, tour.Live() as live:
        view, source = tour.LiveView(live), new_fake_controller_source()
        check(view.paint()["views"])
        indexers: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
        options = cache.SharedIndexInformerOptions(indexers=indexers, in_order=in_order)
        informer = cache.new_shared_index_informer_with_options(source, corev1.ConfigMap(), options)
        handler = cache.ResourceEventHandlerFuncs(add_func=lambda obj: None)
        informer.add_event_handler(handler)
        live.watch(informer)
        check(view.paint()["views"])
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
        thread.start()
        bubble.sleep(1.0)
        live.pause(view.paint()["views"]["handlers"]["handlers"][0]["name"])
        for number in range(1200):
            source.add(config_map(f"name-{number}"))
        bubble.sleep(2.0)
        paused = view.paint()["views"]
        check(paused)
        cancel()
        thread.join()
        check(view.paint()["views"])
        source.shutdown()
    (shown,) = paused["handlers"]["handlers"]
    assert shown["paused"] and len(shown["pending"]) + len(shown["taken"]) > 0
    assert set(paused) == set(STATIONS)


@pytest.mark.parametrize("scenario", tour.SCENARIOS)
def test_every_state_of_a_run_is_as_the_page_reads_it(scenario: str) -> None:
    trace = tour.execute(tour.SCENARIOS[scenario])
    states = [trace.state(point.hop.number) for point in trace.points[::7]]
    assert states
    for state in states:
        check(state)


def test_every_state_of_a_replay_is_as_the_page_reads_it() -> None:
    with tour.Recording(OUTAGE) as recording:
        trace = tour.replay(recording, recording.sources[0])
    for point in trace.points:
        check(trace.state(point.hop.number))


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ({"order": []}, "queue.dirty is missing"),
        ({"order": [1]}, "queue.order[0] is no text"),
        ({"order": {}}, "queue.order is no list"),
        ([], "queue is no object"),
        ({"order": [], "dirty": [], "processing": [], "waiting": [7]}, "queue.waiting[0] is no object"),
        ({"order": [], "dirty": [], "processing": [], "waiting": [{"key": "a"}]}, "queue.waiting[0].due is missing"),
        (
            {"order": [], "dirty": [], "processing": [], "waiting": [], "failures": {"a": True}},
            "queue.failures.a is no number",
        ),
        ({"informers": 7}, "queue.informers is no list"),
        ({"informers": [7]}, "queue.informers[0] is no object"),
        ({"informers": [{"kind": "a", "order": []}]}, "queue.informers[0].dirty is missing"),
        ({"informers": [{"kind": 7}]}, None),  # one that has nothing there yet
        ({"informers": [{"kind": "a"}], "facts": [["a"]]}, "queue.facts[0] is no fact"),
        ({"informers": [{"kind": "a"}], "facts": [["a", 1]]}, None),
        ({"informers": []}, None),
        ({}, None),
    ],
)
def test_a_view_that_lacks_something_is_named_with_its_field(view: Any, message: str | None) -> None:
    assert view_error("queue", view) == message
    if message is None:
        check_views({"queue": view})
    else:
        with pytest.raises(ViewError, match=re.escape(message)):
            check_views({"apiserver": {}, "queue": view})


def test_a_view_of_an_unknown_station_is_an_error() -> None:
    assert view_error("kitchen", {}) == "there is no station kitchen"
    with pytest.raises(ViewError, match="no station kitchen"):
        check_views({"queue": {}, "kitchen": {}})


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("text", ["", "a"], [None, 7, ["a"]]),
        ("flag", [True, False], [None, 0, 1, "true"]),
        ("number", [0, -1, 1.5], [None, True, "1"]),
        ("fact", [["a", 1], ("a", None), ["a", {}]], [None, ["a"], ["a", 1, 2], [1, "a"], "ab", {"a": 1, "b": 2}]),
        ({"list": "text"}, [[], ("a", "b")], ["a", {"a": "b"}, [1], ["a", None]]),
        ({"map": "number"}, [{}, {"a": 1}], [[], [1], {"a": 1, "b": "c"}]),
        ({"or-null": "text"}, [None, "a"], [7, []]),
        ({"fields": {"a": "text", "b?": "flag"}}, [{"a": "x"}, {"a": "x", "b": True, "c": 1}], [{}, {"b": True}, []]),
    ],
)
def test_each_type_of_a_view_has_its_values(monkeypatch: pytest.MonkeyPatch, kind: Any, good: Any, bad: Any) -> None:
    monkeypatch.setitem(cast(dict[str, Any], SCHEMA), "kitchen", {"field": kind})
    assert [value for value in good if view_error("kitchen", {"field": value}) is not None] == []
    assert [value for value in bad if view_error("kitchen", {"field": value}) is None] == []


def test_a_live_view_is_checked_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveview.LiveView, "_queue", lambda *_: {"order": []})
    with synctest.bubble(), tour.Live() as live, pytest.raises(ViewError, match=r"queue\.dirty is missing"):
        tour.LiveView(live).paint()


def test_the_schema_names_every_station() -> None:
    assert set(SCHEMA) == set(tour.STATIONS)
