"""Objects as Kubernetes' protobuf. Mirrors runtime/serializer/protobuf/protobuf.go.

Differs: a message is converted to a JSON document, so the object is the same in both formats. Fields that this version
does not know survive, and so do strings that are not valid UTF-8 (see `decoding`). There is no RawSerializer, because
no body has a message without an envelope.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.error import new_missing_kind_err, new_missing_version_err
from clientgo.apimachinery.runtime.object import ListObject, Object, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, from_api_version_and_kind
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer.json import JSONSerializer, written_kind
from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message
from clientgo.apimachinery.runtime.serializer.protobuf.encoding import encode_message
from clientgo.apimachinery.runtime.serializer.protobuf.message_source import (
    Common,
    common,
    cut,
    message_source,
    refusal,
)
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Kind, Message, message_of
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    WireError,
    put_bytes,
    put_varint,
    spans,
    varint,
)
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_PROTOBUF
from clientgo.apimachinery.runtime.unknown_fields import UnknownFields
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.golang import utf8
from clientgo.golang.strconv import quote

# The beginning of every object, which no JSON text has.
MAGIC: Final = b"k8s\0"
# The end of an envelope after the message: empty fields for its encoding and its type.
ENVELOPE_END: Final = b"\x1a\0\x22\0"

_TYPE_META, _RAW, _CONTENT_ENCODING, _CONTENT_TYPE = 1, 2, 3, 4

# The parts of an event as servers write it: the tags before its type, its object and the RawExtension's content; the
# start of its object, the tag of the message, and the end.
_EVENT: Final = (1 << 3 | BYTES, 2 << 3 | BYTES, 1 << 3 | BYTES)
_MAGIC_AND_TYPE: Final = MAGIC + bytes((_TYPE_META << 3 | BYTES,))
_RAW_TAG: Final = _RAW << 3 | BYTES
_NO_CONTENT: Final = (ENVELOPE_END, b"")


class Envelope(NamedTuple):
    """A runtime.Unknown: what stands around the message of an object."""

    api_version: str
    kind: str
    # Where the message begins and ends.
    begin: int
    end: int


def read_envelope(data: bytes, at: int = 0, end: int | None = None) -> Envelope:
    """Read the envelope in `data` from `at` to `end`: the object's kind and where its message is. Raises WireError."""
    end = len(data) if end is None else end
    if at == end:
        raise WireError("empty data")
    if not data.startswith(MAGIC, at, end):
        expected = " ".join(map(str, MAGIC))
        raise WireError(f"provided data does not appear to be a protobuf message, expected prefix [{expected}]")
    if at + len(MAGIC) == end:
        raise WireError("empty body")
    names = {1: "", 2: ""}
    begin = stop = end
    for number, wire_type, start, finish in spans(data, at + len(MAGIC), end):
        if wire_type != BYTES:
            raise WireError(f"proto: wrong wireType = {wire_type} for field {number} of Unknown")
        if number == _TYPE_META:
            names |= {each: utf8.decode(data[first:last])
                      for each, wire, first, last in spans(data, start, finish) if wire == BYTES}  # fmt: skip
        elif number == _RAW:
            begin, stop = start, finish
        elif number == _CONTENT_ENCODING and start < finish:
            raise WireError(f"content encoding {data[start:finish]!r} is not supported")
        elif number == _CONTENT_TYPE and data[start:finish] not in (b"", CONTENT_TYPE_PROTOBUF.encode()):
            raise WireError(f"content type {data[start:finish]!r} is not supported")
    return Envelope(names[1], names[2], begin, stop)


def wrap(message: bytes, api_version: str, kind: str) -> bytes:
    """Return an object's message in its envelope."""
    return b"".join((begin_envelope(api_version, kind), put_varint(len(message)), message, ENVELOPE_END))


@lru_cache(1000)
def begin_envelope(api_version: str, kind: str) -> bytes:
    """Return the beginning of an envelope, up to the length of the message."""
    type_meta = put_bytes(b"\n", utf8.encode(api_version)) + put_bytes(b"\x12", utf8.encode(kind))
    return b"".join((MAGIC, put_bytes(b"\n", type_meta), b"\x12"))


