"""Streams over one upgraded HTTP connection: the interfaces, and the errors of an upgrade.

Mirrors apimachinery/pkg/util/httpstream/httpstream.go. Handshake and IsUpgradeRequest are the server's and absent; the
embedded API server has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from clientgo.apimachinery.apis.meta.v1 import Status
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.util.errors import as_type
from clientgo.apimachinery.util.json import unmarshal
from clientgo.golang.http import Header, Response, RoundTripper
from clientgo.golang.stop import Done

__all__ = [
    "HEADER_ACCEPTED_PROTOCOL_VERSIONS",
    "HEADER_CONNECTION",
    "HEADER_PROTOCOL_VERSION",
    "HEADER_UPGRADE",
    "Connection",
    "Dialer",
    "NewStreamHandler",
    "Stream",
    "UpgradeFailureError",
    "UpgradeRoundTripper",
    "is_https_proxy_error",
    "is_upgrade_failure",
    "no_op_new_stream_handler",
]

HEADER_CONNECTION: Final = "Connection"
HEADER_UPGRADE: Final = "Upgrade"
HEADER_PROTOCOL_VERSION: Final = "X-Stream-Protocol-Version"
HEADER_ACCEPTED_PROTOCOL_VERSIONS: Final = "X-Accepted-Stream-Protocol-Versions"


class Stream(Protocol):
    """A channel in both directions, one of several on a connection. Go: httpstream.Stream."""

    def read(self, size: int = -1) -> bytes:
        """Wait for at least one byte and return at most `size` bytes; b"" at the end. Raises OSError."""
        ...

    def write(self, data: bytes) -> None:
        """Send all of `data`. Blocks while the peer does not read. Raises OSError."""
        ...

    def close(self) -> None:
        """Signal to the peer that this side writes no more; reading continues. Raises OSError."""
        ...

    def reset(self) -> None:
        """Close both directions at once. Go: Stream.Reset."""
        ...

    def headers(self) -> Header:
        """Return the headers that the stream was created with. Go: Stream.Headers."""
        ...

    def identifier(self) -> int:
        """Return the number of the stream. Go: Stream.Identifier."""
        ...


class Connection(Protocol):
    """An upgraded HTTP connection. Thread-safe. Go: httpstream.Connection."""

    def create_stream(self, headers: Header) -> Stream:
        """Create a stream with these headers. Blocks until the peer accepts it. Raises OSError. Go: CreateStream."""
        ...

    def close(self) -> None:
        """Reset all streams and close the connection. Go: Close."""
        ...

    def close_chan(self) -> Done:
        """Return a signal that is set when the connection has ended. Go: CloseChan."""
        ...

    def set_idle_timeout(self, timeout: float) -> None:
        """Close the connection after this number of seconds without a frame; 0 for never. Go: SetIdleTimeout."""
        ...

    def remove_streams(self, *streams: Stream) -> None:
        """Forget streams that are no longer needed. Go: RemoveStreams."""
        ...


NewStreamHandler = Callable[[Stream, Any], None]
"""Receives a stream of the peer, and a signal that is set after the reply was sent. An exception refuses the stream.
Go: httpstream.NewStreamHandler."""


def no_op_new_stream_handler(stream: Stream, reply_sent: object) -> None:
    """Accept a new stream and do nothing else. Go: NoOpNewStreamHandler."""


def status_in(body: bytes) -> Status | None:
    """Return the Status that a server refuses streams with. Returns None for other bodies and wrongly typed fields."""
    try:
        document = unmarshal(body)
        if not isinstance(document, dict) or document.get("kind") != "Status":
            return None
        status = Status.from_dict(document)
        check_fields(status)
    except ValueError:
        return None
    return status


class Dialer(Protocol):
    """A way to open a connection with streams to a server. Go: httpstream.Dialer."""

    def dial(self, *protocols: str) -> tuple[Connection, str]:
        """Return a connection, and the protocol that the server chose. Blocks. Go: Dial."""
        ...


class UpgradeRoundTripper(RoundTripper, Protocol):
    """A round tripper that asks for streams on its connection. Go: httpstream.UpgradeRoundTripper."""

    def new_connection(self, resp: Response) -> Connection:
        """Return the connection of a response that agrees to the upgrade. Raises UpgradeFailureError otherwise."""
        ...


class UpgradeFailureError(Exception):
    """Raised when the server does not agree to an upgrade. Go: httpstream.UpgradeFailureError."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"unable to upgrade streaming request: {cause}")
        self.cause = cause


def is_upgrade_failure(err: BaseException | None) -> bool:
    """Report whether the error is, or wraps, an UpgradeFailureError. Go: IsUpgradeFailure."""
    return as_type(err, UpgradeFailureError) is not None


def is_https_proxy_error(err: BaseException | None) -> bool:
    """Report whether a WebSocket was refused since its proxy speaks TLS. Go: IsHTTPSProxyError."""
    return err is not None and "proxy: unknown scheme: https" in str(err)
