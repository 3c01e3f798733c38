"""The creation of a JSON patch (RFC 6902) from two JSON values.

Replaces the Go library gomodules.xyz/jsonpatch, which controller-runtime uses. Arrays are compared index by index.
Numbers are compared as in that library: integers that exceed an int64 are compared as floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clientgo.apimachinery.util.json import limited_by_stack, unmarshal

__all__ = ["InvalidDocumentError", "Operation", "create_patch"]

_INT64 = range(-(2**63), 2**63)


class InvalidDocumentError(ValueError):
    """Raised if one of the documents is not JSON."""

    def __init__(self) -> None:
        super().__init__("invalid JSON Document")


@dataclass(frozen=True)
class Operation:
    """An operation of a patch. Go: jsonpatch.Operation."""

    operation: str
    """The operation: add, remove or replace."""
    path: str
    """The target as a JSON pointer."""
    value: Any = None
    """The value to add or to set."""

    def to_dict(self) -> dict[str, Any]:
        """Return the operation in the form of a JSON patch."""
        step = {"op": self.operation, "path": self.path}
        return step if self.operation == "remove" else {**step, "value": self.value}


@limited_by_stack
def create_patch(original: bytes | str, current: bytes | str) -> list[Operation]:
    """Return the operations in an order that applies. Raises InvalidDocumentError, and
    TooDeepError for documents nested deeper than a few hundred levels.

    >>> [step.to_dict() for step in create_patch('{"a": [1, 2]}', '{"a": [1], "b": null}')]
    [{'op': 'remove', 'path': '/a/1'}, {'op': 'add', 'path': '/b', 'value': None}]
    """
    if original == current:
        return []
    return list(_differences(_parsed(original), _parsed(current), ""))


def _parsed(text: bytes | str) -> Any:
    try:
        return unmarshal(text)
    except ValueError:
        raise InvalidDocumentError() from None


def _differences(before: Any, after: Any, path: str) -> Iterator[Operation]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_arrays(before, after, path)
    elif not _same(before, after):
        yield Operation("replace", path, after)


def _in_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    for key, value in after.items():
        place = f"{path}/{_escaped(key)}"
        if key in before:
            yield from _differences(before[key], value, place)
        else:
            yield Operation("add", place, value)
    for key in before:
        if key not in after:
            yield Operation("remove", f"{path}/{_escaped(key)}")


def _in_arrays(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    common = min(len(before), len(after))
    # From the end, so that no index changes before its operation.
    for index in range(len(before) - 1, common - 1, -1):
        yield Operation("remove", f"{path}/{index}")
    for index in range(common):
        yield from _differences(before[index], after[index], f"{path}/{index}")
    for index in range(common, len(after)):
        yield Operation("add", f"{path}/{index}", after[index])


def _same(before: Any, after: Any) -> bool:
    """Report whether both are equal scalars of the same type; integers and floats are both numbers."""
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, (int, float)) and isinstance(after, (int, float)):
        return _number(before) == _number(after)
    return type(before) is type(after) and bool(before == after)


def _number(value: float) -> float:
    return value if isinstance(value, float) or value in _INT64 else float(value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
