"""Each part of a picture, painted from structures with known contents, and from hops."""

from __future__ import annotations

import sys
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from clientgo import tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tour.hop import Code, Hop
from clientgo.tour.picture import _line_of

CODE = Code("file.py", "f", "", "", 1, (), "file.py:1")


def hop(name: str = "queue.added", key: str = "a", thread: str = "main", **about: Any) -> Hop:
    station, kind = name.split(".")
    fields: dict[str, Any] = {"number": 0, "time": 0.0, "code": CODE, **about}
    return Hop(station=station, kind=kind, key=key, thread=thread, **fields)


def config_map(name: str, version: str) -> corev1.ConfigMap:
    entry = metav1.ManagedFieldsEntry(manager="test")
    metadata = metav1.ObjectMeta(name=name, namespace="default", resource_version=version, managed_fields=[entry])
    return corev1.ConfigMap(metadata=metadata)


APPLE, OLDER = config_map("apple", "7"), config_map("apple", "5")
TOMBSTONE = cache.DeletedFinalStateUnknown("default/apple", OLDER)
DELTA = cache.Delta(cache.DeltaType.DELETED, TOMBSTONE)


def holding(**contents: Any) -> Any:
    """Return a structure with these contents."""
    return SimpleNamespace(contents=lambda: SimpleNamespace(**contents))


def informer(kind: str = "*v1.ConfigMap", **parts: Any) -> Any:
    indexer = holding(items={}, indices={}, resource_version="9")
    nothing: dict[str, Any] = {"reflector": None, "fifo": None, "indexer": indexer, "handlers": ()}
    held = SimpleNamespace(kind=kind, **{**nothing, **parts})
    return SimpleNamespace(parts=lambda: held)


def painted(station: str, *hops: Hop, most: int = sys.maxsize, **scene: Any) -> Any:
    """Return the view of a station after hops; after one of no importance without any."""
    painter = tour.Painter(tour.Scene(**scene), most=most)
    return [painter.paint(each)[station] for each in hops or (hop(),)][-1]


# ---- references


@pytest.mark.parametrize(
    ("obj", "version", "reference"),
    [
        (APPLE, "", "default/apple@7"),
        (APPLE, "3", "default/apple@7"),
        (TOMBSTONE, "", "default/apple@5"),
        (DELTA, "", "default/apple@5"),
        ({"metadata": {"namespace": "ns", "name": "a", "resourceVersion": "2"}}, "", "ns/a@2"),
        ({"metadata": {"name": "node", "resourceVersion": "2"}}, "1", "node@2"),
        ({"metadata": {"name": "node"}}, "1", "node@1"),
        ({"kind": "Status"}, "", ""),
        ("text", "", ""),
        (None, "", ""),
    ],
)
def test_every_state_of_an_object_is_kept_by_its_reference(obj: Any, version: str, reference: str) -> None:
    painter = tour.Painter(tour.Scene())
    painter.paint(hop(object=obj, version=version))
    assert [*painter.objects] == ([reference] if reference else [])
    assert all("managedFields" not in document["metadata"] for document in painter.objects.values())


def test_of_an_object_the_first_document_of_a_version_is_kept() -> None:
    painter = tour.Painter(tour.Scene())
    for text in ("first", "second"):
        metadata = {"namespace": "ns", "name": "a", "resourceVersion": "2", "managedFields": []}
        painter.paint(hop(object={"metadata": metadata, "text": text}))
    assert painter.objects["ns/a@2"] == {
        "metadata": {"namespace": "ns", "name": "a", "resourceVersion": "2"},
        "text": "first",
    }


# ---- the API server


def stored(name: str, version: int, kind: str = "ConfigMap") -> Any:
    metadata = {"namespace": "default", "name": name, "resourceVersion": str(version)}
    return SimpleNamespace(key=f"default/{name}", rv=version, obj={"kind": kind, "metadata": metadata})


def event(version: int, kind: str = "ConfigMap") -> Any:
    return SimpleNamespace(type="MODIFIED", rv=version, new=stored("a", version, kind))


class Store:
    """A store whose buckets have items, a log of events and the oldest version that is known."""

    version = 40

    def __init__(self, **buckets: Any) -> None:
        self._buckets = {"maps": ([], [], 1), **buckets}

    def contents(self, bucket: str) -> Any:
        return self._buckets[bucket]


