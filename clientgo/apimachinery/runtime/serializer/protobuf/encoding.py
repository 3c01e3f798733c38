"""The conversion of a JSON document to a message, with the same bytes as from Go's generated code.

Fields are in the order of their numbers, map entries in the order of their keys. A field that is no pointer in Go is
written even if it is empty. Text is written as its bytes, also text that is not valid UTF-8 (see `decoding`).
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import MAX_DEPTH, TOO_DEEP
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import SHORT, put_bytes, put_varint
from clientgo.apimachinery.runtime.timestamps import parse_time
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.util.json import encode as encode_json
from clientgo.golang import utf8
from clientgo.golang.duration import parse_nanoseconds
from clientgo.utils.shortcache import short_cache

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME: Final = datetime(1, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
# Fields that only exist in JSON.
_TYPE_META: Final = frozenset(("apiVersion", "kind"))
_compact: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_Write = Callable[[Field, Any, int], bytes]
_MayHave = Callable[[Message, str], bool]


class EncodeError(ValueError):
    """The document does not fit the message, which would lose something of it."""

    def __init__(self, text: str, path: str = "") -> None:
        self.text = text
        self.path = path
        super().__init__(f"{path}: {text}" if path else text)

    def within(self, name: str) -> EncodeError:
        """Return this error with `name`, the field of the enclosing object, added in front of its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return EncodeError(self.text, f"{name}{joint}{self.path}")


def encode_message(message: Message, document: dict[str, Any]) -> bytes:
    """Return the bytes of a message. Raises EncodeError.

    Omits apiVersion and kind, which no message has. A field that the message does not have is an error, unless it is
    null.
    """
    try:
        return _encode(message, document, 0, _is_type_meta)
    except RecursionError:  # The caller's stack is deep already.
        raise EncodeError(TOO_DEEP) from None


def _encode(message: Message, document: dict[str, Any], depth: int, may_have: _MayHave) -> bytes:
    """Return the bytes of one message. `may_have` reports whether its document may have a key that is not a field."""
    if depth > MAX_DEPTH:
        raise EncodeError(TOO_DEEP)
    plan = _plan(message)
    steps = plan.steps
    parts = plan.empty.copy()
    unknown = document if type(document) is UnknownFields else None
    # Over the fields of the document, which are far fewer than those of the message.
    for name, value in document.items():
        if value is None:
            continue
        step = steps.get(name)
        if step is None:
            if name not in message.names and not may_have(message, name):
                raise EncodeError("protobuf has no such field", name)
            continue
        place, tag, write, field = step
        if unknown is not None and name == "metadata" and type(value) is dict:
            value = unknown.copy_with(value)  # Its unknown fields are kept here.
        try:
            if write is _write_text and type(value) is str:
                # What that does, without its calls: most values are such.
                text = value.encode() if value.isascii() else utf8.encode(value)
                size = len(text)
                parts[place] = b"".join((tag, SHORT[size] if size < 0x80 else put_varint(size), text))
            elif write is not None:
                parts[place] = tag + write(field, value, depth)
            else:
                parts[place] = _many(field, value, depth)
        except EncodeError as err:
            raise err.within(name) from None
        except (TypeError, ValueError) as err:
            raise EncodeError(str(err), name) from None
    for place, field in plan.embedded:
        # The fields of both are in the same document.
        parts[place] = put_bytes(field.tag, _encode(field.message, document, depth + 1, _is_anything))
    if unknown is not None:
        parts.append(unknown.fields.get(message.name, b""))
    return b"".join(parts)


def _is_type_meta(message: Message, name: str) -> bool:
    return name in _TYPE_META


def _is_type_meta_of_kind(message: Message, name: str) -> bool:
    return name in _TYPE_META and message.is_kind


def _is_anything(message: Message, name: str) -> bool:
    return True


