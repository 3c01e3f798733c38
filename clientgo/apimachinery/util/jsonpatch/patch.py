"""JSON patches (RFC 6902) on JSON values.

Mirrors what Kubernetes uses of the Go library json-patch v4; it is apimachinery's by use, though Go keeps it apart. As
there, a field that is not there is null for `test`, `replace` and `copy`, an array is counted from its end by a
negative index, and what stands before the first slash of a path does not count.

Differs: the limit on copies is an argument of `apply`, a package variable in Go.
"""

from __future__ import annotations

import json
import re
from typing import Any

from clientgo.apimachinery.runtime.view import copy_json


class PatchError(ValueError):
    """The patch cannot be applied to this document."""


class FailedTestError(PatchError):
    """A `test` of the patch does not hold. Go: jsonpatch.ErrTestFailed."""


class AccumulatedCopySizeError(PatchError):
    """The patch's `copy` operations exceed the caller's limit. Go: jsonpatch.AccumulatedCopySizeError."""

    def __init__(self, limit: int, accumulated: int) -> None:
        super().__init__(
            f"Unable to complete the copy, the accumulated size increase of copy is {accumulated}, "
            f"exceeding the limit {limit}"
        )
        self.limit = limit
        self.accumulated = accumulated


def apply(original: Any, operations: list[Any], *, accumulated_copy_size_limit: int = 0) -> Any:
    """Apply the operations in order and return the new document; `original` is not changed.

    `accumulated_copy_size_limit` bounds the bytes of JSON that all `copy` operations add together; 0 is no limit. A
    patch from an untrusted source needs one: 30 operations can double the document 30 times.

    Raises PatchError when an operation does not fit, AccumulatedCopySizeError when the copies exceed the limit.

    >>> apply({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}])
    {'a': [1, 2]}
    """
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    document = copy_json(original)
    copies = _Copies(accumulated_copy_size_limit)
    try:
        for operation in operations:
            if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
                raise PatchError("missing path")
            document = _apply_operation(document, operation, copies)
    except RecursionError:
        # Copies of a value into itself add levels as fast as bytes.
        raise PatchError("exceeded max depth") from None
    return document


class _Copies:
    """The size of the values copied so far. Values are measured as the JSON that Go keeps of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0

    def copy(self, value: Any) -> Any:
        """Return a deep copy of the value. Raises AccumulatedCopySizeError."""
        if self._limit > 0 and value is not None:
            self._size += _size(value)
            if self._size > self._limit:
                raise AccumulatedCopySizeError(self._limit, self._size)
        return copy_json(value)


def _size(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    # Go writes each of these as six ASCII characters; UTF-8 has one byte for the first three, three for the others.
    more = 5 * sum(map(text.count, "<>&")) + 3 * sum(map(text.count, "\u2028\u2029"))
    return len(text.encode("utf-8", "surrogatepass")) + more


def _apply_operation(document: Any, operation: dict[str, Any], copies: _Copies) -> Any:
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
        value = _get(document, source)
        if kind == "copy":
            return _add(document, path, copies.copy(value))
        return _add(_remove(document, source), path, value)
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
