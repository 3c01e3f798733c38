"""Objects that keep the protobuf message that the server sent: a field is decoded when it is read.

No Go file: Go decodes an object when it arrives. A frozen object keeps no tree of dicts, so the cyclic garbage
collector has nothing to walk. Each field reads as in the decoded document (see `decoding`). With the extra `fast` the
`protobuf` package parses an object when a thread reads it (see `upb`). Otherwise a walk in plain Python finds the
fields on the path to the requested one (see `walk`).

When an object arrives, its own fields and those of its metadata are checked. A malformed message inside of it is found
when it is read or decoded: that raises WireError, a ValueError. (No server sends such a message.)
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from sys import intern
from typing import Any, Self

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message
from clientgo.apimachinery.runtime.serializer.protobuf.parts import MessageOwner, MessagePart, ObjectIdentity
from clientgo.apimachinery.runtime.serializer.protobuf.upb import parsed_part, texts_of
from clientgo.apimachinery.runtime.serializer.protobuf.walk import Index, WalkedPart, find_fields, span
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    WireError,
    as_wire_error,
    put_bytes,
    put_varint,
    spans,
)
from clientgo.apimachinery.runtime.source import JSONObject, ObjectSource, Part, interned_type
from clientgo.apimachinery.runtime.unknown_fields import OBJECT_META
from clientgo.golang import utf8

# The tags of the fields in ObjectMeta that the informer machinery reads of every object.
_NAME, _NAMESPACE, _VERSION = _HEADER_KEYS = 1 << 3 | BYTES, 3 << 3 | BYTES, 6 << 3 | BYTES
# Their names in messages that the `protobuf` package parsed.
_HEADER = "f1", "f3", "f6"


class Common:
    """The state that all objects of a kind share, so that each has one slot for it. Immutable."""

    __slots__ = ("api_version", "kind", "message")

    def __init__(self, message: Message, api_version: str, kind: str) -> None:
        self.message = message
        # The documents' apiVersion and kind; None for an absent one.
        self.api_version, self.kind = interned_type(api_version, kind)


# Programs may name objects as they like.
@lru_cache(1000)
def common(message: Message, api_version: str, kind: str) -> Common:
    """Return the state of all objects of that message with this apiVersion and kind, "" for none."""
    return Common(message, api_version, kind)


class MessageSource(ObjectSource, MessageOwner):
    """The message of one object."""

    __slots__ = ("_version_at", "common", "data")

    common: Common
    # The message, and nothing else.
    data: bytes
    # The offset of the version's length, which is one byte; or the version, if it is not plain text in the message.
    _version_at: int | str

    @property
    def version(self) -> str:
        at = self._version_at
        if isinstance(at, str):
            return at
        data = self.data
        return data[at + 1 : at + 1 + data[at]].decode()

    @property
    def message(self) -> Message:
        return self.common.message

    @property
    def api_version(self) -> str | None:  # type: ignore[override]
        return self.common.api_version

    @property
    def kind(self) -> str | None:  # type: ignore[override]
        return self.common.kind

    def set_type(self, api_version: str, kind: str) -> None:
        self.common = common(self.message, api_version, kind)

    def copy(self) -> Self:
        copied = type(self)()
        copied.state, copied.common, copied.data = None, self.common, self.data
        copied.key, copied.namespace, copied._version_at = self.key, self.namespace, self._version_at
        return copied

    def begin(self, is_free: bool) -> MessagePart:
        message, data = self.common.message, self.data
        # The source of an object that may be written to refers to its parts, which must not refer to it.
        owner = self._owner() if is_free else self
        part = parsed_part(owner, message, is_free, data)
        return WalkedPart(owner, message, is_free, data) if part is None else part

    def decode(self) -> JSONObject:
        try:
            return self.typed(decode_message(self.common.message, self.data))
        except WireError as err:
            raise self.refused(err) from None

    def refused(self, err: WireError | IndexError, field: str = "") -> WireError:
        return self._owner().refused(err, field)

    def _owner(self) -> ObjectIdentity:
        return ObjectIdentity(self.common.message, self.key)

    def without(self, key: str) -> Self | None:
        metadata = self.message.by_name["metadata"]
        field = metadata.message.by_name[key]
        try:
            parts, rest = cut(metadata, self.data, 0, len(self.data))
            if len(parts) != 1:
                return None
            removed, kept = cut(field, parts[0], 0, len(parts[0]))
        except WireError as err:
            raise self.refused(err, "metadata") from None
        if not removed:
            return self
        copied = self.copy()
        copied.data = put_bytes(put_varint(metadata.key), kept) + rest
        copied._version_at = _version_at(copied.data, self.version)
        return copied

    def is_same(self, other: object) -> bool:
        # Copies share the bytes; all others are compared as documents.
        return isinstance(other, MessageSource) and self.data == other.data and self.common is other.common

    def meta(self, key: str) -> Any:
        if key == "resourceVersion":
            return self.version or None
        metadata = self.root().get("metadata")
        value = None if metadata is None else metadata.get(key)
        return value.snapshot() if isinstance(value, Part) else value


def _version_at(data: bytes, version: str) -> int | str:
    """Return where a version is in the message, or the version itself: an offset takes less memory."""
    if not version.isascii() or not 0 < len(version) < 128:
        return version
    at = data.find(b"%c%c%b" % (_VERSION, len(version), version.encode()))
    return version if at < 0 else at + 1


# --- arriving


def message_source(message: Message, data: bytes, shared: Common | None = None) -> MessageSource | None:
    """Return the source of an object; None if its kind has no metadata and is decoded at once. Raises WireError.

    `shared` is the state of all objects of the kind; without it they have no apiVersion and kind.
    """
    try:
        field = message.by_name.get("metadata")
        index = find_fields(message, data)
        if field is None or not _is_object_meta(field):
            return None
        at = index.get(field.key, ())
        metadata = _value_at(data, at) if isinstance(at, int) else b"".join([_value_at(data, each) for each in at])
        texts = texts_of(field.message, metadata, _HEADER)
        if texts is None:
            found = find_fields(field.message, metadata)
            texts = [_last_value(metadata, found, key) for key in _HEADER_KEYS]
    except (WireError, IndexError) as err:
        raise refusal(message, data, as_wire_error(err)) from None
    try:
        name, namespace, version = texts[0].decode(), texts[1].decode(), texts[2].decode()
    except UnicodeDecodeError:
        name, namespace, version = map(utf8.decode, texts)
    source = MessageSource()
    source.state = None
    source.common = shared or common(message, "", "")
    source.data = data
    # Interned, since many objects have the same.
    source.namespace = namespace = intern(namespace)
    source.key = f"{namespace}/{name}" if namespace else name
    source._version_at = _version_at(data, version)
    return source


def refusal(message: Message, data: bytes, err: WireError) -> WireError:
    """Return the error for an object whose message is malformed; it names the object as far as that can be read."""
    metadata = message.by_name.get("metadata")
    if metadata is None or not _is_object_meta(metadata):
        return WireError(str(err), message.short_name)
    found = {_NAME: "", _NAMESPACE: ""}
    with suppress(WireError):
        for number, wire_type, begin, stop in spans(data, 0, len(data)):
            if number << 3 | wire_type != metadata.key:
                continue
            for inner, wire, first, last in spans(data, begin, stop):
                found[inner << 3 | wire] = utf8.decode(data[first:last])
    return ObjectIdentity(message, "/".join(filter(None, (found[_NAMESPACE], found[_NAME])))).refused(err)


def _is_object_meta(field: Field) -> bool:
    return field.kind == Kind.MESSAGE and field.message.name == OBJECT_META


def _value_at(data: bytes, at: int) -> bytes:
    begin, end = span(data, at)
    return data[begin:end]


def _last_value(data: bytes, index: Index, key: int) -> bytes:
    """Return the value of a field, b"" for an absent one; the last one counts."""
    at = index.get(key)
    return b"" if at is None else _value_at(data, at if isinstance(at, int) else at[-1])


def cut(field: Field, data: bytes, at: int, end: int) -> tuple[list[bytes], bytes]:
    """Return the items of a list, and its message without them. Raises WireError."""
    items, rest = [], []
    for number, wire_type, begin, stop in spans(data, at, end):
        if number == field.number and wire_type == BYTES:
            items.append(data[begin:stop])
        else:
            rest.append(data[at:stop])
        at = stop
    return items, b"".join(rest)



__all__ = ["Common", "MessageSource", "common", "cut", "message_source", "refusal"]
