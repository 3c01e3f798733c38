"""Parser: builds an expression's tree from its tokens. Mirrors cel-go's parser/parser.go and its grammar CEL.g4.

The first syntax error has ANTLR's text. Go's parser continues after it and may report more errors.
"""

from __future__ import annotations

from typing import TypeVar

from clientgo.testing.apiserver.cel import macros
from clientgo.testing.apiserver.cel.common.values import Uint
from clientgo.testing.apiserver.cel.lexer import EOF, RESERVED, Token, bytes_value, string_value, tokens
from clientgo.testing.apiserver.cel.source import CompileError, Issues
from clientgo.testing.apiserver.cel.syntax import (
    MAX_DEPTH,
    Call,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    Struct,
)

# cel-go's limit.
_MAX_LENGTH = 100_000
# Brackets inside each other: four Python frames each.
_MAX_NESTING = 75
# The tokens in ANTLR's order.
_ORDER = (
    *(EOF, "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?"),
    *(":", "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES"),
    *("IDENTIFIER", "ESC_IDENTIFIER"),
)
_START = frozenset(
    {"[", "{", "(", ".", "-", "!", "true", "false", "null", "IDENTIFIER"}
    | {"NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES"}
)
_GO_ON = frozenset(
    {"==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", ".", "-", "?", "+", "*", "/", "%"}
)  # fmt: skip
_LEVELS = (
    {"||": "_||_"},
    {"&&": "_&&_"},
    {"==": "_==_", "!=": "_!=_", "<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "in": "@in"},
    {"+": "_+_", "-": "_-_"},
    {"*": "_*_", "/": "_/_", "%": "_%_"},
)

E = TypeVar("E", bound=Expr)


class _Wrong(Exception):
    """The end of parsing. The parser has recorded the issue and does not read the rest."""


def parse(source: str, *, extended: bool = True) -> Expr:
    """Return the tree of an expression. Raises CompileError.

    Without `extended` the parser is cel-go's default one: it expands no macros, and rejects optional syntax (`a.?b`)
    and identifiers in backquotes.
    """
    issues = Issues(source)
    if len(source) > _MAX_LENGTH:
        text = f"expression code point size exceeds limit: size: {len(source)}, limit {_MAX_LENGTH}"
        raise CompileError(f"ERROR: <input>:-1:0: {text}")
    parser = _Parser(tokens(source, issues), issues, extended)
    expr = parser.parse()
    issues.check()
    assert expr is not None
    return expr


def deeper(expr: E, *below: Expr | None) -> E:
    """Set a node's depth from its children and return the node. Raises CompileError if the depth exceeds the limit."""
    expr.depth = 1 + max((one.depth for one in below if one is not None), default=0)
    if expr.depth > MAX_DEPTH:
        raise CompileError(f"ERROR: <input>:-1:0: expression recursion limit exceeded: {MAX_DEPTH}")
    return expr


class _Parser:
    def __init__(self, found: list[Token], issues: Issues, extended: bool) -> None:
        self._tokens = found
        self._at = 0
        self._issues = issues
        self._extended = extended
        self._nesting = 0

    def parse(self) -> Expr | None:
        try:
            expr = self._expr(frozenset({EOF}))
            if self._next.kind != EOF:
                self._unclosed(frozenset({EOF}), EOF)
        except _Wrong:
            return None
        return expr

    # ---- tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _after(self) -> Token:
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _has(self, kind: str) -> bool:
        if self._next.kind != kind:
            return False
        self._at += 1
        return True

    # ---- errors

    def _wrong(self, message: str, pos: int | None = None) -> _Wrong:
        self._issues.add(self._next.pos if pos is None else pos, message)
        return _Wrong()

    def _has_optional(self, syntax: str) -> bool:
        """Take a "?" that makes an access or element optional. Raises _Wrong if the parser has no optional syntax."""
        pos = self._next.pos
        if not self._has("?"):
            return False
        if not self._extended:
            raise self._wrong(f"unsupported syntax '{syntax}'", pos)
        return True

    def _unexpected(self, expected: frozenset[str]) -> _Wrong:
        """Record that the next token is not in `expected`, and return the exception for the caller to raise.

        The token is "extraneous" if an expected one follows it, otherwise "mismatched".
        """
        problem = "extraneous" if self._after().kind in expected and self._next.kind != EOF else "mismatched"
        return self._wrong(f"Syntax error: {problem} input '{self._next.text}' expecting {_set(expected)}")

    def _unclosed(self, closers: frozenset[str], shown: str) -> None:
        """Raise _Wrong for a token that neither continues the expression nor ends it; `shown` is the expected end."""
        if self._next.kind == EOF:
            raise self._wrong(f"Syntax error: missing {shown} at '{EOF}'")
        problem = "extraneous" if self._after().kind in closers else "mismatched"
        raise self._wrong(f"Syntax error: {problem} input '{self._next.text}' expecting {shown}")

    def _close(self, closer: str, others: frozenset[str] = frozenset()) -> None:
        if not self._has(closer):
            self._unclosed(others | {closer}, f"'{closer}'")

    # ---- expressions

    def _expr(self, closers: frozenset[str]) -> Expr:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise CompileError(f"ERROR: <input>:-1:0: expression recursion limit exceeded: {_MAX_NESTING}")
        condition = self._binary(0)
        if self._next.kind == "?":
            op = self._take()
            yes = self._binary(0)
            if not self._has(":"):
                expected = (_GO_ON - {"?"}) | {":"}
                if self._after().kind in closers | _START and self._next.kind != EOF:
                    raise self._wrong(f"Syntax error: missing ':' at '{self._next.text}'")
                raise self._wrong(f"Syntax error: mismatched input '{self._next.text}' expecting {_set(expected)}")
            no = self._expr(closers)
            condition = _call(op.pos, "_?_:_", [condition, yes, no])
        self._nesting -= 1
        return condition

    def _binary(self, level: int) -> Expr:
        """Parse an expression of operators of this level and of levels that bind more tightly."""
        left = self._unary()
        return self._operators(left, level)

    def _operators(self, left: Expr, level: int) -> Expr:
        while True:
            own = next((i for i in range(level, len(_LEVELS)) if self._next.kind in _LEVELS[i]), None)
            if own is None:
                return left
            if own < 2:
                left = self._chain(left, own)
                continue
            op = self._take()
            right = self._operators(self._unary(), own + 1) if own + 1 < len(_LEVELS) else self._unary()
            left = _call(op.pos, _LEVELS[own][op.kind], [left, right])

    def _chain(self, first: Expr, level: int) -> Expr:
        """Parse the rest of `a && b && c ...` into a balanced tree, so that a long chain is not deep."""
        ((symbol, function),) = _LEVELS[level].items()
        terms, positions = [first], []
        while self._next.kind == symbol:
            positions.append(self._take().pos)
            terms.append(self._operators(self._unary(), level + 1))
        return _balanced(function, terms, positions, 0, len(positions) - 1)

    def _unary(self) -> Expr:
        first = self._next
        if first.kind == "!":
            count = 0
            while self._has("!"):
                count += 1
            member = self._member()
            return member if count % 2 == 0 else _call(first.pos, "!_", [member])
        if first.kind == "-":
            if self._after().kind in ("NUM_INT", "NUM_FLOAT"):
                self._take()
                return self._postfix(self._number(self._take(), first.pos, "-"))
            count = 0
            while self._has("-"):
                count += 1
            member = self._member()
            return member if count % 2 == 0 else _call(first.pos, "-_", [member])
        return self._member()

    def _member(self) -> Expr:
        return self._postfix(self._primary())

    def _postfix(self, expr: Expr) -> Expr:
        while True:
            kind = self._next.kind
            if kind == ".":
                expr = self._dot(expr)
            elif kind == "[":
                expr = self._index(expr)
            elif kind == "{" and (name := _qualified(expr)):
                expr = self._struct(name, self._take())
            else:
                return expr

    def _dot(self, operand: Expr) -> Expr:
        dot = self._take()
        optional = self._has_optional(".?")
        if self._next.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            raise self._wrong(f"Syntax error: no viable alternative at input '.{self._shown_next()}'")
        name = self._take()
        if name.kind == "ESC_IDENTIFIER" and not self._extended:
            raise self._wrong("unsupported syntax: '`'", name.pos)
        if not optional and name.kind == "IDENTIFIER" and self._next.kind == "(":
            paren = self._take()
            return self._called(paren.pos, name.text, operand, self._args())
        text = name.text.strip("`")
        if optional:
            return _call(dot.pos, "_?._", [operand, Literal(text, pos=name.pos)])
        return deeper(Select(operand, text, pos=dot.pos), operand)

    def _shown_next(self) -> str:
        return "" if self._next.kind == EOF else self._next.text

    def _index(self, operand: Expr) -> Expr:
        bracket = self._take()
        optional = self._has_optional("[?")
        if not optional and self._next.kind not in _START:
            raise self._unexpected(_START | {"?"})
        index = self._expr(frozenset({"]"}))
        self._close("]")
        return _call(bracket.pos, "_[?_]" if optional else "_[_]", [operand, index])

    def _primary(self) -> Expr:
        token = self._next
        kind = token.kind
        if kind == "(":
            self._take()
            inner = self._expr(frozenset({")"}))
            self._close(")")
            return inner
        if kind == "[":
            return self._list(self._take())
        if kind == "{":
            return self._map(self._take())
        if kind == "." and self._after().kind == "IDENTIFIER":
            self._take()
            return self._named(self._take(), ".")
        if kind == "IDENTIFIER":
            return self._named(self._take(), "")
        if kind not in _START or kind in (".", "-", "!"):
            raise self._unexpected(_START)
        return self._literal(self._take())

    def _named(self, name: Token, dot: str) -> Expr:
        if name.text in RESERVED:
            raise self._wrong(f"reserved identifier: {name.text}", name.pos)
        if self._next.kind != "(":
            return Ident(dot + name.text, pos=name.pos)
        paren = self._take()
        return self._called(paren.pos, dot + name.text, None, self._args())

    def _args(self) -> list[Expr]:
        args: list[Expr] = []
        if self._has(")"):
            return args
        if self._next.kind not in _START:
            raise self._unexpected(_START | {")"})
        while True:
            args.append(self._expr(frozenset({")", ","})))
            if not self._has(","):
                break
        self._close(")", frozenset({","}))
        return args

    def _called(self, pos: int, function: str, target: Expr | None, args: list[Expr]) -> Expr:
        if not self._extended:
            return deeper(Call(function, target, args, pos=pos), target, *args)
        try:
            expanded = macros.expand(pos, function, target, args)
        except macros.MacroError as err:
            raise self._wrong(str(err), err.pos) from None
        if expanded is not None:
            return expanded
        return deeper(Call(function, target, args, pos=pos), target, *args)

    def _list(self, bracket: Token) -> Expr:
        items: list[Expr] = []
        optional = set()
        while self._next.kind not in ("]", EOF) or not items:
            if self._next.kind in ("]", ",") and not items:
                self._has(",")
                break
            if self._has_optional("?"):
                optional.add(len(items))
            items.append(self._expr(frozenset({"]", ","})))
            if not self._has(","):
                if self._next.kind != "]":
                    expected = _set(frozenset({"]", ","}))
                    raise self._wrong(f"Syntax error: mismatched input '{self._next.text}' expecting {expected}")
                break
        self._close("]")
        return deeper(ListExpr(items, frozenset(optional), pos=bracket.pos), *items)

    def _map(self, brace: Token) -> Expr:
        entries: list[tuple[Expr, Expr, bool]] = []
        while self._next.kind != "}":
            if self._has(",") and self._next.kind == "}" and not entries:
                break
            optional = self._has_optional("?")
            if not optional and self._next.kind not in _START:
                raise self._unexpected(_START | {"?", "}", ","} if not entries else _START | {"?", "}"})
            key = self._expr(frozenset({":"}))
            if not self._has(":"):
                raise self._unexpected(_GO_ON | {":"})
            entries.append((key, self._expr(frozenset({"}", ","})), optional))
            if not self._has(",") and self._next.kind != "}":
                raise self._unexpected(frozenset({"}", ","}))
        self._take()
        return deeper(MapExpr(entries, pos=brace.pos), *(one for entry in entries for one in entry[:2]))

    def _struct(self, name: str, brace: Token) -> Expr:
        fields: list[tuple[str, Expr, bool, int]] = []
        while self._next.kind != "}":
            optional = self._has_optional("?")
            if self._next.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
                raise self._unexpected(frozenset({"}", ",", "?", "IDENTIFIER", "ESC_IDENTIFIER"}))
            field = self._take()
            if self._next.kind != ":":
                raise self._unexpected(frozenset({":"}))
            colon = self._take()
            fields.append((field.text.strip("`"), self._expr(frozenset({"}", ","})), optional, colon.pos))
            if not self._has(",") and self._next.kind != "}":
                raise self._unexpected(frozenset({"}", ","}))
        self._take()
        return deeper(Struct(name, fields, pos=brace.pos), *(one[1] for one in fields))

    # ---- literals

    def _literal(self, token: Token) -> Expr:
        kind, text = token.kind, token.text
        if kind in ("true", "false"):
            return Literal(kind == "true", pos=token.pos)
        if kind == "null":
            return Literal(None, pos=token.pos)
        try:
            if kind == "STRING":
                return Literal(string_value(text), pos=token.pos)
            if kind == "BYTES":
                return Literal(bytes_value(text), pos=token.pos)
        except ValueError as err:
            raise self._wrong(str(err), token.pos) from None
        return self._number(token, token.pos, "")

    def _number(self, token: Token, pos: int, sign: str) -> Expr:
        kind, text = token.kind, token.text
        if kind == "NUM_FLOAT":
            return Literal(float(sign + text), pos=pos)
        digits = text.rstrip("uU")
        # Longer ones are out of range, and Python refuses to read very long ones.
        number = int(sign + digits, 0 if digits.startswith("0x") else 10) if len(digits) < 40 else 1 << 70
        if kind == "NUM_UINT":
            if number >= 1 << 64:
                raise self._wrong("invalid uint literal", pos)
            return Literal(Uint(number), pos=pos)
        if not -(1 << 63) <= number < 1 << 63:
            raise self._wrong("invalid int literal", pos)
        return Literal(number, pos=pos)


def _call(pos: int, function: str, args: list[Expr]) -> Call:
    return deeper(Call(function, None, args, pos=pos), *args)


def _balanced(function: str, terms: list[Expr], positions: list[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, positions, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, positions, middle + 1, high)
    return _call(positions[middle], function, [left, right])


def _qualified(expr: Expr) -> str:
    """Return the dotted name that an expression spells, or "" for other expressions."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test_only:
        head = _qualified(expr.operand)
        return f"{head}.{expr.field}" if head else ""
    return ""


def _set(expected: frozenset[str]) -> str:
    shown = [one if one == EOF or one.isupper() or "_" in one else f"'{one}'" for one in _ORDER if one in expected]
    return shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"
