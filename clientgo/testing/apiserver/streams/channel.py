"""The streams of one process on a connection of any protocol, and the client's options.

Mirrors the types of kubelet/pkg/cri/streaming/remotecommand/httpstream.go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from clientgo.testing.apiserver.streams.runtime import Size, Streams
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request

__all__ = ["Channel", "Options", "resized"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The streams that the client asks for. Go: remotecommand.Options."""

    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool

    @staticmethod
    def of(request: Request) -> Options:
        """Return the options in a query. Raises ApiError if there is no stream. Go: NewOptions."""
        tty = request.flag("tty")
        options = Options(
            stdin=request.flag("stdin"),
            stdout=request.flag("stdout"),
            # In a terminal both outputs are one.
            stderr=request.flag("stderr") and not tty,
            tty=tty,
        )
        if not (options.stdin or options.stdout or options.stderr):
            raise errors.bad_request("you must specify at least 1 of stdin, stdout, stderr")
        return options


class Channel:
    """The streams of one process on a connection."""

    streams: Streams
    reports_exit_codes: bool

    def finish(self, status: dict[str, object], text: str) -> None:
        """Report how the process has ended, as a Status or in old versions as a text, and wait for the client's end."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection, and wait for its threads."""
        raise NotImplementedError


# The bytes of a size, which has two numbers.
_MAX_SIZE: Final = 1024
_MAX_LENGTH: Final = (1 << 16) - 1


def resized(streams: Streams, document: bytes) -> None:
    """Set the size of the terminal. An invalid one is ignored, as by the kubelet."""
    if len(document) > _MAX_SIZE:
        return
    try:
        size = json.loads(document)
        width, height = size["Width"], size["Height"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    if all(type(each) is int and 0 <= each <= _MAX_LENGTH for each in (width, height)):
        streams.size = Size(width, height)
