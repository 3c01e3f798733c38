"""Event correlation: it combines similar events, counts repeated ones, and limits their rate.

Mirrors k8s.io/client-go/tools/record/events_cache.go. An event passes three stages. The aggregator replaces it by a
combined event when many events differ only in their message. The logger turns a repeated event into a patch of its
count. The spam filter drops events that one source emits too often about one object.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.runtime.documents import document_of, writable_document_of
from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.apimachinery.runtime.view import JSONObject, copy_json
from clientgo.apimachinery.util.json import marshal
from clientgo.hops import hop
from clientgo.klog.answers import is_true
from clientgo.util.flowcontrol import PassiveRateLimiter, new_token_bucket_passive_rate_limiter_with_clock
from clientgo.utils import lru
from clientgo.utils.clock import PassiveClock, RealClock

if TYPE_CHECKING:
    from clientgo.tools.record.event import CorrelatorOptions

MAX_LRU_CACHE_ENTRIES: Final = 4096
DEFAULT_AGGREGATE_MAX_EVENTS: Final = 10
DEFAULT_AGGREGATE_INTERVAL_IN_SECONDS: Final = 600
DEFAULT_SPAM_BURST: Final = 25
DEFAULT_SPAM_QPS: Final = 1.0 / 300.0


def _join(document: JSONObject, involved: tuple[str, ...], own: tuple[str, ...]) -> str:
    """Concatenate the fields that identify an event's source and object.

    Reads the JSON document, because it runs several times for every event.
    """
    source = document.get("source") or {}
    about = document.get("involvedObject") or {}
    parts = [source.get("component"), source.get("host")]
    parts += [about.get(name) for name in involved]
    parts += [document.get(name) for name in own]
    return "".join(part or "" for part in parts)


_OBJECT: Final = ("kind", "namespace", "name", "uid", "apiVersion")
_OBJECT_PART: Final = ("kind", "namespace", "name", "fieldPath", "uid", "apiVersion")


def _get_event_key(event: corev1.Event) -> str:
    """Return a key that is equal for repeats of one event. Go: record.getEventKey."""
    return _join(document_of(event), _OBJECT_PART, ("type", "reason", "message"))


def _get_spam_key(event: corev1.Event) -> str:
    """Return the key of the event's token bucket: one per source and object. Go: record.getSpamKey."""
    return _join(document_of(event), _OBJECT, ("type",))


EventSpamKeyFunc: TypeAlias = Callable[[corev1.Event], str]
"""A function that returns the key of an event's token bucket. Go: record.EventSpamKeyFunc."""

EventFilterFunc: TypeAlias = Callable[[corev1.Event], bool]
"""A function that reports whether to drop an event. Go: record.EventFilterFunc."""


class EventSourceObjectSpamFilter:
    """A filter that drops events that exceed a token bucket per key. It keeps the most recently used buckets.

    Not thread-safe: each sink has its own. Go: record.EventSourceObjectSpamFilter.
    """

    def __init__(
        self, lru_cache_size: int, burst: int, qps: float, clock: PassiveClock, spam_key_func: EventSpamKeyFunc
    ) -> None:
        self._cache = lru.Cache(lru_cache_size)
        self._burst = burst
        # Go uses a float32, which is slightly smaller than 0.01: a token is available after, not at, 100 seconds.
        (self._qps,) = struct.unpack("f", struct.pack("f", qps))
        self._clock = clock
        self._spam_key_func = spam_key_func

    def filter(self, event: corev1.Event) -> bool:
        """Take a token for the event and return True if there was none. Go: EventSourceObjectSpamFilter.Filter."""
        key = self._spam_key_func(event)
        found, _ = self._cache.get(key)
        limiter = cast("PassiveRateLimiter | None", found)
        if limiter is None:
            limiter = new_token_bucket_passive_rate_limiter_with_clock(self._qps, self._burst, self._clock)
            self._cache.add(key, limiter)
        return not limiter.try_accept()


def new_event_source_object_spam_filter(
    lru_cache_size: int, burst: int, qps: float, clock: PassiveClock, spam_key_func: EventSpamKeyFunc
) -> EventSourceObjectSpamFilter:
    """Return a spam filter. Go: record.NewEventSourceObjectSpamFilter."""
    return EventSourceObjectSpamFilter(lru_cache_size, burst, qps, clock, spam_key_func)


EventAggregatorKeyFunc: TypeAlias = Callable[[corev1.Event], tuple[str, str]]
"""A function that returns the key that similar events share, and the key within that group.

Go: record.EventAggregatorKeyFunc.
"""


def event_aggregator_by_reason_func(event: corev1.Event) -> tuple[str, str]:
    """Return equal keys for events that differ only in their message. Go: record.EventAggregatorByReasonFunc."""
    document = document_of(event)
    key = _join(document, _OBJECT, ("type", "reason", "reportingComponent", "reportingInstance"))
    return key, document.get("message") or ""


