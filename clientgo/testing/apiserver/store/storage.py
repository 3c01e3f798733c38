"""The object store: one strictly increasing resourceVersion over everything, snapshots and a bounded history.

It takes the place of etcd and of the watch cache. Stored objects are never changed in place, so every holder may read
them without a lock. A write is a compare-and-swap on the resourceVersion. Paging and exact lists need the state at an
older version; undoing the history yields it.
"""

from __future__ import annotations

import builtins
import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from clientgo.hops import hop
from clientgo.klog.exceptions import operational_error
from clientgo.testing.apiserver.wire.jsonio import REPLACEMENT, Json, dumps, dumps_exact
from clientgo.utils.clock import Clock

DEFAULT_HISTORY = 10_000
# Of all events of one resource, as they were encoded: few large objects must not keep as many versions as small ones.
MAX_HISTORY_BYTES = 64 * 1024 * 1024


class Exists(Exception):
    """The error of `create` when the key exists already."""


class Missing(Exception):
    """The error of `update` and `delete` when no object has the key."""


class Changed(Exception):
    """The error of `update` and `delete` when the object does not have the expected version."""


class Compacted(Exception):
    """The error for a version that is older than the history. `oldest` is the oldest available version."""

    def __init__(self, oldest: int) -> None:
        super().__init__(oldest)
        self.oldest = oldest


@operational_error
class Unwritten(OSError):
    """The error of a write that the journal could not store. The store has not changed."""


class Stored:
    """One version of one object; immutable."""

    __slots__ = ("_message", "_raw", "key", "obj", "rv")

    def __init__(self, key: str, obj: Json, rv: int) -> None:
        self.key = key
        self.obj = obj
        self.rv = rv
        self._raw: bytes | None = None
        self._message: bytes | None = None

    @property
    def namespace(self) -> str:
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def raw(self) -> bytes:
        """The object as JSON, made once."""
        raw = self._raw
        if raw is None:
            raw = self._raw = dumps(self.obj)
        return raw

    @property
    def exact(self) -> bytes:
        """The object as JSON that `loads_exact` reads back unchanged, also texts that are not valid UTF-8."""
        raw = self.raw
        return dumps_exact(self.obj) if REPLACEMENT in raw else raw

    def message(self, encode: Callable[[Json], bytes]) -> bytes:
        """Return the object as protobuf in its envelope. Encoded once."""
        message = self._message
        if message is None:
            message = self._message = encode(self.obj)
        return message

    @property
    def size(self) -> int:
        """The number of bytes of its encoding; 0 before the first encoding."""
        return len(self._raw or b"") + len(self._message or b"")

    def __repr__(self) -> str:
        return f"<Stored {self.key} @{self.rv}>"


class Event:
    """One change. For DELETED, `new` is the last state with the version of the deletion."""

    __slots__ = ("new", "old", "rv", "type", "weight")

    def __init__(self, kind: str, old: Stored | None, new: Stored) -> None:
        self.type = kind
        self.old = old
        self.new = new
        self.rv = new.rv
        # The bytes it is counted for in its bucket.
        self.weight = 0

    def __repr__(self) -> str:
        return f"<Event {self.type} {self.new.key} @{self.rv}>"


