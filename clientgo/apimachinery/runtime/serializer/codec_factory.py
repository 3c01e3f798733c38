"""The codecs of a scheme. Mirrors runtime/serializer/codec_factory.go.

Differs: JSON is the only format, and there are no internal versions, so that every codec is one without conversion.
"""

from __future__ import annotations

from typing import cast

from clientgo.apimachinery.runtime.interfaces import Decoder, Encoder, SerializerInfo, StreamSerializerInfo
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer.json import LINE_FRAMER, JSONSerializer

_JSON = "application/json"


class CodecFactory:
    """Codecs for the kinds of one scheme (Go: serializer.CodecFactory)."""

    def __init__(self, scheme: Scheme) -> None:
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

    def supported_media_types(self) -> list[SerializerInfo]:
        """JSON (Go: SupportedMediaTypes)."""
        return [self._info]

    def universal_deserializer(self) -> Decoder:
        """Reads any kind of the scheme and leaves apiVersion and kind in place (Go: UniversalDeserializer)."""
        return self._serializer

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        """Go: EncoderForVersion."""
        return cast(JSONSerializer, serializer).writing(gv)

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        """Go: DecoderToVersion."""
        return serializer

    def without_conversion(self) -> WithoutConversionCodecFactory:
        """What typed clients use (Go: WithoutConversion)."""
        return WithoutConversionCodecFactory(self)


class WithoutConversionCodecFactory:
    """Encodes with, and decodes without, apiVersion and kind (Go: WithoutConversionCodecFactory)."""

    def __init__(self, factory: CodecFactory) -> None:
        self._factory = factory
        self._decoder: JSONSerializer | None = None

    def supported_media_types(self) -> list[SerializerInfo]:
        return self._factory.supported_media_types()

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        return self._factory.encoder_for_version(serializer, gv)

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        # One for all requests, so that it learns the classes once.
        if self._decoder is None:
            self._decoder = cast(JSONSerializer, serializer).stripping()
        return self._decoder


def new_codec_factory(scheme: Scheme) -> CodecFactory:
    """Codecs for the kinds of `scheme` (Go: NewCodecFactory)."""
    return CodecFactory(scheme)
