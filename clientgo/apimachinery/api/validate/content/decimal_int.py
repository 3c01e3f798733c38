"""Decimal integers in their one canonical form (k8s.io/apimachinery/pkg/api/validate/content/decimal_int.go)."""

from __future__ import annotations

import re
from typing import Final

from clientgo.apimachinery.api.validate.content.errors import empty_error

_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]*")


def is_decimal_integer(value: str) -> list[str]:
    """Check that the text is an integer without plus sign or leading zeros; return the problems.

    Go: content.IsDecimalInteger.
    """
    if not value:
        return [empty_error()]
    if not _CANONICAL.fullmatch(value):
        return ["must be a valid decimal integer in canonical form"]
    return []