class _Plan(NamedTuple):
    """The precomputed steps that write one type of message."""

    # Of each field that JSON has: its place, its tag, what writes it if there is one of it.
    steps: dict[str, tuple[int, bytes, _Write | None, Field]]
    # What Go writes of each field when it is nothing.
    empty: list[bytes]
    embedded: list[tuple[int, Field]]


@cache
def _plan(message: Message) -> _Plan:
    plan = _Plan({}, [], [])
    for place, field in enumerate(message.fields):
        if field.json:
            write = _WRITERS[field.kind] if field.shape is Shape.ONE else None
            plan.steps[field.json] = (place, field.tag, write, field)
        else:
            plan.embedded.append((place, field))
        plan.empty.append(_empty(field) if field.always else b"")
    return plan


def _empty(field: Field) -> bytes:
    """Return the bytes that Go writes for an absent field."""
    if field.kind is Kind.MESSAGE:
        return put_bytes(field.tag, _encode(field.message, {}, 0, _is_anything))
    if field.zero is None:
        return put_bytes(field.tag, b"")
    return field.tag + _WRITERS[field.kind](field, field.zero, 0)


def _many(field: Field, value: Any, depth: int) -> bytes:
    """Return the bytes of a list or map."""
    tag, write, null = field.tag, _WRITERS[field.kind], _NULLS.get(field.kind)
    parts: list[bytes] = []
    if field.shape is Shape.LIST:
        if not isinstance(value, list):
            raise EncodeError(f"expected a list, got {_shown(value)}")
        for index, item in enumerate(value):
            try:
                parts += (tag, write(field, null if item is None else item, depth))
            except EncodeError as err:
                raise err.within(f"[{index}]") from None
    else:
        if not isinstance(value, dict):
            raise EncodeError(f"expected an object, got {_shown(value)}")
        # Go sorts by bytes, which is another order only for keys that are not valid UTF-8.
        for key in sorted(value, key=None if all(map(str.isascii, value)) else utf8.encode):
            item = value[key]
            try:
                entry = write(field, null if item is None else item, depth)
            except EncodeError as err:
                raise err.within(f"[{key}]") from None
            parts.append(put_bytes(tag, b"".join((b"\n", _sized(utf8.encode(key)), _ENTRY_TAGS[field.kind], entry))))
    return b"".join(parts)


# Go's values for elements that are null.
_NULLS: Final[dict[int, Any]] = {
    Kind.STRING: "",
    Kind.MESSAGE: {},
    Kind.BOOL: False,
    Kind.INT: 0,
    Kind.DOUBLE: 0,
    Kind.BYTES: "",
    Kind.DURATION: "0s",
    Kind.QUANTITY: "0",
    Kind.INTORSTRING: 0,
    Kind.STRINGS: [],
}


def _sized(value: bytes) -> bytes:
    return put_varint(len(value)) + value


# --- each kind, with its length where it has one


def _write_text(field: Field, value: Any, depth: int) -> bytes:
    if not isinstance(value, str):
        raise EncodeError(f"expected a string, got {_shown(value)}")
    return _sized(utf8.encode(value))


def _write_message(field: Field, value: Any, depth: int) -> bytes:
    if not isinstance(value, dict):
        raise EncodeError(f"expected an object, got {_shown(value)}")
    body = _encode(field.message, value, depth + 1, _is_type_meta_of_kind)
    size = len(body)
    return SHORT[size] + body if size < 0x80 else put_varint(size) + body


def _write_bool(field: Field, value: Any, depth: int) -> bytes:
    if not isinstance(value, bool):
        raise EncodeError(f"expected a boolean, got {_shown(value)}")
    return b"\1" if value else b"\0"


def _write_int(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, bool) or not isinstance(value, int):
        raise EncodeError(f"expected an integer, got {_shown(value)}")
    return put_varint(value)


def _write_double(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise EncodeError(f"expected a number, got {_shown(value)}")
    try:
        return struct.pack("<d", float(value))
    except OverflowError as err:
        raise EncodeError(str(err)) from None


def _write_bytes(field: Field, value: Any, depth: int) -> bytes:
    if not isinstance(value, str):
        raise EncodeError("expected bytes in base64")
    try:
        return _sized(base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True))
    except (binascii.Error, ValueError):
        raise EncodeError("expected bytes in base64") from None


