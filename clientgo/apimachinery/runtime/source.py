"""The sources of an object's fields: a document, or the JSON text or protobuf message that arrived. No Go file.

Go decodes an object when it arrives. A controller caches tens of thousands of objects and reads a few fields of a few
of them, so here an object keeps the bytes that arrived until a field is read. Every object has exactly one source:

* a document, a plain dict, which holds everything (`Struct.from_dict`);
* a `TextSource`, the text of a JSON object (needs the extra `fast`);
* a `MessageSource`, a protobuf message;
* a `ListSource`, for a list whose items are objects already.

A dict is used as it is. `Source` is the protocol of the others: `key` and `version` return the fields that the informer
machinery reads of every object, `get` reads a field, `document` returns the document, `copy` starts another object of
the same bytes. `get` returns what the dict's own `get` would: a scalar, a dict, a list, or a `Part`, which reads like
the dict or list that it will become. `test/property/test_lazy_objects.py` compares every field of every kind.

**Threads.** Objects follow Go's rule: any number of threads may read, and a thread that writes must be the only user. A
frozen object refuses writes, so any thread may use it. This is why the implementations obey that rule without holding
a lock while they decode, with the GIL and without it:

* The bytes, and the key and version of a source, do not change after the object's creation.
* A document is built completely before it is stored. The write that needs it then replaces the object's source in one
  assignment. A thread that has loaded the old source still reads correct values from it. If another thread froze the
  object in between, the source stays and the write raises ReadOnlyError.
* A frozen object is never turned into a document. The parts that a thread read last are kept per thread (see
  `_recent`). Views that threads pass to each other share parts, and a part only caches: two threads that miss compute
  equal values, and `dict.setdefault` picks one of them for both.
* An object that may be written to keeps its parts, because views of them must follow a write. `_LOCK` makes two steps
  atomic: to keep a new part (`Part.keep`), and to link all parts to the document (`Part.turn`). After `turn` every part
  refers to its place in the document, and every dict or list that was handed out *is* that place. A part is linked
  after everything in it. Therefore two threads
  that decode the same object end with the same document, and no view is left behind.
* A reader without the lock looks at `written` first and at the cache second. If another thread turns the object in
  between, the reader misses the emptied cache or gets a part that is linked already; `keep` looks at `written` again.
* The protobuf engines share tables that only grow; a race stores an equal entry twice. Messages of the `protobuf`
  package are only read after they are parsed, which is safe under the GIL; without a GIL this package is not used.

`test/unit/apimachinery/runtime/test_source_threads.py` searches interleavings of read, read, write and freeze.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import ItemsView, Iterator, Mapping
from typing import Any, Final, Self

JSONObject = dict[str, Any]

# Guards the parts of objects that may be written to; see the module's docstring. Not held while anything is decoded.
_LOCK: Final = threading.Lock()


class Lazy:
    """A JSON value that is not decoded, or only in part."""

    __slots__ = ()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return an entry as JSON or as a Part; `default` if it is absent. Only `Part.written` may be changed."""
        raise NotImplementedError

    def snapshot(self) -> Any:
        """Return the value in plain dicts and lists, to be read only. O(size)."""
        raise NotImplementedError

    def key_of(self, value: object) -> Any:
        """Return the key of a part, dict or list that was handed out; None if it was not, or not lately."""
        raise NotImplementedError


class Part(Lazy):
    """A JSON object or array inside an undecoded object. Reads like the dict or list in the document."""

    __slots__ = ("is_free", "kept", "written")

    def __init__(self, is_free: bool) -> None:
        """Create a part. `is_free` means that the object may be written to."""
        self.is_free = is_free
        # The parts, dicts and lists that were handed out, by key or index.
        self.kept: dict[Any, Any] = {}
        # The place in the document, once the object is turned into one; None before.
        self.written: Any = None

    def read(self, key: Any) -> Any:
        """Decode and return an entry, or return None if there is none. Raises ValueError.

        Keeps the result if it is a part, a dict or a list.
        """
        raise NotImplementedError

    def decode(self) -> Any:
        """Decode the whole part. Raises ValueError."""
        raise NotImplementedError

    def get(self, key: Any, default: Any = None) -> Any:
        written = self.written
        if written is not None:
            return written.get(key, default)
        value = self.kept.get(key)
        if value is None:
            value = self.read(key)
        return default if value is None else value

    def keep(self, key: Any, value: Any) -> Any:
        """Keep a part, dict or list under its key, unless another thread did; return the kept one."""
        if not self.is_free:
            return self.kept.setdefault(key, value)
        with _LOCK:
            if self.written is not None:
                return self.written[key]
            return self.kept.setdefault(key, value)

    def turn(self, written: Any) -> None:
        """Refer to the document from now on, and put the returned dicts and lists into it. For holders of `_LOCK`."""
        for key, value in self.kept.items():
            if isinstance(value, Part):
                value.turn(written[key])
            else:
                written[key] = value
        # Not before: a reader that finds it takes no lock.
        self.written = written
        self.kept = {}

    def snapshot(self) -> Any:
        written = self.written
        return self.decode() if written is None else written

    def key_of(self, value: object) -> Any:
        entries = self.kept if self.written is None else self.written
        return next((key for key, entry in [*entries.items()] if entry is value), None)


