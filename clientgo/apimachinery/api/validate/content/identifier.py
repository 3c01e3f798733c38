"""Identifiers of the C language (k8s.io/apimachinery/pkg/api/validate/content/identifier.go)."""

from __future__ import annotations

import re
from typing import Final

from clientgo.apimachinery.api.validate.content.errors import regex_error

_C_IDENTIFIER_FMT: Final = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_ERR_MSG: Final = (
    "a valid C identifier must start with alphabetic character or '_', "
    "followed by a string of alphanumeric characters or '_'"
)
_C_IDENTIFIER: Final = re.compile(_C_IDENTIFIER_FMT)


def is_c_identifier(value: str) -> list[str]:
    """Check that the text is a C identifier; return the problems. Go: content.IsCIdentifier."""
    if _C_IDENTIFIER.fullmatch(value):
        return []
    return [regex_error(_IDENTIFIER_ERR_MSG, _C_IDENTIFIER_FMT, "my_name", "MY_NAME", "MyName")]
