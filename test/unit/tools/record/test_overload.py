"""A sink that is slow, down, or refuses: the controller never waits, memory is bounded, drops are counted."""

from __future__ import annotations

import logging
import threading
from collections import Counter

import pytest

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.kubernetes.scheme import SCHEME
from clientgo.testing import synctest
from clientgo.tools import record
from clientgo.utils.clock import RealClock

EVENTS = GroupResource("", "events")
POD = corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns", uid="u"))
LIFTED = record.CorrelatorOptions(burst_size=10**6, qps=10**6)


def terminating() -> errors.StatusError:
    err = errors.new_forbidden(EVENTS, "e", "namespace is being terminated")
    details = err.status().details
    assert details is not None
    details.causes.append(metav1.StatusCause(type=corev1.NAMESPACE_TERMINATING_CAUSE))
    return err


class Sink:
    """A server in memory that may take its time, or refuse."""

    def __init__(self, failure: Exception | None = None, seconds: float = 0.0) -> None:
        self.failure = failure
        self.seconds = seconds
        self.calls: Counter[str] = Counter()
        self.stored: dict[str, corev1.Event] = {}

    def _call(self, verb: str, event: corev1.Event) -> corev1.Event:
        self.calls[verb] += 1
        if self.seconds:
            RealClock().sleep(self.seconds)
        if self.failure is not None:
            raise self.failure
        self.stored[event.get_name()] = event
        return event.deep_copy()

    def create(self, event: corev1.Event) -> corev1.Event:
        return self._call("create", event)

    def update(self, event: corev1.Event) -> corev1.Event:
        return self._call("update", event)

    def patch(self, old_event: corev1.Event, data: bytes) -> corev1.Event:
        return self._call("patch", old_event)


def start(sink: Sink, options: record.CorrelatorOptions = LIFTED) -> record.EventBroadcasterImpl:
    broadcaster = record.new_broadcaster(record.with_correlator_options(options))
    broadcaster.start_recording_to_sink(sink)
    return broadcaster


@pytest.mark.parametrize(
    "failure",
    [
        errors.new_forbidden(EVENTS, "e", "no"),
        terminating(),
        errors.new_not_found(EVENTS, "e"),
        errors.new_conflict(EVENTS, "e", "changed"),
        errors.new_already_exists(EVENTS, "e"),
        errors.new_too_many_requests("slow down", 1),
    ],
    ids=["403", "403-terminating", "404", "409-conflict", "409-exists", "429"],
)
def test_what_the_server_refuses_is_dropped_at_once_and_counted(failure: Exception) -> None:
    with synctest.bubble() as b:
        sink = Sink(failure)
        broadcaster = start(sink)
        recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
        for number in range(5):
            recorder.event(POD, "Normal", f"R{number}", "m")
        b.wait()
        assert b.elapsed == 0, "a refusal must not be slept on"
        statistics = broadcaster.statistics()
        assert statistics.dropped_rejected == statistics.failed_tries == sink.calls["create"] == 5
        broadcaster.shutdown()


def test_a_slow_sink_never_holds_up_the_controller_and_the_queues_have_an_end() -> None:
    with synctest.bubble() as b:
        sink = Sink(seconds=1.0)
        broadcaster = start(sink)
        recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
        for number in range(2500):
            recorder.event(POD, "Normal", f"R{number}", "m")
            if number % 500 == 0:
                b.wait()  # Let the broadcaster hand out what it has.
        assert b.elapsed == 0, "the controller waited"
        b.wait()
        statistics = broadcaster.statistics()
        waiting = 1000 + 1  # The watcher's buffer, and the one in the sink's hands.
        assert statistics.dropped_watcher_full + statistics.dropped_queue_full == 2500 - waiting
        b.sleep(waiting + 1.0)
        assert broadcaster.statistics().created == waiting
        broadcaster.shutdown()


def test_events_of_a_minute_without_server_arrive_when_it_is_back() -> None:
    with synctest.bubble() as b:
        sink = Sink(ConnectionRefusedError("connection refused"))
        broadcaster = start(sink)
        recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
        for number in range(500):
            recorder.event(POD, "Normal", f"R{number}", "m")
        b.sleep(60.0)
        assert broadcaster.statistics().created == 0
        sink.failure = None
        b.sleep(10.1)
        statistics = broadcaster.statistics()
        assert (statistics.created, statistics.dropped) == (500, 0)
        broadcaster.shutdown()


def test_a_server_that_stays_away_costs_one_event_in_two_minutes_and_nothing_else() -> None:
    with synctest.bubble() as b:
        sink = Sink(ConnectionRefusedError("connection refused"))
        broadcaster = start(sink)
        recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))
        for number in range(10):
            recorder.event(POD, "Normal", f"R{number}", "m")
        b.sleep(3 * 110.1)
        assert 2 <= broadcaster.statistics().dropped_retry_limit <= 3
        broadcaster.shutdown()
        b.wait()
        statistics = broadcaster.statistics()
        assert statistics.dropped == 10, "every event is accounted for"


def flood(broadcaster: record.EventBroadcasterImpl, per_thread: int, pause_every: int = 0) -> None:
    """Record the same event repeatedly in four threads."""
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="c"))

    def run() -> None:
        for number in range(per_thread):
            recorder.event(POD, "Normal", "Same", "m")
            if pause_every and number % pause_every == pause_every - 1:
                RealClock().sleep(1.0)

    threads = [threading.Thread(target=run, name=f"flood-{number}") for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_identical_events_cost_no_more_calls_than_the_filter_allows(capsys: pytest.CaptureFixture[str]) -> None:
    """`test/bench/record/bench_flood.py` does the same with 100,000 events and real threads, and prints the figures."""
    with synctest.bubble() as b:
        sink = Sink()
        broadcaster = start(sink, record.CorrelatorOptions())
        flood(broadcaster, per_thread=500, pause_every=100)
        b.wait()
        statistics = broadcaster.statistics()
        assert (sink.calls["create"], sink.calls["patch"]) == (1, 24)
        assert statistics.dropped_as_spam == 2000 - 25
        assert statistics.dropped == statistics.dropped_as_spam
        b.sleep(300.0)
        flood(broadcaster, per_thread=1)
        b.wait()
        assert sink.calls["patch"] == 25, "one more after five minutes"
        (event,) = sink.stored.values()
        # What the filter drops counts nevertheless: the next patch says how often it really happened.
        assert event.count == 2001
        broadcaster.shutdown()


def test_what_the_filter_drops_is_logged_with_each_doubling(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="clientgo")
    verbosity = klog.verbosity()
    klog.set_verbosity(2)
    try:
        with synctest.bubble() as b:
            broadcaster = start(Sink(), record.CorrelatorOptions())
            flood(broadcaster, per_thread=30)
            b.wait()
            assert broadcaster.statistics().dropped_as_spam == 120 - 25
            broadcaster.shutdown()
    finally:
        klog.set_verbosity(verbosity)
    lines = [line for line in caplog.messages if "Spam filter dropped events" in line]
    assert [line.partition("dropped=")[2].split()[0] for line in lines] == ["1", "2", "4", "8", "16", "32", "64"]


def test_without_the_filter_identical_events_become_one_with_the_full_count() -> None:
    with synctest.bubble() as b:
        sink = Sink()
        broadcaster = start(sink)
        flood(broadcaster, per_thread=500, pause_every=100)
        b.wait()
        (event,) = sink.stored.values()
        assert event.count == 2000 and broadcaster.statistics().dropped == 0
        broadcaster.shutdown()
