"""An event recorder for tests that sends texts to a channel.

Mirrors k8s.io/client-go/tools/record/fake.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo import klog
from clientgo.golang.channel import Channel
from clientgo.golang.fmt import go_value, sprintf


class FakeRecorder:
    """A recorder that sends `Type Reason message` to the channel `events`; None discards them. Thread-safe.

    Blocks while the channel is full. Go: record.FakeRecorder.
    """

    def __init__(self, events: Channel[str] | None = None, include_object: bool = False) -> None:
        self.events = events
        # True to append the object's kind and apiVersion to each text.
        self.include_object = include_object

    def event(self, object: Any, eventtype: str, reason: str, message: str) -> None:
        """Send the event's text. Go: FakeRecorder.Event."""
        self._write(object, None, f"{eventtype} {reason} {message}")

    def eventf(self, object: Any, eventtype: str, reason: str, message_fmt: str, /, *args: Any) -> None:
        """Send the formatted event's text. Go: FakeRecorder.Eventf."""
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
        """Send the text with its annotations. Go: FakeRecorder.AnnotatedEventf."""
        self._write(object, annotations, f"{eventtype} {reason} {sprintf(message_fmt, *args)}")

    def with_logger(self, logger: klog.Logger) -> FakeRecorder:
        """Return this recorder. Go: FakeRecorder.WithLogger."""
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
    """Return a fake whose channel holds `buffer_size` texts. Go: record.NewFakeRecorder."""
    return FakeRecorder(Channel(buffer_size))
