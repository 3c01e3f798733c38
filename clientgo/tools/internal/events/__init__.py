"""The recorder of events.k8s.io (k8s.io/client-go/tools/internal/events)."""

from clientgo.tools.internal.events.interfaces import EventRecorder, EventRecorderLogger

__all__ = ["EventRecorder", "EventRecorderLogger"]