class ProtobufSerializer:
    """A serializer of the kinds of a scheme that have messages: all built-in ones. Go: protobuf.Serializer.

    It treats documents like JSONSerializer. Thread-safe.
    """

    def __init__(
        self,
        scheme: Scheme,
        documents: JSONSerializer,
        version: GroupVersion | None = None,
        *,
        expected: type[Object] | None = None,
    ) -> None:
        self._scheme = scheme
        self._expected = expected
        # What makes objects of documents.
        self._documents = documents
        self._version = version
        # By the TypeMeta of their envelopes, the kinds that came in events. Only grows.
        self._kinds: dict[bytes, tuple[type[Object], Common]] = {}

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """See runtime.Decoder. Raises WireError, which is a ValueError."""
        envelope = read_envelope(data)
        gvk = _kind_of(envelope, defaults, into)
        if isinstance(into, type) and gvk == into.GROUP_VERSION_KIND:
            found = self._decode_in_place(data, envelope, gvk, into)
            if found is not None:
                return found, gvk
        return self._documents.decode_document(self._document(data, envelope, gvk, into), into), gvk

    def _decode_in_place(
        self, data: bytes, envelope: Envelope, gvk: GroupVersionKind, into: type[Object]
    ) -> Object | None:
        """Return an object (or list) that reads its fields from the message, or None when it must be decoded
        immediately.
        """
        if issubclass(into, ListObject):
            return self._list(data, envelope, gvk, into)
        if not issubclass(into, ResourceObject):
            return None
        message = self._message_for(gvk, into)
        source = message_source(message, data[envelope.begin : envelope.end], self._common(message, gvk))
        return None if source is None else into.from_source(source)

    def _common(self, message: Message, gvk: GroupVersionKind) -> Common:
        """Return the state that objects of the kind share when they come from this decoder."""
        return common(message, *(("", "") if self._documents.strips else gvk.to_api_version_and_kind()))

    def _list(self, data: bytes, envelope: Envelope, gvk: GroupVersionKind, into: type[ListObject]) -> Object | None:
        message, item = self._message_for(gvk, into), into.ITEM
        items = message.by_name.get("items")
        if item is None or items is None or items.kind != Kind.MESSAGE:
            return None
        parts, rest = cut(items, data, envelope.begin, envelope.end)
        found = [message_source(items.message, part) for part in parts]
        document = _decoded(message, rest)
        if type(document) is UnknownFields or None in found:
            return None
        if not self._documents.strips:
            document["apiVersion"], document["kind"] = gvk.to_api_version_and_kind()
        return into.of_items(document, [item.from_source(each) for each in found if each is not None])

    def decode_event(self, data: bytes) -> tuple[str, Object]:
        """Return the type and the object of a metav1.WatchEvent. Raises WireError."""
        found = self._plain_event(data)
        if found is not None:
            return found
        event_type = b""
        begin = end = 0
        for number, wire_type, start, stop in spans(data, 0, len(data)):
            if number == 1 and wire_type == BYTES:
                event_type = data[start:stop]
            elif number == 2 and wire_type == BYTES:
                # A RawExtension, which holds nothing else.
                for inner, wire, first, last in spans(data, start, stop):
                    if inner == 1 and wire == BYTES:
                        begin, end = first, last
        envelope = read_envelope(data, begin, end)
        gvk = _kind_of(envelope, None, None)
        obj = self._documents.decode_document(self._document(data, envelope, gvk))
        if gvk == type(obj).GROUP_VERSION_KIND and isinstance(obj, ResourceObject):
            # From now on the others of its kind stay messages.
            self._kinds[self._type_meta(envelope)] = type(obj), self._common(self._message_for(gvk), gvk)
        return event_type.decode("utf-8", "replace"), obj

    def _plain_event(self, data: bytes) -> tuple[str, Object] | None:
        """Decode an event that is written as every server does, with an object of a kind that came before.

        Returns None for all others, and for malformed ones. Raises WireError for a malformed object.
        """
        try:
            # WatchEvent: the type, and the object in a RawExtension, which holds a runtime.Unknown.
            name_end = 2 + data[1]
            size, at = varint(data, name_end + 1)
            inner, unknown = varint(data, at + 1)
            if (data[0], data[name_end], data[at], at + size, unknown + inner) != (*_EVENT, len(data), len(data)):
                return None
            if not data.startswith(_MAGIC_AND_TYPE, unknown):
                return None
            begin = unknown + len(_MAGIC_AND_TYPE)
            message_at = begin + 1 + data[begin]
            known = self._kinds.get(data[begin + 1 : message_at])
            if known is None or data[message_at] != _RAW_TAG:
                return None
            size, begin = varint(data, message_at + 1)
        except (IndexError, WireError):
            return None
        end = begin + size
        if end > len(data) or data[end:] not in _NO_CONTENT:
            return None
        cls, shared = known
        source = message_source(shared.message, data[begin:end], shared)
        return None if source is None else (data[2:name_end].decode("utf-8", "replace"), cls.from_source(source))

    @staticmethod
    def _type_meta(envelope: Envelope) -> bytes:
        """Return the TypeMeta as every server writes it."""
        return put_bytes(b"\n", utf8.encode(envelope.api_version)) + put_bytes(b"\x12", utf8.encode(envelope.kind))

    def _document(
        self,
        data: bytes,
        envelope: Envelope,
        gvk: GroupVersionKind,
        into: Object | type[Object] | None = None,
    ) -> JSONObject:
        """Return the document of the object in the envelope. Raises WireError."""
        document = _decoded(self._message_for(gvk, into), data[envelope.begin : envelope.end])
        document["apiVersion"], document["kind"] = gvk.to_api_version_and_kind()
        # Servers' lists without items have an empty list of them, which no message can say.
        if document.get("items", ()) is None and issubclass(self._class_for(gvk, into), ListObject):
            document["items"] = []
        return document

    def _class_for(self, gvk: GroupVersionKind, into: Object | type[Object] | None) -> type[Object]:
        """Return the class of a kind. For a kind outside the scheme this is the class of `into`, or the expected class.
        """
        if not self._scheme.recognizes(gvk):
            for cls in (into if isinstance(into, type) else type(into), self._expected):
                if cls is not None and issubclass(cls, Object) and gvk == cls.GROUP_VERSION_KIND:
                    return cls
        return self._scheme.class_for(gvk)

    def _message_for(self, gvk: GroupVersionKind, into: Object | type[Object] | None = None) -> Message:
        cls = self._class_for(gvk, into)
        message = message_of(cls)
        if message is None:
            raise _not_marshalable(cls)
        return message

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        """See runtime.Decoder."""
        return self._documents.decode_document(document, into)

    def encode(self, obj: Object) -> bytes:
        """Return the object in its envelope. Raises ValueError for a kind without a message and for values it cannot
        hold.
        """
        own = type(obj).GROUP_VERSION_KIND
        message = message_of(type(obj))
        if own is None or message is None:
            raise _not_marshalable(type(obj))
        written = self._scheme.unversioned_kind(type(obj)) or written_kind(own, self._version)
        api_version, kind = written.to_api_version_and_kind()
        return wrap(encode_message(message, document_of(obj)), api_version, kind)

    def identifier(self) -> str:
        """Return the text that identifies the encoding. Go: Identifier."""
        return f"protobuf:{self._version or ''}"

    def stripping(self) -> ProtobufSerializer:
        """Return a decoder whose objects have no apiVersion and kind."""
        return ProtobufSerializer(self._scheme, self._documents.stripping(), self._version, expected=self._expected)

    def expecting(self, cls: type[Object]) -> ProtobufSerializer:
        """See runtime.Decoder."""
        return ProtobufSerializer(self._scheme, self._documents.expecting(cls), self._version, expected=cls)

    def writing(self, version: GroupVersion | None) -> ProtobufSerializer:
        """Return an encoder for a client of `version`."""
        return ProtobufSerializer(self._scheme, self._documents, version, expected=self._expected)

    def __repr__(self) -> str:
        return f"<ProtobufSerializer {self._scheme!r}>"


