"""Objects that stay the messages they arrived in: a field is read from the bytes each time somebody asks for it.

No Go file: Go decodes all at once. A message is skipped by its lengths, so that `pod.status.phase` needs the lengths on
its path, and nothing is kept: no tree of dicts, nothing for the cyclic garbage collector to walk. What is read is what
the decoded document says (see `decoding`). A write turns the object into a document first, and so does a read that
slices cannot answer, such as of a message that came in two parts. Views that were read before follow.

When an object arrives, its own fields and those of its metadata are found to be well formed. What is wrong deeper in it
shows when it is read or decoded: as a WireError, which is a ValueError. (No server sends that.)
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Final, Self

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message, decode_places
from clientgo.apimachinery.runtime.serializer.protobuf.layout import Index, Layouts
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message
from clientgo.apimachinery.runtime.serializer.protobuf.sections import Section, section, span
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    WireError,
    as_wire_error,
    put_bytes,
    put_varint,
    spans,
)
from clientgo.apimachinery.runtime.undecoded import Undecoded, UndecodedObject
from clientgo.apimachinery.runtime.unknown_fields import OBJECT_META
from clientgo.apimachinery.runtime.view import JSONObject, StandIn
from clientgo.golang import utf8
from clientgo.golang.strconv import quote

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object

# What the machinery asks of every object, by the keys in ObjectMeta: taken out when it arrives.
_NAME, _NAMESPACE, _VERSION = 1 << 3 | BYTES, 3 << 3 | BYTES, 6 << 3 | BYTES


class Common:
    """What the objects of a kind have in common. Thread-safe: what two threads do at once costs one Places more."""

    __slots__ = ("message", "names", "places")

    def __init__(self, message: Message, api_version: str, kind: str) -> None:
        self.message = message
        # What their documents say of their kind, "" for nothing.
        self.names = api_version, kind
        # By the numbers of the two indexes, and where the metadata begins.
        self.places: dict[tuple[int, int, int], Places] = {}

    def places_of(self, index: Index, metadata_index: Index, begin: int) -> Places:
        """The one of all objects with these; see Places."""
        by = index.number, metadata_index.number, begin
        found = self.places.get(by)
        if found is None:
            if len(self.places) >= _MOST_PLACES:
                self.places = {}
            found = self.places[by] = Places(self, index, metadata_index, begin)
        return found


# By then most are of layouts that were forgotten.
_MOST_PLACES: Final = 1000


class Places:
    """What objects of a kind that are laid out alike have in common, so that each has one slot for it. Immutable."""

    __slots__ = ("begin", "common", "index", "message", "metadata_index", "names", "version_at")

    def __init__(self, common: Common, index: Index, metadata_index: Index, begin: int) -> None:
        self.common = common
        self.message, self.names = common.message, common.names
        # Where the fields are, and those of the metadata; None for what is not kept for many messages, and found anew.
        self.index = index if index.number else None
        self.metadata_index = metadata_index if metadata_index.number else None
        # Where the metadata begins.
        self.begin = begin
        # Where in the message the resource version is, as a slice; None if it may be anywhere.
        self.version_at: Any = None
        if metadata_index.number:
            at = metadata_index.header[2]
            self.version_at = slice(begin + at.start, begin + at.stop)

    def named(self, api_version: str, kind: str) -> Places:
        """The same of objects that say so of their kind, "" for nothing."""
        shared = common(self.message, api_version, kind)
        return shared.places_of(self.index or _ANYWHERE, self.metadata_index or _ANYWHERE, self.begin)


# The index of what is found anew.
_ANYWHERE: Final = Index()


# Programs may name objects as they like.
@lru_cache(1000)
def common(message: Message, api_version: str, kind: str) -> Common:
    """The one of all objects of that message which say so of their kind, "" for nothing."""
    return Common(message, api_version, kind)


class UndecodedMessage(UndecodedObject):
    """The message of one object."""

    __slots__ = ("_version", "data", "key", "namespace", "places")

    places: Places
    # The message, and nothing else.
    data: bytes
    # See UndecodedObject. The name is the end of the key, which is the one that a store has it under.
    key: str
    namespace: str
    # None for one that is ASCII and is read from the message: few callers ask for it after the object arrived.
    _version: str | None

    @property
    def version(self) -> str:
        version = self._version
        return self.data[self.places.version_at].decode() if version is None else version

    @property
    def index(self) -> Index | None:
        """See Places."""
        return self.places.index

    @property
    def metadata_index(self) -> Index | None:
        """See Places."""
        return self.places.metadata_index

    @property
    def object_name(self) -> str:
        return self.key[len(self.namespace) + 1 :] if self.namespace else self.key

    @property
    def message(self) -> Message:
        return self.places.message

    @property
    def api_version(self) -> str | None:
        return self.places.names[0] or None

    @property
    def kind(self) -> str | None:
        return self.places.names[1] or None

    def api_version_and_kind(self) -> tuple[str, str]:
        return self.places.names

    def name(self, api_version: str, kind: str) -> None:
        self.places = self.places.named(api_version, kind)

    def copy(self) -> Self:
        copied = type(self)()
        copied.places, copied.data, copied.decoded = self.places, self.data, None
        copied.key, copied.namespace, copied._version = self.key, self.namespace, self._version
        return copied

    def document(self) -> JSONObject:
        document: JSONObject = self.decoded_once()[0]
        return document

    def place(self, at: int) -> Any:
        """The part of the document that stood at `at`; see decode_places."""
        return self.decoded[at]

    def decode(self) -> dict[int, Any]:
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

    def refusal(self, err: WireError | IndexError, field: str = "") -> WireError:
        """The error for what is malformed, which names the object and the field."""
        return _of(self.message, self.key, as_wire_error(err).within(field))

    def without(self, key: str) -> Self | None:
        metadata = self.message.by_name["metadata"]
        field = metadata.message.by_name[key]
        try:
            parts, rest = cut(metadata, self.data, 0, len(self.data))
            if len(parts) != 1:
                return None
            removed, kept = cut(field, parts[0], 0, len(parts[0]))
        except WireError as err:
            raise self.refusal(err, "metadata") from None
        if not removed:
            return self
        copied = self.copy()
        copied.data = put_bytes(put_varint(metadata.key), kept) + rest
        copied.places = self.places.common.places_of(_ANYWHERE, _ANYWHERE, 0)
        copied._version = self.version
        return copied

    def says_the_same(self, other: Undecoded | None) -> bool:
        # The cheap way out for copies, which share the bytes; all others are compared as documents.
        return (
            isinstance(other, UndecodedMessage)
            and self.data == other.data
            and self.places.common is other.places.common
        )

    def meta(self, key: str) -> Any:
        if key == "resourceVersion":
            return self.version or None
        metadata = section(None, self).get("metadata")
        value = None if metadata is None else metadata.get(key)
        return value.plain() if isinstance(value, StandIn) else value

    def metadata_of(self, obj: Object) -> Any:
        return self.part(obj, "metadata")

    def part(self, obj: Object, key: str) -> Any:
        pending, whole, parts = _RECENT.held
        if pending is not self:
            whole, parts = section(obj, self), {}
            _RECENT.held = self, whole, parts
        part: Any = parts.get(key)
        if part is None:
            part = self.kind if key == "kind" else self.api_version if key == "apiVersion" else whole.get(key)
            if type(part) is Section:
                if key == "metadata":
                    part.index = self.places.metadata_index
                parts[key] = part
        return part


class _Recent:
    """The object that was read last, and its parts: a handler reads more than one field of each.

    Replaced as one, and so by any thread without a lock; the parts, which threads may share, only grow.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: tuple[UndecodedMessage | None, Any, dict[str, Section]] = (None, None, {})


