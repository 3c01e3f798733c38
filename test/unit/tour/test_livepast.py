"""The hops of a live program that belong to the chosen informer and queue, and the past found among them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.tour import livepast
from clientgo.tour.hop import Code, Hop
from clientgo.util import workqueue

CODE = Code("file.py", "f", "", "", 1, (), "file.py:1")
OTHER = object()


class Parts:
    """The parts of an informer for config maps, and a queue with a limiter."""

    def __init__(self) -> None:
        self.reflector, self.fifo, self.indexer, self.handler = object(), object(), object(), object()
        self.queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        parts: Any = SimpleNamespace(
            kind="*v1.ConfigMap",
            reflector=self.reflector,
            fifo=self.fifo,
            indexer=self.indexer,
            handlers=[self.handler],
        )
        self.parts = parts

    def owners(self) -> livepast.Owners:
        return livepast.Owners(self.parts, self.queue)


def hop(name: str, key: str = "a", owner: Any = None, thread: str = "t", version: str = "", **about: Any) -> Hop:
    station, kind = name.split(".")
    fields: dict[str, Any] = {"number": 0, "time": 0.0, "code": CODE, **about}
    return Hop(station=station, kind=kind, key=key, owner=owner, thread=thread, version=version, **fields)


def test_hops_belong_to_the_structure_that_made_them() -> None:
    made = Parts()
    owners = made.owners()
    for station in ("reflector", "fifo", "indexer", "handlers"):
        for owner in (made.reflector, made.fifo, made.indexer, made.handler):
            assert owners.has(hop(f"{station}.any", owner=owner)), station
        for owner in (OTHER, None, made.queue):
            assert not owners.has(hop(f"{station}.any", owner=owner)), station
    assert owners.has(hop("queue.added", owner=made.queue))
    assert not owners.has(hop("queue.added", owner=OTHER)) and not owners.has(hop("queue.added", owner=made.fifo))
    for station in ("apiserver", "workers", "events", "election"):
        assert owners.has(hop(f"{station}.any", owner=OTHER)), station
    made.queue.shut_down()


@pytest.mark.parametrize(
    ("kind", "obj", "owned", "is_its"),
    [
        ("line", corev1.ConfigMap(), False, True),
        ("line", corev1.Pod(), False, False),
        ("line", None, False, False),
        ("line", corev1.ConfigMap(), True, False),
        ("listed", corev1.ConfigMap(), False, False),
    ],
)
def test_a_line_without_an_owner_belongs_to_the_informer_of_its_kind(
    kind: str, obj: Any, owned: bool, is_its: bool
) -> None:
    made = Parts()
    assert made.owners().has(hop(f"reflector.{kind}", object=obj, owner=OTHER if owned else None)) is is_its
    made.queue.shut_down()


def test_without_an_informer_and_a_queue_only_hops_without_structures_belong() -> None:
    owners = livepast.Owners(None, None)
    named = ("reflector.line", "fifo.queued", "indexer.stored", "handlers.called", "queue.added", "workers.ok")
    assert [owners.has(hop(name, owner=OTHER)) for name in named] == [False] * 5 + [True]
    assert not owners.has(hop("reflector.line", object=corev1.ConfigMap()))
    # An informer that has not started has no reflector: a hop without an owner is not its own.
    made = Parts()
    made.parts.reflector = made.parts.fifo = None
    assert not made.owners().has(hop("reflector.watch"))
    made.queue.shut_down()


def ask(kept: list[Hop], made: Parts, *asked: str, **more: Any) -> tuple[list[int], dict[str, int]]:
    links, found = livepast.answer(kept, [each.to_dict() for each in kept], made.owners(), *asked, **more)
    made.queue.shut_down()
    return [link.at for link in links], found


def test_the_chain_in_a_queue_has_the_hops_of_any_informer_and_no_other_queue() -> None:
    made = Parts()
    kept = [
        hop("queue.added", owner=OTHER),
        hop("handlers.called", owner=OTHER),
        hop("queue.added", owner=made.queue),
        hop("queue.added", owner=OTHER),
        hop("queue.taken", owner=made.queue, thread="w"),
        hop("queue.taken", owner=OTHER, thread="w"),
        hop("workers.reconcile", thread="w"),
        hop("indexer.stored", "other", owner=OTHER),
    ]
    assert ask(kept, made, "queue.processing", "a")[0] == [1, 2, 4]
    assert ask(kept, made, "workers", "a")[0] == [1, 2, 4, 6]
    assert ask(kept, made, "queue.order", "b")[0] == []
    links, found = ask(kept, made, "queue.order", "")
    assert links == [] and found == {
        "queue.order": 4,
        "queue.dirty": 4,
        "queue.processing": 4,
        "workers.workers": 6,
    }
    assert ask(kept, made, "queue.order", "a")[1] == found and ask(kept, made)[1] == found


def test_the_chain_in_an_informer_has_its_own_hops_alone() -> None:
    made = Parts()
    kept = [
        hop("reflector.line", owner=OTHER, version="7"),
        hop("reflector.line", owner=made.reflector, version="7"),
        hop("fifo.queued", owner=OTHER, version="7", more={"type": "Added"}),
        hop("fifo.queued", owner=made.fifo, version="7", more={"type": "Added"}),
        hop("fifo.queued", owner=OTHER, version="7", more={"type": "Added"}),
    ]
    changes = {"reflector.version": 1, "reflector.lines": 1, "fifo.keys": 3}
    assert ask(kept, made, "fifo.deltas", "a") == ([1, 3], changes)


def test_a_handler_a_version_and_a_time_narrow_the_answer() -> None:
    made = Parts()
    about: dict[str, Any] = {"owner": made.handler, "version": "1"}
    kept = [
        hop("handlers.called", **about, more={"handler": "x", "queued": 1.0}),
        hop("handlers.called", **about, more={"handler": "y", "queued": 1.0}),
        hop("handlers.called", **about, more={"handler": "y", "queued": 2.0}),
        hop("handlers.called", owner=made.handler, version="2", more={"handler": "z", "queued": 3.0}),
    ]
    place = ("handlers.delivering", "a")
    asked: list[tuple[dict[str, Any], int]] = [
        ({}, 3),
        ({"version": "1"}, 2),
        ({"handler": "x"}, 0),
        ({"handler": "y"}, 2),
        ({"queued": 1.0}, 1),
        ({"handler": "x", "queued": 1.0}, 0),
        ({"queued": 3.0}, 3),
    ]
    for more, at in asked:
        assert ask(kept, made, *place, **more)[0] == [at], more
    assert ask(kept, made, *place, queued=4.0)[0] == []


def test_without_a_key_there_is_no_chain_even_if_an_item_is_an_empty_text() -> None:
    made = Parts()
    kept = [hop("queue.added", "", owner=made.queue)]
    links, found = ask(kept, made, "queue.order", "")
    assert links == [] and found["queue.order"] == 0
