"""The picture of a program that really runs: what `Live` knows, as JSON, in the shapes of picture.py.

It is painted on request, in the caller's thread. Long lists are shown by their beginning and their length. A station's
`facts` are rates of the whole process, and figures of the chosen informer or queue.

Repeated requests get only the changes since the last one, see `LiveView.look`.

The values of Secrets never leave the process, see secrecy.py: not in objects, not in error texts, not as the values of
indices.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.runtime import Object
from clientgo.tools import cache
from clientgo.tools.cache.reflector import type_string
from clientgo.tour.hop import Code, Hop
from clientgo.tour.live import KEPT_HOPS, Held, Live, Sum
from clientgo.tour.livepast import Owners, answer
from clientgo.tour.picture import Json
from clientgo.tour.seam import Tap
from clientgo.tour.secrecy import item_text
from clientgo.tour.taps import arguments_of, key_of, queued_at, version_of
from clientgo.tour.viewschema import SCHEMA, check_views
from clientgo.util.workqueue.beyond.inspection import name_of

__all__ = ["LiveView"]

# How much of anything is shown.
_SHOWN = 24
_HISTORY = 6
_HOPS = 60
# Secrets of a cache whose values are searched for, and texts of errors that are remembered.
_LEARNED = 2000
_TEXTS = 256
# So many looks are remembered, of all pages together: each page needs its last one.
_LOOKS = 32

# The words of the rates, by hop.
_RATES: Mapping[str, str] = {
    "reflector.decode": "lines",
    "fifo.append": "deltas",
    "fifo.queue_delta": "deltas",
    "indexer.update": "stored",
    "indexer.delete": "removed",
    "handlers.add": "added",
    "handlers.update": "updated",
    "handlers.delete": "deleted",
    "queue.add": "adds",
    "queue.add_with_priority": "adds",
    "queue.get": "gets",
    "queue.get_with_priority": "gets",
}
_STATIONS = dict.fromkeys(hop.partition(".")[0] for hop in _RATES)


class LiveView:
    """The view of a live program. Keeps the last facts of each reflector's hops at every tick. Thread-safe."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._began = live.clock.now()
        # Guards all below.
        self._lock = threading.Lock()
        self._last = -1
        self._reflectors: dict[int, Json] = {}
        self._history: dict[str, list[Json]] = {}
        self._errors: dict[str, str] = {}
        self._looks: dict[int, Json] = {}
        self._secrecy = live.secrecy
        # Error texts as they are shown.
        self._texts: dict[str, str] = {}
        # The Secrets whose values are known, by the number of their informer and their key.
        self._learned: dict[tuple[int, str], Any] = {}
        # No page shall take a look of the program that was at this address before for one of ours.
        self._numbers = itertools.count(1 + secrets.randbelow(2**40))
        live.on_tick = self._remember

    def paint(self, informer: int = 0, queue: int = 0, since: int = -1, key: str = "") -> Json:
        """Return the view of an informer and a queue, chosen by number, with the hops behind place `since`.

        `key`: only that object's hops. Raises ValueError for numbers that are none.
        """
        seen, hops = self._see(informer, queue, since, key)
        shown = [{**(document := hop.to_dict()), "more": self._scrubbed_fields(document["more"])} for hop in hops]
        return {**seen, "hops": shown}

    def look(self, after: int, informer: int = 0, queue: int = 0, since: int = -1, key: str = "") -> Json:
        """Return the changes of `paint` since look number `after` (0 for the first look).

        Contains the views, informers and queues that differ from that look; all of them if that look is forgotten. A
        hop has no lists, and its `code` is a place in `codes`. `look` is the number of this look.
        """
        seen, hops = self._see(informer, queue, since, key)
        parts = {**seen["views"], "informers": seen["informers"], "queues": seen["queues"]}
        with self._lock:
            before = self._looks.get(after, {})
            number = next(self._numbers)
            self._looks[number] = parts
            if len(self._looks) > _LOOKS:
                del self._looks[next(iter(self._looks))]
        changed = {name: part for name, part in parts.items() if before.get(name) != part}
        rest = {name: changed.pop(name) for name in ("informers", "queues") if name in changed}
        for name in ("unlisted", "detached", "last", "calls", "skipped", "elapsed"):
            rest[name] = seen[name]
        codes: dict[int, tuple[int, Code]] = {}
        short = [_short(hop, codes) for hop in hops]
        for each in short:
            each["more"] = self._scrubbed_fields(each["more"])
        code_documents = [code.to_dict() for _, code in codes.values()]
        return {"look": number, "views": changed, **rest, "hops": short, "codes": code_documents}

    def _see(self, informer: int, queue: int, since: int, key: str) -> tuple[Json, list[Hop]]:
        """Return the view without its hops, and the hops."""
        live = self._live
        chosen, held = self._chosen(informer, queue)
        if live.is_detached():
            # The structures go on changing, but the tour has stopped to note which thread holds which key, and since
            # when: only the hops that were kept are of one moment.
            views: dict[str, Json] = {station: {} for station in SCHEMA if station not in ("events", "election")}
            seen = {"views": views, "informers": [], "queues": [], "unlisted": 0, "detached": True}
            return self._with_hops(seen, live.sums(), since, key)
        self._remember()
        queues = live.queues()
        parts = [each.parts() for each in live.informers()]
        sums = live.sums()
        rates = self._rates(sums)
        views = {
            "apiserver": self._server(chosen, rates),
            "reflector": self._reflector(chosen, rates),
            "fifo": self._fifo(chosen, rates),
            "indexer": self._indexer(chosen, rates),
            "handlers": self._handlers(chosen, rates),
            "queue": self._queue(held, rates),
            "workers": self._workers(rates),
        }
        check_views(views)
        seen = {
            "views": views,
            "informers": [self._overview(each) for each in parts],
            "queues": [_queue_title(number, each) for number, each in enumerate(queues)],
            "unlisted": live.unlisted(),
            "detached": False,
        }
        return self._with_hops(seen, sums, since, key)

    def _with_hops(self, seen: Json, sums: Mapping[Tap, Sum], since: int, key: str) -> tuple[Json, list[Hop]]:
        """Return a view with the numbers of the hops, and the hops."""
        live = self._live
        hops, last = live.hops_since(since, key, _HOPS)
        calls = sum(each.calls for each in sums.values())
        counts = {"last": last, "calls": calls, "skipped": calls - sum(each.emitted for each in sums.values())}
        return {**seen, **counts, "elapsed": round(live.clock.now() - self._began, 3)}, hops

    def _chosen(self, informer: int, queue: int) -> tuple[Any, Any]:
        """Return the parts of an informer and the Held of a queue, by number; None for one that does not exist yet."""
        if informer < 0 or queue < 0:
            raise ValueError("informers and queues are counted from 0")
        informers, queues = self._live.informers(), self._live.queues()
        parts = informers[informer].parts() if informer < len(informers) else None
        return parts, queues[queue] if queue < len(queues) else None

    def object(self, informer: int, key: str) -> Json:
        """Return each known state of an object, in the cache and in the hops, by its reference."""
        informers = self._live.informers()
        states = [hop.object for hop in self._live.hops(key=key)]
        is_secret, kept = False, None
        if 0 <= informer < len(informers):
            parts = informers[informer].parts()
            is_secret = self._live.carries_secrets(parts)
            kept = parts.indexer.contents().items.get(key)
            states = [state for state in states if kept is None or _is_alike(state, kept)] + [kept]
        self._learn_secrets()
        found = {}
        for state in states:
            if isinstance(state, Object):
                document = self._secrecy.shown(state, is_secret=is_secret or (kept is None and self._may_be(state)))
                metadata = document.get("metadata")
                if isinstance(metadata, dict):
                    metadata.pop("managedFields", None)
                found[f"{key_of(state)}@{version_of(state)}"] = document
        return found

    def past(
        self,
        place: str = "",
        key: str = "",
        handler: str = "",
        version: str = "",
        queued: float | None = None,
        *,
        informer: int = 0,
        queue: int = 0,
    ) -> Json:
        """Answer both queries of past.py for one informer and one queue, from the hops that the tour has kept.

        Return the hops that the answers name, the links of the chain that brought `key` to `place`, and for each part
        the hop that may have changed it last, by their indexes. Raises ValueError for negative numbers.
        """
        parts, held = self._chosen(informer, queue)
        kept = self._live.hops(most=KEPT_HOPS)
        hops = [{**hop.to_dict(), "more": self._scrubbed_fields(dict(hop.more))} for hop in kept]
        owners = Owners(parts, None if held is None else held.queue)
        if parts is not None and handler:  # the hops name it without the number that tells equal names apart
            handler = next((each.name() for each in parts.handlers if self._live.name_of(each) == handler), handler)
        links, changes = answer(kept, hops, owners, place, key, handler=handler, version=version, queued=queued)
        named = sorted({*(link.at for link in links), *changes.values()})
        index = {at: number for number, at in enumerate(named)}
        sums = self._live.sums().values()
        return {
            "hops": [_short(kept[at], {}) | {"more": _flat(hops[at]["more"])} for at in named],
            "links": [{"at": index[link.at], "key": link.key} for link in links],
            "changes": {part: index[at] for part, at in changes.items()},
            "kept": len(hops),
            "skipped": sum(each.calls - each.emitted for each in sums),
        }

    def _may_be(self, state: Any) -> bool:
        """Report whether a state of an unknown source may come from an informer of Secrets."""
        parts = (each.parts() for each in self._live.informers())
        return any(each.kind == type_string(state) for each in parts if self._live.carries_secrets(each))

    def _scrubbed_fields(self, fields: Json) -> Json:
        if not any(isinstance(fields.get(name), str) for name in ("error", "message")):
            return fields
        return {**fields, **{name: self._scrubbed(fields[name]) for name in ("error", "message") if name in fields}}

    def _scrubbed(self, text: str) -> str:
        """Return an error's text without the values of the Secrets in the caches. Texts repeat: looks are frequent."""
        if not text:
            return text
        self._learn_secrets()
        known = self._texts.get(text)
        if known is None:
            known = self._secrecy.scrubbed(text)
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            self._texts[text] = known
        return known

    def _learn_secrets(self) -> None:
        """Learn the values of the Secrets in the caches that are new since the last call."""
        for number, informer in enumerate(self._live.informers()):
            parts = informer.parts()
            if not self._live.carries_secrets(parts):
                continue
            items = parts.indexer.contents(_LEARNED).items
            new = {key: obj for key, obj in items.items() if self._learned.get((number, key)) is not obj}
            if new:
                self._secrecy.learn(new.values())
                self._texts.clear()
                self._learned |= {(number, key): obj for key, obj in new.items()}
                for each in [each for each in list(self._learned) if each[0] == number and each[1] not in items]:
                    self._learned.pop(each, None)

    # ---- state that hops leave

    def _remember(self) -> None:
        with self._lock:
            hops, self._last = self._live.hops_since(self._last, most=KEPT_HOPS)
            for hop in hops:
                if hop.station == "reflector":
                    self._remember_reflector(hop)
                elif hop.station == "workers":
                    self._errors[hop.thread] = self._scrubbed(str(hop.more.get("error", "")))

    def _remember_reflector(self, hop: Hop) -> None:
        if hop.kind == "line":
            kind = type(hop.object).__name__
            seen = {"type": str(hop.more.get("type", "")), "key": hop.key, "version": hop.version, "ref": ""}
            self._history[kind] = [*self._history.get(kind, []), seen][-_HISTORY:]
            if known := self._reflectors.get(id(hop.owner)):
                known["error"] = ""
            return
        state = {"list": "listing", "watch": "watching", "backoff": "waiting", "ended": "idle", "failed": "idle"}
        known = self._reflectors.setdefault(id(hop.owner), {"lists": 0, "watches": 0, "bookmarks": 0, "error": ""})
        known["state"] = state.get(hop.kind, known.get("state", "idle"))
        error = hop.more.get("error", "" if hop.kind in ("listed", "bookmark") else known["error"])
        known["error"] = self._scrubbed(str(error))
        for kind, counter in (("list", "lists"), ("watch", "watches"), ("bookmark", "bookmarks")):
            known[counter] += hop.kind == kind

    # ---- stations

    def _rates(self, sums: Mapping[Tap, Sum]) -> dict[str, list[list[Any]]]:
        found: dict[str, dict[str, float]] = {station: {} for station in _STATIONS}
        for tap, total in sums.items():
            word = _RATES.get(tap.hop)
            if word is not None:
                found[tap.station][word] = found[tap.station].get(word, 0.0) + total.rate
        return {
            station: [[f"per-second-{word}", f"{rate:.0f}/s"] for word, rate in rates.items() if rate]
            for station, rates in found.items()
        }

    def _server(self, parts: Any, rates: Any) -> Json:
        if parts is None or parts.reflector is None:
            return {}
        # Behind its last part a kind is called as its class: *v1.Deployment.
        history = self._history.get(parts.kind.rpartition(".")[2], [])
        return {
            "version": parts.reflector.last_sync_resource_version(),
            "objects": [],
            "history": history,
            "oldest": "",
            "wire": "up",
            "remote": True,
        }

    def _reflector(self, parts: Any, rates: Any) -> Json:
        if parts is None or parts.reflector is None:
            return {}
        contact = parts.reflector.last_contact()
        facts = [] if contact is None else [["heard", _seconds(parts.clock.now() - contact)]]
        # A reflector that watched before the tour attached has sent no hop yet.
        usual = {
            "state": "idle" if contact is None else "watching",
            "lists": 0,
            "watches": 0,
            "bookmarks": 0,
            "error": "",
        }
        known = {**usual, **self._reflectors.get(id(parts.reflector), {})}
        version = parts.reflector.last_sync_resource_version()
        return {**known, "version": version, "facts": [*facts, *rates["reflector"]]}

    def _fifo(self, parts: Any, rates: Any) -> Json:
        if parts is None or parts.fifo is None:
            return {}
        contents = parts.fifo.contents(_SHOWN)
        deltas = [{"key": key, "deltas": [_delta(delta) for delta in deltas]} for key, deltas in contents.deltas]
        return {
            "name": type(parts.fifo).__name__,
            "keys": deltas,
            "length": contents.length,
            "initialLeft": contents.initial_left,
            "synced": contents.synced,
            "facts": rates["fifo"],
        }

    def _indexer(self, parts: Any, rates: Any) -> Json:
        if parts is None:
            return {}
        contents = parts.indexer.contents(_SHOWN)
        is_secret = self._live.carries_secrets(parts)

        def value_of(index: str, value: str) -> str:
            # An index function of the program may return values of a Secret.
            hides = is_secret and index != cache.NAMESPACE_INDEX and value
            return self._secrecy.mark(value) if hides else value or '""'

        indices = {
            name: {
                value_of(name, value): _few(sorted(keys), contents.counts[name][value])
                for value, keys in sorted(index.items())
            }
            for name, index in sorted(contents.indices.items())
        }
        versions = [(key, version_of(obj)) for key, obj in contents.items.items()]
        return {
            "objects": [{"key": key, "version": version, "ref": f"{key}@{version}"} for key, version in versions],
            "indices": indices,
            "version": contents.resource_version,
            "facts": [["length", parts.indexer.size()], *rates["indexer"]],
        }

    def _handlers(self, parts: Any, rates: Any) -> Json:
        if parts is None:
            return {}
        paused, _ = self._live.requested()
        now = parts.clock.now()
        handlers = []
        for number, handler in enumerate(parts.handlers):
            name = self._live.name_of(handler)
            length, contents = handler.waiting(), handler.contents(_SHOWN)
            pending, taken = handler.lengths()
            delivering = () if contents.delivering is None else (contents.delivering,)
            facts = [["length", length]]
            for oldest in (*delivering, *contents.taken[:1], *contents.pending[:1])[:1]:
                facts.append(["oldest", _seconds(now - getattr(oldest, "queued_at", now))])
            in_call = self._live.in_call(handler)
            if in_call is not None:
                facts.append(["in-call", _seconds(in_call)])
            handlers.append(
                {
                    "name": name,
                    "pending": [_notice(each) for each in contents.pending],
                    "taken": [_notice(each) for each in contents.taken],
                    "delivering": None if contents.delivering is None else _notice(contents.delivering),
                    "totals": {"pending": pending, "taken": taken},
                    "paused": name in paused,
                    "facts": facts + (rates["handlers"] if number == len(parts.handlers) - 1 else []),
                }
            )
        return {"handlers": handlers}

    def _queue(self, held: Any, rates: Any) -> Json:
        if held is None:
            return {}
        contents = held.queue.contents()
        now = self._live.clock.now()
        # They are in the order of their addition.
        oldest = next((item for item in list(held.since) if item in contents.dirty), None)
        since = None if oldest is None else held.since.get(oldest)
        if len(held.since) > len(contents.dirty) + 1000:
            self._forget_ages(held)
        facts = [["length", len(contents.order)]]
        if since is not None:
            facts.append(["oldest", _seconds(now - since)])
        return {
            "order": [item_text(item) for item in contents.order[:_SHOWN]],
            "dirty": sorted(item_text(item) for item in itertools.islice(contents.dirty, _SHOWN)),
            "processing": sorted(item_text(item) for item in itertools.islice(contents.processing, _SHOWN)),
            "waiting": [{"key": item_text(item), "due": round(due, 3)} for due, item in contents.waiting[:_SHOWN]],
            "failures": {item_text(item): count for item, count in itertools.islice(contents.failures.items(), _SHOWN)},
            "priorities": {
                item_text(item): contents.priorities[item]
                for item in contents.order[:_SHOWN]
                if item in contents.priorities
            },
            "length": len(contents.order),
            "totals": {
                "order": len(contents.order),
                "dirty": len(contents.dirty),
                "processing": len(contents.processing),
                "waiting": len(contents.waiting),
                "failures": len(contents.failures),
            },
            "facts": facts + rates["queue"],
        }

    def _forget_ages(self, held: Any) -> None:
        """Drop the ages of items that were taken at the moment in which they were added."""
        for item in list(held.since):
            if not held.inner.state_of(item)[0]:
                held.since.pop(item, None)

    def _workers(self, rates: Any) -> Json:
        _, delays = self._live.requested()
        now = self._live.clock.now()
        workers = {}
        for number, work in enumerate(self._live.workers()[: 2 * _SHOWN]):
            workers[work.thread if work.since is not None else f"? {number}"] = {
                "key": "" if work.item is None else item_text(work.item),
                "doing": "waiting" if work.item is None else "reconciles",
                "for": "" if work.since is None else _seconds(now - work.since),
                "delay": delays.get(work.thread, 0.0),
                "error": self._errors.get(work.thread, "") if work.item is None else "",
            }
        return {"workers": workers}

    def _overview(self, parts: Any) -> Json:
        pending = sum(handler.waiting() for handler in parts.handlers)
        contact = None if parts.reflector is None else parts.reflector.last_contact()
        return {
            "kind": parts.kind,
            "objects": parts.indexer.size(),
            "pending": pending,
            "version": "" if parts.reflector is None else parts.reflector.last_sync_resource_version(),
            "heard": None if contact is None else round(parts.clock.now() - contact, 1),
        }


