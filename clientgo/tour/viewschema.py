"""The schema of the stations' views: the fields that the page reads and every producer sends.

Producers are picture.py (runs in virtual time, replays) and liveview.py (programs as they run). The page gets SCHEMA
with `/api/tour` and checks each view before it draws it; a live program's views are checked before they are sent.

A view is empty, or an object with the fields of its station. With several informers it may be `informers` instead, a
list of such objects with their `kind`. A name that ends in "?" is optional. A type is "text", "number", "flag", "fact"
(a word and its value), {"list": type}, {"map": type}, {"or-null": type} or {"fields": {name: type}}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SCHEMA", "ViewError", "check_views", "view_error"]

Type = str | Mapping[str, Any]


class ViewError(RuntimeError):
    """A view is not as the page reads it."""


_TEXTS: Type = {"list": "text"}
_OBJECT: Type = {"fields": {"key": "text", "version": "text", "ref": "text", "kind?": "text"}}
_CHANGE: Type = {"fields": {"type": "text", "key": "text", "version": "text", "ref": "text", "kind?": "text"}}
_DELTA: Type = {"fields": {"type": "text", "version": "text", "ref": "text", "tombstone": "flag", "keys?": _TEXTS}}
_NOTICE: Type = {
    "fields": {
        "method": "text",
        "key": "text",
        "version": "text",
        "ref": "text",
        "tombstone": "flag",
        "queued?": "number",
    }
}
_HANDLER: Type = {
    "fields": {
        "name": "text",
        "pending": {"list": _NOTICE},
        "taken": {"list": _NOTICE},
        "delivering": {"or-null": _NOTICE},
        "calls?": "number",
        "raised?": "number",
        "paused?": "flag",
        "informer?": "text",
        "totals?": {"map": "number"},
        "facts?": {"list": "fact"},
    }
}
_WORKER: Type = {
    "fields": {
        "key": "text",
        "doing": "text",
        "error": "text",
        "for?": "text",
        "delay?": "number",
        "line?": "number",
        "reached?": "number",
        "text?": "text",
    }
}
_EVENT: Type = {"fields": {"key": "text", "reason": "text", "message": "text", "count": "number", "version": "text"}}
_CANDIDATE: Type = {"fields": {"leads": "flag", "leader": "text", "tries": "number"}}

SCHEMA: Mapping[str, Mapping[str, Type]] = {
    "apiserver": {
        "version": "text",
        "objects": {"list": _OBJECT},
        "history": {"list": _CHANGE},
        "oldest": "text",
        "wire": "text",
        "remote?": "flag",
    },
    "reflector": {
        "state": "text",
        "version": "text",
        "lists": "number",
        "watches": "number",
        "bookmarks": "number",
        "lines?": "number",
        "error": "text",
    },
    "fifo": {
        "name": "text",
        "keys": {"list": {"fields": {"key": "text", "deltas": {"list": _DELTA}}}},
        "length": "number",
        "initialLeft": "number",
        "synced": "flag",
    },
    "indexer": {"objects": {"list": _OBJECT}, "indices": {"map": {"map": _TEXTS}}, "version": "text"},
    "handlers": {"handlers": {"list": _HANDLER}},
    "queue": {
        "order": _TEXTS,
        "dirty": _TEXTS,
        "processing": _TEXTS,
        "waiting": {"list": {"fields": {"key": "text", "due": "number"}}},
        "failures": {"map": "number"},
        "priorities": {"map": "number"},
        "length?": "number",
        "totals?": {"map": "number"},
    },
    "workers": {"workers": {"map": _WORKER}},
    "events": {
        "stored": {"list": _EVENT},
        "recorded": "number",
        "written": "number",
        "dropped": "number",
        "failed": "number",
    },
    "election": {"candidates": {"map": _CANDIDATE}, "holder": "text", "transitions": "number"},
}
"""By station, the fields of its view. Each may have `facts` too, a list of facts.

A view that has only the beginnings of its lists has their whole lengths in `totals`.
"""


def check_views(views: Mapping[str, Any]) -> None:
    """Raise ViewError when a station's view is not as the page reads it."""
    for station, view in views.items():
        if (error := view_error(station, view)) is not None:
            raise ViewError(error)


def view_error(station: str, view: Any) -> str | None:
    """Return the error in a station's view, or None."""
    fields = SCHEMA.get(station)
    if fields is None:
        return f"there is no station {station}"
    if not isinstance(view, Mapping):
        return f"{station} is no object"
    if not view:
        return None
    if "informers" in view:
        several = {"fields": {**fields, "kind": "text"}}
        informers = view["informers"]
        if isinstance(informers, list):  # one that has nothing there yet has its kind alone
            informers = [each for each in informers if not isinstance(each, Mapping) or set(each) != {"kind"}]
        kinds: Type = {"fields": {"informers": {"list": several}, "facts?": {"list": "fact"}}}
        return _error(kinds, {**view, "informers": informers}, station)
    return _error({"fields": {**fields, "facts?": {"list": "fact"}}}, view, station)


def _error(kind: Type, value: Any, place: str) -> str | None:
    if isinstance(kind, str):
        return None if _is_a(kind, value) else f"{place} is no {kind}"
    ((form, inner),) = kind.items()
    if form == "or-null":
        return None if value is None else _error(inner, value, place)
    if form == "list":
        if not isinstance(value, list | tuple):
            return f"{place} is no list"
        return _first(_error(inner, each, f"{place}[{number}]") for number, each in enumerate(value))
    if not isinstance(value, Mapping):
        return f"{place} is no object"
    if form == "map":
        return _first(_error(inner, each, f"{place}.{name}") for name, each in value.items())
    return _fields_error(inner, value, place)


def _fields_error(fields: Mapping[str, Type], value: Mapping[str, Any], place: str) -> str | None:
    for name, kind in fields.items():
        plain = name.removesuffix("?")
        if plain in value:
            if (error := _error(kind, value[plain], f"{place}.{plain}")) is not None:
                return error
        elif plain == name:
            return f"{place}.{name} is missing"
    return None


def _first(errors: Any) -> str | None:
    return next((error for error in errors if error is not None), None)


def _is_a(kind: str, value: Any) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)
