"""What stands in views in place of the parts of an object that is still its message (see `in_place`).

A `Section` is a message inside the object, `_Sections` a list of such; a list or a map of text is read at once. What a
section has for a field is worked out once for all messages of a layout: where the text is, where the message begins
and ends, what the number is. That is an answer: a slice (of a text, the commonest), an `_Answer`, or the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message, entry, leaf
from clientgo.apimachinery.runtime.serializer.protobuf.layout import Index
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, WireError, signed, varint
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.runtime.view import JSONObject, StandIn, copy_json
from clientgo.golang import utf8

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object
    from clientgo.apimachinery.runtime.serializer.protobuf.in_place import UndecodedMessage

_STRING, _MESSAGE, _BOOL, _INT = Kind.STRING, Kind.MESSAGE, Kind.BOOL, Kind.INT
_LIST: Final = Shape.LIST

_METADATA: Final = frozenset(f"clientgo.apimachinery.apis.meta.v1.{name}" for name in ("ObjectMeta", "ListMeta"))

class _UnanswerableError(Exception):
    """A field that is to be read from the document."""


class Section(StandIn, Mapping[str, Any]):
    """A message inside an object, in place of its document."""

    __slots__ = ("_begin", "_message", "_object", "_pending", "data", "index")

    # The object; None for one who only reads, as of what is read-only for good.
    _object: Object | None
    _pending: UndecodedMessage
    _message: Message
    # The message, and where it begins in that of the object.
    data: bytes
    _begin: int
    # Where its fields are; None until something is read.
    index: Index | None

    def get(self, key: str, default: Any = None) -> Any:
        if self._pending.decoded is not None:
            return self.written().get(key, default)
        try:
            index = self.index
            if index is None:
                index = self.index = self._message.layouts.find(self.data)
            answer: Any = index.answers.get(key, _UNASKED)
            if type(answer) is slice:
                try:
                    return self.data[answer].decode()
                except UnicodeDecodeError:
                    return utf8.decode(self.data[answer])
            if type(answer) is _Inner:
                return self.inner(answer.message, answer.begin, answer.end)
            if answer is _UNASKED:
                value = self._value(index, key)
            else:
                value = answer.given_by(self) if isinstance(answer, _Answer) else answer
        except (IndexError, WireError) as err:
            raise self.refused(key, err) from None
        except _UnanswerableError:
            value = self._turned().get(key)
        return default if value is None else value

    def _value(self, index: Index, key: str) -> Any:
        """What the document has for the field: None when it has nothing."""
        answer = index.answers.get(key, _UNASKED)
        if answer is _UNASKED:
            field = self._message.by_name.get(key)
            if field is None:
                return None
            answer = index.answers[key] = _answer(field, self.data, index, key)
        if type(answer) is slice:
            return utf8.decode(self.data[answer])
        return answer.given_by(self) if isinstance(answer, _Answer) else answer

    def refused(self, key: str, err: WireError | IndexError) -> WireError:
        """The error for a field, "" for all of it, that names object and field."""
        return self._pending.refusal(err, ".".join(filter(None, (self._message.short_name, key))))

    @property
    def is_free(self) -> bool:
        """Whether it may be written to: then what is read has to be part of the object."""
        obj = self._object
        return obj is not None and not obj.frozen

    def _turned(self) -> Mapping[str, Any]:
        """The document: of what may be written to, after the whole object was turned into one."""
        if not self.is_free:
            return self._decode()
        self._pending.document()
        return self.written()

    def inner(self, message: Message, begin: int, end: int) -> Section:
        """A message in this one."""
        # `section`, written out.
        found = Section()
        found._object = self._object
        found._pending = self._pending
        found._message = message
        found.data = self.data[begin:end]
        found._begin = self._begin + begin
        found.index = None
        return found

    def embedded(self, message: Message, begin: int, end: int, key: str) -> Any:
        """What an embedded struct has, whose fields are those of the message around it. Raises as `_value` does."""
        inner = self.inner(message, begin, end)
        return inner._value(message.layouts.find(inner.data), key)

    def texts(self, at: int, values: Any) -> Any:
        """A list or a map of text that begins there in this message."""
        return _Values(self._pending, self._begin + at, values) if self.is_free else values

    def is_turned(self) -> bool:
        """Whether the object was turned into a document."""
        return self._pending.decoded is not None

    def place(self, at: int) -> Any:
        """What of the document stands there; see decode_places."""
        return self._pending.place(self._begin + at if at >= 0 else at - self._begin)

    def written(self) -> JSONObject:
        document: JSONObject = self._pending.place(self._begin)
        return document

    def plain(self) -> JSONObject:
        document: JSONObject = copy_json(self.written()) if self._pending.decoded is not None else self._decode()
        return document

    def _decode(self) -> JSONObject:
        try:
            document = decode_message(self._message, self.data)
        except WireError as err:
            raise self.refused("", err) from None
        if type(document) is not UnknownFields:
            return document
        # What is unknown in metadata its object keeps; and that there is something deeper in it, the object says.
        return document if document.fields and self._message.name not in _METADATA else dict(document)

    def _now(self) -> JSONObject:
        return self.written() if self._pending.decoded is not None else self._decode()

    def __getitem__(self, key: str) -> Any:
        return self._now()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __eq__(self, other: object) -> bool:
        return bool(self._now() == (other._now() if isinstance(other, Section) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._now())


def section(obj: Object | None, pending: UndecodedMessage) -> Section:
    """The message of an object as a whole. For one who only reads, `obj` is None."""
    found = Section()
    found._object = None if obj is None or obj.frozen else obj
    found._pending = pending
    places = pending.places
    found._message = places.message
    found.data = pending.data
    found._begin = 0
    found.index = places.index
    return found


class _Sections(StandIn, Sequence[Any]):
    """A list of messages inside another."""

    __slots__ = ("_found", "_message", "_within")

    # They are found there in the message around them.
    _within: Section
    _message: Message
    _found: list[tuple[int, int]]

    def written(self) -> list[Any]:
        document: list[Any] = self._within.place(-self._found[0][0])
        return document

    def plain(self) -> list[Any]:
        if self._within.is_turned():
            return [copy_json(item) for item in self.written()]
        return [section.plain() for section in self._sections(self._found)]

    def _sections(self, found: list[tuple[int, int]]) -> list[Section]:
        return [self._within.inner(self._message, begin, end) for begin, end in found]

    def __len__(self) -> int:
        return len(self.written() if self._within.is_turned() else self._found)

    def __getitem__(self, index: Any) -> Any:
        within = self._within
        if within._pending.decoded is not None:
            return self.written()[index]
        if isinstance(index, slice):
            return self._sections(self._found[index])
        begin, end = self._found[index]
        return within.inner(self._message, begin, end)

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
        return self.written() if self._pending.decoded is not None else self._value

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


class _TextMap(StandIn, Mapping[str, str]):
    """A map of text, of an object that may not be written to: who asks for one value gets that alone decoded."""

    __slots__ = ("_section", "_texts", "_values")

    # The section that has it, and where there.
    _section: Section
    _texts: _Texts
    # All of them, once somebody asked for that.
    _values: dict[str, str] | None

    def get(self, key: str, default: Any = None) -> Any:
        if self._values is not None or not isinstance(key, str):
            return self._all().get(key, default)
        data, wanted = self._section.data, utf8.encode(key)
        for key_at, value_at in self._texts.by_length.get(len(wanted), ()):
            if data[key_at] == wanted and (key.isascii() or utf8.decode(wanted) == key):
                return utf8.decode(data[value_at])
        return default

    def _all(self) -> dict[str, str]:
        values = self._values
        if values is None:
            data = self._section.data
            values = {utf8.decode(data[key]): utf8.decode(data[value]) for key, value in self._texts.entries}
            self._values = values
        return values

    def plain(self) -> dict[str, str]:
        return self._all().copy()

    def __getitem__(self, key: str) -> str:
        if self._values is not None:
            return self._values[key]
        value: str | None = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, _TextMap) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._all())


# --- answers


class _Answer:
    """What sections have for a field, in all messages of a layout, where that is neither a text nor a value."""

    __slots__ = ()

    def given_by(self, section: Section) -> Any:
        """Raises WireError, IndexError, _UnanswerableError."""
        raise NotImplementedError


class _InDocument(_Answer):
    """What only the document says."""

    __slots__ = ()

    def given_by(self, section: Section) -> Any:
        raise _UnanswerableError


_IN_DOCUMENT: Final = _InDocument()
# Not yet worked out.
_UNASKED: Final = _InDocument()


class _Inner(_Answer):
    """A message."""

    __slots__ = ("begin", "end", "message")

    def __init__(self, message: Message, begin: int, end: int) -> None:
        self.message = message
        self.begin = begin
        self.end = end

    def given_by(self, section: Section) -> Any:
        return section.inner(self.message, self.begin, self.end)


class _Embedded(_Inner):
    """A field of an embedded struct."""

    __slots__ = ("_name",)

    def __init__(self, message: Message, begin: int, end: int, name: str) -> None:
        super().__init__(message, begin, end)
        self._name = name

    def given_by(self, section: Section) -> Any:
        return section.embedded(self.message, self.begin, self.end, self._name)


class _Empty(_Answer):
    """A message that is not there, and has a document all the same."""

    __slots__ = ("_message",)

    def __init__(self, message: Message) -> None:
        self._message = message

    def given_by(self, section: Section) -> Any:
        if section.is_free:
            raise _UnanswerableError
        return decode_message(self._message, b"")


class _InnerList(_Answer):
    """A list of messages."""

    __slots__ = ("_found", "_message")

    def __init__(self, message: Message, found: list[tuple[int, int]]) -> None:
        self._message = message
        self._found = found

    def given_by(self, section: Section) -> Any:
        sections = _Sections()
        sections._within = section
        sections._message = self._message
        sections._found = self._found
        return sections


class _TextList(_Answer):
    """A list of text."""

    __slots__ = ("_found",)

    def __init__(self, found: list[slice]) -> None:
        self._found = found

    def given_by(self, section: Section) -> Any:
        data = section.data
        return section.texts(self._found[0].start, [utf8.decode(data[each]) for each in self._found])


class _Texts(_Answer):
    """A map of text."""

    __slots__ = ("_field", "_found", "by_length", "entries", "name")

    def __init__(self, field: Field, found: list[tuple[int, int]], entries: list[tuple[slice, slice]] | None) -> None:
        self._field = field
        self._found = found
        self.name = field.json
        # Where keys and values are, if that is the same in all messages of the layout; and the same by the lengths of
        # the keys, there the last first, which counts if there is a key twice.
        self.entries = entries or ()
        self.by_length: dict[int, list[tuple[slice, slice]]] = {}
        for key, value in reversed(self.entries):
            self.by_length.setdefault(key.stop - key.start, []).append((key, value))

    def given_by(self, section: Section) -> Any:
        if self.entries and (section._object is None or not section.is_free):
            texts = _TextMap()
            texts._section = section
            texts._texts = self
            texts._values = None
            return texts
        values: dict[str, str] = {}
        for begin, end in self._found:
            entry(self._field, section.data, begin, end, values)
        return section.texts(self._found[0][0], values)


class _Leaf(_Answer):
    """What has a form of its own in JSON."""

    __slots__ = ("_begin", "_end", "_field")

    def __init__(self, field: Field, begin: int, end: int) -> None:
        self._field = field
        self._begin = begin
        self._end = end

    def given_by(self, section: Section) -> Any:
        if self._field.kind >= Kind.STRINGS and section.is_free:
            raise _UnanswerableError
        return leaf(self._field, section.data, self._begin, self._end)


def _answer(field: Field, data: bytes, index: Index, name: str) -> Any:
    """The answer for a field of the message that `data` is."""
    at = index.get(field.key)
    if at is None:
        return _absent(field, index, name)
    if field.shape:  # Not Shape.ONE.
        return _several(field, data, index, at if type(at) is list else [at])
    kind = field.kind
    if type(at) is list:
        if kind == _MESSAGE:  # All of them together are the message.
            return _IN_DOCUMENT
        at = at[-1]
    if kind in (_BOOL, _INT):
        number = signed(varint(data, at)[0])
        value = bool(number) if kind == _BOOL else number
        return value if number or not field.drops_zero else None
    if kind == Kind.DOUBLE:
        return _IN_DOCUMENT
    begin, end = span(data, at)
    if kind == _MESSAGE:
        message = field.message
        # An embedded struct has no name, and its fields those of the message around it.
        return _Inner(message, begin, end) if field.json else _Embedded(message, begin, end, name)
    if kind == _STRING:
        return slice(begin, end) if begin < end or not field.drops_zero else None
    return _Leaf(field, begin, end)


def _absent(field: Field, index: Index, name: str) -> Any:
    """The answer for a field that is not there."""
    if not field.json:
        return _absent(field.message.by_name[name], Index(), name)
    if field.kind == _MESSAGE and field.is_shown and field.always:
        return _Empty(field.message)
    if field.number << 3 | BYTES in index:  # Numbers in one piece stand under another key.
        return _IN_DOCUMENT
    return field.zero if field.is_shown else None


def _several(field: Field, data: bytes, index: Index, found_at: list[int]) -> Any:
    """The answer for a list or a map that is there."""
    if field.key & 7 != BYTES:
        return _IN_DOCUMENT
    found = [span(data, at) for at in found_at]
    if field.shape == _LIST and field.kind == _MESSAGE:
        return _InnerList(field.message, found)
    if field.kind != _STRING:
        return _IN_DOCUMENT
    if field.shape == _LIST:
        return _TextList([slice(begin, end) for begin, end in found])
    return _Texts(field, found, index.texts.get(field.key))


def span(data: bytes, at: int) -> tuple[int, int]:
    """Where the value begins and ends whose length stands at `at`."""
    size = data[at]
    if size < 128:
        return at + 1, at + 1 + size
    size, at = varint(data, at)
    return at, at + size
