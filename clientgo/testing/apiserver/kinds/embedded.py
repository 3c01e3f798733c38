"""Objects inside of custom resources (x-kubernetes-embedded-resource): their apiVersion, kind and metadata.

Mirrors apiextensions-apiserver's pkg/apiserver/schema/objectmeta. Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.util.validation import is_dns1035_label
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.kinds import schema as go_types
from clientgo.testing.apiserver.kinds.validation.fields import check_labels
from clientgo.testing.apiserver.kinds.validation.metadata import check_annotations, finalizers, path_segment
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

EMBEDDED = "x-kubernetes-embedded-resource"
_NOT_EMPTY = "must not be empty"


def _has_embedded(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    if schema.get(EMBEDDED):
        return True
    inner = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(_has_embedded, inner))


_kept = Kept(_has_embedded)


class CoerceError(Exception):
    """Something of an embedded object is of the wrong kind; the text has its place."""


def coerce(obj: Json, schema: Json | None) -> tuple[Json, list[str]]:
    """The object with embedded metadata in normal form, and the paths of what is unknown in there.

    Raises CoerceError.
    """
    if schema is None or not _kept.of(schema):
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
            out[name] = _coerced(item, _inner(schema, name), below, unknown)
    return out


def _inner(schema: Json, name: str) -> Any:
    properties = schema.get("properties") or {}
    return properties[name] if name in properties else schema.get("additionalProperties")


def _decoded(metadata: Any, unknown: list[str]) -> Json:
    """ObjectMeta in normal form. Raises DecodeError."""
    ctx = go_types.Context()
    out: Json = go_types.structure(go_types.META_V1, "ObjectMeta").decode(metadata, ctx, "", "ObjectMeta")
    unknown += ctx.unknown
    return out


def _metadata(metadata: Any, path: str, unknown: list[str]) -> Json:
    found: list[str] = []
    try:
        out = _decoded(metadata, found)
    except go_types.DecodeError as err:
        raise CoerceError(str(field_invalid(path, metadata, str(err)))) from None
    unknown += [f"{path}.{name}" for name in found]
    if out.get("creationTimestamp") is None:
        out.pop("creationTimestamp", None)
    return out


def validate(obj: Json, schema: Json | None) -> list[FieldError]:
    """What is wrong with the embedded objects."""
    if schema is None or not _kept.of(schema):
        return []
    errors: list[FieldError] = []
    _validate(obj, schema, "", errors)
    return errors


def _validate(value: Any, schema: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        for i, item in enumerate(value):
            _validate(item, schema.get("items"), f"{path}[{i}]", errors)
    if not isinstance(value, dict):
        return
    if schema.get(EMBEDDED):
        errors += _embedded_object(value, path)
    properties = schema.get("properties") or {}
    for name, item in value.items():
        below = (f"{path}.{name}" if path else name) if name in properties else f"{path}[{name}]"
        _validate(item, _inner(schema, name), below, errors)


def _embedded_object(obj: Json, path: str) -> list[FieldError]:
    errors = [field_required(f"{path}.{name}") for name in ("apiVersion", "kind") if name not in obj]
    if "apiVersion" in obj:
        errors += _named(obj["apiVersion"], f"{path}.apiVersion", _group_version)
    if "kind" in obj:
        errors += _named(obj["kind"], f"{path}.kind", _kind)
    if "metadata" in obj:
        errors += _object_meta(obj["metadata"], f"{path}.metadata")
    return errors


def _named(value: Any, path: str, check: Callable[[str], str]) -> list[FieldError]:
    if not isinstance(value, str):
        return [field_invalid(path, value, "must be a string")]
    text = check(value) if value else _NOT_EMPTY
    return [field_invalid(path, value, text)] if text else []


def _group_version(text: str) -> str:
    return f"unexpected GroupVersion string: {text}" if text.count("/") > 1 else ""


def _kind(text: str) -> str:
    wrong = ",".join(is_dns1035_label(text.lower()))
    return f"may have mixed case, but should otherwise match: {wrong}" if wrong else ""


def _object_meta(value: Any, path: str) -> list[FieldError]:
    try:
        meta = _decoded(value, [])
    except go_types.DecodeError as err:
        return [field_invalid(path, value, str(err))]
    errors = []
    for name in ("generateName", "name"):
        if meta.get(name):
            errors += [field_invalid(f"{path}.{name}", meta[name], text) for text in path_segment(meta[name])]
    errors += check_labels(meta.get("labels"), f"{path}.labels")
    errors += check_annotations(meta.get("annotations"), f"{path}.annotations")
    return errors + finalizers(meta.get("finalizers"))
