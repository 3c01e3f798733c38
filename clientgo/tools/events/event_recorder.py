"""Creates events of events.k8s.io/v1 and passes them to the broadcaster.

Mirrors k8s.io/client-go/tools/events/event_recorder.go. Differs from Go: Go starts a goroutine for each event, which
waits until the broadcaster has room. Here the recorder passes the event directly, in the order of the calls. It drops
the event and logs a line when 1,000 events wait already.
"""

from __future__ import annotations

from typing import Any

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery import runtime, watch
from clientgo.apimachinery.apis.meta.v1.micro_time import MicroTime
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.golang.fmt import sprintf
from clientgo.tools import reference
from clientgo.tools.internal.events import EventRecorderLogger
from clientgo.tools.record.util import generate_event_name, validate_event_type
from clientgo.utils.clock import PassiveClock


class _RecorderImpl:
    """A recorder that creates events and passes them to the broadcaster. Go: events.recorderImpl."""

    def __init__(
        self,
        scheme: runtime.Scheme | None,
        reporting_controller: str,
        reporting_instance: str,
        broadcaster: watch.Broadcaster,
        clock: PassiveClock,
    ) -> None:
        self._scheme = scheme
        self._reporting_controller = reporting_controller
        self._reporting_instance = reporting_instance
        self._broadcaster = broadcaster
        self._clock = clock

    def record(
        self,
        logger: klog.Logger,
        regarding: Any,
        related: Any,
        eventtype: str,
        reason: str,
        action: str,
        note: str,
        *args: Any,
    ) -> None:
        """Pass the event to the broadcaster, or log the reason if that fails. Go: recorderImpl.eventf."""
        message = sprintf(note, *args)
        try:
            ref_regarding = reference.get_reference(self._scheme, regarding)
        except Exception as err:
            logger.error(
                err,
                "Could not construct reference, will not report event",
                object=regarding,
                eventType=eventtype,
                reason=reason,
                message=message,
            )
            return
        ref_related = self._reference_to_related(logger, related)
        if not validate_event_type(eventtype):
            logger.error(None, "Unsupported event type", eventType=eventtype, reason=reason, supported="Normal,Warning")
            return
        event = self.make_event(ref_regarding, ref_related, eventtype, reason, message, action)
        try:
            sent = self._broadcaster.action_or_drop(watch.EventType.ADDED, event)
        except RuntimeError as err:
            logger.error(err, "Unable to record event (will not retry!)")
            return
        if not sent:
            logger.error(None, "Unable to record event: too many queued events, dropped event", event=event)

    def _reference_to_related(self, logger: klog.Logger, related: Any) -> corev1.ObjectReference | None:
        if related is None:
            return None
        try:
            return reference.get_reference(self._scheme, related)
        except Exception as err:
            logger.v(9).info("Could not construct reference", object=related, err=err)
            return None

    def make_event(
        self,
        ref_regarding: corev1.ObjectReference,
        ref_related: corev1.ObjectReference | None,
        eventtype: str,
        reason: str,
        message: str,
        action: str,
    ) -> eventsv1.Event:
        """Return the event. Go: recorderImpl.makeEvent."""
        moment = from_clock(self._clock.now())
        event = eventsv1.Event(
            event_time=MicroTime.of(moment),
            reporting_controller=self._reporting_controller,
            reporting_instance=self._reporting_instance,
            action=action,
            reason=reason,
            regarding=ref_regarding,
            related=ref_related,
            note=message,
            type=eventtype,
        )
        event.set_name(generate_event_name(ref_regarding.name, moment.unix_nano()))
        event.set_namespace(ref_regarding.namespace or "default")
        return event


class _RecorderImplLogger:
    """An EventRecorderLogger. Thread-safe. Go: events.recorderImplLogger."""

    def __init__(self, recorder: _RecorderImpl, logger: klog.Logger) -> None:
        self._recorder = recorder
        self._logger = logger

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        self._recorder.record(self._logger, regarding, related, eventtype, reason, action, note, *args)

    def with_logger(self, logger: klog.Logger) -> EventRecorderLogger:
        return _RecorderImplLogger(self._recorder, logger)
