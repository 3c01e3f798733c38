"""Who gives event recorders. Mirrors pkg/recorder/recorder.go."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from clientgo.tools import events, record

__all__ = ["Provider"]


@runtime_checkable
class Provider(Protocol):
    """Gives recorders of events. Go: recorder.Provider. A manager is one."""

    def get_event_recorder_for(self, name: str) -> record.EventRecorder:
        """A recorder of core/v1 events for the component `name`. Deprecated in Go, used by every tutorial."""
        ...

    def get_event_recorder(self, name: str) -> events.EventRecorder:
        """A recorder of events.k8s.io/v1 events for the component `name`."""
        ...