EventAggregatorMessageFunc: TypeAlias = Callable[[corev1.Event], str]
"""A function that returns the message of a combined event. Go: record.EventAggregatorMessageFunc."""


def event_aggregator_by_reason_message_func(event: corev1.Event) -> str:
    """Return the event's message with a prefix for combined events. Go: record.EventAggregatorByReasonMessageFunc."""
    return f"(combined from similar events): {event.message}"


@dataclass(slots=True)
class _AggregateRecord:
    """The record of a group of similar events. Go: record.aggregateRecord."""

    last_timestamp: float
    local_keys: dict[str, None] = field(default_factory=dict)


class EventAggregator:
    """An aggregator, which combines similar events when there are many within an interval. Thread-safe.

    Go: record.EventAggregator.
    """

    def __init__(
        self,
        lru_cache_size: int,
        key_func: EventAggregatorKeyFunc,
        message_func: EventAggregatorMessageFunc,
        max_events: int,
        max_interval_in_seconds: int,
        clock: PassiveClock,
    ) -> None:
        # Guards the records in the cache.
        self._lock = threading.Lock()
        self._cache = lru.Cache(lru_cache_size)
        self._key_func = key_func
        self._message_func = message_func
        self._max_events = max_events
        self._max_interval_in_seconds = max_interval_in_seconds
        self._clock = clock

    def event_aggregate(self, new_event: corev1.Event) -> tuple[corev1.Event, str]:
        """Return the event to process further and its key: `new_event`, or an event that represents all similar ones.

        Go: EventAggregator.EventAggregate.
        """
        now = self._clock.now()
        event_key = _get_event_key(new_event)
        aggregate_key, local_key = self._key_func(new_event)
        with self._lock:
            record = self._record(aggregate_key, now)
            record.local_keys[local_key] = None
            record.last_timestamp = now
            self._cache.add(aggregate_key, record)
            if len(record.local_keys) < self._max_events:
                return new_event, event_key
            # Bounds the set. Go removes an arbitrary key, this code the last added one.
            record.local_keys.popitem()
        return self._combined(new_event, now), aggregate_key

    def _record(self, aggregate_key: str, now: float) -> _AggregateRecord:
        record, found = self._cache.get(aggregate_key)
        if found and now - record.last_timestamp <= self._max_interval_in_seconds:
            return cast(_AggregateRecord, record)
        return _AggregateRecord(now)

    def _combined(self, event: corev1.Event, now: float) -> corev1.Event:
        moment = from_clock(now)
        timestamp = format_time(moment)
        document = document_of(event)
        combined = {
            "metadata": {"name": f"{event.involved_object.name}.{moment.unix_nano():x}"},
            "involvedObject": copy_json(document.get("involvedObject") or {}),
            "reason": document.get("reason"),
            "message": self._message_func(event),
            "source": copy_json(document.get("source") or {}),
            "firstTimestamp": timestamp,
            "lastTimestamp": timestamp,
            "count": 1,
            "type": document.get("type"),
        }
        if namespace := event.get_namespace():
            combined["metadata"]["namespace"] = namespace
        return corev1.Event.from_dict({key: value for key, value in combined.items() if value is not None})


def new_event_aggregator(
    lru_cache_size: int,
    key_func: EventAggregatorKeyFunc,
    message_func: EventAggregatorMessageFunc,
    max_events: int,
    max_interval_in_seconds: int,
    clock: PassiveClock,
) -> EventAggregator:
    """Return an aggregator. Go: record.NewEventAggregator."""
    return EventAggregator(lru_cache_size, key_func, message_func, max_events, max_interval_in_seconds, clock)


@dataclass(frozen=True, slots=True)
class _EventLog:
    """The server's state of an event. Go: record.eventLog."""

    count: int
    first_timestamp: str | None
    name: str
    resource_version: str

    @classmethod
    def of(cls, event: corev1.Event) -> _EventLog:
        document = document_of(event)
        first_timestamp = document.get("firstTimestamp")
        return cls(document.get("count") or 0, first_timestamp, event.get_name(), event.get_resource_version())


class _EventLogger:
    """A counter of repeated events. Thread-safe. Go: record.eventLogger."""

    def __init__(self, lru_cache_entries: int) -> None:
        # Makes the read and the replacement of an entry atomic.
        self._lock = threading.Lock()
        self._cache = lru.Cache(lru_cache_entries)

    def event_observe(self, new_event: corev1.Event, key: str) -> tuple[corev1.Event, bytes | None]:
        """Return a copy of the event with its count and, for a repeat, the patch for the server's event."""
        event = new_event.deep_copy()
        patch = None
        with self._lock:
            last, found = self._cache.get(key)
            if found and last.count > 0:
                _continue(event, last)
                patch = _count_patch(event)
            self._cache.add(key, _EventLog.of(event))
        return event, patch

    def update_state(self, event: corev1.Event) -> None:
        """Store the state that the server returned for the event."""
        key = _get_event_key(event)
        with self._lock:
            self._cache.add(key, _EventLog.of(event))


