"""JSON patches (RFC 6902) on JSON values.

Mirrors the parts of the Go library json-patch v4 that Kubernetes uses. As in that library, `test`, `replace` and `copy`
treat a missing field as null, a negative index counts from the end of an array, and text before the first slash of a
path is ignored. Only `test` and, with an object or an array, `replace` accept the path "" of the whole document. Errors
have Go's texts.

Difference: the limit on copies is an argument of `apply`; in Go it is a package variable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.json import TooDeepError, limit_of_stack
from clientgo.golang.json import UnmarshalTypeError
from clientgo.golang.strconv import parse_int


class PatchError(ValueError):
    """Raised for a patch that cannot be applied to the document."""


class FailedTestError(PatchError):
    """Raised for a `test` operation that does not match. Go: jsonpatch.ErrTestFailed."""


class AccumulatedCopySizeError(PatchError):
    """Raised if the patch's `copy` operations exceed the caller's limit. Go: jsonpatch.AccumulatedCopySizeError."""

    def __init__(self, limit: int, accumulated: int) -> None:
        super().__init__(
            f"Unable to complete the copy, the accumulated size increase of copy is {accumulated}, "
            f"exceeding the limit {limit}"
        )
        self.limit = limit
        self.accumulated = accumulated


def apply(original: Any, operations: list[Any], *, accumulated_copy_size_limit: int = 0) -> Any:
    """Apply the operations in order and return the new document; `original` is not changed.

    `accumulated_copy_size_limit` limits the bytes of JSON that all `copy` operations add together; 0 is unlimited. Set
    it for patches from untrusted sources: 30 operations can double the document 30 times.

    Raises PatchError if an operation does not apply or the document is a scalar, and AccumulatedCopySizeError if the
    copies exceed the limit.

    >>> apply({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}])
    {'a': [1, 2]}
    """
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    if not isinstance(original, dict | list | None):
        raise PatchError(str(UnmarshalTypeError(original, "jsonpatch.partialDoc")))
    document = {} if original is None and operations else copy_json(original)
    copies = _Copies(accumulated_copy_size_limit)
    try:
        for operation in operations:
            if operation is not None and not isinstance(operation, dict):
                raise PatchError(str(UnmarshalTypeError(operation, "jsonpatch.Operation")))
            document = _apply_operation(document, operation or {}, copies)
    except RecursionError:
        # Copies of a value into itself add nesting levels as fast as bytes.
        raise PatchError(str(TooDeepError(limit_of_stack()))) from None
    return document


def in_order_of_go(document: Any, operations: Iterable[Any] = ()) -> Any:
    """Return a patched document with its keys in the order in which the Go library writes them. No Go identifier.

    It sorts the keys of the objects that it reads, and leaves values of operations as they are. Exception: it also
    sorts the keys of such a value if a later operation changes the value's inside.
    """
    unread = [operation["path"].split("/")[1:] for operation in operations if "value" in (operation or {})]
    return _sorted_outside(document, [[_unescaped(part) for part in path] for path in unread])


def _sorted_outside(value: Any, unread: list[list[str]]) -> Any:
    """Return a value with sorted keys, except below the paths `unread`. Items of lists match any index."""
    if [] in unread or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        below = [path[1:] for path in unread]
        return [_sorted_outside(item, below) for item in value]
    return {
        key: _sorted_outside(value[key], [path[1:] for path in unread if path[0] == key]) for key in sorted(value)
    }


class _Copies:
    """The size of the values copied so far, measured as the JSON that Go keeps of them."""

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
    # Go escapes each of these as six ASCII characters; UTF-8 needs one byte for the first three, three for the others.
    more = 5 * sum(map(text.count, "<>&")) + 3 * sum(map(text.count, "\u2028\u2029"))
    return len(text.encode("utf-8", "surrogatepass")) + more


def _apply_operation(document: Any, operation: dict[str, Any], copies: _Copies) -> Any:
    kind = operation.get("op")
    match kind:
        case "add":
            path = _text_of(operation, "path", "add")
            _insert(document, path, copy_json(operation.get("value")), "add")
        case "remove":
            path = _text_of(operation, "path", "remove")
            container, key = _find(document, path, f'remove operation does not apply: doc is missing path: "{path}"')
            _delete(container, key, f"error in remove for path: '{path}'")
        case "replace":
            return _replace(document, operation)
        case "move":
            _move(document, operation)
        case "test":
            _test(document, operation)
        case "copy":
            _copy(document, operation, copies)
        case _:
            raise PatchError(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
    return document


def _replace(document: Any, operation: dict[str, Any]) -> Any:
    path = _text_of(operation, "path", "replace")
    value = copy_json(operation.get("value"))
    if path == "":
        if not isinstance(value, (dict, list)):
            raise PatchError("replace operation value must be object or array: %!w(<nil>)")
        return value
    container, key = _find(document, path, f"replace operation does not apply: doc is missing path: {path}")
    if isinstance(container, dict):
        container[key] = value
        return document
    try:
        container[_index(container, key)] = value
    except PatchError:
        raise PatchError(f"replace operation does not apply: doc is missing key: {path}: {_MISSING}") from None
    return document


def _move(document: Any, operation: dict[str, Any]) -> None:
    source = _text_of(operation, "from", "move")
    container, key = _find(document, source, f"move operation does not apply: doc is missing from path: {source}")
    value = _get(container, key, f"error in move for path: '{key}'")
    _delete(container, key, f"error in move for path: '{key}'")
    _insert(document, _text_of(operation, "path", "move"), value, "move")


def _copy(document: Any, operation: dict[str, Any], copies: _Copies) -> None:
    source = _text_of(operation, "from", "copy")
    container, key = _find(document, source, f"copy operation does not apply: doc is missing from path: {source}")
    value = _get(container, key, f"error in copy for from: '{source}'")
    path = _text_of(operation, "path", "copy")
    _find(document, path, f"copy operation does not apply: doc is missing destination path: {path}")
    _insert(document, path, copies.copy(value), "copy")


def _test(document: Any, operation: dict[str, Any]) -> None:
    path = _text_of(operation, "path", "test")
    if path == "":
        value = document
    else:
        container, key = _find(document, path, f"test operation does not apply: is missing path: {path}")
        value = _get(container, key, f"error in test for path: '{path}'")
    if not _equal(value, operation.get("value")):
        raise FailedTestError(f"testing value {path} failed: test failed")


# The suffixes of Go's errors, which state the error's type.
_MISSING = "missing value"
_INVALID_INDEX = "invalid index referenced"


def _text_of(operation: dict[str, Any], field: str, kind: str) -> str:
    """Return the path or the source of an operation. Raises PatchError with Go's text."""
    text = operation.get(field)
    if isinstance(text, str):
        return text
    if field == "path" and kind in ("add", "remove", "copy"):
        reason = _MISSING
    elif text is not None:
        reason = str(UnmarshalTypeError(text, "string"))
    else:
        reason = f"operation{',' if field == 'from' else ''} missing {field} field: {_MISSING}"
    raise PatchError(f"{kind} operation failed to decode {field}: {reason}")


