"""JSON in and out as Go writes it: compact, HTML characters escaped, newline at the end; errors in Go's words."""

from __future__ import annotations

import contextlib
import json
import math
import re
from decimal import Decimal
from typing import Any

from clientgo.golang import utf8
from clientgo.golang.json import syntax_error

Json = dict[str, Any]
# Lists and objects inside each other. Go's limit is 10,000; what comes after the parser here walks objects recursively,
# and no API object is a tenth as deep as this.
MAX_DEPTH = 200
_TOO_DEEP = "exceeded max depth"
# Lists, maps, keys and scalars in one YAML text. Go bounds only its bytes, by the limit of a body. A million values
# would take seconds here. JSON is not bounded: its parser is much faster.
MAX_YAML_VALUES = 250_000
# In JSON for clients, the text in place of a byte that is not valid UTF-8.
REPLACEMENT = "\ufffd".encode()

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False).encode
_encode_sorted = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False, sort_keys=True
).encode


class ParseError(ValueError):
    """The text is not JSON or YAML; the message is Go's."""


def dumps_text(value: Any) -> str:
    return _encode(value)


def dumps(value: Any) -> bytes:
    """Compact JSON with <, > and & escaped; without the final newline."""
    return _escape(_utf8(_encode(value)))


def dumps_exact(value: Any) -> bytes:
    """Compact JSON in ASCII. `loads_exact` restores every text, also a text that is not valid UTF-8."""
    return json.dumps(value, separators=(",", ":"), check_circular=False, allow_nan=False).encode()


def loads_exact(text: bytes) -> Any:
    """Parse JSON that this server wrote. Raises ValueError."""
    return _decode(text.decode())


def dumps_sorted(value: Any) -> bytes:
    return _escape(_utf8(_encode_sorted(value)))


def dumps_pretty(value: Any) -> bytes:
    return _escape(_utf8(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)))


def _utf8(text: str) -> bytes:
    """Encode a text; a lone surrogate, and so each byte that is not valid UTF-8, becomes U+FFFD as in Go."""
    return utf8.to_valid(text).encode()


def _escape(text: bytes) -> bytes:
    # These characters stand only inside JSON strings, so that a plain replace is right.
    if b"<" in text:
        text = text.replace(b"<", b"\\u003c")
    if b">" in text:
        text = text.replace(b">", b"\\u003e")
    if b"&" in text:
        text = text.replace(b"&", b"\\u0026")
    return text


def loads(text: bytes) -> Any:
    """Parse JSON; ParseError carries the words of encoding/json. Invalid Unicode is read as U+FFFD."""
    try:
        value = _decode(utf8.decode_valid(text))
    except RecursionError:
        raise ParseError(_TOO_DEEP) from None
    except json.JSONDecodeError as err:
        # The message shows the bytes of the client, not U+FFFD.
        exact = json.JSONDecodeError(err.msg, text.decode("utf-8", "surrogateescape"), err.pos)
        raise ParseError(syntax_error(exact)) from None
    # Counting is much faster than walking, and settles nearly all.
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and is_deep(value):
        raise ParseError(_TOO_DEEP)
    return _with_valid_texts(value) if _HALF.search(text) else value


# How half of a surrogate pair, or a whole one, begins.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def is_deep(value: Any) -> bool:
    """Report whether lists and objects are nested deeper than this server accepts. Not recursive."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _with_valid_texts(value: Any) -> Any:
    if isinstance(value, str):
        return utf8.to_valid(value)
    if isinstance(value, list):
        return [_with_valid_texts(item) for item in value]
    if isinstance(value, dict):
        return {utf8.to_valid(name): _with_valid_texts(item) for name, item in value.items()}
    return value


def _no_constant(name: str) -> Any:
    raise ParseError(f"invalid character '{name[0]}' looking for beginning of value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ParseError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _integer(text: str) -> int | float:
    """Parse an integer. As in Go, a value beyond int64 becomes a float64."""
    if len(text) > 20:
        return _finite(text)
    number = int(text)
    return number if -(2**63) <= number < 2**63 else float(number)


_decode = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_integer).decode


def may_repeat(text: bytes, value: Any) -> bool:
    """Report whether the JSON of this value may repeat a key in an object. Counts quotes, which is fast."""
    strings, level = 0, [value]
    for item in level:
        if isinstance(item, dict):
            strings += len(item)
            level += item.values()
        elif isinstance(item, list):
            level += item
        elif isinstance(item, str):
            strings += 1
    return text.count(b'"') - text.count(b'\\"') != 2 * strings


def go_text(value: Any) -> str:
    """Return a value as Go's fmt prints it with %v."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if value is None:
        return "<nil>"
    return value if isinstance(value, str) else dumps_text(value)


# ---- YAML


def loads_yaml(text: bytes, duplicates: list[str] | None = None) -> Any:
    """Parse one YAML document into what JSON could have said. Raises ParseError.

    Adds repeated keys of a map to `duplicates`. For a body in JSON, `strict_fields` finds them.
    """
    if text.lstrip()[:1] == b"{":
        # Most bodies with the type YAML are JSON, and the JSON parser is much faster.
        with contextlib.suppress(ParseError):
            return loads(text)
    # Here, as in dumps_yaml: few bodies are YAML and not JSON.
    from clientgo.apimachinery.util import yaml

    try:
        return yaml.unmarshal(text, yaml.Limits(depth=MAX_DEPTH, values=MAX_YAML_VALUES), duplicates)
    except yaml.YAMLSyntaxError as err:
        raise ParseError(f"error converting YAML to JSON: {err}") from None


def dumps_yaml(value: Any) -> bytes:
    """Return the value as Go's YAML library writes it."""
    from clientgo.testing.apiserver.wire import yamlout  # Here, as in loads_yaml.

    return yamlout.dumps(value)


def copy(value: Any) -> Any:
    """Return a deep copy of a JSON value, several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {name: copy(item) if isinstance(item, (dict, list)) else item for name, item in value.items()}
    if isinstance(value, list):
        return [copy(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def sort_keys(value: Any) -> Any:
    """Return the value with sorted keys in all objects and whole floats without fraction, as Go prints both."""
    if isinstance(value, dict):
        return {name: sort_keys(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sort_keys(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXPONENT_FROM:
        return int(Decimal(repr(value)))
    return value


# Go prints larger numbers with an exponent, and so does Python.
_EXPONENT_FROM = 1e21
