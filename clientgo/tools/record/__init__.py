"""Recorders of events about objects (k8s.io/client-go/tools/record).

    broadcaster = record.new_broadcaster()
    broadcaster.start_structured_logging(0)
    broadcaster.start_recording_to_sink(typedcorev1.EventSinkImpl(client.core_v1().events("")))
    recorder = broadcaster.new_recorder(SCHEME, corev1.EventSource(component="my-controller"))
    recorder.event(foo, corev1.EVENT_TYPE_NORMAL, "Synced", "Foo synced successfully")

The broadcaster writes repeated events as one Event with a count, combines similar events, and limits the rate of
events. `broadcaster.statistics()` reports the numbers of written and dropped events.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.tools.record.event import (
    DEFAULT_SLEEP_DURATION,
    MAX_QUEUED_EVENTS,
    MAX_TRIES_PER_EVENT,
    BroadcasterOption,
    CorrelatorOptions,
    EventBroadcaster,
    EventBroadcasterImpl,
    EventRecorder,
    EventRecorderAdapter,
    EventRecorderLogger,
    EventSink,
    EventStatistics,
    new_broadcaster,
    new_broadcaster_for_tests,
    new_broadcaster_with_correlator_options,
    new_event_recorder_adapter,
    with_context,
    with_correlator_options,
    with_sleep_duration,
)
from clientgo.tools.record.events_cache import (
    DEFAULT_AGGREGATE_INTERVAL_IN_SECONDS,
    DEFAULT_AGGREGATE_MAX_EVENTS,
    DEFAULT_SPAM_BURST,
    DEFAULT_SPAM_QPS,
    MAX_LRU_CACHE_ENTRIES,
    EventAggregator,
    EventAggregatorKeyFunc,
    EventAggregatorMessageFunc,
    EventCorrelateResult,
    EventCorrelator,
    EventFilterFunc,
    EventSourceObjectSpamFilter,
    EventSpamKeyFunc,
    event_aggregator_by_reason_func,
    event_aggregator_by_reason_message_func,
    new_event_aggregator,
    new_event_correlator,
    new_event_correlator_with_options,
    new_event_source_object_spam_filter,
)

if TYPE_CHECKING:
    from clientgo.tools.record.fake import FakeRecorder, new_fake_recorder
else:
    __getattr__, __dir__ = attach(__name__, {"fake": ["FakeRecorder", "new_fake_recorder"]})

__all__ = [
    "DEFAULT_AGGREGATE_INTERVAL_IN_SECONDS",
    "DEFAULT_AGGREGATE_MAX_EVENTS",
    "DEFAULT_SLEEP_DURATION",
    "DEFAULT_SPAM_BURST",
    "DEFAULT_SPAM_QPS",
    "MAX_LRU_CACHE_ENTRIES",
    "MAX_QUEUED_EVENTS",
    "MAX_TRIES_PER_EVENT",
    "BroadcasterOption",
    "CorrelatorOptions",
    "EventAggregator",
    "EventAggregatorKeyFunc",
    "EventAggregatorMessageFunc",
    "EventBroadcaster",
    "EventBroadcasterImpl",
    "EventCorrelateResult",
    "EventCorrelator",
    "EventFilterFunc",
    "EventRecorder",
    "EventRecorderAdapter",
    "EventRecorderLogger",
    "EventSink",
    "EventSourceObjectSpamFilter",
    "EventSpamKeyFunc",
    "EventStatistics",
    "FakeRecorder",
    "event_aggregator_by_reason_func",
    "event_aggregator_by_reason_message_func",
    "new_broadcaster",
    "new_broadcaster_for_tests",
    "new_broadcaster_with_correlator_options",
    "new_event_aggregator",
    "new_event_correlator",
    "new_event_correlator_with_options",
    "new_event_recorder_adapter",
    "new_event_source_object_spam_filter",
    "new_fake_recorder",
    "with_context",
    "with_correlator_options",
    "with_sleep_duration",
]
