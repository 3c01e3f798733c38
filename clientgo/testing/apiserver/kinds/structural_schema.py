"""Validation that a CRD's schema is structural. The server rejects other schemas.

Mirrors apiextensions-apiserver's structural schema validation. Pure functions; structural.py applies the schemas.
Without google-re2, patterns outside the syntax of linear_regex.py are refused too: no other engine may run them.
"""

from __future__ import annotations

import re
from typing import Any

from clientgo.testing.apiserver.kinds import patterns
from clientgo.testing.apiserver.kinds.rule_checks import check_texts
from clientgo.testing.apiserver.kinds.schema_validation import validate
from clientgo.testing.apiserver.kinds.structural import EMBEDDED, INT_OR_STRING, PRESERVE, prune
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_MAP_KEYS = "x-kubernetes-list-map-keys"
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
# Keywords that alternatives must not have, with their error texts.
_NOT_NESTED = {
    "type": "must be empty to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "additionalProperties": "must be undefined to be structural",
    "nullable": "must be false to be structural",
}


def check_schema(schema: Any, path: str) -> list[FieldError]:
    """Validate the schema of one version: first its keywords, then its structure, then its defaults."""
    errors: list[FieldError] = []
    if not isinstance(schema, dict):
        return errors
    _check_words(schema, path, errors)
    if _is_unsupported(schema):
        return errors
    found: list[FieldError] = []
    if not schema.get("type"):
        found.append(field_required(f"{path}.type", "must not be empty at the root"))
    elif schema["type"] != "object":
        found.append(field_invalid(f"{path}.type", schema["type"], "must be object at the root"))
    _check_structure(schema, path, found, root=True)
    if not found:
        _check_defaults(schema, path, found)
    return errors + found


_UNSUPPORTED = ("id", "$schema", "$ref", "patternProperties", "definitions", "dependencies", "additionalItems")
# The unsupported keywords that Go rejects by name.
_REFUSED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def _is_unsupported(schema: Any) -> bool:
    """Report whether the schema has keywords that no structural schema may have. Its structure is then not checked."""
    if not isinstance(schema, dict):
        return False
    return any(schema.get(name) for name in _UNSUPPORTED) or any(
        _is_unsupported(inner) for _, inner in _below(schema, "")
    )


def _below(schema: Json, path: str) -> list[tuple[str, Json]]:
    """Return the schemas directly below a schema, with their paths."""
    out = [(f"{path}.properties[{name}]", inner) for name, inner in (schema.get("properties") or {}).items()]
    out += [(f"{path}.{name}", schema[name]) for name in ("items", "additionalProperties")
            if isinstance(schema.get(name), dict)]  # fmt: skip
    return out


