"""Parts of messages that are read by walking over their fields, in plain Python.

A message is skipped by its length, so a read walks only over the messages on its path. A message that arrived in
several pieces is the same as all of them together: both merge the same fields in the same order.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_fields, entry, leaf
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.parts import MessageListPart, MessageOwner, MessagePart
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    VARINT,
    WireError,
    put_bytes,
    put_varint,
    signed,
    skip,
    truncated,
    varint,
)
from clientgo.golang import utf8

# By key (number and wire type), the offset behind the key; a list of them for a key that comes more than once.
Index = dict[int, Any]

_STRING, _MESSAGE, _BOOL, _INT = Kind.STRING, Kind.MESSAGE, Kind.BOOL, Kind.INT


class WalkedPart(MessagePart):
    """A message; its content is its bytes."""

    __slots__ = ("_index",)

    def __init__(self, owner: MessageOwner, message: Message, is_free: bool, content: bytes) -> None:
        super().__init__(owner, message, is_free, content)
        # None until a field is read.
        self._index: Index | None = None

    def bytes_of(self) -> bytes:
        content: bytes = self._content
        return content

    def read(self, key: str) -> Any:
        index = self._index
        if index is None:
            index = self._index = find_fields(self._message, self._content)
        field = self._message.by_name.get(key)
        if field is None:
            return None
        data: bytes = self._content
        at = index.get(field.key)
        if field.shape:  # Not Shape.ONE.
            return self._several(field, index, data)
        if at is None:
            return self.absent(field, key)
        kind = field.kind
        if kind == _MESSAGE:
            inner = b"".join([data[begin:end] for begin, end in _spans(data, at)])
            if field.json:
                return self.keep(key, self.inner(field.message, inner))
            return self.embedded(field.message, inner, key)
        if type(at) is list:
            at = at[-1]
        if kind in (_BOOL, _INT):
            number = signed(varint(data, at)[0])
            value = bool(number) if kind == _BOOL else number
            return value if number or not field.drops_zero else None
        if kind == Kind.DOUBLE:
            return self._decoded(field, field.tag + data[at : at + 8])
        begin, end = span(data, at)
        if kind == _STRING:
            if begin == end and field.drops_zero:
                return None
            try:
                return data[begin:end].decode()
            except UnicodeDecodeError:
                return utf8.decode(data[begin:end])
        value = leaf(field, data, begin, end)
        return self.keep(key, value) if isinstance(value, (dict, list)) else value

    def _several(self, field: Field, index: Index, data: bytes) -> Any:
        """Read a list or a map."""
        at, key, kind = index.get(field.key), field.json, field.kind
        if field.key & 7 == VARINT:
            return self._numbers(field, index, data)
        if at is None:
            return self.absent(field, key)
        found = _spans(data, at)
        if field.shape == Shape.LIST and kind == _MESSAGE:
            contents = [data[begin:end] for begin, end in found]
            return self.keep(key, MessageListPart(self, field.message, contents))
        if field.key & 7 == BYTES and kind == _STRING and field.shape == Shape.LIST:
            return self.keep(key, [utf8.decode(data[begin:end]) for begin, end in found])
        if field.key & 7 == BYTES and field.shape == Shape.MAP:
            entries: dict[str, Any] = {}
            for begin, end in found:
                entry(field, data, begin, end, entries)
            return self.keep(key, entries)
        if field.key & 7 == BYTES:
            return self._decoded(field, b"".join([put_bytes(field.tag, data[begin:end]) for begin, end in found]))
        return self._decoded(field, b"".join([field.tag + data[each : each + 8] for each in _offsets(at)]))

    def _numbers(self, field: Field, index: Index, data: bytes) -> Any:
        """Read a list of numbers. Each may have its own tag, or several may be packed into one value."""
        packed = field.number << 3 | BYTES
        single = [(each, field.tag, VARINT) for each in _offsets(index.get(field.key, ()))]
        joint = [(each, put_varint(packed), BYTES) for each in _offsets(index.get(packed, ()))]
        if not single and not joint:
            return self.absent(field, field.json)
        pieces = [
            tag + data[at : skip(data, at, len(data), wire_type)] for at, tag, wire_type in sorted(single + joint)
        ]
        return self._decoded(field, b"".join(pieces))

    def _decoded(self, field: Field, data: bytes) -> Any:
        """Decode a field as the decoder of whole objects does; `data` has all of its values with their tags."""
        try:
            value = decode_fields(self._message, data).get(field.json)
        except WireError as err:
            raise WireError(err.reason, err.path.partition(".")[2]) from None
        return self.keep(field.json, value) if isinstance(value, (dict, list)) else value


def find_fields(message: Message, data: bytes) -> Index:
    """Find the fields of the message that `data` is. Raises WireError, IndexError at the end of the data."""
    index: Index = {}
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key > 127:
            key, at = varint(data, at - 1)
        if key in index:
            _add(index, key, at)
        else:
            index[key] = at
        if key & 7 == BYTES:
            size = data[at]
            at += 1
            if size > 127:
                more = data[at]
                if more < 128:
                    size += (more - 1) << 7
                    at += 1
                else:
                    size, at = varint(data, at - 1)
            at += size
        else:
            at = skip(data, at, end, key & 7)
    if at != end:
        raise truncated()
    if not index.keys() <= message.by_key.keys():
        for key in index.keys() - message.by_key.keys():
            message.field_in_one_piece(key)
    return index


def _add(index: Index, key: int, at: int) -> None:
    known = index[key]
    if isinstance(known, list):
        known.append(at)
    else:
        index[key] = [known, at]


def _offsets(at: Any) -> Any:
    return (at,) if isinstance(at, int) else at


def _spans(data: bytes, at: Any) -> list[tuple[int, int]]:
    """Return begin and end of each value that was found at `at`."""
    return [span(data, at)] if isinstance(at, int) else [span(data, each) for each in at]


def span(data: bytes, at: int) -> tuple[int, int]:
    """Return begin and end of the value whose length is at `at`."""
    size = data[at]
    if size < 128:
        return at + 1, at + 1 + size
    size, at = varint(data, at)
    return at, at + size

