"""Where the fields of a message are. No Go file: Go's generated code walks each message once, when it is decoded.

Python needs a fifth of a microsecond to step over a field, and a Pod has a hundred. But messages look alike: the next
version of an object, and its siblings, have the same fields of the same lengths in most of their parts. So what a walk
has found is kept, and a message of the same size is compared first: when all bytes that are no content (tags, lengths,
numbers) are the same, the fields stand in the same places. That comparison is two calls, and proves as much as a walk.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, VARINT, skip, spans, truncated, varint

# Where the fields are, by their keys: behind the key. A list for a key that comes more than once. Not to be changed.
Index = dict[int, Any]

# So many layouts are kept of a message, and so many for one size.
# None is kept with more bytes to compare than that, and none with so few fields that a walk is as cheap.
_MOST: Final = 256
_MOST_OF_A_SIZE: Final = 3
_LONGEST: Final = 256
_FEWEST_FIELDS: Final = 5
# After so many walks all are forgotten: by then others are common.
_PATIENCE: Final = 20_000


class _Layout:
    """A layout: what must be the same, and where the fields are then."""

    __slots__ = ("expected", "index", "skeleton")

    def __init__(self, index: Index, skeleton: Callable[[bytes], Any], expected: Any) -> None:
        self.index = index
        self.skeleton = skeleton
        self.expected = expected


class Layouts:
    """What was learnt about one message. Thread-safe: what two threads do at once costs a walk, or one layout more."""

    __slots__ = ("_by_size", "_kept", "_walks")

    def __init__(self) -> None:
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
        if len(index) >= _FEWEST_FIELDS:
            self._walks += 1
            if self._walks > _PATIENCE:
                self._by_size, self._kept, self._walks = {}, 0, 0
            elif self._kept < _MOST and len(known) < _MOST_OF_A_SIZE:
                self._learn(index, data)
        return index

    def _learn(self, index: Index, data: bytes) -> None:
        at, skeleton = 0, list[int]()
        for _, wire_type, begin, stop in spans(data, 0, len(data)):
            skeleton += range(at, stop if wire_type == VARINT else begin)
            at = stop
        if len(skeleton) <= _LONGEST:
            pick = itemgetter(*skeleton)
            self._by_size.setdefault(len(data), []).append(_Layout(index, pick, pick(data)))
            self._kept += 1

    def __len__(self) -> int:
        return self._kept


def _walk(data: bytes) -> Index:
    index: Index = {}
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
