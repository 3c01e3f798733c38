"""The stream on which the server reports how the command ended. Mirrors tools/remotecommand/errorstream.go.

Difference: without a status from the server, a connection that was lost is an error; Go returns success. A server that
ends the stream or the connection in order needs no status, since an attach has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.apimachinery.util.httpstream import Stream
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.tools.remotecommand.session import Session

__all__ = ["ErrorStreamDecoder", "watch_error_stream"]

# A message above this size is cut.
_MAX_MESSAGE = 1 << 20


class ErrorStreamDecoder(Protocol):
    """A function from a message to its error, or None for success. Go: errorStreamDecoder."""

    def decode(self, message: bytes) -> Exception | None: ...


def read_all(stream: Stream) -> bytes:
    """Read to the end, and return at most 1 MiB. Raises ErrUnexpectedEOF if the connection was lost. Go: io.ReadAll."""
    message = bytearray()
    while data := stream.read():
        message += data[: _MAX_MESSAGE - len(message)]
    if not message:
        raise_if_cut(stream)
    return bytes(message)


def raise_if_cut(stream: Stream) -> None:
    """Raise ErrUnexpectedEOF if the stream has ended because the connection was lost. No Go identifier."""
    if getattr(stream, "was_cut", False):
        raise ErrUnexpectedEOF("the connection was lost before the server reported the end of the command")


def watch_error_stream(
    session: Session, error_stream: Stream, decoder: ErrorStreamDecoder
) -> Callable[[], Exception | None]:
    """Read the stream in a thread. The result waits for it, and returns the error or None. Go: watchErrorStream."""
    found: list[Exception | None] = []

    def read() -> None:
        try:
            message = read_all(error_stream)
        except (OSError, EOFError, ValueError) as err:
            failure = OSError(f"error reading from error stream: {err}")
            failure.__cause__ = err
            found.append(failure)
        else:
            found.append(decoder.decode(message) if message else None)

    thread = session.go("error", read)

    def result() -> Exception | None:
        thread.join()
        return found[0] if found else None

    return result
