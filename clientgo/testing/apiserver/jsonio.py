"""JSON in and out as Go writes it: compact, HTML characters escaped, newline at the end; errors in Go's words."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import yaml

Json = dict[str, Any]
MAX_DEPTH = 10000
MAX_YAML_NODES = 1_000_000

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
    return _escape(_encode(value).encode("utf-8", "surrogatepass"))


def dumps_sorted(value: Any) -> bytes:
    return _escape(_encode_sorted(value).encode("utf-8", "surrogatepass"))


def dumps_pretty(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _escape(text.encode("utf-8", "surrogatepass"))


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
    """Parse JSON; ParseError carries the words of encoding/json. Bytes that are no UTF-8 are read as U+FFFD."""
    try:
        return _decode(text.decode(errors="replace"))
    except RecursionError:
        raise ParseError("exceeded max depth") from None
    except json.JSONDecodeError as err:
        raise ParseError(_go_error(err)) from None


def _no_constant(name: str) -> Any:
    raise ParseError(f"invalid character '{name[0]}' looking for beginning of value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ParseError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _integer(text: str) -> int | float:
    """What does not fit into an int64 is a float64 for Go."""
    if len(text) > 20:
        return _finite(text)
    number = int(text)
    return number if -(2**63) <= number < 2**63 else float(number)


_decode = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_integer).decode


def duplicate_fields(text: bytes) -> list[str]:
    """Paths of keys that appear twice in one object."""
    found: list[str] = []

    class Pairs(dict[str, Any]):
        repeated: list[str]

    def hook(pairs: list[tuple[str, Any]]) -> Any:
        out = Pairs(pairs)
        names = [name for name, _ in pairs]
        out.repeated = [name for i, name in enumerate(names) if name in names[:i]]
        return out

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Pairs):
            found.extend(f"{path}.{name}" if path else name for name in value.repeated)
            for name, item in value.items():
                walk(item, f"{path}.{name}" if path else name)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                walk(item, f"{path}[{i}]")

    try:
        walk(json.loads(text, object_pairs_hook=hook), "")
    except (ValueError, RecursionError):
        return []
    return found


def _go_error(err: json.JSONDecodeError) -> str:
    text, at = err.doc, err.pos
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    if at >= len(text):
        return "unexpected end of JSON input"
    char = f"'{text[at]}'" if text[at] not in "'\\" else f"'\\{text[at]}'"
    where = {
        "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
        "Expecting ':' delimiter": "after object key",
        "Expecting ',' delimiter": "after object key:value pair",
        "Extra data": "after top-level value",
        "Invalid control character at": "in string literal",
        "Invalid \\escape": "in string escape code",
        "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
    }.get(err.msg, "looking for beginning of value")
    if err.msg.startswith("Unterminated string"):
        return "unexpected end of JSON input"
    if where == "after object key:value pair" and _inside_array(text, at):
        where = "after array element"
    return f"invalid character {char} {where}"


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


def go_text(value: Any) -> str:
    """A value as fmt prints it with %v."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if value is None:
        return "<nil>"
    return value if isinstance(value, str) else dumps_text(value)


# ---- YAML


_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Loader(_SafeLoader):  # type: ignore[misc]
    """YAML without timestamps: in an API object a date stays a string."""


_Loader.yaml_implicit_resolvers = {
    key: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for key, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


def loads_yaml(text: bytes) -> Any:
    """Parse one YAML document into what JSON could have said."""
    try:
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as err:
        raise ParseError(f"error converting YAML to JSON: yaml: {_first_line(err)}") from None
    except (RecursionError, ValueError, OverflowError) as err:
        raise ParseError(f"error converting YAML to JSON: yaml: {_first_line(err)}") from None
    try:
        return _plain(value, [MAX_YAML_NODES])
    except RecursionError:
        raise ParseError("error converting YAML to JSON: exceeded max depth") from None


def _first_line(err: Exception) -> str:
    return str(err).splitlines()[0] if str(err) else "invalid document"


def _plain(value: Any, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        # Aliases can make a short text expand without end.
        raise ParseError("error converting YAML to JSON: yaml: document contains excessive aliasing")
    if isinstance(value, dict):
        return {_key(name): _plain(item, budget) for name, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item, budget) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise ParseError("error converting YAML to JSON: json: unsupported value")
    return value


def _key(name: Any) -> str:
    if isinstance(name, str):
        return name
    if name is True or name is False:
        return "true" if name else "false"
    if name is None:
        return "null"
    if isinstance(name, (int, float)):
        return json.dumps(name)
    raise ParseError("error converting YAML to JSON: unsupported map key")


def dumps_yaml(value: Any) -> bytes:
    text: str = yaml.dump(
        value, Dumper=_SafeDumper, default_flow_style=False, allow_unicode=True, sort_keys=True, width=2**20
    )
    return text.encode("utf-8", "replace")


def copy(value: Any) -> Any:
    """A deep copy of a JSON value; several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {name: copy(item) if isinstance(item, (dict, list)) else item for name, item in value.items()}
    if isinstance(value, list):
        return [copy(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def sort_keys(value: Any) -> Any:
    """The value with the keys of all objects in order, and whole floats without fraction, as Go prints both."""
    if isinstance(value, dict):
        return {name: sort_keys(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sort_keys(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXPONENT_FROM:
        return int(Decimal(repr(value)))
    return value


# Go prints larger numbers with an exponent, and so does Python.
_EXPONENT_FROM = 1e21
