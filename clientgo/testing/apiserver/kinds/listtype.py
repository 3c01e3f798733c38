"""Validation of lists that are sets or maps, in which no item may occur twice.

Mirrors apiextensions-apiserver's pkg/apiserver/schema/listtype.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.cel.common.values import frozen, map_key
from clientgo.testing.apiserver.cel.kept import Kept
from clientgo.testing.apiserver.wire.errors import FieldError, field_duplicate, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json

_LIST_TYPE = "x-kubernetes-list-type"
_MAP_KEYS = "x-kubernetes-list-map-keys"


def validate(value: Any, schema: Any, path: str = "") -> list[FieldError]:
    """Return errors for repeated items and for items of a wrong type."""
    errors: list[FieldError] = []
    if isinstance(schema, dict) and _kept.of(schema):
        _validate(value, schema, path, errors)
    return errors


def _has_lists(schema: Any) -> bool:
    """Report whether the schema has a list of type set or map at any depth."""
    if not isinstance(schema, dict):
        return False
    if schema.get(_LIST_TYPE) in ("set", "map"):
        return True
    inner = [schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values()]
    return any(map(_has_lists, inner))


_kept = Kept(_has_lists)


def _validate(value: Any, schema: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        if _LIST_TYPE in schema:
            _check_list(value, schema, path, errors)
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                if isinstance(item, (dict, list)):
                    _validate(item, items, f"{path}[{i}]", errors)
    elif isinstance(value, dict):
        properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, item in value.items():
            if isinstance(item, (dict, list)):
                below = (f"{path}.{name}" if path else name) if name in properties else f"{path}[{name}]"
                _validate(item, properties.get(name, more), below, errors)


def _check_list(value: list[Any], schema: Json, path: str, errors: list[FieldError]) -> None:
    kind, keys = schema[_LIST_TYPE], tuple(schema.get(_MAP_KEYS) or ())
    if kind == "set":
        errors += [field_duplicate(f"{path}[{i}]", value[i]) for i in _repeated([frozen(item) for item in value])]
    if kind != "map":
        return
    for i, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            text = "must be an object for an array of list-type map"
            errors.append(field_invalid(f"{path}[{i}]", item, text))
            return
    for i in _repeated([map_key(item or {}, keys) for item in value]):
        shown = {key: value[i][key] for key in sorted(keys) if key in (value[i] or ())}
        errors.append(field_duplicate(f"{path}[{i}]", shown))


def _repeated(keys: list[Any]) -> list[int]:
    """Return the index of each key's second occurrence."""
    counts: dict[Any, int] = {}
    out = []
    for i, key in enumerate(keys):
        counts[key] = counts.get(key, 0) + 1
        if counts[key] == 2:
            out.append(i)
    return out
