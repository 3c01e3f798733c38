"""JSON patches (RFC 6902) on JSON values.

Mirrors what Kubernetes uses of the Go library json-patch; it is apimachinery's by use, though Go keeps it apart.
"""

from __future__ import annotations

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
        if _lookup(document, path) != operation.get("value"):
            raise FailedTestError(f"testing value {operation['path']} failed")
        return document
    if kind == "remove":
        return _remove(document, path)
    if kind == "add":
        return _add(document, path, copy_json(operation.get("value")))
    if kind == "replace":
        _lookup(document, path)
        return _replace(document, path, copy_json(operation.get("value")))
    if kind in ("move", "copy"):
        source = _pointer(str(operation.get("from", "")))
        value = copy_json(_lookup(document, source))
        if kind == "move":
            if path[: len(source)] == source and len(path) > len(source):
                raise PatchError("cannot move a value into itself")
            document = _remove(document, source)
        return _add(document, path, value)
    raise PatchError(f"Unexpected kind: {kind}")


def _pointer(text: str) -> list[str]:
    if text == "":
        return []
    if not text.startswith("/"):
        raise PatchError(f"invalid path {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _index(items: list[Any], name: str, *, end: bool) -> int:
    if name == "-" and end:
        return len(items)
    if not name.lstrip("-").isascii() or not name.lstrip("-").isdigit():
        raise PatchError(f"invalid array index {name}")
    at = int(name)
    if at < 0 or at > len(items) - (0 if end else 1):
        raise PatchError(f"array index {name} out of bounds")
    return at


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        if name not in value:
            raise PatchError(f"missing key {name}")
        return value[name]
    if isinstance(value, list):
        return value[_index(value, name, end=False)]
    raise PatchError(f"no value at {name}")


def _lookup(document: Any, path: list[str]) -> Any:
    for name in path:
        document = _step(document, name)
    return document


def _parent(document: Any, path: list[str]) -> Any:
    return _lookup(document, path[:-1])


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[name] = value
    elif isinstance(parent, list):
        parent.insert(_index(parent, name, end=True), value)
    else:
        raise PatchError("add operation does not apply")
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        parent[_index(parent, name, end=False)] = value
    else:
        parent[name] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        raise PatchError("remove operation does not apply")
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        del parent[_index(parent, name, end=False)]
    elif isinstance(parent, dict) and name in parent:
        del parent[name]
    else:
        raise PatchError(f"Unable to remove nonexistent key: {name}")
    return document
