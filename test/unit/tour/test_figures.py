"""The figures of a lesson: each part of a station's view as a few short texts."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.tour.figures import PARTS, figure


def change(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "key": f"default/{name}", "version": "7"}


DELTAS = [{"type": "Added", "version": "5"}, {"type": "Deleted", "version": "6"}]
NOTICE = {"method": "on_add", "key": "default/a"}
HANDLERS = [
    {"name": "pkg.mod.Enqueuer+2", "pending": [NOTICE, {**NOTICE, "key": "x/b"}], "taken": [], "delivering": None},
    {"name": "Plain", "pending": [], "taken": [NOTICE], "delivering": {**NOTICE, "method": "on_delete"}},
]
STATE: dict[str, Any] = {
    "apiserver": {
        "version": "9",
        "objects": [{"key": "default/a", "version": "5"}, {"key": "x/b", "version": "6"}],
        "history": [change(kind, "g") for kind in ("ADDED", "ADDED", "MODIFIED", "DELETED", "OTHER", "ADDED", "ADDED")],
    },
    "reflector": {"version": "", "lists": 1, "watches": 2, "bookmarks": 0},
    "fifo": {"keys": [{"key": "default/a", "deltas": DELTAS}, {"key": "", "deltas": DELTAS[:1]}]},
    "indexer": {
        "objects": [{"key": "default/a", "version": "5"}],
        "indices": {"namespace": {"default": ["default/a", "default/b"], "x": []}},
    },
    "handlers": {"handlers": HANDLERS},
    "queue": {
        "order": ["default/a", "b"], "dirty": ["default/a"], "processing": [], "priorities": {"b": -100},
        "waiting": [{"key": "default/c", "due": 1.5}], "failures": {"default/d": 3},
    },
    "events": {"stored": [{"count": 2, "message": "m"}]},
    "election": {"holder": "one", "transitions": 0},
}


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ("apiserver.version", ["9"]),
        ("apiserver.objects", ["a @5", "x/b @6"]),
        ("apiserver.history", ["+ g @7", "~ g @7", "− g @7", "? g @7", "+ g @7", "+ g @7"]),
        ("reflector.version", []),
        ("reflector.lists", ["1"]),
        ("reflector.watches", ["2"]),
        ("reflector.bookmarks", ["0"]),
        ("fifo.deltas", ["a: Added @5, Deleted @6", "Added @5"]),
        ("indexer.objects", ["a @5"]),
        ("indexer.indices", ["namespace default → a, b", "namespace x → "]),
        ("handlers.pending", ["Enqueuer: add a", "Enqueuer: add x/b"]),
        ("handlers.taken", ["Plain: add a"]),
        ("handlers.delivering", ["Plain: delete a"]),
        ("queue.order", ["a", "b (-100)"]),
        ("queue.dirty", ["a"]),
        ("queue.processing", []),
        ("queue.waiting", ["c 1.5s"]),
        ("queue.failures", ["d ×3"]),
        ("events.stored", ["×2 m"]),
        ("election.holder", ["one"]),
        ("election.transitions", ["0"]),
    ],
)
def test_a_part_is_these_texts(part: str, texts: list[str]) -> None:
    assert figure(STATE, part) == texts
    assert figure({}, part) == figure({part.partition(".")[0]: {}}, part) == []


def test_the_parts_of_several_informers_have_their_kinds() -> None:
    view = {"informers": [{"kind": "a", **STATE["indexer"]}, {"kind": "b"}]}
    assert figure({"indexer": view}, "indexer.objects") == ["a a @5"]


def test_every_part_is_tested() -> None:
    (mark,) = (each for each in test_a_part_is_these_texts.pytestmark)
    assert [part for part, _ in mark.args[1]] == list(PARTS)
