"""Checks each line of a recording where it is read: types, sizes, depth, control characters.

A recording may be damaged, or come from another machine. Its texts reach terminals and pages, and its objects reach the
machinery, whose threads must not end because of them. `check` returns the line with every field of its kind in place,
or the first error that names the field. Fields that the kind does not have are checked as JSON and kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["LineError", "check", "check_object", "printable", "text_error"]

Json = dict[str, Any]
Check = Callable[[Any], str | None]
"""Returns what is wrong with a value, None for nothing."""

LONGEST_NAME = 4096
"""Names, types, keys and versions have at most so many characters."""

LONGEST_TEXT = 1 << 20
"""Errors and messages have at most so many."""

DEEPEST = 100
"""Values in values, at most so deep."""

_LARGEST = 2**53
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class LineError(ValueError):
    """A field of a line makes no sense."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"`{field}` {why}")
        self.field = field


def text_error(value: Any) -> str | None:
    """Return the error of a name: it is no text, too long, or has control characters."""
    if not isinstance(value, str):
        return f"must be a string, not {_type(value)}"
    if len(value) > LONGEST_NAME:
        return f"has {len(value)} characters, at most {LONGEST_NAME} are allowed"
    if _CONTROL.search(value) or _SURROGATE.search(value):
        return "has control characters or lone surrogates"
    return None


