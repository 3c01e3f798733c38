"""Validation of labels and annotations, of stored objects and of converted ones.

Mirrors ValidateLabels of apimachinery's apis/meta/v1/validation, and ValidateAnnotations of api/validation.
"""

from __future__ import annotations

from clientgo.apimachinery.util.validation import is_qualified_name, is_valid_label_value
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_too_long
from clientgo.testing.apiserver.wire.jsonio import Json

_TOTAL_ANNOTATIONS = 256 * 1024


def check_labels(values: Json | None, field: str) -> list[FieldError]:
    errors = []
    for key, value in (values or {}).items():
        errors += [field_invalid(field, key, text) for text in is_qualified_name(key)]
        errors += [field_invalid(field, value, text) for text in is_valid_label_value(value)]
    return errors


def check_annotations(values: Json | None, field: str) -> list[FieldError]:
    errors = []
    total = 0
    for key, value in (values or {}).items():
        errors += [field_invalid(field, key, text) for text in is_qualified_name(key.lower())]
        total += len(key) + len(value)
    if total > _TOTAL_ANNOTATIONS:
        errors.append(field_too_long(field, _TOTAL_ANNOTATIONS))
    return errors
