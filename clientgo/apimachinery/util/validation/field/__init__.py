"""Field paths and field errors (k8s.io/apimachinery/pkg/util/validation/field)."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.util.validation.field.errors import (
        Error,
        ErrorList,
        ErrorType,
        OmitValueType,
        duplicate,
        forbidden,
        internal_error,
        invalid,
        new_error_type_matcher,
        not_found,
        not_supported,
        required,
        too_few,
        too_long,
        too_long_characters,
        too_long_max_length,
        too_many,
        too_short,
        type_invalid,
    )
    from clientgo.apimachinery.util.validation.field.path import Path, PathOption, child, new_path, to_path, with_path
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "errors": [
                "Error", "ErrorList", "ErrorType", "OmitValueType", "duplicate", "forbidden", "internal_error",
                "invalid", "new_error_type_matcher", "not_found", "not_supported", "required", "too_few", "too_long",
                "too_long_characters", "too_long_max_length", "too_many", "too_short", "type_invalid",
            ],
            "path": ["Path", "PathOption", "child", "new_path", "to_path", "with_path"],
        },
    )

__all__ = [
    "Error",
    "ErrorList",
    "ErrorType",
    "OmitValueType",
    "Path",
    "PathOption",
    "child",
    "duplicate",
    "forbidden",
    "internal_error",
    "invalid",
    "new_error_type_matcher",
    "new_path",
    "not_found",
    "not_supported",
    "required",
    "to_path",
    "too_few",
    "too_long",
    "too_long_characters",
    "too_long_max_length",
    "too_many",
    "too_short",
    "type_invalid",
    "with_path",
]
