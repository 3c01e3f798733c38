"""The picture of a program that really runs: what `Live` knows, as JSON, in the shapes of picture.py.

It is painted when somebody looks, in his thread. Of what is long only the beginning is shown, with its length. What
stands in a station's `facts` is about all of the process where it is a rate, and else about the informer or queue that
is chosen.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from clientgo.apimachinery.runtime import Object
from clientgo.tools import cache
from clientgo.tour.hop import Hop
from clientgo.tour.live import KEPT_HOPS, Live
from clientgo.tour.picture import Json
from clientgo.tour.taps import key_of, told, version_of

__all__ = ["LiveView"]

# How much of anything is shown.
_SHOWN = 24
_HISTORY = 6
_HOPS = 60

# Which calls make the rates, by station: function -> word.
_RATES: Mapping[str, Mapping[str, str]] = {
    "reflector": {"Decoder.decode_line": "lines"},
    "fifo": {"RealFIFO._append_locked": "deltas", "DeltaFIFO._queue_action_internal_locked": "deltas"},
    "indexer": {"_ThreadSafeMap._update_locked": "stored", "_ThreadSafeMap._delete_locked": "removed"},
    "handlers": {
        "AddNotification.deliver": "added",
        "UpdateNotification.deliver": "updated",
        "DeleteNotification.deliver": "deleted",
    },
    "queue": {
        "Typed.add": "adds",
        "PriorityQueue._add": "adds",
        "Typed.get": "gets",
        "PriorityQueue.get_with_priority": "gets",
    },
}


class LiveView:
    """Paints. Remembers of the reflectors what their hops told, at every tick. Thread-safe."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._began = live.clock.now()
        # Guards all below.
        self._lock = threading.Lock()
        self._last = -1
        self._reflectors: dict[int, Json] = {}
        self._history: dict[str, list[Json]] = {}
        self._errors: dict[str, str] = {}
        live.on_tick = self._remember

    def paint(self, informer: int = 0, queue: int = 0, since: int = -1, key: str = "") -> Json:
        """All there is to see, with that informer and queue (by number) in the middle, and hops after number `since`.

        `key`: only that object's hops. Raises ValueError for numbers that are none.
        """
        live = self._live
        if informer < 0 or queue < 0:
            raise ValueError("informers and queues are counted from 0")
        self._remember()
        informers, queues = live.informers(), live.queues()
        parts = [each.parts() for each in informers]
        rates = self._rates()
        chosen = parts[informer] if informer < len(parts) else None
        held = queues[queue] if queue < len(queues) else None
        views: dict[str, Json] = {
            "apiserver": self._server(chosen, rates),
            "reflector": self._reflector(chosen, rates),
            "fifo": self._fifo(chosen, rates),
            "indexer": self._indexer(chosen, rates),
            "handlers": self._handlers(chosen, rates),
            "queue": self._queue(held, rates),
            "workers": self._workers(rates),
        }
        hops = live.hops(since, key, _HOPS)
        sums = live.sums()
        calls, skipped = (
            sum(each.calls for each in sums.values()),
            sum(each.calls - each.told for each in sums.values()),
        )
        return {
            "views": views,
            "informers": [self._overview(each) for each in parts],
            "queues": [self._queue_name(number, each.queue) for number, each in enumerate(queues)],
            "unlisted": live.unlisted(),
            "hops": [hop.to_dict() for hop in hops],
            "last": max(self._last, hops[-1].number if hops else -1),
            "calls": calls,
            "skipped": skipped,
            "elapsed": round(live.clock.now() - self._began, 3),
        }

    def object(self, informer: int, key: str) -> Json:
        """Every state of an object that is known: in the cache, and in the hops. By its reference."""
        informers = self._live.informers()
        states = [hop.object for hop in self._live.hops(key=key)]
        if 0 <= informer < len(informers):
            kept = informers[informer].parts().indexer.contents().items.get(key)
            states = [state for state in states if kept is None or type(state) is type(kept)] + [kept]
        found = {}
        for state in states:
            if isinstance(state, Object):
                document = state.to_dict()
                document.get("metadata", {}).pop("managedFields", None)
                found[f"{key_of(state)}@{version_of(state)}"] = document
        return found

    # ---- what is remembered of hops

    def _remember(self) -> None:
        with self._lock:
            hops = self._live.hops(self._last, most=KEPT_HOPS)
            for hop in hops:
                if hop.station == "reflector":
                    self._remember_reflector(hop)
                elif hop.station == "workers":
                    self._errors[hop.thread] = str(hop.more.get("error", ""))
            if hops:
                self._last = hops[-1].number

    def _remember_reflector(self, hop: Hop) -> None:
        if hop.kind == "line":
            kind = type(hop.object).__name__
            seen = {"type": str(hop.more.get("type", "")), "key": hop.key, "version": hop.version, "ref": ""}
            self._history[kind] = [*self._history.get(kind, []), seen][-_HISTORY:]
            return
        state = {"list": "listing", "watch": "watching", "backoff": "waiting", "ended": "idle", "failed": "idle"}
        known = self._reflectors.setdefault(id(hop.owner), {"lists": 0, "watches": 0, "bookmarks": 0, "error": ""})
        known["state"] = state.get(hop.kind, known.get("state", "idle"))
        known["error"] = hop.more.get("error", "" if hop.kind in ("listed", "bookmark") else known["error"])
        for kind, counter in (("list", "lists"), ("watch", "watches"), ("bookmark", "bookmarks")):
            known[counter] += hop.kind == kind

    # ---- stations

    def _rates(self) -> dict[str, list[list[Any]]]:
        found: dict[str, dict[str, float]] = {station: {} for station in _RATES}
        for tap, total in self._live.sums().items():
            word = _RATES.get(tap.station, {}).get(tap.function)
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
        heard = parts.reflector.last_heard()
        facts = [] if heard is None else [["heard", _seconds(parts.clock.now() - heard)]]
        # One that was watching before the tour came has told nothing yet.
        usual = {
            "state": "idle" if heard is None else "watching",
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
        contents = parts.fifo.contents()
        deltas = [
            {"key": key, "deltas": [_delta(delta) for delta in deltas]} for key, deltas in contents.deltas[:_SHOWN]
        ]
        return {
            "name": type(parts.fifo).__name__,
            "keys": deltas,
            "length": len(contents.deltas),
            "initialLeft": contents.initial_left,
            "synced": contents.synced,
            "facts": rates["fifo"],
        }

    def _indexer(self, parts: Any, rates: Any) -> Json:
        if parts is None:
            return {}
        contents = parts.indexer.contents()
        shown = itertools.islice(contents.items.items(), _SHOWN)
        indices = {
            name: {
                value or '""': _few(sorted(itertools.islice(keys, _SHOWN)), len(keys)) for value, keys in _few_of(index)
            }
            for name, index in sorted(contents.indices.items())
        }
        return {
            "objects": [
                {"key": key, "version": version_of(obj), "ref": f"{key}@{version_of(obj)}"} for key, obj in shown
            ],
            "indices": indices,
            "version": contents.resource_version,
            "facts": [["length", len(contents.items)], *rates["indexer"]],
        }

    def _handlers(self, parts: Any, rates: Any) -> Json:
        if parts is None:
            return {}
        paused, _ = self._live.asked()
        now = parts.clock.now()
        handlers = []
        for number, handler in enumerate(parts.handlers):
            contents = handler.contents()
            waiting = [
                *([] if contents.delivering is None else [contents.delivering]),
                *contents.taken,
                *contents.pending,
            ]
            facts = [["length", len(waiting)]]
            if waiting:
                facts.append(["oldest", _seconds(now - getattr(waiting[0], "queued_at", now))])
            in_call = self._live.in_call(handler)
            if in_call is not None:
                facts.append(["in-call", _seconds(in_call)])
            handlers.append(
                {
                    "name": contents.handler,
                    "pending": [_notice(each) for each in contents.pending[:_SHOWN]],
                    "taken": [_notice(each) for each in contents.taken[:_SHOWN]],
                    "delivering": None if contents.delivering is None else _notice(contents.delivering),
                    "paused": contents.handler in paused,
                    "facts": facts + (rates["handlers"] if number == len(parts.handlers) - 1 else []),
                }
            )
        return {"handlers": handlers}

    def _queue(self, held: Any, rates: Any) -> Json:
        if held is None:
            return {}
        contents = held.queue.contents()
        now = self._live.clock.now()
        ages = [now - since for item, since in list(held.since.items()) if item in contents.dirty]
        if len(held.since) > len(contents.dirty) + 1000:
            self._forget_ages(held)
        facts = [["length", len(contents.order)]]
        if ages:
            facts.append(["oldest", _seconds(max(ages))])
        return {
            "order": [str(item) for item in contents.order[:_SHOWN]],
            "dirty": sorted(str(item) for item in itertools.islice(contents.dirty, _SHOWN)),
            "processing": sorted(str(item) for item in itertools.islice(contents.processing, _SHOWN)),
            "waiting": [{"key": str(item), "due": round(due, 3)} for due, item in contents.waiting[:_SHOWN]],
            "failures": {str(item): count for item, count in itertools.islice(contents.failures.items(), _SHOWN)},
            "length": len(contents.order),
            "facts": facts + rates["queue"],
        }

    def _forget_ages(self, held: Any) -> None:
        """Of what was added in the moment in which it was taken, nobody forgets the age."""
        for item in list(held.since):
            if not held.inner.whereabouts(item)[0]:
                held.since.pop(item, None)

    def _workers(self, rates: Any) -> Json:
        _, delays = self._live.asked()
        now = self._live.clock.now()
        workers = {}
        for number, work in enumerate(self._live.workers()[: 2 * _SHOWN]):
            workers[work.thread if work.since is not None else f"? {number}"] = {
                "key": "" if work.item is None else str(work.item),
                "doing": "waiting" if work.item is None else "reconciles",
                "for": "" if work.since is None else _seconds(now - work.since),
                "delay": delays.get(work.thread, 0.0),
                "error": self._errors.get(work.thread, "") if work.item is None else "",
            }
        return {"workers": workers}

    def _overview(self, parts: Any) -> Json:
        pending = sum(handler.waiting() for handler in parts.handlers)
        heard = None if parts.reflector is None else parts.reflector.last_heard()
        return {
            "kind": parts.kind,
            "objects": parts.indexer.size(),
            "pending": pending,
            "version": "" if parts.reflector is None else parts.reflector.last_sync_resource_version(),
            "heard": None if heard is None else round(parts.clock.now() - heard, 1),
        }

    def _queue_name(self, number: int, queue: Any) -> str:
        return f"{number + 1}: {type(queue).__name__.strip('_')}"


def _delta(delta: Any) -> Json:
    listed = getattr(delta.object, "objects", None)
    shown = {
        "type": str(delta.type),
        "version": version_of(delta),
        "ref": f"{key_of(delta)}@{version_of(delta)}",
        "tombstone": isinstance(delta.object, cache.DeletedFinalStateUnknown),
    }
    if listed is not None:
        shown["keys"] = _few([key_of(obj) for obj in listed[:_SHOWN]], len(listed))
    return shown


def _notice(notification: Any) -> Json:
    method, obj, _ = told(notification)
    return {
        "method": method,
        "key": key_of(obj),
        "version": version_of(obj),
        "ref": f"{key_of(obj)}@{version_of(obj)}",
        "tombstone": isinstance(obj, cache.DeletedFinalStateUnknown),
    }


def _few_of(index: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return sorted(itertools.islice(index.items(), _SHOWN))


def _few(keys: list[str], total: int) -> list[str]:
    return keys[:_SHOWN] + ([f"+{total - _SHOWN}"] if total > _SHOWN else [])


def _seconds(value: float) -> str:
    """As people say it: to a tenth of a second, later to a second."""
    return f"{value:.1f}s" if value < 100 else f"{value:.0f}s"
