"""Validation by OpenAPI v3 schemas, with Kubernetes' messages. Mirrors kube-openapi's pkg/validation/validate.

Pure functions. A schema without a type and rules accepts every value. With the old value of an update, unchanged parts
stay valid although they would be rejected now (apiextensions-apiserver's ratcheting.go).
"""

from __future__ import annotations

import math
from typing import Any, Final

from clientgo.testing.apiserver.cel.common.values import map_key
from clientgo.testing.apiserver.kinds import patterns, schema_formats
from clientgo.testing.apiserver.kinds.structural import INT_OR_STRING, ROOT_FIELDS
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_long,
    field_too_many,
    field_type_invalid,
    internal_text,
)
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text

_NOWHERE = "<nil>"
_INT_BITS = {"int32": 31, "int64": 63}


class _Unknown:
    """A placeholder for the old value of a field that has none."""


_UNKNOWN = _Unknown()
_EPSILON = 1e-9
# Steps of one validation: several times the values that a request has room for. About ten seconds.
_MAX_STEPS: Final = 3_000_000
# Characters of all messages of one validation. Each is held several times until the answer is sent.
_MAX_TEXT: Final = 8 * 1024 * 1024
# Choices of an enum that are compared in the time of a step.
_CHOICES_PER_STEP: Final = 16


def validate(value: Any, schema: Json, place: str = "") -> list[FieldError]:
    """Return all violations. `place` is the value's path in the whole object; the messages do not mention it.

    Raises ApiError 500 if schema and value together take too much time or too many messages.
    """
    errors = _Found(place, _Work())
    _validate(value, schema, "", errors, _UNKNOWN)
    return errors.list


def validate_update(value: Any, old: Any, schema: Json, place: str = "") -> list[FieldError]:
    """Return the violations in the parts that have changed. Raises ApiError like `validate`."""
    if not validate(value, schema, place):
        return []
    errors = _Found(place, _Work())
    _validate_changed(value, schema, "", errors, old)
    return errors.list


class _Work:
    """The remaining steps and message lengths of one validation."""

    __slots__ = ("_steps", "_text")

    def __init__(self) -> None:
        self._steps = _MAX_STEPS
        self._text = _MAX_TEXT

    def spend(self, steps: int) -> None:
        """Raise ApiError 500 if the steps are used up."""
        self._steps -= steps
        if self._steps < 0:
            raise internal_text(f"the validation by the schema takes more than {_MAX_STEPS} steps")

    def add_text(self, size: int) -> None:
        """Raise ApiError 500 if the messages are too long."""
        self._text -= size
        if self._text < 0:
            raise internal_text(f"the violations of the schema take more than {_MAX_TEXT} characters")


class _Found:
    """The violations so far, without repetitions: several alternatives of a schema often find the same violation."""

    __slots__ = ("_texts", "list", "place", "work")

    def __init__(self, place: str, work: _Work) -> None:
        self.place = place
        self.work = work
        self.list: list[FieldError] = []
        self._texts: set[str] = set()

    def inner(self) -> _Found:
        """Return an empty list of violations that shares the work."""
        return _Found(self.place, self.work)

    def add(self, error: FieldError) -> None:
        """Add the error of a field, whose path begins below the value."""
        path = error.field.removeprefix(".")
        if self.place:
            path = f"{self.place}.{path}" if path else self.place
        self.keep(FieldError(error.reason, path or _NOWHERE, error.body))

    def add_text(self, text: str) -> None:
        """Add a message about the whole value."""
        self.keep(field_invalid(self.place or _NOWHERE, "", text))

    def keep(self, error: FieldError) -> None:
        text = str(error)
        if text not in self._texts:
            self.work.add_text(len(text))
            self._texts.add(text)
            self.list.append(error)

    def merge(self, other: _Found) -> None:
        for error in other.list:
            self.keep(error)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_KINDS: dict[type, str] = {
    str: "string",
    int: "integer",
    dict: "object",
    list: "array",
    bool: "boolean",
    float: "number",
}


