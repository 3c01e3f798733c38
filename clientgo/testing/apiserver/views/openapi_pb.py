"""OpenAPI v2 in the protobuf form that kubectl asks for (gnostic's openapi.v2.Document), encoded by hand.

Only what clients read is encoded: the definitions, and of the paths the patch operations with their parameters, from
which kubectl learns that the server validates fields itself.
"""

from __future__ import annotations

import struct
from typing import Any

from clientgo.golang import utf8
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text

MEDIA_TYPES = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _text(field: int, text: str) -> bytes:
    return _bytes(field, utf8.to_valid(text).encode()) if text else b""


def _bool(field: int, value: Any) -> bytes:
    return _varint(field << 3) + b"\x01" if value else b""


def _int(field: int, value: int | None) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _double(field: int, value: float | None) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value) if value else b""


def _any(value: Any) -> bytes:
    """Return a value as an Any, which holds YAML; JSON is valid YAML."""
    return _text(2, dumps_text(value))


def _named(name: str, value: bytes) -> bytes:
    return _text(1, name) + _bytes(2, value)


def _extensions(field: int, doc: Json) -> bytes:
    return b"".join(_bytes(field, _named(name, _any(doc[name]))) for name in sorted(doc) if name.startswith("x-"))


def _schema(doc: Json) -> bytes:
    kind = doc.get("type")
    more = doc.get("additionalProperties")
    items = doc.get("items")
    parts = [
        _text(1, doc.get("$ref", "")),
        _text(2, doc.get("format", "")),
        _text(3, doc.get("title", "")),
        _text(4, doc.get("description", "")),
        _bytes(5, _any(doc["default"])) if "default" in doc else b"",
        _double(6, doc.get("multipleOf")),
        _double(7, doc.get("maximum")),
        _bool(8, doc.get("exclusiveMaximum")),
        _double(9, doc.get("minimum")),
        _bool(10, doc.get("exclusiveMinimum")),
        _int(11, doc.get("maxLength")),
        _int(12, doc.get("minLength")),
        _text(13, doc.get("pattern", "")),
        _int(14, doc.get("maxItems")),
        _int(15, doc.get("minItems")),
        _bool(16, doc.get("uniqueItems")),
        _int(17, doc.get("maxProperties")),
        _int(18, doc.get("minProperties")),
        *(_text(19, name) for name in doc.get("required") or ()),
        *(_bytes(20, _any(value)) for value in doc.get("enum") or ()),
        _bytes(21, _bytes(1, _schema(more))) if isinstance(more, dict) else b"",
        _bytes(21, _varint(2 << 3) + b"\x01") if more is True else b"",
        _bytes(22, _text(1, kind)) if isinstance(kind, str) else b"",
        _bytes(23, _bytes(1, _schema(items))) if isinstance(items, dict) else b"",
        *(_bytes(24, _schema(inner)) for inner in doc.get("allOf") or ()),
        _bytes(25, _properties(doc["properties"])) if doc.get("properties") else b"",
        _extensions(31, doc),
    ]
    return b"".join(parts)


def _properties(properties: Json) -> bytes:
    return b"".join(_bytes(1, _named(name, _schema(inner))) for name, inner in properties.items())


def _parameter(doc: Json) -> bytes:
    """Return a query parameter as ParametersItem{parameter{non_body_parameter{query_parameter_sub_schema}}}."""
    inner = (
        _text(2, "query") + _text(3, doc.get("description", "")) + _text(4, doc["name"]) + _text(5, doc.get("type", ""))
    )
    return _bytes(1, _bytes(2, _bytes(3, inner)))


def _operation(doc: Json) -> bytes:
    parts = [_text(1, tag) for tag in doc.get("tags") or ()]
    parts.append(_text(5, doc.get("operationId", "")))
    parts += [_text(7, media) for media in doc.get("consumes") or ()]
    parts += [_bytes(8, _parameter(p)) for p in doc.get("parameters") or () if p.get("in") == "query"]
    parts.append(_extensions(13, doc))
    return b"".join(parts)


def encode(document: Json) -> bytes:
    """Return the document as protobuf."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    paths = [
        _bytes(2, _named(path, _bytes(8, _operation(item["patch"]))))
        for path, item in document["paths"].items()
        if "patch" in item
    ]
    definitions = _properties(document["definitions"])
    return b"".join(
        (
            _text(1, document["swagger"]),
            _bytes(2, info),
            _bytes(8, b"".join(paths)),
            _bytes(9, definitions),
        )
    )
