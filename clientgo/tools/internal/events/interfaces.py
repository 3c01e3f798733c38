"""The recorder of events.k8s.io, shared by tools/events and tools/record.

Mirrors k8s.io/client-go/tools/internal/events/interfaces.go.
"""

from __future__ import annotations

from typing import Any, Protocol

from clientgo import klog


class EventRecorder(Protocol):
    """A recorder of events about objects. Go: internal/events.EventRecorder."""

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        """Record an event about `regarding`; `related` is a second object, or None. Never blocks, never raises.

        `reason` states why the event happened and `action` which action was taken, both in CamelCase. `note` is a text
        for people; `args` are formatted into it.
        """
        ...


class EventRecorderLogger(EventRecorder, Protocol):
    """An event recorder that logs its errors to a given logger. Go: internal/events.EventRecorderLogger."""

    def with_logger(self, logger: klog.Logger) -> EventRecorderLogger:
        """Return a recorder with the same source that logs to `logger`."""
        ...
