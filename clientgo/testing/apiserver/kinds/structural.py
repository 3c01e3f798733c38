"""Structural schemas of custom resources: pruning, defaulting and validation in Kubernetes' words.

Mirrors apiextensions-apiserver's pruning, defaulting, listtype and validation packages. Pure functions. What the
schema does not say is not checked; its CEL rules are those of rules.py.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from clientgo.testing.apiserver.kinds import rules
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_long,
    field_too_many,
    field_type_invalid,
)
from clientgo.testing.apiserver.wire.jsonio import Json, copy, dumps_text

ROOT_FIELDS = ("apiVersion", "kind", "metadata")
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# ---- pruning


def prune(obj: Json, schema: Json | None) -> tuple[Json, list[str]]:
    """The object without fields the schema does not know, and the paths of those. apiVersion, kind, metadata stay."""
    if schema is None:
        return obj, []
    dropped: list[str] = []
    out = _prune(obj, schema, "", dropped, root=True)
    return out, dropped


def _prune(value: Any, schema: Json, path: str, dropped: list[str], *, root: bool = False) -> Any:
    if isinstance(value, list):
        items = schema.get("items")
        if not isinstance(items, dict):
            return value
        return [_prune(item, items, f"{path}[{i}]", dropped) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    embedded = root or schema.get(EMBEDDED)
    properties = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    preserve = schema.get(PRESERVE)
    out: Json = {}
    for name, item in value.items():
        below = _join(path, name)
        if embedded and name in ROOT_FIELDS:
            out[name] = item
        elif name in properties:
            out[name] = _prune(item, properties[name], below, dropped)
        elif isinstance(more, dict):
            out[name] = _prune(item, more, below, dropped)
        elif more is True or preserve:
            out[name] = item
        else:
            dropped.append(below)
    return out


# ---- defaulting


def default(value: Any, schema: Json | None) -> Any:
    """The value with the defaults of the schema; null counts as absent where it is not allowed."""
    if schema is None:
        return value
    if isinstance(value, dict):
        out = dict(value)
        properties = schema.get("properties") or {}
        more = schema.get("additionalProperties")
        for name, inner in properties.items():
            if out.get(name, inner) is None and not inner.get("nullable") and name in out and "default" in inner:
                del out[name]
            if name not in out and "default" in inner:
                out[name] = copy(inner["default"])
            if name in out:
                out[name] = default(out[name], inner)
        if isinstance(more, dict):
            for name in out:
                if name not in properties:
                    out[name] = default(out[name], more)
        return out
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [default(item, schema["items"]) for item in value]
    return value


# ---- validation


def validate(obj: Json, schema: Json | None) -> list[FieldError]:
    """All violations, in the order of property names."""
    if schema is None:
        return []
    errors: list[FieldError] = []
    _validate(obj, schema, "", errors)
    _validate_lists(obj, schema, "", errors)
    if _blocks_rules(errors):
        errors.append(field_invalid("<nil>", None, _NOT_CHECKED))
    return errors


_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


_BLOCKING = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


def validate_all(obj: Json, old: Json | None, schema: Json | None) -> tuple[list[FieldError], list[str]]:
    """All violations, those of CEL rules too, and what is warned of: rules that what is unchanged breaks."""
    errors = validate(obj, schema)
    found = rules.of_schema(schema)
    if found is None or any(error.body.endswith(_NOT_CHECKED) for error in errors):
        return errors, []
    if any(error.reason in _BLOCKING for error in errors):
        return [*errors, field_invalid("<nil>", None, _NOT_CHECKED)], []
    more, warnings = found.validate(obj, old)
    return errors + more, warnings


def _blocks_rules(errors: list[FieldError]) -> bool:
    """Whether, even without any, CEL rules could not be tried: a field of the root that must be there is not."""
    return any(error.reason == "FieldValueRequired" and "." not in error.field for error in errors)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return "array" if isinstance(value, list) else "object"


def _fits(kind: str, wanted: str) -> bool:
    return kind == wanted or (kind == "integer" and wanted == "number")


def _wrong_type(path: str, kind: str, wanted: str) -> FieldError:
    where = path or "<nil>"
    return field_type_invalid(where, kind, f'{path} in body must be of type {wanted}: "{kind}"')


def _validate(value: Any, schema: Json, path: str, errors: list[FieldError]) -> None:
    kind = _type_of(value)
    if kind == "null":
        if schema.get("nullable") or (schema.get(PRESERVE) and not schema.get("type")):
            return
        if schema.get("type"):
            errors.append(_wrong_type(path, kind, schema["type"]))
        return
    if schema.get(INT_OR_STRING):
        if kind not in ("integer", "string"):
            errors.append(_wrong_type(path, kind, "integer,string"))
            return
    elif schema.get("type") and not _fits(kind, schema["type"]):
        errors.append(_wrong_type(path, kind, schema["type"]))
        return
    if schema.get(EMBEDDED) and kind == "object":
        missing = (name for name in ("apiVersion", "kind") if not value.get(name))
        errors += [field_required(_join(path, name), "must not be empty") for name in missing]
    _validate_enum(value, schema, path, errors)
    if kind == "object":
        _validate_object(value, schema, path, errors)
    elif kind == "array":
        _validate_array(value, schema, path, errors)
    elif kind == "string":
        _validate_string(value, schema, path, errors)
    elif kind in ("integer", "number"):
        _validate_number(value, schema, path, errors)
    _validate_composition(value, schema, path, errors)


def _validate_enum(value: Any, schema: Json, path: str, errors: list[FieldError]) -> None:
    enum = schema.get("enum")
    if enum is None or any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in enum):
        return
    errors.append(field_not_supported(path, value, [c if isinstance(c, str) else dumps_text(c) for c in enum]))


def _validate_object(value: Json, schema: Json, path: str, errors: list[FieldError]) -> None:
    properties = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    for name in schema.get("required") or ():
        if name not in value:
            errors.append(field_required(_join(path, name)))
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        errors.append(field_invalid(path, len(value), f"{path} in body should have at least {least} properties"))
    if most is not None and len(value) > most:
        errors.append(field_too_many(path, len(value), most))
    for name in sorted(value):
        inner = properties.get(name)
        if inner is None and isinstance(more, dict):
            inner = more
        if inner is not None and not (path == "" and name in ROOT_FIELDS):
            _validate(value[name], inner, _join(path, name), errors)
    for pattern, inner in (schema.get("patternProperties") or {}).items():
        for name in sorted(value):
            expression = _compile(pattern)
            if expression is not None and expression.search(name):
                _validate(value[name], inner, _join(path, name), errors)


def _validate_array(value: list[Any], schema: Json, path: str, errors: list[FieldError]) -> None:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        errors.append(field_invalid(path, len(value), f"{path} in body should have at least {least} items"))
    if most is not None and len(value) > most:
        errors.append(field_too_many(path, len(value), most))
    if schema.get("uniqueItems") and len({dumps_text(item) for item in value}) != len(value):
        errors.append(field_invalid(path, value, f"{path} in body shouldn't contain duplicates"))
    items = schema.get("items")
    if isinstance(items, dict):
        for i, item in enumerate(value):
            _validate(item, items, f"{path}[{i}]", errors)


def _validate_string(value: str, schema: Json, path: str, errors: list[FieldError]) -> None:
    most, least = schema.get("maxLength"), schema.get("minLength")
    if most is not None and len(value) > most:
        errors.append(field_too_long(path, most))
    if least is not None and len(value) < least:
        errors.append(field_invalid(path, value, f"{path} in body should be at least {least} chars long"))
    pattern = schema.get("pattern")
    if pattern:
        expression = _compile(pattern)
        if expression is not None and not expression.search(value):
            errors.append(field_invalid(path, value, f"{path} in body should match '{pattern}'"))
    known = _FORMATS.get(schema.get("format", ""))
    if known is not None and not _passes(known, value):
        detail = f'{path} in body must be of type {schema["format"]}: "{value}"'
        errors.append(field_invalid(path, value, detail))


def _validate_number(value: float, schema: Json, path: str, errors: list[FieldError]) -> None:
    low, high, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    if low is not None:
        strict = schema.get("exclusiveMinimum")
        if value < low or (strict and value == low):
            words = "greater than" if strict else "greater than or equal to"
            errors.append(field_invalid(path, value, f"{path} in body should be {words} {dumps_text(low)}"))
    if high is not None:
        strict = schema.get("exclusiveMaximum")
        if value > high or (strict and value == high):
            words = "less than" if strict else "less than or equal to"
            errors.append(field_invalid(path, value, f"{path} in body should be {words} {dumps_text(high)}"))
    if step and value % step:
        errors.append(field_invalid(path, value, f"{path} in body should be a multiple of {dumps_text(step)}"))
    form = schema.get("format")
    if form in ("int32", "int64") and schema.get("type") == "integer":
        bits = 31 if form == "int32" else 63
        if not -(2**bits) <= value < 2**bits:
            errors.append(field_invalid(path, value, f"{path} in body must be of type {form}: {dumps_text(value)}"))


def _validate_composition(value: Any, schema: Json, path: str, errors: list[FieldError]) -> None:
    where = path or "<nil>"

    def passes(inner: Json) -> list[FieldError]:
        found: list[FieldError] = []
        _validate(value, inner, path, found)
        return found

    for inner in schema.get("allOf") or ():
        found = passes(inner)
        if found:
            errors.append(field_invalid(where, "", f'"{path}" must validate all the schemas (allOf)'))
            errors.extend(found)
            break
    any_of = schema.get("anyOf")
    if any_of:
        results = [passes(inner) for inner in any_of]
        if all(results):
            errors.append(field_invalid(where, "", f'"{path}" must validate at least one schema (anyOf)'))
            errors.extend(_fewest(results))
    one_of = schema.get("oneOf")
    if one_of:
        results = [passes(inner) for inner in one_of]
        good = sum(not found for found in results)
        if good != 1:
            tail = "Found none valid" if good == 0 else f"Found {good} valid alternatives"
            text = f'"{path}" must validate one and only one schema (oneOf). {tail}'
            errors.append(field_invalid(where, "", text))
            if good == 0:
                errors.extend(_fewest(results))
    negated = schema.get("not")
    if negated is not None and not passes(negated):
        errors.append(field_invalid(where, "", f'"{path}" must not validate the schema (not)'))


def _fewest(results: list[list[FieldError]]) -> list[FieldError]:
    """The violations of the alternative that comes closest."""
    return sorted(results, key=len)[0]


def _validate_lists(value: Any, schema: Json, path: str, errors: list[FieldError]) -> None:
    """Duplicates in sets and keyed lists."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        more = schema.get("additionalProperties")
        for name in sorted(value):
            inner = properties.get(name) or (more if isinstance(more, dict) else None)
            if inner:
                _validate_lists(value[name], inner, _join(path, name), errors)
        return
    if not isinstance(value, list):
        return
    kind = schema.get("x-kubernetes-list-type")
    items = schema.get("items") if isinstance(schema.get("items"), dict) else None
    seen: set[str] = set()
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    for i, item in enumerate(value):
        if kind == "map" and isinstance(item, dict):
            shown: Any = {key: item[key] for key in sorted(keys) if key in item}
        elif kind == "set":
            shown = item
        else:
            shown = None
        if kind in ("map", "set"):
            text = dumps_text(shown)
            if text in seen:
                errors.append(field_duplicate(f"{path}[{i}]", shown))
            seen.add(text)
        if items:
            _validate_lists(item, items, f"{path}[{i}]", errors)


@lru_cache(maxsize=512)
def _compile(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern.replace(r"\z", r"\Z"))
    except re.error:
        # RE2 knows syntax that re does not; better not to validate than to validate wrongly.
        return None


def _passes(check: Any, value: str) -> bool:
    try:
        return check(value) is not False
    except (ValueError, TypeError):
        return False


def _date_time(value: str) -> bool:
    datetime.fromisoformat(value.upper())
    return bool(re.match(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$", value))


_FORMATS: dict[str, Any] = {
    "date-time": _date_time,
    "datetime": _date_time,
    "date": lambda value: bool(re.match(r"^\d{4}-\d\d-\d\d$", value)) and datetime.fromisoformat(value) is not None,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "cidr": lambda value: ipaddress.ip_network(value, strict=False) is not None and "/" in value,
    "uuid": lambda value: bool(re.match(r"(?i)^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$", value)),
    "byte": lambda value: base64.b64decode(value, validate=True) is not None,
    "email": lambda value: bool(re.match(r"^[^@\s]+@[^@\s]+$", value)),
    "hostname": lambda value: bool(re.match(r"^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9-]+)*\.?$", value)),
    "mac": lambda value: bool(re.match(r"(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$", value)),
}
