"""Frames of SPDY/3.1, the part that Kubernetes uses: streams, data, resets, pings, and the end of a connection.

Replaces github.com/moby/spdystream/spdy. There is no maintained package for it. A decoder takes bytes as they arrive
and returns data in the pieces in which it came, so a frame of 16 MiB needs no buffer.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from clientgo.golang.http import Header

__all__ = [
    "CANCEL",
    "PROTOCOL_ERROR",
    "REFUSED_STREAM",
    "Data",
    "Decoder",
    "Encoder",
    "Frame",
    "GoAway",
    "Ping",
    "Reset",
    "SynReply",
    "SynStream",
]

_VERSION: Final = 3
_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _PING, _GOAWAY, _HEADERS = 1, 2, 3, 6, 7, 8
_FIN: Final = 1

PROTOCOL_ERROR: Final = 1
REFUSED_STREAM: Final = 3
CANCEL: Final = 5

_MAX_CONTROL: Final = 1 << 20
# The bytes of a block of headers, and the number of their values. Kubernetes' streams have a few short ones. A kilobyte
# of compressed bytes could be a megabyte, for each of thousands of streams.
_MAX_HEADERS: Final = 16 << 10
_MAX_VALUES: Final = 256
_MAX_DATA: Final = (1 << 24) - 1

_NAMES: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie "
    "keep-alive origin"
)
_REST: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 "
    "Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec "
    "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset="
    "iso-8859-1,utf-,*,enq=0."
)


def _text(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


# The dictionary of the specification, section 2.6.10.1. Both ends compress headers with it.
DICTIONARY: Final = b"".join(_text(name.replace("_", " ").encode()) for name in _NAMES.split()) + _REST.encode()


@dataclass(frozen=True)
class SynStream:
    """A new stream of the peer."""

    stream_id: int
    headers: Header = field(default_factory=Header)
    fin: bool = False


@dataclass(frozen=True)
class SynReply:
    """The peer accepts a stream."""

    stream_id: int
    headers: Header = field(default_factory=Header)
    fin: bool = False


@dataclass(frozen=True)
class Reset:
    """The peer closes both directions of a stream."""

    stream_id: int
    status: int


@dataclass(frozen=True)
class Data:
    """A piece of a stream's data; `fin` ends it."""

    stream_id: int
    data: bytes
    fin: bool = False


@dataclass(frozen=True)
class Ping:
    """A request for the same frame, or the reply to one."""

    number: int


@dataclass(frozen=True)
class GoAway:
    """The peer accepts no more streams."""

    last_stream_id: int


Frame = SynStream | SynReply | Reset | Data | Ping | GoAway


def _control(kind: int, flags: int, payload: bytes) -> bytes:
    return struct.pack(">HHI", 0x8000 | _VERSION, kind, flags << 24 | len(payload)) + payload


