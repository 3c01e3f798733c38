"""The tour's picture as lines of text: a box for each station, side by side."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clientgo.tour.picture import Json
from clientgo.tour.words import Words

__all__ = ["cut", "fill", "picture", "plain", "wrap"]

_ENGLISH = Words()
# As on the page: the way of an object from left to right, and back.
_ROWS = (("apiserver", "reflector", "fifo"), ("workers", "queue", "handlers", "indexer"))


def picture(
    state: Mapping[str, Json],
    width: int,
    height: int,
    here: str = "",
    extras: Sequence[str] = (),
    words: Words = _ENGLISH,
) -> list[str]:
    """Return all stations in at most `height` lines.

    here: the station to mark. extras: stations that only some machines have. words: the language.
    """
    rows = ((*extras, *_ROWS[0]), _ROWS[1])
    boxes = _Boxes(state, width, height // 2, here, words)
    return [line for row in rows for line in boxes.row(row)]


class _Boxes:
    """Boxes of one height, side by side."""

    def __init__(self, state: Mapping[str, Json], width: int, height: int, here: str, words: Words) -> None:
        self._state = state
        self._width = width
        self._height = height
        self._here = here
        self._words = words

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
        title = str(several[0].get("name", self._words(station)))
        line = "═" if is_here else "─"
        top = fill(f"{line}{'▶' if is_here else line} {title} ", width, line)
        parts = [part for each in several for part in _about(station, each, self._words)]
        content = [text for part in parts for text in wrap(part, width - 2)]
        if len(content) > height - 2:
            content = [*content[: height - 3], f"+{len(content) - height + 3} {self._words.label('box-more', 'more')}"]
        content += [""] * (height - 2 - len(content))
        return [top, *(f" {fill(text, width - 2)} " for text in content), line * width]


def _about(station: str, view: Json, words: Words) -> Iterator[str]:
    """Yield a station's content, a paragraph each. The view of one of several informers begins with its kind."""
    if not view:
        return
    if "kind" in view:
        yield f"{view['kind']}{words('colon').rstrip()}"
    if facts := _facts(view.get("facts", ()), words):
        yield facts
    if "kind" not in view or len(view) > 1:
        yield from _CONTENT[station](view, words)


# The English names of a live picture's facts that differ from the facts' keys.
_FACTS = {"heard": "last heard", "in-call": "in this call for"}


def _facts(facts: Sequence[Any], words: Words) -> str:
    def name(fact: str) -> str:
        return words.label(fact, _FACTS.get(fact, fact.replace("per-second-", "")))

    return ", ".join(f"{name(fact)} {value}" for fact, value in facts)


def _apiserver(view: Json, words: Words) -> Iterator[str]:
    signs = {"ADDED": "+", "MODIFIED": "~", "DELETED": "-"}
    colon = words("colon")

    def name(each: Json) -> str:
        kind = f"{each['kind']} " if "kind" in each else ""
        return f"{kind}{_short(each['key'])} @{each['version']}"

    is_remote = view.get("remote", False)
    wire = "" if is_remote else f", {words.label('wire')} {words.label(view['wire'])}"
    yield f"@{view['version']}{wire}"
    if not is_remote:
        yield f"{words.label('objects')}{colon}" + _join(name(each) for each in view["objects"])
    history = words.label("box-came", "came") if is_remote else words.label("history")
    yield f"{history}{colon}" + _join(f"{signs.get(each['type'], '?')}{name(each)}" for each in view["history"][-6:])


def _reflector(view: Json, words: Words) -> Iterator[str]:
    yield f"{words.label(view['state'])}, lastSyncResourceVersion {view['version'] or '-'}"
    counters = [name for name in ("lists", "watches", "lines", "bookmarks") if name in view]
    yield ", ".join(f"{words.label(name)} {view[name]}" for name in counters)
    if view["error"]:
        yield f"{words.label('error')}{words('colon')}{words.error(view['error'])}"


def _fifo(view: Json, words: Words) -> Iterator[str]:
    yield f"HasSynced {view['synced']}, {words.label('initial-left', 'initial left')} {view['initialLeft']}"
    for each in view["keys"]:
        yield f"{_short(each['key'])}{words('colon')}" + _join(
            f"{delta['type']} @{delta['version']}{' †' if delta['tombstone'] else ''}" for delta in each["deltas"]
        )
    if view.get("length", 0) > len(view["keys"]):
        yield f"+{view['length'] - len(view['keys'])} {words.label('box-more', 'more')}"


def _indexer(view: Json, words: Words) -> Iterator[str]:
    colon = words("colon")
    yield f"{words.label('objects')}{colon}" + _join(
        f"{_short(each['key'])} @{each['version']}" for each in view["objects"]
    )
    for name, table in view["indices"].items():
        yield f"{words.label('index')} {name}{colon}" + _join(
            f"{value} -> {' '.join(map(_short, keys))}" for value, keys in table.items()
        )


