"""The parts of objects that are still protobuf messages: the code that both engines share.

`walk` finds the fields of a message in its bytes, in plain Python. `upb` lets the `protobuf` package parse the whole
object. Both return for each field the value of the decoded document (see `decoding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import WireError, as_wire_error
from clientgo.apimachinery.runtime.source import JSONObject, ListPart, ObjectPart, Part
from clientgo.apimachinery.runtime.unknown_fields import LIST_META, OBJECT_META, UnknownFields
from clientgo.golang.strconv import quote

_METADATA: Final = frozenset((OBJECT_META, LIST_META))


class MessageOwner:
    """The object that a message belongs to."""

    __slots__ = ()

    def refused(self, err: WireError | IndexError, field: str = "") -> WireError:
        """Return the error for a malformed message, with the object and the field in its text."""
        raise NotImplementedError


class ObjectIdentity(MessageOwner):
    """The kind and the key of an object."""

    __slots__ = ("_key", "_message")

    def __init__(self, message: Message, key: str) -> None:
        self._message = message
        self._key = key

    def refused(self, err: WireError | IndexError, field: str = "") -> WireError:
        return WireError(str(as_wire_error(err).within(field)), f"{self._message.short_name} {quote(self._key)}")


class MessagePart(ObjectPart):
    """A message inside an object."""

    __slots__ = ("_content", "_message", "_owner")

    def __init__(self, owner: MessageOwner, message: Message, is_free: bool, content: Any) -> None:
        """Keep a message. `content` is the message in the engine's form."""
        super().__init__(is_free)
        self._owner = owner
        self._message = message
        self._content = content

    def bytes_of(self) -> bytes:
        """Return the message."""
        raise NotImplementedError

    def inner(self, message: Message, content: Any) -> MessagePart:
        """Return the part for a message in this one."""
        return type(self)(self._owner, message, self.is_free, content)

    def embedded(self, message: Message, content: Any, key: str) -> Any:
        """Read a field of an embedded struct, whose fields are those of the message around it."""
        value = self.inner(message, content).read(key)
        return self.keep(key, value) if isinstance(value, (Part, dict, list)) else value

    def absent(self, field: Field, key: str) -> Any:
        """Read a field that the message does not have."""
        value = absent(field, key)
        return self.keep(key, value) if isinstance(value, dict) else value

    def get(self, key: Any, default: Any = None) -> Any:
        written = self.written
        if written is not None:
            return written.get(key, default)
        value = self.kept.get(key)
        if value is None:
            try:
                value = self.read(key)
            except (WireError, IndexError) as err:
                raise self._refused(err, key) from None
        return default if value is None else value

    def decode(self) -> JSONObject:
        try:
            document = decode_message(self._message, self.bytes_of())
        except WireError as err:
            raise self._refused(err, "") from None
        if type(document) is not UnknownFields:
            return document
        # The object keeps the unknown fields of its metadata, and the mark that a deeper message has some.
        return document if document.fields and self._message.name not in _METADATA else dict(document)

    def _refused(self, err: WireError | IndexError, key: str) -> WireError:
        return self._owner.refused(err, ".".join(filter(None, (self._message.short_name, key))))


class MessageListPart(ListPart):
    """A list of messages inside an object. Does not refer to the part around it, which refers to this one."""

    __slots__ = ("_class", "_contents", "_message", "_owner")

    def __init__(self, within: MessagePart, message: Message, contents: Sequence[Any]) -> None:
        """Keep a list of messages. `contents` are the messages in the form of the engine of `within`."""
        super().__init__(within.is_free)
        self._class = type(within)
        self._owner = within._owner
        self._message = message
        self._contents = contents

    def size(self) -> int:
        return len(self._contents)

    def read(self, key: int) -> Any:
        return self.keep(key, self._class(self._owner, self._message, self.is_free, self._contents[key]))


def absent(field: Field, key: str) -> Any:
    """Return the document's value for a field that is missing in the message."""
    if not field.json:  # A field of an embedded struct.
        return absent(field.message.by_name[key], key)
    if field.kind == Kind.MESSAGE and field.shape == Shape.ONE and field.is_shown and field.always:
        return decode_message(field.message, b"")
    return field.zero if field.is_shown else None
