"""Objects that stay the messages they arrived in: a field is read from the bytes each time somebody asks for it.

No Go file: Go decodes all at once. A message is skipped by its lengths, so that `pod.status.phase` needs the lengths on
its path, and nothing is kept: no tree of dicts, nothing for the cyclic garbage collector to walk. What is read is what
the decoded document says (see `decoding`). A write turns the object into a document first, and so does a read that
slices cannot answer, such as of a message that came in two parts. Views that were read before follow.

When an object arrives, its own fields and those of its metadata are found to be well formed. What is wrong deeper in it
shows when it is read or decoded: as a WireError, which is a ValueError. (No server sends that.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message, decode_places, entry, leaf
from clientgo.apimachinery.runtime.serializer.protobuf.layout import Index
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, WireError, signed, spans, truncated, varint
from clientgo.apimachinery.runtime.undecoded import Undecoded, UndecodedObject
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.runtime.view import JSONObject, StandIn, copy_json

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object

_STRING, _MESSAGE, _BOOL, _INT = Kind.STRING, Kind.MESSAGE, Kind.BOOL, Kind.INT
_ONE, _LIST = Shape.ONE, Shape.LIST

_OBJECT_META: Final = "clientgo.apimachinery.apis.meta.v1.ObjectMeta"
_METADATA: Final = frozenset((_OBJECT_META, "clientgo.apimachinery.apis.meta.v1.ListMeta"))
# What the machinery asks of every object, with the keys in ObjectMeta: taken out when it arrives.
_HEADER: Final = (("name", 1 << 3 | BYTES), ("namespace", 3 << 3 | BYTES), ("resourceVersion", 6 << 3 | BYTES))
_IN_HEADER: Final = frozenset(name for name, _ in _HEADER)
# Of the entries of a map.
_KEY, _VALUE = 1 << 3 | BYTES, 2 << 3 | BYTES


class _UnanswerableError(Exception):
    """A field that is to be read from the document."""


class UndecodedMessage(UndecodedObject):
    """The message of one object."""

    __slots__ = ("data", "message")

    def __init__(self, message: Message, data: bytes, header: dict[str, str]) -> None:
        """`data` is the message and nothing else."""
        super().__init__(None, None, header)
        self.message = message
        self.data = data

    def copy(self) -> Self:
        copied = type(self)(self.message, self.data, self.header)
        copied.api_version, copied.kind = self.api_version, self.kind
        return copied

    def document(self) -> JSONObject:
        document: JSONObject = self.documents.setdefault("", self._decode_places())[0]
        return document

    def place(self, at: int) -> Any:
        """The part of the document that stood at `at`; see decode_places."""
        return self.documents[""][at]

    def _decode_places(self) -> dict[int, Any]:
        places = decode_places(self.message, self.data)
        self.named(places[0])
        return places

    def snapshot(self, obj: Object) -> JSONObject:
        return self.named(decode_message(self.message, self.data))

    def says_the_same(self, other: Undecoded | None) -> bool:
        # The cheap way out for copies, which share the bytes; all others are compared as documents.
        return (
            isinstance(other, UndecodedMessage)
            and self.data == other.data
            and self.message is other.message
            and (self.api_version, self.kind) == (other.api_version, other.kind)
        )

    def meta(self, key: str) -> Any:
        if key in _IN_HEADER:
            return self.header.get(key)
        metadata = self._whole(None).get("metadata")
        value = None if metadata is None else metadata.get(key)
        return value.plain() if isinstance(value, StandIn) else value

    def _whole(self, obj: Object | None) -> _Section:
        return _Section(obj, self, self.message, self.data, 0)

    def metadata_of(self, obj: Object) -> Any:
        return self.part(obj, "metadata")

    def part(self, obj: Object, key: str) -> Any:
        pending, parts = _RECENT.held
        if pending is not self:
            parts = {"": self._whole(obj)}
            _RECENT.held = self, parts
        return parts[key] if key in parts else self._part(key, parts)

    def _part(self, key: str, parts: dict[str, _Section]) -> Any:
        if key == "kind":
            return self.kind
        if key == "apiVersion":
            return self.api_version
        part = parts[""].get(key)
        if isinstance(part, _Section):
            parts[key] = part
        return part


class _Recent:
    """The object that was read last, and its parts: a handler reads more than one field of each.

    Replaced as one, and so by any thread without a lock.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: tuple[UndecodedMessage | None, dict[str, _Section]] = (None, {})


_RECENT: Final = _Recent()


