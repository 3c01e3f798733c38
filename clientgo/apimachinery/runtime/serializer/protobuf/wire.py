"""The elements of protobuf's encoding. No Go file of its own: generated code has them inline, in each message."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# A varint has at most 64 bits, which take ten bytes.
_MAX_VARINT = 10
_INT64_SIGN = 1 << 63
_INT64_RANGE = 1 << 64


class WireError(ValueError):
    """The bytes are no message of the expected kind."""

    def __init__(self, reason: str, path: str = "") -> None:
        """Keep the reason and the path: the JSON names of the fields down to the defect, or "" when unknown."""
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path

    def within(self, name: str) -> WireError:
        """Return this error with `name`, the field of the enclosing message ("" if embedded), added in front of its
        path.
        """
        return WireError(self.reason, ".".join(filter(None, (name, self.path))))


def truncated() -> WireError:
    return WireError("unexpected EOF")


def as_wire_error(err: WireError | IndexError) -> WireError:
    """Return the error to raise when reading a message fails: an IndexError means that it ends too soon."""
    return err if isinstance(err, WireError) else truncated()


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned number at `at` and the position after it. Raises WireError, or IndexError past the end."""
    value = shift = 0
    for end in range(at, at + _MAX_VARINT):
        byte = data[end]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >= _INT64_RANGE:
                break
            return value, end + 1
        shift += 7
    raise WireError("proto: integer overflow")


def signed(value: int) -> int:
    """Return the int64 that a varint represents."""
    return value - _INT64_RANGE if value >= _INT64_SIGN else value


def put_varint(value: int) -> bytes:
    """Return a 64-bit number as a varint; a negative one takes ten bytes. Raises ValueError for a longer number."""
    if 0 <= value < 0x80:
        return SHORT[value]
    if 0 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if not -_INT64_SIGN <= value < _INT64_RANGE:
        raise ValueError(f"{value} is no int64")
    value &= _INT64_RANGE - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


SHORT = [bytes((value,)) for value in range(0x80)]


def put_bytes(tag: bytes, value: bytes) -> bytes:
    """Return a field with its tag, its length and its bytes."""
    return b"".join((tag, put_varint(len(value)), value))


def skip(data: bytes, at: int, end: int, wire_type: int) -> int:
    """Return the position after the value at `at`. Raises WireError, or IndexError past the end of the data."""
    if wire_type == VARINT:
        at = varint(data, at)[1]
    elif wire_type == BYTES:
        size, at = varint(data, at)
        at += size
    elif wire_type == FIXED64:
        at += 8
    elif wire_type == FIXED32:
        at += 4
    else:
        raise WireError(f"proto: illegal wireType {wire_type}")
    if at > end:
        raise truncated()
    return at


def spans(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number, wire type, begin of the value, end of the value) of each field. Raises WireError.

    The span of a value with a length prefix does not include the prefix.
    """
    try:
        while at < end:
            tag, at = varint(data, at)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise WireError(f"proto: illegal tag {number} (wire type {wire_type})")
            stop = skip(data, at, end, wire_type)
            yield number, wire_type, varint(data, at)[1] if wire_type == BYTES else at, stop
            at = stop
    except IndexError:
        raise truncated() from None