class Encoder:
    """Returns frames as bytes. Frames with headers must be sent in the order in which they were encoded."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(9, zdict=DICTIONARY)

    def syn_stream(self, stream_id: int, headers: Header) -> bytes:
        return _control(_SYN_STREAM, 0, struct.pack(">IIH", stream_id, 0, 0) + self._headers(headers))

    def syn_reply(self, stream_id: int, headers: Header) -> bytes:
        return _control(_SYN_REPLY, 0, struct.pack(">I", stream_id) + self._headers(headers))

    @staticmethod
    def reset(stream_id: int, status: int) -> bytes:
        return _control(_RST_STREAM, 0, struct.pack(">II", stream_id, status))

    @staticmethod
    def ping(number: int) -> bytes:
        return _control(_PING, 0, struct.pack(">I", number))

    @staticmethod
    def go_away(last_stream_id: int) -> bytes:
        return _control(_GOAWAY, 0, struct.pack(">II", last_stream_id, 0))

    @staticmethod
    def data(stream_id: int, data: bytes, fin: bool) -> bytes:
        if len(data) > _MAX_DATA:
            raise ValueError("spdy: frame too large")
        return struct.pack(">II", stream_id, int(fin) << 24 | len(data)) + data

    def _headers(self, headers: Header) -> bytes:
        block = struct.pack(">I", len(headers)) + b"".join(
            _text(name.lower().encode()) + _text("\0".join(headers.getlist(name)).encode()) for name in headers
        )
        return self._compressor.compress(block) + self._compressor.flush(zlib.Z_SYNC_FLUSH)


class Decoder:
    """Takes bytes as they arrive, and returns frames. Not thread-safe."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._decompressor = zlib.decompressobj(zdict=DICTIONARY)
        # The rest of a data frame: its stream, the number of bytes, and whether it is the last.
        self._data_id = 0
        self._data_left = 0
        self._data_fin = False

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete, and the pieces of data. Raises ValueError for invalid bytes."""
        self._buffer += data
        while True:
            if self._data_left:
                if not self._buffer:
                    return
                piece = bytes(self._buffer[: self._data_left])
                del self._buffer[: len(piece)]
                self._data_left -= len(piece)
                yield Data(self._data_id, piece, self._data_fin and not self._data_left)
                continue
            if len(self._buffer) < 8:
                return
            first, second = struct.unpack_from(">II", self._buffer)
            length = second & _MAX_DATA
            if not first >> 31:
                del self._buffer[:8]
                self._data_id, self._data_left, self._data_fin = first, length, bool(second >> 24 & _FIN)
                if not length:
                    yield Data(first, b"", self._data_fin)
                continue
            if length > _MAX_CONTROL:
                raise ValueError("spdy: control frame too large")
            if len(self._buffer) < 8 + length:
                return
            payload = bytes(self._buffer[8 : 8 + length])
            del self._buffer[: 8 + length]
            if first >> 16 & 0x7FFF != _VERSION:
                raise ValueError("spdy: unsupported version")
            frame = self._control(first & 0xFFFF, second >> 24, payload)
            if frame is not None:
                yield frame

    def _control(self, kind: int, flags: int, payload: bytes) -> Frame | None:
        """Return a control frame; None for the kinds without a use here: settings, windows, more headers."""
        try:
            if kind == _SYN_STREAM:
                number = struct.unpack_from(">I", payload)[0]
                return SynStream(number & 0x7FFFFFFF, self._headers(payload[10:]), bool(flags & _FIN))
            if kind == _SYN_REPLY:
                number = struct.unpack_from(">I", payload)[0]
                return SynReply(number & 0x7FFFFFFF, self._headers(payload[4:]), bool(flags & _FIN))
            if kind == _HEADERS:
                self._headers(payload[4:])  # the compression goes through all headers
                return None
            if kind == _RST_STREAM:
                number, status = struct.unpack(">II", payload)
                return Reset(number & 0x7FFFFFFF, status)
            if kind == _PING:
                return Ping(struct.unpack(">I", payload)[0])
            if kind == _GOAWAY:
                return GoAway(struct.unpack_from(">I", payload)[0])
        except (struct.error, zlib.error, UnicodeDecodeError) as err:
            raise ValueError(f"spdy: invalid frame: {err}") from None
        return None

    def _headers(self, compressed: bytes) -> Header:
        block = self._decompressor.decompress(compressed, _MAX_HEADERS)
        if self._decompressor.unconsumed_tail:
            raise ValueError("spdy: headers too large")
        headers = Header()
        (count,) = struct.unpack_from(">I", block)
        at, values = 4, 0
        for _ in range(count):
            name, at = _read_text(block, at)
            value, at = _read_text(block, at)
            values += 1 + value.count("\0")
            if values > _MAX_VALUES:
                raise ValueError("spdy: too many headers")
            for each in value.split("\0"):
                headers.add(name, each)
        return headers


def _read_text(block: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">I", block, at)
    end = at + 4 + length
    if end > len(block):
        raise ValueError("spdy: header block too short")
    return block[at + 4 : end].decode(), end
