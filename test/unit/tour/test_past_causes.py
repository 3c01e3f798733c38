"""The cause of each kind of hop, among hops that differ from the cause in one thing only."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.tour import past

Json = dict[str, Any]


def hop(name: str, key: str = "a", thread: str = "t", version: str = "", **more: Any) -> Json:
    station, kind = name.split(".")
    return {"station": station, "kind": kind, "key": key, "thread": thread, "version": version, "more": more}


def notified(key: str = "a", version: str = "1", queued: float | None = 1.0) -> Json:
    return {"key": key, "version": version, "queued": queued}


def buffered(*notifications: Json, handler: str = "h", thread: str = "t") -> Json:
    return hop("handlers.buffered", "", thread, handler=handler, notifications=list(notifications))


SAME = {"version": "1"}
# The place, the hop that brought the key there, its cause, and hops that are not its cause.
CAUSES: list[tuple[str, Json, Json, list[Json]]] = [
    *(
        (place, hop(f"queue.{kind}"), hop(cause), [hop(cause, thread="u"), hop(other), hop("queue.taken")])
        for place, kind in (("queue.order", "added"), ("queue.dirty", "marked"), ("queue.order", "raised"))
        for cause in ("handlers.called", "queue.due", "workers.reconcile", "workers.ok", "workers.error")
        for other in ("handlers.returned", "queue.waits")
    ),
    # A handler may add another key than its object's.
    ("queue.order", hop("queue.added"), hop("handlers.called", "b"), [hop("workers.ok", "b"), hop("queue.due", "b")]),
    *(
        (
            "queue.processing",
            hop("queue.taken"),
            hop(f"queue.{kind}", thread="u"),
            [hop(f"queue.{kind}", "b"), hop("queue.marked"), hop("workers.ok")],
        )
        for kind in ("added", "requeued", "raised")
    ),
    (
        "queue.order",
        hop("queue.requeued"),
        hop("queue.marked", thread="u"),
        [hop("queue.marked", "b"), hop("queue.added"), hop("workers.ok")],
    ),
    *(
        (
            "queue.waiting",
            hop(f"queue.{kind}"),
            hop(cause),
            [hop(cause, thread="u"), hop("queue.failure", "b"), hop("queue.due"), hop("workers.reconcile")],
        )
        for kind in ("waits", "sooner")
        for cause in ("queue.failure", "workers.error", "workers.ok", "handlers.called")
    ),
    *(
        (
            "queue.failures",
            hop("queue.failure"),
            hop(cause),
            [hop(cause, thread="u"), hop(cause, "b"), hop("queue.added"), hop("handlers.called")],
        )
        for cause in ("workers.error", "workers.ok", "workers.reconcile", "queue.taken")
    ),
    (
        "workers",
        hop("workers.reconcile"),
        hop("queue.taken"),
        [hop("queue.taken", thread="u"), hop("queue.taken", "b"), hop("queue.added"), hop("handlers.taken")],
    ),
    *(
        (
            "workers",
            hop(f"workers.{kind}"),
            hop("workers.reconcile"),
            [hop("workers.reconcile", thread="u"), hop("workers.reconcile", "b"), hop("workers.ok", "c")],
        )
        for kind in ("ok", "error")
    ),
    (
        "handlers.delivering",
        hop("handlers.called", version="1", handler="h", queued=1.0),
        buffered(notified("b"), notified(), thread="u"),
        [
            buffered(notified(), handler="g"),
            buffered(notified(version="2")),
            buffered(notified(queued=2.0)),
            buffered(notified("b")),
            {**buffered(notified()), "kind": "taken"},
            {**buffered(notified()), "station": "fifo"},
        ],
    ),
    *(
        (
            "handlers.pending",
            buffered(notified()),
            hop(cause, **SAME),
            [hop(cause, thread="u", **SAME), hop(cause, "b", **SAME), hop("fifo.queued", **SAME), hop("queue.removed")],
        )
        for cause in ("indexer.stored", "indexer.replaced", "indexer.removed", "fifo.popped")
    ),
    (
        "handlers.pending",
        buffered(notified()),
        hop("indexer.relisted", ""),
        [hop("indexer.relisted", "", thread="u"), hop("fifo.popped", "", types=["Added"])],
    ),
    *(
        (
            "indexer.objects",
            hop("indexer.stored", **SAME),
            hop(cause, **SAME),
            [hop(cause, thread="u"), hop(cause, "b"), hop("fifo.queued"), hop("reflector.bookmark")],
        )
        for cause in ("fifo.popped", "reflector.line")
    ),
    (
        "indexer.objects",
        hop("indexer.stored", **SAME),
        hop("fifo.popped", "", keys=["b", "a"]),
        [hop("fifo.popped", "", keys=["b"])],
    ),
    *(
        (
            "fifo.deltas",
            hop("fifo.queued", type="Added", **SAME),
            hop("reflector.line", **SAME),
            [hop(name, "", **SAME), hop("reflector.line", thread="u", **SAME), hop("reflector.line", "b", **SAME)],
        )
        for name in ("reflector.listed", "reflector.bookmark", "fifo.resync", "reflector.watch")
    ),
    *(
        (
            "fifo.deltas",
            hop("fifo.queued", type=kind, **SAME),
            hop(cause, "", **SAME),
            [hop(cause, "", "u", **SAME), hop("reflector.line", "b", **SAME), hop("reflector.watch", "", **SAME)],
        )
        for kind in ("Replaced", "Sync", "Deleted")
        for cause in ("reflector.listed", "reflector.bookmark", "fifo.resync")
    ),
]


@pytest.mark.parametrize(("place", "arrived", "cause", "others"), CAUSES)
def test_the_cause_of_a_hop_is_found_among_others(place: str, arrived: Json, cause: Json, others: list[Json]) -> None:
    for other in others:
        hops = [cause, other, arrived]
        links = past.chain(hops, 2, place, "a")
        assert [link.at for link in links][-2:] == [0, 2], other
        assert links[-2].key == (cause["key"] if cause["kind"] == "called" else "a")
        alone = past.chain([other, arrived], 1, place, "a")
        assert [link.at for link in alone] == [1], other


def causes(*hops: Json, place: str, key: str = "a", **asked: Any) -> list[int]:
    return [link.at for link in past.chain(hops, len(hops) - 1, place, key, **asked)]


def test_a_popped_delta_comes_from_its_own_queueing() -> None:
    stored, popped = hop("indexer.stored", **SAME), hop("fifo.popped", **SAME)
    for kind in ("queued", "appended", "merged"):
        own = hop(f"fifo.{kind}", thread="u", **SAME)
        for other in (hop("fifo.queued", version="2"), hop("fifo.queued", "b", **SAME), hop("fifo.resync", **SAME)):
            assert causes(own, other, popped, stored, place="indexer.objects") == [0, 2, 3], other
            assert causes(other, popped, stored, place="indexer.objects") == [1, 2], other
    assert causes(hop("fifo.queued"), popped, stored, place="indexer.objects") == [0, 1, 2]
    # A delta about all objects comes from one of its type.
    for kind in ("ReplacedAll", "SyncAll"):
        everything = hop("fifo.popped", "", types=["Added", kind], keys=[])
        own = hop("fifo.queued", "", type=kind)
        wrong = [hop("fifo.queued", "", type="Sync"), hop("fifo.queued", type=kind), hop("fifo.queued")]
        for other in wrong:
            assert causes(own, other, everything, stored, place="indexer.objects") == [0, 2, 3], other
            assert causes(other, everything, stored, place="indexer.objects") == [1, 2], other


def test_a_resync_comes_from_the_state_in_the_indexer() -> None:
    resync, queued = hop("fifo.resync", ""), hop("fifo.queued", type="Sync", **SAME)
    for kind in ("stored", "replaced", "relisted"):
        own = hop(f"indexer.{kind}", thread="u", **SAME)
        for other in (hop("indexer.stored", "b"), hop("indexer.removed"), hop("fifo.merged")):
            assert causes(own, other, resync, queued, place="fifo.deltas")[-3:] == [0, 2, 3], other
            assert causes(other, resync, queued, place="fifo.deltas")[-2:] == [1, 2], other


def test_what_a_reflector_got_comes_from_the_server() -> None:
    line = hop("reflector.line", version="5")
    for kind in ("created", "updated", "terminating", "deleted"):
        write = hop(f"apiserver.{kind}", thread="kubectl", version="5")
        five = {"version": "5"}
        for other in (
            hop("apiserver.updated", version="6"),
            hop("apiserver.updated", "b", **five),
            hop("fifo.x", **five),
        ):
            assert causes(write, other, line, place="reflector") == [0, 2], other
            assert causes(other, line, place="reflector") == [1], other
    listed = hop("reflector.listed", "", version="5")
    write = hop("apiserver.created", thread="kubectl", version="5")
    others = [
        hop("apiserver.updated", version="6"),
        hop("apiserver.updated", "b", version="4"),
        hop("apiserver.collected", version="4"),
        hop("fifo.queued", version="4"),
    ]
    for other in others:
        assert causes(write, other, listed, place="reflector") == [0, 2], other
        assert causes(other, listed, place="reflector") == [1], other
    assert causes(write, hop("apiserver.updated", version="4"), listed, place="reflector") == [1, 2]
    # A bookmark ends the first objects of a streaming list.
    queued = hop("fifo.queued", type="Replaced", version="5")
    bookmark = hop("reflector.bookmark", "", version="5")
    for other in (hop("reflector.line", "b"), hop("reflector.line", thread="u"), hop("reflector.listed", "x")):
        assert causes(line, other, bookmark, queued, place="fifo.deltas") == [0, 2, 3], other


def test_an_event_comes_from_its_recording_and_that_from_a_worker() -> None:
    worked, recorded = hop("workers.reconcile"), hop("events.recorded")
    for kind in ("new", "counted", "combined"):
        counted, written = hop(f"events.{kind}", thread="e"), hop("events.written", thread="e")
        elsewhere = [hop("workers.ok", "b"), hop("workers.ok", thread="u")]
        hops = [worked, *elsewhere, recorded, hop("events.new", "b"), counted]
        wrong = [hop("events.dropped"), hop("events.recorded"), hop("events.new", "b"), hop("queue.new")]
        for other in wrong:
            assert causes(*hops, other, written, place="events.stored") == [0, 3, 5, 7], other
    for kind in ("new", "counted", "combined", "dropped"):
        link = past._State(2, "a", "")
        hops = [recorded, hop("events.new" if kind == "dropped" else "events.dropped"), hop(f"events.{kind}")]
        assert past._cause_of_event(hops, link) == 0


def test_a_handlers_return_comes_from_its_call() -> None:
    called = hop("handlers.called", version="1", handler="h", queued=1.0)
    for kind in ("returned", "raised"):
        for other in (
            hop("handlers.called", thread="u"),
            hop("handlers.called", "b"),
            hop("handlers.taken"),
            hop("queue.called"),
        ):
            assert past._cause_at_handlers([called, other, hop(f"handlers.{kind}")], past._State(2, "a", "")) == 0


# ---- the last arrival


@pytest.mark.parametrize(
    ("place", "arrived", "others"),
    [
        ("queue.order", hop("queue.added"), [hop("queue.added", "b"), hop("queue.taken"), hop("apiserver.added")]),
        ("queue", hop("queue.taken"), [hop("queue.done"), hop("queue.due"), hop("queue.taken", "b")]),
        ("workers", hop("queue.taken"), [hop("queue.taken", "b"), hop("queue.added"), hop("handlers.taken")]),
        ("workers", hop("workers.ok"), [hop("workers.ok", "b"), hop("queue.done")]),
        ("handlers.taken", hop("handlers.taken", "", notifications=[notified()]), [hop("handlers.taken", "b")]),
        ("handlers.pending", buffered(notified()), [buffered(notified("b")), hop("handlers.taken")]),
        ("indexer.objects", hop("indexer.relisted", ""), [hop("indexer.removed"), hop("indexer.stored", "b")]),
        ("reflector", hop("reflector.listed", ""), [hop("reflector.line", "b"), hop("reflector.watch")]),
        ("fifo.deltas", hop("fifo.queued", "", type="SyncAll"), [hop("fifo.queued", "", type="Sync")]),
    ],
)
def test_the_last_hop_that_brought_the_key_is_found(place: str, arrived: Json, others: list[Json]) -> None:
    hops = [arrived, arrived, *others]
    assert past.arrival(hops, len(hops) - 1, place, "a") == 1
    assert past.arrival(hops, 99, place, "a") == 1 and past.arrival(hops, 1, place, "a") == 1
    assert past.arrival(hops, 0, place, "a") == 0 and past.arrival(hops, -1, place, "a") == -1
    assert past.arrival(others, len(others) - 1, place, "a") == -1


def test_a_version_a_handler_and_a_time_narrow_the_search() -> None:
    hops = [hop("indexer.stored", version="1"), hop("indexer.stored", version="2"), hop("indexer.stored")]
    found = [past.arrival(hops, 1, "indexer.objects", "a", version=version) for version in ("1", "2", "3", "")]
    assert found == [0, 1, -1, 1]
    assert past.arrival(hops, 2, "indexer.objects", "a", version="1") == 2, "a hop without a version may be it"
    hops = [hop("indexer.stored", version="1"), hop("indexer.relisted", "", version="9")]
    assert past.arrival(hops, 1, "indexer.objects", "a", version="1") == 1
    hops = [buffered(notified()), buffered(notified(queued=2.0)), buffered(notified(), handler="g")]
    ask: Any = {"handler": "h", "version": "1"}
    assert past.arrival(hops, 2, "handlers.pending", "a", **ask) == 1
    assert past.arrival(hops, 2, "handlers.pending", "a", queued=1.0, **ask) == 0
    assert past.arrival(hops, 2, "handlers.pending", "a", queued=1.0) == 2
    assert past.arrival(hops, 2, "handlers.pending", "a", queued=3.0, **ask) == -1
    unnamed = [hop("handlers.called", version="1", queued=1.0), hop("handlers.called", version="1")]
    assert past.arrival(unnamed, 1, "handlers.delivering", "a", handler="any", queued=2.0) == 1
    assert past.arrival(unnamed[:1], 0, "handlers.delivering", "a", handler="any", queued=2.0) == -1


def test_a_merged_notification_has_the_time_of_the_first_and_the_state_of_the_last() -> None:
    first, last = buffered(notified(version="1")), buffered(notified(version="3", queued=2.0))
    other = buffered(notified(version="3", queued=9.0), handler="g")
    hops = [last, first, other, last, last]
    ask: Any = {"handler": "h", "version": "3", "queued": 1.0}
    assert past.arrival(hops, 4, "handlers.pending", "a", **ask) == 3
    assert past.arrival(hops, 2, "handlers.pending", "a", **ask) == -1
    assert past.arrival([last, other, last], 2, "handlers.pending", "a", **ask) == -1
    assert past.arrival(hops, 4, "handlers.pending", "a", **{**ask, "version": ""}) == 1
    assert past.arrival(hops, 4, "handlers.taken", "a", **ask) == -1
    called = hop("handlers.called", version="3", handler="h", queued=1.0)
    assert [link.at for link in past.chain([*hops, called], 5, "handlers.delivering", "a")] == [3, 5]


def test_the_other_notifications_of_a_large_hop_count_too() -> None:
    others = {"keys": ["b", "a", "a"], "versions": ["7", "8", "9"], "queued": [1.0, 2.0, 3.0]}
    large = hop("handlers.buffered", "", handler="h", notifications=[notified("c")], others=others)
    found = [
        past.arrival([large], 0, "handlers.pending", key, version=version, queued=queued)
        for key, version, queued in [
            ("a", "8", 2.0),
            ("a", "9", 3.0),
            ("a", "8", 3.0),
            ("b", "8", None),
            ("d", "", 1.0),
        ]
    ]
    assert found == [0, 0, -1, -1, -1]
    assert past._version(large, "a") == "9" and past._version(large, "c") == "1" and past._version(large, "d") == ""
    assert past.last_changes([large], "a") == {"handlers.handlers": 0} and past.last_changes([large], "d") == {}


def test_a_server_outside_is_known_by_the_lines_of_its_watch_alone() -> None:
    hops = [hop("reflector.line", version="1"), hop("reflector.line", version="2"), hop("reflector.line", "b")]
    wrong = [hop("reflector.bookmark", version="1"), hop("fifo.line", version="1")]
    for place in ("apiserver", "apiserver.objects"):
        assert causes(*hops, *wrong, place=place) == [1] and causes(*hops, *wrong, place=place, version="1") == [0]
        assert past.chain(hops, 0, place, "a") == [past.Link(0, "a")]
    assert causes(*hops, place="queue.order") == []


# ---- the last change


def test_the_last_change_of_a_part_is_found_from_states() -> None:
    quiet, loud = {"x": {"n": 1, "kind": "k", "facts": []}}, {"x": {"n": 2, "m": 0}}
    assert dict(past.fields({**loud, "y": {"informers": [{"kind": "F", "k": 1}]}})) == {"x.n": 2, "x.m": 0, "y.F.k": 1}
    assert dict(past.fields(quiet)) == {"x.n": 1}
    states: Any = [quiet, quiet, loud, {**loud}, {"x": dict(loud["x"])}]
    assert past.last_change(states, 4, "x.n") == past.last_change(states, 2, "x.n") == past.Change(2, 1, 2)
    assert past.last_change(states, 1, "x.n") == past.last_change(states, 0, "x.n") == past.Change(0, None, 1)
    assert past.last_change(states, 4, "x.m") == past.Change(2, None, 0)
    assert past.last_change(states, -1, "x.n") is None and past.last_change(states, 4, "x.none") is None
    assert past.last_change([loud], 0, "x.m") is None, "a part that begins empty has not changed"


def test_the_last_change_of_each_part_is_found_from_hops() -> None:
    for part, kinds in past.CHANGES.items():
        if part == "reflector.error":
            continue
        station = part.partition(".")[0]
        for kind in kinds:
            hops = [hop(f"{station}.{kind}"), hop(f"{station}.{kind}", "b"), hop("other.any"), hop(f"{station}.other")]
            assert past.last_changes(hops)[part] == 1, part
            if kind not in ("listed", "relisted"):  # which are about every key
                assert past.last_changes(hops, "a")[part] == 0, part
                assert past.last_changes(hops, "none") == {}, part
        assert past.last_changes([hop(f"other.{kind}") for kind in kinds]) == {}


def test_a_station_has_the_arrivals_of_its_places() -> None:
    assert past.ARRIVALS["queue"] == ("added", "requeued", "raised", "marked", "taken", "waits", "sooner", "failure")
    assert past.ARRIVALS["apiserver"] == ("created", "updated", "terminating", "deleted")
    assert past.ARRIVALS["workers"] == ("reconcile", "ok", "error") and past.ARRIVALS["reflector"] == ("line", "listed")
    assert list(past.ARRIVALS) == list(dict.fromkeys(place.partition(".")[0] for place in past.PLACES))
