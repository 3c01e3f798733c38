"""The parser of shard selectors. Mirrors k8s.io/apiserver/pkg/sharding/parser.go.

A selector is one or more `shardRange(FIELD, 'START', 'END')` joined by `||`. It has CEL's syntax; nothing evaluates it.
Differs from Go: expressions nest up to 75 levels instead of 250, since each level takes four Python frames.
"""

from __future__ import annotations

from typing import Final

from clientgo.apimachinery import sharding
from clientgo.apimachinery.sharding import ShardRangeRequirement
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.cel import parser
from clientgo.testing.apiserver.cel.common.values import Uint
from clientgo.testing.apiserver.cel.source import CompileError
from clientgo.testing.apiserver.cel.syntax import Call, Expr, Ident, ListExpr, Literal, MapExpr, Select, Struct

_FIELDS: Final = ("object.metadata.uid", "object.metadata.namespace")
_DIGITS: Final = frozenset("0123456789abcdef")
_WHOLE: Final = "0x10000000000000000"
# The numbers of cel-go's kinds of expressions, which its messages show.
_KINDS: Final[dict[type[Expr], int]] = {Call: 1, Ident: 3, ListExpr: 4, Literal: 5, MapExpr: 6, Select: 7, Struct: 8}
# Go's names for the types of CEL's literals.
_GO_TYPES: Final[dict[type, str]] = {
    bool: "bool", bytes: "[]uint8", float: "float64", int: "int64",
    Uint: "uint64", type(None): "structpb.NullValue",
}


def parse(text: str) -> sharding.Selector:
    """Return the selector that the text describes. Raises ValueError with Go's text. Go: sharding.Parse."""
    text = text.strip()
    if not text:
        raise ValueError("empty shard selector is not allowed; omit the parameter for unfiltered lists")
    try:
        expression = parser.parse(text, extended=False)
    except CompileError as err:
        raise ValueError(f"CEL parse error: {err.message}") from err
    ranges = _ranges(expression)
    for each in ranges:
        if each.key != ranges[0].key:
            raise ValueError(
                f"all shard ranges must use the same field, got {quote(ranges[0].key)} and {quote(each.key)}"
            )
    return sharding.new_selector(*ranges)


def _ranges(expression: Expr) -> list[ShardRangeRequirement]:
    """Return the ranges of a call of shardRange, or of several joined by `||`. Go: walkExpr."""
    if not isinstance(expression, Call):
        raise ValueError(
            f"unexpected expression kind {_KINDS[type(expression)]}; expected shardRange() call or || operator"
        )
    if expression.function == "_||_":
        return [each for argument in expression.args for each in _ranges(argument)]
    if expression.function != "shardRange":
        raise ValueError(f"unsupported function {quote(expression.function)}; only shardRange() and || are allowed")
    return [_range(expression)]


def _range(call: Call) -> ShardRangeRequirement:
    """Return the range of one call of shardRange. Go: parseShardRangeCall."""
    if len(call.args) != 3:
        raise ValueError(f"shardRange() requires exactly 3 arguments, got {len(call.args)}")
    field = _field_path(call.args[0])
    if field not in _FIELDS:
        raise ValueError(f"unsupported field path {quote(field)}; supported: {', '.join(_FIELDS)}")
    start, end = _hex_literal(call.args[1], "hexStart"), _hex_literal(call.args[2], "hexEnd")
    if not sharding.hex_less(start, end):
        raise ValueError(f"shard range start {start} must be less than end {end}")
    return ShardRangeRequirement(field, start, end)


def _field_path(expression: Expr) -> str:
    """Return the dotted path of a chain of field accesses. Go: extractFieldPath."""
    if isinstance(expression, Ident):
        return expression.name
    if isinstance(expression, Select):
        return f"{_field_path(expression.operand)}.{expression.field}"
    raise ValueError(
        "shardRange() first argument: expected field path (e.g. object.metadata.uid), "
        f"got expression kind {_KINDS[type(expression)]}"
    )


def _hex_literal(expression: Expr, name: str) -> str:
    """Return the text of a hexadecimal string literal with all its digits. Go: extractHexLiteral."""
    if not isinstance(expression, Literal):
        raise ValueError(
            f"{name} must be a string literal (e.g. '0xff'), got expression kind {_KINDS[type(expression)]}"
        )
    text = expression.value
    if not isinstance(text, str):
        raise ValueError(f"{name} must be a string literal, got {_GO_TYPES[type(text)]}")
    if not text.startswith("0x"):
        raise ValueError(f"{name} must have '0x' prefix, got {quote(text)}")
    digits = text.removeprefix("0x")
    if not digits:
        raise ValueError(f"{name}: hex value is required after '0x'")
    size = len(digits.encode("utf-8", "surrogatepass"))
    if size > 17:
        raise ValueError(f"{name}: hex value too long ({size} chars, max 17): {quote(digits)}")
    for digit in digits:
        if digit not in _DIGITS:
            raise ValueError(f"{name}: invalid hex character {quote(digit)} in {quote(text)}")
    if size == 17 and text != _WHOLE:
        raise ValueError(f"{name}: 17-digit hex value must be '{_WHOLE}' (2^64), got {quote(text)}")
    if size < 16:
        padded = f"0x{digits:0>16}"
        raise ValueError(
            f"{name} must be a 0x-prefixed 16-digit hex value, got {quote(text)} (did you mean {quote(padded)}?)"
        )
    return text
