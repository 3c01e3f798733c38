"""Objects as CBOR. Mirrors runtime/serializer/cbor/cbor.go.

Differs: bytes are read into the JSON document that they stand for, so the object is the same as from JSON, and wrong
types of a typed object's fields are found where JSON's are. The values of unknown fields are checked too. Go's byte
slices are base64 texts in documents: they are written as such, and Go's decoder accepts both forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from clientgo.apimachinery.apis.meta.v1.unstructured import UnstructuredList
from clientgo.apimachinery.runtime.converter import first_unknown_field
from clientgo.apimachinery.runtime.documents import replace_document
from clientgo.apimachinery.runtime.error import (
    new_missing_kind_err,
    new_missing_version_err,
    new_strict_decoding_error,
)
from clientgo.apimachinery.runtime.interfaces import SerializerInfo, StreamSerializerInfo, Unstructured
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, parse_group_version
from clientgo.apimachinery.runtime.serializer.cbor.framer import new_framer
from clientgo.apimachinery.runtime.serializer.cbor.internal import modes
from clientgo.apimachinery.runtime.serializer.json import JSONSerializer
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_CBOR
from clientgo.apimachinery.runtime.view import JSONObject

__all__ = [
    "SELF_DESCRIBED",
    "CBORSerializer",
    "Option",
    "Serializer",
    "new_serializer",
    "new_serializer_info",
    "read_document",
    "strict",
    "transcode",
]

SELF_DESCRIBED: Final = b"\xd9\xd9\xf7"
"""The first bytes of every encoded object: the tag "self-described CBOR" (RFC 8949, section 3.4.6)."""


@dataclass(frozen=True)
class _Options:
    strict: bool = False


Option: TypeAlias = Callable[[_Options], _Options]
"""An option of `new_serializer`. Go: Option."""


def strict(s: bool) -> Option:
    """Return the option to reject keys that are no fields of a typed object; False by default. Go: Strict."""
    return lambda options: replace(options, strict=s)


def transcode(s: bool) -> Option:
    """Return an option without effect: the raw content of RawExtensions is a JSON value here. Go: Transcode."""
    return lambda options: options


class CBORSerializer:
    """Reads and writes the kinds of a scheme. Thread-safe. Go: serializer, which has the interface Serializer."""

    def __init__(self, documents: JSONSerializer, options: _Options = _Options()) -> None:
        # Makes objects of documents, and documents of objects.
        self._documents = documents
        self._options = options

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        """See runtime.Decoder. Raises ValueError, EOFError for incomplete bytes, StrictDecodingError.

        Takes time and memory in proportion to the bytes, whatever lengths these claim.
        """
        cls = into if isinstance(into, type) else type(into)
        if into is not None and issubclass(cls, Unstructured):
            return _decode_unstructured(data, into)
        document, gvk = _read_typed(data, defaults, into)
        if defaults is not None:
            api_version, kind = gvk.to_api_version_and_kind()
            document["apiVersion"] = document.get("apiVersion") or api_version
            document["kind"] = document.get("kind") or kind
        obj = self._documents.decode_document(document, into)
        if self._options.strict:
            index = first_unknown_field(obj)
            if index is not None:
                raise new_strict_decoding_error([modes.UnknownFieldError(index)])
        return obj, gvk

    def decode_event(self, data: bytes) -> tuple[str, Object]:
        """Return the type and the object of a metav1.WatchEvent. Raises ValueError, EOFError."""
        event = modes.unmarshal_map(data) or {}
        event_type, document = event.get("type"), event.get("object")
        if not isinstance(event_type, str) or not isinstance(document, dict):
            raise ValueError("unable to decode to metav1.WatchEvent")
        return event_type, self._documents.decode_document(document)

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        """See runtime.Decoder."""
        return self._documents.decode_document(document, into)

    def encode(self, obj: Object) -> bytes:
        """Return the object with apiVersion and kind: the same bytes for equal objects. Raises ValueError.

        Raises UnknownFieldsError for fields that only protobuf can write.
        """
        return SELF_DESCRIBED + modes.encode(self._documents.written_document(obj))

    def encode_nondeterministic(self, obj: Object) -> bytes:
        """Return the object with its keys in any order. Raises as `encode` does. Go: EncodeNondeterministic."""
        return SELF_DESCRIBED + modes.encode_nondeterministic(self._documents.written_document(obj))

    @staticmethod
    def recognizes_data(data: bytes) -> bool:
        """Report whether the bytes begin as every encoded object does. Go: RecognizesData."""
        return data.startswith(SELF_DESCRIBED)

    @staticmethod
    def identifier() -> str:
        """Return the text that identifies the encoding. Go: Identifier."""
        return "cbor"

    def stripping(self) -> CBORSerializer:
        """Return a decoder whose objects have no apiVersion and kind."""
        return CBORSerializer(self._documents.stripping(), self._options)

    def expecting(self, cls: type[Object]) -> CBORSerializer:
        """See runtime.Decoder."""
        return CBORSerializer(self._documents.expecting(cls), self._options)

    def writing(self, version: GroupVersion | None) -> CBORSerializer:
        """Return an encoder for a client of `version`."""
        return CBORSerializer(self._documents.writing(version), self._options)

    def __repr__(self) -> str:
        return f"<CBORSerializer of {self._documents!r}>"


Serializer: TypeAlias = CBORSerializer
"""The result of `new_serializer`. Go: Serializer."""


def new_serializer(documents: JSONSerializer, *options: Option) -> Serializer:
    """Return a serializer of the kinds of `documents`. Go: NewSerializer, which takes a creater and a typer."""
    chosen = _Options()
    for option in options:
        chosen = option(chosen)
    return CBORSerializer(documents, chosen)


def new_serializer_info(documents: JSONSerializer) -> SerializerInfo:
    """Return the entry of CBOR for the kinds of `documents`. Go: NewSerializerInfo."""
    media_type, _, sub_type = CONTENT_TYPE_CBOR.partition("/")
    serializer = new_serializer(documents)
    return SerializerInfo(
        media_type=CONTENT_TYPE_CBOR,
        media_type_type=media_type,
        media_type_sub_type=sub_type,
        serializer=serializer,
        strict_serializer=new_serializer(documents, strict(True)),
        stream_serializer=StreamSerializerInfo(
            encodes_as_text=False, serializer=serializer, framer=new_framer()
        ),
    )


def read_document(data: bytes) -> JSONObject:
    """Return the JSON object of one item of CBOR; null becomes an empty one.

    Raises ValueError with the text of Go's serializer, EOFError for incomplete bytes.
    """
    try:
        document = modes.unmarshal_map(data)
    except (ValueError, EOFError):
        _interpret(data)
        raise
    return {} if document is None else document


def _interpret(data: bytes) -> tuple[str, str]:
    """Return apiVersion and kind. Raises as `modes.interpret` does, with Go's prefix."""
    try:
        return modes.interpret(data)
    except (ValueError, EOFError) as err:
        raise ValueError(f"unable to determine group/version/kind: {err}") from err


