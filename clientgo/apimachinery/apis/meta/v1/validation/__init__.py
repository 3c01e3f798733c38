"""Validation of request options. Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/validation."""

from clientgo.apimachinery.apis.meta.v1.validation.validation import (
    FIELD_MANAGER_MAX_LENGTH,
    validate_dry_run,
    validate_field_manager,
    validate_field_validation,
    validate_patch_options,
)

__all__ = [
    "FIELD_MANAGER_MAX_LENGTH",
    "validate_dry_run",
    "validate_field_manager",
    "validate_field_validation",
    "validate_patch_options",
]
