"""Queries about the past of a program that runs, for one informer and one work queue of it.

A program may have several informers and queues, and one key may be in all of them. `Owners` reports which hops belong
to the chosen ones, so that an answer about a queue names no hop of another queue. See past.py for the queries.
There is no Go counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clientgo.tools.cache.beyond.records import InformerParts
from clientgo.tools.cache.reflector import type_string
from clientgo.tour.hop import Hop
from clientgo.tour.past import Link, chain, last_changes
from clientgo.util.workqueue.beyond.inspection import components_of

__all__ = ["Owners", "answer"]

Json = dict[str, Any]

_OF_INFORMERS = frozenset({"reflector", "fifo", "indexer", "handlers"})


class Owners:
    """The structures of one informer and one work queue, to which hops belong.

    parts: of the informer; None for none. queue: None for none.
    """

    def __init__(self, parts: InformerParts | None, queue: Any) -> None:
        self._informer: set[int] = set()
        self._kind = "" if parts is None else parts.kind
        if parts is not None:
            structures = (parts.reflector, parts.fifo, *components_of(parts.indexer), *parts.handlers)
            self._informer = {id(each) for each in structures if each is not None}
        self._queue = {id(each) for each in components_of(queue)}

    def has(self, hop: Hop) -> bool:
        """Report whether a hop belongs to the informer or the queue, or to neither kind of structure."""
        if hop.station == "queue":
            return id(hop.owner) in self._queue
        if hop.station not in _OF_INFORMERS:
            return True
        if hop.kind == "line" and hop.object is not None and hop.owner is None:
            # The thread's first line, if the tour attached while the watch was open.
            return type_string(hop.object) == self._kind
        return id(hop.owner) in self._informer


def answer(
    kept: Sequence[Hop],
    hops: Sequence[Json],
    owners: Owners,
    place: str = "",
    key: str = "",
    *,
    handler: str = "",
    version: str = "",
    queued: float | None = None,
) -> tuple[list[Link], dict[str, int]]:
    """Return the links of the chain that brought `key` to `place`, and by part the hop that may have changed it last.

    kept: the hops that a live tour has kept, and `hops` the same ones as JSON. Both results name indexes in them.

    The chain of a key in a queue names no hop of another queue, and begins at any informer: handlers of several ones
    may add the key. The chain of a key in an informer names no hop of another informer.
    """
    station = place.partition(".")[0]
    mine = [at for at, hop in enumerate(kept) if owners.has(hop)]
    changes = last_changes([hops[at] for at in mine], key)
    found = {part: mine[at] for part, at in changes.items()}
    if not key:
        return [], found
    is_queues = station in ("queue", "workers")
    way = mine
    if is_queues:
        way = [at for at, hop in enumerate(kept) if hop.station != "queue" or owners.has(hop)]
    asked = [hops[at] for at in way]
    links = chain(asked, len(asked) - 1, place, key, handler=handler, version=version, queued=queued)
    return [Link(way[link.at], link.key) for link in links], found
