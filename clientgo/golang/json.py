"""The errors of decoding JSON. Go: encoding/json (decode.go, scanner.go), in the version of sigs.k8s.io/json."""

from __future__ import annotations

import json
import re
from string import digits, hexdigits
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


def syntax_error(err: json.JSONDecodeError) -> str:
    """Return Go's text for the error that Python's decoder found. Go: json.SyntaxError.

    >>> try:
    ...     json.loads("[1, 2")
    ... except json.JSONDecodeError as err:
    ...     print(syntax_error(err))
    unexpected end of JSON input
    """
    return _first_fault(err.doc) or err.msg


_END: Final = "unexpected end of JSON input"
_plain: Final = re.compile(r'[^"\\\x00-\x1f]*').match


class _Fault(Exception):
    """Raised with the text of the first error."""


def _first_fault(text: str) -> str:
    """Return Go's text for the first error of a JSON text, "" if there is none. Mirrors the states of scanner.go."""
    try:
        _Scanner(text).scan()
    except _Fault as fault:
        return str(fault)
    return ""


class _Scanner:
    """A scanner that only finds the first error."""

    def __init__(self, text: str) -> None:
        # Go's scanner reads a space at the end, so that it reports a cut inside of a literal, a number or an escape.
        self._text = f"{text} "
        self._at = 0

    def scan(self) -> None:
        """Raise _Fault for the first error."""
        opened: list[str] = []
        state = "value"
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if state == "after" and not opened and self._at == len(self._text):
                return
            char = self._next()
            if state == "after":
                state = self._after(char, opened)
            elif char in "]}" and state == "first" and char == _CLOSING[opened[-1]]:
                opened.pop()
                state = "after"
            elif state == "colon":
                if char != ":":
                    raise self._wrong("after object key")
                state = "value"
            elif state != "value" and opened[-1] == "{":
                if char != '"':
                    raise self._wrong("looking for beginning of object key string")
                self._string()
                state = "colon"
            elif char in "{[":
                opened.append(char)
                state = "first"
            else:
                self._scalar(char)
                state = "after"

    def _after(self, char: str, opened: list[str]) -> str:
        """Return the state behind a character that follows a value."""
        if not opened:
            raise self._wrong("after top-level value")
        if char == ",":
            return "key" if opened[-1] == "{" else "value"
        if char != _CLOSING[opened[-1]]:
            raise self._wrong("after object key:value pair" if opened[-1] == "{" else "after array element")
        opened.pop()
        return "after"

    def _scalar(self, first: str) -> None:
        literal = next((each for each in _LITERALS if each[0] == first), "")
        if first == '"':
            self._string()
        elif literal:
            for char in literal[1:]:
                if self._next() != char:
                    raise self._wrong(f"in literal {literal} (expecting '{char}')")
        elif first == "-" or first in digits:
            self._number(first)
        else:
            raise self._wrong("looking for beginning of value")

    def _string(self) -> None:
        while True:
            match = _plain(self._text, self._at)
            assert match is not None  # The pattern matches nothing, too.
            self._at = match.end()
            char = self._next()
            if char == '"':
                return
            if char != "\\":
                raise self._wrong("in string literal")
            char = self._next()
            if char == "u":
                for _ in range(4):
                    if self._next() not in hexdigits:
                        raise self._wrong("in \\u hexadecimal character escape")
            elif char not in 'bfnrt\\/"':
                raise self._wrong("in string escape code")

    def _number(self, first: str) -> None:
        if first == "-":
            first = self._digit("in numeric literal")
        if first != "0":
            self._skip_digits()
        if self._skip("."):
            self._digit("after decimal point in numeric literal")
            self._skip_digits()
        if self._skip("eE"):
            self._skip("+-")
            self._digit("in exponent of numeric literal")
            self._skip_digits()

    def _digit(self, where: str) -> str:
        char = self._next()
        if char not in digits:
            raise self._wrong(where)
        return char

    def _skip(self, chars: str) -> bool:
        found = self._text[self._at : self._at + 1]
        if not found or found not in chars:
            return False
        self._at += 1
        return True

    def _skip_digits(self) -> None:
        while self._skip(digits):
            pass

    def _next(self) -> str:
        if self._at == len(self._text):
            raise _Fault(_END)
        self._at += 1
        return self._text[self._at - 1]

    def _wrong(self, where: str) -> _Fault:
        """Return the error for the character that was read last."""
        return _Fault(f"invalid character {_shown(self._text[self._at - 1])} {where}")


_CLOSING: Final = {"{": "}", "[": "]"}


def _shown(char: str) -> str:
    """Return a character of an error as Go's quoteChar does: of a character beyond ASCII it shows the first byte."""
    if char == "'":
        return "'\\''"
    if char == '"':
        return "'\"'"
    first = char.encode("utf-8", "surrogateescape")[0]
    return f"'{quote(chr(first))[1:-1]}'"
