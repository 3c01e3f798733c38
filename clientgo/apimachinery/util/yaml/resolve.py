"""Resolution of YAML scalars without quotes.

Mirrors resolve.go of go.yaml.in/yaml/v2, YAML 1.1 with Go's number syntax: `yes`, `0o17` and `1_000` are values;
`12:30:00` and times are texts.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any, Final

__all__ = ["is_plain", "resolve"]

_PREFIX: Final = "tag:yaml.org,2002:"

_BY_NAME: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}

# A text with any other first character is a string.
_HINTS: Final = frozenset("+-.0123456789yYnNtTfFoO~")
_BASES: Final = {"b": 2, "o": 8, "x": 16}
_INTEGER: Final = re.compile(r"([-+]?)(?:0([xX])([0-9a-fA-F]+)|0([oO])([0-7]+)|0([bB])([01]+)|0([0-7]*)|([1-9][0-9]*))")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(?:\.\d+)?)?"
)
# A number with more digits than 64 bits have in base 2 is not a number.
_MAX_DIGITS: Final = 64


_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


def is_plain(text: str) -> bool:
    """Report whether YAML 1.1 parsers read a text without quotes as that text.

    >>> is_plain("web"), is_plain("1"), is_plain("yes"), is_plain("2001-01-01T00:00:00Z"), is_plain("12:30")
    (True, False, False, False, False)
    """
    if text == "<<" or _TIMESTAMP.fullmatch(text) or _BASE_60.fullmatch(text):
        return False
    try:
        return isinstance(resolve("", text), str)
    except ValueError:
        return False


def resolve(tag: str, text: str) -> Any:
    """Return the value of a scalar with an optional tag: a text, bool, int, float or None. O(len(text)).

    Raises ValueError if the text does not match its tag.

    >>> [resolve("", text) for text in ("yes", "0x1F", "1_000", "1e3", "08", "12:30", "~", "yess")]
    [True, 31, 1000, 1000.0, 8.0, '12:30', None, 'yess']
    >>> resolve("tag:yaml.org,2002:str", "1")
    '1'
    """
    if not tag:
        return _untagged(text)
    short = tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else ""
    if short == "binary":
        return _binary(text)
    if short not in ("bool", "int", "float", "null", "timestamp"):
        return text
    value = _untagged(text)
    if short == "float" and type(value) is int:
        return float(value)
    found = "timestamp" if short == "timestamp" and _TIMESTAMP.fullmatch(text) else _kind(value)
    if found != short:
        raise ValueError(f"cannot decode !!{found} `{text}` as a !!{short}")
    return value


def _untagged(text: str) -> Any:
    if text and text[0] not in _HINTS:
        return text
    if text in _BY_NAME:
        return _BY_NAME[text]
    if text[0] == ".":
        return _float(text, text)
    if text[0] in "+-0123456789":
        return _number(text)
    return text


def _number(text: str) -> int | float | str:
    plain = text.replace("_", "")
    match = _INTEGER.fullmatch(plain)
    if match is not None:
        digits = next(group for group in match.group(3, 5, 7, 8, 9) if group is not None)
        prefix = next((group for group in match.group(2, 4, 6) if group is not None), "")
        base = _BASES[prefix.lower()] if prefix else 10 if match.group(9) is not None else 8
        number = int(match.group(1) + (digits or "0"), base) if len(digits) <= _MAX_DIGITS else None
        # A signed number is an int64; an unsigned one may also be a uint64.
        if number is not None and -(2**63) <= number < (2**63 if match.group(1) else 2**64):
            return number
    return _float(plain, text)


def _float(plain: str, text: str) -> float | str:
    """Return the number, or the text if it is not a number or exceeds a float64."""
    if _FLOAT.fullmatch(plain) is None:
        return text
    number = float(plain)
    return text if math.isinf(number) else number


def _binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split("\n")), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise ValueError("!!binary value contains invalid base64 data") from None


def _kind(value: Any) -> str:
    return {bool: "bool", int: "int", float: "float", type(None): "null"}.get(type(value), "str")