def test_the_objects_of_the_server_are_sorted_and_its_last_twelve_events_shown() -> None:
    store = Store(maps=([stored("b", 9), stored("a", 20)], [event(number) for number in range(1, 21)], 3))
    view = painted("apiserver", store=store, resources=("maps",))
    assert view["objects"] == [
        {"key": "default/a", "version": "20", "ref": "default/a@20"},
        {"key": "default/b", "version": "9", "ref": "default/b@9"},
    ]
    assert [each["version"] for each in view["history"]] == [str(number) for number in range(9, 21)]
    assert view["history"][0] == {"type": "MODIFIED", "key": "default/a", "version": "9", "ref": "default/a@9"}
    assert (view["version"], view["oldest"], view["wire"]) == ("40", "3", "up")


def test_objects_of_several_resources_have_their_kind_and_one_history() -> None:
    one = [event(number) for number in range(1, 21, 2)]
    two = [event(number, "Pod") for number in range(2, 21, 2)]
    store = Store(maps=([stored("a", 7)], one, 1), pods=([stored("p", 8, "Pod")], two, 2))
    wire = SimpleNamespace(state=lambda: "cut")
    view = painted("apiserver", store=store, resources=("maps", "pods"), wire=wire)
    assert [each["kind"] for each in view["objects"]] == ["ConfigMap", "Pod"]
    assert [each["version"] for each in view["history"]] == [str(number) for number in range(9, 21)]
    assert [each["kind"] for each in view["history"][:2]] == ["ConfigMap", "Pod"]
    assert (view["oldest"], view["wire"]) == ("1", "cut")


def test_a_server_without_a_store_paints_itself_or_nothing() -> None:
    assert painted("apiserver") == {}
    assert painted("apiserver", server=lambda: {"version": "3"}) == {"version": "3"}


# ---- the reflector


REFLECTED = [
    (["list"], {"state": "listing", "lists": 1}),
    (["list", "list"], {"state": "listing", "lists": 2}),
    (["failed!", "listed@4"], {"state": "idle", "version": "4"}),
    (["watch@4", "watch@5"], {"state": "watching", "version": "5", "watches": 2}),
    (["failed!", "line@6", "line"], {"version": "6", "lines": 2}),
    (["failed!", "bookmark@8", "bookmark@9"], {"version": "9", "bookmarks": 2}),
    (["watch@4", "ended"], {"state": "idle", "version": "4", "watches": 1}),
    (["watch@4", "ended!"], {"state": "idle", "version": "4", "watches": 1, "error": "gone"}),
    (["list", "failed!"], {"state": "idle", "lists": 1, "error": "gone"}),
    (["failed", "backoff!"], {"state": "waiting", "error": "gone"}),
    (["failed!", "backoff"], {"state": "waiting"}),
]


@pytest.mark.parametrize(("names", "changed"), REFLECTED)
def test_the_state_of_a_reflector_is_that_of_its_hops(names: list[str], changed: Any) -> None:
    hops = []
    for name in names:
        kind, _, version = name.rstrip("!").partition("@")
        hops.append(hop(f"reflector.{kind}", "", version=version, more={"error": "gone"} if "!" in name else {}))
    begins = {"state": "idle", "version": "", "lines": 0, "bookmarks": 0, "lists": 0, "watches": 0, "error": ""}
    assert painted("reflector", *hops, informers=[informer()]) == {**begins, **changed}
    assert painted("reflector", *hops) == {}


def test_a_hop_of_a_reflector_is_its_threads_or_its_objects_kinds() -> None:
    first, second = object(), object()
    informers = [informer("*v1.Pod", reflector=first), informer(reflector=second)]

    def lines(*hops: Hop) -> list[int]:
        views = painted("reflector", *hops, informers=informers)["informers"]
        assert [each["kind"] for each in views] == ["Pod", "ConfigMap"]
        return [each["lines"] for each in views]

    line = hop("reflector.line")
    assert lines(line) == [1, 0]
    assert lines(hop("reflector.line", object=APPLE)) == [0, 1]
    assert lines(hop("reflector.watch", owner=second), line, line) == [0, 2]
    assert lines(hop("reflector.watch", owner=first), hop("reflector.line", object=APPLE)) == [1, 0]
    assert lines(hop("reflector.line", owner=second), hop("reflector.line", owner=first), line) == [2, 1]


# ---- FIFO, indexer and handlers


