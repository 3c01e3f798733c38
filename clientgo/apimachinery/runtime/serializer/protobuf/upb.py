"""Parts of messages that the `protobuf` package parses (its C library is called upb). Needs the extra `fast`.

The descriptors are created at run time from the tables in the packages of API types. They declare fields as bytes if
`decoding` reads these in its own way: strings, which may be invalid UTF-8, times, quantities and so on. Maps are
declared as lists of their entries, since keys of type bytes are not allowed in maps.

The package is used only where it is fast and safe: with its C library, and with a GIL. Importing it into a build
without a GIL would turn the GIL on.

The package ignores a known field of another wire type, which `decoding` rejects. It keeps such a field among the
unknown ones, so each part checks these when its first field is read.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import element, leaf, number
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.parts import MessageListPart, MessageOwner, MessagePart
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.golang import utf8

Reader = Callable[[MessagePart, Any], Any]


class Engine:
    """The package's functions, and the descriptors of the messages that were read. Thread-safe."""

    def __init__(self) -> None:
        """Load the library. Raises ImportError when the package is absent or has no C implementation."""
        pools = importlib.import_module("google.protobuf.descriptor_pool")
        self._pool: Any = pools.DescriptorPool()
        # With upb the class is the library's own; in plain Python it is the module's.
        if type(self._pool).__module__ == pools.__name__:
            raise ImportError("the protobuf package has no upb here")
        self._factory: Any = importlib.import_module("google.protobuf.message_factory")
        self.refused: type[Exception] = importlib.import_module("google.protobuf.message").DecodeError
        self.unknown_fields_of: Any = importlib.import_module("google.protobuf.unknown_fields").UnknownFieldSet
        # Guards the descriptors; held while they are made.
        self._lock = threading.Lock()
        # The file that declares each message.
        self._files: dict[str, str] = {}
        # The functions that parse each message. Only grows.
        self._parsers: dict[str, Callable[[bytes], Any]] = {}
        # The package finds the class of a message by a pointer that the garbage collector does not know. It may create
        # a message of a class that the collector is deleting, which crashes the process. So all classes are kept here.
        self._classes: list[type] = []

    def parse(self, message: Message, data: bytes) -> Any:
        """Return the parsed message, None if the package refuses it."""
        parser = self._parsers.get(message.name) or self._make_parser(message)
        try:
            return parser(data)
        except self.refused:
            return None

    def check(self, message: Message, parsed: Any) -> None:
        """Raise WireError for a known field of another wire type, which the package takes for an unknown field."""
        for field in self.unknown_fields_of(parsed):
            message.field_in_one_piece(field.field_number << 3 | field.wire_type)

    def _make_parser(self, message: Message) -> Callable[[bytes], Any]:
        with self._lock:
            self._declare(message)
            descriptor = self._pool.FindMessageTypeByName(_full_name(message))
            parser: Callable[[bytes], Any] = self._factory.GetMessageClass(descriptor).FromString
            return self._parsers.setdefault(message.name, parser)

    def _declare(self, message: Message) -> None:
        """Add a file with the message and those in it that are not declared yet."""
        added: dict[str, Message] = {}
        used: set[str] = set()
        waiting = [message]
        while waiting:
            each = waiting.pop()
            if each.name in self._files:
                used.add(self._files[each.name])
            elif each.name not in added:
                added[each.name] = each
                waiting += [field.message for field in each.fields if _is_message(field)]
        if not added:
            return
        file = f"{message.name}.proto"
        parts: list[tuple[int, bytes | int]] = [(_FILE_NAME, file.encode()), (_FILE_PACKAGE, _PACKAGE.encode())]
        parts += [(_FILE_DEPENDENCY, other.encode()) for other in sorted(used)]
        parts += [(_FILE_MESSAGE, _message_descriptor(each)) for each in added.values()]
        self._pool.AddSerializedFile(_descriptor(parts))
        for each in added.values():
            descriptor = self._pool.FindMessageTypeByName(_full_name(each))
            # The nested types are the entries of its maps.
            self._classes += map(self._factory.GetMessageClass, (descriptor, *descriptor.nested_types))
        self._files |= dict.fromkeys(added, file)


def _is_wanted() -> bool:
    """Report whether the package may be used in this process, if it is there."""
    has_gil = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
    return has_gil and os.environ.get("CLIENTGO_LAZY_DECODING", "true").lower() not in ("false", "0")


