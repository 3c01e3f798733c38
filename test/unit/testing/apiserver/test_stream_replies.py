"""The order of a reply to a stream and of what the server sends on it."""

from __future__ import annotations

from typing import Any

from clientgo.api.core.v1 import (
    PORT_FORWARD_REQUEST_ID_HEADER,
    PORT_HEADER,
    STREAM_TYPE,
    STREAM_TYPE_DATA,
    STREAM_TYPE_ERROR,
)
from clientgo.golang.http import Header
from clientgo.golang.stop import Signal
from clientgo.testing import synctest
from clientgo.testing.apiserver.streams.portforward import Forwarder


class Stream:
    """A stream that records what the server does with it."""

    def __init__(self, kind: str, calls: list[tuple[str, str]]) -> None:
        self._kind = kind
        self._calls = calls

    def headers(self) -> Header:
        return Header({STREAM_TYPE: self._kind, PORT_HEADER: "81", PORT_FORWARD_REQUEST_ID_HEADER: "0"})

    def write(self, data: bytes) -> None:
        self._calls.append((self._kind, data.decode()))

    def close(self) -> None:
        self._calls.append((self._kind, "end"))


def refuse(port: int) -> Any:
    raise ConnectionRefusedError("connection refused")


def test_a_closed_port_is_reported_after_the_reply_to_the_second_stream() -> None:
    """kubectl waits for ever for the reply to a stream that has ended before."""
    with synctest.bubble() as bubble:
        calls: list[tuple[str, str]] = []
        forwarder = Forwarder(refuse)
        first, second = Signal(), Signal()
        error: Any = Stream(STREAM_TYPE_ERROR, calls)
        data: Any = Stream(STREAM_TYPE_DATA, calls)
        forwarder.accept(error, first)
        first.set()
        forwarder.accept(data, second)
        bubble.wait()
        assert calls == []
        second.set()
        forwarder.join()
        assert calls == [("error", "connection refused"), ("data", "end"), ("error", "end")]