def printable(text: str) -> str:
    """Return the text with a replacement character for each that a terminal or a file cannot show."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("\ufffd", text))


def _free_text(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"must be a string, not {_type(value)}"
    if len(value) > LONGEST_TEXT:
        return f"has {len(value)} characters, at most {LONGEST_TEXT} are allowed"
    return "has lone surrogates" if _SURROGATE.search(value) else None


def _number(value: Any) -> str | None:
    if type(value) is not int:
        return f"must be an integer, not {_type(value)}"
    return None if 0 <= value <= _LARGEST else f"must be between 0 and {_LARGEST}"


def _time(value: Any) -> str | None:
    if type(value) not in (int, float):
        return f"must be a number, not {_type(value)}"
    return None if 0 <= value <= _LARGEST and math.isfinite(value) else "must be a time in seconds"


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"must be true or false, not {_type(value)}"


def _texts(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"must be a list, not {_type(value)}"
    return next((f"has an entry that {error}" for each in value if (error := text_error(each))), None)


def _numbers(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"must be a list, not {_type(value)}"
    return next((f"has an entry that {error}" for each in value if (error := _number(each))), None)


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else f"must be an object, not {_type(value)}"


def _objects(value: Any) -> str | None:
    return None if isinstance(value, list) else f"must be a list, not {_type(value)}"


_OF_REQUEST: Mapping[str, Check] = {"source": _number, "request": _number}
_ERROR: Mapping[str, Check] = {"error": _free_text}
_FIELDS: Mapping[str, Mapping[str, Check]] = {
    "recording": {"format": _number, "began": text_error, "program": text_error},
    "source": {"source": _number, "name": text_error, "type": text_error},
    "list": {**_OF_REQUEST, "options": _object},
    "watch": {**_OF_REQUEST, "options": _object},
    "listed": {"source": _number, "version": text_error, "items": _objects},
    "opened": _OF_REQUEST,
    "event": {**_OF_REQUEST, "type": text_error, "object": _object},
    "ended": {**_OF_REQUEST, "why": text_error, **_ERROR},
    "failed": {**_OF_REQUEST, "type": text_error, "refused": _flag, "object": _object, **_ERROR},
    "code": {
        "code": _number,
        "file": text_error,
        "function": text_error,
        "goFile": text_error,
        "goFunction": text_error,
        "first": _number,
        "lines": _numbers,
        "caller": text_error,
    },
    "hop": {
        "number": _number,
        "station": text_error,
        "kind": text_error,
        "key": text_error,
        "thread": text_error,
        "version": text_error,
        "old": text_error,
        "merged": _texts,
        "more": _object,
        "code": _number,
    },
    "skipped": {"hops": _number},
    "unwritten": {"of": text_error, **_ERROR},
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "listed": ("items",),
    "event": ("type", "object"),
    "code": ("code",),
    "skipped": ("hops",),
}
# Of these a field that makes no sense is left out, and the rest is still worth something.
_PARTIAL = frozenset({"recording", "source", "code", "hop"})


def check(kind: str, entry: Any, note: Callable[[LineError], object]) -> Json | None:
    """Return a line of this kind with sound fields; None if nothing is left. Each error goes to `note`."""
    if not isinstance(entry, dict) or entry.get("what") != kind:
        note(LineError("what", f"must be {kind!r}, as at the line's beginning"))
        return None
    sound: Json = {}
    fields = _FIELDS.get(kind, {})
    for name, value in entry.items():
        error = _time(value) if name == "t" else fields.get(name, _anything)(value)
        place = name
        if error is None and name not in ("items", "object"):
            place, error = _json_error(value, name, DEEPEST)
        if error is None:
            sound[name] = value
            continue
        note(LineError(place, error))
        if kind not in _PARTIAL:
            return None
    for name in _NEEDED.get(kind, ()):
        if name not in sound:
            if name not in entry:
                note(LineError(name, "is missing"))
            return None
    return sound


def _anything(value: Any) -> str | None:
    return None


def check_object(document: Any, place: str, *, is_named: bool = False) -> Json:
    """Return an object of a recording. Raises LineError that names the field, below `place`.

    is_named: the object is one of the cache's, so it must have a name, which makes its key.
    """
    if not isinstance(document, dict):
        raise LineError(place, f"must be an object, not {_type(document)}")
    where, error = _json_error(document, place, DEEPEST)
    if error is not None:
        raise LineError(where, error)
    for name in ("apiVersion", "kind"):
        _require(document, name, text_error, place)
    metadata = document.get("metadata")
    if is_named and (metadata is None or (isinstance(metadata, dict) and metadata.get("name") in (None, ""))):
        raise LineError(f"{place}.metadata.name", "is missing")
    if metadata is None:
        return document
    if not isinstance(metadata, dict):
        raise LineError(f"{place}.metadata", f"must be an object, not {_type(metadata)}")
    for name in ("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp"):
        _require(metadata, name, text_error, f"{place}.metadata")
    for name in ("labels", "annotations"):
        _require(metadata, name, _map_of_texts, f"{place}.metadata")
    for name in ("ownerReferences", "managedFields"):
        _require(metadata, name, _list_of_objects, f"{place}.metadata")
    _require(metadata, "finalizers", _texts, f"{place}.metadata")
    return document


def _require(within: Json, name: str, error_of: Check, place: str) -> None:
    value = within.get(name)
    error = None if value is None else error_of(value)
    if error is not None:
        raise LineError(f"{place}.{name}", error)


def _map_of_texts(value: Any) -> str | None:
    if not isinstance(value, dict):
        return f"must be an object, not {_type(value)}"
    return None if all(isinstance(each, str) for each in value.values()) else "must have strings alone"


def _list_of_objects(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"must be a list, not {_type(value)}"
    return None if all(isinstance(each, dict) for each in value) else "must have objects alone"


def _json_error(value: Any, place: str, depth: int) -> tuple[str, str | None]:
    """Return the error of a JSON value: too deep, NaN or infinity, or a text that cannot be written."""
    if isinstance(value, str):
        return place, _free_text(value) if _SURROGATE.search(value) else None
    if isinstance(value, float) and not math.isfinite(value):
        return place, "must be a finite number"
    if not isinstance(value, dict | list):
        return place, None
    if depth == 0:
        return place, f"is deeper than {DEEPEST} values"
    if isinstance(value, dict) and (bad := next(filter(_SURROGATE.search, value), None)) is not None:
        return place, f"has the key {bad!r}, a lone surrogate"
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for name, each in parts:
        # Most values are plain: the place of the few others is computed for these alone.
        if isinstance(each, dict | list | str | float):
            found = _json_error(each, f"{place}.{name}"[:200], depth - 1)
            if found[1] is not None:
                return found
    return place, None


def _type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
