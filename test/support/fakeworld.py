"""A fake client, a clock and the events of a controller of the embedded server's simulator, for one sync at a time."""

from __future__ import annotations

from typing import Any

from clientgo.kubernetes import fake
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import testing as clocktesting

START = 1_600_000_000.0
# The same time as Kubernetes writes it.
NOW = "2020-09-13T12:26:40Z"


class World:
    """A fake client, a clock, and the events of what syncs there."""

    def __init__(self, *objects: Any) -> None:
        self.client = fake.new_clientset(*objects)
        self.recorder = record.new_fake_recorder(100)
        self.clock = clocktesting.new_fake_clock(START)
        self.times = Times(self.clock)

    def events(self) -> list[str]:
        channel = self.recorder.events
        assert channel is not None
        return [str(channel.receive()[0]) for _ in range(len(channel))]

    def writes(self) -> list[str]:
        """Return the verbs of requests that write, with the resource."""
        writes = (one for one in self.client.actions() if one.get_verb() not in ("get", "list", "watch"))
        return [
            f"{one.get_verb()} {'/'.join(filter(None, (one.get_resource().resource, one.get_subresource())))}"
            for one in writes
        ]
