"""Encoding and decoding in one call, codecs made of codecs, and the choice of the version. Mirrors runtime/codec.go.

Differs: the parameter codec is in parameters.py.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Final

from clientgo.apimachinery.runtime.interfaces import (
    API_VERSION_INTERNAL,
    Codec,
    Decoder,
    Encoder,
    GroupVersioner,
    ObjectCreater,
    ObjectTyper,
    Serializer,
    SerializerInfo,
)
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.parameters import new_parameter_codec
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.view import JSONObject

__all__ = [
    "DISABLED_GROUP_VERSIONER",
    "INTERNAL_GROUP_VERSIONER",
    "NoopDecoder",
    "NoopEncoder",
    "decode",
    "decode_into",
    "encode",
    "encode_or_die",
    "new_base64_serializer",
    "new_codec",
    "new_coercing_multi_group_versioner",
    "new_multi_group_versioner",
    "new_parameter_codec",
    "serializer_info_for_media_type",
    "use_or_create_object",
]


class _Encoding:
    """Half a serializer: writes as another encoder does."""

    encoder: Encoder

    def encode(self, obj: Object) -> bytes:
        return self.encoder.encode(obj)

    def identifier(self) -> str:
        return self.encoder.identifier()


class _Decoding:
    """Half a serializer: reads as another decoder does."""

    decoder: Decoder

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        return self.decoder.decode(data, defaults, into)

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        return self.decoder.decode_document(document, into)

    def expecting(self, cls: type[Object]) -> Decoder:
        return self.decoder.expecting(cls)


class _Codec(_Encoding, _Decoding):
    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        self.encoder = encoder
        self.decoder = decoder


def new_codec(encoder: Encoder, decoder: Decoder) -> Codec:
    """Return a codec that encodes with `encoder` and decodes with `decoder`. Go: NewCodec."""
    return _Codec(encoder, decoder)


def encode(encoder: Encoder, obj: Object) -> bytes:
    """Return the object's bytes. Raises the encoder's errors. Go: Encode."""
    return encoder.encode(obj)


def decode(decoder: Decoder, data: bytes) -> Object:
    """Return the object in `data`. Raises the decoder's errors. Go: Decode."""
    return decoder.decode(data)[0]


def decode_into(decoder: Decoder, data: bytes, into: Object) -> None:
    """Fill `into`. Raises ValueError when `data` is of another kind. Go: DecodeInto."""
    obj, gvk = decoder.decode(data, None, into)
    if obj is not into:
        raise ValueError(f"unable to decode {gvk} into {type(into).__name__}")


def encode_or_die(encoder: Encoder, obj: Object) -> str:
    """Return the object as text, for tests. Raises the encoder's errors, where Go panics. Go: EncodeOrDie."""
    return encoder.encode(obj).decode()


def use_or_create_object(
    typer: ObjectTyper, creater: ObjectCreater, gvk: GroupVersionKind, obj: Object | None
) -> Object:
    """Return `obj` if it is of that kind, otherwise a new object. Raises for an unknown kind or class.

    Go: UseOrCreateObject.
    """
    if obj is not None and gvk in typer.object_kinds(obj)[0]:
        return obj
    return creater.new(gvk)