def test_a_fifo_has_its_deltas_up_to_the_limit() -> None:
    listed = SimpleNamespace(objects=[APPLE, config_map("b", "1"), config_map("c", "1")], resource_version="30")
    added, everything = cache.Delta(cache.DeltaType.ADDED, APPLE), cache.Delta(cache.DeltaType.SYNC, listed)
    deltas = (("default/apple", (DELTA, added)), ("", (everything,)))
    fifo = holding(deltas=deltas, initial_left=2, synced=False)
    whole = painted("fifo", informers=[informer(fifo=fifo)])
    first = {
        "key": "default/apple",
        "deltas": [
            {"type": "Deleted", "version": "5", "ref": "default/apple@5", "tombstone": True},
            {"type": "Added", "version": "7", "ref": "default/apple@7", "tombstone": False},
        ],
    }
    keys = ["default/apple", "default/b", "default/c"]
    every = {"type": "Sync", "version": "30", "ref": "", "tombstone": False, "keys": keys}
    about = {"name": "SimpleNamespace", "length": 2, "initialLeft": 2, "synced": False}
    assert whole == {**about, "keys": [first, {"key": "", "deltas": [every]}]}
    few = painted("fifo", most=2, informers=[informer(fifo=fifo)])
    assert few["keys"][1]["deltas"][0]["keys"] == ["default/apple", "default/b", "+1"]
    one = painted("fifo", most=1, informers=[informer(fifo=fifo)])
    assert one == {**about, "keys": [first]}
    assert painted("fifo", informers=[informer()]) == {}


def test_an_indexer_has_its_objects_and_indices_up_to_the_limit() -> None:
    items = {"default/b": config_map("b", "8"), "default/apple": APPLE}
    indices = {"z": {}, "by": {"y": {"b", "a"}, "x": {"c"}}}
    informers = [informer(indexer=holding(items=items, indices=indices, resource_version="9"))]
    apple = {"key": "default/apple", "version": "7", "ref": "default/apple@7"}
    other = {"key": "default/b", "version": "8", "ref": "default/b@8"}
    for most in (2, 3):
        view = painted("indexer", most=most, informers=informers)
        assert view == {
            "objects": [apple, other],
            "indices": {"by": {"x": ["c"], "y": ["a", "b"]}, "z": {}},
            "version": "9",
        }
        assert [*view["indices"]] == ["by", "z"] and [*view["indices"]["by"]] == ["x", "y"]
    view = painted("indexer", most=1, informers=informers)
    assert view["objects"] == [other] and view["facts"] == [["length", 2]]
    (words,) = view["indices"]["by"].values()
    assert len(words) == 2 and words[1] == "+1"


def notice(new: Any = None, old: Any = None, at: float = 0.0) -> Any:
    return SimpleNamespace(new_obj=new, old_obj=old, queued_at=at)


def handler(name: str = "h", pending: Any = (), taken: Any = (), delivering: Any = None) -> Any:
    return holding(handler=name, pending=pending, taken=taken, delivering=delivering)


def test_a_handler_has_its_notifications_and_calls() -> None:
    added = {"method": "on_add", "key": "default/apple", "version": "7", "ref": "default/apple@7"}
    updated = {**added, "method": "on_update"}
    deleted = {"method": "on_delete", "key": "default/apple", "version": "5", "ref": "default/apple@5"}
    held = handler("h", (notice(APPLE, at=1.0), notice(APPLE, OLDER)), (notice(old=TOMBSTONE),), notice(old=OLDER))
    hops = [hop(f"handlers.{kind}", more={"handler": "h"}) for kind in ("called", "returned", "called", "raised")]
    (view,) = painted("handlers", *hops, informers=[informer(handlers=(held,))])["handlers"]
    assert view == {
        "name": "h",
        "pending": [{**added, "tombstone": False, "queued": 1.0}, {**updated, "tombstone": False, "queued": 0.0}],
        "taken": [{**deleted, "tombstone": True, "queued": 0.0}],
        "delivering": {**deleted, "tombstone": False, "queued": 0.0},
        "calls": 2,
        "raised": 1,
    }


@pytest.mark.parametrize(("pending", "taken", "is_long"), [(2, 2, False), (3, 0, True), (0, 3, True)])
def test_a_handlers_lists_are_shortened_to_the_limit(pending: int, taken: int, is_long: bool) -> None:
    held = handler("h", (notice(APPLE),) * pending, (notice(APPLE),) * taken)
    (view,) = painted("handlers", most=2, informers=[informer(handlers=(held,))])["handlers"]
    assert len(view["pending"]) == min(pending, 2) and len(view["taken"]) == min(taken, 2)
    assert view.get("totals") == ({"pending": pending, "taken": taken} if is_long else None)
    assert (view["delivering"], view["calls"], view["raised"]) == (None, 0, 0)


