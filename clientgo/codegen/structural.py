"""The structural schema of a struct: its declared fields, with their markers and comments, as OpenAPI v3.

What controller-gen does for Go's types, with these differences: a field is required when its marker says so, not when
it lacks `omitempty`, for a field that was never written is not sent; a marker that says nothing of the field's type is
an error here; `metadata` of an object inside another one has its names, labels, annotations and finalizers.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import FieldInfo, JSONObject, Schema, Struct, ValidationRule
from clientgo.apimachinery.runtime.custom_resource import UNSET
from clientgo.apimachinery.runtime.field_types import StructType, parse_type
from clientgo.codegen.checks import place

_STRINGS: JSONObject = {"type": "object", "additionalProperties": {"type": "string"}}
_INT_OR_STRING: JSONObject = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
_QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"

_LEAVES: dict[str, JSONObject] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "int64": {"type": "integer", "format": "int64"},
    "uint": {"type": "integer", "minimum": 0},
    "uint64": {"type": "integer", "format": "int64", "minimum": 0},
    "float32": {"type": "number", "format": "float"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string"},
    "quantity": {"pattern": _QUANTITY, **_INT_OR_STRING},
    "intorstring": _INT_OR_STRING,
    "raw": {"x-kubernetes-preserve-unknown-fields": True},
    **{f"int{bits}": {"type": "integer", "format": "int32"} for bits in (8, 16, 32)},
    **{f"uint{bits}": {"type": "integer", "format": "int32", "minimum": 0} for bits in (8, 16, 32)},
}
_LEAVES |= {
    "[]byte": _LEAVES["bytes"],
    "intstr.IntOrString": _LEAVES["intorstring"],
    "metav1.Duration": _LEAVES["duration"],
    "metav1.MicroTime": _LEAVES["microtime"],
    "metav1.Time": _LEAVES["time"],
    "resource.Quantity": _LEAVES["quantity"],
    "runtime.RawExtension": _LEAVES["raw"],
}
_NUMBER_FORMATS = {"int32", "int64", "float", "double"}

_OBJECT_META: JSONObject = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "labels": _STRINGS,
        "name": {"type": "string"},
        "namespace": {"type": "string"},
    },
}
# What Go's metav1.Condition says in its own markers.
_CONDITION: JSONObject = {
    "type": "object",
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    "properties": {
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "message": {"type": "string", "maxLength": 32768},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
        "reason": {
            "type": "string",
            "maxLength": 1024,
            "minLength": 1,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        },
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "type": {
            "type": "string",
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
    },
}
_KNOWN: dict[type[Struct], JSONObject] = {metav1.ObjectMeta: _OBJECT_META, metav1.Condition: _CONDITION}

# The markers that are written as they are: what they are called in the schema, and the types they say something of.
_A = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "a list",
    "object": "an object",
    "": "a value of any type",
}
_ANY = frozenset(_A)
_NUMBERS = frozenset({"integer", "number"})
_MARKERS: dict[str, tuple[str, frozenset[str]]] = {
    "title": ("title", _ANY),
    "nullable": ("nullable", _ANY),
    "pattern": ("pattern", frozenset({"string", ""})),
    "min_length": ("minLength", frozenset({"string"})),
    "max_length": ("maxLength", frozenset({"string"})),
    "minimum": ("minimum", _NUMBERS),
    "maximum": ("maximum", _NUMBERS),
    "exclusive_minimum": ("exclusiveMinimum", _NUMBERS),
    "exclusive_maximum": ("exclusiveMaximum", _NUMBERS),
    "multiple_of": ("multipleOf", _NUMBERS),
    "min_items": ("minItems", frozenset({"array"})),
    "max_items": ("maxItems", frozenset({"array"})),
    "unique_items": ("uniqueItems", frozenset({"array"})),
    "min_properties": ("minProperties", frozenset({"object"})),
    "max_properties": ("maxProperties", frozenset({"object"})),
    "list_type": ("x-kubernetes-list-type", frozenset({"array"})),
    "list_map_keys": ("x-kubernetes-list-map-keys", frozenset({"array"})),
    "map_type": ("x-kubernetes-map-type", frozenset({"object"})),
    "embedded_resource": ("x-kubernetes-embedded-resource", frozenset({"object", ""})),
    "preserve_unknown_fields": ("x-kubernetes-preserve-unknown-fields", frozenset({"object", ""})),
}
# How a schema's keys follow each other in a file; those of the markers between, and what is inside of it last.
_FIRST = ("title", "description", "type", "format", "nullable", "default", "example", "enum")
_LAST = ("required", "properties", "additionalProperties", "items")


def schema_of(cls: type[Struct], *, descriptions: bool = True, number_formats: bool = True) -> JSONObject:
    """Return the structural schema of a kind, without the apiVersion, kind and metadata that every object has.

    `descriptions` selects whether docstrings and comments are written, and `number_formats` whether formats such as
    int32
    and double are. Raises ValueError, with the line of the field, for a type that no schema can express.
    """
    return _Writer(descriptions, number_formats).struct(cls, (), {"kind", "apiVersion", "metadata"})


@dataclass(frozen=True)
class _Field:
    """One declared field, and the class that declares it: its types are named relative to that one's module."""

    cls: type[Struct]
    info: FieldInfo

    def error(self, problem: str) -> ValueError:
        return ValueError(f"{place(self.cls, self.info.attr)}: {self.cls.__name__}.{self.info.attr}: {problem}")


