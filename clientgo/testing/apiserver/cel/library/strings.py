"""Strings beyond the standard, version 2 of that library. Mirrors cel-go's ext/strings.go and ext/formatting.go."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from clientgo.golang import fmt, utf8
from clientgo.testing.apiserver.cel.common.types import INT, LIST_DYN, LIST_STRING, STRING
from clientgo.testing.apiserver.cel.common.values import (
    Duration,
    EvalError,
    Timestamp,
    TypeValue,
    from_key,
    is_number,
    type_name,
)
from clientgo.testing.apiserver.cel.library.declare import Function, check_size, no_overload
from clientgo.testing.apiserver.cel.library.standard import string

_CLAUSE = re.compile(r"%(?:\.(\d*))?(.?)", re.DOTALL)
_DEFAULT_PRECISION = 6
_MAX_PRECISION = 1000
_WHITE = " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # fmt: skip  # noqa: E501
_QUOTED = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
           "\v": "\\v"}  # fmt: skip


def _function(name: str, body: Callable[..., Any], *kinds: type) -> Function:
    """Return a function that raises EvalError unless its arguments have the Python types `kinds`.

    The last ones may be missing.
    """

    def checked(*args: Any) -> Any:
        if any(type(arg) is not kind for arg, kind in zip(args, kinds)):
            raise no_overload(name, *args)
        return body(*args)

    return Function(name, checked)


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvalError(f"index out of range: {index}")
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not start >= 0:
        raise EvalError(f"index out of range: {start}")
    return text.find(part, start)


def last_index_of(text: str, part: str, end: int | None = None) -> int:
    if not part:
        return len(text) if end is None else end
    if end is None:
        return text.rfind(part)
    if end < 0:
        raise EvalError(f"index out of range: {end}")
    return text.rfind(part, 0, end + len(part))


def _lower_ascii(text: str) -> str:
    return "".join(char.lower() if "A" <= char <= "Z" else char for char in text)


def _upper_ascii(text: str) -> str:
    return "".join(char.upper() if "a" <= char <= "z" else char for char in text)


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(text.count(old), limit)
    check_size(len(text) + count * max(0, len(new) - len(old)))
    return text.replace(old, new, -1 if limit < 0 else limit)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if separator:
        return text.split(separator, -1 if limit < 0 else limit - 1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise EvalError(f"index out of range: {start}")
    if not 0 <= stop <= len(text):
        raise EvalError(f"index out of range: {stop}")
    if start > stop:
        raise EvalError(f"invalid substring range. start: {start}, end: {stop}")
    return text[start:stop]


def _trim(text: str) -> str:
    return text.strip(_WHITE)


def _join(items: Any, separator: Any = "") -> str:
    if not isinstance(items, list) or not isinstance(separator, str):
        raise no_overload("join", items, separator)
    if not all(isinstance(item, str) for item in items):
        raise no_overload()
    check_size(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


# ---- format


def _format(text: Any, args: Any) -> str:
    if not (isinstance(text, str) and isinstance(args, list)):
        raise no_overload("format", text, args)
    rest = iter(enumerate(args))
    out: list[str] = []
    last = length = 0
    for match in _CLAUSE.finditer(text):
        out.append(text[last : match.start()])
        last = match.end()
        if match[2] == "%":
            out.append("%")
            continue
        if not match[2]:
            raise EvalError("could not parse formatting clause: unexpected end of string")
        index, value = next(rest, (len(args), None))
        if index >= len(args):
            raise EvalError(f"index {index} out of range")
        out.append(_clause(match[2], match[1], value))
        length += len(out[-1])
        check_size(length)
    return "".join(out) + text[last:]


def _clause(verb: str, given: str | None, value: Any) -> str:
    precision = int(given[:5]) if given else _DEFAULT_PRECISION
    if precision > _MAX_PRECISION:
        raise EvalError(f"precision {given} exceeds limit of {_MAX_PRECISION}")
    show = _VERBS.get(verb)
    if show is None:
        text = f'unrecognized formatting clause "{verb}"'
        raise EvalError(f"could not parse formatting clause: {text}")
    try:
        return show(value, precision)
    except EvalError as err:
        raise EvalError(f"error during formatting: {err}") from None


def shown(value: Any, precision: int = 0) -> str:
    """Format a value as %s does."""
    match value:
        case str():
            return value
        case None:
            return "null"
        case TypeValue():
            return value.name
        case bytes():
            return value.decode("utf-8", "replace")
        case list():
            return "[" + ", ".join(shown(item) for item in value) + "]"
        case dict():
            pairs = sorted((shown(from_key(key)), shown(item)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        case bool() | int() | float() | Timestamp() | Duration():
            return string(value)
    text = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    raise EvalError(f"{text}and timestamps, was given {type_name(value)}")


def _decimal(value: Any, precision: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    raise EvalError(f"decimal clause can only be used on integers, was given {type_name(value)}")


def _fixed(value: Any, precision: int) -> str:
    if not is_number(value):
        raise EvalError(f"fixed-point clause can only be used on doubles, was given {type_name(value)}")
    return fmt.sprintf(f"%.{precision}f", float(value))


def _scientific(value: Any, precision: int) -> str:
    if not is_number(value):
        raise EvalError(f"scientific clause can only be used on doubles, was given {type_name(value)}")
    return fmt.sprintf(f"%.{precision}e", float(value))


def _binary(value: Any, precision: int) -> str:
    if isinstance(value, int):
        return f"{int(value):b}"
    raise EvalError(f"only integers and bools can be formatted as binary, was given {type_name(value)}")


def _octal(value: Any, precision: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{int(value):o}"
    raise EvalError(f"octal clause can only be used on integers, was given {type_name(value)}")


def _hex(value: Any, precision: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{int(value):x}"
    if isinstance(value, str | bytes):
        return (utf8.encode(value) if isinstance(value, str) else value).hex()
    text = "only integers, byte buffers, and strings can be formatted as hex, was given"
    raise EvalError(f"{text} {type_name(value)}")


_VERBS: dict[str, Callable[[Any, int], str]] = {
    "s": shown,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}

FUNCTIONS = [
    _function("charAt", _char_at, str, int).method(STRING, INT, to=STRING),
    _function("lowerAscii", _lower_ascii, str).method(STRING, to=STRING),
    _function("upperAscii", _upper_ascii, str).method(STRING, to=STRING),
    _function("replace", _replace, str, str, str, int)
    .method(STRING, STRING, STRING, to=STRING)
    .method(STRING, STRING, STRING, INT, to=STRING),
    _function("split", _split, str, str, int)
    .method(STRING, STRING, to=LIST_STRING)
    .method(STRING, STRING, INT, to=LIST_STRING),
    _function("substring", _substring, str, int, int)
    .method(STRING, INT, to=STRING)
    .method(STRING, INT, INT, to=STRING),
    _function("trim", _trim, str).method(STRING, to=STRING),
    Function("join", _join).method(LIST_STRING, to=STRING).method(LIST_STRING, STRING, to=STRING),
    Function("format", _format).method(STRING, LIST_DYN, to=STRING),
    _function("strings.quote", _quote, str).call(STRING, to=STRING),
]
