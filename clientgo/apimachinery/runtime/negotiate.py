"""Choosing an encoder or decoder by media type. Mirrors runtime/negotiate.go."""

from __future__ import annotations

from clientgo.apimachinery.runtime.interfaces import (
    ClientNegotiator,
    Decoder,
    Encoder,
    Framer,
    MoreMediaTypes,
    NegotiatedSerializer,
    Serializer,
    SerializerInfo,
)
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.klog.exceptions import operational_error


@operational_error
class NegotiateError(Exception):
    """No serializer reads or writes the media type."""

    def __init__(self, content_type: str, stream: bool = False) -> None:
        self.content_type = content_type
        self.stream = stream
        super().__init__(f"no {'stream ' if stream else ''}serializers registered for {content_type}")


class _ClientNegotiator:
    def __init__(self, serializer: NegotiatedSerializer, encode: GroupVersion | None) -> None:
        self._serializer = serializer
        self._encode = encode

    def encoder(self, content_type: str, params: dict[str, str]) -> Encoder:
        return self._serializer.encoder_for_version(self._info(content_type).serializer, self._encode)

    def decoder(self, content_type: str, params: dict[str, str]) -> Decoder:
        return self._serializer.decoder_to_version(self._info(content_type).serializer, None)

    def stream_decoder(self, content_type: str, params: dict[str, str]) -> tuple[Decoder, Serializer, Framer]:
        info = self._info(content_type, stream=True)
        stream = info.stream_serializer
        if stream is None:
            raise NegotiateError(info.media_type, stream=True)
        return self._serializer.decoder_to_version(info.serializer, None), stream.serializer, stream.framer

    def _info(self, content_type: str, *, stream: bool = False) -> SerializerInfo:
        media_types = self._serializer.supported_media_types()
        for info in media_types:
            if info.media_type == content_type:
                return info
        if isinstance(self._serializer, MoreMediaTypes):
            more = self._serializer.serializer_info(content_type)
            if more is not None:
                return more
        if content_type or not media_types:
            raise NegotiateError(content_type, stream)
        return media_types[0]


def new_client_negotiator(serializer: NegotiatedSerializer, gv: GroupVersion) -> ClientNegotiator:
    """Return a negotiator that encodes to `gv` and decodes every version. Go: NewClientNegotiator."""
    return _ClientNegotiator(serializer, gv)


class _SimpleNegotiatedSerializer:
    def __init__(self, info: SerializerInfo) -> None:
        self._info = info

    def supported_media_types(self) -> list[SerializerInfo]:
        return [self._info]

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        return serializer

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        return serializer


def new_simple_negotiated_serializer(info: SerializerInfo) -> NegotiatedSerializer:
    """Return a serializer for one media type that converts no versions. Go: NewSimpleNegotiatedSerializer."""
    return _SimpleNegotiatedSerializer(info)
