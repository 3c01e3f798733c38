"""The view of a live program, made from structures with known contents: every field, every limit, every fact."""

from __future__ import annotations

import threading
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.tour.hop import Code, Hop
from clientgo.tour.live import Held, Live

CODE = Code("file.py", "f", "", "", 1, (), "file.py:1")
NOW = 100.0


class Clock:
    """A clock that stands still until a test sets it."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> float:
        return self.time


def config_map(name: str, version: str, text: str = "") -> corev1.ConfigMap:
    metadata = metav1.ObjectMeta(name=name, namespace="default", resource_version=version)
    return corev1.ConfigMap(metadata=metadata, data={"text": text})


APPLE, OLDER = config_map("apple", "7"), config_map("apple", "5")
TOMBSTONE = cache.DeletedFinalStateUnknown("default/apple", OLDER)


class Indexer:
    def __init__(self) -> None:
        self.items: dict[str, Any] = {"default/apple": APPLE}
        self.indices: dict[str, dict[str, set[str]]] = {"namespace": {"default": {"b", "a"}, "": {"c"}}}

    def contents(self, most: int = 0) -> Any:
        counts = {name: {value: len(keys) for value, keys in index.items()} for name, index in self.indices.items()}
        return SimpleNamespace(items=self.items, indices=self.indices, counts=counts, resource_version="9")

    def size(self) -> int:
        return len(self.items)


class Reflector:
    def __init__(self) -> None:
        self.contact: float | None = None
        self.description = ""

    def last_contact(self) -> float | None:
        return self.contact

    def last_sync_resource_version(self) -> str:
        return "12"

    def type_description(self) -> str:
        return self.description


class Fifo:
    def __init__(self, deltas: list[Any]) -> None:
        self.deltas = deltas

    def contents(self, most: int) -> Any:
        return SimpleNamespace(deltas=self.deltas[:most], length=len(self.deltas), initial_left=2, synced=True)


def notice(new: Any = None, old: Any = None, at: float = 0.0) -> Any:
    return SimpleNamespace(new_obj=new, old_obj=old, queued_at=at)


class Handler:
    def __init__(self, delivering: Any = None, taken: Any = (), pending: Any = (), name: str = "handler") -> None:
        self.call, self.taken, self.pending, self._name = delivering, taken, pending, name

    def contents(self, most: int) -> Any:
        return SimpleNamespace(delivering=self.call, taken=self.taken[:most], pending=self.pending[:most])

    def waiting(self) -> int:
        return len(self.taken) + len(self.pending) + (self.call is not None)

    def lengths(self) -> tuple[int, int]:
        return len(self.pending), len(self.taken)

    def name(self) -> str:
        return self._name

    def delivering(self) -> Any:
        return self.call


class Queue:
    def __init__(self, **contents: Any) -> None:
        nothing: dict[str, Any] = {
            "order": (),
            "dirty": (),
            "processing": (),
            "waiting": (),
            "failures": {},
            "priorities": {},
        }
        self.held = SimpleNamespace(**{**nothing, **contents})

    def contents(self) -> Any:
        return self.held

    def processing(self) -> frozenset[Any]:
        return frozenset(self.held.processing)

    def state_of(self, item: Any) -> tuple[bool, bool]:
        return item in self.held.dirty, item in self.held.processing

    def get(self) -> Any:
        raise AssertionError("the view takes nothing")


class Program:
    """A live program of one informer and one queue that nothing changes but a test."""

    def __init__(self, queue: Queue | None = None) -> None:
        self.clock = Clock()
        self.parts = SimpleNamespace(
            kind="*v1.ConfigMap", indexer=Indexer(), fifo=None, reflector=None, handlers=(), clock=self.clock
        )
        clock: Any = self.clock
        self.live = Live(clock=clock)
        self.view = tour.LiveView(self.live)
        self.live.watch(SimpleNamespace(parts=lambda: self.parts))
        self.queue = queue or Queue()
        self.held = Held(self.queue, self.queue, {}, "main.py:7")
        self.live._queues[id(self.queue)] = self.held
        self.live.tick()

    def paint(self) -> Any:
        return self.view.paint()["views"]

    def hop(self, station: str = "queue", kind: str = "added", key: str = "a", **about: Any) -> None:
        fields: dict[str, Any] = {"number": 0, "time": 0.0, "thread": "main", "code": CODE, **about}
        self.live._receive(Hop(station=station, kind=kind, key=key, **fields))


@pytest.fixture
def program() -> Program:
    return Program()


# ---- the stations


def test_an_informer_that_has_not_started_has_an_indexer_alone(program: Program) -> None:
    views = program.paint()
    assert views["apiserver"] == views["reflector"] == views["fifo"] == {}
    assert views["handlers"] == {"handlers": []} and views["workers"] == {"workers": {}}
    assert views["indexer"] == {
        "objects": [{"key": "default/apple", "version": "7", "ref": "default/apple@7"}],
        "indices": {"namespace": {'""': ["c"], "default": ["a", "b"]}},
        "version": "9",
        "facts": [["length", 1]],
    }
    seen = program.view.paint()
    informer = {"kind": "*v1.ConfigMap", "objects": 1, "pending": 0, "version": "", "heard": None}
    assert seen["informers"] == [informer] and seen["queues"] == ["1: main.py:7 (Queue)"]
    assert (seen["unlisted"], seen["detached"], seen["last"], seen["calls"], seen["skipped"]) == (0, False, -1, 0, 0)
    assert seen["elapsed"] == 0.0
    program.clock.time += 1.23456
    assert program.view.paint()["elapsed"] == 1.235


@pytest.mark.parametrize(("informer", "queue"), [(1, 1), (0, 1), (1, 0)])
def test_an_informer_or_a_queue_that_is_not_there_has_empty_views(program: Program, informer: int, queue: int) -> None:
    views = program.view.paint(informer, queue)["views"]
    assert (views["indexer"] == {}) == (views["handlers"] == {}) == (informer == 1)
    assert (views["queue"] == {}) == (queue == 1)


@pytest.mark.parametrize(("informer", "queue"), [(-1, 0), (0, -1)])
def test_numbers_below_zero_are_refused(program: Program, informer: int, queue: int) -> None:
    for ask in (program.view.paint, lambda *chosen: program.view.look(0, *chosen)):
        with pytest.raises(ValueError, match="counted from 0"):
            ask(informer, queue)


def test_a_fifo_shows_its_deltas_and_the_objects_of_a_list(program: Program) -> None:
    listed = SimpleNamespace(objects=[config_map(f"n-{number}", "1") for number in range(25)], resource_version="9")
    deltas = [cache.Delta(cache.DeltaType.DELETED, TOMBSTONE), cache.Delta(cache.DeltaType.SYNC, APPLE)]
    listing = cache.Delta(cache.DeltaType.REPLACED_ALL, listed)
    program.parts.fifo = Fifo([("default/apple", deltas), ("", [listing])])
    view = program.paint()["fifo"]
    (apple, all_) = view.pop("keys")
    assert view == {"name": "Fifo", "length": 2, "initialLeft": 2, "synced": True, "facts": []}
    assert apple == {
        "key": "default/apple",
        "deltas": [
            {"type": "Deleted", "version": "5", "ref": "default/apple@5", "tombstone": True},
            {"type": "Sync", "version": "7", "ref": "default/apple@7", "tombstone": False},
        ],
    }
    keys = [f"default/n-{number}" for number in range(24)]
    assert all_["deltas"] == [
        {"type": "ReplacedAll", "version": "9", "ref": "@9", "tombstone": False, "keys": [*keys, "+1"]}
    ]
    listed.objects.pop()
    assert program.paint()["fifo"]["keys"][1]["deltas"][0]["keys"] == keys


def test_handlers_show_what_is_pending_taken_and_delivered(program: Program) -> None:
    busy = Handler(notice(APPLE, OLDER, 90.0), [notice(APPLE, at=91.5)], [notice(old=TOMBSTONE, at=92.0)] * 30)
    program.parts.handlers = (busy, Handler(name="idle"))
    program.live.pause("idle")
    program.live.tick()
    program.clock.time += 0.25
    first, second = program.paint()["handlers"]["handlers"]
    about = {"key": "default/apple", "tombstone": False}
    update = {**about, "method": "on_update", "version": "7", "ref": "default/apple@7", "queued": 90.0}
    delete = {"method": "on_delete", "version": "5", "ref": "default/apple@5", "queued": 92.0, "tombstone": True}
    assert first == {
        "name": "handler",
        "pending": [{**about, **delete}] * 24,
        "taken": [{**update, "method": "on_add", "queued": 91.5}],
        "delivering": update,
        "totals": {"pending": 30, "taken": 1},
        "paused": False,
        "facts": [["length", 32], ["oldest", "10.2s"], ["in-call", "0.2s"]],
    }
    assert second == {
        "name": "idle",
        "pending": [],
        "taken": [],
        "delivering": None,
        "totals": {"pending": 0, "taken": 0},
        "paused": True,
        "facts": [["length", 0]],
    }
    assert program.view.paint()["informers"][0]["pending"] == 32
    program.live.go_on("idle")


@pytest.mark.parametrize(
    ("handler", "oldest"),
    [
        (Handler(None, [notice(APPLE, at=91.0)], [notice(APPLE, at=92.0)]), "9.0s"),
        (Handler(None, [], [notice(APPLE, at=1.0)]), "99.0s"),
        (Handler(None, [], [notice(APPLE, at=0.04)]), "100.0s"),
        (Handler(None, [], [notice(APPLE, at=-0.6)]), "101s"),
        (Handler(None, [], [SimpleNamespace(old_obj=APPLE)]), "0.0s"),
    ],
)
def test_the_oldest_notification_is_delivered_taken_or_pending(program: Program, handler: Any, oldest: str) -> None:
    program.parts.handlers = (handler,)
    assert ["oldest", oldest] in program.paint()["handlers"]["handlers"][0]["facts"]


def test_a_queue_shows_the_beginning_of_each_list_and_all_lengths() -> None:
    many = [f"k-{number:02}" for number in range(30)]
    program = Program(
        Queue(
            order=many,
            dirty=many,
            processing=["y", "x"],
            waiting=[(1.23456, f"w-{number}") for number in range(26)],
            failures=dict.fromkeys(many, 2),
            priorities={"k-01": 5, "k-29": 9, "gone": 1},
        )
    )
    program.held.since.update({"gone": 1.0, "k-03": 97.5, "k-02": 99.0})
    view = program.paint()["queue"]
    assert view["order"] == view["dirty"] == many[:24] == list(view["failures"])
    assert view["processing"] == ["x", "y"] and view["priorities"] == {"k-01": 5}
    assert view["waiting"] == [{"key": f"w-{number}", "due": 1.235} for number in range(24)]
    assert set(view["failures"].values()) == {2} and view["length"] == 30
    assert view["totals"] == {"order": 30, "dirty": 30, "processing": 2, "waiting": 26, "failures": 30}
    assert view["facts"] == [["length", 30], ["oldest", "2.5s"]]


@pytest.mark.parametrize(("ages", "left"), [(1001, 1001), (1002, 1)])
def test_the_ages_of_items_that_are_gone_are_dropped_when_there_are_many(ages: int, left: int) -> None:
    program = Program(Queue(order=["a"], dirty=["a"]))
    program.held.since.update({"a": 99.0} | dict.fromkeys(range(ages - 1), 1.0))
    assert program.paint()["queue"]["facts"] == [["length", 1], ["oldest", "1.0s"]]
    assert len(program.held.since) == left and "a" in program.held.since


def test_workers_are_those_of_the_queues_and_those_that_began_before(program: Program) -> None:
    program.queue.held.processing = ("early",)
    program.live.slow("MainThread", 1.5)
    me = threading.get_ident()
    program.live._workers[me] = id(program.queue), "done already", 99.0
    program.live._workers[-1] = id(program.queue), "of a thread that is gone", 99.0
    program.hop("workers", "error", "a", thread="MainThread", more={"error": "OSError: gone"})
    known = {"key": "", "doing": "waiting", "for": "1.0s", "delay": 1.5, "error": "OSError: gone"}
    early = {"key": "early", "doing": "reconciles", "for": "", "delay": 0.0, "error": ""}
    assert program.paint()["workers"]["workers"] == {"? 0": early, threading.current_thread().name: known}
    assert list(program.live._workers) == [me]
    program.queue.held.processing = ("early", "mine")
    program.live._workers[me] = id(program.queue), "mine", 98.0
    mine = {"key": "mine", "doing": "reconciles", "for": "2.0s", "delay": 1.5, "error": ""}
    assert program.paint()["workers"]["workers"][threading.current_thread().name] == mine
    program.hop("workers", "ok", "mine", thread="MainThread")
    program.queue.held.processing = ()
    assert program.paint()["workers"]["workers"][threading.current_thread().name]["error"] == ""
    program.live._workers[me] = -1, "of a queue that is gone", 98.0
    assert program.paint()["workers"]["workers"] == {}


@pytest.mark.parametrize(("items", "shown"), [(47, 47), (48, 48), (49, 48), (80, 48)])
def test_forty_eight_workers_are_shown(program: Program, items: int, shown: int) -> None:
    program.queue.held.processing = [*range(items)]
    assert len(program.paint()["workers"]["workers"]) == shown


# ---- the reflector and the history, from hops


def reflected(program: Program, contact: float | None = 99.5) -> Reflector:
    program.parts.reflector = reflector = Reflector()
    reflector.contact = contact
    return reflector


@pytest.mark.parametrize(
    ("kinds", "state", "counts", "error"),
    [
        (["list"], "listing", (1, 0, 0), ""),
        (["list", "listed", "watch"], "watching", (1, 1, 0), ""),
        (["list", "watch", "bookmark", "bookmark"], "watching", (1, 1, 2), ""),
        (["watch", "ended!"], "idle", (0, 1, 0), "E"),
        (["watch", "ended"], "idle", (0, 1, 0), ""),
        (["list", "failed!"], "idle", (1, 0, 0), "E"),
        (["list", "failed!", "backoff!"], "waiting", (1, 0, 0), "E"),
        (["failed!", "list"], "listing", (1, 0, 0), "E"),
        (["failed!", "list", "listed"], "listing", (1, 0, 0), ""),
        (["failed!", "watch"], "watching", (0, 1, 0), "E"),
        (["failed!", "watch", "bookmark"], "watching", (0, 1, 1), ""),
        (["failed!", "watch", "line"], "watching", (0, 1, 0), ""),
        (["listed"], "idle", (0, 0, 0), ""),
    ],
)
def test_the_state_of_a_reflector_is_that_of_its_hops(
    program: Program, kinds: list[str], state: str, counts: tuple[int, int, int], error: str
) -> None:
    reflector = reflected(program)
    for kind in kinds:
        more = {"error": "E"} if kind.endswith("!") else {}
        program.hop("reflector", kind.rstrip("!"), more=more, owner=reflector, object=APPLE)
    assert program.paint()["reflector"] == {
        "state": state,
        **dict(zip(("lists", "watches", "bookmarks"), counts, strict=True)),
        "error": error,
        "version": "12",
        "facts": [["heard", "0.5s"]],
    }
    assert program.view.paint()["informers"][0]["heard"] == 0.5
    assert program.view.paint()["informers"][0]["version"] == "12"


@pytest.mark.parametrize(("contact", "state", "facts"), [(None, "idle", []), (98.0, "watching", [["heard", "2.0s"]])])
def test_a_reflector_without_hops_watches_if_it_had_contact(
    program: Program, contact: float | None, state: str, facts: Any
) -> None:
    reflected(program, contact)
    view = program.paint()["reflector"]
    assert (view["state"], view["facts"], view["lists"], view["watches"], view["bookmarks"]) == (state, facts, 0, 0, 0)


def test_the_history_has_the_last_six_lines_of_the_kind(program: Program) -> None:
    reflected(program)
    assert program.paint()["apiserver"]["history"] == []
    for number in range(8):
        program.hop("reflector", "line", "default/apple", version=str(number), more={"type": "ADDED"}, object=APPLE)
        program.hop("reflector", "line", "default/s", version="1", object=corev1.Secret())
    lines = [{"type": "ADDED", "key": "default/apple", "version": str(number), "ref": ""} for number in range(2, 8)]
    assert program.paint()["apiserver"] == {
        "version": "12",
        "objects": [],
        "history": lines,
        "oldest": "",
        "wire": "up",
        "remote": True,
    }


# ---- looks, hops and objects


def test_a_look_has_what_changed_since_the_look_that_is_named(program: Program) -> None:
    first = program.view.look(0)
    assert set(first["views"]) == set(program.paint()) and {"informers", "queues"} <= set(first)
    again = program.view.look(first["look"])
    assert again["views"] == {} and "informers" not in again and "queues" not in again
    assert again["look"] == first["look"] + 1
    program.parts.indexer.items["default/bread"] = config_map("bread", "8")
    changed = program.view.look(again["look"])
    assert set(changed["views"]) == {"indexer"} and changed["informers"][0]["objects"] == 2 and "queues" not in changed
    for name in ("unlisted", "detached", "last", "calls", "skipped", "elapsed"):
        assert changed[name] == program.view.paint()[name]


@pytest.mark.parametrize(("others", "is_known"), [(31, True), (32, False)])
def test_thirty_two_looks_are_remembered(program: Program, others: int, is_known: bool) -> None:
    number = program.view.look(0)["look"]
    for _ in range(others):
        program.view.look(0)
    assert (program.view.look(number)["views"] == {}) is is_known


def test_the_hops_of_a_look_have_no_lists_and_name_their_code_by_number(program: Program) -> None:
    other = Code("other.py", "g", "", "", 1, (), "file.py:1")
    more = {"count": 2, "keys": ["a"], "others": {"x": 1}, "error": "OSError: gone"}
    program.hop(key="a", more=more, version="3", old="2", time=1.5, thread="t")
    program.hop(key="b", code=other)
    program.hop(key="c")
    look = program.view.look(0)
    about = {"station": "queue", "kind": "added", "time": 0.0, "thread": "main", "version": "", "old": "", "more": {}}
    shown = {"count": 2, "error": "OSError: gone"}
    assert look["hops"] == [
        {**about, "key": "a", "code": 0, "time": 1.5, "thread": "t", "version": "3", "old": "2", "more": shown},
        {**about, "key": "b", "code": 1},
        {**about, "key": "c", "code": 0},
    ]
    assert look["codes"] == [CODE.to_dict(), other.to_dict()] and look["last"] == 2
    assert [hop["key"] for hop in program.view.look(0, since=0)["hops"]] == ["b", "c"]
    assert [hop["key"] for hop in program.view.look(0, key="b")["hops"]] == ["b"]
    assert [hop["more"] for hop in program.view.paint()["hops"]] == [more, {}, {}]
    for _ in range(60):
        program.hop(key="d")
    assert len(program.view.paint()["hops"]) == 60


def test_after_the_end_only_the_hops_are_shown(program: Program) -> None:
    program.hop()
    program.live.detach()
    seen = program.view.paint()
    assert seen["detached"] and seen["informers"] == seen["queues"] == [] and seen["unlisted"] == 0
    assert set(map(str, seen["views"].values())) == {"{}"} and len(seen["views"]) == 7
    assert [hop["key"] for hop in seen["hops"]] == ["a"]


def test_the_states_of_an_object_are_those_of_the_cache_and_of_the_hops(program: Program) -> None:
    APPLE_WITH_FIELDS = config_map("apple", "6")
    APPLE_WITH_FIELDS.metadata.managed_fields = [metav1.ManagedFieldsEntry(manager="m")]
    secret = corev1.Secret(metadata=metav1.ObjectMeta(name="apple", namespace="default", resource_version="4"))
    for obj in (OLDER, APPLE_WITH_FIELDS, secret, None, TOMBSTONE):
        program.hop(key="default/apple", object=obj)
    program.hop(key="default/other", object=config_map("other", "1"))
    states = program.view.object(0, "default/apple")
    assert list(states) == ["default/apple@5", "default/apple@6", "default/apple@7"]
    assert "managedFields" not in states["default/apple@6"]["metadata"]
    everywhere = ["default/apple@5", "default/apple@6", "default/apple@4"]
    assert list(program.view.object(1, "default/apple")) == everywhere
    assert list(program.view.object(-1, "default/apple")) == everywhere


def test_the_rates_of_a_station_are_those_of_its_functions(program: Program) -> None:
    counted = Counter(
        {"handlers.add": 3, "handlers.update": 20, "queue.add": 4, "queue.add_with_priority": 1, "indexer.delete": 2}
    )
    for tap, meter in program.live._seam.meters.items():
        for _ in range(counted[tap.hop]):
            meter.count()
    program.clock.time += 2.0
    program.live.tick()
    program.parts.handlers = (Handler(name="one"), Handler(name="two"))
    seen = program.view.paint()
    views = seen["views"]
    first, second = views["handlers"]["handlers"]
    assert first["facts"] == [["length", 0]]
    assert second["facts"] == [["length", 0], ["per-second-added", "2/s"], ["per-second-updated", "10/s"]]
    assert views["queue"]["facts"] == [["length", 0], ["per-second-adds", "2/s"]]
    assert views["indexer"]["facts"] == [["length", 1], ["per-second-removed", "1/s"]]
    assert (seen["calls"], seen["skipped"]) == (30, 30)


# ---- Secrets


def test_an_index_of_secrets_shows_no_values_but_namespaces(program: Program) -> None:
    program.parts.indexer.indices["by-password"] = {"hunter2": {"a"}, "": {"b"}}
    assert list(program.paint()["indexer"]["indices"]["by-password"]) == ['""', "hunter2"]
    program.parts.kind = "*v1.Secret"
    indices = program.paint()["indexer"]["indices"]
    assert list(indices["namespace"]) == ['""', "default"]
    (empty, hidden) = indices["by-password"]
    assert empty == '""' and "hunter2" not in hidden


def test_an_error_text_is_shown_without_the_values_of_secrets_in_the_caches(program: Program) -> None:
    program.parts.indexer.items["default/s"] = corev1.Secret(
        metadata=metav1.ObjectMeta(name="s", namespace="default"), data={"password": b"hunter2hunter2"}
    )
    program.hop(more={"error": "a hunter2hunter2 b", "message": "c hunter2hunter2", "other": "hunter2hunter2"})
    reflected(program).description = "/v1, Resource=secrets"
    program.parts.kind = "x"
    assert program.live.carries_secrets(program.parts)
    more = program.view.paint()["hops"][0]["more"]
    assert "hunter2" not in more["error"] and "hunter2" not in more["message"] and more["other"] == "hunter2hunter2"
    assert more["error"].startswith("a ") and more["error"].endswith(" b")


def test_of_error_texts_the_last_256_are_remembered(program: Program) -> None:
    for number in range(256):
        program.view._scrubbed(f"error {number}")
    assert len(program.view._texts) == 256
    assert program.view._scrubbed("error 0") == "error 0" and program.view._scrubbed("") == ""
    assert len(program.view._texts) == 256
    program.view._scrubbed("one more")
    assert list(program.view._texts) == ["one more"]


@pytest.mark.parametrize(
    ("kind", "description", "is_hidden"),
    [
        ("*v1.Secret", "", True),  # the informer says so
        ("*v1.ConfigMap", "/v1, Resource=secrets", True),  # its requests say so
        ("*v1.ConfigMap", "/v1, Resource=configmaps", False),
        ("*v1.Pod", "/v1, Resource=secrets", False),  # the state is of no such informer
    ],
)
def test_a_state_that_no_cache_has_is_hidden_if_an_informer_of_secrets_may_have_brought_it(
    program: Program, kind: str, description: str, is_hidden: bool
) -> None:
    program.parts.kind = kind
    reflected(program).description = description
    obj: Any = config_map("gone", "3", "a value")
    if kind == "*v1.Secret":
        obj = corev1.Secret(metadata=obj.metadata, string_data={"text": "a value"})
    program.hop(key="default/gone", object=obj)
    (shown,) = program.view.object(1, "default/gone").values()  # whatever informer the page has chosen
    assert ("a value" not in str(shown)) is is_hidden


def test_the_values_of_2000_secrets_are_taken_out(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    contents = program.parts.indexer.contents
    monkeypatch.setattr(program.parts.indexer, "contents", lambda most: (asked.append(most), contents(most))[1])
    reflected(program).description = "/v1, Resource=secrets"
    learned: list[Any] = []
    monkeypatch.setattr(program.view._secrecy, "learn", learned.extend)
    assert program.view._scrubbed("an error") == program.view._scrubbed("an error") == "an error"
    assert set(asked) == {2000} and learned == [APPLE]  # each Secret once
    newer = program.parts.indexer.items["default/apple"] = config_map("apple", "8")
    program.view._scrubbed("an error")
    assert learned == [APPLE, newer]


def test_a_text_that_was_shown_before_its_value_came_is_hidden_then(program: Program) -> None:
    reflected(program).description = "/v1, Resource=secrets"
    assert program.view._scrubbed("a hunter2hunter2") == "a hunter2hunter2"
    secret = corev1.Secret(metadata=metav1.ObjectMeta(name="s"), string_data={"password": "hunter2hunter2"})
    program.parts.indexer.items["default/s"] = secret
    assert program.view._scrubbed("a hunter2hunter2") == "a (hidden)"


def test_an_object_is_shown_without_the_values_of_secrets_in_other_caches(program: Program) -> None:
    """The page showed them in ConfigMaps, before any error text let it learn them."""
    secret = corev1.Secret(metadata=metav1.ObjectMeta(name="s"), string_data={"password": "hunter2hunter2"})
    secrets = SimpleNamespace(items={"default/s": secret})
    held = SimpleNamespace(indexer=SimpleNamespace(contents=lambda most=0: secrets))
    found = program.live.informers()
    program.live.informers = lambda: [*found, SimpleNamespace(parts=lambda: held)]  # type: ignore[method-assign]
    carries = program.live.carries_secrets
    program.live.carries_secrets = lambda parts: parts is held or carries(parts)  # type: ignore[method-assign]
    program.parts.indexer.items["default/apple"] = config_map("apple", "7", "url: x:hunter2hunter2@y")
    (shown,) = program.view.object(0, "default/apple").values()
    assert shown["data"] == {"text": "url: x:(hidden)@y"}


def test_the_first_informer_and_the_first_queue_are_shown_unless_others_are_asked_for(program: Program) -> None:
    program.hop(owner=program.queue)
    painted, looked, past = program.view.paint(), program.view.look(0), program.view.past("queue.order", "a")
    assert painted["views"]["queue"]["order"] == [] and painted["views"]["indexer"]["version"] == "9"
    assert {name: looked["views"][name] for name in ("queue", "indexer")} == {
        name: painted["views"][name] for name in ("queue", "indexer")
    }
    assert [each["key"] for each in painted["hops"]] == [each["key"] for each in looked["hops"]] == ["a"]
    assert [link["at"] for link in past["links"]] == [0] and past["changes"]["queue.order"] == 0
    assert program.view.past("queue.order", "a", informer=1) == past
    assert program.view.past("queue.order", "a", queue=1)["links"] == []


def test_the_past_of_a_notification_is_that_of_the_handler_with_its_name(program: Program) -> None:
    handlers = [Handler(name=name) for name in ("h", "h", "k")]
    program.parts.handlers = handlers
    names = [program.live.name_of(each) for each in handlers]
    assert names == ["h", "h #2", "k"]
    for number, handler in enumerate(handlers):
        # A call is of the handler whose notification its thread has taken.
        program.hop("handlers", "taken", "", owner=handler)
        program.hop("handlers", "called", "a", more={"handler": handler.name(), "queued": float(number)})

    def found(handler: str) -> list[float]:
        past = program.view.past("handlers.delivering", "a", handler=handler)
        return [past["hops"][link["at"]]["more"]["queued"] for link in past["links"]]

    # Hops name a handler without its number.
    assert (found("h"), found("h #2"), found("k"), found("none"), found("")) == ([1.0], [1.0], [2.0], [], [2.0])
