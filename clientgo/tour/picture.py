"""The picture: every station's contents after each hop, as JSON.

The thread that made the hop paints it, maybe under locks of the machinery. So painting takes no lock: it reads by
`contents()`, and keeps the reflector's and the workers' state from the hops.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, ClassVar

from clientgo.apimachinery.runtime import Object
from clientgo.tools import cache
from clientgo.tour.hop import Code, Hop
from clientgo.tour.secrecy import item_text
from clientgo.tour.taps import arguments_of, key_of, queued_at, version_of

__all__ = ["Json", "Painter", "Scene"]

Json = dict[str, Any]

_NEW_REFLECTOR: Json = {
    "state": "idle",
    "version": "",
    "lines": 0,
    "bookmarks": 0,
    "lists": 0,
    "watches": 0,
    "error": "",
}
# How much of the API server's history is shown.
_HISTORY = 12
_EVENTS, _LEASES = "/events", "coordination.k8s.io/leases"


@dataclass(kw_only=True)
class Scene:
    """The structures of a picture. None stands for a structure that does not exist yet; it is not shown."""

    store: Any = None
    """The API server's store."""
    server: Callable[[], Json] | None = None
    """Returns the API server's view where there is no store."""
    resources: tuple[str, ...] = ()
    """The resources of the store in the picture, by their buckets."""
    wire: Any = None
    informers: list[Any] = field(default_factory=list)
    queue: Any = None
    turns: int = 0
    """Number of calls of `turn_to`."""

    def turn_to(self, *, wire: Any, informers: list[Any], queue: Any) -> None:
        """Paint these structures from now on, without any state from earlier hops."""
        self.wire, self.informers, self.queue = wire, informers, queue
        self.turns += 1