@dataclass(frozen=True)
class _Writer:
    descriptions: bool
    number_formats: bool

    def struct(self, cls: type[Struct], above: tuple[type, ...], without: set[str] | None = None) -> JSONObject:
        """Return the schema of a struct. `above` are the structs that contain this one."""
        properties: JSONObject = {}
        required = []
        for found in _fields_of(cls):
            if found.info.json in (without or ()):
                continue
            marker = found.info.schema or Schema()
            properties[found.info.json] = self.field(found, (*above, cls))
            if marker.required:
                required.append(found.info.json)
        schema: JSONObject = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if text := self._description(cls):
            schema["description"] = text
        if cls.SCHEMA is not None:
            schema = _marked(schema, cls.SCHEMA, lambda problem: ValueError(f"{cls.__name__}: {problem}"))
        return _sorted(schema)

    def field(self, found: _Field, above: tuple[type, ...]) -> JSONObject:
        marker = found.info.schema or Schema()
        schema = self._typed(found, found.info.type, marker, above)
        if self.descriptions and (comment := _comments(found.cls).get(found.info.attr)):
            schema["description"] = comment
        return _sorted(schema)

    def _typed(self, found: _Field, notation: str, marker: Schema, above: tuple[type, ...]) -> JSONObject:
        """Return the schema of a type in the notation of `runtime.field`, completed by the marker."""
        notation = notation.lstrip("*")
        if notation in _LEAVES:
            schema = dict(_LEAVES[notation])
            if not self.number_formats and schema.get("format") in _NUMBER_FORMATS:
                del schema["format"]
            return _marked(schema, marker, found.error)
        items = marker.items or Schema()
        if notation.startswith("[]"):
            schema = {"type": "array", "items": _sorted(self._typed(found, notation[2:], items, above))}
            _check_map_keys(schema["items"], marker, found)
            return _marked(schema, marker, found.error)
        if notation.startswith("map[string]"):
            values = self._typed(found, notation.removeprefix("map[string]"), items, above)
            return _marked({"type": "object", "additionalProperties": _sorted(values)}, marker, found.error)
        return _marked(self._struct_field(found, notation, marker, above), marker, found.error)

    def _struct_field(self, found: _Field, name: str, marker: Schema, above: tuple[type, ...]) -> JSONObject:
        kind = parse_type(name, found.cls.__module__)
        assert isinstance(kind, StructType)
        try:
            cls = kind.resolve()
        except TypeError as err:
            raise found.error(f'it is declared as "{name}", and there is no such type') from err
        if cls in _KNOWN:
            return copy.deepcopy(_KNOWN[cls])
        if marker.preserve_unknown_fields:
            return {"type": "object"}
        if cls in above:
            raise found.error(
                f"{cls.__name__} contains itself, and a structural schema must end: "
                "schema=runtime.Schema(preserve_unknown_fields=True) ends it here"
            )
        return self.struct(cls, above)

    def _description(self, cls: type[Struct]) -> str:
        """Return the class's own docstring, or "" for built-in types, whose docstrings only repeat their names."""
        if not self.descriptions or cls.__module__.startswith("clientgo."):
            return ""
        return _one_line(inspect.cleandoc(cls.__dict__.get("__doc__") or ""))


