"""Functions of Go's strconv package whose exact results appear in messages and on the wire.

Texts such as `jobs "a" not found` must equal Go's.
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
    """Return the text as a Go string literal. Go: strconv.Quote, and the %q verb.

    >>> print(quote('say "hi"'))
    "say \\"hi\\""
    """
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(_quote_rune(char) for char in text)}"'


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters as `quote` does; line ends and tabs stay."""
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
    """Parse a boolean as Go does. Raises ValueError with Go's text. Go: strconv.ParseBool."""
    if text not in _BOOLS:
        raise ValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")
    return _BOOLS[text]


def parse_int(text: str, bits: int = 64) -> int:
    """Parse a signed decimal integer of `bits` bits. Go: strconv.ParseInt(text, 10, bits).

    Raises ValueError with Go's text. Stricter than int(): no whitespace, no underscores, ASCII digits only.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    limit = 1 << (bits - 1)
    digits = text.lstrip("+-").lstrip("0")
    # More digits than a 64-bit number has: reject it without arithmetic on a huge number.
    value = int(digits or "0") if len(digits) < 40 else 2 * limit
    if text.startswith("-"):
        value = -value
    if not -limit <= value < limit:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def parse_uint(text: str, bits: int = 64) -> int:
    """Parse an unsigned decimal integer of `bits` bits. Go: strconv.ParseUint(text, 10, bits).

    Raises ValueError with Go's text.
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("0")
    # More digits than a 64-bit number has: reject it without arithmetic on a huge number.
    if len(digits) >= 40 or int(digits or "0") >= 1 << bits:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(digits or "0")


def atoi_clipped(digits: str) -> int:
    """Parse ASCII digits, and clip the number to the largest int64. Go: strconv.Atoi, without its error.

    int() rejects a text of more than 4300 digits, and takes quadratic time below that.

    >>> atoi_clipped("042"), atoi_clipped("9" * 5000) == 2**63 - 1
    (42, True)
    """
    significant = digits.lstrip("0")
    return min(int(significant or "0"), _MAX_INT64) if len(significant) < _MAX_INT64_DIGITS else _MAX_INT64
