"""The types that mutating expressions create: `Object{spec: Object.spec{...}}` and `JSONPatch{...}`.

Mirrors apiserver's pkg/cel/mutation.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from clientgo.testing.apiserver.cel import library
from clientgo.testing.apiserver.cel.common.types import DYN, STRING, Fields, Type, list_of, object_type
from clientgo.testing.apiserver.cel.common.values import (
    Duration,
    ObjectValue,
    Timestamp,
    Uint,
    from_key,
    type_name,
)
from clientgo.testing.apiserver.cel.library.declare import Function, must

_ROOT = "Object"
_PATCH_FIELDS: Fields = {"op": STRING, "path": STRING, "from": STRING, "value": DYN}
OBJECT = Type(_ROOT)
PATCHES = list_of(object_type("JSONPatch", _PATCH_FIELDS))


class _AnyField(dict[str, Type]):
    """The fields of an object without a schema. All names exist and have the type dyn; the merge validates them."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Type:
        return DYN


class _Structs(Mapping[str, Fields]):
    """The types that expressions can create: JSONPatch, Object, and every name that begins with "Object."."""

    def __getitem__(self, name: str) -> Fields:
        if name == "JSONPatch":
            return _PATCH_FIELDS
        if name == _ROOT or name.startswith(f"{_ROOT}."):
            return _AnyField()
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("JSONPatch", _ROOT))

    def __len__(self) -> int:
        return 2


STRUCTS: Mapping[str, Fields] = _Structs()


def _escape_key(key: Any) -> str:
    must(str, "jsonpatch.escapeKey", key)
    escaped: str = key.replace("~", "~0").replace("/", "~1")
    return escaped


FUNCTIONS: Mapping[str, Function] = {
    **library.functions(),
    "jsonpatch.escapeKey": Function("jsonpatch.escapeKey", _escape_key).call(STRING, to=STRING),
}


class MutationError(ValueError):
    """The error of a value that is neither a configuration nor a patch."""


def configuration(value: Any) -> dict[str, Any]:
    """Return the JSON of an `Object{...}`. Raises MutationError for another value or a part of a wrong type."""
    if not isinstance(value, ObjectValue):
        raise MutationError(f"unsupported return type from ApplyConfiguration expression: {type_name(value)}")
    wrong = list(_misplaced(value, _ROOT))
    if wrong:
        raise MutationError("type mismatch: " + "\n".join(wrong))
    made: dict[str, Any] = to_json(value)
    return made


def operations(value: Any) -> list[dict[str, Any]]:
    """Return the operations of a list of `JSONPatch{...}`. Raises MutationError for every other value."""
    if not isinstance(value, list):
        raise MutationError("type mismatch: JSONPatchType.expression should evaluate to array")
    made = []
    for one in value:
        if not isinstance(one, ObjectValue) or one.type_name != "JSONPatch":
            raise MutationError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")
        operation = {"op": one.get("op", ""), "path": one.get("path", "")}
        if one.get("from"):
            operation["from"] = one["from"]
        if "value" in one:
            operation["value"] = to_json(one["value"])
        made.append(operation)
    return made


def _misplaced(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, ObjectValue):
        if value.type_name != place:
            wanted = f'expected "{place}", which matches field name path from root Object type'
            yield f'unexpected type name "{value.type_name}", {wanted}'
        for name, item in value.items():
            yield from _misplaced(item, f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _misplaced(item, place)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _misplaced(item, f"{place}.{from_key(key)}")


def to_json(value: Any) -> Any:
    """Convert an expression's value to JSON. Raises MutationError for values that JSON cannot express."""
    match value:
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise MutationError("map key is of a type that is not string")
            return {key: to_json(item) for key, item in value.items()}
        case list():
            return [to_json(item) for item in value]
        case Uint():
            return int(value)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case Timestamp() | Duration():
            return str(value)
    raise MutationError(f"evaluated to a type that could not marshal to JSON: {type_name(value)}")
