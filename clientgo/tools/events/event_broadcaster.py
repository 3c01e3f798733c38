"""Writes events of events.k8s.io/v1, repeats as series.

Mirrors k8s.io/client-go/tools/events/event_broadcaster.go. The first event of a series is created and the second one
patched into a series. Further events only increment a count in memory, which is written every half hour and when the
series has ended (six minutes without an event).

Differs from Go: Go writes each event in a separate goroutine, so their number is unbounded while the server is slow.
Here one thread writes the events in order, up to 1,000 wait, and the rest is dropped and counted.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from clientgo import context, klog
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery import runtime, watch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.util.json import marshal
from clientgo.apimachinery.util.strategicpatch import create_two_way_merge_map_patch
from clientgo.context import Context
from clientgo.golang.channel import StopChannel
from clientgo.golang.functions import require_methods
from clientgo.rest import RequestConstructionError
from clientgo.tools import record
from clientgo.tools.events.event_recorder import _RecorderImpl, _RecorderImplLogger
from clientgo.tools.events.interfaces import EventBroadcaster, EventRecorderLogger, EventSink
from clientgo.tools.record.util import is_key_not_found_error
from clientgo.tools.record.watchers import EventWatchers, call_handler, require_handler
from clientgo.utils.clock import PassiveClock, RealClock

if TYPE_CHECKING:
    from clientgo.kubernetes.clientset import Interface as ClientsetInterface
    from clientgo.kubernetes.typed.events.v1 import EventInterface

MAX_TRIES_PER_EVENT: Final = 12
"""Number of attempts to write an event before it is dropped. Go: events.maxTriesPerEvent."""

FINISH_TIME: Final = 360.0
"""Seconds without an event after which a series has ended. Go: events.finishTime."""

REFRESH_TIME: Final = 1800.0
"""Seconds between two writes of a series that continues. Go: events.refreshTime."""

MAX_QUEUED_EVENTS: Final = 1000
"""Capacity of a watcher's queue. Go: events.maxQueuedEvents."""

DEFAULT_SLEEP_DURATION = 10.0
"""Seconds between two attempts; programs may assign it on this module. Go: events.defaultSleepDuration."""

_EventKey: TypeAlias = tuple[Any, ...]
"""The fields that the events of one series share. Go: events.eventKey."""


class EventsGetter(Protocol):
    """A source of clients for events, such as `clientset.events_v1()`."""

    def events(self, namespace: str, /) -> EventInterface:
        """Return the client for the events in a namespace."""
        ...


