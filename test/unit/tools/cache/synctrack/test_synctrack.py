"""Trackers of handlers that have processed the first list. Go: synctrack/synctrack_test.go."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from clientgo.testing import synctest
from clientgo.tools.cache import synctrack

Tracker = synctrack.SingleFileTracker | synctrack.AsyncTracker[str]


class Driver:
    """The calls both trackers have, under one name."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def start(self) -> None:
        if isinstance(self.tracker, synctrack.SingleFileTracker):
            self.tracker.start()
        else:
            self.tracker.start("key")

    def finished(self) -> None:
        if isinstance(self.tracker, synctrack.SingleFileTracker):
            self.tracker.finished()
        else:
            self.tracker.finished("key")


@pytest.mark.parametrize(
    "make",
    [
        # Go: TestBasicLogic/SingleFile
        synctrack.new_single_file_tracker,
        # Go: TestBasicLogic/Async
        synctrack.new_async_tracker,
    ],
)
@pytest.mark.parametrize(
    ("synced", "sync_first", "start", "finish", "expected"),
    [
        # Go: TestBasicLogic/#0 false, false, true, true, false}
        (False, False, True, True, False),
        # Go: TestBasicLogic/#1 true, false, true, false, false}
        (True, False, True, False, False),
        # Go: TestBasicLogic/#2 true, true, true, false, false}
        (True, True, True, False, False),
        # Go: TestBasicLogic/#3 false, false, true, false, false}
        (False, False, True, False, False),
        # Go: TestBasicLogic/#4 true, false, true, true, true}
        (True, False, True, True, True),
        # Go: TestBasicLogic/#5 true, true, true, true, true}
        (True, True, True, True, True),
    ],
)
def test_synced_is_source_synced_and_everything_finished_in_any_order(
    make: Callable[[str], Tracker], synced: bool, sync_first: bool, start: bool, finish: bool, expected: bool
) -> None:
    """Go: TestBasicLogic"""
    tracker = make("it")
    driver = Driver(tracker)
    if start:
        driver.start()
    if synced and sync_first:
        tracker.upstream_has_synced()
    if finish:
        driver.finished()
    if synced and not sync_first:
        tracker.upstream_has_synced()
    assert tracker.has_synced() is expected
    assert tracker.done().is_set() is expected
    assert tracker.name() == "it"


def test_an_async_tracker_used_by_many_threads_ends_synced() -> None:
    """Go: TestAsyncLocking"""

    def scenario() -> None:
        tracker: synctrack.AsyncTracker[int] = synctrack.new_async_tracker("it")
        tracker.start(-1)
        tracker.upstream_has_synced()

        def work(key: int) -> None:
            tracker.start(key)
            tracker.finished(key)

        threads = [threading.Thread(target=work, args=(key,)) for key in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not tracker.has_synced()
        tracker.finished(-1)
        assert tracker.has_synced()

    for seed in range(5):
        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


def test_keys_that_were_never_started_may_be_finished() -> None:
    tracker: synctrack.AsyncTracker[str] = synctrack.new_async_tracker("it")
    tracker.finished("unknown")
    tracker.upstream_has_synced()
    assert tracker.has_synced()


def test_a_single_file_tracker_counts_and_complains_about_one_too_many() -> None:
    """Go: TestSingleFileCounting"""
    tracker = synctrack.new_single_file_tracker("it")
    for _ in range(100):
        tracker.start()
    tracker.start(50)
    tracker.upstream_has_synced()
    for _ in range(149):
        tracker.finished()
    assert not tracker.has_synced()
    tracker.finished()
    assert tracker.has_synced()
    with pytest.raises(RuntimeError, match="negative counter"):
        tracker.finished()
    assert tracker.has_synced()


@pytest.mark.parametrize(
    ("synced", "sync_first", "starts", "stops", "expected"),
    [
        # Go: TestSingleFile/#0 false, false, 1, 1, false}
        (False, False, 1, 1, False),
        # Go: TestSingleFile/#1 true, false, 1, 0, false}
        (True, False, 1, 0, False),
        # Go: TestSingleFile/#2 true, true, 1, 0, false}
        (True, True, 1, 0, False),
        # Go: TestSingleFile/#3 false, false, 1, 0, false}
        (False, False, 1, 0, False),
        # Go: TestSingleFile/#4 true, false, 1, 1, true}
        (True, False, 1, 1, True),
        # Go: TestSingleFile/#5 true, true, 1, 1, true}
        (True, True, 1, 1, True),
    ],
)
def test_a_single_file_tracker(synced: bool, sync_first: bool, starts: int, stops: int, expected: bool) -> None:
    """Go: TestSingleFile"""
    tracker = synctrack.new_single_file_tracker("it")
    for _ in range(starts):
        tracker.start()
    if synced and sync_first:
        tracker.upstream_has_synced()
    for _ in range(stops):
        tracker.finished()
    if synced and not sync_first:
        tracker.upstream_has_synced()
    assert tracker.has_synced() is expected


def test_a_tracker_starts_and_finishes_one_item_unless_it_is_told_a_number() -> None:
    tracker = synctrack.new_single_file_tracker(lambda: True)
    tracker.start()
    tracker.start(2)
    tracker.upstream_has_synced()
    tracker.finished()
    assert not tracker.has_synced()
    tracker.finished(2)
    assert tracker.has_synced()
    with pytest.raises(RuntimeError, match="negative counter"):
        tracker.finished()
