"""Texts of broken rules (k8s.io/apimachinery/pkg/api/validate/content/errors.go)."""

from __future__ import annotations

from clientgo.golang.strconv import quote


def min_error(min: int) -> str:
    """Go: content.MinError."""
    return f"must be greater than or equal to {min}"


def max_error(max: int) -> str:
    """Go: content.MaxError."""
    return f"must be less than or equal to {max}"


def max_len_error(length: int) -> str:
    """Go: content.MaxLenError."""
    return f"must be no more than {length} bytes"


def empty_error() -> str:
    """Go: content.EmptyError."""
    return "must be non-empty"


def regex_error(msg: str, re: str, *examples: str) -> str:
    """A rule in words, examples of good values, and the regular expression. Go: content.RegexError."""
    if not examples:
        return f"{msg} (regex used for validation is '{re}')"
    # The comma after each example is Go's, also before "or".
    good = " or ".join(f"'{example}', " for example in examples)
    return f"{msg} (e.g. {good}regex used for validation is '{re}')"


def neq_error(disallowed: object) -> str:
    """Go: content.NEQError."""
    shown = quote(disallowed) if isinstance(disallowed, str) else str(disallowed)
    return f"must not be equal to {shown}"


def byte_length(value: str) -> int:
    """How long Go finds the text: bytes of its UTF-8 form."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
