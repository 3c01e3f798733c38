"""Queries about the past of a run: the hops that brought a key to a place, and the hop at which a part last changed.

All functions work on hops as JSON (see hop.py), the oldest first, so they serve runs, replays and what a live tour has
kept. The page has the same in past.js; a test compares both on every lesson. There is no Go counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = [
    "ARRIVALS",
    "CHANGES",
    "PLACES",
    "Change",
    "Link",
    "arrival",
    "chain",
    "fields",
    "last_change",
    "last_changes",
]

Json = Mapping[str, Any]

PLACES: Mapping[str, tuple[str, ...]] = {
    "apiserver.objects": ("created", "updated", "terminating"),
    "apiserver.history": ("created", "updated", "terminating", "deleted"),
    "reflector": ("line", "listed"),
    "fifo.deltas": ("queued", "appended", "merged"),
    "indexer.objects": ("stored", "replaced", "relisted"),
    "handlers.pending": ("buffered",),
    "handlers.taken": ("taken",),
    "handlers.delivering": ("called",),
    "queue.order": ("added", "requeued", "raised"),
    "queue.dirty": ("added", "marked", "requeued"),
    "queue.processing": ("taken",),
    "queue.waiting": ("waits", "sooner"),
    "queue.failures": ("failure",),
    "workers": ("reconcile", "ok", "error"),
    "events.stored": ("written",),
    "election": ("acquired",),
}
"""By place, the kinds of its station's hops that bring a key there."""

ARRIVALS: Mapping[str, tuple[str, ...]] = {
    station: tuple(dict.fromkeys(kind for place in PLACES if place.split(".")[0] == station for kind in PLACES[place]))
    for station in dict.fromkeys(place.split(".")[0] for place in PLACES)
}
"""By station, the kinds of its hops that bring a key there."""

_QUEUE = ("added", "duplicate", "marked", "taken", "done", "requeued", "raised", "due", "waits", "sooner")
_SERVER = ("created", "updated", "deleted", "terminating", "collected", "compacted")

CHANGES: Mapping[str, tuple[str, ...]] = {
    "apiserver.version": _SERVER,
    "apiserver.objects": _SERVER,
    "apiserver.history": _SERVER,
    "reflector.state": ("list", "watch", "ended", "failed", "backoff"),
    "reflector.version": ("listed", "watch", "line", "bookmark"),
    "reflector.lists": ("list",),
    "reflector.watches": ("watch",),
    "reflector.lines": ("line",),
    "reflector.bookmarks": ("bookmark",),
    "reflector.error": ("listed", "line", "bookmark", "ended", "failed", "backoff"),
    "fifo.keys": ("queued", "appended", "merged", "popped"),
    "indexer.objects": ("stored", "replaced", "removed", "relisted"),
    "indexer.indices": ("stored", "replaced", "removed", "relisted"),
    "handlers.handlers": ("buffered", "taken", "called", "returned", "raised"),
    "queue.order": _QUEUE,
    "queue.dirty": _QUEUE,
    "queue.processing": ("taken", "done", "requeued"),
    "queue.waiting": ("waits", "sooner", "due"),
    "queue.failures": ("failure", "forgotten"),
    "workers.workers": ("reconcile", "ok", "error"),
}
"""By part, the kinds of its station's hops that may change it: what a live tour knows without states."""


class Link(NamedTuple):
    """A hop of a chain: its index, and the key that it is about there."""

    at: int
    key: str


class Change(NamedTuple):
    """The last change of a part: the hop's index, the value before it and after it; None for none."""

    at: int
    before: Any
    after: Any


# ---- why is this key here?


def chain(
    hops: Sequence[Json],
    at: int,
    place: str,
    key: str,
    *,
    handler: str = "",
    version: str = "",
    queued: float | None = None,
) -> list[Link]:
    """Return the hops that brought `key` to `place` by hop `at`, from the API write on; [] if no hop is known.

    place: a station or a part of it, see PLACES. The key must be there after hop `at`.
    handler: only that handler's notifications. version: only that version of the object.
    queued: only the notifications that were queued then; resyncs add others of the same version.

    Of an API server outside of the program only the lines of its watch are known: the last such line is the chain.
    """
    arrived = arrival(hops, at, place, key, handler=handler, version=version, queued=queued)
    if arrived < 0 and place.partition(".")[0] == "apiserver":
        arrived = _last(
            hops,
            at + 1,
            lambda hop: _is(hop, "reflector", "line") and hop["key"] == key and version in ("", hop["version"]),
        )
    links: list[Link] = []
    link: _State | None = None
    if arrived >= 0:
        link = _State(arrived, key, version or _version(hops[arrived], key), queued)
    while link is not None:
        links.append(Link(link.at, link.key))
        link = _cause(hops, link)
    return links[::-1]


