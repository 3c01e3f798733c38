"""watch.Broadcaster under every order of its threads: each watcher gets the events of its time, in one order."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo.apimachinery import watch
from clientgo.apimachinery.watch import Event, FullChannelBehavior
from clientgo.testing import synctest

PER_PRODUCER = 4


def producer(broadcaster: watch.Broadcaster, name: str) -> threading.Thread:
    def run() -> None:
        for number in range(PER_PRODUCER):
            broadcaster.action("ADDED", (name, number))

    thread = threading.Thread(target=run, name=f"producer-{name}")
    thread.start()
    return thread


def reader(watcher: watch.Interface, into: list[Event]) -> threading.Thread:
    thread = threading.Thread(target=lambda: into.extend(watcher.result_chan()), name="reader")
    thread.start()
    return thread


@given(schedule=synctest.schedules(), queue_length=st.integers(0, 3))
def test_all_watchers_see_all_events_in_one_order(schedule: synctest.Schedule, queue_length: int) -> None:
    def scenario() -> None:
        broadcaster = watch.new_broadcaster(queue_length, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
        seen: list[list[Event]] = [[], []]
        readers = [reader(broadcaster.watch(), into) for into in seen]
        producers = [producer(broadcaster, name) for name in "ab"]
        for thread in producers:
            thread.join()
        broadcaster.shutdown()
        for thread in readers:
            thread.join()
        assert seen[0] == seen[1]
        for name in "ab":
            own = [number for writer, number in (event.object for event in seen[0]) if writer == name]
            assert own == list(range(PER_PRODUCER))
        check_invariants(broadcaster)

    synctest.run(scenario, schedule=schedule)


@given(schedule=synctest.schedules())
def test_a_watcher_that_stops_at_any_time_blocks_no_other(schedule: synctest.Schedule) -> None:
    def scenario() -> None:
        broadcaster = watch.new_broadcaster(0, FullChannelBehavior.WAIT_IF_CHANNEL_FULL)
        silent, patient = broadcaster.watch(), broadcaster.watch()
        seen: list[Event] = []
        reading = reader(patient, seen)
        producing = producer(broadcaster, "a")
        silent.stop()
        producing.join()
        broadcaster.shutdown()
        reading.join()
        assert [event.object for event in seen] == [("a", number) for number in range(PER_PRODUCER)]
        assert silent.result_chan().closed

    synctest.run(scenario, schedule=schedule)


@given(schedule=synctest.schedules())
def test_shutdown_at_any_time_loses_nothing_that_was_accepted(schedule: synctest.Schedule) -> None:
    def scenario() -> None:
        broadcaster = watch.new_broadcaster(PER_PRODUCER, FullChannelBehavior.DROP_IF_CHANNEL_FULL)
        watcher, accepted = broadcaster.watch(), []

        def run() -> None:
            for number in range(PER_PRODUCER):
                try:
                    if broadcaster.action_or_drop("ADDED", number):
                        accepted.append(number)
                except RuntimeError:
                    return

        producing = threading.Thread(target=run, name="producer")
        producing.start()
        broadcaster.shutdown()
        producing.join()
        assert [event.object for event in watcher.result_chan()] == accepted

    synctest.run(scenario, schedule=schedule)
