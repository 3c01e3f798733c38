"""The serializers of dynamic clients, which decode all objects as Unstructured. Mirrors dynamic/scheme.go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from clientgo import features
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.error import new_missing_kind_err
from clientgo.apimachinery.runtime.interfaces import Decoder, Encoder, SerializerInfo, StreamSerializerInfo
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import LINE_FRAMER, JSONSerializer
from clientgo.apimachinery.runtime.text_source import TextSource
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.apimachinery.util.json import encode
from clientgo.golang.json import UnmarshalTypeError

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.serializer.cbor import CBORSerializer

_V1 = GroupVersion("", "v1")


class _UnstructuredSerializer(JSONSerializer):
    """A serializer that keeps documents unchanged. It knows only the kinds Status and options."""

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        kind = document.get("kind")
        if not kind:
            raise new_missing_kind_err(encode(document)[:1024])
        if isinstance(document.get("items"), list):
            _name_items(document)
        if into is not None:
            return super().decode_document(document, into)
        if kind == "Status" and document.get("apiVersion") == "v1":
            return metav1.Status.from_dict(document)
        cls = UnstructuredList if isinstance(document.get("items"), list) else Unstructured
        return cls.from_dict(document)

    def needs_version(self, into: Object | type[Object] | None) -> bool:
        return False

    def decode_lazily(self, text: TextSource) -> Object | None:
        if not text.kind or (text.kind == "Status" and text.api_version == "v1"):
            return None
        return Unstructured.from_source(text)

    def name_items(self, document: JSONObject, items: Sequence[TextSource]) -> None:
        item_kind, api_version = document["kind"].removesuffix("List"), document["apiVersion"]
        for item in items:
            if item.kind is None and item_kind != document["kind"]:
                item.kind, item.api_version = item_kind, api_version

    def expecting(self, cls: type[Object]) -> JSONSerializer:
        return self


def _name_items(document: JSONObject) -> None:
    """Set the kind of the items from their list's kind, since servers omit it for built-in types.

    Raises UnmarshalTypeError for an item that is not an object.
    """
    kind, api_version = document["kind"], document.get("apiVersion")
    if not isinstance(kind, str) or not kind.endswith("List"):
        return
    item_kind = kind.removesuffix("List")
    for item in document["items"]:
        if not isinstance(item, dict):
            raise UnmarshalTypeError(item, "unstructured.detector")
        if "kind" not in item:
            item["kind"] = item_kind
            item["apiVersion"] = api_version


@cache
def _serializer() -> _UnstructuredSerializer:
    """Return the serializer of all dynamic clients. Nothing changes its scheme."""
    scheme = Scheme("dynamic")
    metav1.add_to_group_version(scheme, _V1)
    return _UnstructuredSerializer(scheme)


class BasicNegotiatedSerializer:
    """Serializers without classes for kinds: of JSON, and of CBOR if its feature gate is enabled.

    Go: basicNegotiatedSerializer.
    """

    def __init__(self) -> None:
        self._serializer = _serializer()
        stream = StreamSerializerInfo(encodes_as_text=True, serializer=self._serializer, framer=LINE_FRAMER)
        self._infos = [
            SerializerInfo(
                media_type="application/json",
                media_type_type="application",
                media_type_sub_type="json",
                encodes_as_text=True,
                serializer=self._serializer,
                stream_serializer=stream,
            )
        ]
        if features.feature_gates().enabled(features.CLIENTS_ALLOW_CBOR):
            from clientgo.apimachinery.runtime.serializer import cbor  # Imported here: it needs the extra `cbor`.

            self._infos.append(cbor.new_serializer_info(self._serializer))

    def supported_media_types(self) -> list[SerializerInfo]:
        return self._infos

    def encoder_for_version(self, serializer: Encoder, gv: GroupVersion | None) -> Encoder:
        # The options of this scheme exist in one version only, regardless of the client's version.
        return cast("JSONSerializer | CBORSerializer", serializer).writing(_V1)

    def decoder_to_version(self, serializer: Decoder, gv: GroupVersion | None) -> Decoder:
        return serializer
