"""Helpers for field selectors. Mirrors pkg/internal/field/selector/utils.go."""

from __future__ import annotations

from clientgo.apimachinery import fields
from clientgo.apimachinery.selection import Operator


def requires_exact_match(sel: fields.Selector) -> bool:
    """Report whether the selector has at least one requirement and all of them are exact matches.

    Go: selector.RequiresExactMatch.
    """
    requirements = sel.requirements()
    return bool(requirements) and all(
        requirement.operator in (Operator.EQUALS, Operator.DOUBLE_EQUALS) for requirement in requirements
    )