def _type_of(value: Any) -> str:
    """Return the type of a value whose class is a subclass of a JSON type."""
    return next((kind for known, kind in _KINDS.items() if isinstance(value, known)), "object")


def _validate_changed(value: Any, schema: Json, path: str, errors: _Found, old: Any) -> int:
    """Add the violations, but none for an unchanged value. Return the number of checks, as `_validate`."""
    found = errors.inner()
    count = _validate(value, schema, path, found, old)
    if found.list and not _is_same(value, old, schema):
        errors.merge(found)
    return count


def _is_same(value: Any, old: Any, schema: Json) -> bool:
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if keys and isinstance(value, list) and isinstance(old, list) and len(value) == len(old):
        known = _by_keys(old, keys)
        return all(isinstance(item, dict) and known.get(map_key(item, keys)) == item for item in value)
    return bool(value == old)


def _by_keys(items: list[Any], keys: tuple[str, ...]) -> dict[Any, Any]:
    return {map_key(item, keys): item for item in items if isinstance(item, dict)}


def _validate_field(value: Any, schema: Json, path: str, errors: _Found, old: Any, name: str) -> int:
    """Validate one field of an object and return the number of checks.

    An unchanged value stays valid if `old` is the old object.
    """
    if not isinstance(old, dict) or ("." not in path and name in ROOT_FIELDS):
        return _validate(value, schema, path, errors, _UNKNOWN)
    return _validate_changed(value, schema, path, errors, old.get(name))


def _validate(value: Any, schema: Json, path: str, errors: _Found, old: Any) -> int:
    """Add the violations and return the number of checks. It selects the closest of several alternatives."""
    errors.work.spend(1)
    if value is None:
        wanted = _types(schema)
        if wanted and not schema.get("nullable"):
            errors.add(_wrong_type(path, wanted, "null"))
        return 1
    kind = _KINDS.get(type(value)) or _type_of(value)
    if schema.get("type") != kind or "format" in schema or INT_OR_STRING in schema:
        _validate_type(value, kind, schema, path, errors)
    count = 4  # type, composition, enum, all
    if not _COMPOSITIONS.isdisjoint(schema):
        count += _validate_composition(value, schema, path, errors, old)
    if kind == "string":
        count += _validate_string(value, schema, path, errors)
    elif kind in ("integer", "number"):
        count += _validate_number(value, schema, path, errors)
    elif kind == "array":
        count += _validate_array(value, schema, path, errors, old)
    if "enum" in schema:
        _validate_enum(value, schema, path, errors)
    if kind == "object":
        count += _validate_object(value, schema, path, errors, old)
    return count


_COMPOSITIONS = frozenset(("allOf", "anyOf", "oneOf", "not"))


def _wrong_type(path: str, wanted: str, kind: str) -> FieldError:
    return field_type_invalid(path, kind, f'{path} in body must be of type {wanted}: "{kind}"')


def _types(schema: Json) -> str:
    """Return the types of a schema, separated by commas; empty for any type."""
    return "integer,string" if schema.get(INT_OR_STRING) else schema.get("type") or ""


def _validate_type(value: Any, kind: str, schema: Json, path: str, errors: _Found) -> None:
    wanted, wanted_form = _types(schema), schema.get("format", "")
    form = {"integer": "int64", "number": "float64"}.get(kind, "")
    if wanted == kind and not wanted_form:
        return
    types = wanted.split(",")
    fits = (
        kind in types
        or (kind == "number" and "integer" in types and _is_whole(value))
        or (kind == "integer" and "number" in types)
    )
    if wanted_form and not schema_formats.is_known(wanted_form) and wanted_form not in _NUMBER_FORMATS:
        wanted_form = ""
    if wanted_form and kind not in ("string", "array") and not fits and form != wanted_form:
        errors.add(_wrong_type(path, wanted_form, form))
        return
    if wanted_form and kind in ("string", "array") and not {"number", "integer"} & set(types):
        return
    if wanted and not fits:
        errors.add(_wrong_type(path, wanted, kind))


