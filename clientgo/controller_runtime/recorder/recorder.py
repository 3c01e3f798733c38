"""The interface of providers of event recorders. Mirrors pkg/recorder/recorder.go."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from clientgo.tools import events, record

__all__ = ["Provider"]


@runtime_checkable
class Provider(Protocol):
    """A provider of event recorders. A manager is one. Go: recorder.Provider."""

    def get_event_recorder_for(self, name: str, /) -> record.EventRecorder:
        """Return a recorder of core/v1 events for the component `name`. Deprecated in Go, but used by many tutorials.
        """
        ...

    def get_event_recorder(self, name: str, /) -> events.EventRecorder:
        """Return a recorder of events.k8s.io/v1 events for the component `name`."""
        ...