def _write_time(field: Field, value: Any, depth: int) -> bytes:
    return b"\0" if value is None else _time(value, field.kind is Kind.MICROTIME)


@short_cache(maxsize=4096)
def _time(text: str, is_micro: bool) -> bytes:
    """Return a metav1.Timestamp (seconds since 1970 and nanoseconds) with its length."""
    moment = parse_time(text)
    if moment == _ZERO_TIME:
        return b"\0"
    nanos = moment.microsecond * 1000 if is_micro else 0
    return _sized(b"".join((b"\x08", put_varint((moment - _EPOCH) // _SECOND), b"\x10", put_varint(nanos))))


def _write_duration(field: Field, value: Any, depth: int) -> bytes:
    return _sized(b"\x08" + put_varint(parse_nanoseconds(value)))


def _write_quantity(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise EncodeError(f"expected a quantity, got {_shown(value)}")
    return _sized(put_bytes(b"\n", utf8.encode(value if isinstance(value, str) else json.dumps(value))))


def _write_int_or_string(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, str):
        return _sized(b"\x08\1\x10\0" + put_bytes(b"\x1a", utf8.encode(value)))
    return _sized(b"".join((b"\x08\0\x10", _write_int(field, value, depth), b"\x1a\0")))


def _write_raw(field: Field, value: Any, depth: int) -> bytes:
    if value is None:
        return b"\0"
    try:
        text = _compact(value)
    except RecursionError:
        text = encode_json(value)
    return _sized(put_bytes(b"\n", utf8.encode(text)))


def _shown(value: Any) -> str:
    """Return the start of a value's JSON, for messages."""
    try:
        return json.dumps(value)[:64]
    except RecursionError:
        return encode_json(value)[:64]


def _write_strings(field: Field, value: Any, depth: int) -> bytes:
    if not isinstance(value, list):
        raise EncodeError(f"expected a list, got {_shown(value)}")
    return _sized(b"".join(b"\n" + _write_text(field, "" if item is None else item, depth) for item in value))


def _write_schema_or_array(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, list):
        return _sized(b"".join(b"\x12" + _write_message(field, item or {}, depth) for item in value))
    return _sized(b"\n" + _write_message(field, value, depth))


def _write_schema_or_bool(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, bool):
        return _sized(b"\x08\1" if value else b"\x08\0")
    return _sized(b"\x08\1\x12" + _write_message(field, value, depth))


def _write_schema_or_strings(field: Field, value: Any, depth: int) -> bytes:
    if isinstance(value, list):
        return _sized(b"".join(b"\x12" + _write_text(field, item, depth) for item in value))
    return _sized(b"\n" + _write_message(field, value, depth))


_WRITERS: Final[dict[int, _Write]] = {
    Kind.STRING: _write_text,
    Kind.MESSAGE: _write_message,
    Kind.BOOL: _write_bool,
    Kind.INT: _write_int,
    Kind.DOUBLE: _write_double,
    Kind.BYTES: _write_bytes,
    Kind.TIME: _write_time,
    Kind.MICROTIME: _write_time,
    Kind.DURATION: _write_duration,
    Kind.QUANTITY: _write_quantity,
    Kind.INTORSTRING: _write_int_or_string,
    Kind.RAW: _write_raw,
    Kind.STRINGS: _write_strings,
    Kind.SCHEMAORARRAY: _write_schema_or_array,
    Kind.SCHEMAORBOOL: _write_schema_or_bool,
    Kind.SCHEMAORSTRINGS: _write_schema_or_strings,
}
# The value of an entry of a map is its field 2.
_ENTRY_TAGS: Final = dict.fromkeys(range(16), b"\x12") | {Kind.BOOL: b"\x10", Kind.INT: b"\x10", Kind.DOUBLE: b"\x11"}
