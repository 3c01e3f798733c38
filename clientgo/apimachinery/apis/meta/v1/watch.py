"""Conversions between watch events and their wire form.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/watch.go.
"""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.types import WatchEvent
from clientgo.apimachinery.watch.watch import Event as InternalEvent

__all__ = [
    "InternalEvent",
    "WatchEvent",
    "convert_v1_internal_event_to_v1_watch_event",
    "convert_v1_watch_event_to_v1_internal_event",
    "convert_v1_watch_event_to_watch_event",
    "convert_watch_event_to_v1_watch_event",
]


def convert_watch_event_to_v1_watch_event(event: InternalEvent) -> WatchEvent:
    """Return the wire form with a copy of the object's document. Go: Convert_watch_Event_To_v1_WatchEvent."""
    return WatchEvent(type=str(event.type), object=event.object)


def convert_v1_internal_event_to_v1_watch_event(event: InternalEvent) -> WatchEvent:
    """Return the wire form. An internal event is a watch.Event. Go: Convert_v1_InternalEvent_To_v1_WatchEvent."""
    return convert_watch_event_to_v1_watch_event(event)


def convert_v1_watch_event_to_watch_event(event: WatchEvent) -> InternalEvent:
    """Return the event with its object as a document that is not decoded yet.

    Go: Convert_v1_WatchEvent_To_watch_Event.
    """
    return InternalEvent(event.type, event.object)


def convert_v1_watch_event_to_v1_internal_event(event: WatchEvent) -> InternalEvent:
    """Return the internal event. An internal event is a watch.Event. Go: Convert_v1_WatchEvent_To_v1_InternalEvent."""
    return convert_v1_watch_event_to_watch_event(event)