class ObjectPart(Part, Mapping[str, Any]):
    """A JSON object inside an undecoded object."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return self.snapshot()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.snapshot())

    def __len__(self) -> int:
        return len(self.snapshot())

    def items(self) -> ItemsView[str, Any]:
        items: ItemsView[str, Any] = self.snapshot().items()
        return items

    def __eq__(self, other: object) -> bool:
        return bool(self.snapshot() == (other.snapshot() if isinstance(other, Part) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.snapshot())


class ListPart(Part):
    """A JSON array of objects inside an undecoded object."""

    __slots__ = ()

    def size(self) -> int:
        """Return the number of elements that arrived."""
        raise NotImplementedError

    def __len__(self) -> int:
        written = self.written
        return self.size() if written is None else len(written)

    def __getitem__(self, index: Any) -> Any:
        written = self.written
        if written is not None:
            return written[index]
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self.size()))]
        at = index + self.size() if index < 0 else index
        if not 0 <= at < self.size():
            raise IndexError("list index out of range")
        part = self.kept.get(at)
        return self.read(at) if part is None else part

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while at < len(self):
            yield self[at]
            at += 1

    def key_of(self, value: object) -> Any:
        return None

    def decode(self) -> list[Any]:
        return [part.snapshot() if isinstance(part, Part) else part for part in self]

    def __eq__(self, other: object) -> bool:
        return bool(self.snapshot() == (other.snapshot() if isinstance(other, Part) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.snapshot())


class Source(Lazy):
    """The state of an object that is no document. Thread-safe, see the module's docstring."""

    __slots__ = ()

    # The document's apiVersion and kind; None for an absent one.
    api_version: str | None
    kind: str | None

    def set_type(self, api_version: str, kind: str) -> None:
        """Change the document's apiVersion and kind; "" removes one. Decodes nothing."""
        raise NotImplementedError

    def meta(self, key: str) -> Any:
        """Return a field of the metadata as JSON, to be read only; None if it is absent."""
        raise NotImplementedError

    def document(self) -> JSONObject:
        """Return the document, the same dict for every caller while the object may be written to. O(size)."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Keep the bytes only: the object became read-only."""
        raise NotImplementedError

    def typed(self, document: JSONObject) -> JSONObject:
        """Set apiVersion and kind of the document and return it."""
        for key, value in (("kind", self.kind), ("apiVersion", self.api_version)):
            if value is None:
                document.pop(key, None)
            else:
                document[key] = value
        return document


def interned_type(api_version: str, kind: str) -> tuple[str | None, str | None]:
    """Return both as `Source` has them, interned: a cache sets them for all objects of a kind."""
    return sys.intern(api_version) or None, sys.intern(kind) or None


class _Frozen:
    """The state of the source of a frozen object."""

    __slots__ = ()


_FROZEN: Final = _Frozen()


class ObjectSource(Source):
    """The bytes of one object. A cache has many of them, so each attribute counts."""

    __slots__ = ("key", "namespace", "state")

    # None while the object may be written to and nothing of it was read, its root part afterwards, or _FROZEN.
    state: Part | _Frozen | None
    # The cache key: "namespace/name", or "name" without a namespace.
    key: str
    # The namespace, "" without one.
    namespace: str

    @property
    def version(self) -> str:
        """The resource version, "" without one."""
        raise NotImplementedError

    @property
    def object_name(self) -> str:
        """The name, "" without one."""
        return self.key[len(self.namespace) + 1 :] if self.namespace else self.key

    def begin(self, is_free: bool) -> Part:
        """Return a new part for the whole object."""
        raise NotImplementedError

    def decode(self) -> JSONObject:
        """Decode the document, a new one for each call. Raises ValueError."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return a source of the same bytes, for an object of its own. O(1)."""
        raise NotImplementedError

    def without(self, key: str) -> Self | None:
        """Return a source without a field of the metadata; itself if it has none, None to decode it for that."""
        return None

    def is_same(self, other: object) -> bool:
        """Report whether the bytes are known to be the same. False says nothing."""
        return False

    def root(self) -> Part:
        """Return the part for the whole object."""
        state = self.state
        if state is None:
            part = self.begin(True)
            with _LOCK:
                state = self.state
                if state is None:
                    state = self.state = part
        return _recent(self) if isinstance(state, _Frozen) else state

    def get(self, key: str, default: Any = None) -> Any:
        if key == "kind":
            return self.kind or default
        if key == "apiVersion":
            return self.api_version or default
        return self.root().get(key, default)

    def document(self) -> JSONObject:
        root = self.root()
        if isinstance(self.state, _Frozen):
            return self.snapshot()
        if root.written is None:
            decoded = self.decode()
            with _LOCK:
                if root.written is None:
                    root.turn(decoded)
        document: JSONObject = root.written
        return document

    def snapshot(self) -> JSONObject:
        state = self.state
        if isinstance(state, Part) and state.written is not None:
            written: JSONObject = state.written
            return written
        return self.decode()

    def key_of(self, value: object) -> Any:
        return self.root().key_of(value)

    def freeze(self) -> None:
        self.state = _FROZEN


class _RecentParts(threading.local):
    """The objects that this thread read last, and their root parts."""

    def __init__(self) -> None:
        self.parts: dict[ObjectSource, Part] = {}


_RECENT: Final = _RecentParts()
# A handler reads several fields of an object, or of the old and the new state of one, before it goes on to the next.
_MOST_RECENT: Final = 4


def _recent(source: ObjectSource) -> Part:
    """Return the root part of a frozen object.

    Parts stored in the object would stay as long as it is cached, and the garbage collector would walk through them.
    """
    parts = _RECENT.parts
    part = parts.get(source)
    if part is None:
        if len(parts) >= _MOST_RECENT:
            del parts[next(iter(parts))]
        part = parts[source] = source.begin(False)
    return part
