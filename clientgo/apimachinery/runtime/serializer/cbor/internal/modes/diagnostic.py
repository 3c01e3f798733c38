"""CBOR as text for readers (RFC 8949, section 8). Mirrors runtime/serializer/cbor/internal/modes/diagnostic.go."""

from __future__ import annotations

import math
from typing import Final

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.decode import check_wellformed
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import (
    InadmissibleTagContentTypeError,
    InvalidCBORError,
    SemanticError,
)
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.exact import Reader
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.wellformed import (
    ARRAY,
    BYTES,
    DIAGNOSTIC,
    MAP,
    PRIMITIVES,
    TAG,
    TEXT,
    TYPES,
    UNSIGNED,
)

__all__ = ["diagnose"]

_SIMPLE: Final = {20: "false", 21: "true", 22: "null", 23: "undefined"}
_ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_INDEFINITE: Final = 31
_BRACKETS: Final = {ARRAY: ("[", "]"), MAP: ("{", "}")}


def diagnose(data: bytes) -> str:
    """Return the diagnostic notation of one data item. Raises as `decode.unmarshal` does for malformed bytes.

    Go: modes.Diagnostic.
    """
    check_wellformed(data, limits=DIAGNOSTIC)
    parts: list[str] = []
    reader = Reader(data)
    # The text behind each open container, its missing items (-1 for an indefinite length), its items, and whether
    # it is a map.
    stack: list[list[str | int]] = []
    while True:
        opened = _item(reader, parts)
        if opened is not None:
            stack.append(opened)
        else:
            _count(stack)
        while stack and (stack[-1][1] == 0 or (stack[-1][1] == -1 and reader.found_break())):
            parts.append(str(stack.pop()[0]))
            _count(stack)
        if not stack:
            return "".join(parts)
        _, _, done, is_map = stack[-1]
        if done:
            parts.append(": " if is_map and int(done) % 2 else ", ")


def _count(stack: list[list[str | int]]) -> None:
    """Count one more item of the innermost container."""
    if stack:
        stack[-1][2] = int(stack[-1][2]) + 1
        if int(stack[-1][1]) > 0:
            stack[-1][1] = int(stack[-1][1]) - 1


def _item(reader: Reader, parts: list[str]) -> list[str | int] | None:
    """Add the text of an item, up to the first item in it. Return what is open. Raises SemanticError."""
    kind = reader.type()
    is_indefinite = reader.data[reader.at] & 31 == _INDEFINITE
    if kind in (BYTES, TEXT):
        if is_indefinite:
            reader.at += 1
            if reader.found_break():
                parts.append("''_" if kind == BYTES else '""_')
                return None
            parts.append("(_ ")
            return [")", -1, 0, False]
        parts.append(_string(reader, kind))
        return None
    info, value = reader.head()
    if kind in (ARRAY, MAP):
        start, end = _BRACKETS[kind]
        parts.append(f"{start}_ " if is_indefinite else start)
        return [end, -1 if is_indefinite else value * (1 if kind == ARRAY else 2), 0, kind == MAP]
    if kind == TAG and value in (2, 3):
        parts.append(_bignum(reader, value))
        return None
    if kind == TAG:
        parts.append(f"{value}(")
        return [")", 1, 0, False]
    if kind == PRIMITIVES:
        parts.append(_float(reader.float(info)) if info > 24 else _SIMPLE.get(value, f"simple({value})"))
    else:
        parts.append(str(value if kind == UNSIGNED else -1 - value))
    return None


# Bytes of a bignum; Python does not print integers of more than 4300 digits, which takes quadratic time.
_MAX_BIGNUM: Final = 1024


def _bignum(reader: Reader, tag: int) -> str:
    """Return the integer behind tag 2 or 3. Raises InvalidCBORError."""
    if reader.type() != BYTES:
        raise InadmissibleTagContentTypeError(tag, "byte string", TYPES[reader.type()])
    content = reader.byte_string()
    if len(content) > _MAX_BIGNUM:
        raise InvalidCBORError(f"cbor: a bignum of {len(content)} bytes is too large to be shown")
    number = int.from_bytes(content, "big")
    return str(number if tag == 2 else -1 - number)


def _string(reader: Reader, kind: int) -> str:
    if kind == TEXT:
        text, error = reader.text_string()
        if error is not None:
            raise error
        return _quoted(text, '"')
    content = reader.byte_string()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    return _quoted(text, "'") if text else f"h'{content.hex()}'"


def _quoted(text: str, quote: str) -> str:
    """Return the text between quotes, in printable ASCII. Raises SemanticError for U+FFFD, as Go does."""
    parts = [quote]
    for char in text:
        if char == "\ufffd":
            raise SemanticError
        if char in _ESCAPES:
            parts.append(_ESCAPES[char])
        elif char == quote:
            parts.append(f"\\{char}")
        elif " " <= char <= "~":
            parts.append(char)
        else:
            units = char.encode("utf-16-be")
            parts += (f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
    return "".join((*parts, quote))


def _float(number: float) -> str:
    """Return a number as JavaScript prints it, with a fraction."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "-0.0" if math.copysign(1, number) < 0 else "0.0"
    digits, _, exponent = f"{number!r}".partition("e")
    if not 1e-6 <= abs(number) < 1e21:
        if not exponent:  # Python begins exponents at 1e16 and below 1e-4.
            digits, _, exponent = f"{number:.17e}".partition("e")
        digits = digits if "." in digits else f"{digits}.0"
        return f"{digits}e{int(exponent):+d}"
    if not exponent:
        return digits
    from decimal import Decimal  # imported here, since few numbers need it

    plain = f"{Decimal(repr(number)):f}"
    return plain if "." in plain else f"{plain}.0"
