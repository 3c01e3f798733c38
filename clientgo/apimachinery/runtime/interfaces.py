"""What turns objects into bytes and back, as the clients see it. Mirrors runtime/interfaces.go.

Differs: encoders return bytes instead of writing to a stream, and a decoder also takes a document that is parsed
already (`decode_document`), since a watch event carries its object inside the JSON of the event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.view import JSONObject

# The version name of objects in no version; documents are never in it.
API_VERSION_INTERNAL = "__internal"

# Names an encoder, so that equal encodings can be cached.
Identifier = str


class GroupVersioner(Protocol):
    """Chooses the kind to write an object as."""

    def kind_for_group_version_kinds(self, kinds: list[GroupVersionKind]) -> tuple[GroupVersionKind, bool]: ...

    def identifier(self) -> Identifier: ...


class Encoder(Protocol):
    """Writes objects. Thread-safe."""

    def encode(self, obj: Object) -> bytes:
        """The object's bytes; the object is only read."""
        ...

    def identifier(self) -> Identifier: ...


class Decoder(Protocol):
    """Reads objects. Thread-safe."""

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """The object in `data` and its kind; fills `into` and returns it if the kind is its own.

        `into` may be a class: then a new object of it. `defaults` stands in for what `data` does not say. Raises
        ValueError for what is not an object, and the missing and not-registered errors.
        """
        ...

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        """The same for parsed JSON, which the object takes over without a copy."""
        ...

    def expecting(self, cls: type[Object]) -> Decoder:
        """A decoder that makes objects of `cls` of what it knows no other class for."""
        ...


class Serializer(Encoder, Decoder, Protocol):
    """Both directions of one format."""


# A serializer that also deals with versions.
Codec = Serializer


class ParameterCodec(Protocol):
    """Writes option objects as query parameters and reads them back."""

    def decode_parameters(self, parameters: dict[str, list[str]], version: GroupVersion, into: Object) -> None: ...

    def encode_parameters(self, obj: Object, to: GroupVersion) -> dict[str, list[str]]: ...


class Framer(Protocol):
    """Cuts a stream of bytes into frames of one object each."""

    def new_frame_reader(self, reader: Any) -> Any: ...

    def new_frame_writer(self, writer: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class StreamSerializerInfo:
    """How objects of a media type follow each other on a stream."""

    encodes_as_text: bool
    serializer: Serializer
    framer: Framer


@dataclass(frozen=True, kw_only=True)
class SerializerInfo:
    """A media type and what reads and writes it."""

    media_type: str
    media_type_type: str = ""
    media_type_sub_type: str = ""
    encodes_as_text: bool = False
    serializer: Serializer
    pretty_serializer: Serializer | None = None
    strict_serializer: Serializer | None = None
    stream_serializer: StreamSerializerInfo | None = None


class NegotiatedSerializer(Protocol):
    """The media types a client can speak, and encoders and decoders for a version."""

    def supported_media_types(self) -> list[SerializerInfo]: ...

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder: ...

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder: ...


class ClientNegotiator(Protocol):
    """Encoders and decoders by media type. Each raises NegotiateError for a media type it does not know."""

    def encoder(self, content_type: str, params: dict[str, str]) -> Encoder: ...

    def decoder(self, content_type: str, params: dict[str, str]) -> Decoder: ...

    def stream_decoder(self, content_type: str, params: dict[str, str]) -> tuple[Decoder, Serializer, Framer]:
        """(decoder of the objects, serializer of the events around them, framer of the stream)"""
        ...


class ObjectTyper(Protocol):
    """Knows the kinds of objects; a Scheme is one."""

    def object_kinds(self, obj: Object) -> tuple[list[GroupVersionKind], bool]: ...

    def recognizes(self, gvk: GroupVersionKind) -> bool: ...


class ObjectCreater(Protocol):
    """Makes empty objects of a kind; a Scheme is one."""

    def new(self, gvk: GroupVersionKind) -> Object: ...
