"""Suffixes of quantities: their factors, and their choice for output.

Mirrors k8s.io/apimachinery/pkg/api/resource/suffix.go.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from clientgo.golang.strconv import parse_int


class Format(StrEnum):
    """The notation of a quantity. Go: resource.Format."""

    DECIMAL_EXPONENT = "DecimalExponent"
    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"


_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _BINARY.items()}


def interpret(suffix: str) -> tuple[int, Format]:
    """Return the exponent and the format of a suffix; the base is 2 for BINARY_SI, otherwise 10. Raises ValueError."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return _BINARY[suffix], Format.BINARY_SI
    if len(suffix) > 1 and suffix[0] in "eE":
        return parse_int(suffix[1:], 32), Format.DECIMAL_EXPONENT
    raise ValueError(suffix)


def construct(exponent: int, format: Format) -> str:
    """Return the suffix for an exponent, or "" if the format has none, as in Go."""
    if format is Format.DECIMAL_SI:
        return _DECIMAL_BY_EXPONENT.get(exponent, "")
    if format is Format.BINARY_SI:
        return _BINARY_BY_EXPONENT.get(exponent, "")
    return f"e{exponent}" if exponent else ""
