"""Structural schemas of custom resources: pruning, defaulting, and all that an object is checked for.

Mirrors apiextensions-apiserver's pruning and defaulting packages, and the checks of its customresource registry. Pure
functions. The schema's own checks are those of schema_validation.py, its CEL rules those of rules.py.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds import embedded, listtype, rules, schema_validation
from clientgo.testing.apiserver.kinds.embedded import EMBEDDED
from clientgo.testing.apiserver.kinds.schema_validation import INT_OR_STRING, ROOT_FIELDS
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json, copy

__all__ = (
    "EMBEDDED",
    "INT_OR_STRING",
    "PRESERVE",
    "ROOT_FIELDS",
    "complete",
    "default",
    "prune",
    "validate",
    "validate_all",
)

PRESERVE = "x-kubernetes-preserve-unknown-fields"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# ---- pruning


def prune(obj: Json, schema: Json | None) -> tuple[Json, list[str]]:
    """The object without fields the schema does not know, and the paths of those. apiVersion, kind, metadata stay."""
    if schema is None:
        return obj, []
    dropped: list[str] = []
    out = _prune(obj, schema, "", dropped, root=True)
    return out, dropped


def _prune(value: Any, schema: Json, path: str, dropped: list[str], *, root: bool = False) -> Any:
    if isinstance(value, list):
        items = schema.get("items")
        if not isinstance(items, dict):
            return value
        return [_prune(item, items, f"{path}[{i}]", dropped) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    embedded = root or schema.get(EMBEDDED)
    properties = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    preserve = schema.get(PRESERVE)
    out: Json = {}
    for name, item in value.items():
        below = _join(path, name)
        if embedded and name in ROOT_FIELDS:
            out[name] = item
        elif name in properties:
            out[name] = _prune(item, properties[name], below, dropped)
        elif isinstance(more, dict):
            out[name] = _prune(item, more, below, dropped)
        elif more is True or preserve:
            out[name] = item
        else:
            dropped.append(below)
    return out


# ---- defaulting


def complete(obj: Json, schema: Json | None) -> Json:
    """The pruned object as it is stored: without nulls that the schema does not allow, and with its defaults."""
    out: Json = default(without_nulls(obj, schema), schema)
    return out


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or (isinstance(item, (dict, list)) and _has_null(item)) for item in value.values())
    return any(item is None or (isinstance(item, (dict, list)) and _has_null(item)) for item in value)


def without_nulls(obj: Json, schema: Any) -> Json:
    """The object without the fields that are null although they may not be, and have no default to stand for them."""
    if not _has_null(obj):
        return obj
    out: Json = _without_nulls(obj, schema)
    return out


def _is_wrong_null(value: Any, schema: Any) -> bool:
    return value is None and isinstance(schema, dict) and not schema.get("nullable")


def _without_nulls(value: Any, schema: Any) -> Any:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [_without_nulls(item, items) for item in value] if isinstance(items, dict) else value
    if not isinstance(value, dict):
        return value
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    out: Json = {}
    for name, item in value.items():
        inner = properties.get(name, more)
        if _is_wrong_null(item, inner) and "default" not in (inner or {}):
            continue
        out[name] = _without_nulls(item, inner)
    return out


def default(value: Any, schema: Any) -> Any:
    """The value with the defaults of the schema; null counts as absent where it is not allowed."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, dict):
        return _default_fields(value, schema)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        return [
            copy(items.get("default")) if _is_wrong_null(item, items) else default(item, items) for item in value
        ]
    return value


def _default_fields(value: Json, schema: Json) -> Json:
    out = dict(value)
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in properties.items():
        if "default" in inner and (name not in out or _is_wrong_null(out[name], inner)):
            out[name] = copy(inner["default"])
        if name in out:
            out[name] = default(out[name], inner)
    if isinstance(more, dict):
        for name in out:
            if name not in properties:
                wrong = _is_wrong_null(out[name], more)
                out[name] = copy(more.get("default")) if wrong else default(out[name], more)
    return out


# ---- validation


def validate(obj: Json, schema: Json | None, old: Json | None = None, *, status: bool = False) -> list[FieldError]:
    """All violations but those of CEL rules: of what has changed since `old`, if that is given.

    With `status` only that part is looked at, as a write to the subresource can change no other.
    """
    if schema is None:
        return []
    errors = _of_schema(obj, schema, old, status=status)
    errors += embedded.validate(obj, schema)
    repeated = listtype.validate(obj, schema)
    if repeated and (old is None or not listtype.validate(old, schema)):
        errors += repeated
    return errors


def _of_schema(obj: Json, schema: Json, old: Json | None, *, status: bool) -> list[FieldError]:
    place = ""
    if status:
        if "status" not in obj:
            return []
        place, schema = "status", (schema.get("properties") or {}).get("status") or {}
        obj, old = obj["status"], (old or {}).get("status")
    if old is None:
        return schema_validation.validate(obj, schema, place)
    return schema_validation.validate_update(obj, old, schema, place)


_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


_BLOCKING = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


def validate_all(
    obj: Json, old: Json | None, schema: Json | None, *, status: bool = False
) -> tuple[list[FieldError], list[str]]:
    """All violations, those of CEL rules too, and what is warned of: rules that what is unchanged breaks."""
    errors = validate(obj, schema, old, status=status)
    found = rules.of_schema(schema)
    if any(error.reason in _BLOCKING for error in errors):
        if found is not None or _blocks_rules(errors):
            errors.append(field_invalid("<nil>", None, _NOT_CHECKED))
        return errors, []
    if found is None:
        return errors, []
    more, warnings = found.validate(obj, old)
    return errors + more, warnings


def _blocks_rules(errors: list[FieldError]) -> bool:
    """Whether, even without any, CEL rules could not be tried: a field of the root that must be there is not."""
    return any(error.reason == "FieldValueRequired" and "." not in error.field for error in errors)
