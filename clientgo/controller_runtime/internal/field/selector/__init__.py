"""Helpers for field selectors. Mirrors pkg/internal/field/selector."""

from clientgo.controller_runtime.internal.field.selector.utils import (
    requires_exact_match,
)

__all__ = [
    "requires_exact_match",
]
