"""A recorder for tests: events become texts in a channel.

Mirrors k8s.io/client-go/tools/record/fake.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.fmt import go_value, sprintf


class FakeRecorder:
    """Writes `Type Reason message` to `events`; None discards them. Thread-safe. Go: record.FakeRecorder.

    Blocks while the channel is full.
    """

    def __init__(self, events: Channel[str] | None = None, include_object: bool = False) -> None:
        self.events = events
        # Whether a text ends with the kind and apiVersion of the object.
        self.include_object = include_object

    def event(self, object: Any, eventtype: str, reason: str, message: str) -> None:
        """Go: FakeRecorder.Event."""
        self._write(object, None, f"{eventtype} {reason} {message}")

    def eventf(self, object: Any, eventtype: str, reason: str, message_fmt: str, /, *args: Any) -> None:
        """Go: FakeRecorder.Eventf."""
        self.annotated_eventf(object, None, eventtype, reason, message_fmt, *args)

    def annotated_eventf(
        self,
        object: Any,
        annotations: Mapping[str, str] | None,
        eventtype: str,
        reason: str,
        message_fmt: str,
        /,
        *args: Any,
    ) -> None:
        """Go: FakeRecorder.AnnotatedEventf."""
        self._write(object, annotations, f"{eventtype} {reason} {sprintf(message_fmt, *args)}")

    def with_logger(self, logger: klog.Logger) -> FakeRecorder:
        """Itself. Go: FakeRecorder.WithLogger."""
        return self

    def _write(self, object: Any, annotations: Mapping[str, str] | None, text: str) -> None:
        if self.events is None:
            return
        if self.include_object:
            gvk = object.get_object_kind().group_version_kind()
            text = f"{text} involvedObject{{kind={gvk.kind},apiVersion={gvk.group_version()}}}"
        if annotations:
            text = f"{text} {go_value(annotations)}"
        self.events.send(text)


def new_fake_recorder(buffer_size: int) -> FakeRecorder:
    """A fake whose channel holds so many texts. Go: record.NewFakeRecorder."""
    return FakeRecorder(Channel(buffer_size))
