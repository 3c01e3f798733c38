"""JSON values nested up to 10,000 levels, without recursion. No Go file: Go's stack grows.

The C functions of Python's json module recurse. Depending on Python's version and on the caller's stack, they raise
RecursionError at about a thousand levels. Callers try these functions first and use this module only after a
RecursionError, since it is about ten times slower.

The limit is that of Go's decoders, which count the outermost value too: encoding/json and sigs.k8s.io/json. Differs:
the limit also holds for encoding, so that a value that contains itself is an error and not an endless text.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, ParamSpec, TypeVar

MAX_DEPTH: Final = 10_000
"""Maximum nesting of lists and maps. Go: maxNestingDepth."""

P = ParamSpec("P")
R = TypeVar("R")


class TooDeepError(ValueError):
    """Raised for a value whose lists and maps are nested deeper than a function supports.

    The message has the limit. Go: the SyntaxError "exceeded max depth".
    """

    def __init__(self, limit: str = str(MAX_DEPTH), function: str = "") -> None:
        super().__init__(f"{function}: exceeded max depth of {limit}" if function else f"exceeded max depth of {limit}")


def limit_of_stack() -> str:
    """Return the limit of a recursive function, for the message of an error."""
    return f"a few hundred (Python's stack has {sys.getrecursionlimit()} frames)"


def limited_by_stack(function: Callable[P, R]) -> Callable[P, R]:
    """Return a recursive function that raises TooDeepError in place of RecursionError."""

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise TooDeepError(limit_of_stack(), function.__name__) from None

    return limited


# At a quotation mark it reads the string. It does not recurse there.
_read_string: Final = json.JSONDecoder().raw_decode
_skip_blanks: Final = re.compile(r"[ \t\n\r]*").match


def scan(text: str, at: int, scalar: Callable[[str, int], tuple[Any, int]]) -> tuple[Any, int]:
    """Return the JSON value at a position, and the position after it. `scalar` reads the numbers and words.

    O(n). Raises ValueError for malformed text, TooDeepError, and StopIteration if there is no value.
    """
    # The open lists and maps, and the keys under which maps receive the next value. None for a list.
    out: list[Any] = []
    unfinished: list[tuple[Any, Any]] = []
    container: Any = out
    key: Any = None
    # Texts of keys, so that equal ones share memory as they do in json.loads.
    keys: dict[str, str] = {}
    while True:
        char = text[at : at + 1]
        value: Any
        if char == "{" or char == "[":
            if len(unfinished) == MAX_DEPTH:
                raise TooDeepError
            value = {} if char == "{" else []
            _add(container, key, value)
            end = _skip_blanks(text, at + 1).end()  # type: ignore[union-attr]
            if text[end : end + 1] != ("}" if char == "{" else "]"):
                unfinished.append((container, key))
                container = value
                key, at = _read_key(text, end, keys) if char == "{" else (None, end)
                continue
            at = end + 1
        else:
            value, at = _read_string(text, at) if char == '"' else scalar(text, at)
            _add(container, key, value)
        # After a value: close containers until one has another value.
        while unfinished:
            at = _skip_blanks(text, at).end()  # type: ignore[union-attr]
            char = text[at : at + 1]
            if char == ",":
                at = _skip_blanks(text, at + 1).end()  # type: ignore[union-attr]
                if type(container) is dict:
                    key, at = _read_key(text, at, keys)
                break
            if char != ("}" if type(container) is dict else "]"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            container, key = unfinished.pop()
            at += 1
        else:
            return out[0], at


def _add(container: Any, key: str | None, value: Any) -> None:
    if key is None:
        container.append(value)
    else:
        container[key] = value


def _read_key(text: str, at: int, keys: dict[str, str]) -> tuple[str, int]:
    """Return the key at a position, and the position of its value."""
    if text[at : at + 1] != '"':
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _read_string(text, at)
    at = _skip_blanks(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    return keys.setdefault(key, key), _skip_blanks(text, at + 1).end()  # type: ignore[union-attr]


def encode(value: Any, scalar: Callable[[Any], str], *, sort_keys: bool = False) -> str:
    """Return compact JSON; `scalar` writes values that are neither dict nor list nor tuple, and keys as maps of one.

    O(n). Raises TooDeepError.
    """
    parts: list[str] = []
    # For each open list or map: its values that are not written yet, and its end.
    unfinished: list[tuple[Iterator[tuple[str, Any]], str]] = [(iter([("", value)]), "")]
    while unfinished:
        items, end = unfinished[-1]
        for prefix, item in items:
            parts.append(prefix)
            opened = _opened(item, scalar, sort_keys)
            if opened is None:
                parts.append(scalar(item))
                continue
            if len(unfinished) > MAX_DEPTH:
                raise TooDeepError
            unfinished.append(opened)
            parts.append("{" if isinstance(item, dict) else "[")
            break
        else:
            parts.append(end)
            unfinished.pop()
    return "".join(parts)


def _opened(item: Any, scalar: Callable[[Any], str], sort_keys: bool) -> tuple[Iterator[tuple[str, Any]], str] | None:
    """Return the values of a list or map with the text before each, and the text after all; None for others."""
    if isinstance(item, dict):
        pairs = sorted(item.items(), key=_first) if sort_keys else [*item.items()]
        # A map of one entry, since keys that are no strings become texts in their own way.
        names = [f"{',' if index else ''}{scalar({key: 0})[1:-4]}:" for index, (key, _) in enumerate(pairs)]
        return iter([(name, inner) for name, (_, inner) in zip(names, pairs)]), "}"
    if isinstance(item, list | tuple):
        return iter([("," if index else "", inner) for index, inner in enumerate(item)]), "]"
    return None


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]
