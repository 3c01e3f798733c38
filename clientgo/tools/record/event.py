"""Event recorders, and the broadcaster that passes their events to sinks and logs.

Mirrors k8s.io/client-go/tools/record/event.go. A recorder never blocks its controller: the broadcaster queues up to
1,000 events, each watcher another 1,000, and the broadcaster drops the rest, as in Go. Beyond Go, `statistics()`
reports the numbers of written and dropped events.

Differs from Go in two ways. All handlers receive the same event object, and must not change it. After `shutdown` a
watcher stops at once, and the events left in its channel count as dropped; Go's watchers process a random part of them.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime, watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.context import Context
from clientgo.golang.channel import Channel, select
from clientgo.golang.fmt import sprintf
from clientgo.hops import hop
from clientgo.rest import RequestConstructionError
from clientgo.tools import reference
from clientgo.tools.internal import events as internalevents
from clientgo.tools.record.events_cache import (
    EventAggregatorKeyFunc,
    EventAggregatorMessageFunc,
    EventCorrelateResult,
    EventCorrelator,
    EventSpamKeyFunc,
    new_event_correlator_with_options,
)
from clientgo.tools.record.util import generate_event_name, is_key_not_found_error, validate_event_type
from clientgo.tools.record.watchers import EventWatchers, call_handler, require_event, require_handler, require_sink
from clientgo.utils.clock import PassiveClock, RealClock

MAX_TRIES_PER_EVENT: Final = 12
"""Number of attempts to write an event before it is dropped. Go: record.maxTriesPerEvent."""

DEFAULT_SLEEP_DURATION = 10.0
"""Seconds between two attempts; programs may assign it on this module. Go: record.defaultSleepDuration."""

MAX_QUEUED_EVENTS: Final = 1000
"""Capacity of the broadcaster's queue, and of each watcher's queue. Go: record.maxQueuedEvents."""


class EventSink(Protocol):
    """A sink, which writes events, normally to the API: kubernetes.typed.core.v1's EventSinkImpl. Go: record.EventSink.

    All methods may block and raise. They return the event that the server stored.
    """

    def create(self, event: corev1.Event, /) -> corev1.Event:
        """Write a new event."""
        ...

    def update(self, event: corev1.Event, /) -> corev1.Event:
        """Replace an event."""
        ...

    def patch(self, old_event: corev1.Event, data: bytes, /) -> corev1.Event:
        """Apply a strategic merge patch to an event."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrelatorOptions:
    """Options of the event correlator; zero or None selects the default. Go: record.CorrelatorOptions."""

    lru_cache_size: int = 0
    """Entries of each cache. Default: 4096."""
    burst_size: int = 0
    """Number of events that a source may write about one object in a burst. Default: 25."""
    qps: float = 0.0
    """Events per second that a source may write about one object after the burst. Default: one in five minutes."""
    key_func: EventAggregatorKeyFunc | None = None
    message_func: EventAggregatorMessageFunc | None = None
    max_events: int = 0
    """Number of similar events within the interval before they are combined. Default: 10."""
    max_interval_in_seconds: int = 0
    """Seconds of the interval in which similar events are counted. Default: 600."""
    clock: PassiveClock | None = None
    spam_key_func: EventSpamKeyFunc | None = None


class EventRecorder(Protocol):
    """A recorder of events about objects. No method blocks or raises; errors are logged. Go: record.EventRecorder."""

    def event(self, object: Any, eventtype: str, reason: str, message: str, /) -> None:
        """Record an event. `eventtype` is "Normal" or "Warning", `reason` a CamelCase word, `message` a text."""
        ...

    def eventf(self, object: Any, eventtype: str, reason: str, message_fmt: str, /, *args: Any) -> None:
        """Format the message with `args` and record the event. Accepts the verbs of Go's fmt and of Python's `%`."""
        ...

    def annotated_eventf(
        self,
        object: Any,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message_fmt: str,
        /,
        *args: Any,
    ) -> None:
        """Record an event with annotations; see `eventf`."""
        ...


class EventRecorderLogger(EventRecorder, Protocol):
    """An event recorder that logs its errors to a given logger. Go: record.EventRecorderLogger."""

    def with_logger(self, logger: klog.Logger, /) -> EventRecorderLogger:
        """Return a recorder with the same source that logs to `logger`."""
        ...


