"""JSON text as Go writes it, and reading with Go's idea of numbers.

Mirrors k8s.io/apimachinery/pkg/util/json/json.go and what Go's encoding/json does to text: sorted map keys, no blanks,
`<`, `>` and `&` escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# The value that begins at a position, and where it ends: the C scanner without what json.loads does around it. Raises
# StopIteration, ValueError and RecursionError.
scan: Callable[[str, int], tuple[Any, int]] = json.scanner.make_scanner(json.JSONDecoder())  # type: ignore[attr-defined]


def marshal(value: Any) -> str:
    """Compact JSON with sorted keys, byte for byte what Go's encoding/json gives for maps. Go: json.Marshal.

    >>> marshal({"b": 1, "a": "<x>"})
    '{"a":"\\\\u003cx\\\\u003e","b":1}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return escape_html(text)


def escape_html(text: str) -> str:
    """Escape in JSON text what Go's encoder escapes: `<`, `>`, `&`, U+2028 and U+2029."""
    if "<" in text:
        text = text.replace("<", "\\u003c")
    if ">" in text:
        text = text.replace(">", "\\u003e")
    if "&" in text:
        text = text.replace("&", "\\u0026")
    if "\u2028" in text or "\u2029" in text:
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text


def unmarshal(data: str | bytes) -> Any:
    """Read one JSON value; integers stay exact. Raises ValueError on malformed text. Go: json.Unmarshal."""
    return json.loads(data)
