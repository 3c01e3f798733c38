"""The past as items of a menu: the hops of a chain, the last changes, and every key that a state has."""

from __future__ import annotations

from typing import Any

from clientgo.tour.past import Link
from clientgo.tour.pastmenu import Place, chain_items, change_items, keys_in
from clientgo.tour.words import Words

EN = Words("en")


def notice(method: str, key: str, **about: Any) -> dict[str, Any]:
    return {"method": method, "key": key, "version": "1", "tombstone": False, **about}


def hop(station: str, kind: str, key: str, version: str, time: float = 1.25) -> dict[str, Any]:
    return {"station": station, "kind": kind, "key": key, "version": version, "time": time, "thread": "t"}


HOPS = [
    hop("queue", "added", "default/a", ""),
    hop("indexer", "stored", "default/a", "7"),
    hop("fifo", "popped", "x", "8"),
]


def test_a_chain_has_an_item_for_each_hop_that_leads_there() -> None:
    gone: list[int] = []
    links = [Link(0, "default/a"), Link(1, "default/a"), Link(2, "default/b")]
    queue, indexer, fifo = (EN.kind(each["station"], each["kind"]) for each in HOPS)
    names = [EN(each["station"]) for each in HOPS]
    items = chain_items(EN, HOPS, links, gone.append)
    assert [text for text, _ in items] == [
        f"{EN('hop')} 1  {names[0]}: {queue}  a  [t]",
        f"{EN('hop')} 2  {names[1]}: {indexer}  a @7  [t]",
        f"{EN('hop')} 3  {names[2]}: {fifo}  b  [t]",
    ]
    for _, action in items:
        assert action is not None
        action()
    assert gone == [0, 1, 2]
    live = chain_items(EN, HOPS, links[:1], None)
    assert live == [(f"+1.25s  {names[0]}: {queue}  a  [t]", None)]
    assert chain_items(EN, HOPS, [], gone.append) == [(EN("not-recorded"), None)]


def test_the_last_changes_have_the_latest_first_and_equal_ones_by_name() -> None:
    gone: list[int] = []
    hops = [*HOPS, hop("reflector", "watch", "", "")]
    kinds = [EN.kind(each["station"], each["kind"]) for each in hops]
    items = change_items(EN, hops, {"b": 0, "c": 1, "a": 0, "d": 3}, gone.append)
    assert [text for text, _ in items] == [
        f"d  {EN('hop')} 4  {kinds[3]}",
        f"c  {EN('hop')} 2  {kinds[1]}  a",
        f"a  {EN('hop')} 1  {kinds[0]}  a",
        f"b  {EN('hop')} 1  {kinds[0]}  a",
    ]
    assert items[0][1] is not None
    items[0][1]()
    assert gone == [3]
    assert change_items(EN, hops, {"b": 2}, None) == [(f"b  +1.25s  {kinds[2]}  x", None)]
    assert change_items(EN, hops, {}, gone.append) == [(EN("never-changed"), None)]


def test_the_keys_of_a_state_are_found_in_every_place() -> None:
    name = "pkg.Enqueuer"
    state: dict[str, Any] = {
        "queue": {
            "order": ["q"],
            "dirty": ["r"],
            "processing": ["x"],
            "failures": {"default/d": 3},
            "waiting": [{"key": "default/c", "due": 1.5}],
        },
        "workers": {"workers": {"w0": {"key": "default/a"}, "w1": {"key": ""}}},
        "handlers": {
            "handlers": [
                {
                    "name": name,
                    "pending": [notice("on_add", "default/a")],
                    "taken": [notice("on_delete", "default/b")],
                    "delivering": notice("on_update", "c/d", queued=2.5),
                },
                {"name": "idle", "pending": [], "taken": [], "delivering": None},
            ]
        },
        "fifo": {"informers": [{"kind": "x", "keys": [{"key": "f"}, {"key": ""}]}, {"kind": "y"}]},
        "indexer": {"objects": [{"key": "i", "version": "3"}]},
        "apiserver": {"objects": [{"key": "s", "version": "4"}]},
    }
    assert list(keys_in(state)) == [
        Place("queue.order", "q"),
        Place("queue.dirty", "r"),
        Place("queue.processing", "x"),
        Place("queue.waiting", "default/c"),
        Place("queue.failures", "default/d"),
        Place("workers", "default/a"),
        Place("handlers.pending", "default/a", name, "1"),
        Place("handlers.taken", "default/b", name, "1"),
        Place("handlers.delivering", "c/d", name, "1", 2.5),
        Place("fifo.deltas", "f"),
        Place("indexer.objects", "i", "", "3"),
        Place("apiserver.objects", "s", "", "4"),
    ]
    assert list(keys_in({})) == [] and Place("a", "b") == ("a", "b", "", "", None)
