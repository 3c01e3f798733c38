"""Small figures: a part of a station's view as a label and a few short texts.

A lesson names parts, such as "queue.dirty", and the page (figures.js) and the terminal draw them next to a paragraph,
as they are at the hop. There is no Go counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["PARTS", "figure"]

Json = Mapping[str, Any]


def _short(key: str) -> str:
    return key.removeprefix("default/")


def _objects(view: Json) -> Iterator[str]:
    return (f"{_short(each['key'])} @{each['version']}" for each in view["objects"])


def _history(view: Json) -> Iterator[str]:
    signs = {"ADDED": "+", "MODIFIED": "~", "DELETED": "−"}
    return (f"{signs.get(each['type'], '?')} {_short(each['key'])} @{each['version']}" for each in view["history"][-6:])


def _deltas(view: Json) -> Iterator[str]:
    for each in view["keys"]:
        types = ", ".join(f"{delta['type']} @{delta['version']}" for delta in each["deltas"])
        yield f"{_short(each['key'])}: {types}" if each["key"] else types


def _indices(view: Json) -> Iterator[str]:
    for name, table in view["indices"].items():
        for value, keys in table.items():
            yield f"{name} {value} → {', '.join(map(_short, keys))}"


def _notices(name: str) -> Callable[[Json], Iterator[str]]:
    def read(view: Json) -> Iterator[str]:
        for handler in view["handlers"]:
            own = handler["name"].partition("+")[0].rpartition(".")[2]
            found = handler[name]
            for each in [found] if isinstance(found, Mapping) else found or []:
                yield f"{own}: {each['method'].removeprefix('on_')} {_short(each['key'])}"

    return read


def _keys(name: str) -> Callable[[Json], Iterator[str]]:
    return lambda view: (_short(each) for each in view[name])


def _order(view: Json) -> Iterator[str]:
    for key in view["order"]:
        priority = view["priorities"].get(key)
        yield _short(key) if priority is None else f"{_short(key)} ({priority})"


def _value(name: str) -> Callable[[Json], Iterator[str]]:
    return lambda view: iter([str(view[name])] if view[name] != "" else [])


PARTS: Mapping[str, Callable[[Json], Iterator[str]]] = {
    "apiserver.version": _value("version"),
    "apiserver.objects": _objects,
    "apiserver.history": _history,
    "reflector.version": _value("version"),
    "reflector.lists": _value("lists"),
    "reflector.watches": _value("watches"),
    "reflector.bookmarks": _value("bookmarks"),
    "fifo.deltas": _deltas,
    "indexer.objects": _objects,
    "indexer.indices": _indices,
    "handlers.pending": _notices("pending"),
    "handlers.taken": _notices("taken"),
    "handlers.delivering": _notices("delivering"),
    "queue.order": _order,
    "queue.dirty": _keys("dirty"),
    "queue.processing": _keys("processing"),
    "queue.waiting": lambda view: (f"{_short(each['key'])} {each['due']:g}s" for each in view["waiting"]),
    "queue.failures": lambda view: (f"{_short(key)} ×{count}" for key, count in view["failures"].items()),
    "events.stored": lambda view: (f"×{each['count']} {each['message']}" for each in view["stored"]),
    "election.holder": _value("holder"),
    "election.transitions": _value("transitions"),
}
"""By name, "station.part", the texts of a station's part."""


def figure(state: Mapping[str, Json], part: str) -> list[str]:
    """Return the texts of a part after a hop, given every station's view; with several informers, of all of them."""
    view = state.get(part.partition(".")[0], {})
    views = view.get("informers", [view])
    found: list[str] = []
    for each in views:
        # An informer that has nothing yet has only its kind.
        if set(each) - {"kind"}:
            found += [f"{each['kind']} {text}" if "kind" in each else text for text in PARTS[part](each)]
    return found