def _continue(event: corev1.Event, last: _EventLog) -> None:
    """Update the event to be the repeat after `last`."""
    event.set_name(last.name)
    event.set_resource_version(last.resource_version)
    document = writable_document_of(event)
    document["count"] = last.count + 1
    if last.first_timestamp is None:
        document.pop("firstTimestamp", None)
    else:
        document["firstTimestamp"] = last.first_timestamp


_EPOCH: Final = "1970-01-01T00:00:00Z"


def _count_patch(event: corev1.Event) -> bytes:
    """Return a patch of the fields that a repeat changes: count, last time and message.

    Go compares the event with a copy in which these three are reset. All other fields are equal, so no comparison is
    needed.
    """
    document = document_of(event)
    last_timestamp = document.get("lastTimestamp")
    patch = {"count": document["count"]}
    if last_timestamp != _EPOCH:
        patch["lastTimestamp"] = last_timestamp
    if message := document.get("message"):
        patch["message"] = message
    return marshal(patch).encode()


@dataclass(frozen=True, slots=True)
class EventCorrelateResult:
    """The action to take for an event. Go: record.EventCorrelateResult."""

    # The event to write; None if it is skipped.
    event: corev1.Event | None = None
    # For an event with a count above 1, the patch for the server's event.
    patch: bytes | None = None
    # True if the event is not written.
    skip: bool = False


class EventCorrelator:
    """A pipeline of the three stages. Thread-safe if its filter is. Go: record.EventCorrelator."""

    def __init__(self, filter_func: EventFilterFunc, aggregator: EventAggregator, logger: _EventLogger) -> None:
        self._filter_func = filter_func
        self._aggregator = aggregator
        self._logger = logger

    @hop("events.correlate", go="(*EventCorrelator).EventCorrelate")
    def event_correlate(self, new_event: corev1.Event | None) -> EventCorrelateResult:
        """Return the action to take for the event. Does not change the event. Raises ValueError for None.

        Go: EventCorrelator.EventCorrelate.
        """
        if new_event is None:
            raise ValueError("event is nil")
        aggregate_event, key = self._aggregator.event_aggregate(new_event)
        observed_event, patch = self._logger.event_observe(aggregate_event, key)
        if is_true(self._filter_func, observed_event):
            return EventCorrelateResult(skip=True)
        return EventCorrelateResult(observed_event, patch)

    def update_state(self, event: corev1.Event) -> None:
        """Store the event that the server returned. Go: EventCorrelator.UpdateState."""
        self._logger.update_state(event)


def new_event_correlator(clock: PassiveClock) -> EventCorrelator:
    """Return a correlator with the default options. Go: record.NewEventCorrelator.

    It combines 10 similar events within 10 minutes. It allows a burst of 25 events per source and object, then one
    event in 5 minutes.
    """
    from clientgo.tools.record.event import CorrelatorOptions

    return new_event_correlator_with_options(CorrelatorOptions(clock=clock))


def new_event_correlator_with_options(options: CorrelatorOptions) -> EventCorrelator:
    """Return a correlator with these options; zero selects a default. Go: record.NewEventCorrelatorWithOptions."""
    options = _populate_defaults(options)
    assert options.clock and options.spam_key_func and options.key_func and options.message_func
    spam_filter = EventSourceObjectSpamFilter(
        options.lru_cache_size, options.burst_size, options.qps, options.clock, options.spam_key_func
    )
    aggregator = EventAggregator(
        options.lru_cache_size,
        options.key_func,
        options.message_func,
        options.max_events,
        options.max_interval_in_seconds,
        options.clock,
    )
    return EventCorrelator(spam_filter.filter, aggregator, _EventLogger(options.lru_cache_size))


def _populate_defaults(options: CorrelatorOptions) -> CorrelatorOptions:
    """Return the options with defaults in place of zeros. Go: record.populateDefaults."""
    return replace(
        options,
        lru_cache_size=options.lru_cache_size or MAX_LRU_CACHE_ENTRIES,
        burst_size=options.burst_size or DEFAULT_SPAM_BURST,
        qps=options.qps or DEFAULT_SPAM_QPS,
        key_func=options.key_func or event_aggregator_by_reason_func,
        message_func=options.message_func or event_aggregator_by_reason_message_func,
        max_events=options.max_events or DEFAULT_AGGREGATE_MAX_EVENTS,
        max_interval_in_seconds=options.max_interval_in_seconds or DEFAULT_AGGREGATE_INTERVAL_IN_SECONDS,
        clock=options.clock or RealClock(),
        spam_key_func=options.spam_key_func or _get_spam_key,
    )