def _fields_of(cls: type[Struct]) -> Iterator[_Field]:
    for attr, info in cls._fields.items():
        yield _Field(next(base for base in cls.__mro__ if attr in vars(base)), info)


def _marked(schema: JSONObject, marker: Schema, error: Any) -> JSONObject:
    """Return the schema completed by the marker. Raises `error` for a marker that does not apply to the schema's type.
    """
    is_a = schema.get("type", "")
    for attr, (key, types) in _MARKERS.items():
        value = getattr(marker, attr)
        if value is None or value is False or value in ("", ()):
            continue
        if is_a not in types:
            raise error(f"{attr} says nothing of {_A[is_a]}")
        schema[key] = list(value) if isinstance(value, (list, tuple)) else value
    if marker.items is not None and is_a not in ("array", "object"):
        raise error(f"items says nothing of {_A[is_a]}")
    if marker.description:
        schema["description"] = marker.description
    if marker.format is not None:
        schema["format"] = marker.format
        if not marker.format:
            del schema["format"]
    for key in ("default", "example"):
        value = getattr(marker, key)
        if value is not UNSET:
            schema[key] = runtime.copy_json(value)
    if marker.enum:
        schema["enum"] = [each.value if isinstance(each, Enum) else each for each in marker.enum]
    if marker.cel:
        schema["x-kubernetes-validations"] = [_rule(each) for each in marker.cel]
    return schema


def _rule(rule: ValidationRule | str) -> JSONObject:
    if isinstance(rule, str):
        return {"rule": rule}
    document = {
        "rule": rule.rule,
        "message": rule.message,
        "messageExpression": rule.message_expression,
        "reason": rule.reason,
        "fieldPath": rule.field_path,
        "optionalOldSelf": rule.optional_old_self,
    }
    return {key: value for key, value in document.items() if value not in ("", None)}


def _check_map_keys(items: JSONObject, marker: Schema, found: _Field) -> None:
    """Check that a list of type `map` has keys and that each element has them, as API servers require."""
    if (marker.list_type == "map") != bool(marker.list_map_keys):
        raise found.error('list_type="map" and list_map_keys go together')
    for key in marker.list_map_keys:
        named = items.get("properties", {}).get(key)
        if named is None:
            raise found.error(f"list_map_keys names {key!r}, which the elements do not have")
        if key not in items.get("required", ()) and "default" not in named:
            raise found.error(f"list_map_keys names {key!r}, which must be required, or have a default")


def _sorted(schema: JSONObject) -> JSONObject:
    first = [key for key in _FIRST if key in schema]
    last = [key for key in _LAST if key in schema]
    between = [key for key in schema if key not in _FIRST and key not in _LAST]
    return {key: schema[key] for key in (*first, *between, *last)}


@cache
def _comments(cls: type[Struct]) -> dict[str, str]:
    """Return each field's comment above it or docstring below it."""
    if cls.__module__.startswith("clientgo."):
        return {}
    try:
        lines = textwrap.dedent(inspect.getsource(cls)).splitlines()
    except (OSError, TypeError):  # Made where there is no file.
        return {}
    (declared,) = ast.parse("\n".join(lines)).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for node, after in zip(declared.body, [*declared.body[1:], None]):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if text := _text_of(after) or _comment_above(lines, node.lineno - 1):
            found[node.target.id] = _one_line(text)
    return found


def _text_of(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return ""


def _comment_above(lines: list[str], line: int) -> str:
    above: list[str] = []
    while line > 0 and lines[line - 1].strip().startswith("#"):
        line -= 1
        above.insert(0, lines[line].strip().removeprefix("#").strip())
    return "\n".join(above)


def _one_line(text: str) -> str:
    """Return the text with each paragraph on one line, since the line breaks of a source have no meaning."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
