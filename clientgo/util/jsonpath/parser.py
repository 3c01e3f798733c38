"""The parser of templates. Mirrors client-go's util/jsonpath/parser.go.

Difference from Go: parsing uses no recursion for long templates, and a `Parser` can be reused.
"""

from __future__ import annotations

import math
import re
from typing import Final

from clientgo.golang import utf8
from clientgo.golang.strconv import parse_int
from clientgo.util.jsonpath.node import (
    ArrayNode,
    BoolNode,
    FieldNode,
    FilterNode,
    FloatNode,
    IdentifierNode,
    IntNode,
    ListNode,
    ParamsEntry,
    RecursiveNode,
    TextNode,
    UnionNode,
    WildcardNode,
)

__all__ = ["ErrSyntax", "Parser", "new_parser", "parse", "unquote_extend"]

_DICT_KEY: Final = re.compile(r"'([^']*)'")
_SLICE: Final = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
# Includes the line ends, which the last group of a match must not contain; otherwise a long text takes quadratic time.
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_HEX: Final = re.compile(r"[0-9A-Fa-f]+")
_OCTAL: Final = re.compile(r"[0-7]{3}")

_END_OF_LINE: Final = "\r\n"
_TERMINATORS: Final = frozenset(" \t\r\n.,[]$@{}")
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_HEX_DIGITS: Final = {"x": 2, "u": 4, "U": 8}


class ErrSyntax(ValueError):
    """Raised for a malformed quoted text. Go: jsonpath.ErrSyntax."""

    def __init__(self) -> None:
        super().__init__("invalid syntax")


def parse(name: str, text: str) -> Parser:
    """Return a parser that has parsed the template. Raises ValueError with Go's text. Go: jsonpath.Parse."""
    parser = new_parser(name)
    parser.parse(text)
    return parser


def new_parser(name: str) -> Parser:
    """Return a parser without a template. Go: jsonpath.NewParser."""
    return Parser(name)


class Parser:
    """A parser of one template. Not thread-safe while it parses. Go: jsonpath.Parser."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.root = ListNode()
        self._input = ""
        self._pos = 0
        self._start = 0

    def parse(self, text: str) -> None:
        """Parse the template into `root`. Raises ValueError with Go's text. Go: jsonpath.Parser.Parse."""
        self._input, self._pos, self._start = text, 0, 0
        self.root = ListNode()
        while True:
            begin = text.find("{", self._pos)
            self._pos = len(text) if begin < 0 else begin
            if self._pos > self._start:
                self.root.nodes.append(TextNode(self._consume()))
            if begin < 0:
                return
            self._skip(1)
            action = ListNode()
            self.root.nodes.append(action)
            while self._parse_in_action(action):
                pass

    def _consume(self) -> str:
        """Return the text since the last call."""
        text = self._input[self._start : self._pos]
        self._start = self._pos
        return text

    def _skip(self, count: int) -> None:
        self._pos += count
        self._start = self._pos

    def _peek(self) -> str:
        """Return the next character, or "" at the end."""
        return self._input[self._pos : self._pos + 1]

    def _next(self) -> str:
        char = self._peek()
        self._pos += len(char)
        return char

    def _parse_in_action(self, cur: ListNode) -> bool:
        """Parse the next part of an action. Returns False at its end."""
        if self._input.startswith("[?(", self._pos):
            self._parse_filter(cur)
            return True
        if self._input.startswith("..", self._pos):
            self._parse_recursive(cur)
            return True
        char = self._peek()
        if char == "}":
            self._skip(1)
            return False
        if not char or char in _END_OF_LINE:
            raise ValueError("unclosed action")
        if char in " @$":
            self._skip(1)
        elif char == "[":
            self._parse_array(cur)
        elif char in "\"'":
            self._parse_quote(cur, char)
        elif char == ".":
            self._skip(1)
            self._parse_field(cur)
        elif char in "+-" or char.isdecimal():
            self._parse_number(cur)
        elif _is_alphanumeric(char):
            self._parse_identifier(cur)
        else:
            shown = f" '{char}'" if char.isprintable() else ""
            raise ValueError(f"unrecognized character in action: U+{ord(char):04X}{shown}")
        return True

    def _parse_identifier(self, cur: ListNode) -> None:
        while not _is_terminator(self._peek()):
            self._pos += 1
        value = self._consume()
        cur.nodes.append(BoolNode(value == "true") if value in ("true", "false") else IdentifierNode(value))

    def _parse_recursive(self, cur: ListNode) -> None:
        if cur.nodes and isinstance(cur.nodes[-1], RecursiveNode):
            raise ValueError("invalid multiple recursive descent")
        self._skip(len(".."))
        cur.nodes.append(RecursiveNode())
        if _is_alphanumeric(self._peek()):
            self._parse_field(cur)

    def _parse_number(self, cur: ListNode) -> None:
        if self._peek() in "+-":
            self._pos += 1
        while (char := self._peek()) == "." or char.isdecimal():
            self._pos += 1
        value = self._consume()
        integer = _atoi(value)
        if integer is not None:
            cur.nodes.append(IntNode(integer))
            return
        if not _FLOAT.fullmatch(value) or math.isinf(float(value)):
            raise ValueError(f"cannot parse number {value}")
        cur.nodes.append(FloatNode(float(value)))

    def _parse_array(self, cur: ListNode) -> None:
        while (char := self._next()) != "]":
            if not char or char == "\n":
                raise ValueError("unterminated array")
        text = self._consume()[1:-1]
        if text == "*":
            text = ":"
        parts = text.split(",")
        if len(parts) > 1:
            lists = [_parse_action("union", f"[{part.strip(' ')}]") for part in parts]
            cur.nodes.append(UnionNode(lists))
            return
        key = _DICT_KEY.fullmatch(text)
        if key:
            cur.nodes += _parse_action("arraydict", f".{key[1]}").nodes
            return
        numbers = _SLICE.fullmatch(text)
        if not numbers:
            raise ValueError(f"invalid array index {text}")
        cur.nodes.append(_array(numbers))

    def _parse_filter(self, cur: ListNode) -> None:
        self._skip(len("[?("))
        self._scan_filter()
        if self._next() != "]":
            raise ValueError("unclosed array expect ]")
        text = self._consume()[: -len(")]")]
        comparison = _COMPARISON.fullmatch(text)
        if not comparison or "\n" in comparison[3]:
            cur.nodes.append(FilterNode(_parse_action("text", text), ListNode(), "exists"))
            return
        left = _parse_action("left", comparison[1])
        right = _parse_action("right", comparison[3])
        cur.nodes.append(FilterNode(left, right, comparison[2]))

    def _scan_filter(self) -> None:
        """Advance past the parenthesis that ends the filter. Skips at most one quoted string."""
        quote = ""
        closed = False
        while True:
            char = self._next()
            if not char or char == "\n":
                raise ValueError("unterminated filter")
            if char in "\"'":
                if not quote:
                    quote = char
                elif char == quote and self._input[self._pos - 2] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                return

    def _parse_quote(self, cur: ListNode, quote: str) -> None:
        self._pos += 1
        while True:
            char = self._next()
            if not char or char == "\n":
                raise ValueError("unterminated quoted string")
            if char == quote and self._input[self._pos - 2] != "\\":
                break
        value = self._consume()
        try:
            text = unquote_extend(value)
        except ErrSyntax as err:
            raise ValueError(f"unquote string {value} error {err}") from err
        cur.nodes.append(TextNode(text))

    def _parse_field(self, cur: ListNode) -> None:
        while True:
            char = self._peek()
            if char == "\\":
                self._pos = min(self._pos + 2, len(self._input))
            elif _is_terminator(char):
                break
            else:
                self._pos += 1
        value = self._consume()
        cur.nodes.append(WildcardNode() if value == "*" else FieldNode(value.replace("\\", "")))