def _handlers(view: Json, words: Words) -> Iterator[str]:
    colon = words("colon")
    for each in view["handlers"]:
        informer = f"{each['informer']} " if "informer" in each else ""
        name = each["name"].partition("+")[0].rpartition(".")[2]
        if "facts" in each:
            paused = f", {words.label('paused', 'PAUSED')}" if each["paused"] else ""
            yield f"{name}{colon}{_facts(each['facts'], words)}{paused}"
        else:
            calls, raised = words.label("calls"), words.label("raised")
            counts = (each["calls"], calls), (each["raised"], raised)
            yield f"{informer}{name}{colon}{', '.join(_counted(count, of, words) for count, of in counts)}"
        totals = each.get("totals", {})
        yield f"pendingNotifications{colon}" + _notices(each["pending"], totals.get("pending", 0))
        if each["taken"]:
            taken = _notices(each["taken"], totals.get("taken", 0))
            yield f"{words.label('nextCh', 'taken (not in Go)')}{colon}{taken}"
        if each["delivering"]:
            yield f"{words.label('calling', 'being called')}{colon}" + _notices([each["delivering"]])


def _counted(count: int, of: str, words: Words) -> str:
    return f"{of} {count}" if words.language == "zh" else f"{count} {of}"


def _queue(view: Json, words: Words) -> Iterator[str]:
    colon, totals = words("colon"), view.get("totals", {})
    for name in ("order", "dirty", "processing"):
        label = words.label("box-order", name) if name == "order" else name
        yield f"{label}{colon}" + _join(map(_short, view[name]), totals.get(name, 0))
    due = words.label("box-in", "in")
    waiting = (f"{_short(each['key'])} {due} {each['due']:g}s" for each in view["waiting"])
    yield f"waitingForQueue{colon}" + _join(waiting, totals.get("waiting", 0))
    failures = (f"{_short(key)} x{count}" for key, count in view["failures"].items())
    yield f"{words.label('box-failures', 'failures')}{colon}" + _join(failures, totals.get("failures", 0))


def _workers(view: Json, words: Words) -> Iterator[str]:
    colon = words("colon")
    for name, each in view["workers"].items():
        parts = [words.label(each["doing"]), _short(each["key"]), each.get("for", ""), words.error(each["error"])]
        slowed = f" ({words.label('slowed', 'slowed by')} {each['delay']:g}s)" if each.get("delay") else ""
        yield f"{name}{colon}{' '.join(part for part in parts if part)}{slowed}"
        if each.get("line"):
            yield f"  {words.label('box-line', 'line')} {each['line']}{colon}{each['text']}"


def _events(view: Json, words: Words) -> Iterator[str]:
    yield ", ".join(f"{words.label(name)} {view[name]}" for name in ("recorded", "written", "dropped", "failed"))
    for each in view["stored"]:
        yield f"x{each['count']} {_short(each['key'])} {each['reason']}: {each['message']}"


def _election(view: Json, words: Words) -> Iterator[str]:
    yield f"Lease{words('colon')}{view['holder'] or '-'}, {words.label('transitions')} {view['transitions']}"
    for name, each in view["candidates"].items():
        yield f"{name}{words('colon')}{words.label(*(('leads',) if each['leads'] else ('stands-by', 'stands by')))}"


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


def _notices(notifications: Sequence[Json], total: int = 0) -> str:
    texts = (f"{each['method']} {_short(each['key'])}{' †' if each['tombstone'] else ''}" for each in notifications)
    return _join(texts, total)


def _join(parts: Any, total: int = 0) -> str:
    """Return the parts with commas; `total` is their number if some were not sent."""
    shown = list(parts)
    return ", ".join([*shown, f"+{total - len(shown)}"] if total > len(shown) else shown) or "-"


def _short(key: str) -> str:
    return key.removeprefix("default/")


def plain(text: str) -> str:
    """Return the text without characters that move the cursor: keys and errors come from others."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "�" for letter in text)


@functools.lru_cache(maxsize=4096)
def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


@functools.lru_cache(maxsize=4096)
def _columns_of(letter: str) -> int:
    return 1 + _is_wide(letter) - (unicodedata.combining(letter) > 0)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def cut(text: str, width: int) -> str:
    """Return as much of the text as fits in `width` columns."""
    text = plain(text)
    while _columns(text) > width:
        text = text[:-1]
    return text


def fill(text: str, width: int, by: str = " ") -> str:
    """Return the text, cut or filled to exactly `width` columns."""
    text = cut(text, width)
    return text + by * (width - _columns(text))


# A line may break between wide characters too, but not before closing punctuation, nor behind opening punctuation.
_CLOSING = "，。、；：？！）”’》…"
_OPENING = "（“‘《"


def _chunks(text: str) -> list[str]:
    """Return the parts of a text that no line break may divide; a space belongs to the part before it."""
    chunks: list[str] = []
    for letter in text:
        is_wide = _is_wide(letter)
        before = chunks[-1][-1:] if chunks else ""
        was_wide = bool(before) and _is_wide(before)
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