@dataclass(frozen=True, slots=True)
class EventSinkImpl:
    """A sink that writes events to the API. Go: events.EventSinkImpl.

    All methods block for one request, and raise ValueError for an event without namespace.
    """

    interface: EventsGetter

    def __post_init__(self) -> None:
        """Raise TypeError for a client that is no EventsGetter, such as a whole clientset."""
        require_methods(self.interface, "the client of events", "events")

    def create(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        """Create the event. Go: EventSinkImpl.Create."""
        return self.interface.events(_namespace(event, "create")).create(ctx, event)

    def update(self, ctx: Context, event: eventsv1.Event) -> eventsv1.Event:
        """Replace the event. Go: EventSinkImpl.Update."""
        return self.interface.events(_namespace(event, "update")).update(ctx, event)

    def patch(self, ctx: Context, event: eventsv1.Event, data: bytes) -> eventsv1.Event:
        """Apply a strategic merge patch to the event. Go: EventSinkImpl.Patch."""
        client = self.interface.events(_namespace(event, "patch"))
        return client.patch(ctx, event.get_name(), PatchType.STRATEGIC_MERGE, data)


def _namespace(event: eventsv1.Event, verb: str) -> str:
    if not event.get_namespace():
        raise ValueError(f"can't {verb} an event with empty namespace")
    return event.get_namespace()


def new_broadcaster(sink: EventSink) -> EventBroadcaster:
    """Return a broadcaster that can write to `sink`; `shutdown` stops it. Go: events.NewBroadcaster."""
    return _EventBroadcasterImpl(sink, DEFAULT_SLEEP_DURATION, {})


class _EventBroadcasterImpl(watch.Broadcaster):
    """An EventBroadcaster. Thread-safe. Go: events.eventBroadcasterImpl.

    Invariant: an event in the cache is private to the cache; the sink receives copies.
    """

    def __init__(
        self,
        sink: EventSink,
        sleep_duration: float,
        event_cache: dict[_EventKey, eventsv1.Event],
        clock: PassiveClock | None = None,
    ) -> None:
        super().__init__(
            MAX_QUEUED_EVENTS, watch.FullChannelBehavior.DROP_IF_CHANNEL_FULL, incoming_queue_length=MAX_QUEUED_EVENTS
        )
        self._sink = sink
        self._sleep_duration = sleep_duration
        self._clock = clock or RealClock()
        # Guards _event_cache. Held while series are refreshed and finished, as in Go.
        self._mutex = threading.Lock()
        self._event_cache = event_cache
        self._event_watchers = EventWatchers()
        # Events dropped because a watcher was too slow. Only the broadcaster's thread writes it.
        self.dropped = 0

    def event_dropped(self) -> None:
        """Count a dropped event and log one line for each doubling. See Broadcaster."""
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:
            klog.background().error(None, "Event watcher is too slow, dropped events", dropped=self.dropped)

    def refresh_existing_event_series(self, ctx: Context) -> None:
        """Write the count of every series, so that the server keeps its event. Go: refreshExistingEventSeries."""
        with self._mutex:
            for key, event in list(self._event_cache.items()):
                if event.series is None:
                    continue
                recorded, retry = _record_event(ctx, self._sink, event)
                if not retry and recorded is not None:
                    self._event_cache[key] = recorded.deep_copy()

    def finish_series(self, ctx: Context) -> None:
        """Write the series that have ended and remove them from the cache. Go: finishSeries."""
        oldest = from_clock(self._clock.now() - FINISH_TIME)
        with self._mutex:
            for key, event in list(self._event_cache.items()):
                series = event.series
                last_seen = event.event_time if series is None else series.last_observed_time
                if last_seen is not None and last_seen >= oldest:
                    continue
                # A series that the server does not accept now is kept for the next round.
                if series is None or not _record_event(ctx, self._sink, event)[1]:
                    del self._event_cache[key]

    def new_recorder(self, scheme: runtime.Scheme, reporting_controller: str) -> EventRecorderLogger:
        """Return a recorder for one controller. Go: NewRecorder."""
        reporting_instance = f"{reporting_controller}-{socket.gethostname()}"
        recorder = _RecorderImpl(scheme, reporting_controller, reporting_instance, self, RealClock())
        return _RecorderImplLogger(recorder, klog.background())

    def record_to_sink(self, ctx: Context, event: eventsv1.Event, clock: PassiveClock) -> None:
        """Create the event or add it to its series. Blocks until it is written or dropped. Go: recordToSink."""
        to_record = self._next_in_series(event, clock)
        if to_record is not None:
            self._attempt_recording(ctx, to_record)

    def _next_in_series(self, event: eventsv1.Event, clock: PassiveClock) -> eventsv1.Event | None:
        """Return the event to write now, or None if the event only increments a count."""
        key = _get_key(event)
        with self._mutex:
            isomorphic = self._event_cache.get(key)
            if isomorphic is None:
                self._event_cache[key] = event.deep_copy()
                return event.deep_copy()
            now = from_clock(clock.now())
            if isomorphic.series is not None:
                isomorphic.series.count += 1
                isomorphic.series.last_observed_time = now
                return None
            isomorphic.series = eventsv1.EventSeries(count=2, last_observed_time=now)
            return isomorphic.deep_copy()

    def _attempt_recording(self, ctx: Context, event: eventsv1.Event) -> None:
        """Write the event with retries. Go: attemptRecording."""
        for tries in range(1, MAX_TRIES_PER_EVENT + 1):
            _, retry = _record_event(ctx, self._sink, event)
            if not retry:
                return
            if tries < MAX_TRIES_PER_EVENT and not self._event_watchers.pause(
                ctx, wait.jitter(self._sleep_duration, 0.25)
            ):
                return
        klog.from_context(ctx).error(None, "Unable to write event (retry limit exceeded!)", event=event)

    def start_structured_logging(self, verbosity: int) -> Callable[[], None]:
        """Log each event at this verbosity. Go: StartStructuredLogging."""
        logger = klog.background().v(verbosity)
        try:
            return self.start_logging(logger)
        except RuntimeError as err:
            logger.error(err, "Failed to start event watcher")
            return lambda: None

    def start_logging(self, logger: klog.Logger) -> Callable[[], None]:
        """Log each event to `logger`. Go: StartLogging."""

        def log(event: Any) -> None:
            if not isinstance(event, eventsv1.Event):
                logger.error(None, "unexpected type, expected eventsv1.Event")
                return
            about = event.regarding
            logger.info(
                "Event occurred",
                object=klog.kref(about.namespace, about.name),
                kind=about.kind,
                apiVersion=about.api_version,
                type=event.type,
                reason=event.reason,
                action=event.action,
                note=event.note,
            )

        return self.start_event_watcher(log)

    def start_event_watcher(self, event_handler: Callable[[Any], None]) -> Callable[[], None]:
        """Call the handler with each event. Errors of the handler are logged. Go: StartEventWatcher."""
        require_handler(event_handler)
        watcher = self.watch()

        def run() -> None:
            for event in watcher.result_chan():
                call_handler(event_handler, event.object)

        self._event_watchers.start(run)
        return watcher.stop

    def shutdown_with_drain(self, ctx: Context) -> None:
        """Shut down, and block until each event was written or tried once, or until `ctx` is done. Beyond Go."""
        self._event_watchers.stop_pausing()
        self.shutdown()
        self._event_watchers.wait(ctx)

    def start_recording_events(self, ctx: Context) -> None:
        """Write events until `ctx` is done, without maintaining series. Go: startRecordingEvents."""

        def record_event(event: Any) -> None:
            if not isinstance(event, eventsv1.Event):
                klog.from_context(ctx).error(None, "unexpected type, expected eventsv1.Event")
            elif not ctx.done().is_set():
                self.record_to_sink(ctx, event, self._clock)

        stop_watcher = self.start_event_watcher(record_event)

        def stop() -> None:
            # Stopping the watcher waits for the broadcaster. Use a thread, so that cancelling `ctx` does not block.
            threading.Thread(target=stop_watcher, name="event-watcher-stop", daemon=True).start()

        ctx.add_done_callback(stop)

    def start_recording_to_sink(self, stop_ch: StopChannel) -> None:
        """Write events until `stop_ch` is set. Go: StartRecordingToSink."""
        try:
            self.start_recording_to_sink_with_context(wait.context_for_channel(stop_ch))
        except RuntimeError as err:
            klog.background().error(err, "Failed to start recording to sink")

    def start_recording_to_sink_with_context(self, ctx: Context) -> None:
        """Write events and maintain series until `ctx` is done. Go: StartRecordingToSinkWithContext."""
        for name, upkeep, period in (
            ("event-series-refresh", self.refresh_existing_event_series, REFRESH_TIME),
            ("event-series-finish", self.finish_series, FINISH_TIME),
        ):
            threading.Thread(target=wait.until_with_context, args=(ctx, upkeep, period), name=name, daemon=True).start()
        self.start_recording_events(ctx)


def _record_event(ctx: Context, sink: EventSink, event: eventsv1.Event) -> tuple[eventsv1.Event | None, bool]:
    """Write the event once; return (the server's event, whether to retry). Go: events.recordEvent."""
    try:
        return _write(ctx, sink, event), False
    except RequestConstructionError as err:
        klog.from_context(ctx).error(err, "Unable to construct event (will not retry!)", event=event)
        return None, False
    except errors.StatusError as err:
        if not errors.is_already_exists(err):
            klog.from_context(ctx).error(err, "Server rejected event (will not retry!)", event=event)
            return None, False
        if event.series is not None:
            # Another client created the event between this client's patch and create: patch again.
            return None, True
        klog.from_context(ctx).v(5).info("Server rejected event (will not retry!)", event=event, err=err)
        return None, False
    except Exception as err:
        klog.from_context(ctx).error(err, "Unable to write event (may retry after sleeping)", event=event)
        return None, True


def _write(ctx: Context, sink: EventSink, event: eventsv1.Event) -> eventsv1.Event:
    """Patch a series; create an event that is new or has expired on the server."""
    if event.series is not None:
        try:
            return sink.patch(ctx, event, _create_patch_bytes_for_series(event))
        except Exception as err:
            if not is_key_not_found_error(err):
                raise
    event.set_resource_version("")
    return sink.create(ctx, event)


def _create_patch_bytes_for_series(event: eventsv1.Event) -> bytes:
    """Return the patch for an event's series. Go: events.createPatchBytesForSeries."""
    new = document_of(event)
    old = {key: value for key, value in new.items() if key != "series"}
    return marshal(create_two_way_merge_map_patch(old, new, eventsv1.Event)).encode()


def _get_key(event: eventsv1.Event) -> _EventKey:
    """Return the key of the event's series. Go: events.getKey."""
    document = document_of(event)
    related = document.get("related") or {}
    return (
        event.type,
        event.action,
        event.reason,
        event.reporting_controller,
        event.reporting_instance,
        tuple(sorted((document.get("regarding") or {}).items())),
        tuple(sorted(related.items())),
    )


class _EventBroadcasterAdapterImpl:
    """An adapter that uses events.k8s.io/v1 if the server has it, and core/v1 otherwise.

    Go: events.eventBroadcasterAdapterImpl.
    """

    def __init__(self, ctx: Context, client: ClientsetInterface) -> None:
        self._events_v1_broadcaster: EventBroadcaster | None = None
        if _has_events_v1(client):
            self._events_v1_broadcaster = new_broadcaster(EventSinkImpl(client.events_v1()))
        self._core_client = client.core_v1()
        self._core_broadcaster = record.new_broadcaster(record.with_context(ctx))

    def start_recording_to_sink(self, stop_ch: StopChannel) -> None:
        from clientgo.kubernetes.typed.core.v1 import EventSinkImpl as CoreEventSinkImpl

        if self._events_v1_broadcaster is not None:
            self._events_v1_broadcaster.start_recording_to_sink(stop_ch)
        self._core_broadcaster.start_recording_to_sink(CoreEventSinkImpl(self._core_client.events("")))

    def new_recorder(self, name: str) -> EventRecorderLogger:
        from clientgo.kubernetes.scheme import SCHEME

        if self._events_v1_broadcaster is not None:
            return self._events_v1_broadcaster.new_recorder(SCHEME, name)
        return record.new_event_recorder_adapter(self.deprecated_new_legacy_recorder(name))

    def deprecated_new_legacy_recorder(self, name: str) -> record.EventRecorderLogger:
        from clientgo.kubernetes.scheme import SCHEME

        return self._core_broadcaster.new_recorder(SCHEME, corev1.EventSource(component=name))

    def shutdown(self) -> None:
        self._core_broadcaster.shutdown()
        if self._events_v1_broadcaster is not None:
            self._events_v1_broadcaster.shutdown()


def _has_events_v1(client: ClientsetInterface) -> bool:
    try:
        client.discovery().server_resources_for_group_version("events.k8s.io/v1")
    except Exception:
        return False
    return True


def new_event_broadcaster_adapter(client: ClientsetInterface) -> _EventBroadcasterAdapterImpl:
    """Return an adapter. Blocks for one request, to find out which events API the server has.

    Go: events.NewEventBroadcasterAdapter.
    """
    return new_event_broadcaster_adapter_with_context(context.background(), client)


def new_event_broadcaster_adapter_with_context(
    ctx: Context, client: ClientsetInterface
) -> _EventBroadcasterAdapterImpl:
    """Return an adapter whose core/v1 broadcaster shuts down when `ctx` is done. Blocks for one request.

    Go: events.NewEventBroadcasterAdapterWithContext.
    """
    return _EventBroadcasterAdapterImpl(ctx, client)