def _queue_title(number: int, held: Held) -> str:
    """Return a queue's number, its name or else its origin in the program, and its type."""
    kind = type(held.queue).__name__.strip("_")
    name = name_of(held.queue) or held.origin
    return f"{number + 1}: {name} ({kind})" if name else f"{number + 1}: {kind}"


def _short(hop: Hop, codes: dict[int, tuple[int, Code]]) -> Json:
    """Return a hop as a page shows it. Its code is a number, which is added to `codes` if it is missing."""
    number, _ = codes.setdefault(id(hop.code), (len(codes), hop.code))
    return {
        "station": hop.station,
        "kind": hop.kind,
        "key": hop.key,
        "time": hop.time,
        "thread": hop.thread,
        "version": hop.version,
        "old": hop.old,
        "more": _flat(hop.more),
        "code": number,
    }


def _flat(more: Mapping[str, Any]) -> Json:
    return {name: value for name, value in more.items() if not isinstance(value, list | Mapping)}


def _is_alike(state: Any, kept: Any) -> bool:
    """Report whether both are of one class and claim the same kind."""
    if type(state) is not type(kept):
        return False
    return not isinstance(state, Object) or state.api_version_and_kind() == kept.api_version_and_kind()


def _delta(delta: Any) -> Json:
    listed = getattr(delta.object, "objects", None)
    version = version_of(delta)
    shown = {
        "type": str(delta.type),
        "version": version,
        "ref": f"{key_of(delta)}@{version}",
        "tombstone": isinstance(delta.object, cache.DeletedFinalStateUnknown),
    }
    if listed is not None:
        shown["keys"] = _few([key_of(obj) for obj in listed[:_SHOWN]], len(listed))
    return shown


def _notice(notification: Any) -> Json:
    method, obj, _ = arguments_of(notification)
    key, version = key_of(obj), version_of(obj)
    return {
        "method": method,
        "key": key,
        "version": version,
        "ref": f"{key}@{version}",
        "tombstone": isinstance(obj, cache.DeletedFinalStateUnknown),
        "queued": queued_at(notification),
    }


def _few(keys: list[str], total: int) -> list[str]:
    return keys[:_SHOWN] + ([f"+{total - _SHOWN}"] if total > _SHOWN else [])


def _seconds(value: float) -> str:
    """Return a duration as text, to a tenth of a second below 100 seconds, else to a second."""
    return f"{value:.1f}s" if value < 100 else f"{value:.0f}s"
