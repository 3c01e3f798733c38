"""The tour's picture as lines of text: a box for each station, side by side."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clientgo.tour.picture import Json

__all__ = ["cut", "picture", "plain", "wrap"]

_TITLES = {
    "apiserver": "API server",
    "reflector": "Reflector",
    "fifo": "FIFO",
    "indexer": "Indexer",
    "handlers": "Handlers (processorListener)",
    "queue": "Work queue",
    "workers": "Workers",
    "events": "Events",
    "election": "Leader election",
}
# As on the page: the way of an object from left to right, and back.
_ROWS = (("apiserver", "reflector", "fifo"), ("workers", "queue", "handlers", "indexer"))


def picture(
    state: Mapping[str, Json],
    width: int,
    height: int,
    here: str = "",
    extras: Sequence[str] = (),
    titles: Mapping[str, str] = _TITLES,
) -> list[str]:
    """Return all stations in at most `height` lines.

    here: the station to mark. extras: stations that only some machines have. titles: the stations' names.
    """
    rows = ((*extras, *_ROWS[0]), _ROWS[1])
    boxes = _Boxes(state, width, height // 2, here, titles)
    return [line for row in rows for line in boxes.row(row)]


class _Boxes:
    """Boxes of one height, side by side."""

    def __init__(
        self, state: Mapping[str, Json], width: int, height: int, here: str, titles: Mapping[str, str]
    ) -> None:
        self._state = state
        self._width = width
        self._height = height
        self._here = here
        self._titles = titles

    def row(self, row: Sequence[str]) -> list[str]:
        """Return the lines of a row of stations."""
        if self._height < 3:
            return []
        inner = max(8, (self._width - len(row) + 1) // len(row))
        boxes = [self._box(station, self._state.get(station, {}), inner) for station in row]
        return [" ".join(parts) for parts in zip(*boxes)]

    def _box(self, station: str, view: Json, width: int) -> list[str]:
        height, is_here = self._height, station == self._here
        several = view.get("informers", [view])
        title = str(several[0].get("name", self._titles[station]))
        line = "═" if is_here else "─"
        top = _fill(f"{line}{'▶' if is_here else line} {title} ", width, line)
        parts = [part for each in several for part in _about(station, each)]
        content = [text for part in parts for text in wrap(part, width - 2)]
        if len(content) > height - 2:
            content = [*content[: height - 3], f"+{len(content) - height + 3} more"]
        content += [""] * (height - 2 - len(content))
        return [top, *(f" {_fill(text, width - 2, ' ')} " for text in content), line * width]


def _about(station: str, view: Json) -> Iterator[str]:
    """A station's content, a paragraph each; of one of several informers, with its kind."""
    if not view:
        return
    if "kind" in view:
        yield f"{view['kind']}:"
    facts = [f"{_WORDS.get(word, word.replace('per-second-', ''))} {value}" for word, value in view.get("facts", ())]
    if facts:
        yield ", ".join(facts)
    if "kind" not in view or len(view) > 1:
        yield from _CONTENT[station](view)


# What facts of a live picture are called, if not as they are.
_WORDS = {"heard": "last heard", "in-call": "in this call for"}


def _apiserver(view: Json) -> Iterator[str]:
    signs = {"ADDED": "+", "MODIFIED": "~", "DELETED": "-"}

    def name(each: Json) -> str:
        kind = f"{each['kind']} " if "kind" in each else ""
        return f"{kind}{_short(each['key'])} @{each['version']}"

    is_remote = view.get("remote", False)
    yield f"@{view['version']}" if is_remote else f"@{view['version']}, wire {view['wire']}"
    if not is_remote:
        yield "objects: " + _join(name(each) for each in view["objects"])
    yield ("came: " if is_remote else "history: ") + _join(
        f"{signs.get(each['type'], '?')}{name(each)}" for each in view["history"][-6:]
    )


def _reflector(view: Json) -> Iterator[str]:
    yield f"{view['state']}, lastSyncResourceVersion {view['version'] or '-'}"
    counters = [name for name in ("lists", "watches", "lines", "bookmarks") if name in view]
    yield ", ".join(f"{name} {view[name]}" for name in counters)
    if view["error"]:
        yield f"error: {view['error']}"


def _fifo(view: Json) -> Iterator[str]:
    yield f"HasSynced {view['synced']}, initial left {view['initialLeft']}"
    for each in view["keys"]:
        yield f"{_short(each['key'])}: " + _join(
            f"{delta['type']} @{delta['version']}{' †' if delta['tombstone'] else ''}" for delta in each["deltas"]
        )


