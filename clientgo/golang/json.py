"""The errors of decoding JSON. Go: encoding/json (decode.go, scanner.go), in the version of sigs.k8s.io/json."""

from __future__ import annotations

import json
from string import hexdigits
from typing import Any, Final

from clientgo.golang.strconv import quote

_LITERALS = ("true", "false", "null")


class NumberLiteral(float):
    """A number that keeps its text, which Go's errors show."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> NumberLiteral:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text


def without_literals(value: Any) -> Any:
    """Return a JSON value with plain numbers in place of NumberLiterals. Changes the value's dicts and lists."""
    if isinstance(value, NumberLiteral):
        return float(value)
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        value[key] = without_literals(value[key])
    return value


class UnmarshalTypeError(ValueError):
    """Raised for a JSON value whose type does not match its Go field. Go: json.UnmarshalTypeError.

    >>> print(UnmarshalTypeError(7, "string", "AuthInfo", "users.user.token"))
    json: cannot unmarshal number into Go struct field AuthInfo.users.user.token of type string
    """

    def __init__(self, value: Any, go_type: str, struct: str = "", field: str = "", *, within: str = "") -> None:
        """Initialize the error. `struct` is the innermost struct, `field` the path of the field without indices.

        `within` names the object, for an error that occurs long after the object was read.
        """
        self.value = kind_of(value)
        if go_type.lstrip("u").startswith("int") and self.value == "number":
            self.value = f"number {value.text if isinstance(value, NumberLiteral) else value}"
        self.type = go_type
        self.struct = struct
        self.field = field
        place = f"struct field {struct}.{field}" if struct or field else "value"
        text = f"json: cannot unmarshal {self.value} into Go {place} of type {go_type}"
        self.text = text
        super().__init__(f"{within}: {text}" if within else text)


def kind_of(value: Any) -> str:
    """Return the JSON name of the value's type: "object", "array", "string", "number", "bool" or "null".

    >>> kind_of([]), kind_of(True), kind_of(None)
    ('array', 'bool', 'null')
    """
    return _KINDS.get(type(value), "null")


_KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    NumberLiteral: "number",
}


_VALUE_EXPECTED: Final = "Expecting value"


def syntax_error(err: json.JSONDecodeError) -> str:
    """Return Go's text for the error that Python's decoder found. Go: json.SyntaxError.

    >>> try:
    ...     json.loads("[1, 2")
    ... except json.JSONDecodeError as err:
    ...     print(syntax_error(err))
    unexpected end of JSON input
    """
    text, at = err.doc, err.pos
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    if at >= len(text) or _is_cut_off(err, text[at - 1 : at], text[at : at + 6]):
        return "unexpected end of JSON input"
    for literal in _LITERALS if err.msg == _VALUE_EXPECTED else ():
        if text[at] == literal[0] and not text.startswith(literal, at):
            right = next(i for i, char in enumerate(literal) if text[at + i] != char)
            return f"invalid character {_shown(text[at + right])} in literal {literal} (expecting '{literal[right]}')"
    if err.msg.startswith("Invalid \\uXXXX"):
        at = _after_hexadecimals(err)
    where = {
        "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
        "Expecting ':' delimiter": "after object key",
        "Expecting ',' delimiter": "after object key:value pair",
        "Extra data": "after top-level value",
        "Invalid control character at": "in string literal",
        "Invalid \\escape": "in string escape code",
        "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
    }.get(err.msg, "looking for beginning of value")
    if where == "after object key:value pair" and _inside_array(text, at):
        where = "after array element"
    return f"invalid character {_shown(text[at])} {where}"


def _after_hexadecimals(err: json.JSONDecodeError) -> int:
    r"""Return the position of the first character that cannot be part of the \u escape with the error."""
    text = err.doc
    at = text.index("u", err.pos) + 1
    while at < len(text) and text[at] in hexdigits:
        at += 1
    return at


def _shown(char: str) -> str:
    """Return a character of an error as Go's quoteChar does: of a character beyond ASCII it shows the first byte."""
    if char == "'":
        return "'\\''"
    if char == '"':
        return "'\"'"
    first = char.encode("utf-8", "surrogateescape")[0]
    return f"'{quote(chr(first))[1:-1]}'"


def _is_cut_off(err: json.JSONDecodeError, before: str, rest: str) -> bool:
    """Report whether the text ends within a token; `before` and `rest` are the texts before and after the error."""
    if err.msg.startswith("Unterminated string"):
        return True
    if err.msg.startswith("Invalid \\uXXXX"):
        return _after_hexadecimals(err) == len(err.doc)
    if before.isdigit():
        # Python's decoder ends the number before its fraction or exponent.
        return rest in (".", "e", "E", "e+", "e-", "E+", "E-")
    if err.msg != _VALUE_EXPECTED:
        return False
    return rest == "-" or any(one.startswith(rest) and one != rest for one in _LITERALS)


def _inside_array(text: str, at: int) -> bool:
    depth: list[str] = []
    quoted = escaped = False
    for char in text[:at]:
        if quoted:
            quoted, escaped = (char != '"' or escaped), (char == "\\" and not escaped)
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth.append(char)
        elif char in "]}" and depth:
            depth.pop()
    return bool(depth) and depth[-1] == "["