def _find(document: Any, path: str, failure: str) -> tuple[Any, str]:
    """Return the container of a path's target, and the last part of the path.

    The path "" names the whole document, which has no container. Raises PatchError. Go: findObject.
    """
    _, *parts = path.split("/")
    if not parts:
        raise PatchError(f"{failure}: {_MISSING}")
    *way, key = map(_unescaped, parts)
    for part in way:
        try:
            document = _get(document, part, "") if isinstance(document, (dict, list)) else None
        except PatchError:
            document = None
    if not isinstance(document, (dict, list)):
        raise PatchError(f"{failure}: {_MISSING}")
    return document, key


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _get(container: Any, key: str, failure: str) -> Any:
    """Return a value, or None for a key that an object does not have. Raises PatchError."""
    if isinstance(container, dict):
        return container.get(key)
    try:
        return container[_index(container, key)]
    except PatchError as err:
        raise PatchError(f"{failure}: {err}") from None


def _delete(container: Any, key: str, failure: str) -> None:
    if isinstance(container, list):
        try:
            del container[_index(container, key)]
        except PatchError as err:
            raise PatchError(f"{failure}: {err}") from None
    elif key in container:
        del container[key]
    else:
        raise PatchError(f"{failure}: Unable to remove nonexistent key: {key}: {_MISSING}")


_NO_DESTINATION = {
    "add": 'add operation does not apply: doc is missing path: "{path}"',
    "move": "move operation does not apply: doc is missing destination path: {path}",
    "copy": "copy operation does not apply: doc is missing destination path: {path}",
}
_NOT_INSERTED = {
    "add": "error in add for path: '{path}'",
    "move": "error in move for path: '{path}'",
    "copy": "error while adding value during copy",
}


def _insert(document: Any, path: str, value: Any, kind: str) -> None:
    container, key = _find(document, path, _NO_DESTINATION[kind].format(path=path))
    if isinstance(container, dict):
        container[key] = value
        return
    if key == "-":
        container.append(value)
        return
    try:
        container.insert(_index(container, key, new=True), value)
    except PatchError as err:
        raise PatchError(f"{_NOT_INSERTED[kind].format(path=path)}: {err}") from None


def _equal(here: Any, wanted: Any) -> bool:
    """Report whether two values are equal. A boolean never equals a number, at any depth."""
    if isinstance(here, dict) and isinstance(wanted, dict):
        return here.keys() == wanted.keys() and all(_equal(here[name], wanted[name]) for name in here)
    if isinstance(here, list) and isinstance(wanted, list):
        return len(here) == len(wanted) and all(map(_equal, here, wanted))
    return isinstance(here, bool) is isinstance(wanted, bool) and bool(here == wanted)


def _index(items: list[Any], name: str, *, new: bool = False) -> int:
    """Return the index of an item, or with `new` the index for an insertion. Raises PatchError."""
    try:
        number = parse_int(name)
    except ValueError as err:
        text = str(err).replace("strconv.ParseInt", "strconv.Atoi")
        raise PatchError(f"value was not a proper array index: '{name}': {text}" if new else text) from None
    size = len(items) + new
    if not -size <= number < size:
        raise PatchError(f"Unable to access invalid index: {number}: {_INVALID_INDEX}")
    return number + size if number < 0 else number