def _decoded(message: Message, data: bytes) -> JSONObject:
    """Return the document of an object. Raises a WireError that names the object."""
    try:
        return decode_message(message, data)
    except WireError as err:
        raise refusal(message, data, err) from None


class _LengthDelimitedFramer:
    """Messages behind their lengths. The reader is the body itself: clientgo.rest.watch cuts it into frames."""

    def new_frame_reader(self, reader: Any) -> Any:
        return reader

    def new_frame_writer(self, writer: Any) -> Any:
        return writer


# Go: LengthDelimitedFramer.
LENGTH_DELIMITED_FRAMER: Final = _LengthDelimitedFramer()


def _kind_of(envelope: Envelope, defaults: GroupVersionKind | None, into: Any) -> GroupVersionKind:
    """Return the kind in the envelope; missing names come from the defaults, then from the object to fill.

    Raises the missing-kind or missing-version error when it is nowhere.
    """
    found = from_api_version_and_kind(envelope.api_version, envelope.kind)
    for own in (defaults, into.GROUP_VERSION_KIND if into is not None else None):
        if own is not None:
            version = own if own.version and not found.version else found
            found = version.group_version().with_kind(found.kind or own.kind)
    if found.kind and found.version:
        return found
    names = f"runtime.TypeMeta{{APIVersion:{quote(envelope.api_version)}, Kind:{quote(envelope.kind)}}}"
    raise new_missing_version_err(names) if found.kind else new_missing_kind_err(names)


def _not_marshalable(cls: type[Object]) -> ValueError:
    """Go: errNotMarshalable."""
    return ValueError(
        f"object {cls.__name__} does not implement the protobuf marshalling interface and cannot be encoded to a "
        "protobuf message"
    )
