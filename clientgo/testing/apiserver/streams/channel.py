"""The streams of one process on a connection of any protocol, and the client's options.

Mirrors the types of kubelet/pkg/cri/streaming/remotecommand/httpstream.go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

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


def resized(streams: Streams, document: bytes) -> None:
    """Take a size of the terminal. An invalid one is ignored, as by the kubelet."""
    try:
        size = json.loads(document)
        streams.size = Size(int(size["Width"]), int(size["Height"]))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return