def _indexer(view: Json) -> Iterator[str]:
    yield "objects: " + _join(f"{_short(each['key'])} @{each['version']}" for each in view["objects"])
    for name, table in view["indices"].items():
        yield f"index {name}: " + _join(f"{value} -> {' '.join(map(_short, keys))}" for value, keys in table.items())


def _handlers(view: Json) -> Iterator[str]:
    for each in view["handlers"]:
        informer = f"{each['informer']} " if "informer" in each else ""
        name = each["name"].partition("+")[0].rpartition(".")[2]
        if "facts" in each:
            facts = [f"{_WORDS.get(word, word.replace('per-second-', ''))} {value}" for word, value in each["facts"]]
            yield f"{name}: {', '.join(facts)}{', PAUSED' if each['paused'] else ''}"
        else:
            yield f"{informer}{name}: {each['calls']} calls, {each['raised']} raised"
        yield "pendingNotifications: " + _notices(each["pending"])
        if each["taken"]:
            yield "taken (not in Go): " + _notices(each["taken"])
        if each["delivering"]:
            yield "being called: " + _notices([each["delivering"]])


def _queue(view: Json) -> Iterator[str]:
    for name in ("order", "dirty", "processing"):
        yield f"{name}: " + _join(map(_short, view[name]))
    yield "waitingForQueue: " + _join(f"{_short(each['key'])} in {each['due']:g}s" for each in view["waiting"])
    yield "failures: " + _join(f"{_short(key)} x{count}" for key, count in view["failures"].items())


def _workers(view: Json) -> Iterator[str]:
    for name, each in view["workers"].items():
        parts = [each["doing"], _short(each["key"]), each.get("for", ""), each["error"]]
        slowed = f" (slowed by {each['delay']:g}s)" if each.get("delay") else ""
        yield f"{name}: {' '.join(part for part in parts if part)}{slowed}"
        if each.get("line"):
            yield f"  line {each['line']}: {each['text']}"


def _events(view: Json) -> Iterator[str]:
    yield f"recorded {view['recorded']}, written {view['written']}, dropped {view['dropped']}, failed {view['failed']}"
    for each in view["stored"]:
        yield f"x{each['count']} {_short(each['key'])} {each['reason']}: {each['message']}"


def _election(view: Json) -> Iterator[str]:
    yield f"Lease: {view['holder'] or '-'}, transitions {view['transitions']}"
    for name, each in view["candidates"].items():
        yield f"{name}: {'leads' if each['leads'] else 'stands by'}"


_CONTENT = {
    "apiserver": _apiserver,
    "reflector": _reflector,
    "fifo": _fifo,
    "indexer": _indexer,
    "handlers": _handlers,
    "queue": _queue,
    "workers": _workers,
    "events": _events,
    "election": _election,
}


def _notices(notifications: Sequence[Json]) -> str:
    return _join(f"{each['method']} {_short(each['key'])}{' †' if each['tombstone'] else ''}" for each in notifications)


def _join(parts: Any) -> str:
    return ", ".join(parts) or "-"


def _short(key: str) -> str:
    return key.removeprefix("default/")


def plain(text: str) -> str:
    """Return the text without characters that move the cursor: keys and errors come from others."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def _columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def cut(text: str, width: int) -> str:
    """Return as much of the text as fits in `width` columns."""
    text = plain(text)
    while _columns(text) > width:
        text = text[:-1]
    return text


def _fill(text: str, width: int, by: str) -> str:
    text = cut(text, width)
    return text + by * (width - _columns(text))


# A line may break between wide characters too, but not before closing punctuation, nor behind opening punctuation.
_CLOSING = "，。、；：？！）”’》…"
_OPENING = "（“‘《"


def _chunks(text: str) -> list[str]:
    """Return the parts of a text that no line break may divide; a space belongs to the part before it."""
    chunks: list[str] = []
    for letter in text:
        is_wide = unicodedata.east_asian_width(letter) in "WF"
        before = chunks[-1][-1:] if chunks else ""
        was_wide = bool(before) and unicodedata.east_asian_width(before) in "WF"
        divides = before == " " or is_wide or was_wide
        if not chunks or (letter != " " and divides and letter not in _CLOSING and before not in _OPENING):
            chunks.append(letter)
        else:
            chunks[-1] += letter
    return chunks


def wrap(text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Break a text into lines of at most `width` columns, at spaces and between wide characters."""
    lines, line = [], ""
    for chunk in _chunks(plain(text)):
        if line.strip() and _columns(line) + _columns(chunk.rstrip()) > width:
            lines.append(line.rstrip())
            line = indent
        line += chunk
    return [*lines, line.rstrip()]
