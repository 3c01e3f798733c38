"""Content types, and objects of unknown kinds. Mirrors runtime/types.go, and a part of runtime/embedded.go.

Differs: a field of type RawExtension holds a plain JSON value here, so there is no such class, nor conversions to it.
"""

from __future__ import annotations

from typing import Any, Final, Self

from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.apimachinery.util.json import encode, unmarshal

CONTENT_TYPE_JSON: Final = "application/json"
CONTENT_TYPE_YAML: Final = "application/yaml"
CONTENT_TYPE_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
CONTENT_TYPE_CBOR: Final = "application/cbor"
CONTENT_TYPE_CBOR_SEQUENCE: Final = "application/cbor-seq"

# Go structs embed it to have apiVersion and kind; here that is what every object inherits.
TypeMeta = Object


class Unknown(Object):
    """An object that keeps the bytes it was received in. Go: runtime.Unknown.

    The caller sets `api_version` and `kind`; they need not agree with the bytes. `decode_list` turns such objects into
    decoded ones, and `encode_list` does the reverse.
    """

    __slots__ = ("content_encoding", "content_type", "raw")

    raw: bytes
    # How the bytes were compressed, "" for not at all.
    content_encoding: str
    # The media type of the bytes; "" if unspecified.
    content_type: str

    def __init__(
        self, raw: bytes = b"", *, content_encoding: str = "", content_type: str = "", **type_meta: Any
    ) -> None:
        super().__init__(**type_meta)
        self.raw = raw
        self.content_encoding = content_encoding
        self.content_type = content_type

    @classmethod
    def from_dict(cls, document: JSONObject) -> Self:
        """Return the document as JSON bytes, with its apiVersion and kind set."""
        raw = encode(document).encode()
        type_meta: dict[str, Any] = {"api_version": document.get("apiVersion"), "kind": document.get("kind")}
        return cls(raw, content_type=CONTENT_TYPE_JSON, **type_meta)

    def unmarshal_json(self, data: bytes) -> None:
        """Take over `data` unread, and forget apiVersion and kind. Go: UnmarshalJSON."""
        self._writable().clear()
        self.raw, self.content_encoding, self.content_type = data, "", CONTENT_TYPE_JSON

    def marshal_json(self) -> bytes:
        """Return the bytes, or "null" when empty. Raises ValueError for another content type than JSON. Go:
        MarshalJSON.
        """
        if self.content_type not in ("", CONTENT_TYPE_JSON):
            raise ValueError("runtime.Unknown: MarshalJSON on non-json data")
        return self.raw or b"null"

    def to_dict(self) -> JSONObject:
        """Return the JSON object in the bytes. Raises ValueError when the bytes hold something else."""
        document = unmarshal(self.marshal_json())
        if not isinstance(document, dict):
            raise ValueError("runtime.Unknown: not a JSON object")
        return document

    def deep_copy(self) -> Self:
        copy = type(self)(self.raw, content_encoding=self.content_encoding, content_type=self.content_type)
        copy._document.update(self._document)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.raw, self.content_encoding, self.content_type, dict(self._document))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unknown):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # mutable, compared by content

    def _state(self) -> tuple[Any, ...]:
        return self.raw, self.content_encoding, self.content_type, self._document

    def _repr_parts(self) -> Any:
        """Show the size but not the content of the bytes, which may be those of a Secret."""
        yield f"{len(self.raw)} bytes"
        if self.content_type:
            yield f"content_type={self.content_type!r}"


def _restored(raw: bytes, content_encoding: str, content_type: str, document: JSONObject) -> Unknown:
    unknown = Unknown(raw, content_encoding=content_encoding, content_type=content_type)
    unknown._document.update(document)
    return unknown
