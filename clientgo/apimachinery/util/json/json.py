"""JSON text as Go writes it, and reading with Go's idea of numbers.

Mirrors k8s.io/apimachinery/pkg/util/json/json.go and what Go's encoding/json does to text: sorted map keys, no blanks,
`<`, `>` and `&` escaped, a whole number without a point, U+FFFD for each byte that is not valid UTF-8 (see
clientgo.golang.utf8).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from clientgo.golang import utf8

# The value that begins at a position, and where it ends: the C scanner without what json.loads does around it. Raises
# StopIteration, ValueError and RecursionError.
scan: Callable[[str, int], tuple[Any, int]] = json.scanner.make_scanner(json.JSONDecoder())  # type: ignore[attr-defined]

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_SORTED: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode
# 1000.0, 1e-05, 1e-07, 1e+16: what Go writes in another way. A string may look like that too, but most that have the
# beginning of it, as 10.0.0.1 and node-0 have, do not.
_WHOLE: Final = re.compile(r"\.0(?:[,}\]]|$)")
_SMALL: Final = re.compile(r"e-0\d(?:[,}\]]|$)")
_NOT_FINITE: Final = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}


def marshal(value: Any) -> str:
    """Compact JSON with sorted keys, byte for byte what Go's encoding/json gives for maps. Go: json.Marshal.

    Raises ValueError for a float that JSON has no number for.

    >>> marshal({"b": 1000.0, "a": "<x>", "c": 1e-7})
    '{"a":"\\\\u003cx\\\\u003e","b":1000,"c":1e-7}'
    """
    return escape_html(encode(value, sort_keys=True))


def encode(value: Any, *, sort_keys: bool = False) -> str:
    """Return compact JSON, with numbers as Go writes them. Costs little more than json.dumps if no float differs.

    The text can always be encoded as UTF-8: a lone surrogate becomes U+FFFD. Raises ValueError for a float that JSON
    has no number for.
    """
    try:
        text = (_SORTED if sort_keys else _COMPACT)(value)
    except ValueError as err:
        if "Circular" in str(err):
            raise
        return utf8.to_valid(_encoded(value, sort_keys))
    if _WHOLE.search(text) or _SMALL.search(text) or ("+" in text and "e+" in text):
        text = _encoded(value, sort_keys)
    return utf8.to_valid(text)


def _encoded(value: Any, sort_keys: bool) -> str:
    """The same without json.dumps around it, which cannot be told how to write a float."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        pairs: Iterable[tuple[Any, Any]] = value.items()
        if sort_keys:
            pairs = sorted(pairs)
        return f"{{{','.join(f'{_key(key)}:{_encoded(item, sort_keys)}' for key, item in pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(_encoded(item, sort_keys) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: Any) -> str:
    """A key as json.dumps writes it."""
    return json.dumps({key: 0}, ensure_ascii=False)[1:-4]


def _number(value: float) -> str:
    """The shortest digits, as for ECMAScript: an exponent only below 1e-6 and from 1e21 on. Go: floatEncoder."""
    if not math.isfinite(value):
        raise ValueError(f"json: unsupported value: {_NOT_FINITE[str(value)]}")
    shortest = repr(float(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal  # Here, not above: few documents have such a number.

        plain = f"{Decimal(shortest):f}"
        return plain.removesuffix(".0")
    return shortest.replace("e-0", "e-")


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
