"""Validation of request options. Mirrors the used parts of apis/meta/v1/validation/validation.go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.validation.field import (
    ErrorList,
    Path,
    forbidden,
    invalid,
    new_path,
    not_supported,
    required,
    too_long,
)

# The maximum length of a field manager's name. Go: validation.FieldManagerMaxLength.
FIELD_MANAGER_MAX_LENGTH: Final = 128

_FIELD_VALIDATIONS: Final = ("", "Ignore", "Warn", "Strict")


def validate_patch_options(options: metav1.PatchOptions, patch_type: str) -> ErrorList:
    """Return the errors in the options of a patch. Go: validation.ValidatePatchOptions."""
    errors = ErrorList()
    if patch_type not in (PatchType.APPLY_YAML, PatchType.APPLY_CBOR):
        if options.force is not None:
            errors.append(forbidden(new_path("force"), "may not be specified for non-apply patch"))
    elif not options.field_manager:
        errors.append(required(new_path("fieldManager"), "is required for apply patch"))
    errors += validate_field_manager(options.field_manager, new_path("fieldManager"))
    errors += validate_dry_run(new_path("dryRun"), options.dry_run)
    errors += validate_field_validation(new_path("fieldValidation"), options.field_validation)
    return errors


def validate_field_manager(field_manager: str, fld_path: Path) -> ErrorList:
    """Return the errors of a field manager's name: it has at most 128 printable characters.

    Go: validation.ValidateFieldManager.
    """
    errors = ErrorList()
    if len(field_manager) > FIELD_MANAGER_MAX_LENGTH:
        errors.append(too_long(fld_path, field_manager, FIELD_MANAGER_MAX_LENGTH))
    for position, character in enumerate(field_manager):
        if not character.isprintable():
            text = f"invalid character {character!a} (at position {position})"
            errors.append(invalid(fld_path, field_manager, f"should only contain printable characters: {text}"))
    return errors


def validate_dry_run(fld_path: Path, dry_run: Sequence[str]) -> ErrorList:
    """Return the errors of a dry-run option: it may be empty or All. Go: validation.ValidateDryRun."""
    errors = ErrorList()
    if any(each != metav1.DRY_RUN_ALL for each in dry_run):
        errors.append(not_supported(fld_path, list(dry_run), [metav1.DRY_RUN_ALL]))
    return errors


def validate_field_validation(fld_path: Path, field_validation: str) -> ErrorList:
    """Return the errors of a field validation: it may be Ignore, Warn, Strict or empty.

    Go: validation.ValidateFieldValidation.
    """
    errors = ErrorList()
    if field_validation not in _FIELD_VALIDATIONS:
        errors.append(not_supported(fld_path, field_validation, _FIELD_VALIDATIONS))
    return errors
