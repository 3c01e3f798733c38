"""Where the fields of a message are. No Go file: Go's generated code walks each message once, when it is decoded.

Python needs a fifth of a microsecond to step over a field, and a Pod has a hundred. But messages look alike: the next
version of an object, and its siblings, have the same fields of the same lengths in most of their parts. So what a walk
has found is kept, and a message of the same size is compared first: when all bytes that are no content (tags, lengths,
numbers) are the same, the fields stand in the same places. That comparison is two calls, and proves as much as a walk.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, VARINT, skip, spans, truncated, varint

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.serializer.protobuf.messages import Message

# So many layouts are kept of a message, and so many for one size.
# None is kept with more bytes to compare than that, and none with so few fields that a walk is as cheap.
_MOST: Final = 256
_MOST_OF_A_SIZE: Final = 3
_LONGEST: Final = 256
_FEWEST_FIELDS: Final = 3
# After so many walks all are forgotten: by then others are common.
_PATIENCE: Final = 20_000

# Of the entries of a map.
_KEY, _VALUE = 1 << 3 | BYTES, 2 << 3 | BYTES


class Index(dict[int, Any]):
    """Where the fields are, by their keys: behind the key. A list for a key that comes more than once.

    Not to be changed, but for what was worked out: any thread may put it in, since it is the same for all messages that
    this is the index of.
    """

    __slots__ = ("answers", "header", "number", "texts")

    def __init__(self) -> None:
        super().__init__()
        # Its own if it is one for many messages, so that each of them may remember it; 0 for others.
        self.number = 0
        # About a field, by its name; see `sections`.
        self.answers: dict[str, Any] = {}
        # About what an object begins with; see `in_place`.
        self.header: Any = None
        # By the keys of maps of text, where each entry has its key and its value; of those that are as all write them.
        self.texts: Mapping[int, list[tuple[slice, slice]]] = _NONE


_NUMBERS: Final = itertools.count(1)
_NONE: Final[Mapping[int, list[tuple[slice, slice]]]] = {}


class _Layout:
    """A layout: what must be the same, and where the fields are then."""

    __slots__ = ("expected", "index", "skeleton")

    def __init__(self, index: Index, skeleton: Callable[[bytes], Any], expected: Any) -> None:
        self.index = index
        self.skeleton = skeleton
        self.expected = expected


class Layouts:
    """What was learnt about one message. Thread-safe: what two threads do at once costs a walk, or one layout more."""

    __slots__ = ("_by_size", "_kept", "_message", "_walks")

    def __init__(self, message: Message | None = None) -> None:
        """Without a message nothing is known of the fields, and any will do."""
        self._message = message
        self._by_size: dict[int, list[_Layout]] = {}
        self._kept = 0
        self._walks = 0

    def find(self, data: bytes) -> Index:
        """Where the fields of the message that `data` is are. Raises WireError, IndexError."""
        known = self._by_size.get(len(data), ())
        for layout in known:
            if layout.skeleton(data) == layout.expected:
                return layout.index
        index = _walk(data)
        message = self._message
        if message is not None and not index.keys() <= message.by_key.keys():
            for key in index:
                if key not in message.by_key:
                    message.field_in_one_piece(key)
        if len(index) >= _FEWEST_FIELDS:
            self._walks += 1
            if self._walks > _PATIENCE:
                self._by_size, self._kept, self._walks = {}, 0, 0
            elif self._kept < _MOST and len(known) < _MOST_OF_A_SIZE:
                self._learn(index, data)
        return index

    def _learn(self, index: Index, data: bytes) -> None:
        at = 0
        # Where the bytes begin and end that are no content.
        runs: list[tuple[int, int]] = []
        texts = frozenset[int]() if self._message is None else self._message.maps_of_text
        found: dict[int, list[tuple[slice, slice]] | None] = {}
        for number, wire_type, begin, stop in spans(data, 0, len(data)):
            runs.append((at, stop if wire_type == VARINT else begin))
            key = number << 3 | wire_type
            if key in texts:
                entry = _entry(data, begin, stop)
                entries = found.setdefault(key, [])
                if entry is None or entries is None:
                    found[key] = None
                else:
                    entries.append(entry)
                    runs += ((begin, entry[0].start), (entry[0].stop, entry[1].start))
            at = stop
        if sum(stop - begin for begin, stop in runs) <= _LONGEST:
            index.texts = {key: entries for key, entries in found.items() if entries is not None}
            index.number = next(_NUMBERS)
            skeleton = _skeleton(runs, len(data))
            self._by_size.setdefault(len(data), []).append(_Layout(index, skeleton, skeleton(data)))
            self._kept += 1

    def __len__(self) -> int:
        return self._kept


def _entry(data: bytes, at: int, end: int) -> tuple[slice, slice] | None:
    """Where an entry of a map has its key and its value; None for one that is not as every encoder writes it."""
    if 4 <= end - at < 128 and data[at] == _KEY:
        middle = at + 2 + data[at + 1]
        if middle + 1 < end and data[middle] == _VALUE and middle + 2 + data[middle + 1] == end:
            return slice(at + 2, middle), slice(middle + 2, end)
    return None


def _skeleton(runs: list[tuple[int, int]], size: int) -> Callable[[bytes], Any]:
    """What takes those bytes out of so many: one or two as small numbers, which Python has ready, more as bytes."""
    notation, at = ["<"], 0
    for begin, end in _joined(runs):
        notation.append(f"{begin - at}x")
        notation.append("B" * (end - begin) if end - begin <= 2 else f"{end - begin}s")
        at = end
    notation.append(f"{size - at}x")
    return struct.Struct("".join(notation)).unpack


def _joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same with one run for those that follow each other."""
    joined: list[tuple[int, int]] = []
    for begin, end in runs:
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]
        joined.append((begin, end))
    return joined


def _walk(data: bytes) -> Index:
    index = Index()
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key > 127:
            key, at = varint(data, at - 1)
        if key in index:
            _again(index, key, at)
        else:
            index[key] = at
        wire_type = key & 7
        if wire_type == BYTES:
            size = data[at]
            at += 1
            if size > 127:
                more = data[at]
                if more < 128:
                    size += (more - 1) << 7
                    at += 1
                else:
                    size, at = varint(data, at - 1)
            at += size
        else:
            at = skip(data, at, end, wire_type)
    if at != end:
        raise truncated()
    return index


def _again(index: Index, key: int, at: int) -> None:
    known = index[key]
    if isinstance(known, list):
        known.append(at)
    else:
        index[key] = [known, at]