class Bucket:
    """All objects of one resource.

    Invariants (`_check`): keys is sorted and has exactly the keys of items; log is ordered by rv; every event in log
    has rv > compacted; weight is the sum of the events' weights.
    """

    __slots__ = ("_listing", "compacted", "items", "keys", "log", "name", "weight")

    def __init__(self, name: str, compacted: int) -> None:
        self.name = name
        self.items: dict[str, Stored] = {}
        self.keys: list[str] = []
        self.log: list[Event] = []
        # Versions below this one cannot be watched from or listed any more.
        self.compacted = compacted
        self.weight = 0
        self._listing: list[Stored] | None = None

    def put(self, stored: Stored) -> None:
        """Add an object or replace it."""
        self._listing = None
        if stored.key not in self.items:
            insort(self.keys, stored.key)
        self.items[stored.key] = stored

    def remove(self, key: str) -> None:
        """Remove an object."""
        self._listing = None
        del self.items[key]
        del self.keys[bisect_left(self.keys, key)]

    def listing(self, prefix: str) -> list[Stored]:
        """Return the objects whose keys start with `prefix`, in key order. No caller changes the list.

        Without a prefix all callers share one list until the next change. Each of the watches that begin together would
        make its own otherwise, which takes a tenth of a second for a million objects, with the store's lock held.
        """
        if not prefix:
            if self._listing is None:
                self._listing = [self.items[key] for key in self.keys]
            return self._listing
        low = bisect_left(self.keys, prefix)
        high = bisect_left(self.keys, prefix[:-1] + chr(ord(prefix[-1]) + 1), low)
        return [self.items[key] for key in self.keys[low:high]]

    def remember(self, event: Event, history: int) -> None:
        """Add an event to the log; one too many, or too many bytes, and the older half goes."""
        log = self.log
        if log:
            # It was most likely encoded for the answer by now, and that costs nothing to measure.
            before = log[-1]
            before.weight = before.new.size
            self.weight += before.weight
        log.append(event)
        if len(log) > 2 * history:
            self._forget(len(log) - history)
        elif self.weight > MAX_HISTORY_BYTES:
            self._forget(self._heavy_half())

    def _heavy_half(self) -> int:
        """Return the number of oldest events that make up half of the weight."""
        left, count = self.weight, 0
        while left > MAX_HISTORY_BYTES // 2:
            left -= self.log[count].weight
            count += 1
        return count

    def forget_until(self, version: int) -> None:
        """Discard the events up to a version."""
        if version > self.compacted:
            self._forget(bisect_right(self.log, version, key=lambda event: event.rv))
            self.compacted = version

    def _forget(self, count: int) -> None:
        if count:
            self.compacted = self.log[count - 1].rv
            self.weight -= sum(event.weight for event in self.log[:count])
            del self.log[:count]

    def _check(self) -> None:
        assert self.keys == sorted(self.items)
        versions = [event.rv for event in self.log]
        assert versions == sorted(set(versions))
        assert not versions or versions[0] > self.compacted
        assert self.weight == sum(event.weight for event in self.log)
        assert self._listing is None or self._listing == [self.items[key] for key in self.keys]

    def __repr__(self) -> str:
        return f"<Bucket {self.name} {len(self.items)} objects, {len(self.log)} events after {self.compacted}>"


class Contents(NamedTuple):
    """The objects of a store at one version. Several stores may start with them, since no store changes an object."""

    version: int
    objects: tuple[tuple[str, Stored], ...]
    """Buckets and objects."""


class Journal(Protocol):
    """The log to which a persistent store writes each change before it acknowledges the change."""

    def write(self, bucket: str, key: str, raw: bytes | None, rv: int) -> None:
        """Keep one change, or raise Unwritten."""
        ...

    def close(self) -> None: ...


