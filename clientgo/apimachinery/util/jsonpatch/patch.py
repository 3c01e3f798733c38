"""JSON patches (RFC 6902) on JSON values.

Mirrors what Kubernetes uses of the Go library json-patch v4; it is apimachinery's by use, though Go keeps it apart. As
there, a field that is not there is null for `test`, `replace` and `copy`, an array is counted from its end by a
negative index, and what stands before the first slash of a path does not count.
"""

from __future__ import annotations

import re
from typing import Any

from clientgo.apimachinery.runtime.view import copy_json


class PatchError(ValueError):
    """The patch cannot be applied to this document."""


class FailedTestError(PatchError):
    """A `test` of the patch does not hold. Go: jsonpatch.ErrTestFailed."""


def apply(original: Any, operations: list[Any]) -> Any:
    """A new document with the operations applied in order; `original` is not changed.

    Raises PatchError when one of them does not fit.

    >>> apply({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}])
    {'a': [1, 2]}
    """
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    document = copy_json(original)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError("missing path")
        document = _apply_operation(document, operation)
    return document


def _apply_operation(document: Any, operation: dict[str, Any]) -> Any:
    kind = operation.get("op")
    path = _pointer(operation["path"])
    if kind == "test":
        if not _equal(_get(document, path), operation.get("value")):
            raise FailedTestError(f"testing value {operation['path']} failed")
        return document
    if kind == "remove":
        return _remove(document, path)
    if kind == "add":
        return _add(document, path, copy_json(operation.get("value")))
    if kind == "replace":
        return _replace(document, path, copy_json(operation.get("value")))
    if kind in ("move", "copy"):
        if not isinstance(operation.get("from"), str):
            raise PatchError(f"{kind} operation failed to decode from")
        source = _pointer(operation["from"])
        value = copy_json(_get(document, source))
        if kind == "move":
            document = _remove(document, source)
        return _add(document, path, value)
    raise PatchError(f"Unexpected kind: {kind}")


def _equal(here: Any, wanted: Any) -> bool:
    """A boolean is no number, at any depth."""
    if isinstance(here, dict) and isinstance(wanted, dict):
        return here.keys() == wanted.keys() and all(_equal(here[name], wanted[name]) for name in here)
    if isinstance(here, list) and isinstance(wanted, list):
        return len(here) == len(wanted) and all(map(_equal, here, wanted))
    return isinstance(here, bool) is isinstance(wanted, bool) and bool(here == wanted)


def _pointer(text: str) -> list[str]:
    if text == "":
        return []
    if "/" not in text:
        raise PatchError(f"invalid path {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(items: list[Any], name: str, *, end: bool) -> int:
    """The place of an item, or with `end` the one where it shall be inserted."""
    if name == "-" and end:
        return len(items)
    if _NUMBER.fullmatch(name) is None:
        raise PatchError(f"value was not a proper array index: '{name}'")
    size = len(items) + end
    at = int(name)
    if not -size <= at < size:
        raise PatchError(f"Unable to access invalid index: {at}")
    return at + size if at < 0 else at


_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")


def _get(document: Any, path: list[str]) -> Any:
    """The value at a path whose container is there; None for a key that is not."""
    if not path:
        return document
    parent, name = _parent(document, path), path[-1]
    return parent.get(name) if isinstance(parent, dict) else parent[_index(parent, name, end=False)]


def _parent(document: Any, path: list[str]) -> Any:
    for name in path[:-1]:
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list):
            document = document[_index(document, name, end=False)]
    if not isinstance(document, (dict, list)):
        raise PatchError("missing container")
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[name] = value
    else:
        parent.insert(_index(parent, name, end=True), value)
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[name] = value
    else:
        parent[_index(parent, name, end=False)] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        raise PatchError("remove operation does not apply")
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        del parent[_index(parent, name, end=False)]
    elif name in parent:
        del parent[name]
    else:
        raise PatchError(f"Unable to remove nonexistent key: {name}")
    return document