class NoopEncoder(_Decoding):
    """A decoder that passes for a serializer. Go: NoopEncoder."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    def encode(self, obj: Object) -> bytes:
        """Raise TypeError."""
        raise TypeError(f"encoding is not allowed for this codec: {type(self.decoder).__name__}")

    def identifier(self) -> str:
        return "noop"


class NoopDecoder(_Encoding):
    """An encoder that passes for a serializer. Go: NoopDecoder."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """Raise TypeError, like every other decoding method of this class."""
        raise self._refusal()

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        raise self._refusal()

    def expecting(self, cls: type[Object]) -> Decoder:
        raise self._refusal()

    def _refusal(self) -> TypeError:
        return TypeError(f"decoding is not allowed for this codec: {type(self.encoder).__name__}")


class _Base64Serializer(_Codec):
    def encode(self, obj: Object) -> bytes:
        return base64.b64encode(self.encoder.encode(obj))

    def identifier(self) -> str:
        return json.dumps({"encoder": self.encoder.identifier(), "name": "base64"}, separators=(",", ":"))

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        return self.decoder.decode(base64.b64decode(data, validate=True), defaults, into)


def new_base64_serializer(encoder: Encoder, decoder: Decoder) -> Serializer:
    """Return a serializer that encodes the output of another in base64. Go: NewBase64Serializer."""
    return _Base64Serializer(encoder, decoder)


def serializer_info_for_media_type(types: list[SerializerInfo], media_type: str) -> tuple[SerializerInfo | None, bool]:
    """Return the entry of a media type and whether it exists. The entry of "" serves every other media type.

    Go: SerializerInfoForMediaType.
    """
    for wanted in (media_type, ""):
        for info in types:
            if info.media_type == wanted:
                return info, True
    return None, False


class _InternalGroupVersioner:
    """A GroupVersioner that chooses the internal version, whether or not it is registered."""

    def kind_for_group_version_kinds(self, kinds: list[GroupVersionKind]) -> tuple[GroupVersionKind, bool]:
        for gvk in kinds:
            if gvk.version == API_VERSION_INTERNAL:
                return gvk, True
        if kinds:
            return GroupVersionKind(kinds[0].group, API_VERSION_INTERNAL, kinds[0].kind), True
        return GroupVersionKind(), False

    def identifier(self) -> str:
        return "internal"


class _DisabledGroupVersioner:
    """Chooses nothing."""

    def kind_for_group_version_kinds(self, kinds: list[GroupVersionKind]) -> tuple[GroupVersionKind, bool]:
        return GroupVersionKind(), False

    def identifier(self) -> str:
        return "disabled"


INTERNAL_GROUP_VERSIONER: Final[GroupVersioner] = _InternalGroupVersioner()
DISABLED_GROUP_VERSIONER: Final[GroupVersioner] = _DisabledGroupVersioner()


@dataclass(frozen=True)
class _MultiGroupVersioner:
    """Chooses `target` for the accepted kinds, and with `coerce` for all others too."""

    target: GroupVersion
    accepted: tuple[GroupKind, ...]
    coerce: bool = False

    def kind_for_group_version_kinds(self, kinds: list[GroupVersionKind]) -> tuple[GroupVersionKind, bool]:
        for gvk in kinds:
            if any(self._accepts(accepted, gvk) for accepted in self.accepted):
                return self.target.with_kind(gvk.kind), True
        if self.coerce and kinds:
            return self.target.with_kind(kinds[0].kind), True
        return GroupVersionKind(), False

    @staticmethod
    def _accepts(accepted: GroupKind, gvk: GroupVersionKind) -> bool:
        return accepted.group == gvk.group and accepted.kind in ("", gvk.kind)

    def identifier(self) -> str:
        parts: dict[str, Any] = {
            "accepted": ",".join(map(str, self.accepted)),
            "coerce": "true" if self.coerce else "false",
            "name": "multi",
            "target": str(self.target),
        }
        return json.dumps(parts, separators=(",", ":"))


def new_multi_group_versioner(gv: GroupVersion, *group_kinds: GroupKind) -> GroupVersioner:
    """Return a GroupVersioner that chooses `gv` for the given kinds, even when they belong to other groups.

    A GroupKind without a kind stands for its whole group. Go: NewMultiGroupVersioner.
    """
    if not group_kinds or (len(group_kinds) == 1 and group_kinds[0].group == gv.group):
        return gv
    return _MultiGroupVersioner(gv, group_kinds)


def new_coercing_multi_group_versioner(gv: GroupVersion, *group_kinds: GroupKind) -> GroupVersioner:
    """Return a GroupVersioner that chooses `gv` for the given kinds, and otherwise for the object's first kind.

    Go: NewCoercingMultiGroupVersioner.
    """
    return _MultiGroupVersioner(gv, group_kinds, coerce=True)
