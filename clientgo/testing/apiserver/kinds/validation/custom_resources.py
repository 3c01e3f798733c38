"""Validation of custom resources. Mirrors apiextensions-apiserver's registry/customresource.

Pure functions. schema_validation.py checks the schema, rules.py its CEL rules.
"""

from __future__ import annotations

from clientgo.testing.apiserver.kinds import listtype, rules, schema_validation
from clientgo.testing.apiserver.kinds.validation import embedded
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json


def validate(obj: Json, schema: Json | None, old: Json | None = None, *, status: bool = False) -> list[FieldError]:
    """Return all violations except those of CEL rules; with `old`, only those in changed parts.

    With `status` only the status is checked, because a write to the subresource changes nothing else.
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
    """Return all violations, and as warnings the CEL rules that unchanged values break."""
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
    """Report whether CEL rules could not be checked, even if there are none.

    This is so if a required field of the root is missing.
    """
    return any(error.reason == "FieldValueRequired" and "." not in error.field for error in errors)
