"""Messages of validation errors (k8s.io/apimachinery/pkg/api/validate/content/errors.go)."""

from __future__ import annotations

from clientgo.golang.strconv import quote


def min_error(min: int) -> str:
    """Return the message for a number that is too small. Go: content.MinError."""
    return f"must be greater than or equal to {min}"


def max_error(max: int) -> str:
    """Return the message for a number that is too large. Go: content.MaxError."""
    return f"must be less than or equal to {max}"


def max_len_error(length: int) -> str:
    """Return the message for a text that is too long. Go: content.MaxLenError."""
    return f"must be no more than {length} bytes"


def empty_error() -> str:
    """Return the message for an empty value. Go: content.EmptyError."""
    return "must be non-empty"


def regex_error(msg: str, re: str, *examples: str) -> str:
    """Return a message with the rule, examples of valid values and the regular expression. Go: content.RegexError."""
    if not examples:
        return f"{msg} (regex used for validation is '{re}')"
    # The comma after each example, also before "or", is Go's.
    good = " or ".join(f"'{example}', " for example in examples)
    return f"{msg} (e.g. {good}regex used for validation is '{re}')"


def neq_error(disallowed: object) -> str:
    """Return the message for a value that is not allowed. Go: content.NEQError."""
    shown = quote(disallowed) if isinstance(disallowed, str) else str(disallowed)
    return f"must not be equal to {shown}"


def byte_length(value: str) -> int:
    """Return the length as Go counts it: the bytes of the UTF-8 encoding."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
