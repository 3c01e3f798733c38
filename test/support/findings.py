"""Validation of built-in objects without a server: valid objects with one value changed, and their errors."""

from __future__ import annotations

import copy
from typing import Any

from clientgo.testing.apiserver.kinds import validation
from clientgo.testing.apiserver.kinds.registry import Registry, Resource

Json = dict[str, Any]
REGISTRY = Registry()
NOTHING = object()
"""The value of a field to be removed."""


def resource(storage: str) -> Resource:
    found = REGISTRY.by_storage(storage)
    assert found is not None, storage
    return found


def changed(base: Json, changes: dict[str, Any]) -> Json:
    """Return a copy with other values at paths of names and indices, such as `spec.ports.0.name`."""
    obj: Any = copy.deepcopy(base)
    for path, value in changes.items():
        *above, last = path.split(".")
        inner = obj
        for name in above:
            inner = inner[int(name)] if isinstance(inner, list) else inner.setdefault(name, {})
        key: Any = int(last) if isinstance(inner, list) else last
        if value is NOTHING:
            inner.pop(key, None)
        elif isinstance(inner, list) and key == len(inner):
            inner.append(value)
        else:
            inner[key] = value
    found: Json = obj
    return found


def of_new(storage: str, obj: Json) -> list[str]:
    """Return the errors of a new object as `field: text`."""
    return [str(error) for error in validation.create(resource(storage), copy.deepcopy(obj))]


def of_update(storage: str, obj: Json, old: Json, subresource: str = "") -> list[str]:
    """Return the errors of a changed object as `field: text`."""
    found = validation.update(resource(storage), copy.deepcopy(obj), copy.deepcopy(old), subresource)
    return [str(error) for error in found]
