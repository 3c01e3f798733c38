"""The view of a watch: the objects that it selects, and the bytes of their events."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from clientgo.testing.apiserver.store.storage import Event, Stored
from clientgo.testing.apiserver.wire.jsonio import Json, dumps, loads

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Selector(Protocol):
    """The selection of a bucket's objects for a watch."""

    @property
    def source(self) -> tuple[str, ...]:
        """The texts of the selectors; equal sources select the same objects."""
        ...

    @property
    def everything(self) -> bool: ...

    def matches(self, obj: Json) -> bool: ...


class Framing(NamedTuple):
    """The framing of events on the stream of a watch."""

    media: str
    # An event of a type and with an object that is encoded already.
    frame: Callable[[str, bytes], bytes]
    encode: Callable[[Json], bytes]
    decode: Callable[[bytes], Json]


def _line(kind: str, raw: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), raw)


JSON_LINES = Framing("application/json", _line, dumps, loads)


class View:
    """A watcher's view of a resource: the selected objects and their form.

    `encode(stored)` turns a stored object into the bytes of the event's object; None means its JSON. `blocks`: it may
    block, because it calls a webhook.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str,
        selection: Selector,
        form: str,
        encode: Callable[[Stored], bytes] | None,
        bookmark: Callable[[int, bool], Json],
        after: int,
        framing: Framing = JSON_LINES,
        *,
        blocks: bool = False,
    ) -> None:
        self.bucket = bucket
        self.blocks = blocks
        self.prefix = prefix
        self.selection = None if selection.everything else selection
        self._encode = encode
        self._bookmark = bookmark
        self.media = framing.media
        self._framed = framing.frame
        self._encode_object = framing.encode
        # Events up to this version are not sent: the asked version, which may lie in the future.
        self.after = after
        self.key = (bucket, prefix, selection.source, form, after)

    def __repr__(self) -> str:
        return f"<View {self.bucket} {self.prefix!r} {self.key[3]}>"

    def line(self, event: Event) -> bytes:
        """Return the line of an event, or b"" if this view does not show it."""
        new = event.new
        if event.rv <= self.after or not new.key.startswith(self.prefix):
            return b""
        kind = event.type
        selection = self.selection
        if selection is not None:
            old = event.old
            before = old is not None and selection.matches(old.obj)
            now = kind != "DELETED" and selection.matches(new.obj)
            if not before and not now:
                return b""
            if before and not now:
                if kind != "DELETED":
                    assert old is not None
                    new = _left(old, event.rv)
                kind = "DELETED"
            else:
                kind = "MODIFIED" if before else "ADDED"
        return self._framed(kind, new.raw if self._encode is None else self._encode(new))

    def initial(self, item: Stored) -> bytes:
        if self.selection is not None and not self.selection.matches(item.obj):
            return b""
        return self._framed("ADDED", item.raw if self._encode is None else self._encode(item))

    def bookmark(self, version: int, end: bool = False) -> bytes:
        return self._framed("BOOKMARK", self._encode_object(self._bookmark(version, end)))


def _left(old: Stored, version: int) -> Stored:
    """Return the last matching state of an object that left the selection, at the version of the change."""
    metadata = dict(old.obj["metadata"])
    metadata["resourceVersion"] = str(version)
    return Stored(old.key, {**old.obj, "metadata": metadata}, version)
