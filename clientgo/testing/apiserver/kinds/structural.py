"""Structural schemas of custom resources: pruning and defaulting.

Mirrors apiextensions-apiserver's pruning and defaulting packages. Pure functions.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds.embedded import EMBEDDED
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json, copy, dumps_text

__all__ = (
    "EMBEDDED",
    "INT_OR_STRING",
    "PRESERVE",
    "ROOT_FIELDS",
    "complete",
    "default",
    "prune",
    "without_nulls",
)

ROOT_FIELDS = ("apiVersion", "kind", "metadata")
INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# ---- pruning


def prune(obj: Json, schema: Json | None) -> tuple[Json, list[str]]:
    """Return the object without fields that the schema does not know, and the paths of the dropped fields.

    apiVersion, kind and metadata stay.
    """
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
    """Return the pruned object as it is stored: with its defaults, and without nulls that the schema does not allow."""
    out: Json = default(without_nulls(obj, schema), schema)
    return out


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or (isinstance(item, (dict, list)) and _has_null(item)) for item in value.values())
    return any(item is None or (isinstance(item, (dict, list)) and _has_null(item)) for item in value)


def without_nulls(obj: Json, schema: Any) -> Json:
    """Return the object without the null fields whose schema neither allows null nor has a default."""
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


# Bytes that the defaults of a schema may add to one object, as JSON. Go has no limit, but stores no object as large.
_MAX_DEFAULTED = 16 * 1024 * 1024


def default(value: Any, schema: Any) -> Any:
    """Return the value with the defaults of the schema; null counts as absent where it is not allowed.

    Raises ApiError 500 for defaults that add up to more than 16 MiB: a default of a list's items is copied for each.
    """
    return _default(value, schema, _Room())


class _Room:
    """The bytes that defaults may still add to one object."""

    __slots__ = ("_left", "_sizes")

    def __init__(self) -> None:
        self._left = _MAX_DEFAULTED
        # By the identity of the default's schema, which lives as long as the call.
        self._sizes: dict[int, int] = {}

    def copy_default(self, schema: Json) -> Any:
        given = schema.get("default")
        if isinstance(given, (dict, list)):
            size = self._sizes.get(id(schema))
            if size is None:
                size = self._sizes[id(schema)] = len(dumps_text(given))
        else:
            # A text that many objects share takes no memory of its own, but each answer has to write it.
            size = len(given) if isinstance(given, str) else 1
        self._left -= size
        if self._left < 0:
            raise errors.internal_text(f"the defaults of the schema add more than {_MAX_DEFAULTED} bytes to the object")
        return copy(given)


def _default(value: Any, schema: Any, room: _Room) -> Any:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, dict):
        return _default_fields(value, schema, room)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        return [
            room.copy_default(items) if _is_wrong_null(item, items) else _default(item, items, room) for item in value
        ]
    return value


def _default_fields(value: Json, schema: Json, room: _Room) -> Json:
    out = dict(value)
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in properties.items():
        if "default" in inner and (name not in out or _is_wrong_null(out[name], inner)):
            out[name] = room.copy_default(inner)
        if name in out:
            out[name] = _default(out[name], inner, room)
    if isinstance(more, dict):
        for name in out:
            if name not in properties:
                wrong = _is_wrong_null(out[name], more)
                out[name] = room.copy_default(more) if wrong else _default(out[name], more, room)
    return out
