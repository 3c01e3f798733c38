"""The painter: the kinds of several informers, and lists that are shortened."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import tour
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache.testing import new_fake_controller_source
from clientgo.tour import boxes
from clientgo.util import workqueue

CODE = tour.Code("file.py", "f", "", "", 1, (), "file.py:1")
HOP = tour.Hop(number=0, station="queue", kind="added", key="a", time=0.0, thread="main", code=CODE)


@pytest.mark.parametrize(("items", "length"), [("ab", None), ("abc", None), ("abcd", 4), ("abcdef", 6)])
def test_of_a_list_longer_than_the_limit_the_beginning_and_the_length_are_painted(
    items: str, length: int | None
) -> None:
    queue: Any = workqueue.new_typed()
    for item in items:
        queue.add(item)

    view = tour.Painter(tour.Scene(queue=queue), most=3).paint(HOP)["queue"]

    queue.shut_down()
    assert view["order"] == view["dirty"] == [*items[:3]]
    totals = {"order": length, "dirty": length, "processing": 0, "waiting": 0, "failures": 0}
    assert view.get("totals") == (None if length is None else totals)
    (_, *lines) = (line for line in boxes.picture({"queue": view}, 160, 24) if "order" in line or "dirty" in line)
    assert lines and all((f", +{length - 3}" in line) if length else "+" not in line for line in lines)


def test_each_of_several_informers_is_painted_with_its_kind() -> None:
    kinds: list[Any] = [corev1.ConfigMap(), appsv1.Deployment()]
    sources = [new_fake_controller_source() for _ in kinds]
    pairs = zip(sources, kinds, strict=True)
    informers = [cache.new_shared_index_informer(source, kind, 0.0, {}) for source, kind in pairs]

    picture = tour.Painter(tour.Scene(informers=informers)).paint(HOP)

    for source in sources:
        source.shutdown()
    for station in ("reflector", "fifo", "indexer"):
        assert [each["kind"] for each in picture[station]["informers"]] == ["ConfigMap", "Deployment"], station


def test_an_item_of_a_priority_queue_is_ready_when_its_hop_says_that_it_is_due() -> None:
    seen: list[tuple[str, list[Any]]] = []
    with synctest.bubble() as bubble:
        queue: Any = workqueue.new_priority_queue(workqueue.PriorityQueueConfig())

        def note(hop: tour.Hop) -> None:
            if hop.kind == "due":
                seen.append((hop.key, list(queue.contents().order)))

        with tour.Seam(tour.TAPS, note):
            queue.add_after("a", 1.0)
            bubble.sleep(2.0)
        queue.shut_down()

    assert seen == [("a", ["a"])]