_RECENT: Final = _Recent()


# --- arriving


def undecoded_message(message: Message, data: bytes, shared: Common | None = None) -> UndecodedMessage | None:
    """An object of the message that `data` is; None for one that must be decoded at once. Raises WireError.

    `shared` is what it has in common with others of that message; without it, it says nothing of its kind.
    """
    try:
        whole = message.layouts.find(data)
        if whole.header is None:
            whole.header = _metadata_in(message, data, whole)
        at, layouts = whole.header
        if layouts is None:
            return None
        metadata = data[at]
        index = layouts.find(metadata)
        if index.header is None:
            index.header = tuple(_text_at(metadata, index.get(key)) for key in (_NAME, _NAMESPACE, _VERSION))
        name_at, namespace_at, version_at = index.header
        if shared is None:
            shared = common(message, "", "")
        # Written out: there are many objects.
        found = UndecodedMessage()
        found.places = places = shared.places.get((whole.number, index.number, at.start)) or shared.places_of(
            whole, index, at.start
        )
        found.data = data
        found.decoded = None
        try:
            namespace, name = metadata[namespace_at].decode(), metadata[name_at].decode()
        except UnicodeDecodeError:
            namespace, name = utf8.decode(metadata[namespace_at]), utf8.decode(metadata[name_at])
        # Interned, since many objects have the same.
        found.namespace = namespace = intern(namespace)
        found.key = f"{namespace}/{name}" if namespace else name
        version = metadata[version_at]
        found._version = None if places.version_at is not None and version.isascii() else utf8.decode(version)
        return found
    except (WireError, IndexError) as err:
        raise refusal(message, data, as_wire_error(err)) from None


def refusal(message: Message, data: bytes, err: WireError) -> WireError:
    """The error for an object whose message is malformed, which names it as far as that can be read."""
    metadata = message.by_name.get("metadata")
    if metadata is None or metadata.kind != Kind.MESSAGE or metadata.message.name != OBJECT_META:
        return WireError(str(err), message.short_name)
    found = {_NAME: "", _NAMESPACE: ""}
    with suppress(WireError):
        for number, wire_type, begin, stop in spans(data, 0, len(data)):
            if number << 3 | wire_type != metadata.key:
                continue
            for inner, wire, first, last in spans(data, begin, stop):
                found[inner << 3 | wire] = utf8.decode(data[first:last])
    return _of(message, "/".join(filter(None, (found[_NAMESPACE], found[_NAME]))), err)


def _of(message: Message, key: str, err: WireError) -> WireError:
    return WireError(str(err), f"{message.short_name} {quote(key)}")


def _metadata_in(message: Message, data: bytes, index: Index) -> tuple[slice, Layouts | None]:
    """Where an object has its metadata; no layouts when it must be decoded at once."""
    field = message.by_name.get("metadata")
    if field is None or field.kind != Kind.MESSAGE or field.message.name != OBJECT_META:
        return _NOWHERE, None
    at = index.get(field.key)
    if type(at) is list:  # All of them together are the metadata.
        return _NOWHERE, None
    return _NOWHERE if at is None else slice(*span(data, at)), field.message.layouts


_NOWHERE: Final = slice(0, 0)


def _text_at(data: bytes, at: Any) -> slice:
    """Where the text is whose field was found there; the last one counts."""
    return _NOWHERE if at is None else slice(*span(data, at[-1] if type(at) is list else at))


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


__all__ = ["UndecodedMessage", "cut", "refusal", "undecoded_message"]