class EventBroadcaster(Protocol):
    """A broadcaster, which passes events from recorders to handlers, sinks and logs. Go: record.EventBroadcaster.

    Each start_* method starts a thread and returns the watch that the thread reads. Stopping the watch ends the thread.
    """

    def start_event_watcher(self, event_handler: Callable[[corev1.Event], None], /) -> watch.Interface:
        """Call the handler with each event, in a separate thread."""
        ...

    def start_recording_to_sink(self, sink: EventSink, /) -> watch.Interface:
        """Correlate the events and write them to the sink."""
        ...

    def start_logging(self, logf: Callable[..., None], /) -> watch.Interface:
        """Log each event with a printf-like function such as klog.infof."""
        ...

    def start_structured_logging(self, verbosity: int, /) -> watch.Interface:
        """Log each event at this verbosity."""
        ...

    def new_recorder(self, scheme: runtime.Scheme, source: corev1.EventSource, /) -> EventRecorderLogger:
        """Return a recorder for one component. The scheme supplies the kinds of typed objects."""
        ...

    def shutdown(self) -> None:
        """Reject new events and stop the watchers."""
        ...


class EventRecorderAdapter:
    """An adapter from a recorder of core/v1 events to events.k8s.io; drops `related` and `action`.

    Go: EventRecorderAdapter.
    """

    def __init__(self, recorder: EventRecorderLogger) -> None:
        self._recorder = recorder

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        """Record an event about `regarding`. Go: EventRecorderAdapter.Eventf."""
        self._recorder.eventf(regarding, eventtype, reason, note, *args)

    def with_logger(self, logger: klog.Logger) -> internalevents.EventRecorderLogger:
        """Return an adapter that logs to `logger`. Go: EventRecorderAdapter.WithLogger."""
        return EventRecorderAdapter(self._recorder.with_logger(logger))


def new_event_recorder_adapter(recorder: EventRecorderLogger) -> EventRecorderAdapter:
    """Return an adapter for `recorder`. Go: record.NewEventRecorderAdapter."""
    return EventRecorderAdapter(recorder)


@dataclass(slots=True)
class _Config:
    """Options of a broadcaster. Go: record.config."""

    correlator_options: CorrelatorOptions = field(default_factory=CorrelatorOptions)
    context: Context | None = None
    sleep_duration: float = 0.0


BroadcasterOption: TypeAlias = Callable[[_Config], None]
"""A function that sets an option of a broadcaster. Go: record.BroadcasterOption."""


def new_broadcaster(*opts: BroadcasterOption) -> EventBroadcasterImpl:
    """Return a running broadcaster; `shutdown` stops it. Go: record.NewBroadcaster."""
    config = _Config(sleep_duration=DEFAULT_SLEEP_DURATION)
    for opt in opts:
        opt(config)
    return EventBroadcasterImpl(config)


def new_broadcaster_for_tests(sleep_duration: float) -> EventBroadcasterImpl:
    """Return a broadcaster that sleeps `sleep_duration` seconds between attempts. Go: record.NewBroadcasterForTests."""
    return new_broadcaster(with_sleep_duration(sleep_duration))


def new_broadcaster_with_correlator_options(options: CorrelatorOptions) -> EventBroadcasterImpl:
    """Return a broadcaster with these correlator options. Go: record.NewBroadcasterWithCorrelatorOptions."""
    return new_broadcaster(with_correlator_options(options))


def with_correlator_options(options: CorrelatorOptions) -> BroadcasterOption:
    """Use these correlator options. Go: record.WithCorrelatorOptions."""

    def option(config: _Config) -> None:
        config.correlator_options = options

    return option


def with_context(ctx: Context) -> BroadcasterOption:
    """Shut the broadcaster down when `ctx` is done, and log to its logger. Go: record.WithContext."""

    def option(config: _Config) -> None:
        config.context = ctx

    return option


def with_sleep_duration(sleep_duration: float) -> BroadcasterOption:
    """Sleep `sleep_duration` seconds between two attempts. Go: record.WithSleepDuration."""

    def option(config: _Config) -> None:
        config.sleep_duration = sleep_duration

    return option


