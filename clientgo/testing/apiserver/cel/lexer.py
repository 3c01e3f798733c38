"""An expression's tokens. Mirrors the lexer rules of cel-go's parser/gen/CEL.g4."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clientgo.golang import utf8
from clientgo.testing.apiserver.cel.source import Issues

EOF = "<EOF>"
KEYWORDS = frozenset({"in", "true", "false", "null"})
# Reserved words, which no identifier may be.
RESERVED = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "namespace"}
    | {"package", "return", "var", "void", "while"}
)
_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_QUOTED = "|".join(
    [
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    ]
)
_TOKEN = re.compile(
    rf"""(?P<SKIP>[\t\n\f\r ]+|//[^\n]*)
    |(?P<BYTES>[bB](?:{_QUOTED}))
    |(?P<STRING>{_QUOTED})
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\ ]+`)
    |(?P<OP>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])""",
    re.VERBOSE,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ONE_ESCAPE = re.compile(_ESCAPE)


@dataclass(frozen=True, slots=True)
class Token:
    """A token. The `kind` of operators and keywords is their text."""

    kind: str
    text: str
    pos: int


def tokens(source: str, issues: Issues) -> list[Token]:
    """Return all tokens, followed by one of kind EOF. Unreadable text is added to `issues` and skipped."""
    found: list[Token] = []
    pos = 0
    while pos < len(source):
        match = _TOKEN.match(source, pos)
        if match is None:
            issues.add(pos, f"Syntax error: token recognition error at: '{_unreadable(source, pos)}'")
            pos += len(_unreadable(source, pos))
            continue
        kind, text = match.lastgroup or "", match.group()
        if kind == "OP" or text in KEYWORDS:
            kind = text
        if kind != "SKIP":
            found.append(Token(kind, text, pos))
        pos = match.end()
    found.append(Token(EOF, EOF, len(source)))
    return found


def _unreadable(source: str, pos: int) -> str:
    """Return the unreadable text at `pos`: an unclosed string up to the end of its line, or one or two characters."""
    if source[pos] in "\"'":
        return source[pos:].partition("\n")[0]
    if source[pos] in "&|=":  # half of an operator: what stands where the other half should be goes with it
        return source[pos : pos + 2]
    return source[pos]


def string_value(text: str) -> str:
    """Return the value of a string literal. Raises ValueError."""
    raw = text[0] in "rR"
    body = _body(text[1:] if raw else text)
    return body if raw else _ONE_ESCAPE.sub(lambda match: _code_point(match.group()), body)


def bytes_value(text: str) -> bytes:
    """Return the value of a bytes literal. Its numeric escapes are bytes, not characters. Raises ValueError."""
    text = text[1:]
    raw = text[0] in "rR"
    body = _body(text[1:] if raw else text)
    if raw:
        return utf8.encode(body)
    out, last = b"", 0
    for match in _ONE_ESCAPE.finditer(body):
        escape = match.group()
        out += utf8.encode(body[last : match.start()])
        if escape[1] in "uU":
            raise ValueError("unable to unescape string")
        out += bytes([ord(_code_point(escape))])
        last = match.end()
    return out + utf8.encode(body[last:])


def _body(text: str) -> str:
    quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    return text[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n") if quotes == 3 else text[1:-1]


def _code_point(escape: str) -> str:
    mark = escape[1]
    if mark in _SIMPLE:
        return _SIMPLE[mark]
    if mark in "xXuU":
        code = int(escape[2:], 16)
    elif mark in "0123":
        code = int(escape[1:], 8)
    else:
        return mark
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError("invalid unicode code point")
    return chr(code)