def arrival(
    hops: Sequence[Json],
    at: int,
    place: str,
    key: str,
    *,
    handler: str = "",
    version: str = "",
    queued: float | None = None,
) -> int:
    """Return the index of the last hop up to `at` that brought `key` to `place`, see `chain`; -1 if it is not known."""
    station = place.partition(".")[0]
    kinds = PLACES.get(place, ARRIVALS.get(station, ()))

    def brings(hop: Json) -> bool:
        if station == "workers" and (hop["station"], hop["kind"]) == ("queue", "taken"):
            return bool(hop["key"] == key)
        if hop["station"] != station or hop["kind"] not in kinds:
            return False
        if handler and hop["more"].get("handler", handler) != handler:
            return False
        if station == "handlers":
            return _notifies(hop, key, version, queued)
        if version and _version(hop, key) not in ("", version) and not _is_about_all(hop):
            return False
        return _mentions(hop, key)

    arrived = _last(hops, at + 1, brings)
    if arrived < 0 and "buffered" in kinds:
        arrived = _merged(hops, at + 1, handler, key, version, queued)
    return arrived


class _State(NamedTuple):
    at: int
    key: str
    version: str
    """The object's version that travels; "" where keys travel alone."""
    queued: float | None = None
    """The time at which the notification was queued that travels; None where it is not known."""


def _cause(hops: Sequence[Json], link: _State) -> _State | None:
    hop = hops[link.at]
    find = _CAUSES.get(hop["station"])
    found = -1 if find is None else find(hops, link)
    if found < 0:
        return None
    cause = hops[found]
    queued = link.queued if hop["station"] == cause["station"] == "handlers" else None
    # A handler may queue another key than its object's: its owner's.
    key = cause["key"] if (cause["station"], cause["kind"]) == ("handlers", "called") else link.key
    return _State(found, key, _version(cause, key) or (link.version if key == link.key else ""), queued)


def _cause_in_queue(hops: Sequence[Json], link: _State) -> int:
    at, key = link.at, link.key
    kind, thread = hops[at]["kind"], hops[at]["thread"]

    def same(*kinds: str) -> int:
        return _last(hops, at, lambda hop: hop["key"] == key and f"{hop['station']}.{hop['kind']}" in kinds)

    def here(*kinds: str) -> int:
        """Return the last such hop of this thread, about this key unless it is a handler's call."""
        wanted = {*kinds}
        return _last(
            hops,
            at,
            lambda hop: (
                hop["thread"] == thread
                and f"{hop['station']}.{hop['kind']}" in wanted
                and (hop["station"] == "handlers" or hop["key"] == key)
            ),
        )

    if kind in ("added", "duplicate", "marked", "raised"):
        return here("handlers.called", "queue.due", "workers.reconcile", "workers.ok", "workers.error")
    if kind == "taken":
        return same("queue.added", "queue.requeued", "queue.raised")
    if kind == "requeued":
        return same("queue.marked")
    if kind == "due":
        return same("queue.waits", "queue.sooner")
    if kind in ("waits", "sooner"):
        return here("queue.failure", "workers.error", "workers.ok", "handlers.called")
    return here("workers.error", "workers.ok", "workers.reconcile", "queue.taken")


def _cause_at_workers(hops: Sequence[Json], link: _State) -> int:
    at, key = link.at, link.key
    thread = hops[at]["thread"]
    wanted = ("queue", "taken") if hops[at]["kind"] == "reconcile" else ("workers", "reconcile")
    return _last(hops, at, lambda hop: hop["thread"] == thread and hop["key"] == key and _is(hop, *wanted))


def _cause_at_handlers(hops: Sequence[Json], link: _State) -> int:
    at, key, version, queued = link
    hop = hops[at]
    handler = hop["more"].get("handler")
    if hop["kind"] in ("returned", "raised"):
        return _last(
            hops,
            at,
            lambda each: each["thread"] == hop["thread"] and each["key"] == key and _is(each, "handlers", "called"),
        )
    if hop["kind"] in ("called", "taken"):
        queued = hop["more"].get("queued", queued)
        found = _last(
            hops,
            at,
            lambda each: (
                _is(each, "handlers", "buffered")
                and each["more"].get("handler") == handler
                and _notifies(each, key, version, queued)
            ),
        )
        return found if found >= 0 else _merged(hops, at, handler, key, version, queued)
    causes = {("indexer", kind) for kind in ("stored", "replaced", "removed", "relisted")} | {("fifo", "popped")}
    return _last(
        hops,
        at,
        lambda each: (
            each["thread"] == hop["thread"] and (each["station"], each["kind"]) in causes and _mentions(each, key)
        ),
    )


