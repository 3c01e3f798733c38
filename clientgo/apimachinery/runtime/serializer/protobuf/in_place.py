"""Objects that stay the messages they arrived in: a field is read from the bytes each time somebody asks for it.

No Go file: Go decodes all at once. A message is skipped by its lengths, so that `pod.status.phase` needs the lengths on
its path, and nothing is kept: no tree of dicts, nothing for the cyclic garbage collector to walk. What is read is what
the decoded document says (see `decoding`). A write turns the object into a document first, and so does a read that
slices cannot answer, such as of a message that came in two parts. Views that were read before follow.

When an object arrives, its own fields and those of its metadata are found to be well formed. What is wrong deeper in it
shows when it is read or decoded: as a WireError, which is a ValueError. (No server sends that.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message, decode_places
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message
from clientgo.apimachinery.runtime.serializer.protobuf.sections import Section, section, span
from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, WireError, as_wire_error, spans
from clientgo.apimachinery.runtime.undecoded import Undecoded, UndecodedObject
from clientgo.apimachinery.runtime.view import JSONObject, StandIn
from clientgo.golang.strconv import quote

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object

_OBJECT_META: Final = "clientgo.apimachinery.apis.meta.v1.ObjectMeta"
# What the machinery asks of every object, with the keys in ObjectMeta: taken out when it arrives.
_HEADER: Final = (("name", 1 << 3 | BYTES), ("namespace", 3 << 3 | BYTES), ("resourceVersion", 6 << 3 | BYTES))
_IN_HEADER: Final = frozenset(name for name, _ in _HEADER)


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
        try:
            places = decode_places(self.message, self.data)
        except WireError as err:
            raise self.refusal(err) from None
        self.named(places[0])
        return places

    def snapshot(self, obj: Object) -> JSONObject:
        try:
            return self.named(decode_message(self.message, self.data))
        except WireError as err:
            raise self.refusal(err) from None

    def refusal(self, err: Exception, field: str = "") -> WireError:
        """The error for what is malformed, which names the object and the field."""
        name, namespace = self.header.get("name", ""), self.header.get("namespace")
        whose = f"{self.message.short_name} {quote(f'{namespace}/{name}' if namespace else name)}"
        return WireError(str(as_wire_error(err).within(field)), whose)

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

    def _whole(self, obj: Object | None) -> Section:
        return section(obj, self, self.message, self.data)

    def metadata_of(self, obj: Object) -> Any:
        return self.part(obj, "metadata")

    def part(self, obj: Object, key: str) -> Any:
        pending, whole, parts = _RECENT.held
        if pending is not self:
            whole, parts = self._whole(obj), {}
            _RECENT.held = self, whole, parts
        part: Any = parts.get(key)
        if part is None:
            part = self.kind if key == "kind" else self.api_version if key == "apiVersion" else whole.get(key)
            if type(part) is Section:
                parts[key] = part
        return part


class _Recent:
    """The object that was read last, and its parts: a handler reads more than one field of each.

    Replaced as one, and so by any thread without a lock.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: tuple[UndecodedMessage | None, Any, dict[str, Section]] = (None, None, {})


_RECENT: Final = _Recent()


# --- arriving


def undecoded_message(message: Message, data: bytes) -> UndecodedMessage | None:
    """An object of the message that `data` is; None for one that must be decoded at once. Raises WireError."""
    metadata = message.by_name.get("metadata")
    if metadata is None or metadata.kind != Kind.MESSAGE or metadata.message.name != _OBJECT_META:
        return None
    try:
        at = message.layouts.find(data).get(metadata.key)
        if type(at) is list:  # All of them together are the metadata.
            return None
        begin, end = (0, 0) if at is None else span(data, at)
        return UndecodedMessage(message, data, _header(metadata.message, data[begin:end]))
    except (IndexError, UnicodeDecodeError) as err:
        raise as_wire_error(err) from None


def _header(message: Message, data: bytes) -> dict[str, str]:
    index = message.layouts.find(data)
    header: dict[str, str] = {}
    for name, key in _HEADER:
        at = index.get(key)
        if at is not None:
            begin, end = span(data, at if type(at) is int else at[-1])
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
