"""Queries about the past as items of a terminal's menus, see past.py and menus.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from clientgo.tour.menus import Item
from clientgo.tour.past import Link
from clientgo.tour.words import Words

__all__ = ["Place", "chain_items", "change_items", "keys_in"]

Json = Mapping[str, Any]
Place = tuple[str, str, str, str]
"""A place of past.PLACES, a key that is there, and the handler and the version if they are known, else ""."""


def keys_in(state: Mapping[str, Json]) -> Iterator[Place]:
    """Yield every key in every place of the stations' views, those of the work queue first."""
    queue = state.get("queue", {})
    for part in ("order", "dirty", "processing"):
        yield from ((f"queue.{part}", key, "", "") for key in queue.get(part, ()))
    yield from (("queue.waiting", each["key"], "", "") for each in queue.get("waiting", ()))
    yield from (("queue.failures", key, "", "") for key in queue.get("failures", ()))
    for worker in state.get("workers", {}).get("workers", {}).values():
        if worker["key"]:
            yield "workers", worker["key"], "", ""
    for handler in state.get("handlers", {}).get("handlers", ()):
        for part in ("pending", "taken"):
            yield from ((f"handlers.{part}", each["key"], handler["name"], each["version"]) for each in handler[part])
        if handler["delivering"]:
            called = handler["delivering"]
            yield "handlers.delivering", called["key"], handler["name"], called["version"]
    for station, name, place in (("fifo", "keys", "fifo.deltas"), ("indexer", "objects", "indexer.objects")):
        view = state.get(station, {})
        for each in view.get("informers", [view]):
            yield from ((place, one["key"], "", one.get("version", "")) for one in each.get(name, ()) if one["key"])
    objects = state.get("apiserver", {}).get("objects", ())
    yield from (("apiserver.objects", each["key"], "", each["version"]) for each in objects)


def chain_items(
    words: Words, hops: Sequence[Json], links: Sequence[Link], go: Callable[[int], object] | None
) -> list[Item]:
    """Return an item for each hop of a chain; Enter goes to the hop, if `go` is given."""
    items: list[Item] = []
    for link in links:
        hop = hops[link.at]
        version = f" @{hop['version']}" if hop["version"] and hop["key"] == link.key else ""
        text = f"{words('hop')} {link.at + 1}" if go else f"+{hop['time']:.2f}s"
        text += f"  {words(hop['station'])}{words('colon')}{words.kind(hop['station'], hop['kind'])}"
        text += f"  {link.key.removeprefix('default/')}{version}  [{hop['thread']}]"
        items.append((text, _to(go, link.at)))
    return items or [(words("not-recorded"), None)]


def change_items(
    words: Words, hops: Sequence[Json], changes: Mapping[str, int], go: Callable[[int], object] | None
) -> list[Item]:
    """Return an item for each part with the hop that changed it last, the latest first."""
    items: list[Item] = []
    for part, at in sorted(changes.items(), key=lambda change: (-change[1], change[0])):
        hop = hops[at]
        when = f"{words('hop')} {at + 1}" if go else f"+{hop['time']:.2f}s"
        key = f"  {hop['key'].removeprefix('default/')}" if hop["key"] else ""
        items.append((f"{part}  {when}  {words.kind(hop['station'], hop['kind'])}{key}", _to(go, at)))
    return items or [(words("never-changed"), None)]


def _to(go: Callable[[int], object] | None, at: int) -> Callable[[], object] | None:
    return None if go is None else lambda: go(at)
