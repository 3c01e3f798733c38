"""Aggregation, counting and the spam filter, case by case (Go: events_cache_test.go)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo.api.core import v1 as corev1
from clientgo.tools import record
from clientgo.utils.clock.testing import FakePassiveClock

START = 1_577_836_800.0


def make_event(
    reason: str = "end-of-world",
    message: str = "it was fun",
    *,
    name: str = "my-pod",
    field_path: str = "",
    eventtype: str = "Normal",
) -> corev1.Event:
    return corev1.Event.from_dict(
        {
            "metadata": {"name": f"{name}.{reason}", "namespace": "my-ns"},
            "involvedObject": {
                "kind": "Pod",
                "namespace": "my-ns",
                "name": name,
                "uid": name,
                "apiVersion": "v1",
                **({"fieldPath": field_path} if field_path else {}),
            },
            "source": {"component": "kubelet", "host": "kublet.node1"},
            "reason": reason,
            "message": message,
            "firstTimestamp": "2020-01-01T00:00:00Z",
            "lastTimestamp": "2020-01-01T00:00:00Z",
            "count": 1,
            "type": eventtype,
        }
    )


def test_similar_events_share_reason_and_object_but_not_the_message() -> None:
    """Go: TestEventAggregatorByReasonFunc"""
    key1, local1 = record.event_aggregator_by_reason_func(make_event(message="it was fun"))
    key2, local2 = record.event_aggregator_by_reason_func(make_event(message="it was awful"))
    key3, _ = record.event_aggregator_by_reason_func(make_event(reason="start-of-world"))
    assert key1 == key2 != key3
    assert (local1, local2) == ("it was fun", "it was awful")


def test_a_combined_event_says_so() -> None:
    """Go: TestEventAggregatorByReasonMessageFunc"""
    message = record.event_aggregator_by_reason_message_func(make_event(message="it was fun"))
    assert message == "(combined from similar events): it was fun"


@pytest.mark.parametrize("source", [{"component": "scheduler"}, {"component": "kubelet", "host": "other"}, {}])
def test_events_of_different_sources_are_not_similar(source: dict[str, str]) -> None:
    """Neither combined, nor counted as one, nor charged to one bucket."""
    other = make_event()
    other.source = corev1.EventSource(**source)
    assert record.event_aggregator_by_reason_func(make_event())[0] != record.event_aggregator_by_reason_func(other)[0]
    options = record.CorrelatorOptions(burst_size=1, clock=FakePassiveClock(START))
    correlator = record.new_event_correlator_with_options(options)
    results = [correlator.event_correlate(event) for event in (make_event(), other)]
    assert [result.event and result.event.count for result in results] == [1, 1]


def test_the_parts_of_a_correlator_can_be_created_one_by_one() -> None:
    clock = FakePassiveClock(START)
    spam = record.new_event_source_object_spam_filter(8, 1, 0.1, clock, by_object_and_reason)
    assert [spam.filter(make_event()) for _ in range(2)] == [False, True]
    aggregator = record.new_event_aggregator(
        8, record.event_aggregator_by_reason_func, record.event_aggregator_by_reason_message_func, 2, 600, clock
    )
    events = [aggregator.event_aggregate(make_event(message=text))[0] for text in ("a", "b")]
    assert [event.message for event in events] == ["a", f"{COMBINED}b"]


def test_a_cache_has_the_given_size() -> None:
    """An event that its successor pushed out of the cache begins anew."""
    options = record.CorrelatorOptions(lru_cache_size=1, clock=FakePassiveClock(START))
    correlator = record.new_event_correlator_with_options(options)
    results = [correlator.event_correlate(make_event(name=name)) for name in ("a", "b", "a", "a")]
    assert [result.event and result.event.count for result in results] == [1, 1, 1, 2]


def same(number: int) -> list[corev1.Event]:
    return [make_event() for _ in range(number)]


def unique(number: int) -> list[corev1.Event]:
    return [make_event(reason=f"reason-{i}", name=f"pod-{i}") for i in range(number)]


def similar(number: int, containers: bool = False) -> list[corev1.Event]:
    paths = [f"spec.containers{{container{i}}}" if containers else "" for i in range(number)]
    return [make_event(message=f"message {i}", field_path=path) for i, path in enumerate(paths)]


DEFAULT_MAX = record.DEFAULT_AGGREGATE_MAX_EVENTS
BURST = record.DEFAULT_SPAM_BURST
COMBINED = "(combined from similar events): "


@pytest.mark.parametrize(
    ("previous", "new", "seconds", "count", "message", "skip"),
    [
        # Go: TestEventCorrelator/create-a-single-event
        ([], make_event(), 5.0, 1, "it was fun", False),
        # Go: TestEventCorrelator/the-same-event-should-just-count
        (same(1), make_event(), 5.0, 2, "it was fun", False),
        # Go: TestEventCorrelator/the-same-event-should-just-count-even-if-more-than-aggregate
        (same(DEFAULT_MAX), make_event(), 30.0 * 60, DEFAULT_MAX + 1, "it was fun", False),
        # Go: TestEventCorrelator/the-same-event-is-spam-if-happens-too-frequently
        (same(BURST + 1), make_event(), 5.0, None, None, True),
        # Go: TestEventCorrelator/create-many-unique-events
        (unique(30), make_event(), 5.0, 1, "it was fun", False),
        # Go: TestEventCorrelator/similar-events-should-aggregate-event
        (similar(DEFAULT_MAX - 1), make_event(message="new"), 5.0, 1, f"{COMBINED}new", False),
        # Go: TestEventCorrelator/similar-events-many-times-should-count-the-aggregate
        (similar(DEFAULT_MAX), make_event(message="new"), 5.0, 2, f"{COMBINED}new", False),
        # Go: TestEventCorrelator/events-from-different-containers-do-not-aggregate
        (similar(DEFAULT_MAX - 2, True), make_event(field_path="other", message="new"), 5.0, 1, "new", False),
        # Go: TestEventCorrelator/similar-events-whose-interval-is-greater-than-aggregate-interval-do-not-aggregate
        (similar(DEFAULT_MAX - 1), make_event(message="new"), 11.0 * 60, 1, "new", False),
    ],
)
def test_events_are_counted_combined_or_dropped(
    previous: list[corev1.Event],
    new: corev1.Event,
    seconds: float,
    count: int | None,
    message: str | None,
    skip: bool,
) -> None:
    """Go: TestEventCorrelator"""
    clock = FakePassiveClock(START)
    correlator = record.new_event_correlator(clock)
    for event in previous:
        clock.set_time(clock.now() + 1e-3)
        result = correlator.event_correlate(event)
        if result.event is not None:
            correlator.update_state(result.event)
    clock.set_time(clock.now() + seconds)

    result = correlator.event_correlate(new)

    assert result.skip == skip
    if result.event is not None:
        assert (result.event.count, result.event.message) == (count, message)
        patched = json.loads(result.patch or b"{}")
        assert (result.patch is None) if count == 1 else (patched["count"] == count)


@pytest.mark.parametrize(("seconds", "combined"), [(599.0, True), (600.0, True), (600.25, False)])
def test_events_are_similar_up_to_the_whole_interval(seconds: float, combined: bool) -> None:
    """Go starts anew when more than it has passed."""
    clock = FakePassiveClock(START)
    correlator = record.new_event_correlator(clock)
    for event in similar(DEFAULT_MAX - 1):
        correlator.event_correlate(event)
    clock.set_time(START + seconds)
    event = correlator.event_correlate(make_event(message="new")).event
    assert event is not None
    assert event.message.startswith("(combined from similar events)") is combined


def test_a_message_seen_before_the_flood_still_stands_alone() -> None:
    """The set of messages does not grow beyond its bound, so that one of it is no flood. Go: EventAggregate."""
    aggregator = record.EventAggregator(
        8,
        record.event_aggregator_by_reason_func,
        record.event_aggregator_by_reason_message_func,
        3,
        600,
        FakePassiveClock(START),
    )
    keys = [aggregator.event_aggregate(make_event(message=text))[1] for text in ("a", "b", "c", "d", "a")]
    alone = [
        record.events_cache._get_event_key(make_event(message=text)) == key
        for text, key in zip("abcda", keys, strict=True)
    ]
    assert alone == [True, True, False, False, True]


def by_object_and_reason(event: corev1.Event) -> str:
    return f"{event.involved_object.uid}/{event.reason}"


@pytest.mark.parametrize(
    ("new", "spam_key_func", "spam"),
    [
        # Go: TestEventSpamFilter/event should be reported as spam if object reference is the same for default spam filter  # noqa: E501
        (make_event(reason="other"), None, True),
        # Go: TestEventSpamFilter/event should not be reported as spam if object reference is the same, but reason is different for custom spam filter  # noqa: E501
        (make_event(reason="other"), by_object_and_reason, False),
        # Go: TestEventSpamFilter/event should be reported as spam if object reference and reason is the same, but message is different for custom spam filter  # noqa: E501
        (make_event(message="other"), by_object_and_reason, True),
    ],
)  # fmt: skip
def test_the_spam_key_says_what_shares_a_bucket(
    new: corev1.Event, spam_key_func: Callable[[corev1.Event], str] | None, spam: bool
) -> None:
    """Go: TestEventSpamFilter"""
    options = record.CorrelatorOptions(burst_size=1, spam_key_func=spam_key_func, clock=FakePassiveClock(START))
    correlator = record.new_event_correlator_with_options(options)
    assert not correlator.event_correlate(make_event()).skip
    assert correlator.event_correlate(new).skip == spam


def test_an_event_is_written_unless_the_result_says_to_skip_it() -> None:
    assert not record.EventCorrelateResult().skip


def test_nothing_is_no_event() -> None:
    with pytest.raises(ValueError, match="event is nil"):
        record.new_event_correlator(FakePassiveClock(START)).event_correlate(None)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 400)), max_size=60))
def test_caches_keep_their_bound_and_counts_never_fall(steps: list[tuple[int, int, int]]) -> None:
    """For all inputs the cache keeps its bound, a patch continues a count, and the argument is unchanged."""
    clock = FakePassiveClock(START)
    options = record.CorrelatorOptions(lru_cache_size=4, max_events=3, burst_size=5, qps=0.1, clock=clock)
    correlator = record.new_event_correlator_with_options(options)
    for pod, text, seconds in steps:
        clock.set_time(clock.now() + seconds)
        event = make_event(name=f"pod-{pod}", message=f"m{text}")
        before = event.to_dict()
        result = correlator.event_correlate(event)
        assert event.to_dict() == before
        if result.event is None:
            assert result.skip
            continue
        assert (result.event.count > 1) == (result.patch is not None)
        correlator.update_state(result.event)
        for cache in (correlator._aggregator._cache, correlator._logger._cache):
            check_invariants(cache)


def test_an_event_that_the_server_counts_as_none_is_created_again() -> None:
    """And the time of its first occurrence stays as the server has it."""
    correlator = record.new_event_correlator(FakePassiveClock(START))
    for count, first in ((0, "2020-01-01T00:00:00Z"), (3, None)):
        stored = make_event()
        stored.count = count
        if first is None:
            stored.first_timestamp = None
        correlator.update_state(stored)
        result = correlator.event_correlate(make_event())
        assert result.event is not None
        assert (result.event.count, result.patch is None) == ((1, True) if count == 0 else (4, False))
    assert result.event.first_timestamp is None


@pytest.mark.parametrize(("pause", "message"), [(400.0, f"{COMBINED}message 9"), (601.0, "message 9")])
def test_the_interval_of_similar_events_begins_with_the_last_one(pause: float, message: str) -> None:
    clock = FakePassiveClock(START)
    correlator = record.new_event_correlator(clock)
    for event in similar(10):
        clock.set_time(clock.now() + pause)
        result = correlator.event_correlate(event)
    assert result.event is not None and result.event.message == message