_NUMBER_FORMATS = frozenset(("int32", "int64", "float", "double"))


def _validate_enum(value: Any, schema: Json, path: str, errors: _Found) -> None:
    enum = schema.get("enum")
    errors.work.spend(len(enum or ()) // _CHOICES_PER_STEP)
    if not enum or any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in enum):
        return
    shown = [choice if isinstance(choice, str) else dumps_text(choice) for choice in enum]
    errors.add(field_not_supported(path, value, shown))


def _validate_object(value: Json, schema: Json, path: str, errors: _Found, old: Any) -> int:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        errors.add(field_invalid(path, len(value), f"{path} in body should have at least {least} properties"))
        return 0
    if most is not None and len(value) > most:
        errors.add(field_too_many(path, len(value), most))
        return 0
    properties = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    count = 0
    for name in sorted(value):
        inner = properties.get(name)
        if inner is None and isinstance(more, dict):
            inner = more
        if inner is not None:
            below = f"{path}.{name}" if path else name
            if old is _UNKNOWN:
                count += _validate(value[name], inner, below, errors, old)
            else:
                count += _validate_field(value[name], inner, below, errors, old, name)
    for name in schema.get("required") or ():
        if name not in value and (properties.get(name) or {}).get("default") is None:
            errors.add(field_required(f"{path}.{name}"))
    return count


def _validate_array(value: list[Any], schema: Json, path: str, errors: _Found, old: Any) -> int:
    items, count = schema.get("items"), 2
    if isinstance(items, dict):
        known = {} if old is _UNKNOWN else _known_items(old, schema)
        keys = tuple(schema.get("x-kubernetes-list-map-keys") or ()) if known else ()
        for i, item in enumerate(value):
            was = known.get(map_key(item, keys)) if known and isinstance(item, dict) else None
            if was is None:
                count += _validate(item, items, f"{path}[{i}]", errors, _UNKNOWN)
            else:
                count += _validate_changed(item, items, f"{path}[{i}]", errors, was)
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        errors.add(field_invalid(path, len(value), f"{path} in body should have at least {least} items"))
    if most is not None and len(value) > most:
        errors.add(field_too_many(path, len(value), most))
    if schema.get("uniqueItems") and len({dumps_text(item) for item in value}) != len(value):
        errors.add(field_invalid(path, value, f"{path} in body shouldn't contain duplicates"))
    return count


def _known_items(old: Any, schema: Json) -> dict[Any, Any]:
    """Return the old items of a keyed list by their keys. Items of other lists cannot be identified."""
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return {}
    return _by_keys(old, tuple(schema.get("x-kubernetes-list-map-keys") or ()))


_OF_STRINGS = frozenset(("maxLength", "minLength", "pattern"))


def _validate_string(value: str, schema: Json, path: str, errors: _Found) -> int:
    if not _OF_STRINGS.isdisjoint(schema):
        wrong = _wrong_string(value, schema, path)
        if wrong is not None:
            errors.add(wrong)
    form = schema.get("format")
    if not form or not schema_formats.is_known(form):
        return 1
    if not schema_formats.passes(form, value):
        errors.add(field_type_invalid(path, value, f'{path} in body must be of type {form}: "{value}"'))
    return 2


def _wrong_string(value: str, schema: Json, path: str) -> FieldError | None:
    """Return the first violation in a string, or None."""
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if most is not None and len(value) > most:
        return field_too_long(path, most)
    if least is not None and len(value) < least:
        return field_invalid(path, value, f"{path} in body should be at least {least} chars long")
    if pattern:
        return _unmatched(value, pattern, path)
    return None


def _unmatched(value: str, pattern: str, path: str) -> FieldError | None:
    try:
        if patterns.search(pattern, value):
            return None
        text = pattern
    except patterns.PatternError as err:
        text = f"{pattern}, but pattern is invalid: {err}"
    return field_invalid(path, value, f"{path} in body should match '{text}'")


