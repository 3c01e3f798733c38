"""Declarations from an OpenAPI schema: types of values, their largest sizes, and their conversion to CEL.

Mirrors apiserver's pkg/cel/common/schemas.go, values.go and pkg/cel/escaping.go.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Any

from clientgo.golang import utf8
from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    object_type,
)
from clientgo.testing.apiserver.cel.common.values import EvalError, Invalid, ObjectValue, TypedList
from clientgo.testing.apiserver.cel.lexer import KEYWORDS, RESERVED
from clientgo.testing.apiserver.cel.library.standard import to_duration, to_timestamp

MAX_REQUEST = 3 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
_ESCAPED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_STRING: dict[str, Any] = {"type": "string"}
_METADATA = {"type": "object", "properties": {"name": _STRING, "generateName": _STRING}}
_ROOT = {"kind": _STRING, "apiVersion": _STRING, "metadata": _METADATA}


def escape(name: str) -> str | None:
    """Return a field's name as CEL spells it, or None if CEL cannot spell it."""
    if name in RESERVED or name in KEYWORDS:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return re.sub(r"__|[./-]", lambda match: _ESCAPED[match.group()], name)


@dataclass(slots=True)
class Declaration:
    """The type of a value and the size limits in its schema. `kind` selects the conversion from JSON."""

    type: Type
    kind: str
    # The most items, entries, or bytes.
    max_elements: int = 0
    # The fewest bytes of JSON.
    min_size: int = 0
    item: Declaration | None = None
    # An object's JSON names by the fields' names in CEL.
    names: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Declaration] = field(default_factory=dict)
    list_kind: str = ""
    list_keys: tuple[str, ...] = ()


def declare(schema: Any, *, root: bool = False, name: str = "object") -> Declaration | None:
    """Return the declaration of a structural schema, or None if expressions cannot use its values.

    With `root=True` the schema describes a whole object: expressions may read its apiVersion, kind and metadata even if
    the schema does not list them.
    """
    if not isinstance(schema, dict):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        longest = schema.get("maxLength")
        return Declaration(DYN, "dyn", MAX_REQUEST - 2 if longest is None else max(0, longest) * 4, 1)
    if root:
        schema = with_root(schema)
    match schema.get("type"):
        case "array":
            return _array(schema, name)
        case "object":
            return _object(schema, name)
        case "string":
            return _string(schema)
        case "boolean":
            return Declaration(BOOL, "bool", 0, 4)
        case "number":
            return Declaration(DOUBLE, "double", 0, 1)
        case "integer":
            return Declaration(INT, "int", 0, 1)
    return None


def with_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with apiVersion, kind and metadata added.

    Rules may read name and generateName from the metadata, and nothing else.
    """
    return {**schema, "type": "object", "properties": {**(schema.get("properties") or {}), **_ROOT}}


def _embedded(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(schema.get("x-kubernetes-embedded-resource"))


def _array(schema: dict[str, Any], name: str) -> Declaration | None:
    items = schema.get("items")
    item = declare(items, root=_embedded(items), name=f"{name}.@idx")
    if item is None:
        return None
    given = schema.get("maxItems")
    most = (MAX_REQUEST - 2) // (item.min_size + 1) if given is None else max(0, given)
    kind, keys = schema.get("x-kubernetes-list-type") or "", schema.get("x-kubernetes-list-map-keys") or ()
    escaped = tuple(escape(key) or key for key in keys)
    return Declaration(list_of(item.type), "list", most, 2, item, list_kind=kind, list_keys=escaped)


def _object(schema: dict[str, Any], name: str) -> Declaration | None:
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        item = declare(more, root=_embedded(more), name=f"{name}.@elem")
        if item is None:
            return None
        given = schema.get("maxProperties")
        most = (MAX_REQUEST - 2) // (item.min_size + 6) if given is None else max(0, given)
        return Declaration(map_of(STRING, item.type), "map", most, 2, item)
    required = set(schema.get("required") or ())
    made = Declaration(DYN, "object", 0, 2)
    for key, inner in (schema.get("properties") or {}).items():
        escaped = escape(key)
        declared = declare(inner, root=_embedded(inner), name=f"{name}.{escaped or key}")
        if declared is None:
            continue
        if escaped is not None:
            made.fields[escaped] = declared
            made.names[escaped] = key
        if key in required and "default" not in inner:
            made.min_size += len(key) + declared.min_size + 4
    made.type = object_type(name, {key: one.type for key, one in made.fields.items()})
    return made


def _string(schema: dict[str, Any]) -> Declaration:
    longest, form = schema.get("maxLength"), schema.get("format")
    if form == "byte":
        return Declaration(BYTES, "bytes", MAX_REQUEST - 2 if longest is None else max(0, longest), 2)
    if form == "duration":
        return Declaration(DURATION, "duration", 32, 3)
    if form == "date":
        return Declaration(TIMESTAMP, "date", 12, 12)
    if form == "date-time":
        return Declaration(TIMESTAMP, "date-time", 32, 21)
    enum = schema.get("enum")
    if longest is not None:
        most = max(0, longest) * 4
    elif enum:
        most = max((len(utf8.encode(one)) for one in enum if isinstance(one, str)), default=0)
    else:
        most = MAX_REQUEST - 2
    return Declaration(STRING, "string", most, 2)


# ---- values


def value_of(value: Any, declared: Declaration | None) -> Any:
    """Convert a JSON value to the value that expressions read.

    A value that does not have its declared type becomes an Invalid, which raises an error only when an expression reads
    it.
    """
    if value is None or declared is None:
        return value
    read = _READERS.get(declared.kind)
    if read is not None:
        try:
            return read(value)
        except (EvalError, ValueError, TypeError) as err:
            return Invalid(f"Invalid {declared.kind} {value}" if not isinstance(err, EvalError) else str(err))
    match declared.kind, value:
        case "object", dict():
            return _object_value(value, declared)
        case "map", dict():
            return {key: value_of(item, declared.item) for key, item in value.items()}
        case "list", list():
            items = [value_of(item, declared.item) for item in value]
            return TypedList(items, declared.list_kind, declared.list_keys) if declared.list_kind else items
        case (("object" | "map" | "list"), _):
            return Invalid(f"invalid data, expected a {declared.kind}")
    return value


def _object_value(value: dict[str, Any], declared: Declaration) -> ObjectValue:
    names = declared.names
    fields = {
        key: value_of(value[names[key]], one) for key, one in declared.fields.items() if names[key] in value
    }  # fmt: skip
    return ObjectValue(fields, declared.type.name)


def _read_int(value: Any) -> int:
    if isinstance(value, bool) or value != int(value):
        raise ValueError(value)
    return int(value)


def _read_double(value: Any) -> float:
    if isinstance(value, bool | str):
        raise ValueError(value)
    return float(value)


def _read_string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value


def _read_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _read_bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as err:
        raise ValueError(str(err)) from None


def _read_date(value: Any) -> Any:
    return to_timestamp(f"{value}T00:00:00Z")


_READERS = {
    "int": _read_int,
    "double": _read_double,
    "string": _read_string,
    "bool": _read_bool,
    "bytes": _read_bytes,
    "date": _read_date,
    "date-time": to_timestamp,
    "duration": to_duration,
}