class Painter:
    """The painter of one run's pictures. Not thread-safe: one hop at a time, as in a bubble.

    With several informers, reflector, FIFO and indexer have a view for each, in `informers`; handlers name theirs.
    """

    def __init__(self, scene: Scene, *, most: int = sys.maxsize) -> None:
        """Shorten lists to `most` entries and add their lengths."""
        self.scene = scene
        self._most = most
        self.objects: dict[str, Json] = {}
        """Every state of every shown object, by its reference: "namespace/name@version"."""
        self._election: dict[str, Json] = {}
        self._forget()

    def _forget(self) -> None:
        """Drop the state from earlier hops: another replica is painted from now on."""
        self._turns = self.scene.turns
        self._parts = [informer.parts() for informer in self.scene.informers]
        self._reflectors = [dict(_NEW_REFLECTOR) for _ in self._parts]
        # The number of the informer whose reflector runs in a thread.
        self._threads: dict[threading.Thread, int] = {}
        self._workers: dict[str, Json] = {}
        # The thread in which a worker reconciles, and the code of the hop.
        self._reconciling: dict[str, tuple[threading.Thread, Code]] = {}
        self._handlers: dict[str, Json] = {}
        self._events: Json = {}

    def paint(self, hop: Hop) -> dict[str, Json]:
        """Return each station's view after `hop`."""
        if self._turns != self.scene.turns:
            self._forget()
        # An informer creates its parts when it starts.
        self._parts = [informer.parts() for informer in self.scene.informers]
        if hop.object is not None:
            self._reference(hop.object, hop.version)
        remember = self._remember.get(hop.station)
        if remember is not None:
            remember(self, hop)
        return {
            "apiserver": self._paint_server(),
            "reflector": self._of_each([dict(each) for each in self._reflectors]),
            "fifo": self._of_each([self._paint_fifo(parts.fifo) for parts in self._parts]),
            "indexer": self._of_each([self._paint_indexer(parts.indexer) for parts in self._parts]),
            "handlers": self._paint_handlers(),
            "queue": self._paint_queue(),
            "workers": self._paint_workers(),
            "events": self._paint_events(),
            "election": self._paint_election(),
        }

    def _of_each(self, views: list[Json]) -> Json:
        if len(views) < 2:
            return views[0] if views else {}
        return {"informers": [{"kind": _kind(parts), **view} for parts, view in zip(self._parts, views, strict=True)]}

    def _reference(self, obj: Any, version: str = "") -> str:
        """Add an object's state to `objects` and return its reference; "" for other values."""
        if isinstance(obj, cache.Delta):
            obj = obj.object
        if isinstance(obj, cache.DeletedFinalStateUnknown):
            obj = obj.obj
        if isinstance(obj, Object):
            key, version = key_of(obj), version_of(obj)
            if f"{key}@{version}" in self.objects:
                return f"{key}@{version}"
            document = obj.to_dict()
        elif isinstance(obj, dict) and "metadata" in obj:
            metadata = obj["metadata"]
            key = "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
            document, version = obj, metadata.get("resourceVersion", version)
        else:
            return ""
        reference = f"{key}@{version}"
        if reference not in self.objects:
            self.objects[reference] = _readable(document)
        return reference

    # ---- state from hops

    def _informer_of(self, hop: Hop) -> int:
        """Return the number of the informer whose reflector made a hop."""
        thread = threading.current_thread()
        for number, parts in enumerate(self._parts):
            if hop.owner is parts.reflector:
                self._threads[thread] = number
        # A line of the watch may be the first hop of its thread.
        kinds = [_kind(parts) for parts in self._parts]
        kind = type(hop.object).__name__
        return self._threads.get(thread, kinds.index(kind) if kind in kinds else 0)

    def _remember_reflector(self, hop: Hop) -> None:
        if not self._reflectors:
            return
        known = self._reflectors[self._informer_of(hop)]
        kind, more = hop.kind, hop.more
        if kind == "list":
            known.update(state="listing", lists=known["lists"] + 1)
        elif kind == "listed":
            known.update(version=hop.version, error="")
        elif kind == "watch":
            known.update(state="watching", version=hop.version, watches=known["watches"] + 1)
        elif kind == "line":
            # The line of an error has no version.
            known.update(version=hop.version or known["version"], lines=known["lines"] + 1, error="")
        elif kind == "bookmark":
            known.update(version=hop.version, bookmarks=known["bookmarks"] + 1, error="")
        elif kind in ("ended", "failed"):
            known.update(state="idle", error=more.get("error", ""))
        elif kind == "backoff":
            known.update(state="waiting", error=more.get("error", ""))

    def _remember_handlers(self, hop: Hop) -> None:
        known = self._handlers.setdefault(hop.more.get("handler", ""), {"calls": 0, "raised": 0})
        if hop.kind == "called":
            known["calls"] += 1
        elif hop.kind == "raised":
            known["raised"] += 1

    def _remember_queue(self, hop: Hop) -> None:
        if hop.kind == "taken":
            self._workers[hop.thread] = {"key": hop.key, "doing": "took", "error": ""}
        elif hop.kind in ("done", "requeued") and hop.thread in self._workers:
            self._workers[hop.thread] = {"key": "", "doing": "waits", "error": ""}

    def _remember_workers(self, hop: Hop) -> None:
        doing = {"reconcile": "reconciles", "ok": "succeeded", "error": "failed"}[hop.kind]
        error = hop.more.get("error", "")
        self._workers[hop.thread] = {"key": hop.key, "doing": doing, "error": error}
        if hop.kind == "reconcile":
            self._reconciling[hop.thread] = threading.current_thread(), hop.code
        else:
            self._reconciling.pop(hop.thread, None)

    def _remember_events(self, hop: Hop) -> None:
        known = self._events or {"recorded": 0, "written": 0, "dropped": 0, "failed": 0}
        if hop.kind in known:
            known[hop.kind] += 1
        self._events = known

    def _remember_election(self, hop: Hop) -> None:
        known = self._election.setdefault(hop.key, {"leads": False, "leader": "", "tries": 0})
        if hop.kind in ("leading", "stopped"):
            known["leads"] = hop.kind == "leading"
        else:
            known["tries"] += 1
        known["leader"] = hop.more["leader"]

    _remember: ClassVar[Mapping[str, Callable[[Painter, Hop], None]]] = {
        "reflector": _remember_reflector,
        "handlers": _remember_handlers,
        "queue": _remember_queue,
        "workers": _remember_workers,
        "events": _remember_events,
        "election": _remember_election,
    }

    # ---- state that is read

    def _paint_server(self) -> Json:
        scene = self.scene
        if scene.store is None:
            return {} if scene.server is None else scene.server()
        contents = [scene.store.contents(resource) for resource in scene.resources]
        objects = [
            {"key": stored.key, "version": str(stored.rv), **self._about_stored(stored)}
            for items, _, _ in contents
            for stored in sorted(items, key=lambda stored: stored.key)
        ]
        events = sorted((event for _, log, _ in contents for event in log[-_HISTORY:]), key=lambda event: event.rv)
        history = [
            {"type": event.type, "key": event.new.key, "version": str(event.rv), **self._about_stored(event.new)}
            for event in events[-_HISTORY:]
        ]
        return {
            "version": str(scene.store.version),
            "objects": objects,
            "history": history,
            "oldest": str(contents[0][2]),
            "wire": scene.wire.state() if scene.wire is not None else "up",
        }

    def _about_stored(self, stored: Any) -> Json:
        reference = {"ref": self._reference(stored.obj)}
        return reference if len(self.scene.resources) == 1 else {**reference, "kind": stored.obj["kind"]}

    def _delta(self, delta: Any) -> Json:
        shown = {
            "type": str(delta.type),
            "version": version_of(delta),
            "ref": self._reference(delta),
            "tombstone": isinstance(delta.object, cache.DeletedFinalStateUnknown),
        }
        listed = getattr(delta.object, "objects", None)
        if listed is not None:
            shown["keys"] = self._few([key_of(obj) for obj in listed[: self._most]], len(listed))
        return shown

    def _paint_fifo(self, fifo: Any) -> Json:
        if fifo is None:
            return {}
        contents = fifo.contents()
        return {
            "name": type(fifo).__name__,
            "keys": [
                {"key": key, "deltas": [self._delta(delta) for delta in deltas]}
                for key, deltas in contents.deltas[: self._most]
            ],
            "length": len(contents.deltas),
            "initialLeft": contents.initial_left,
            "synced": contents.synced,
        }

    def _paint_indexer(self, indexer: Any) -> Json:
        contents = indexer.contents()
        objects = [
            {"key": key, "version": version_of(obj), "ref": self._reference(obj)}
            for key, obj in sorted(itertools.islice(contents.items.items(), self._most))
        ]
        indices = {
            name: {
                value: self._few(sorted(itertools.islice(keys, self._most)), len(keys))
                for value, keys in sorted(itertools.islice(index.items(), self._most))
            }
            for name, index in sorted(contents.indices.items())
        }
        view = {"objects": objects, "indices": indices, "version": contents.resource_version}
        return {**view, "facts": [["length", len(contents.items)]]} if len(contents.items) > self._most else view

    def _few(self, keys: list[str], total: int) -> list[str]:
        return keys if total <= self._most else [*keys, f"+{total - self._most}"]

    def _totals(self, **lengths: int) -> Json:
        """Return the full lengths of lists, in `totals`, if a list is shown only in part."""
        return {"totals": lengths} if max(lengths.values()) > self._most else {}

    def _notice(self, notification: Any) -> Json:
        method, obj, _ = arguments_of(notification)
        return {
            "method": method,
            "key": key_of(obj),
            "version": version_of(obj),
            "ref": self._reference(obj),
            "tombstone": isinstance(obj, cache.DeletedFinalStateUnknown),
            "queued": queued_at(notification),
        }

    def _paint_handlers(self) -> Json:
        return {"handlers": [self._paint_handler(parts, each) for parts in self._parts for each in parts.handlers]}

    def _paint_handler(self, parts: Any, handler: Any) -> Json:
        contents = handler.contents()
        delivering = contents.delivering
        view = {
            "name": contents.handler,
            "pending": [self._notice(each) for each in contents.pending[: self._most]],
            "taken": [self._notice(each) for each in contents.taken[: self._most]],
            "delivering": None if delivering is None else self._notice(delivering),
            **self._totals(pending=len(contents.pending), taken=len(contents.taken)),
            **self._handlers.get(contents.handler, {"calls": 0, "raised": 0}),
        }
        return view if len(self._parts) == 1 else {"informer": _kind(parts), **view}

    def _paint_workers(self) -> Json:
        frames = sys._current_frames() if self._reconciling else {}
        workers = {}
        for name, worker in sorted(self._workers.items()):
            line, reached, text = 0, 0, ""
            if name in self._reconciling:
                thread, code = self._reconciling[name]
                line, reached, text = _line_of(frames.get(thread.ident or 0), code)
            workers[name] = {**worker, "line": line, "reached": reached, "text": text}
        return {"workers": workers}

    def _paint_events(self) -> Json:
        if not self._events:
            return {}
        stored = sorted(self.scene.store.contents(_EVENTS)[0], key=lambda each: each.obj["metadata"]["name"])
        written = [
            {
                "key": f"{each.obj['involvedObject'].get('namespace', '')}/{each.obj['involvedObject']['name']}",
                "reason": each.obj["reason"],
                "message": each.obj["message"],
                "count": each.obj["count"],
                "version": str(each.rv),
            }
            for each in stored
        ]
        return {**self._events, "stored": written}

    def _paint_election(self) -> Json:
        if not self._election:
            return {}
        leases = [each.obj["spec"] for each in self.scene.store.contents(_LEASES)[0]]
        return {
            "candidates": {name: dict(known) for name, known in sorted(self._election.items())},
            "holder": leases[0].get("holderIdentity", "") if leases else "",
            "transitions": leases[0].get("leaseTransitions", 0) if leases else 0,
        }

    def _paint_queue(self) -> Json:
        if self.scene.queue is None:
            return {}
        contents, most = self.scene.queue.contents(), self._most
        shown = contents.order[:most]
        failures = sorted(contents.failures.items(), key=lambda each: item_text(each[0]))
        return {
            "order": [item_text(item) for item in shown],
            "dirty": sorted(map(item_text, contents.dirty))[:most],
            "processing": sorted(map(item_text, contents.processing))[:most],
            "waiting": [{"key": item_text(item), "due": round(due, 6)} for due, item in contents.waiting[:most]],
            "failures": {item_text(item): count for item, count in failures[:most]},
            "priorities": {
                item_text(item): each
                for item, each in sorted(contents.priorities.items(), key=lambda each: item_text(each[0]))
                if most == sys.maxsize or item in shown
            },
            **self._totals(
                order=len(contents.order),
                dirty=len(contents.dirty),
                processing=len(contents.processing),
                waiting=len(contents.waiting),
                failures=len(contents.failures),
            ),
        }


def _kind(parts: Any) -> str:
    """Return the name of the objects' class: Foo for *v1alpha1.Foo."""
    kind: str = parts.kind
    return kind.rpartition(".")[2]


def _line_of(frame: FrameType | None, code: Code) -> tuple[int, int, str]:
    """Return the line a thread is at in a function, the line it reached from there in the same file, and its text."""
    reached, text = 0, ""
    while frame is not None:
        if frame.f_code.co_filename.endswith(code.file):
            if not reached:
                reached = frame.f_lineno
                text = linecache.getline(frame.f_code.co_filename, reached).strip()
            if frame.f_code.co_firstlineno == code.first:
                return frame.f_lineno, reached, text
        frame = frame.f_back
    return 0, 0, ""


def _readable(document: Json) -> Json:
    """Return the object without managedFields, which are longer than all other fields."""
    metadata = {name: value for name, value in document.get("metadata", {}).items() if name != "managedFields"}
    return {**document, "metadata": metadata}
