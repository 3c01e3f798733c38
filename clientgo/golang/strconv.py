"""The few functions of Go's standard strconv package whose exact results show in messages and on the wire.

No Go file of Kubernetes stands behind this module; it keeps texts such as `jobs "a" not found` equal to Go's.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*")
# Characters that may be unprintable; line ends and tabs are layout.
_UNPRINTABLE: Final = re.compile(r"[^\n\t -~]")
_MAX_INT64: Final = (1 << 63) - 1
_MAX_INT64_DIGITS: Final = 20
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def quote(text: str) -> str:
    """The text as a Go string literal. Go: strconv.Quote, and the %q verb.

    >>> print(quote('say "hi"'))
    "say \\"hi\\""
    """
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(_quote_rune(char) for char in text)}"'


def escape_unprintable(text: str) -> str:
    """Return the text with unprintable characters escaped as `quote` escapes them; line ends and tabs stay."""
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0].isprintable() else _quote_rune(found[0]), text)


def _quote_rune(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # A byte that is not valid UTF-8; see utf8.
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def parse_bool(text: str) -> bool:
    """One of the words Go takes for true or false. Go: strconv.ParseBool. Raises ValueError with Go's text."""
    if text not in _BOOLS:
        raise ValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")
    return _BOOLS[text]


def parse_int(text: str, bits: int = 64) -> int:
    """A decimal integer that fits into `bits` bits with sign. Go: strconv.ParseInt(text, 10, bits).

    Raises ValueError with Go's text. Stricter than int(): no blanks, no underscores, ASCII digits only.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    limit = 1 << (bits - 1)
    digits = text.lstrip("+-").lstrip("0")
    # More digits than any 64-bit number has: refuse without doing arithmetic on a huge number.
    value = int(digits or "0") if len(digits) < 40 else 2 * limit
    if text.startswith("-"):
        value = -value
    if not -limit <= value < limit:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def parse_uint(text: str, bits: int = 64) -> int:
    """Return a decimal integer without sign that fits into `bits` bits. Go: strconv.ParseUint(text, 10, bits).

    Raises ValueError with Go's text.
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("0")
    # More digits than any 64-bit number has: refuse without doing arithmetic on a huge number.
    if len(digits) >= 40 or int(digits or "0") >= 1 << bits:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(digits or "0")


def atoi_clipped(digits: str) -> int:
    """Return the number of a text of ASCII digits, at most the largest int64. Go: strconv.Atoi, without its error.

    int() refuses a text of more than 4300 digits, and takes quadratic time up to there.

    >>> atoi_clipped("042"), atoi_clipped("9" * 5000) == 2**63 - 1
    (42, True)
    """
    significant = digits.lstrip("0")
    return min(int(significant or "0"), _MAX_INT64) if len(significant) < _MAX_INT64_DIGITS else _MAX_INT64