def _check_words(schema: Json, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("type", "")
    if kind and kind not in _TYPES:
        errors.append(field_not_supported(f"{path}.type", kind, list(_TYPES)))
    _check_forbidden(schema, path, errors)
    if schema.get(PRESERVE) is False:
        errors.append(field_invalid(f"{path}.{PRESERVE}", False, "must be true or undefined"))
    _check_map_type(schema, path, errors)
    _check_list_type(schema, path, errors)
    _check_pattern(schema, path, errors)
    errors += check_texts(schema, path)
    for where, inner in _below(schema, path):
        _check_words(inner, where, errors)


def _check_structure(schema: Json, path: str, errors: list[FieldError], *, root: bool = False) -> None:
    kind = schema.get("type", "")
    if not kind and not root and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        errors.append(field_required(f"{path}.type", "must not be empty for specified object fields"))
    if kind == "array" and not schema.get("items"):
        errors.append(field_required(f"{path}.items", "must be specified"))
    embedded = bool(schema.get(EMBEDDED))
    if embedded and not schema.get(PRESERVE) and not schema.get("properties"):
        text = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        errors.append(field_required(f"{path}.properties", text))
    if root or embedded:
        _check_root_fields(schema, path, errors)
    _check_alternatives(schema, path, errors)
    for where, inner in _below(schema, path):
        if not (root and where.rpartition("[")[2] == "metadata]"):
            _check_structure(inner, where, errors)


def _check_root_fields(schema: Json, path: str, errors: list[FieldError]) -> None:
    """Validate that the schema does not redefine the fields of every object."""
    properties = schema.get("properties") or {}
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        kind = (properties.get(name) or {}).get("type", wanted)
        if kind != wanted:
            errors.append(field_invalid(f"{path}.properties[{name}].type", kind, f"must be {wanted}"))
    metadata = properties.get("metadata")
    if not isinstance(metadata, dict):
        return
    known = set(metadata) <= {"type", "description", "properties"}
    if not known or not set(metadata.get("properties") or ()) <= {"name", "generateName"}:
        text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        errors.append(field_forbidden(f"{path}.properties[metadata]", text))


def _check_defaults(schema: Json, path: str, errors: list[FieldError]) -> None:
    """Validate each default against its schema. A default must not have fields that pruning drops."""
    if schema.get("default") is not None:
        errors += _default_errors(schema["default"], schema, f"{path}.default")
    for where, inner in _below(schema, path):
        _check_defaults(inner, where, errors)


def _default_errors(value: Any, schema: Json, path: str) -> list[FieldError]:
    if prune({"value": value}, {"properties": {"value": schema}})[1]:
        return [field_invalid(path, value, "must not have unknown fields")]
    return validate(value, schema, path)


# Errors that do not prevent checks of expressions. Go finds these errors together with those of expressions.
_NOT_OF_STRUCTURE = re.compile(
    r".*(x-kubernetes-list-|x-kubernetes-map-type|mutual exclusive|\$ref|entries must all|x-kubernetes-validations"
    r"|regular expression)"
)


def is_structural(errors: list[FieldError]) -> bool:
    """Report whether the errors leave a structural schema, against which expressions can be checked."""
    return all(_NOT_OF_STRUCTURE.match(str(error)) for error in errors)


def _check_map_type(schema: Json, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("x-kubernetes-map-type")
    if kind is None:
        return
    if schema.get("type") != "object":
        text = "must be object if x-kubernetes-map-type is specified"
        given = schema.get("type")
        errors.append(field_invalid(f"{path}.type", given, text) if given else field_required(f"{path}.type", text))
    if kind not in ("atomic", "granular"):
        errors.append(field_not_supported(f"{path}.x-kubernetes-map-type", kind, ["atomic", "granular"]))


def _check_forbidden(schema: Json, path: str, errors: list[FieldError]) -> None:
    _check_unsupported(schema, path, errors)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(field_forbidden(f"{path}.uniqueItems", text))
    if schema.get("properties") and schema.get("additionalProperties"):
        text = "additionalProperties and properties are mutual exclusive"
        errors.append(field_forbidden(f"{path}.additionalProperties", text))


def _check_unsupported(schema: Json, path: str, errors: list[FieldError]) -> None:
    for name in _REFUSED:
        if schema.get(name):
            errors.append(field_forbidden(f"{path}.{name}", f"{name} is not supported"))


def _check_pattern(schema: Json, path: str, errors: list[FieldError]) -> None:
    """Validate the patterns of a schema and of its alternatives, including the parts of a value that they describe."""
    pattern = schema.get("pattern")
    if pattern:
        try:
            patterns.check(pattern)
        except patterns.PatternError as err:
            errors.append(field_invalid(f"{path}.pattern", pattern, str(err)))
    for where, alternative in _alternatives(schema, path):
        _check_nested_words(alternative, where, errors)


def _check_nested_words(schema: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(schema, dict):
        return
    _check_unsupported(schema, path, errors)
    _check_pattern(schema, path, errors)
    for where, inner in _below(schema, path):
        _check_nested_words(inner, where, errors)


def _check_list_type(schema: Json, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("x-kubernetes-list-type")
    if kind is None:
        return
    if schema.get("type") != "array":
        text = "must be array if x-kubernetes-list-type is specified"
        errors.append(field_invalid(f"{path}.type", schema.get("type", ""), text))
    if kind not in ("atomic", "set", "map"):
        errors.append(field_not_supported(f"{path}.x-kubernetes-list-type", kind, ["atomic", "map", "set"]))
    items = schema.get("items") if isinstance(schema.get("items"), dict) else {}
    if kind == "map":
        _check_map_keys(schema.get(_MAP_KEYS) or [], items or {}, path, errors)
    elif kind == "set" and items and items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        text = "must be atomic as item of a list with x-kubernetes-list-type=set"
        where = f"{path}.items.x-kubernetes-map-type"
        errors.append(field_invalid(where, items.get("x-kubernetes-map-type"), text))


def _check_map_keys(keys: list[str], items: Json, path: str, errors: list[FieldError]) -> None:
    if not keys:
        errors.append(field_required(f"{path}.{_MAP_KEYS}", "must not be empty if x-kubernetes-list-type is map"))
    properties = items.get("properties") or {}
    if not properties.keys() >= set(keys):
        text = "entries must all be names of item properties"
        errors.append(field_invalid(f"{path}.{_MAP_KEYS}", keys, text))
    for key in keys:
        if key not in properties:
            continue
        if "default" not in properties[key] and key not in (items.get("required") or ()):
            text = f"this property is in {_MAP_KEYS}, so it must have a default or be a required property"
            errors.append(field_required(f"{path}.items.properties[{key}].default", text))


def _check_alternatives(schema: Json, path: str, errors: list[FieldError]) -> None:
    """Validate allOf, anyOf, oneOf and not: they may restrict values, but not specify their structure."""
    for where, one in _alternatives(schema, path):
        _check_nested(one, where, errors, types_allowed=bool(schema.get(INT_OR_STRING)))


def _alternatives(schema: Json, path: str) -> list[tuple[str, Any]]:
    nested = [(f"{path}.{name}[{i}]", one) for name in ("allOf", "anyOf", "oneOf")
              for i, one in enumerate(schema.get(name) or ())]  # fmt: skip
    if isinstance(schema.get("not"), dict):
        nested.append((f"{path}.not", schema["not"]))
    return nested


def _check_nested(schema: Any, path: str, errors: list[FieldError], *, types_allowed: bool = False) -> None:
    if not isinstance(schema, dict):
        return
    for name, text in _NOT_NESTED.items():
        if schema.get(name) not in (None, "", False) and not (name == "type" and types_allowed):
            errors.append(field_forbidden(f"{path}.{name}", text))
    for name, inner in (schema.get("properties") or {}).items():
        _check_nested(inner, f"{path}.properties[{name}]", errors)
    _check_nested(schema.get("items"), f"{path}.items", errors)
    for kind in ("allOf", "anyOf", "oneOf"):
        for i, inner in enumerate(schema.get(kind) or ()):
            _check_nested(inner, f"{path}.{kind}[{i}]", errors, types_allowed=types_allowed)