def _merged(hops: Sequence[Json], before: int, handler: str, key: str, version: str, queued: float | None) -> int:
    """Return the index of the hop before `before` that brought the state of a merged notification; -1 for none.

    Such a notification has the time of the first of those that were merged, and the state of the last one.
    """

    def buffers(at: int, version: str, queued: float | None) -> bool:
        hop = hops[at]
        is_its = not handler or hop["more"].get("handler", handler) == handler
        return is_its and _is(hop, "handlers", "buffered") and _notifies(hop, key, version, queued)

    if not version or queued is None:
        return -1
    began = next((at for at in range(before) if buffers(at, "", queued)), before)
    return next((at for at in range(began + 1, before) if buffers(at, version, None)), -1)


def _cause_at_indexer(hops: Sequence[Json], link: _State) -> int:
    at, key = link.at, link.key
    thread = hops[at]["thread"]
    # A streaming list collects its objects in a store of its own, in the reflector's thread.
    return _last(
        hops,
        at,
        lambda hop: (
            hop["thread"] == thread
            and (_is(hop, "fifo", "popped") or _is(hop, "reflector", "line"))
            and _mentions(hop, key)
        ),
    )


def _cause_in_fifo(hops: Sequence[Json], link: _State) -> int:
    at, key, version = link.at, link.key, link.version
    hop = hops[at]
    if hop["kind"] == "popped":
        is_about_all = _is_about_all(hop)
        return _last(
            hops,
            at,
            lambda each: (
                each["station"] == "fifo"
                and each["kind"] in ("queued", "appended", "merged")
                and (
                    (is_about_all and each["more"].get("type") in hop["more"].get("types", ()) and not each["key"])
                    or (not is_about_all and each["key"] == key and (not version or each["version"] in ("", version)))
                )
            ),
        )
    if hop["kind"] == "resync":
        return _last(
            hops,
            at,
            lambda each: (
                each["station"] == "indexer" and each["kind"] in PLACES["indexer.objects"] and _mentions(each, key)
            ),
        )
    causes: tuple[str, ...] = ("reflector.line",)
    if hop["more"].get("type") not in ("Added", "Updated"):  # a list has other types of deltas
        causes = (*causes, "reflector.listed", "reflector.bookmark", "fifo.resync")
    return _last(
        hops,
        at,
        lambda each: (
            each["thread"] == hop["thread"]
            and f"{each['station']}.{each['kind']}" in causes
            and (each["kind"] != "line" or each["key"] == key)
        ),
    )


def _cause_at_reflector(hops: Sequence[Json], link: _State) -> int:
    at, key = link.at, link.key
    hop = hops[at]
    if hop["kind"] == "bookmark":  # the end of a streaming list's first objects
        return _last(
            hops,
            at,
            lambda each: each["thread"] == hop["thread"] and each["key"] == key and _is(each, "reflector", "line"),
        )
    if hop["kind"] == "line":
        return _last(
            hops,
            at,
            lambda each: each["station"] == "apiserver" and each["key"] == key and each["version"] == hop["version"],
        )
    return _last(
        hops,
        at,
        lambda each: (
            each["station"] == "apiserver"
            and each["key"] == key
            and each["kind"] in PLACES["apiserver.history"]
            and _number(each["version"]) <= _number(hop["version"])
        ),
    )


def _cause_of_event(hops: Sequence[Json], link: _State) -> int:
    at, key = link.at, link.key
    hop = hops[at]
    if hop["kind"] == "recorded":
        return _last(
            hops,
            at,
            lambda each: each["thread"] == hop["thread"] and each["key"] == key and each["station"] == "workers",
        )
    before = (
        ("recorded",) if hop["kind"] in ("new", "counted", "combined", "dropped") else ("new", "counted", "combined")
    )
    return _last(hops, at, lambda each: each["station"] == "events" and each["kind"] in before and each["key"] == key)


