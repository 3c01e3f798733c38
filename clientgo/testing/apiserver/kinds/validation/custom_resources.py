"""All that a custom resource is checked for. Mirrors apiextensions-apiserver's registry/customresource.

Pure functions. The schema's own checks are those of schema_validation.py, its CEL rules those of rules.py.
"""

from __future__ import annotations

from clientgo.testing.apiserver.kinds import listtype, rules, schema_validation
from clientgo.testing.apiserver.kinds.validation import embedded
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json


def validate(obj: Json, schema: Json | None, old: Json | None = None, *, status: bool = False) -> list[FieldError]:
    """All violations but those of CEL rules: of what has changed since `old`, if that is given.

    With `status` only that part is looked at, as a write to the subresource can change no other.
    """
    if schema is None:
        return []
    errors = _of_schema(obj, schema, old, status=status)
    errors += embedded.validate(obj, schema)
    repeated = listtype.validate(obj, schema)
    if repeated and (old is None or not listtype.validate(old, schema)):
        errors += repeated
    return errors


def _of_schema(obj: Json, schema: Json, old: Json | None, *, status: bool) -> list[FieldError]:
    place = ""
    if status:
        if "status" not in obj:
            return []
        place, schema = "status", (schema.get("properties") or {}).get("status") or {}
        obj, old = obj["status"], (old or {}).get("status")
    if old is None:
        return schema_validation.validate(obj, schema, place)
    return schema_validation.validate_update(obj, old, schema, place)


_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


_BLOCKING = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


def validate_all(
    obj: Json, old: Json | None, schema: Json | None, *, status: bool = False
) -> tuple[list[FieldError], list[str]]:
    """All violations, those of CEL rules too, and what is warned of: rules that what is unchanged breaks."""
    errors = validate(obj, schema, old, status=status)
    found = rules.of_schema(schema)
    if any(error.reason in _BLOCKING for error in errors):
        if found is not None or _blocks_rules(errors):
            errors.append(field_invalid("<nil>", None, _NOT_CHECKED))
        return errors, []
    if found is None:
        return errors, []
    more, warnings = found.validate(obj, old)
    return errors + more, warnings


def _blocks_rules(errors: list[FieldError]) -> bool:
    """Whether, even without any, CEL rules could not be tried: a field of the root that must be there is not."""
    return any(error.reason == "FieldValueRequired" and "." not in error.field for error in errors)