def _parse_action(name: str, text: str) -> ListNode:
    """Parse the inside of an action."""
    first = parse(name, f"{{{text}}}").root.nodes[0]
    assert isinstance(first, ListNode)
    return first


def _array(numbers: re.Match[str]) -> ArrayNode:
    start = _param(numbers[1])
    end = _param(numbers[2][1:]) if numbers[2] else ParamsEntry(start.value + 1, known=True, derived=True)
    step = _param(numbers[3][1:]) if numbers[3] else ParamsEntry()
    return ArrayNode((start, end, step))


def _param(text: str) -> ParamsEntry:
    if not text:
        return ParamsEntry()
    value = _atoi(text)
    if value is None:
        raise ValueError(f"array index {text} is not a number")
    return ParamsEntry(value, known=True)


def _atoi(text: str) -> int | None:
    try:
        return parse_int(text)
    except ValueError:
        return None


def _is_terminator(char: str) -> bool:
    """Report whether the character, "" at the end, may follow an identifier."""
    return not char or char in _TERMINATORS


def _is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def unquote_extend(s: str) -> str:
    """Return the value of a Go string literal in double or single quotes. Raises ErrSyntax.

    >>> unquote_extend("'a\\\\tb'"), unquote_extend('"\\\\u00e9"')
    ('a\\tb', 'é')

    Go: jsonpath.UnquoteExtend.
    """
    if len(s) < 2 or s[0] != s[-1] or s[0] not in "\"'":
        raise ErrSyntax
    quote, text = s[0], s[1:-1]
    if "\\" not in text and quote not in text:
        return text
    found = bytearray()
    at = 0
    while at < len(text):
        part, at = _unquote_char(text, at, quote)
        found += part
    return utf8.decode(bytes(found))


def _unquote_char(text: str, at: int, quote: str) -> tuple[bytes, int]:
    """Return the bytes of the character or escape sequence at a position, and the position behind it."""
    char = text[at]
    if char == quote:
        raise ErrSyntax
    if char != "\\":
        return utf8.encode(char), at + 1
    escape = text[at + 1 : at + 2]
    if escape in _ESCAPES:
        return _ESCAPES[escape].encode(), at + 2
    if escape and escape == quote:
        return escape.encode(), at + 2
    if escape in _HEX_DIGITS:
        end = at + 2 + _HEX_DIGITS[escape]
        return _unquote_hex(escape, text[at + 2 : end]), end
    octal = _OCTAL.match(text, at + 1)
    if not octal or int(octal[0], 8) > 0xFF:
        raise ErrSyntax
    return bytes([int(octal[0], 8)]), octal.end()


def _unquote_hex(escape: str, digits: str) -> bytes:
    if len(digits) != _HEX_DIGITS[escape] or not _HEX.fullmatch(digits):
        raise ErrSyntax
    code = int(digits, 16)
    if escape == "x":
        return bytes([code])
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ErrSyntax
    return chr(code).encode()