_CAUSES: Mapping[str, Callable[[Sequence[Json], _State], int]] = {
    "queue": _cause_in_queue,
    "workers": _cause_at_workers,
    "handlers": _cause_at_handlers,
    "indexer": _cause_at_indexer,
    "fifo": _cause_in_fifo,
    "reflector": _cause_at_reflector,
    "events": _cause_of_event,
}


def _last(hops: Sequence[Json], before: int, matches: Callable[[Json], bool]) -> int:
    """Return the index of the last matching hop before index `before`; -1 for none."""
    return next((at for at in range(min(before, len(hops)) - 1, -1, -1) if matches(hops[at])), -1)


def _is(hop: Json, station: str, kind: str) -> bool:
    return bool(hop["station"] == station and hop["kind"] == kind)


def _is_about_all(hop: Json) -> bool:
    """Report whether a hop is about every object of a list or of the cache."""
    if (hop["station"], hop["kind"]) in (("reflector", "listed"), ("indexer", "relisted")):
        return True
    types = {hop["more"].get("type"), *hop["more"].get("types", ())}
    return hop["station"] == "fifo" and not hop["key"] and bool(types & {"ReplacedAll", "SyncAll"})


def _mentions(hop: Json, key: str) -> bool:
    if hop["key"] == key or _is_about_all(hop):
        return True
    return key in hop["more"].get("keys", ()) or any(True for _ in _notices(hop, key))


def _notices(hop: Json, key: str) -> Iterator[tuple[str, float | None]]:
    """Yield the version of each of a hop's notifications of an object, and the time at which it was queued."""
    more = hop["more"]
    for each in more.get("notifications", ()):
        if each["key"] == key:
            yield each["version"], each.get("queued")
    if others := more.get("others"):
        for at, name in enumerate(others["keys"]):
            if name == key:
                yield others["versions"][at], others["queued"][at]


def _notifies(hop: Json, key: str, version: str, queued: float | None) -> bool:
    """Report whether a handler's hop has a notification of an object: of a version and of a time, if they are given."""
    named = list(_notices(hop, key))
    if not named and hop["key"] == key:
        named = [(hop["version"], hop["more"].get("queued"))]
    return any(version in ("", each) and (None in (queued, time) or queued == time) for each, time in named)


def _version(hop: Json, key: str) -> str:
    """Return the version of the object with this key that a hop is about; "" if it names none."""
    if hop["key"] == key:
        return str(hop["version"])
    versions = [version for version, _ in _notices(hop, key)]
    return versions[-1] if versions else ""


def _number(version: str) -> int:
    return int(version) if version.isdecimal() else -1


# ---- when did this last change?


def fields(state: Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    """Yield each part of every station's view and its value: "queue.dirty", with several informers "fifo.Foo.keys"."""
    for station, view in state.items():
        for each in view.get("informers", [view]):
            prefix = f"{station}.{each['kind']}" if "informers" in view else station
            for name, value in each.items():
                if name not in ("kind", "facts"):
                    yield f"{prefix}.{name}", value


def last_change(states: Sequence[Mapping[str, Json]], at: int, part: str) -> Change | None:
    """Return the last change of a part up to hop `at`, given the state after each hop; None if it never changed."""
    after = dict(fields(states[at])).get(part) if at >= 0 else None
    station = part.partition(".")[0]
    for number in range(at, -1, -1):
        # Most hops leave a station's view as it is.
        if number and states[number].get(station) is states[number - 1].get(station):
            continue
        before = dict(fields(states[number - 1])).get(part) if number else None
        if before != after and not (number == 0 and not after):
            return Change(number, before, after)
    return None


def last_changes(hops: Sequence[Json], key: str = "") -> dict[str, int]:
    """Return for each part of CHANGES the last hop that may have changed it, of that key if one is given."""
    found: dict[str, int] = {}
    for part, kinds in CHANGES.items():
        station = part.partition(".")[0]
        for number in _error_changes(hops) if part == "reflector.error" else range(len(hops) - 1, -1, -1):
            hop = hops[number]
            if hop["station"] == station and hop["kind"] in kinds and (not key or _mentions(hop, key)):
                found[part] = number
                break
    return found


def _error_changes(hops: Sequence[Json]) -> list[int]:
    """Return the hops that changed a reflector's error, the last one first: most of those that may, change none."""
    changed: list[int] = []
    shown = ""
    for number, hop in enumerate(hops):
        if hop["station"] == "reflector" and hop["kind"] in CHANGES["reflector.error"]:
            error = hop["more"].get("error", "")
            if error != shown:
                changed.append(number)
            shown = error
    return changed[::-1]
