"""Tests of the pauses that a thread which makes objects makes for the threads that use them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from clientgo.rest.watch import pacer

ALL = [0.0001 * 2**number for number in range(8)]


class Collector:
    """Counts new objects as told, beside a pause that takes no time."""

    def __init__(self) -> None:
        self.new = 0
        self.enabled = True
        self.slept: list[float] = []
        # What is counted after each of the pauses to come; as before when there is nothing.
        self.after_pauses: list[int] = []

    def get_count(self) -> tuple[int, int, int]:
        return self.new, 0, 0

    def get_threshold(self) -> tuple[int, int, int]:
        return 700, 10, 10

    def isenabled(self) -> bool:
        return self.enabled

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.after_pauses:
            self.new = self.after_pauses.pop(0)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    collector = Collector()
    monkeypatch.setattr(pacer, "gc", collector)
    monkeypatch.setattr(pacer, "sleep", collector.sleep)
    return collector


@pytest.fixture
def pauses(collector: Collector) -> Callable[[int, Iterable[int]], list[float]]:
    """Return a function that returns the pauses of one pacer at a number of new objects, with the numbers after each
    pause.
    """
    pace = pacer.Pacer()

    def pauses_of(new: int, after_pauses: Iterable[int] = ()) -> list[float]:
        collector.new, collector.after_pauses, collector.slept = new, list(after_pauses), []
        pace.wait_for_consumers()
        return collector.slept

    return pauses_of


Pauses = Callable[..., list[float]]


def test_a_collection_is_near_at_three_quarters_of_the_threshold(collector: Collector) -> None:
    collector.new = 525
    assert not pacer.collection_is_near()
    collector.new = 526
    assert pacer.collection_is_near()


def test_no_collection_is_near_when_the_collector_is_off(collector: Collector) -> None:
    collector.new, collector.enabled = 10_000, False
    assert not pacer.collection_is_near()


def test_it_pauses_only_when_a_collection_is_near(pauses: Pauses) -> None:
    assert pauses(525) == []
    assert pauses(526, [20]) == ALL[:1]


def test_it_waits_until_half_is_used_up(pauses: Pauses) -> None:
    """On a busy machine the others run later, and may be interrupted."""
    assert pauses(600, [600, 605, 560, 300]) == ALL[:4]
    assert pauses(600, [600] * 7 + [10]) == ALL


def test_it_does_not_wait_for_more_than_there_is_to_use_up(pauses: Pauses) -> None:
    """Some objects stay. A pause in which nothing more is used up ends it, when the others had time to begin."""
    assert pauses(600, [500, 500, 500, 400, 300]) == ALL[:5]
    assert pauses(600, [600, 500, 450, 450]) == ALL[:4]


def test_a_handler_that_is_slow_is_waited_for_once(pauses: Pauses) -> None:
    assert pauses(600) == ALL
    assert sum(ALL) < 0.026
    # No thread waits again before a collection, or before the others have caught up.
    assert pauses(650) == []
    assert pauses(30) == []
    assert pauses(600) == ALL[:1]
    assert pauses(660) == []


def test_a_reader_that_catches_up_is_waited_for_again(pauses: Pauses) -> None:
    pauses(600)
    pauses(30)
    assert pauses(600, [30]) == ALL[:1]
    assert pauses(600) == ALL


def test_when_some_objects_stay_the_next_pause_is_short(pauses: Pauses) -> None:
    assert pauses(600, [450] * 4) == ALL[:4]
    assert pauses(600, [450]) == ALL[:1]