def _validate_number(value: float, schema: Json, path: str, errors: _Found) -> int:
    if schema.get("type") == "integer" and not _is_in_range(value, schema.get("format")):
        form = schema.get("format")
        text = f"with format {form}" if form else "(default format)"
        errors.add_text(f"Checked value must be of type integer {text} in {path}")
    step, low, high = schema.get("multipleOf"), schema.get("minimum"), schema.get("maximum")
    if step and not _is_multiple(value, step):
        errors.add(field_invalid(path, value, f"{path} in body should be a multiple of {dumps_text(step)}"))
    if low is not None:
        strict = schema.get("exclusiveMinimum")
        if value < low or (strict and value == low):
            words = "greater than" if strict else "greater than or equal to"
            errors.add(field_invalid(path, value, f"{path} in body should be {words} {dumps_text(low)}"))
    if high is not None:
        strict = schema.get("exclusiveMaximum")
        if value > high or (strict and value == high):
            words = "less than" if strict else "less than or equal to"
            errors.add(field_invalid(path, value, f"{path} in body should be {words} {dumps_text(high)}"))
    return 2


def _is_in_range(value: float, form: str | None) -> bool:
    bits = _INT_BITS.get(form or "", 63)
    return (isinstance(value, int) or value.is_integer()) and -(2**bits) <= value < 2**bits


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    return _is_whole(1 / step * value if step < 1 else value / step)


def _is_whole(value: float) -> bool:
    """Report whether a float is close enough to an integer. Infinity is none."""
    if not math.isfinite(value):
        return False
    if value == int(value):
        return True
    near = float(int(value))
    return near != 0 and abs(value - near) / (abs(value) + abs(near)) < _EPSILON


def _validate_composition(value: Any, schema: Json, path: str, errors: _Found, old: Any) -> int:
    def tried(inner: Json) -> tuple[_Found, int]:
        found = errors.inner()
        return found, _validate(value, inner, path, found, old)

    count = 0
    if schema.get("anyOf"):
        count += _any_of([tried(inner) for inner in schema["anyOf"]], path, errors)
    if schema.get("oneOf"):
        count += _one_of([tried(inner) for inner in schema["oneOf"]], path, errors)
    if schema.get("allOf"):
        results = [tried(inner) for inner in schema["allOf"]]
        for found, made in results:
            errors.merge(found)
            count += made
        if any(found.list for found, _ in results):
            tail = "" if any(not found.list for found, _ in results) else ". None validated"
            errors.add_text(f'"{path}" must validate all the schemas (allOf){tail}')
    if schema.get("not") is not None and not tried(schema["not"])[0].list:
        errors.add_text(f'"{path}" must not validate the schema (not)')
    return count


_Tried = list[tuple[_Found, int]]


def _any_of(results: _Tried, path: str, errors: _Found) -> int:
    passed = next((made for found, made in results if not found.list), None)
    if passed is not None:
        return passed
    errors.add_text(f'"{path}" must validate at least one schema (anyOf)')
    return _add_closest(results, errors)


def _one_of(results: _Tried, path: str, errors: _Found) -> int:
    passed = [made for found, made in results if not found.list]
    if len(passed) == 1:
        return passed[0]
    tail = f"Found {len(passed)} valid alternatives" if passed else "Found none valid"
    errors.add_text(f'"{path}" must validate one and only one schema (oneOf). {tail}')
    return _add_closest(results, errors) if not passed else 0


def _add_closest(results: _Tried, errors: _Found) -> int:
    """Add the errors of the alternative with the most checks, and return the number of these checks.

    The errors of the other alternatives are dropped, except those about integers out of range.
    """
    best = max(results, key=lambda result: result[1])
    errors.merge(best[0])
    for found, _ in results:
        for error in found.list:
            if "Checked value must be" in error.body:
                errors.keep(error)
    return best[1]
