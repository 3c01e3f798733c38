"""A hop: one event of one object at one station of the machinery; and the format of a stream of hops.

A tour is a stream of hops. `Hop.to_dict` returns a hop as JSON; a file has one hop a line (JSON Lines). The fields:

    number    its place in the stream, from 0
    station   where: one of STATIONS
    kind      the event: one of KINDS[station]
    key       the object's key: "namespace/name"; in a work queue the item as text; "" without an object
    time      seconds since the tour was attached, of the clock that the machinery uses
    thread    the name of the thread that made it
    version   the object's resourceVersion, or the request's; "" for none
    old       the resourceVersion before; "" for none
    merged    the deltas with which it was merged, or for which it was dropped: "Added @7" ...; [] for none
    more      further facts by kind: the delay, the error, the number of objects ...
    code      the place in the source: file, function, Go's file and function, the lines that ran, the caller's line

Later versions may add kinds and fields; readers skip unknown ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KINDS", "STATIONS", "Code", "Hop"]

KINDS: Mapping[str, Mapping[str, str]] = {
    "apiserver": {
        "created": "an object was created",
        "updated": "an object was changed",
        "deleted": "an object was deleted",
        "terminating": "an object that is being deleted was changed, and waits for its finalizers",
        "collected": "the garbage collector deletes an object, since its owners are gone or going",
        "compacted": "the history was forgotten",
    },
    "reflector": {
        "list": "the API server is asked for all objects",
        "listed": "the list is there, and goes into the FIFO",
        "watch": "a watch is opened, from a version on",
        "line": "a line of the watch was read",
        "bookmark": "nothing changed up to a version",
        "ended": "a watch ended",
        "failed": "a list, or a watch, failed",
        "backoff": "it waits before it tries again",
    },
    "fifo": {
        "queued": "a delta was queued",
        "appended": "a delta was put behind others of its key",
        "merged": "two deletions became one",
        "popped": "deltas were taken out, to be processed",
        "resync": "everything known is queued once more",
    },
    "indexer": {
        "stored": "the object is new in the cache",
        "replaced": "the cache has a newer state of the object",
        "removed": "the object is not in the cache any more",
        "relisted": "the cache holds a new list",
    },
    "handlers": {
        "buffered": "a notification was put into a handler's buffer",
        "taken": "the handler's thread took the whole buffer (Go's takes one notification at a time)",
        "called": "the handler is called",
        "returned": "the handler returned",
        "raised": "the handler raised",
    },
    "queue": {
        "added": "the key is ready to be worked on",
        "duplicate": "the key waits already: nothing to do",
        "marked": "the key is being worked on: it will be queued again when that is done",
        "taken": "a worker took the key",
        "done": "the worker is done with the key",
        "requeued": "the worker is done, and the key is queued again, since it was added meanwhile",
        "failure": "one more failure is counted, and says how long to wait",
        "waits": "the key waits on the heap",
        "sooner": "the key waits already, for a time that is earlier",
        "raised": "the key is ready already, and gets a higher priority",
        "due": "the key has waited long enough",
        "forgotten": "its failures are forgotten",
    },
    "workers": {
        "reconcile": "the key's object is looked at",
        "ok": "all is as it should be",
        "error": "it went wrong",
    },
    "events": {
        "recorded": "the controller tells what it did",
        "new": "the correlator lets an event through: there was none like it",
        "counted": "it was there before: its count grows",
        "combined": "many like it, with other messages: one stands for all",
        "dropped": "too many about one object: it is dropped",
        "written": "the event was written to the API",
        "failed": "the event could not be written",
    },
    "election": {
        "acquired": "a candidate has got the lease",
        "renewed": "the leader has renewed its lease",
        "held": "a candidate has not got the lease: another holds it, as far as it knows",
        "failed": "the lease could not be read or written",
        "leading": "a candidate begins to lead",
        "stopped": "it leads no more",
    },
}
"""For each station, in the order of an object's way, its kinds of hops with a description."""

STATIONS = tuple(KINDS)


@dataclass(frozen=True, slots=True)
class Code:
    """The place in the source where a hop happened."""

    file: str
    """The module's path from the folder that holds `clientgo`, or the program's file."""

    function: str
    """With its class: "Typed.add"."""

    go_file: str
    go_function: str

    first: int
    """The function's first line."""

    lines: tuple[int, ...]
    """The lines of the function that ran, in order; empty without a request for them."""

    caller: str
    """The caller, as file:line."""

    def to_dict(self) -> dict[str, Any]:
        """Return the place as JSON."""
        return {
            "file": self.file,
            "function": self.function,
            "goFile": self.go_file,
            "goFunction": self.go_function,
            "first": self.first,
            "lines": list(self.lines),
            "caller": self.caller,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """See the module."""

    number: int
    station: str
    kind: str
    key: str
    time: float
    thread: str
    version: str = ""
    old: str = ""
    merged: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    code: Code
    object: Any = field(default=None, repr=False)
    """The object itself, for who runs in the same process; no part of the stream, as the next."""
    owner: Any = field(default=None, repr=False)
    """The structure at which it happened: the queue, the store ..."""

    def to_dict(self) -> dict[str, Any]:
        """Return the hop as JSON, without the object."""
        return {
            "number": self.number,
            "station": self.station,
            "kind": self.kind,
            "key": self.key,
            "time": self.time,
            "thread": self.thread,
            "version": self.version,
            "old": self.old,
            "merged": list(self.merged),
            "more": dict(self.more),
            "code": self.code.to_dict(),
        }

    def __str__(self) -> str:
        version = f" @{self.version}" if self.version else ""
        return f"{self.number:4} +{self.time:.3f}s {self.station}.{self.kind} {self.key}{version}  [{self.thread}]"
