"""The codecs of a scheme. Mirrors runtime/serializer/codec_factory.go.

Differs: there are no internal versions, so no codec converts. Protobuf is only used on request, as by typed clients of
built-in groups. It is smaller on the wire; it is cheaper than JSON for a program that reads a few fields of an object,
and more expensive for a program that reads all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from clientgo.apimachinery.runtime.interfaces import Decoder, Encoder, SerializerInfo, StreamSerializerInfo
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer.json import LINE_FRAMER, JSONSerializer, YAMLSerializer
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_PROTOBUF

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.serializer.cbor import CBORSerializer
    from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer

_JSON = "application/json"
_YAML = "application/yaml"

CodecFactoryOptionsMutator: TypeAlias = "Callable[[list[Callable[[JSONSerializer], SerializerInfo]]], None]"
"""An option of `new_codec_factory`. Go: CodecFactoryOptionsMutator."""


class CodecFactory:
    """Codecs for the kinds of one scheme. Go: serializer.CodecFactory."""

    def __init__(self, scheme: Scheme, *mutators: CodecFactoryOptionsMutator) -> None:
        self._scheme = scheme
        factories: list[Callable[[JSONSerializer], SerializerInfo]] = []
        for mutate in mutators:
            mutate(factories)
        self._protobuf: SerializerInfo | None = None
        self._serializer = JSONSerializer(scheme)
        self._info = SerializerInfo(
            media_type=_JSON,
            media_type_type="application",
            media_type_sub_type="json",
            encodes_as_text=True,
            serializer=self._serializer,
            stream_serializer=StreamSerializerInfo(
                encodes_as_text=True, serializer=self._serializer, framer=LINE_FRAMER
            ),
        )
        # Watches are not possible in YAML, as in Go.
        self._yaml = SerializerInfo(
            media_type=_YAML,
            media_type_type="application",
            media_type_sub_type="yaml",
            encodes_as_text=True,
            serializer=YAMLSerializer(scheme),
        )
        self._more = [factory(self._serializer) for factory in factories]

    def supported_media_types(self) -> list[SerializerInfo]:
        """Return the entry of JSON, the default of clients that name no media type, and those of `with_serializer`.

        Go: SupportedMediaTypes.
        """
        return [self._info, *self._more]

    def serializer_info(self, media_type: str) -> SerializerInfo | None:
        """See runtime.MoreMediaTypes: JSON, YAML and protobuf."""
        if media_type == CONTENT_TYPE_PROTOBUF:
            # Two threads may make two, which are the same.
            self._protobuf = self._protobuf or self._protobuf_info()
            return self._protobuf
        return {_JSON: self._info, _YAML: self._yaml}.get(media_type)

    def supports_protobuf(self, kind: GroupVersionKind) -> bool:
        """Report whether the kind's class has a protobuf message. No Go identifier: in Go, every class of a group has
        one.
        """
        from clientgo.apimachinery.runtime.serializer.protobuf import message_of

        return self._scheme.recognizes(kind) and message_of(self._scheme.class_for(kind)) is not None

    def _protobuf_info(self) -> SerializerInfo:
        # Loaded for those who use it.
        from clientgo.apimachinery.runtime.serializer.protobuf import LENGTH_DELIMITED_FRAMER, ProtobufSerializer

        serializer = ProtobufSerializer(self._scheme, self._serializer)
        return SerializerInfo(
            media_type=CONTENT_TYPE_PROTOBUF,
            media_type_type="application",
            media_type_sub_type="vnd.kubernetes.protobuf",
            serializer=serializer,
            stream_serializer=StreamSerializerInfo(
                encodes_as_text=False, serializer=serializer, framer=LENGTH_DELIMITED_FRAMER
            ),
        )

    def universal_deserializer(self) -> Decoder:
        """Return a decoder of every kind in the scheme that keeps apiVersion and kind. Go: UniversalDeserializer."""
        return self._serializer

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        """Return an encoder that converts to a version first. Go: EncoderForVersion."""
        return cast("JSONSerializer | ProtobufSerializer | CBORSerializer", serializer).writing(gv)

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        """Return a decoder that converts to a version. Go: DecoderToVersion."""
        return serializer

    def without_conversion(self) -> WithoutConversionCodecFactory:
        """Return a factory of codecs that convert no versions, for typed clients. Go: WithoutConversion."""
        return WithoutConversionCodecFactory(self)


class WithoutConversionCodecFactory:
    """Encodes with, and decodes without, apiVersion and kind. Go: WithoutConversionCodecFactory."""

    def __init__(self, factory: CodecFactory) -> None:
        self._factory = factory
        # By the serializer; only grows. Of two that threads make at once either will do.
        self._decoders: dict[Any, Decoder] = {}

    def supported_media_types(self) -> list[SerializerInfo]:
        return self._factory.supported_media_types()

    def serializer_info(self, media_type: str) -> SerializerInfo | None:
        """See runtime.MoreMediaTypes."""
        return self._factory.serializer_info(media_type)

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        return self._factory.encoder_for_version(serializer, gv)

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        # One for all requests, so that it learns the classes once.
        decoder = self._decoders.get(serializer)
        if decoder is None:
            known = cast("JSONSerializer | ProtobufSerializer | CBORSerializer", serializer)
            decoder = self._decoders[serializer] = known.stripping()
        return decoder


def with_serializer(factory: Callable[[JSONSerializer], SerializerInfo]) -> CodecFactoryOptionsMutator:
    """Return the option to support another media type, such as cbor.new_serializer_info. Go: WithSerializer."""
    return lambda factories: factories.append(factory)


def new_codec_factory(scheme: Scheme, *mutators: CodecFactoryOptionsMutator) -> CodecFactory:
    """Return a factory of codecs for the kinds of `scheme`. Go: NewCodecFactory."""
    return CodecFactory(scheme, *mutators)
