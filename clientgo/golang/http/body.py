"""The body of a response, decoded while it arrives: lengths, chunks, gzip."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from clientgo.golang.http.exchange import Exchange
from clientgo.golang.http.failures import as_builtin
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.utils.shortcache import short_cache

if TYPE_CHECKING:
    from clientgo.golang.http.connection import Answer

__all__ = ["ChunkedReader", "ResponseBody"]

# The maximum size of a read. A busy stream then needs one system call for many events.
_PIECE: Final = 64 * 1024

# The maximum size of a body that is read at once, which is protobuf's own limit of a message. Go has no limit, so that
# a small gzip body, or one without end, can fill the memory.
_MAX_BODY: Final = 2 << 30

# The maximum size of a chunk header, and of all trailers together.
_MAX_LINES: Final = 4096


class Reader(Protocol):
    """A source of a body's bytes."""

    def read_some(self) -> bytes:
        """Wait for at least one byte and return the bytes that have arrived; b"" at the end."""
        ...


class ResponseBody:
    """The implementation of http.Body.

    Invariant: `release` is called once, with True if the body was read to its end and the connection can be reused;
    afterwards the body does not touch the connection.
    """

    def __init__(self, answer: Answer, exchange: Exchange, release: Callable[[bool], None]) -> None:
        self._answer = answer
        self._exchange = exchange
        self._release = release
        # Guards the next attribute: whether the body still owns its connection.
        self._lock = threading.Lock()
        self._released = False
        framed: Reader = ChunkedReader(answer.fp.read1) if answer.chunked else _PlainReader(answer)
        self._framed = framed
        gzipped = answer.head.headers.get("Content-Encoding", "").lower() == "gzip"
        self._read_some = (_GzipReader(framed) if gzipped else framed).read_some

    def read(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := self.read_some():
            pieces.append(piece)
            size += len(piece)
            if size > _MAX_BODY:
                self.close()
                raise ValueError(f"http: response body of more than {_MAX_BODY} bytes")
        return b"".join(pieces)

    def read_some(self) -> bytes:
        try:
            piece = self._read_some()
            if not piece and not self._released:
                self._end()
            return piece
        except Exception as err:
            raise self._exchange.failure(as_builtin(err)) from None

    def limit_silence(self, seconds: float) -> None:
        limit = self._exchange.request.read_timeout
        self._exchange.set_timeout(seconds if limit is None else min(seconds, limit))

    def abort(self) -> None:
        self._exchange.abort()

    def close(self) -> None:
        if not self._take():
            return
        # A reading thread holds the stream, so closing it would wait for that thread.
        self._exchange.abort()
        self._answer.close()
        self._release(False)

    def _end(self) -> None:
        if self._exchange.is_aborted:
            raise EOFError("EOF")  # without a length it looks like an end
        if not self._take():
            return
        keep = not self._answer.will_close and getattr(self._framed, "ends_cleanly", True)
        self._answer.close()
        self._release(keep)

    def _take(self) -> bool:
        """Report whether the caller must release the connection."""
        with self._lock:
            taken, self._released = self._released, True
        return not taken


class _PlainReader:
    """A reader of a body with a known length, or up to the end of the connection."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def read_some(self) -> bytes:
        """See Reader. Raises ErrUnexpectedEOF."""
        data = self._answer.read1(_PIECE)
        if not data and self._answer.length:
            raise ErrUnexpectedEOF()
        return data


class ChunkedReader:
    """A decoder of the chunked transfer coding that decodes all the bytes of one system call.

    http.client reads at most one chunk per call, and a server sends each watch event in its own chunk.
    """

    def __init__(self, read1: Callable[[int], bytes]) -> None:
        self._read1 = read1
        # The incomplete start of a line.
        self._rest = b""
        # The number of missing bytes of the current chunk and of the line end after it.
        self._left = 0
        self._skip = 0
        # The number of bytes of trailers read, once the last chunk has arrived.
        self._trailers = -1
        self._ended = False
        # The error that follows the data returned so far.
        self._failure: ValueError | None = None
        # True if no data follows the body, so that the connection can be reused.
        self.ends_cleanly = False

    def read_some(self) -> bytes:
        """See Reader. Raises ErrUnexpectedEOF, and ValueError for an invalid chunk, after returning the data before it.
        """
        while not self._ended:
            if self._failure is not None:
                raise self._failure
            data = self._read1(_PIECE)
            if not data:
                raise ErrUnexpectedEOF()
            pieces = self._feed(self._rest + data if self._rest else data)
            if pieces:
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return b""

    def _feed(self, data: bytes) -> list[bytes]:
        """Return the content of the chunks in `data`, without their sizes and ends of line."""
        self._rest = b""
        position, end = 0, len(data)
        pieces: list[bytes] = []
        while position < end:
            if self._skip:
                position = self._go_on(data, position, pieces)
                if self._failure is not None:
                    break
                continue
            line_end_at = data.find(b"\r\n", position)
            if line_end_at < 0:
                self._keep(data[position:])
                break
            self._take_line(data[position:line_end_at])
            position = line_end_at + 2
            if self._ended or self._failure is not None:
                self.ends_cleanly = position == end
                break
            # Nearly all chunks are complete when they start.
            stop = position + self._left
            if self._left and data[stop : stop + 2] == b"\r\n":
                pieces.append(data[position:stop])
                position = stop + 2
                self._left = self._skip = 0
        return pieces

    def _go_on(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        """Read the available rest of a chunk and of the line end after it; return the position of its end."""
        if self._left:
            piece = data[position : position + self._left]
            pieces.append(piece)
            position += len(piece)
            self._left -= len(piece)
        if not self._left:
            line_end = data[position : position + self._skip]
            if not b"\r\n"[-self._skip :].startswith(line_end):
                self._failure = ValueError("malformed chunked encoding")
            position += len(line_end)
            self._skip -= len(line_end)
        return position

    def _keep(self, line: bytes) -> None:
        if len(line) > _MAX_LINES:
            self._failure = ValueError("http: chunk header too long")
        self._rest = line

    def _take_line(self, line: bytes) -> None:
        """Handle a whole line: the size of a chunk or, after the last chunk, a trailer."""
        if self._trailers >= 0:
            self._take_trailer(line)
        else:
            self._begin_chunk(line)

    def _take_trailer(self, line: bytes) -> None:
        """Skip a trailer, after which the connection can be reused."""
        self._trailers += len(line) + 2
        self._ended = not line
        if self._trailers > _MAX_LINES:
            self._failure = ValueError("http: suspiciously long trailer after chunked body")

    def _begin_chunk(self, header: bytes) -> None:
        """Read the size of the next chunk; size 0 ends the body."""
        size = _chunk_size(header)
        if size is None:
            self._failure = ValueError("http: invalid byte in chunk length")
        elif size:
            self._left, self._skip = size, 2
        else:
            self._trailers = 0


@short_cache(maxsize=1024)
def _chunk_size(header: bytes) -> int | None:
    """Return the chunk size from its header, or None if it is invalid. Cached, since a watch repeats the same sizes."""
    digits = header.partition(b";")[0].strip()
    is_number = 0 < len(digits) <= 16 and not digits.strip(b"0123456789abcdefABCDEF")
    return int(digits, 16) if is_number else None


class _GzipReader:
    """A decoder of a gzip body.

    A truncated body is an error, as if the connection had broken; urllib3 treats it as complete.
    """

    def __init__(self, packed: Reader) -> None:
        self._packed = packed
        # The current gzip member; a body may have several. None between two members.
        self._member: Any = None

    def read_some(self) -> bytes:
        """See Reader. Raises ErrUnexpectedEOF, ValueError."""
        while packed := self._packed.read_some():
            if data := self._unpack(packed):
                return data
        if self._member is not None:
            raise ErrUnexpectedEOF()
        return b""

    def _unpack(self, packed: bytes) -> bytes:
        pieces: list[bytes] = []
        while packed:
            member = self._member or zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            try:
                pieces.append(member.decompress(packed))
            except zlib.error as err:
                raise ValueError(f"gzip: {err}") from err
            self._member = None if member.eof else member
            packed = member.unused_data
        return b"".join(pieces)