def test_handlers_of_several_informers_name_theirs() -> None:
    one, two = informer("*v1alpha1.Foo", handlers=(handler("x"), handler("y"))), informer(handlers=(handler("z"),))
    views = painted("handlers", informers=[one, two])["handlers"]
    assert [(each["informer"], each["name"]) for each in views] == [("Foo", "x"), ("Foo", "y"), ("ConfigMap", "z")]
    assert "informer" not in painted("handlers", informers=[two])["handlers"][0]


# ---- queue and workers


def queue(**contents: Any) -> Any:
    nothing: Any = {"order": (), "dirty": (), "processing": (), "waiting": (), "failures": {}, "priorities": {}}
    return holding(**{**nothing, **contents})


def test_a_queue_has_all_its_sets_sorted() -> None:
    held = queue(
        order=("b", "a"),
        dirty={"b", "a"},
        processing={"d", "c"},
        waiting=((2.00000049, "e"), (3.0, "f")),
        failures={"h": 2, "g": 1},
        priorities={"b": 5, "a": 0, "f": 1},
    )
    view = painted("queue", queue=held)
    assert view == {
        "order": ["b", "a"],
        "dirty": ["a", "b"],
        "processing": ["c", "d"],
        "waiting": [{"key": "e", "due": 2.0}, {"key": "f", "due": 3.0}],
        "failures": {"g": 1, "h": 2},
        "priorities": {"a": 0, "b": 5, "f": 1},
    }
    assert [*view["failures"]] == ["g", "h"] and [*view["priorities"]] == ["a", "b", "f"]
    assert painted("queue") == {}


@pytest.mark.parametrize("long", ["order", "dirty", "processing", "waiting", "failures"])
def test_each_list_of_a_queue_may_be_the_long_one(long: str) -> None:
    contents: dict[str, Any] = {long: ("a", "b", "c")}
    if long == "waiting":
        contents = {long: tuple((float(number), each) for number, each in enumerate("abc"))}
    elif long == "failures":
        contents = {long: {"a": 1, "b": 1, "c": 1}}
    view = painted("queue", most=2, queue=queue(**contents, priorities={"a": 1, "c": 3}))
    lengths = {"order": 0, "dirty": 0, "processing": 0, "waiting": 0, "failures": 0, long: 3}
    assert view["totals"] == lengths and len(view[long]) == 2
    assert view["priorities"] == ({"a": 1} if long == "order" else {})
    assert "totals" not in painted("queue", most=3, queue=queue(**contents))


WORKED = [
    (["queue.taken"], {"w": ("a", "took", "")}),
    (["queue.done"], {}),
    (["queue.taken", "queue.added"], {"w": ("a", "took", "")}),
    (["queue.taken", "queue.done"], {"w": ("", "waits", "")}),
    (["queue.taken", "queue.requeued"], {"w": ("", "waits", "")}),
    (["workers.reconcile"], {"w": ("a", "reconciles", "")}),
    (["workers.ok"], {"w": ("a", "succeeded", "")}),
    (["workers.reconcile", "workers.error"], {"w": ("a", "failed", "gone")}),
]


@pytest.mark.parametrize(("names", "workers"), WORKED)
def test_what_a_worker_does_is_that_of_its_last_hop(names: list[str], workers: Any) -> None:
    hops = [hop(name, thread="w", more={"error": "gone"} if "error" in name else {}) for name in names]
    view = painted("workers", *hops)["workers"]
    assert {name: (each["key"], each["doing"], each["error"]) for name, each in view.items()} == workers
    assert all((each["line"], each["reached"], each["text"]) == (0, 0, "") for each in view.values())


def test_a_worker_that_reconciles_has_its_line_until_it_ends() -> None:
    painter = tour.Painter(tour.Scene())
    this = sys._getframe()
    code = Code("test/unit/tour/test_picture_parts.py", "", "", "", this.f_code.co_firstlineno, (), "")
    painter.paint(hop("queue.taken", "z", "v"))
    view = painter.paint(hop("workers.reconcile", thread="w", code=code))["workers"]["workers"]
    line = this.f_lineno - 1
    assert [*view] == ["v", "w"] and view["v"]["line"] == 0
    assert view["w"]["line"] == line and view["w"]["reached"] > 0 and view["w"]["text"]
    view = painter.paint(hop("workers.ok", thread="w"))["workers"]["workers"]
    assert (view["w"]["line"], view["w"]["doing"]) == (0, "succeeded")


