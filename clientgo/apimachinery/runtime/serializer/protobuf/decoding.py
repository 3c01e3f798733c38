"""The conversion of a message to a JSON document.

The document equals the server's JSON: Go's tags decide whether an empty field is in it, a quantity is a text, a time is
in RFC 3339. Unlike Go's generated code, this keeps fields that the table does not have (see unknown_fields).

A string that is not valid UTF-8, such as a termination message that was cut inside a character, is decoded with
`surrogateescape` in every position that has text: each invalid byte becomes one of U+DC80 to U+DCFF, and `encoding`
writes the byte again. An update in protobuf therefore loses nothing, as in Go. JSON and patches have U+FFFD for each
such byte, as Go writes them. See clientgo.golang.utf8.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from clientgo.apimachinery.runtime.serializer.json import parse_json
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    FIXED64,
    VARINT,
    WireError,
    as_wire_error,
    signed,
    skip,
    spans,
    truncated,
    varint,
)
from clientgo.apimachinery.runtime.timestamps import format_micro_time, format_time
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.golang import utf8
from clientgo.golang.duration import format_nanoseconds
from clientgo.utils.shortcache import short_cache

JSONObject = dict[str, Any]

# Messages inside each other. No built-in kind has more than 20, except for the schemas of CRDs. Go has no limit; the
# functions here are recursive, and need three frames of Python's stack for each message.
MAX_DEPTH: Final = 200
TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} messages"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Go's zero time.
_ZERO_SECONDS: Final = -62135596800

_STRING, _MESSAGE, _BOOL = Kind.STRING, Kind.MESSAGE, Kind.BOOL
_ONE, _LIST = Shape.ONE, Shape.LIST


class _Reading:
    """A flag that one decoding sets: the message, at any depth, has a field that the table does not have."""

    __slots__ = ("found_unknown",)

    def __init__(self) -> None:
        self.found_unknown = False


def decode_message(message: Message, data: bytes, at: int = 0, end: int | None = None) -> JSONObject:
    """Decode the message that is in `data` from `at` to `end`. Raises WireError.

    If a field in it, at any depth, is not in the table, the document is of type UnknownFields.
    """
    reading = _Reading()
    try:
        document = _document(message, data, at, len(data) if end is None else end, 0, reading)
    except RecursionError:  # The caller's stack is deep already.
        raise WireError(f"proto: {TOO_DEEP}") from None
    return UnknownFields(document, {}) if reading.found_unknown and type(document) is dict else document


def _document(message: Message, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> JSONObject:
    out: JSONObject = {}
    unknown: dict[str, bytes] = {}
    _read(out, unknown, message, data, at, end, depth, reading)
    for field in message.shown:
        if field.json not in out:
            out[field.json] = _empty(field, depth, reading)
    return UnknownFields(out, unknown) if unknown else out


def _metadata(
    unknown: dict[str, bytes], message: Message, data: bytes, at: int, end: int, depth: int, reading: _Reading
) -> JSONObject:
    """Return the metadata as a plain dict, and add its unknown fields to `unknown`, which the object keeps."""
    document = _document(message, data, at, end, depth, reading)
    if type(document) is UnknownFields:
        unknown |= document.fields
        return dict(document)
    return document


def _empty(field: Field, depth: int, reading: _Reading) -> Any:
    """Return the JSON value of a field that the message does not have."""
    if field.kind is _MESSAGE and field.always:
        return _document(field.message, b"", 0, 0, depth + 1, reading)
    return field.zero


def _read(
    out: JSONObject,
    unknown: dict[str, bytes],
    message: Message,
    data: bytes,
    at: int,
    end: int,
    depth: int,
    reading: _Reading,
) -> None:
    """Put the fields of a message into the document `out`."""
    if depth > MAX_DEPTH:
        raise WireError(f"proto: {TOO_DEEP}")
    field: Field | None = None
    find = message.by_key.get
    try:
        while at < end:
            start = at
            key = data[at]
            at += 1
            if key >= 0x80:
                field = None
                key, at = varint(data, start)
            field = find(key)
            if field is None:
                at = _skip_unknown(out, unknown, message, data, start, at, end, key, reading)
                continue
            wire_type = key & 7
            if wire_type == BYTES:
                size = data[at]
                at += 1
                if size >= 0x80:
                    size, at = varint(data, at - 1)
                start, at = at, at + size
                if at > end:
                    raise truncated()
                kind, shape = field.kind, field.shape
                if shape is _ONE:
                    if kind is _STRING:
                        if size or not field.drops_zero:
                            try:
                                out[field.json] = data[start:at].decode()
                            except UnicodeDecodeError:
                                out[field.json] = utf8.decode(data[start:at])
                        elif field.json in out:
                            del out[field.json]
                    elif kind is not _MESSAGE:
                        _put(out, field, _LEAVES[kind](field, data, start, at, depth, reading))
                    elif out.get(field.json) is not None:
                        _merge(out, unknown, field, data, start, at, depth + 1, reading)
                    elif field.json == "metadata":
                        out["metadata"] = _metadata(unknown, field.message, data, start, at, depth + 1, reading)
                    elif field.json:
                        out[field.json] = _document(field.message, data, start, at, depth + 1, reading)
                    else:
                        _read(out, unknown, field.message, data, start, at, depth + 1, reading)
                elif shape is _LIST:
                    found = out.get(field.json)
                    if found is None:
                        found = out[field.json] = []
                    if kind is _MESSAGE:
                        found.append(_document(field.message, data, start, at, depth + 1, reading))
                    else:
                        found.append(_LEAVES[kind](field, data, start, at, depth, reading))
                else:
                    found = out.get(field.json)
                    if found is None:
                        found = out[field.json] = {}
                    _read_entry(found, field, data, start, at, depth, reading)
            elif wire_type == VARINT:
                value = data[at]
                at += 1
                if value >= 0x80:
                    value, at = varint(data, at - 1)
                _put_scalar(out, field, bool(value) if field.kind is _BOOL else signed(value))
            else:
                start, at = at, at + 8
                if at > end:
                    raise truncated()
                _put_scalar(out, field, _double(data[start:at]))
        if at != end:
            raise truncated()
    except (WireError, IndexError) as err:
        raise as_wire_error(err).within(field.json if field is not None else "") from None


def _merge(
    out: JSONObject,
    unknown: dict[str, bytes],
    field: Field,
    data: bytes,
    at: int,
    end: int,
    depth: int,
    reading: _Reading,
) -> None:
    """Merge a message into the result of an earlier message of the same field."""
    known = out[field.json]
    if field.json == "metadata":
        _read(known, unknown, field.message, data, at, end, depth, reading)
        return
    unknown = known.fields if type(known) is UnknownFields else {}
    _read(known, unknown, field.message, data, at, end, depth, reading)
    if unknown and type(known) is not UnknownFields:
        out[field.json] = UnknownFields(known, unknown)


def _put(out: JSONObject, field: Field, value: Any) -> None:
    absent = value is None and not field.is_shown
    if absent or (field.drops_zero and not value and field.kind in _NILABLE):
        out.pop(field.json, None)
    else:
        out[field.json] = value


def _put_scalar(out: JSONObject, field: Field, value: Any) -> None:
    if field.shape is _LIST:
        found = out.get(field.json)
        if found is None:
            found = out[field.json] = []
        found.append(value)
    elif value or not field.drops_zero:
        out[field.json] = value
    else:
        out.pop(field.json, None)


def decode_fields(message: Message, data: bytes) -> JSONObject:
    """Decode some fields of a message without those that JSON has anyway. Raises WireError."""
    out: JSONObject = {}
    _read(out, {}, message, data, 0, len(data), 0, _Reading())
    return out


def entry(field: Field, data: bytes, at: int, end: int, found: JSONObject) -> None:
    """Put one entry of a map into `found`. Raises WireError, IndexError at the end of the data."""
    _read_entry(found, field, data, at, end, 0, _Reading())


def element(field: Field, data: bytes) -> Any:
    """Decode an element of a list, or a value of a map, that has a length. Raises WireError."""
    if field.kind is _MESSAGE:
        return decode_message(field.message, data)
    return _LEAVES[field.kind](field, data, 0, len(data), 0, _Reading())


def leaf(field: Field, data: bytes, at: int, end: int) -> Any:
    """Decode a string, bytes or another value with a length that is not a message. Raises WireError.

    Return None if JSON leaves the field out.
    """
    value = _LEAVES[field.kind](field, data, at, end, 0, _Reading())
    return None if field.drops_zero and not value and field.kind in _NILABLE else value


def number(value: float) -> float:
    """Return the number as JSON writes it. Raises WireError for an infinite number and NaN, which JSON cannot express.
    """
    if not math.isfinite(value):
        raise WireError(f"json: unsupported value: {value}")
    return int(value) if value.is_integer() else value


def _skip_unknown(
    out: JSONObject,
    unknown: dict[str, bytes],
    message: Message,
    data: bytes,
    start: int,
    at: int,
    end: int,
    key: int,
    reading: _Reading,
) -> int:
    """Keep a field that the table does not have, or has in another form."""
    stop = skip(data, at, end, key & 7)
    field = message.field_in_one_piece(key)
    if field is None:
        reading.found_unknown = True
        unknown[message.name] = unknown.get(message.name, b"") + data[start:stop]
    else:
        _read_packed(out, field, data, varint(data, at)[1], stop)
    return stop


def _read_packed(out: JSONObject, field: Field, data: bytes, at: int, end: int) -> None:
    while at < end:
        value, at = varint(data, at)
        if at > end:
            raise truncated()
        _put_scalar(out, field, bool(value) if field.kind is _BOOL else signed(value))


def _read_entry(found: JSONObject, field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> None:
    """Read one entry of a map, a message with a key and a value, into `found`."""
    if field.kind is _STRING and 4 <= end - at < 0x80 and data[at] == _KEY:
        # As every encoder writes it: both, short, and in order.
        middle = at + 2 + data[at + 1]
        if middle + 2 <= end and data[middle] == _VALUE and middle + 2 + data[middle + 1] == end:
            try:
                found[data[at + 2 : middle].decode()] = data[middle + 2 : end].decode()
            except UnicodeDecodeError:
                found[utf8.decode(data[at + 2 : middle])] = utf8.decode(data[middle + 2 : end])
            return
    key = ""
    start = stop = 0
    scalar: Any = None
    for number, wire_type, begin, finish in spans(data, at, end):
        if number == 1:
            if wire_type != BYTES:
                raise WireError(f"proto: wrong wireType = {wire_type} for field {field.json}")
            key = utf8.decode(data[begin:finish])
        elif number == 2:
            if (wire_type == BYTES) == (field.kind in _SCALARS):
                raise WireError(f"proto: wrong wireType = {wire_type} for field {field.json}")
            if wire_type == BYTES:
                start, stop = begin, finish
            elif wire_type == FIXED64:
                scalar = _double(data[begin:finish])
            else:
                scalar = signed(varint(data, begin)[0])
    if field.kind in _SCALARS:
        found[key] = bool(scalar) if field.kind is _BOOL else scalar or 0
    elif field.kind is _MESSAGE:
        found[key] = _document(field.message, data, start, stop, depth + 1, reading)
    else:
        found[key] = _LEAVES[field.kind](field, data, start, stop, depth, reading)


_NILABLE: Final = frozenset((Kind.BYTES, Kind.STRINGS))
_KEY: Final = 1 << 3 | BYTES
_VALUE: Final = 2 << 3 | BYTES
_SCALARS: Final = frozenset((Kind.BOOL, Kind.INT, Kind.DOUBLE))


def _double(data: bytes) -> float:
    value: float = struct.unpack("<d", data)[0]
    return number(value)


# --- types with their own form in JSON


def _read_text(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return utf8.decode(data[at:end])


def _read_bytes(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return base64.b64encode(data[at:end]).decode()


def _read_time(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return _time(data[at:end], field.kind is Kind.MICROTIME) if at < end else None


@short_cache(maxsize=4096)
def _time(data: bytes, is_micro: bool) -> str | None:
    """Return the RFC 3339 text of a metav1.Timestamp (seconds since 1970 and nanoseconds), or None for the zero time.
    """
    values = _values(Kind.TIME, data, 0, len(data))
    seconds, nanos = values.get(1, 0), values.get(2, 0)
    if seconds == _ZERO_SECONDS and not nanos:
        return None
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise WireError("proto: time out of range") from None
    # strftime writes the year 5 as 5.
    if moment.year < 1000:
        return moment.replace(tzinfo=None).isoformat(timespec="microseconds" if is_micro else "seconds") + "Z"
    return format_micro_time(moment) if is_micro else format_time(moment)


def _values(kind: int, data: bytes, at: int, end: int) -> dict[int, Any]:
    """Return the numbers and bytes in a message of a special form, by field number. Raises WireError."""
    out: dict[int, Any] = {}
    for number, wire_type, begin, stop in _form(kind, data, at, end):
        out[number] = data[begin:stop] if wire_type == BYTES else signed(varint(data, begin)[0])
    return out


def _form(kind: int, data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the spans of a special form's fields. Raises WireError, also for a wrong wire type like Go's generated
    code.
    """
    wire_types = _FORMS[kind]
    for each in spans(data, at, end):
        number, wire_type, _, _ = each
        expected = wire_types.get(number)
        if expected is None:
            continue
        if wire_type != expected:
            raise WireError(f"proto: wrong wireType = {wire_type} for field {number}")
        yield each


