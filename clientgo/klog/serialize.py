"""The form of values in a structured log line. Mirrors klog/v2/internal/serialize/keyvalues.go.

A structured line is a text that keeps its parts, for handlers of `logging` that write them in another format.

Differences: in a text with several lines, unprintable characters are escaped as in a quoted one. Go writes them
unchanged, so that an escape sequence in a server's error can control the terminal. The end of an error's text is
omitted if it is very long, since a server may send an error of many megabytes for each request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from clientgo.golang import utf8
from clientgo.golang.callers import error_text
from clientgo.golang.strconv import escape_unprintable, quote
from clientgo.klog.exceptions import failure_of, lost_cause

__all__ = ["Line", "as_pairs", "format_message", "to_string"]

_MISSING = "(MISSING)"

# The maximum number of characters of an error.
_MAX_ERROR = 16 * 1024


class Line(str):
    """The text of a structured line, with its parts. A record of `logging` has it as its `msg`.

    It has texts in place of the error, since a record that is kept would keep the frames of the error's traceback.
    """

    __slots__ = ("facts", "message", "pairs")

    message: str
    pairs: Mapping[str, object]
    # The texts about the error: `err`, `at`, `cause`, `stacktrace`.
    facts: Mapping[str, str]


def as_pairs(keys_and_values: tuple[object, ...], pairs: Mapping[str, object]) -> Mapping[str, object]:
    """Combine alternating keys and values, as in Go, with pairs by name; a last key without a value is marked as
    missing.

    >>> as_pairs(("name", "web", "replicas"), {"ready": True})
    {'name': 'web', 'replicas': '(MISSING)', 'ready': True}
    """
    if not keys_and_values:
        return pairs
    keys = [key if isinstance(key, str) else to_string(key) for key in keys_and_values[::2]]
    values = [*keys_and_values[1::2], _MISSING]
    return {**dict(zip(keys, values)), **pairs}


def format_message(msg: object, pairs: Mapping[str, object], err: BaseException | None = None) -> Line:
    """Return `"msg" err="..." key="value"`: the message always quoted, the error first, a space before every pair.

    An error that points at a bug (`exceptions.failure_of`) has its type in `err`, its location in `at` and its
    traceback in `stacktrace`, after the pairs. Never raises. O(length of the line).

    >>> print(format_message("Synced", {"foo": "default/a", "replicas": 3}))
    "Synced" foo="default/a" replicas=3
    """
    message = msg if isinstance(msg, str) else to_string(msg)
    # Texts in place of exceptions: see Line.
    pairs = {key: _text_of(value) if isinstance(value, BaseException) else value for key, value in pairs.items()}
    facts = {} if err is None else _facts_of(err)
    line = Line(
        "".join(
            [
                quote(message),
                *(_format_pair(key, value) for key, value in facts.items() if key != "stacktrace"),
                *(_format_pair(key, value) for key, value in pairs.items()),
                *(_format_pair(key, value) for key, value in facts.items() if key == "stacktrace"),
            ]
        )
    )
    line.message, line.pairs, line.facts = message, pairs, facts
    return line


def _facts_of(err: BaseException) -> dict[str, str]:
    """Return the texts about an error by their keys; those of a bug have its location and its traceback."""
    failure = failure_of(err)
    if failure is None:
        facts = {"err": _text_of(err), "cause": _shortened(lost_cause(err))}
    else:
        facts = {
            "err": _shortened(failure.text),
            "at": _shortened(failure.at),
            "cause": _shortened(failure.cause),
            "stacktrace": failure.stacktrace,
        }
    return {key: text for key, text in facts.items() if text or key == "err"}


def _text_of(err: BaseException) -> str:
    return _shortened(to_string(err))


def _format_pair(key: str, value: object) -> str:
    if isinstance(value, str):
        return f" {key}{_format_string(to_string(value))}"
    # Exactly these types: a subclass, such as a NamedTuple, may define __str__.
    if value is None or type(value) in (bool, int, float, dict, list, tuple):
        return f" {key}={_format_json(value)}"
    if isinstance(value, bytes | bytearray):
        return f" {key}={quote(bytes(value).decode('utf-8', 'backslashreplace'))}"
    return f" {key}{_format_string(to_string(value))}"


def to_string(value: object, form: Callable[[object], str] = str) -> str:
    """Return the value's text, or the problem if its method raises, so that the rest of the line is logged."""
    try:
        return form(value)
    except Exception as err:
        return f"<panic: {error_text(err)}>"


def _shortened(text: str) -> str:
    """Return the text of an error, without its end if it is very long."""
    omitted = len(text) - _MAX_ERROR
    return f"{text[:_MAX_ERROR]} ... ({omitted} more characters)" if omitted > 0 else text


def _format_string(text: str) -> str:
    """Return `="text"`; a text of several lines is not quoted: each line follows a tab, between `=<` and ` >`."""
    if "\n" not in text:
        return "=" + quote(text)
    lines = escape_unprintable(text).removesuffix("\n").split("\n")
    body = "".join(f"\t{line}\n" for line in lines)
    return f"=<\n{body} >"


def _format_json(value: object) -> str:
    try:
        return utf8.to_valid(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=to_string))
    except (TypeError, ValueError, RecursionError) as err:
        return quote(f"<internal error: {err}>")