@dataclass(frozen=True, kw_only=True, slots=True)
class EventStatistics:
    """Numbers of a broadcaster's written and dropped events, summed over its sinks. Beyond Go."""

    # Sink calls that succeeded.
    created: int = 0
    patched: int = 0
    # Sink calls that failed, including those of events that were written or dropped later.
    failed_tries: int = 0
    # Events dropped because the queue of the broadcaster or of a watcher was full.
    dropped_queue_full: int = 0
    dropped_watcher_full: int = 0
    # Events dropped by a sink's spam filter.
    dropped_as_spam: int = 0
    # Events that the server rejected or that failed MAX_TRIES_PER_EVENT times.
    dropped_rejected: int = 0
    dropped_retry_limit: int = 0
    # Events not written because the broadcaster was shut down.
    dropped_shutdown: int = 0

    @property
    def dropped(self) -> int:
        """The number of dropped events of all kinds."""
        return (
            self.dropped_queue_full
            + self.dropped_watcher_full
            + self.dropped_as_spam
            + self.dropped_rejected
            + self.dropped_retry_limit
            + self.dropped_shutdown
        )


def _is_power_of_two(number: int) -> bool:
    """Report whether a count has just doubled, which limits repeated log lines."""
    return number & (number - 1) == 0


class EventBroadcasterImpl(watch.Broadcaster):
    """An EventBroadcaster; `new_broadcaster` creates it. Thread-safe. Go: record.eventBroadcasterImpl.

    The thread "watch-broadcaster" distributes events to the watchers, and each watcher has a thread "event-watcher".
    `shutdown` joins the first. A watcher's thread ends when its current handler or sink call returns.
    """

    def __init__(self, config: _Config) -> None:
        super().__init__(
            MAX_QUEUED_EVENTS, watch.FullChannelBehavior.DROP_IF_CHANNEL_FULL, incoming_queue_length=MAX_QUEUED_EVENTS
        )
        self._sleep_duration = config.sleep_duration
        self._options = config.correlator_options
        # Guards _statistics.
        self._statistics_lock = threading.Lock()
        self._statistics = EventStatistics()
        parent = config.context or context.background()
        self._cancelation_ctx, self._cancel = context.with_cancel(parent)
        self._forget_parent = parent.add_done_callback(self._shutdown_in_background)
        self._event_watchers = EventWatchers()

    def _shutdown_in_background(self) -> None:
        """Shut down in another thread, so that the thread that cancelled the parent context does not block."""
        threading.Thread(target=super().shutdown, name="event-broadcaster-shutdown", daemon=True).start()

    def start_recording_to_sink(self, sink: EventSink) -> watch.Interface:
        """Write events to `sink`. Each sink has its own correlator. Go: StartRecordingToSink."""
        require_sink(sink)
        correlator = new_event_correlator_with_options(self._options)
        return self.start_event_watcher(lambda event: self._record_to_sink(sink, event, correlator))

    def shutdown(self) -> None:
        """Distribute the queued events, then stop the watchers. Blocks until they are distributed. Go: Shutdown."""
        self._forget_parent()
        super().shutdown()
        self._cancel()

    def shutdown_with_drain(self, ctx: Context) -> None:
        """Shut down, and block until each event was written or tried once, or until `ctx` is done. Beyond Go."""
        self._event_watchers.stop_pausing()
        super().shutdown()
        self._event_watchers.wait(ctx)
        self.shutdown()

    def statistics(self) -> EventStatistics:
        """Return the numbers of written and dropped events so far."""
        with self._statistics_lock:
            return self._statistics

    def _count(self, name: str, number: int = 1) -> int:
        """Add `number` to one of the statistics and return its new value."""
        with self._statistics_lock:
            total: int = getattr(self._statistics, name) + number
            self._statistics = replace(self._statistics, **{name: total})
        return total

    def event_dropped(self) -> None:
        """Count and log a dropped event. See Broadcaster."""
        dropped = self._count("dropped_watcher_full")
        # Go does not log this. One line per doubling of the count limits the log.
        if _is_power_of_two(dropped):
            self._logger().error(None, "Event watcher is too slow, dropped events", dropped=dropped)

    def _logger(self) -> klog.Logger:
        return klog.from_context(self._cancelation_ctx)

    def _record_to_sink(self, sink: EventSink, event: corev1.Event, event_correlator: EventCorrelator) -> None:
        """Write the event, or drop it. Blocks until then. Go: recordToSink."""
        result = event_correlator.event_correlate(event)
        if result.skip:
            self._note_spam(event)
            return
        tries = 0
        while not self._record_event(sink, result, event_correlator):
            tries += 1
            if tries >= MAX_TRIES_PER_EVENT:
                self._count("dropped_retry_limit")
                self._logger().error(None, "Unable to write event (retry limit exceeded!)", event=result.event)
                return
            # The first delay is random, so that clients do not all retry at once when the server returns.
            delay = self._sleep_duration * (random.random() if tries == 1 else 1.0)
            if not self._event_watchers.pause(self._cancelation_ctx, delay):
                self._count("dropped_shutdown")
                self._logger().error(None, "Unable to write event (broadcaster is shut down)", event=result.event)
                return

    def _note_spam(self, event: corev1.Event) -> None:
        dropped = self._count("dropped_as_spam")
        # Go does not log this. One line per doubling, since the filter exists for floods of events.
        if _is_power_of_two(dropped):
            self._logger().v(2).info("Spam filter dropped events", dropped=dropped, event=event)

    def _record_event(self, sink: EventSink, result: EventCorrelateResult, event_correlator: EventCorrelator) -> bool:
        """Try to write the event once; return True if it needs no further attempt. Go: record.recordEvent."""
        event = result.event
        assert event is not None
        try:
            new_event = self._write(sink, event, result.patch or b"")
        except Exception as err:
            self._count("failed_tries")
            if not self._is_final(err, event):
                self._logger().error(err, "Unable to write event (may retry after sleeping)", event=event)
                return False
            self._count("dropped_rejected")
            return True
        require_event(new_event, corev1.Event, sink)
        event_correlator.update_state(new_event)
        return True

    @hop("events.write", go="recordEvent")
    def _write(self, sink: EventSink, event: corev1.Event, patch: bytes) -> corev1.Event:
        """Patch a repeated event; create an event that is new or has expired on the server."""
        if event.count > 1:
            try:
                patched = sink.patch(event, patch)
            except Exception as err:
                if not is_key_not_found_error(err):
                    raise
            else:
                self._count("patched")
                return patched
        # The server rejects the creation of an object that has a resource version.
        event.set_resource_version("")
        created = sink.create(event)
        self._count("created")
        return created

    def _is_final(self, err: Exception, event: corev1.Event) -> bool:
        """Log the error and report whether another attempt is useless."""
        logger = self._logger()
        if isinstance(err, RequestConstructionError):
            logger.error(err, "Unable to construct event (will not retry!)", event=event)
            return True
        if not isinstance(err, errors.StatusError):
            return False
        harmless = errors.is_already_exists(err) or errors.has_status_cause(err, corev1.NAMESPACE_TERMINATING_CAUSE)
        if harmless:
            logger.v(5).info("Server rejected event (will not retry!)", event=event, err=err)
        else:
            logger.error(err, "Server rejected event (will not retry!)", event=event)
        return True

    def start_logging(self, logf: Callable[..., None]) -> watch.Interface:
        """Log each event with a printf-like function. Go: StartLogging."""
        require_handler(logf, "format, object, type, reason, message")
        text = "Event(%s): type: '%s' reason: '%s' %s"
        return self.start_event_watcher(
            lambda each: logf(text, reference.go_syntax(each.involved_object), each.type, each.reason, each.message)
        )

    def start_structured_logging(self, verbosity: int) -> watch.Interface:
        """Log each event at this verbosity. Go: StartStructuredLogging."""
        logger = self._logger().v(verbosity)

        def log(event: corev1.Event) -> None:
            logger.info(
                "Event occurred",
                object=klog.kref(event.involved_object.namespace, event.involved_object.name),
                fieldPath=event.involved_object.field_path,
                kind=event.involved_object.kind,
                apiVersion=event.involved_object.api_version,
                type=event.type,
                reason=event.reason,
                message=event.message,
            )

        return self.start_event_watcher(log)

    def start_event_watcher(self, event_handler: Callable[[corev1.Event], None]) -> watch.Interface:
        """Call the handler, which must not change the event, and log its errors. Go: StartEventWatcher."""
        require_handler(event_handler)
        try:
            watcher = self.watch()
        except RuntimeError as err:
            self._logger().error(err, "Unable start event watcher (will not retry!)")
            return watch.new_empty_watch()
        self._event_watchers.start(lambda: self._run_event_watcher(watcher, event_handler))
        return watcher

    def _run_event_watcher(self, watcher: watch.Interface, event_handler: Callable[[corev1.Event], None]) -> None:
        done, results = self._cancelation_ctx.done(), watcher.result_chan()
        while not done.is_set():
            item, ok, ready = results.try_receive()
            if not ready:
                chosen = select([done, results])
                if chosen.case == 0:
                    break
                item, ok = chosen.value, chosen.ok
            if not ok or item is None:
                return
            if isinstance(item.object, corev1.Event):
                call_handler(event_handler, item.object)
        watcher.stop()
        self._count_undelivered(results)

    def _count_undelivered(self, results: Channel[watch.Event]) -> None:
        if undelivered := len(results):
            self._count("dropped_shutdown", undelivered)
            self._logger().error(None, "Events were not handled (broadcaster is shut down)", dropped=undelivered)

    def new_recorder(self, scheme: runtime.Scheme, source: corev1.EventSource) -> EventRecorderLogger:
        """Return a recorder for one component. Go: NewRecorder."""
        return _RecorderImplLogger(_RecorderImpl(scheme, source, self, RealClock()), klog.background())


