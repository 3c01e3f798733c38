"""Records events of events.k8s.io/v1 (k8s.io/client-go/tools/events)."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.tools.events.event_broadcaster import (
    DEFAULT_SLEEP_DURATION,
    FINISH_TIME,
    MAX_QUEUED_EVENTS,
    MAX_TRIES_PER_EVENT,
    REFRESH_TIME,
    EventSinkImpl,
    new_broadcaster,
    new_event_broadcaster_adapter,
    new_event_broadcaster_adapter_with_context,
)
from clientgo.tools.events.helper import get_field_selector
from clientgo.tools.events.interfaces import (
    EventBroadcaster,
    EventBroadcasterAdapter,
    EventRecorder,
    EventRecorderLogger,
    EventSink,
)

if TYPE_CHECKING:
    from clientgo.tools.events.fake import FakeRecorder, new_fake_recorder
else:
    __getattr__, __dir__ = attach(__name__, {"fake": ["FakeRecorder", "new_fake_recorder"]})

__all__ = [
    "DEFAULT_SLEEP_DURATION",
    "FINISH_TIME",
    "MAX_QUEUED_EVENTS",
    "MAX_TRIES_PER_EVENT",
    "REFRESH_TIME",
    "EventBroadcaster",
    "EventBroadcasterAdapter",
    "EventRecorder",
    "EventRecorderLogger",
    "EventSink",
    "EventSinkImpl",
    "FakeRecorder",
    "get_field_selector",
    "new_broadcaster",
    "new_event_broadcaster_adapter",
    "new_event_broadcaster_adapter_with_context",
    "new_fake_recorder",
]