# By their numbers, the wire types of their fields.
_FORMS: Final[dict[int, dict[int, int]]] = {
    Kind.TIME: {1: VARINT, 2: VARINT},
    Kind.DURATION: {1: VARINT},
    Kind.QUANTITY: {1: BYTES},
    Kind.INTORSTRING: {1: VARINT, 2: VARINT, 3: BYTES},
    Kind.RAW: {1: BYTES},
    Kind.STRINGS: {1: BYTES},
    Kind.SCHEMAORARRAY: {1: BYTES, 2: BYTES},
    Kind.SCHEMAORBOOL: {1: VARINT, 2: BYTES},
    Kind.SCHEMAORSTRINGS: {1: BYTES, 2: BYTES},
}


def _read_duration(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return format_nanoseconds(_values(field.kind, data, at, end).get(1, 0))


def _read_quantity(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return utf8.decode(_values(field.kind, data, at, end).get(1, b"")) or "0"


def _read_int_or_string(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    values = _values(field.kind, data, at, end)
    return utf8.decode(values.get(3, b"")) if values.get(1, 0) else values.get(2, 0)


def _read_raw(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    raw = _values(field.kind, data, at, end).get(1)
    if not raw:
        return None
    try:
        return parse_json(utf8.decode(raw))
    except ValueError as err:
        raise WireError(f"{field.json}: not JSON: {err}") from None


def _read_strings(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    return [utf8.decode(data[begin:stop]) for _, _, begin, stop in _form(field.kind, data, at, end)]


def _read_schema_or_other(field: Field, data: bytes, at: int, end: int, depth: int, reading: _Reading) -> Any:
    """Read a JSONSchemaProps, or the boolean or list that the API accepts in its place."""
    schema: JSONObject | None = None
    listed: list[Any] = []
    allows = False
    for number, wire_type, begin, stop in _form(field.kind, data, at, end):
        if wire_type == VARINT:
            allows = varint(data, begin)[0] != 0
        elif number == (2 if field.kind is Kind.SCHEMAORBOOL else 1):
            schema = _document(field.message, data, begin, stop, depth + 1, reading)
        elif field.kind is Kind.SCHEMAORARRAY:
            listed.append(_document(field.message, data, begin, stop, depth + 1, reading))
        else:
            listed.append(utf8.decode(data[begin:stop]))
    if field.kind is Kind.SCHEMAORBOOL and schema is None:
        return allows
    return listed or schema


_Reader = Callable[[Field, bytes, int, int, int, _Reading], Any]

_LEAVES: Final[dict[int, _Reader]] = {
    Kind.STRING: _read_text,
    Kind.BYTES: _read_bytes,
    Kind.TIME: _read_time,
    Kind.MICROTIME: _read_time,
    Kind.DURATION: _read_duration,
    Kind.QUANTITY: _read_quantity,
    Kind.INTORSTRING: _read_int_or_string,
    Kind.RAW: _read_raw,
    Kind.STRINGS: _read_strings,
    Kind.SCHEMAORARRAY: _read_schema_or_other,
    Kind.SCHEMAORBOOL: _read_schema_or_other,
    Kind.SCHEMAORSTRINGS: _read_schema_or_other,
}