def inner_line() -> tuple[FrameType, int]:
    frame = sys._getframe()
    return frame, frame.f_lineno


def test_the_line_of_a_function_is_that_of_its_frame_and_of_the_innermost_in_its_file() -> None:
    this = sys._getframe()
    inner, _ = inner_line()
    file = "tour/test_picture_parts.py"

    def at(first: int, name: str = file) -> tuple[int, int, str]:
        return _line_of(inner, Code(name, "", "", "", first, (), ""))

    line, reached, text = at(this.f_code.co_firstlineno)
    assert line == this.f_lineno - 1 and reached == inner.f_lineno and text == "return frame, frame.f_lineno"
    assert at(inner.f_code.co_firstlineno) == (inner.f_lineno, inner.f_lineno, "return frame, frame.f_lineno")
    assert at(0) == at(this.f_code.co_firstlineno, "other.py") == (0, 0, "")
    assert _line_of(None, CODE) == (0, 0, "")


# ---- events and election


def test_the_events_have_their_counts_and_what_was_written() -> None:
    def written(event: str, **involved: str) -> Any:
        obj = {"metadata": {"name": event}, "involvedObject": involved, "reason": "R", "message": "m", "count": 2}
        return SimpleNamespace(obj=obj, rv=5)

    store = Store(**{"/events": ([written("b", namespace="ns", name="y"), written("a", name="x")], [], 1)})
    kinds = ("recorded", "new", "recorded", "written", "dropped", "failed")
    hops = [hop(f"events.{kind}") for kind in kinds]
    about = {"reason": "R", "message": "m", "count": 2, "version": "5"}
    assert painted("events", store=store, resources=("maps",)) == {}
    assert painted("events", *hops, store=store, resources=("maps",)) == {
        "recorded": 2,
        "written": 1,
        "dropped": 1,
        "failed": 1,
        "stored": [{"key": "/x", **about}, {"key": "ns/y", **about}],
    }


@pytest.mark.parametrize(
    ("spec", "holder", "transitions"),
    [(None, "", 0), ({}, "", 0), ({"holderIdentity": "b", "leaseTransitions": 3}, "b", 3)],
)
def test_candidates_have_their_tries_and_the_lease_its_holder(spec: Any, holder: str, transitions: int) -> None:
    leases = [] if spec is None else [SimpleNamespace(obj={"spec": spec}), SimpleNamespace(obj={"spec": {}})]
    store = Store(**{"coordination.k8s.io/leases": (leases, [], 1)})
    kinds = [("b", "held"), ("b", "acquired"), ("b", "leading"), ("a", "held"), ("a", "leading"), ("a", "stopped")]
    kinds.append(("c", "held"))
    hops = [hop(f"election.{kind}", key, more={"leader": f"{key}-{kind}"}) for key, kind in kinds]
    assert painted("election", store=store, resources=("maps",)) == {}
    view = painted("election", *hops, store=store, resources=("maps",))
    assert view == {
        "candidates": {
            "a": {"leads": False, "leader": "a-stopped", "tries": 1},
            "b": {"leads": True, "leader": "b-leading", "tries": 2},
            "c": {"leads": False, "leader": "c-held", "tries": 1},
        },
        "holder": holder,
        "transitions": transitions,
    }
    assert [*view["candidates"]] == ["a", "b", "c"]


def test_another_replica_is_painted_without_the_state_of_the_last_one() -> None:
    scene = tour.Scene(informers=[informer()], queue=queue(order=("a",)))
    painter = tour.Painter(scene)
    for each in (hop("reflector.list"), hop("queue.taken"), hop("handlers.called", more={"handler": "h"})):
        painter.paint(each)
    turns, wire = scene.turns, object()
    scene.turn_to(wire=wire, informers=[informer(handlers=(handler(),))], queue=queue(order=("b",)))
    assert (scene.turns, scene.wire) == (turns + 1, wire)
    picture = painter.paint(hop())
    assert picture["reflector"]["lists"] == 0 and picture["workers"] == {"workers": {}}
    assert picture["handlers"]["handlers"][0]["calls"] == 0 and picture["queue"]["order"] == ["b"]
    painter.paint(hop("reflector.list"))
    assert painter.paint(hop())["reflector"]["lists"] == 1