class Lookup:
    """The engine of the process. It is loaded when the first object is read: that takes 20 ms."""

    def __init__(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        # None until it is loaded.
        self.loaded: Engine | None = None

    def engine(self) -> Engine | None:
        """Return the engine; None where the package is not used."""
        if self.loaded is None and self._is_wanted:
            try:
                self.loaded = Engine()
            except ImportError:
                self._is_wanted = False
        return self.loaded


LOOKUP = Lookup(_is_wanted())


def parsed_part(owner: MessageOwner, message: Message, is_free: bool, data: bytes) -> ParsedPart | None:
    """Return the part for a whole object; None where the package is not used, or refuses the message."""
    engine = LOOKUP.loaded or LOOKUP.engine()
    parsed = None if engine is None else engine.parse(message, data)
    return None if parsed is None else ParsedPart(owner, message, is_free, parsed)


def texts_of(message: Message, data: bytes, names: Sequence[str]) -> list[bytes] | None:
    """Return the texts of some fields of a message, b"" for an absent one. Raises WireError as `walk.find_fields` does.

    Returns None if the engine is not loaded, or refuses the message.
    """
    engine = LOOKUP.loaded
    parsed = None if engine is None else engine.parse(message, data)
    if engine is None or parsed is None:
        return None
    engine.check(message, parsed)
    return [getattr(parsed, name) for name in names]


class ParsedPart(MessagePart):
    """A message; its content is one of the package's."""

    __slots__ = ("_is_checked",)

    def __init__(self, owner: MessageOwner, message: Message, is_free: bool, content: Any) -> None:
        # `super`, written out: a handler makes several of them for each event.
        self.is_free = is_free
        self.kept = {}
        self.written = None
        self._owner = owner
        self._message = message
        self._content = content
        self._is_checked = False

    def bytes_of(self) -> bytes:
        data: bytes = self._content.SerializePartialToString()
        return data

    def read(self, key: str) -> Any:
        message = self._message
        if not self._is_checked:
            engine = LOOKUP.loaded
            assert engine is not None
            engine.check(message, self._content)
            self._is_checked = True
        reader = message.readers.get(key)
        if reader is None:
            field = message.by_name.get(key)
            if field is None:
                return None
            reader = message.readers[key] = _reader(field, key)
        return reader(self, self._content)


# --- Descriptors, as messages of their own. The numbers are those in google/protobuf/descriptor.proto.

_PACKAGE: Final = "clientgo"
_FILE_NAME, _FILE_PACKAGE, _FILE_DEPENDENCY, _FILE_MESSAGE = 1, 2, 3, 4
_MESSAGE_NAME, _MESSAGE_FIELD, _MESSAGE_NESTED = 1, 2, 3
_FIELD_NAME, _FIELD_NUMBER, _FIELD_LABEL, _FIELD_TYPE, _FIELD_TYPE_NAME = 1, 3, 4, 5, 6
_OPTIONAL, _REPEATED = 1, 3
_DOUBLE, _INT64, _BOOL, _MESSAGE, _BYTES = 1, 3, 8, 11, 12
_TYPES: Final = {Kind.BOOL: _BOOL, Kind.INT: _INT64, Kind.DOUBLE: _DOUBLE}


def _is_message(field: Field) -> bool:
    return field.kind == Kind.MESSAGE and field.shape != Shape.MAP


def _full_name(message: Message) -> str:
    return f"{_PACKAGE}.{_name(message)}"


def _name(message: Message) -> str:
    return message.name.replace(".", "_")


def _descriptor(parts: Sequence[tuple[int, bytes | int]]) -> bytes:
    return b"".join(
        put_varint(at << 3) + put_varint(value) if isinstance(value, int) else put_bytes(put_varint(at << 3 | 2), value)
        for at, value in parts
    )


def _message_descriptor(message: Message) -> bytes:
    parts: list[tuple[int, bytes | int]] = [(_MESSAGE_NAME, _name(message).encode())]
    for field in message.fields:
        name = attribute(field)
        if field.shape == Shape.MAP:
            entry = f"Entry{field.number}"
            value_type = _TYPES.get(field.kind, _BYTES)
            fields = [_field("key", 1, _OPTIONAL, _BYTES), _field("value", 2, _OPTIONAL, value_type)]
            nested: list[tuple[int, bytes | int]] = [(_MESSAGE_NAME, entry.encode())]
            nested += [(_MESSAGE_FIELD, each) for each in fields]
            described = _field(name, field.number, _REPEATED, _MESSAGE, f"{_full_name(message)}.{entry}")
            parts += [(_MESSAGE_NESTED, _descriptor(nested)), (_MESSAGE_FIELD, described)]
            continue
        label = _REPEATED if field.shape == Shape.LIST else _OPTIONAL
        if _is_message(field):
            described = _field(name, field.number, label, _MESSAGE, _full_name(field.message))
        else:
            described = _field(name, field.number, label, _TYPES.get(field.kind, _BYTES))
        parts.append((_MESSAGE_FIELD, described))
    return _descriptor(parts)


def _field(name: str, number: int, label: int, type_: int, type_name: str = "") -> bytes:
    parts: list[tuple[int, bytes | int]] = [(_FIELD_NAME, name.encode()), (_FIELD_NUMBER, number)]
    parts += [(_FIELD_LABEL, label), (_FIELD_TYPE, type_)]
    return _descriptor([*parts, (_FIELD_TYPE_NAME, f".{type_name}".encode())] if type_name else parts)


def attribute(field: Field) -> str:
    """Return the name of the field in the package's messages."""
    return f"f{field.number}"


# --- Readers: one for each field, made when it is first read.


def _reader(field: Field, key: str) -> Reader:
    if field.shape == Shape.LIST:
        return _list_reader(field)
    if field.shape == Shape.MAP:
        return _map_reader(field)
    if field.kind == Kind.MESSAGE:
        return _message_reader(field, key)
    if field.kind == Kind.STRING and field.drops_zero:
        return _text_reader(field)
    if field.kind in (Kind.BOOL, Kind.INT) and field.zero is not None:
        return _number_reader(field)
    return _value_reader(field)


def _text_reader(field: Field) -> Reader:
    name = attribute(field)

    def read_text(part: MessagePart, parsed: Any) -> Any:
        value = getattr(parsed, name)
        try:
            return value.decode() if value else None
        except UnicodeDecodeError:
            return utf8.decode(value)

    return read_text


def _number_reader(field: Field) -> Reader:
    name, drops_zero = attribute(field), field.drops_zero

    def read_number(part: MessagePart, parsed: Any) -> Any:
        value = getattr(parsed, name)
        return value if value or not drops_zero else None

    return read_number


def _value_reader(field: Field) -> Reader:
    name, kind, drops_zero = attribute(field), field.kind, field.drops_zero

    def read_value(part: MessagePart, parsed: Any) -> Any:
        if not parsed.HasField(name):
            return part.absent(field, field.json)
        value = getattr(parsed, name)
        if kind == Kind.STRING:
            return utf8.decode(value)
        if kind in (Kind.BOOL, Kind.INT, Kind.DOUBLE):
            value = number(value) if kind == Kind.DOUBLE else value
            return value if value or not drops_zero else None
        value = leaf(field, value, 0, len(value))
        return part.keep(field.json, value) if isinstance(value, (dict, list)) else value

    return read_value


def _message_reader(field: Field, key: str) -> Reader:
    name, message = attribute(field), field.message

    if not field.json:

        def read_embedded(part: MessagePart, parsed: Any) -> Any:
            if not parsed.HasField(name):
                return part.absent(field, key)
            return part.embedded(message, getattr(parsed, name), key)

        return read_embedded

    def read_message(part: MessagePart, parsed: Any) -> Any:
        if not parsed.HasField(name):
            return part.absent(field, key)
        return part.keep(key, part.inner(message, getattr(parsed, name)))

    return read_message


def _list_reader(field: Field) -> Reader:
    name, key, kind = attribute(field), field.json, field.kind

    def read_list(part: MessagePart, parsed: Any) -> Any:
        values = getattr(parsed, name)
        if not values:
            return part.absent(field, key)
        if kind == Kind.MESSAGE:
            return part.keep(key, MessageListPart(part, field.message, values))
        if kind in (Kind.BOOL, Kind.INT):
            return part.keep(key, [*values])
        if kind == Kind.DOUBLE:
            return part.keep(key, [number(value) for value in values])
        return part.keep(key, [element(field, value) for value in values])

    return read_list


def _map_reader(field: Field) -> Reader:
    name, key, kind = attribute(field), field.json, field.kind

    def read_map(part: MessagePart, parsed: Any) -> Any:
        entries = getattr(parsed, name)
        if not entries:
            return part.absent(field, key)
        if kind == Kind.STRING:
            try:
                found = {entry.key.decode(): entry.value.decode() for entry in entries}
            except UnicodeDecodeError:
                found = {utf8.decode(entry.key): utf8.decode(entry.value) for entry in entries}
        elif kind in (Kind.BOOL, Kind.INT):
            found = {utf8.decode(entry.key): entry.value for entry in entries}
        elif kind == Kind.DOUBLE:
            found = {utf8.decode(entry.key): number(entry.value) for entry in entries}
        else:
            found = {utf8.decode(entry.key): element(field, entry.value) for entry in entries}
        return part.keep(key, found)

    return read_map



__all__ = ["LOOKUP", "Engine", "Lookup", "ParsedPart", "attribute", "parsed_part", "texts_of"]
