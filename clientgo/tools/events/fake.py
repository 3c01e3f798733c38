"""A recorder for tests: events become texts in a channel.

Mirrors k8s.io/client-go/tools/events/fake.go.
"""

from __future__ import annotations

from typing import Any

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.fmt import sprintf


class FakeRecorder:
    """Writes `Type Reason note` to `events`; None discards them. Blocks while the channel is full. Go: FakeRecorder."""

    def __init__(self, events: Channel[str] | None = None) -> None:
        self.events = events

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        """Go: FakeRecorder.Eventf."""
        if self.events is not None:
            self.events.send(f"{eventtype} {reason} {sprintf(note, *args)}")

    def with_logger(self, logger: klog.Logger) -> FakeRecorder:
        """Itself. Go: FakeRecorder.WithLogger."""
        return self


def new_fake_recorder(buffer_size: int) -> FakeRecorder:
    """A fake whose channel holds so many texts. Go: events.NewFakeRecorder."""
    return FakeRecorder(Channel(buffer_size))
