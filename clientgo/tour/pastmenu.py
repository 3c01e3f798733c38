"""Queries about the past as items of a terminal's menus, see past.py and menus.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clientgo.tour.menus import Item
from clientgo.tour.past import Link
from clientgo.tour.words import Words

__all__ = ["Place", "chain_items", "change_items", "keys_in"]

Json = Mapping[str, Any]


class Place(NamedTuple):
    """A place of past.PLACES and a key that is there, with the notification that has it there, if it is one."""

    place: str
    key: str
    handler: str = ""
    version: str = ""
    queued: float | None = None




def keys_in(state: Mapping[str, Json]) -> Iterator[Place]:
    """Yield every key in every place of the stations' views, those of the work queue first."""
    queue = state.get("queue", {})
    for part in ("order", "dirty", "processing"):
        yield from (Place(f"queue.{part}", key) for key in queue.get(part, ()))
    yield from (Place("queue.waiting", each["key"]) for each in queue.get("waiting", ()))
    yield from (Place("queue.failures", key) for key in queue.get("failures", ()))
    for worker in state.get("workers", {}).get("workers", {}).values():
        if worker["key"]:
            yield Place("workers", worker["key"])
    for handler in state.get("handlers", {}).get("handlers", ()):
        for part in ("pending", "taken"):
            yield from (_notice(f"handlers.{part}", handler["name"], each) for each in handler[part])
        if handler["delivering"]:
            yield _notice("handlers.delivering", handler["name"], handler["delivering"])
    for station, name, place in (("fifo", "keys", "fifo.deltas"), ("indexer", "objects", "indexer.objects")):
        view = state.get(station, {})
        for each in view.get("informers", [view]):
            shown = (one for one in each.get(name, ()) if one["key"])
            yield from (Place(place, one["key"], "", one.get("version", "")) for one in shown)
    objects = state.get("apiserver", {}).get("objects", ())
    yield from (Place("apiserver.objects", each["key"], "", each["version"]) for each in objects)


def _notice(place: str, handler: str, about: Json) -> Place:
    return Place(place, about["key"], handler, about["version"], about.get("queued"))


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
