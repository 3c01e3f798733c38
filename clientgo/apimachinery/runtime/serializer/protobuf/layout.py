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

from clientgo.apimachinery.runtime.serializer.protobuf.messages import Message
from clientgo.apimachinery.runtime.serializer.protobuf.wire import BYTES, VARINT, skip, spans, truncated, varint

# Where the fields are, by their keys: behind the key. A list for a key that comes more than once. Not to be changed.
Index = dict[int, Any]

# Of a message so many layouts are kept, and none with more bytes to compare than that.
_MOST: Final = 64
_LONGEST: Final = 256


class _Layout:
    """A layout: what must be the same, and where the fields are then."""

    __slots__ = ("expected", "index", "skeleton")

    def __init__(self, index: Index, skeleton: Callable[[bytes], Any], expected: Any) -> None:
        self.index = index
        self.skeleton = skeleton
        self.expected = expected


def find_fields(message: Message, data: bytes) -> Index:
    """Where the fields of the message that `data` is are. Raises WireError, IndexError. Thread-safe."""
    known = message.layouts.get(len(data))
    if known and known.skeleton(data) == known.expected:
        found: Index = known.index
        return found
    index = _walk(data)
    _learn(message.layouts, index, data)
    return index


def _learn(layouts: dict[int, _Layout | None], index: Index, data: bytes) -> None:
    """Keep a layout, if one of this size came before: most sizes never come again."""
    size = len(data)
    if size not in layouts:
        if len(layouts) >= _MOST:
            layouts.clear()
        layouts[size] = None
        return
    at, skeleton = 0, list[int]()
    for _, wire_type, begin, stop in spans(data, 0, size):
        skeleton += range(at, stop if wire_type == VARINT else begin)
        at = stop
    if 1 < len(skeleton) <= _LONGEST:
        pick = itemgetter(*skeleton)
        layouts[size] = _Layout(index, pick, pick(data))


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
