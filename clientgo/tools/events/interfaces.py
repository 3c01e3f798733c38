"""The interfaces of recorders, broadcasters and sinks of events.k8s.io/v1.

Mirrors k8s.io/client-go/tools/events/interfaces.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from clientgo import klog
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery import runtime
from clientgo.context import Context
from clientgo.golang.channel import StopChannel
from clientgo.tools import record
from clientgo.tools.internal.events import EventRecorder, EventRecorderLogger

__all__ = ["EventBroadcaster", "EventBroadcasterAdapter", "EventRecorder", "EventRecorderLogger", "EventSink"]


class EventBroadcaster(Protocol):
    """A broadcaster, which passes events from recorders to a sink, handlers and logs. Go: events.EventBroadcaster."""

    def start_recording_to_sink(self, stop_ch: StopChannel, /) -> None:
        """Deprecated: use start_recording_to_sink_with_context."""
        ...

    def start_recording_to_sink_with_context(self, ctx: Context, /) -> None:
        """Write the events to the broadcaster's sink until `ctx` is done. Starts threads, does not block.

        Raises RuntimeError if the broadcaster is shut down.
        """
        ...

    def new_recorder(self, scheme: runtime.Scheme, reporting_controller: str, /) -> EventRecorderLogger:
        """Return a recorder for one controller. The scheme supplies the kinds of typed objects."""
        ...

    def start_event_watcher(self, event_handler: Callable[[Any], None], /) -> Callable[[], None]:
        """Call the handler with each event, in a separate thread. Return a function that stops this.

        Raises RuntimeError if the broadcaster is shut down.
        """
        ...

    def start_structured_logging(self, verbosity: int, /) -> Callable[[], None]:
        """Deprecated: use start_logging. Never raises."""
        ...

    def start_logging(self, logger: klog.Logger, /) -> Callable[[], None]:
        """Log each event. Return a function that stops this. Raises RuntimeError if the broadcaster is shut down."""
        ...

    def shutdown(self) -> None:
        """Reject new events and stop all watchers."""
        ...


class EventSink(Protocol):
    """A sink, which writes events, normally to the API. All methods may block and raise. Go: events.EventSink."""

    def create(self, ctx: Context, event: eventsv1.Event, /) -> eventsv1.Event:
        """Write a new event and return the event that the server stored."""
        ...

    def update(self, ctx: Context, event: eventsv1.Event, /) -> eventsv1.Event:
        """Replace an event."""
        ...

    def patch(self, ctx: Context, old_event: eventsv1.Event, data: bytes, /) -> eventsv1.Event:
        """Apply a strategic merge patch to an event."""
        ...


class EventBroadcasterAdapter(Protocol):
    """An adapter that uses events.k8s.io/v1 if the server has it, and core/v1 otherwise. Deprecated.

    Go: events.EventBroadcasterAdapter.
    """

    def start_recording_to_sink(self, stop_ch: StopChannel, /) -> None:
        """Write the events to the API until the channel is set. Starts threads, does not block."""
        ...

    def new_recorder(self, name: str, /) -> EventRecorderLogger:
        """Return a recorder for one controller."""
        ...

    def deprecated_new_legacy_recorder(self, name: str, /) -> record.EventRecorderLogger:
        """Return a recorder of core/v1 events."""
        ...

    def shutdown(self) -> None:
        """Shut both broadcasters down."""
        ...