class Store:
    """Thread-safe; no method blocks except wait_for_version."""

    def __init__(
        self,
        clock: Clock,
        *,
        history: int = DEFAULT_HISTORY,
        journal: Journal | None = None,
        start: int = 0,
    ) -> None:
        self.clock = clock
        self.history = history
        self._journal = journal
        # Guards everything below. Held for dictionary work and the journal, never while a request is computed.
        self._cond = threading.Condition()
        self._waiters = 0
        self._rv = start
        self._start = start
        self._buckets: dict[str, Bucket] = {}
        self._listeners: list[Callable[[str, Event], None]] = []

    def __repr__(self) -> str:
        return f"<Store @{self._rv} {len(self._buckets)} resources>"

    @property
    def version(self) -> int:
        return self._rv

    def subscribe(self, listener: Callable[[str, Event], None]) -> None:
        """Call `listener` under the lock with (bucket name, event) from now on; it is quick and does not call back."""
        with self._cond:
            self._listeners.append(listener)

    def load(self, bucket: str, key: str, obj: Json, rv: int) -> None:
        """Put back an object from the journal; only before the first request."""
        self._bucket(bucket).put(Stored(key, obj, rv))

    def load_all(self, contents: Contents) -> None:
        """Put back the contents of another store; only before the first request."""
        for name, stored in contents.objects:
            self._bucket(name).put(stored)

    def all_contents(self) -> Contents:
        """Return all objects and their version."""
        with self._cond:
            found = [(bucket.name, each) for bucket in self._buckets.values() for each in bucket.items.values()]
            return Contents(self._rv, tuple(found))

    def _bucket(self, name: str) -> Bucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets.setdefault(name, Bucket(name, self._start))
        return bucket

    # ---- reading

    def get(self, bucket: str, key: str) -> Stored | None:
        known = self._buckets.get(bucket)
        return None if known is None else known.items.get(key)

    def buckets(self) -> builtins.list[str]:
        with self._cond:
            return sorted(self._buckets)

    def count(self, bucket: str) -> int:
        known = self._buckets.get(bucket)
        return 0 if known is None else len(known.items)

    def list(self, bucket: str, prefix: str = "", at: int | None = None) -> tuple[int, builtins.list[Stored]]:
        """Return the objects whose keys start with `prefix`, in key order, now or at version `at`. Raises Compacted."""
        with self._cond:
            known = self._bucket(bucket)
            if at is None or at >= self._rv:
                return self._rv, known.listing(prefix)
            if at < known.compacted:
                raise Compacted(known.compacted)
            return at, self._as_of(known, prefix, at)

    def _as_of(self, bucket: Bucket, prefix: str, at: int) -> builtins.list[Stored]:
        """Undo the changes after `at`."""
        changed: dict[str, Stored | None] = {}
        for event in reversed(bucket.log):
            if event.rv <= at:
                break
            if event.new.key.startswith(prefix):
                changed[event.new.key] = event.old
        kept = [stored for stored in bucket.listing(prefix) if stored.key not in changed]
        return sorted([*kept, *filter(None, changed.values())], key=lambda stored: stored.key)

    def contents(self, bucket: str) -> tuple[builtins.list[Stored], builtins.list[Event], int]:
        """Return the objects of a resource, its history, and the version below which the history is discarded.

        Takes no lock, so it may be called from anywhere.
        """
        known = self._buckets.get(bucket)
        if known is None:
            return [], [], 0
        return builtins.list(known.items.values()), builtins.list(known.log), known.compacted

    def follow(
        self, bucket: str, prefix: str, since: int | None, attach: Callable[[int, builtins.list[Any]], None]
    ) -> None:
        """Begin a watch: `attach(version, first)` is called, under the lock, before any later event is dispatched.

        `first` is what to send at once: the current objects (Stored) when since is None, else the events after `since`
        (raises Compacted when the history does not reach back so far).
        """
        with self._cond:
            known = self._bucket(bucket)
            if since is None:
                first: builtins.list[Any] = known.listing(prefix)
            elif since < known.compacted:
                raise Compacted(known.compacted)
            else:
                at = bisect_right(known.log, since, key=lambda event: event.rv)
                first = [event for event in known.log[at:] if event.new.key.startswith(prefix)]
            attach(self._rv, first)

    def wait_for_version(self, version: int, timeout: float) -> bool:
        """Block until the store is at `version`, at most `timeout` seconds."""
        end = self.clock.now() + timeout
        with self._cond:
            self._waiters += 1
            try:
                while self._rv < version:
                    left = end - self.clock.now()
                    if left <= 0:
                        return False
                    self.clock.wait(self._cond, left)
                return True
            finally:
                self._waiters -= 1

    # ---- writing

    @hop("apiserver.create", go="(*Store).Create", go_file="apiserver/pkg/registry/generic/registry/store.go")
    def create(self, bucket: str, key: str, obj: Json) -> Stored:
        """Store a new object; sets metadata.resourceVersion in `obj`, which then belongs to the store."""
        with self._cond:
            known = self._bucket(bucket)
            if key in known.items:
                raise Exists(key)
            new = self._stamp(key, obj)
            self._commit(known, Event("ADDED", None, new))
            return new

    @hop("apiserver.update", go="(*Store).Update", go_file="apiserver/pkg/registry/generic/registry/store.go")
    def update(self, bucket: str, key: str, obj: Json, expected: int) -> Stored:
        with self._cond:
            known, old = self._current(bucket, key, expected)
            new = self._stamp(key, obj)
            self._commit(known, Event("MODIFIED", old, new))
            return new

    @hop("apiserver.delete", go="(*Store).Delete", go_file="apiserver/pkg/registry/generic/registry/store.go")
    def delete(self, bucket: str, key: str, expected: int, last: Json | None = None) -> Stored:
        """Remove the object; `last` is the state to show, by default the stored one."""
        with self._cond:
            known, old = self._current(bucket, key, expected)
            obj = dict(old.obj if last is None else last)
            obj["metadata"] = dict(obj["metadata"])
            new = self._stamp(key, obj)
            self._commit(known, Event("DELETED", old, new))
            return new

    def drop(self, bucket: str) -> None:
        """Forget a resource and its history; watchers are the caller's business."""
        with self._cond:
            known = self._buckets.get(bucket)
            if known is not None and self._journal is not None:
                for key in known.keys:
                    self._journal.write(bucket, key, None, self._rv)
            self._buckets.pop(bucket, None)

    def _current(self, bucket: str, key: str, expected: int) -> tuple[Bucket, Stored]:
        known = self._bucket(bucket)
        old = known.items.get(key)
        if old is None:
            raise Missing(key)
        if old.rv != expected:
            raise Changed(key)
        return known, old

    def _stamp(self, key: str, obj: Json) -> Stored:
        rv = self._rv + 1
        metadata = obj["metadata"]
        if "resourceVersion" in metadata:
            metadata["resourceVersion"] = str(rv)
        else:
            obj["metadata"] = with_version(metadata, rv)
        return Stored(key, obj, rv)

    def _commit(self, bucket: Bucket, event: Event) -> None:
        key = event.new.key
        if self._journal is not None:
            gone = event.type == "DELETED"
            self._journal.write(bucket.name, key, None if gone else event.new.exact, event.rv)
        self._rv = event.rv
        if event.type == "DELETED":
            bucket.remove(key)
        else:
            bucket.put(event.new)
        bucket.remember(event, self.history)
        for listener in self._listeners:
            listener(bucket.name, event)
        if self._waiters:
            self._cond.notify_all()

    @hop("apiserver.compact", go_file="etcd's compaction")
    def compact(self, version: int) -> None:
        """Discard the history up to `version`, as etcd's compaction does."""
        with self._cond:
            version = min(version, self._rv)
            self._start = max(self._start, version)
            for bucket in self._buckets.values():
                bucket.forget_until(version)

    def close(self) -> None:
        with self._cond:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def check(self) -> None:
        with self._cond:
            for bucket in self._buckets.values():
                bucket._check()

    def walk(self) -> Iterator[tuple[str, Stored]]:
        """Yield every current object of every resource."""
        with self._cond:
            everything = [(name, stored) for name, bucket in self._buckets.items() for stored in bucket.items.values()]
        return iter(everything)


_BEFORE_VERSION = ("name", "generateName", "namespace", "selfLink", "uid")


def with_version(metadata: Json, rv: int) -> Json:
    """Return the metadata with resourceVersion at its place in the Go struct."""
    out = {name: metadata[name] for name in _BEFORE_VERSION if name in metadata}
    out["resourceVersion"] = str(rv)
    out.update((name, value) for name, value in metadata.items() if name not in out)
    return out
