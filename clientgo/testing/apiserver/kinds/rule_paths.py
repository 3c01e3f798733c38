"""The fieldPath of a CEL rule: `.a['b'].c`. Mirrors ValidFieldPath in apiextensions-apiserver's schema/cel."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r"\.([^.\[\]']+)|\['((?:[^'\\]|\\.)*)'\]")
_ESCAPE = re.compile(r"\\(.)")
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def normalized_path(text: str, schema: Any) -> str | None:
    """Return a rule's fieldPath as errors print it, or None if it leads to no field of the schema."""
    path, pos = "", 0
    while pos < len(text):
        step = _STEP.match(text, pos)
        if step is None or not isinstance(schema, dict):
            return None
        pos = step.end()
        name = step[1] if step[1] is not None else _unescaped(step[2])
        more = schema.get("additionalProperties")
        if schema.get("properties") is not None:
            if name not in schema["properties"]:
                return None
            schema = schema["properties"][name]
            path = f"{path}.{name}" if path else str(name)
        elif isinstance(more, dict):
            schema = more
            path = f"{path}[{name}]"
        else:
            return None
    return path or None


def _unescaped(text: str) -> str | None:
    if any(mark not in _SIMPLE for mark in _ESCAPE.findall(text)):
        return None
    return _ESCAPE.sub(lambda match: _SIMPLE[match[1]], text)