class _Section(StandIn, Mapping[str, Any]):
    """A message inside an object, in place of its document."""

    __slots__ = ("_begin", "_data", "_index", "_message", "_object", "_pending")

    def __init__(
        self, obj: Object | None, pending: UndecodedMessage, message: Message, data: bytes, begin: int
    ) -> None:
        """`data` is the message, which begins there in that of `obj`. For one who only reads, `obj` is None."""
        self._object = obj
        self._pending = pending
        self._message = message
        self._data = data
        self._begin = begin
        # Where its fields are: found when something is read first.
        self._index: Index | None = None

    def get(self, key: str, default: Any = None) -> Any:
        if self._pending.documents:
            return self.written().get(key, default)
        field = self._message.by_name.get(key)
        if field is None:
            return default
        try:
            index = self._index
            if index is None:
                index = self._index = self._message.layouts.find(self._data)
            at = index.get(field.key)
            if field.kind == 0 and type(at) is int and field.shape == 0:  # A string, the commonest of all.
                size = self._data[at]
                if 0 < size < 128:
                    return self._data[at + 1 : at + 1 + size].decode()
            value = self._read(field, at, key)
        except IndexError:
            raise truncated() from None
        except UnicodeDecodeError:
            raise WireError("proto: invalid UTF-8 in string") from None
        except _UnanswerableError:
            value = self._turned().get(key)
        return default if value is None else value

    def _read(self, field: Field, at: Any, name: str) -> Any:
        """What the document has for the field that stands there: None when it has nothing."""
        if at is None:
            return self._absent(field, name)
        data, kind = self._data, field.kind
        if field.shape:  # Not _ONE.
            return self._values(field, [_span(data, each) for each in (at if type(at) is list else (at,))])
        if type(at) is list:
            if kind == _MESSAGE:  # All of them together are the message.
                raise _UnanswerableError
            at = at[-1]
        if kind in (_BOOL, _INT):
            number = signed(varint(data, at)[0])
            if number or not field.drops_zero:
                return bool(number) if kind == _BOOL else number
            return None
        if kind == Kind.DOUBLE or (kind >= Kind.STRINGS and self._is_free):
            raise _UnanswerableError
        begin, end = _span(data, at)
        if kind == _MESSAGE:
            section = _Section(self._object, self._pending, field.message, data[begin:end], self._begin + begin)
            # An embedded struct has no name, and its fields those of the message around it.
            return section if field.json else section._read_embedded(name)
        if kind == _STRING:
            return data[begin:end].decode() if begin < end or not field.drops_zero else None
        return leaf(field, data, begin, end)

    def _read_embedded(self, name: str) -> Any:
        field = self._message.by_name[name]
        return self._read(field, self._message.layouts.find(self._data).get(field.key), name)

    def _absent(self, field: Field, name: str) -> Any:
        """What the document has for a field that is not there."""
        if not field.json:
            return self._absent(field.message.by_name[name], name)
        if field.kind == _MESSAGE and field.is_shown and field.always:
            if self._is_free:
                raise _UnanswerableError
            return decode_message(field.message, b"")
        if field.shape and field.key & 7 != BYTES:  # Numbers in one piece stand under another key.
            raise _UnanswerableError
        return field.zero if field.is_shown else None

    def _values(self, field: Field, found: list[tuple[int, int]]) -> Any:
        """A list or a map."""
        if field.key & 7 != BYTES:
            raise _UnanswerableError
        if field.shape == _LIST and field.kind == _MESSAGE:
            return _Sections(self, field.message, found)
        if field.kind != _STRING:
            raise _UnanswerableError
        data = self._data
        values: Any
        if field.shape == _LIST:
            values = [data[begin:end].decode() for begin, end in found]
        else:
            values = {}
            for begin, end in found:
                _put_entry(values, field, data, begin, end)
        return _Values(self._pending, self._begin + found[0][0], values) if self._is_free else values

    @property
    def _is_free(self) -> bool:
        """Whether it may be written to: then what is read has to be part of the object."""
        return self._object is not None and not self._object.frozen

    def _turned(self) -> Mapping[str, Any]:
        """The document: of what may be written to, after the whole object was turned into one."""
        if not self._is_free:
            return self._decode()
        self._pending.document()
        return self.written()

    def section(self, message: Message, begin: int, end: int) -> _Section:
        """A message in this one."""
        return _Section(self._object, self._pending, message, self._data[begin:end], self._begin + begin)

    def is_turned(self) -> bool:
        """Whether the object was turned into a document."""
        return bool(self._pending.documents)

    def place(self, at: int) -> Any:
        """What of the document stands there; see decode_places."""
        return self._pending.place(self._begin + at if at >= 0 else at - self._begin)

    def written(self) -> JSONObject:
        document: JSONObject = self._pending.place(self._begin)
        return document

    def plain(self) -> JSONObject:
        document: JSONObject = copy_json(self.written()) if self._pending.documents else self._decode()
        return document

    def _decode(self) -> JSONObject:
        document = decode_message(self._message, self._data)
        if type(document) is not UnknownFields:
            return document
        # What is unknown in metadata its object keeps; and that there is something deeper in it, the object says.
        return document if document.fields and self._message.name not in _METADATA else dict(document)

    def _now(self) -> JSONObject:
        return self.written() if self._pending.documents else self._decode()

    def __getitem__(self, key: str) -> Any:
        return self._now()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __eq__(self, other: object) -> bool:
        return bool(self._now() == (other._now() if isinstance(other, _Section) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._now())


class _Sections(StandIn, Sequence[Any]):
    """A list of messages inside another."""

    __slots__ = ("_found", "_message", "_within")

    def __init__(self, within: _Section, message: Message, found: list[tuple[int, int]]) -> None:
        """They are found there in the message around them."""
        self._within = within
        self._message = message
        self._found = found

    def written(self) -> list[Any]:
        document: list[Any] = self._within.place(-self._found[0][0])
        return document

    def plain(self) -> list[Any]:
        if self._within.is_turned():
            return [copy_json(item) for item in self.written()]
        return [section.plain() for section in self._sections(self._found)]

    def _sections(self, found: list[tuple[int, int]]) -> list[_Section]:
        return [self._within.section(self._message, begin, end) for begin, end in found]

    def __len__(self) -> int:
        return len(self.written() if self._within.is_turned() else self._found)

    def __getitem__(self, index: Any) -> Any:
        if self._within.is_turned():
            return self.written()[index]
        found: Any = self._found[index]
        return self._sections(found) if type(found) is list else self._within.section(self._message, *found)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.written() if self._within.is_turned() else self._sections(self._found))

    def __eq__(self, other: object) -> bool:
        return [*self] == ([*other] if isinstance(other, _Sections) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr([*self])


class _Values(StandIn):
    """A list or a map of text, of an object that may be written to."""

    __slots__ = ("_at", "_pending", "_value")

    def __init__(self, pending: UndecodedMessage, at: int, value: Any) -> None:
        """The first element is `at` in the message of the object."""
        self._pending = pending
        self._at = at
        self._value = value

    def written(self) -> Any:
        return self._pending.place(-self._at)

    def plain(self) -> Any:
        return self._now().copy()

    def _now(self) -> Any:
        return self.written() if self._pending.documents else self._value

    def get(self, key: str, default: Any = None) -> Any:
        return self._now().get(key, default)

    def __len__(self) -> int:
        return len(self._now())

    def __getitem__(self, key: Any) -> Any:
        return self._now()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._now())

    def __contains__(self, key: object) -> bool:
        return key in self._now()

    def __eq__(self, other: object) -> bool:
        return bool(self._now() == (other._now() if isinstance(other, _Values) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._now())


def _span(data: bytes, at: int) -> tuple[int, int]:
    """Where the value begins and ends whose length stands at `at`."""
    size = data[at]
    if size < 128:
        return at + 1, at + 1 + size
    size, at = varint(data, at)
    return at, at + size


def _put_entry(texts: dict[str, str], field: Field, data: bytes, at: int, end: int) -> None:
    if 4 <= end - at < 128 and data[at] == _KEY:
        # As every encoder writes it: key and value, short, and in order.
        middle = at + 2 + data[at + 1]
        if middle + 1 < end and data[middle] == _VALUE and middle + 2 + data[middle + 1] == end:
            texts[data[at + 2 : middle].decode()] = data[middle + 2 : end].decode()
            return
    entry(field, data, at, end, texts)


# --- arriving


def undecoded_message(message: Message, data: bytes) -> UndecodedMessage | None:
    """An object of the message that `data` is; None for one that must be decoded at once. Raises WireError."""
    metadata = message.by_name.get("metadata")
    if metadata is None or metadata.kind != _MESSAGE or metadata.message.name != _OBJECT_META:
        return None
    try:
        at = message.layouts.find(data).get(metadata.key)
        if type(at) is list:  # All of them together are the metadata.
            return None
        begin, end = (0, 0) if at is None else _span(data, at)
        return UndecodedMessage(message, data, _header(metadata.message, data[begin:end]))
    except IndexError:
        raise truncated() from None
    except UnicodeDecodeError:
        raise WireError("proto: invalid UTF-8 in string") from None


def _header(message: Message, data: bytes) -> dict[str, str]:
    index = message.layouts.find(data)
    header: dict[str, str] = {}
    for name, key in _HEADER:
        at = index.get(key)
        if at is not None:
            begin, end = _span(data, at if type(at) is int else at[-1])
            if begin < end:
                header[name] = data[begin:end].decode()
    return header


def cut(field: Field, data: bytes, at: int, end: int) -> tuple[list[bytes], bytes]:
    """The items of a list, and its message without them. Raises WireError."""
    items, rest = [], []
    for number, wire_type, begin, stop in spans(data, at, end):
        if number == field.number and wire_type == BYTES:
            items.append(data[begin:stop])
        else:
            rest.append(data[at:stop])
        at = stop
    return items, b"".join(rest)


__all__ = ["UndecodedMessage", "cut", "undecoded_message"]
