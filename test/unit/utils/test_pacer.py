"""When a thread that makes objects gives way to those that use them up."""

from __future__ import annotations

import pytest

from clientgo.utils import pacer


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(pacer, "sleep", slept.append)
    return slept


def set_new_objects(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(pacer.gc, "get_count", lambda: (number, 0, 0))
    monkeypatch.setattr(pacer.gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(pacer.gc, "isenabled", lambda: True)


@pytest.mark.parametrize(
    ("new", "left_over", "near"),
    [(350, 0, False), (351, 0, True), (351, 330, False), (400, 330, True), (400, 450, True)],
)
def test_a_collection_is_near_at_half_the_threshold(
    monkeypatch: pytest.MonkeyPatch, new: int, left_over: int, near: bool
) -> None:
    set_new_objects(monkeypatch, new)
    assert pacer.collection_is_near(left_over) is near


def test_no_collection_is_near_when_the_collector_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    set_new_objects(monkeypatch, 10_000)
    monkeypatch.setattr(pacer.gc, "isenabled", lambda: False)
    assert not pacer.collection_is_near(0)


def test_it_gives_way_only_when_a_collection_is_near(monkeypatch: pytest.MonkeyPatch, sleeps: list[float]) -> None:
    pace = pacer.Pacer()
    set_new_objects(monkeypatch, 100)
    pace.give_way()
    assert sleeps == []
    set_new_objects(monkeypatch, 400)
    pace.give_way()
    assert sleeps == [0.0001]


def test_nobody_gives_way_for_objects_that_stay_whoever_runs(
    monkeypatch: pytest.MonkeyPatch, sleeps: list[float]
) -> None:
    """A pause that did not help is not repeated for each object: the next comes after some more."""
    pace = pacer.Pacer()
    set_new_objects(monkeypatch, 400)
    for _ in range(10):
        pace.give_way()
    assert len(sleeps) == 1
    set_new_objects(monkeypatch, 443)
    pace.give_way()
    assert len(sleeps) == 2
