"""The stations' views: each producer sends what the page reads, in every state."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    ],
)
def test_a_view_that_lacks_something_is_named_with_its_field(view: Any, message: str) -> None:
    assert view_error("queue", view) == message
    with pytest.raises(ViewError, match="queue"):
        check_views({"queue": view})


def test_a_live_view_is_checked_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveview.LiveView, "_queue", lambda *_: {"order": []})
    with synctest.bubble(), tour.Live() as live, pytest.raises(ViewError, match=r"queue\.dirty is missing"):
        tour.LiveView(live).paint()


def test_the_schema_names_every_station() -> None:
    assert set(SCHEMA) == set(tour.STATIONS)
