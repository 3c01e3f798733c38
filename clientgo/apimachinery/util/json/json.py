"""JSON text in Go's format, and a parser with Go's number types.

Mirrors k8s.io/apimachinery/pkg/util/json/json.go and the text format of Go's encoding/json: sorted map keys, no
whitespace, escaped `<`, `>` and `&`, whole numbers without a point, and U+FFFD for each byte that is not valid UTF-8
(see clientgo.golang.utf8).
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

from clientgo.apimachinery.util.json import deep
from clientgo.golang import utf8
from clientgo.golang.json import NumberLiteral

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_SORTED: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode


def _reject_constant(name: str) -> Any:
    """Raise ValueError with Go's text for NaN, Infinity or -Infinity, which Python's decoder accepts."""
    where = "in numeric literal" if name.startswith("-") else "looking for beginning of value"
    raise ValueError(f"invalid character '{name.lstrip('-')[0]}' {where}")


def _parse_float(text: str) -> float:
    """Return the number; raise ValueError, as Go does, if it is too large for a float64. Few documents have floats."""
    value = float(text)
    if value in (math.inf, -math.inf):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return value


_STRICT: Final = json.JSONDecoder(parse_constant=_reject_constant, parse_float=_parse_float)
_LITERAL: Final = json.JSONDecoder(parse_constant=_reject_constant, parse_float=NumberLiteral)
# Returns the value at a position, and its end. This is the C scanner without the rest of the decoder. Raises
# StopIteration, ValueError (also for NaN, infinity and 1e999, as in Go) and RecursionError.
scan: Callable[[str, int], tuple[Any, int]] = json.scanner.make_scanner(_STRICT)  # type: ignore[attr-defined]
_blanks: Final = re.compile(r"[ \t\n\r]*").match
# Matches numbers that Go writes differently: 1000.0, 1e-05, 1e-07, 1e+16. Matches in strings are harmless, and texts
# with a similar start, such as 10.0.0.1 and node-0, do not match.
_WHOLE: Final = re.compile(r"\.0(?:[,}\]]|$)")
_SMALL: Final = re.compile(r"e-0\d(?:[,}\]]|$)")
_NOT_FINITE: Final = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}


def marshal(value: Any) -> str:
    """Return compact JSON with sorted keys, exactly as Go's encoding/json writes maps. Go: json.Marshal.

    Raises ValueError for NaN and infinity.

    >>> marshal({"b": 1000.0, "a": "<x>", "c": 1e-7})
    '{"a":"\\\\u003cx\\\\u003e","b":1000,"c":1e-7}'
    """
    return escape_html(encode(value, sort_keys=True))


def encode(value: Any, *, sort_keys: bool = False) -> str:
    """Return compact JSON with numbers in Go's format. Nearly as fast as json.dumps if both write all floats alike.

    The text can always be encoded as UTF-8: a lone surrogate becomes U+FFFD. Raises ValueError for NaN and
    infinity, and TooDeepError for more than 10,000 levels of nesting.
    """
    try:
        text = (_SORTED if sort_keys else _COMPACT)(value)
    except (ValueError, RecursionError) as err:
        if "Circular" in str(err):
            raise
        text = ""
    if not text or _WHOLE.search(text) or _SMALL.search(text) or ("+" in text and "e+" in text):
        text = _encoded(value, sort_keys)
    return utf8.to_valid(text)


def _encoded(value: Any, sort_keys: bool) -> str:
    """Return compact JSON without json.dumps, which cannot change the format of floats."""
    return deep.encode(value, _scalar, sort_keys=sort_keys)


def _scalar(value: Any) -> str:
    return _number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Return the shortest digits as in ECMAScript, with an exponent only below 1e-6 and from 1e21. Go: floatEncoder."""
    if not math.isfinite(value):
        raise ValueError(f"json: unsupported value: {_NOT_FINITE[str(value)]}")
    shortest = repr(float(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal  # Imported here, since few documents have such a number.

        plain = f"{Decimal(shortest):f}"
        return plain.removesuffix(".0")
    return shortest.replace("e-0", "e-")


def escape_html(text: str) -> str:
    """Escape the characters in JSON text that Go's encoder escapes: `<`, `>`, `&`, U+2028 and U+2029."""
    if "<" in text:
        text = text.replace("<", "\\u003c")
    if ">" in text:
        text = text.replace(">", "\\u003e")
    if "&" in text:
        text = text.replace("&", "\\u0026")
    if "\u2028" in text or "\u2029" in text:
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text


# An escape in JSON: of a surrogate pair, of a lone surrogate, or of anything else.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def without_lone_surrogates(text: str) -> str:
    """Replace each escaped lone surrogate by the escape of U+FFFD, as Go decodes it.

    In this library a lone surrogate in a str represents a byte that is not valid UTF-8.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda match: r"\ufffd" if match[1] else match[0], text)


def unmarshal(data: str | bytes) -> Any:
    """Parse a JSON value; integers stay exact. Bytes are UTF-8; U+FFFD replaces invalid ones and lone surrogates.

    Raises ValueError for malformed text, NaN, infinity and a number such as 1e999, which no float64 can hold, and
    TooDeepError for more than 10,000 levels of nesting. Go: json.Unmarshal.

    Difference: an integer stays exact also above int64, where Go returns a float64. Fields of a declared type check its
    range.
    """
    text = without_lone_surrogates(utf8.decode_valid(data) if isinstance(data, bytes) else data)
    with contextlib.suppress(RecursionError):
        return _STRICT.decode(text)
    return _decode_nested(text)


def unmarshal_literals(data: str | bytes) -> Any:
    """Parse a JSON value like `unmarshal`; numbers with a fraction or an exponent are NumberLiterals.

    For errors that show numbers as they were written. Slower than `unmarshal`. No Go identifier.
    """
    text = without_lone_surrogates(utf8.decode_valid(data) if isinstance(data, bytes) else data)
    with contextlib.suppress(RecursionError):
        return _LITERAL.decode(text)
    return _decode_nested(text)


def scan_at_any_depth(text: str, at: int) -> tuple[Any, int]:
    """Return what `scan` returns, also for a value nested so deep that `scan` raises RecursionError.

    Raises StopIteration and ValueError, and TooDeepError for more than 10,000 levels of nesting.
    """
    with contextlib.suppress(RecursionError):
        return scan(text, at)
    return deep.scan(text, at, scan)


def _decode_nested(text: str) -> Any:
    """Return the only value of a deeply nested text."""
    try:
        value, end = deep.scan(text, _after_blanks(text, 0), scan)
    except StopIteration as err:
        raise json.JSONDecodeError("Expecting value", text, err.value) from None
    end = _after_blanks(text, end)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _after_blanks(text: str, at: int) -> int:
    return _blanks(text, at).end()  # type: ignore[union-attr]