def _decode_unstructured(data: bytes, into: Object | type[Object]) -> tuple[Object, GroupVersionKind]:
    """Return an unstructured object with the document. Raises ValueError, EOFError."""
    document = read_document(data)
    if issubclass(into if isinstance(into, type) else type(into), UnstructuredList):
        try:
            _complete_items(data, document)
        except ValueError:
            _interpret(data)
            raise
    api_version, kind = _text(document.get("apiVersion")), _text(document.get("kind"))
    try:
        gvk = parse_group_version(api_version).with_kind(kind)
    except ValueError:
        gvk = GroupVersionKind("", "", "")
    _require_kind(data, gvk)
    if isinstance(into, type):
        return into.from_dict(document), gvk
    replace_document(into, document)
    return into, gvk


def _complete_items(data: bytes, document: JSONObject) -> None:
    """Give the items of a list the kind that the list's kind implies, if they have none. Raises ValueError."""
    items = document.get("items", [])
    if not isinstance(items, list):
        raise ValueError("items field of UnstructuredList must be encoded as an array or null if present")
    api_version = _text(document.get("apiVersion"))
    kind = _text(document.get("kind")).removesuffix("List")
    for item in items:
        if not isinstance(item, dict):
            raise ValueError("elements of the items field of UnstructuredList must be encoded as a map")
        item["apiVersion"], item["kind"] = _text(item.get("apiVersion")), _text(item.get("kind"))
        if not item["apiVersion"] and not item["kind"]:
            item["apiVersion"], item["kind"] = api_version, kind
        if not item["kind"]:
            raise new_missing_kind_err(_shown(data))
        if not item["apiVersion"]:
            raise new_missing_version_err(_shown(data))
    document["items"] = items


def _read_typed(
    data: bytes, defaults: GroupVersionKind | None, into: Object | type[Object] | None
) -> tuple[JSONObject, GroupVersionKind]:
    """Return the document of an object and its kind. Raises ValueError, EOFError: for a missing kind before others."""
    try:
        document, is_plain = modes.read_map(data)
    except (ValueError, EOFError):
        _kind_of(data, *_interpret(data), defaults, into)
        raise
    document = document or {}
    api_version, kind = document.get("apiVersion"), document.get("kind")
    if not is_plain or not isinstance(api_version, str | None) or not isinstance(kind, str | None):
        api_version, kind = _interpret(data)
    return document, _kind_of(data, api_version or "", kind or "", defaults, into)


def _kind_of(
    data: bytes,
    api_version: str,
    kind: str,
    defaults: GroupVersionKind | None,
    into: Object | type[Object] | None,
) -> GroupVersionKind:
    """Return the kind with these names; missing ones come from the defaults, then from `into`. Raises ValueError."""
    try:
        gvk = parse_group_version(api_version).with_kind(kind)
    except ValueError:
        gvk = GroupVersionKind("", "", kind)
    for own in (defaults, into.GROUP_VERSION_KIND if into is not None else None):
        if own is not None:
            has_version = bool(gvk.version or (gvk.group and gvk.group != own.group))
            gvk = (gvk if has_version else own).group_version().with_kind(gvk.kind or own.kind)
    _require_kind(data, gvk)
    return gvk


def _require_kind(data: bytes, gvk: GroupVersionKind) -> None:
    if not gvk.kind:
        raise new_missing_kind_err(_shown(data))
    if not gvk.version:
        raise new_missing_version_err(_shown(data))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(data: bytes) -> str:
    """Return the bytes for an error message. Go: diagnose."""
    try:
        return modes.diagnose(data)
    except ValueError:
        return data.hex()
