"""An event recorder for tests that sends texts to a channel.

Mirrors k8s.io/client-go/tools/events/fake.go.
"""

from __future__ import annotations

from typing import Any

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.fmt import sprintf


class FakeRecorder:
    """A recorder that sends `Type Reason note` to the channel `events`; None discards them. Blocks while it is full.

    Go: FakeRecorder.
    """

    def __init__(self, events: Channel[str] | None = None) -> None:
        self.events = events

    def eventf(
        self, regarding: Any, related: Any, eventtype: str, reason: str, action: str, note: str, /, *args: Any
    ) -> None:
        """Send the event's text. Go: FakeRecorder.Eventf."""
        if self.events is not None:
            self.events.send(f"{eventtype} {reason} {sprintf(note, *args)}")

    def with_logger(self, logger: klog.Logger) -> FakeRecorder:
        """Return this recorder. Go: FakeRecorder.WithLogger."""
        return self


def new_fake_recorder(buffer_size: int) -> FakeRecorder:
    """Return a fake whose channel holds `buffer_size` texts. Go: events.NewFakeRecorder."""
    return FakeRecorder(Channel(buffer_size))
