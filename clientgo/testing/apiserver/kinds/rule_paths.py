"""Paths of fields in the schemas of custom resources. Mirrors ValidFieldPath in apiextensions-apiserver's schema/cel.

These are the fieldPath of a CEL rule, such as `.a['b'].c`, and the jsonPath of a selectable field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_ESCAPE = re.compile(r"\\(.)")
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}
_NO_FIELD = "does not refer to a valid field"
_END = "unexpected end of JSON path"


class PathError(ValueError):
    """Raised for a path that leads to no field, with Go's text."""


def normalized_path(text: str, schema: Any) -> str | None:
    """Return a rule's fieldPath as errors print it, or None if it leads to no field of the schema."""
    try:
        return resolved_path(text, schema)[0] or None
    except PathError:
        return None


def resolved_path(text: str, schema: Any, *, brackets: bool = True) -> tuple[str, Any]:
    """Return a path as errors print it, and the schema of the field to which it leads. Raises PathError.

    `brackets` states whether the path may have steps such as `['b']`.
    """
    path = ""
    tokens = _tokens(text)
    for token in tokens:
        if token == "[":
            if not brackets:
                raise PathError("array notation is not allowed")
            quoted = _next(tokens)
            if len(quoted) < 2 or quoted[0] != "'" or quoted[-1] != "'":
                raise PathError(f"expected single quoted string but got {quoted}")
            name = _unescaped(quoted[1:-1])
            path, schema = _step(path, name, schema)
            closing = _next(tokens)
            if closing != "]":
                raise PathError(f"expected ] but got {closing}")
        elif token == ".":
            path, schema = _step(path, _next(tokens), schema)
        else:
            raise PathError(f"expected [ or . but got: {token}")
    return path, schema


def _next(tokens: Iterator[str]) -> str:
    token = next(tokens, None)
    if token is None:
        raise PathError(_END)
    return token


def _tokens(text: str) -> Iterator[str]:
    """Yield the delimiters of a path and the texts between them; a text that begins with a quote ends with one."""
    start = 0
    while start < len(text):
        end = start
        if text[start] == "'":
            end = start + 1
            while end < len(text) and (text[end] != "'" or text[end - 1] == "\\"):
                end += 1
            end += 1
        elif text[start] in ".[]":
            end = start + 1
        else:
            while end < len(text) and text[end] not in ".[]":
                end += 1
        yield text[start:end]
        start = end


def _step(path: str, name: str, schema: Any) -> tuple[str, Any]:
    """Return the path and schema of a field, or of a value of a map."""
    if isinstance(schema, dict) and schema.get("properties") is not None:
        if name in schema["properties"]:
            return f"{path}.{name}" if path else name, schema["properties"][name]
    elif isinstance(schema, dict) and isinstance(schema.get("additionalProperties"), dict):
        return f"{path}[{name}]", schema["additionalProperties"]
    raise PathError(_NO_FIELD)


def _unescaped(text: str) -> str:
    if any(mark not in _SIMPLE for mark in _ESCAPE.findall(text)):
        raise PathError("invalid string literal: unable to unescape string")
    return _ESCAPE.sub(lambda match: _SIMPLE[match[1]], text)