class _RecorderImpl:
    """A recorder that creates events and passes them to the broadcaster. Go: record.recorderImpl."""

    def __init__(
        self,
        scheme: runtime.Scheme | None,
        source: corev1.EventSource,
        broadcaster: EventBroadcasterImpl,
        clock: PassiveClock,
    ) -> None:
        self._scheme = scheme
        self._source = source.to_dict()
        self._broadcaster = broadcaster
        self._clock = clock

    @hop("events.generate", go="(*recorderImpl).generateEvent")
    def generate_event(
        self,
        logger: klog.Logger,
        object: Any,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message: str,
    ) -> None:
        """Pass the event to the broadcaster without blocking; log the reason if that fails. Go: generateEvent."""
        try:
            ref = reference.get_reference(self._scheme, object)
        except Exception as err:
            logger.error(
                err,
                "Could not construct reference, will not report event",
                object=object,
                eventType=eventtype,
                reason=reason,
                message=message,
            )
            return
        if not validate_event_type(eventtype):
            logger.error(None, "Unsupported event type", eventType=eventtype, reason=reason, supported="Normal,Warning")
            return
        event = self.make_event(ref, annotations, eventtype, reason, message)
        try:
            sent = self._broadcaster.action_or_drop(watch.EventType.ADDED, event)
        except RuntimeError as err:
            self._broadcaster._count("dropped_shutdown")
            logger.error(err, "Unable to record event (will not retry!)")
            return
        if not sent:
            self._broadcaster._count("dropped_queue_full")
            logger.error(None, "Unable to record event: too many queued events, dropped event", event=event)

    def make_event(
        self,
        ref: corev1.ObjectReference,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message: str,
    ) -> corev1.Event:
        """Return an event with count 1, in the object's namespace or in "default". Go: makeEvent.

        Builds the JSON document directly: controllers record many events, and creating typed objects would be slower.
        """
        moment = from_clock(self._clock.now())
        timestamp = format_time(moment)
        metadata: dict[str, Any] = {
            "name": generate_event_name(ref.name, moment.unix_nano()),
            "namespace": ref.namespace or "default",
        }
        if annotations:
            metadata["annotations"] = dict(annotations)
        return corev1.Event.from_dict(
            {
                "metadata": metadata,
                "involvedObject": ref.to_dict(),
                "reason": reason,
                "message": message,
                "source": dict(self._source),
                "firstTimestamp": timestamp,
                "lastTimestamp": timestamp,
                "count": 1,
                "type": eventtype,
                "reportingComponent": self._source.get("component", ""),
                "reportingInstance": self._source.get("host", ""),
            }
        )


class _RecorderImplLogger:
    """An EventRecorderLogger. Thread-safe. Go: record.recorderImplLogger."""

    def __init__(self, recorder: _RecorderImpl, logger: klog.Logger) -> None:
        self._recorder = recorder
        self._logger = logger

    def event(self, object: Any, eventtype: str, reason: str, message: str) -> None:
        self._recorder.generate_event(self._logger, object, None, eventtype, reason, message)

    def eventf(self, object: Any, eventtype: str, reason: str, message_fmt: str, /, *args: Any) -> None:
        self.event(object, eventtype, reason, sprintf(message_fmt, *args))

    def annotated_eventf(
        self,
        object: Any,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message_fmt: str,
        /,
        *args: Any,
    ) -> None:
        message = sprintf(message_fmt, *args)
        self._recorder.generate_event(self._logger, object, annotations, eventtype, reason, message)

    def with_logger(self, logger: klog.Logger) -> EventRecorderLogger:
        return _RecorderImplLogger(self._recorder, logger)
