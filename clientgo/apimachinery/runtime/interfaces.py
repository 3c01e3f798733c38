"""Interfaces that turn objects into bytes and back, as the clients see them. Mirrors runtime/interfaces.go.

Differs: encoders return bytes instead of writing to a stream, and a decoder also takes a document that is parsed
already (`decode_document`), since a watch event carries its object inside the JSON of the event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.text_source import TextSource
from clientgo.apimachinery.runtime.view import JSONObject

# The version name of objects in no version; documents are never in it.
API_VERSION_INTERNAL = "__internal"

# Names an encoder, so that equal encodings can be cached.
Identifier = str


class GroupVersioner(Protocol):
    """A policy that chooses the kind in which an object is written."""

    def kind_for_group_version_kinds(self, kinds: list[GroupVersionKind]) -> tuple[GroupVersionKind, bool]: ...

    def identifier(self) -> Identifier: ...


class Encoder(Protocol):
    """Writes objects. Thread-safe."""

    def encode(self, obj: Object) -> bytes:
        """Return the object's bytes. Does not change the object."""
        ...

    def identifier(self) -> Identifier: ...


class Decoder(Protocol):
    """Reads objects. Thread-safe."""

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """Return the object in `data` and its kind. Fills `into` and returns it when both have the same kind.

        `into` may also be a class, for a new object of it. `defaults` supplies the group, version and kind that `data`
        omits.
        Raises ValueError when `data` is not an object, and the missing-kind, missing-version and not-registered errors.
        """
        ...

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        """Return an object of parsed JSON, which it takes over without a copy. Raises as `decode` does."""
        ...

    def expecting(self, cls: type[Object]) -> Decoder:
        """Return a decoder that also decodes the kind of `cls`, or any unregistered kind if `cls` names none."""
        ...


@runtime_checkable
class LazyDecoder(Protocol):
    """A decoder that can leave an object undecoded until it is read."""

    def decode_lazily(self, text: TextSource) -> Object | None:
        """Return an object that is decoded when it is read, or None when the caller must decode it immediately."""
        ...


@runtime_checkable
class EventDecoder(Decoder, Protocol):
    """A decoder of a format in which a watch sends frames rather than lines."""

    def decode_event(self, data: bytes) -> tuple[str, Object]:
        """Return the type and the object of the watch event in a frame. Raises ValueError."""
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
    """A factory of readers and writers that cut a stream of bytes into frames of one object each."""

    def new_frame_reader(self, reader: Any) -> Any: ...

    def new_frame_writer(self, writer: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class StreamSerializerInfo:
    """The framing of a media type's objects on a stream."""

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
    """The supported media types, and their encoders and decoders for a version."""

    def supported_media_types(self) -> list[SerializerInfo]: ...

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder: ...

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder: ...


@runtime_checkable
class MoreMediaTypes(Protocol):
    """A NegotiatedSerializer with more media types, which a config must request by name."""

    def serializer_info(self, media_type: str) -> SerializerInfo | None:
        """Return the serializer of the media type; None for an unknown one."""
        ...


class ClientNegotiator(Protocol):
    """Encoders and decoders by media type. Each raises NegotiateError for a media type it does not know."""

    def encoder(self, content_type: str, params: dict[str, str]) -> Encoder: ...

    def decoder(self, content_type: str, params: dict[str, str]) -> Decoder: ...

    def stream_decoder(self, content_type: str, params: dict[str, str]) -> tuple[Decoder, Serializer, Framer]:
        """Return the decoder of objects, the serializer of the events around them, and the framer of the stream."""
        ...


class StorageSerializer(Protocol):
    """Reads and writes the objects of a store; a CodecFactory is one."""

    def supported_media_types(self) -> list[SerializerInfo]: ...

    def universal_deserializer(self) -> Decoder:
        """Return a decoder that accepts every kind and does not convert it."""
        ...

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder: ...

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder: ...


class ObjectDefaulter(Protocol):
    """Fills in the defaults of objects; a Scheme is one."""

    def default(self, obj: Object) -> None: ...


class ObjectVersioner(Protocol):
    """A registry of object versions that converts between them. A Scheme is one."""

    def convert_to_version(self, obj: Object, target: GroupVersioner) -> Object: ...

    def prioritized_versions_for_group(self, group: str) -> list[GroupVersion]: ...


class ObjectConvertor(Protocol):
    """Makes objects of one version into those of another; a Scheme is one."""

    def convert(self, source: Any, target: Any, context: Any) -> None:
        """Fill `target` from `source`; raises when there is no way."""
        ...

    def convert_to_version(self, obj: Object, target: GroupVersioner) -> Object:
        """Return `obj` in the version that `target` chooses. May change `obj` and return it."""
        ...

    def convert_field_label(self, gvk: GroupVersionKind, label: str, value: str) -> tuple[str, str]: ...


class ObjectTyper(Protocol):
    """A registry of object kinds. A Scheme is one."""

    def object_kinds(self, obj: Object) -> tuple[list[GroupVersionKind], bool]: ...

    def recognizes(self, gvk: GroupVersionKind) -> bool: ...


class ObjectCreater(Protocol):
    """Makes empty objects of a kind; a Scheme is one."""

    def new(self, gvk: GroupVersionKind) -> Object: ...


class EquivalentResourceMapper(Protocol):
    """Finds resources that are views of the same objects: deployments of extensions/v1beta1 and of apps/v1."""

    def equivalent_resources_for(self, resource: GroupVersionResource, subresource: str) -> list[GroupVersionResource]:
        """Return all equivalent names of the resource, including itself, or [] when the resource is not registered."""
        ...

    def kind_for(self, resource: GroupVersionResource, subresource: str) -> GroupVersionKind:
        """Return the kind that the resource stores; an empty one for an unregistered resource."""
        ...


class EquivalentResourceRegistry(EquivalentResourceMapper, Protocol):
    """One that can be added to."""

    def register_kind_for(self, resource: GroupVersionResource, subresource: str, kind: GroupVersionKind) -> None: ...


class ResourceVersioner(Protocol):
    """Reads and writes resource versions of objects; a meta.MetadataAccessor is one."""

    def set_resource_version(self, obj: Object, version: str) -> None: ...

    def resource_version(self, obj: Object) -> str: ...


class Namer(Protocol):
    """Finds names of objects; a meta.MetadataAccessor is one."""

    def name(self, obj: Object) -> str: ...

    def namespace(self, obj: Object) -> str: ...


@runtime_checkable
class Unstructured(Protocol):
    """An object without declared fields: all its content is in reach as a document."""

    def new_empty_instance(self) -> Unstructured:
        """Return a new object that has the same apiVersion and kind and is otherwise empty."""
        ...

    def unstructured_content(self) -> JSONObject:
        """Return the object's own document, not a copy."""
        ...

    def set_unstructured_content(self, content: JSONObject) -> None:
        """Take over `content` as the document."""
        ...

    def is_list(self) -> bool: ...

    def each_list_item(self, func: Callable[[Any], Any]) -> None:
        """Call `func` with every item, until it raises."""
        ...

    def each_list_item_with_alloc(self, func: Callable[[Any], Any]) -> None:
        """Call `func` with every item, until it raises; the items do not keep the list alive."""
        ...
