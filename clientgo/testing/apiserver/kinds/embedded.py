"""Objects inside of custom resources (x-kubernetes-embedded-resource): their metadata in normal form.

Mirrors apiextensions-apiserver's pkg/apiserver/schema/objectmeta. Pure functions.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.kinds import schema as go_types
from clientgo.testing.apiserver.wire.errors import field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json

EMBEDDED = "x-kubernetes-embedded-resource"


def _has_embedded(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    if schema.get(EMBEDDED):
        return True
    inner = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(_has_embedded, inner))


_kept = Kept(_has_embedded)


def is_in(schema: Json) -> bool:
    """Report whether a schema has embedded objects."""
    return _kept.of(schema)


class CoerceError(Exception):
    """The error of a value of a wrong type in an embedded object. The text contains its path."""


def coerce(obj: Json, schema: Json | None) -> tuple[Json, list[str]]:
    """Return the object with embedded metadata in normal form, and the paths of unknown fields in that metadata.

    Raises CoerceError if embedded metadata cannot be decoded.
    """
    if schema is None or not is_in(schema):
        return obj, []
    unknown: list[str] = []
    out: Json = _coerced(obj, schema, "", unknown)
    return out, unknown


def _coerced(value: Any, schema: Any, path: str, unknown: list[str]) -> Any:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_coerced(item, schema.get("items"), f"{path}[{i}]", unknown) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    embedded = schema.get(EMBEDDED)
    out: Json = {}
    for name, item in value.items():
        below = f"{path}.{name}" if path else name
        if embedded and name in ("apiVersion", "kind"):
            if not isinstance(item, str):
                raise CoerceError(str(field_invalid(below, item, "must be a string")))
            out[name] = item
        elif embedded and name == "metadata":
            out[name] = _metadata(item, below, unknown)
        else:
            out[name] = _coerced(item, inner_schema(schema, name), below, unknown)
    return out


def inner_schema(schema: Json, name: str) -> Any:
    """Return the schema of one field."""
    properties = schema.get("properties") or {}
    return properties[name] if name in properties else schema.get("additionalProperties")


def decoded(metadata: Any, unknown: list[str]) -> Json:
    """Decode an ObjectMeta to its normal form and add its unknown fields to `unknown`. Raises DecodeError."""
    ctx = go_types.Context()
    out: Json = go_types.structure(go_types.META_V1, "ObjectMeta").decode(metadata, ctx, "", "ObjectMeta")
    unknown += ctx.unknown
    return out


def _metadata(metadata: Any, path: str, unknown: list[str]) -> Json:
    found: list[str] = []
    try:
        out = decoded(metadata, found)
    except go_types.DecodeError as err:
        raise CoerceError(str(field_invalid(path, metadata, str(err)))) from None
    unknown += [f"{path}.{name}" for name in found]
    if out.get("creationTimestamp") is None:
        out.pop("creationTimestamp", None)
    return out
