"""A check of bytes before any value is made of them: they are CBOR, and within Go's limits. Has no Go file.

Does what valid.go of Go's library does, in its order and with its texts. `cbor2`, which makes the values, accepts more
than Go: bytes behind the item, NaN, bignums, all tags. The check takes O(bytes) time and O(depth) memory, whatever
lengths the bytes claim, and continues where it stopped when more bytes arrive, so that a slow stream costs no more.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import (
    UnacceptableDataItemError,
    WellformednessError,
)

__all__ = [
    "ARRAY",
    "BYTES",
    "DIAGNOSTIC",
    "FRAME",
    "MAP",
    "NEGATIVE",
    "PRIMITIVES",
    "SELF_DESCRIBED",
    "TAG",
    "TEXT",
    "TYPES",
    "UNSIGNED",
    "VALUE",
    "Limits",
    "Scanner",
]


class Limits(NamedTuple):
    """Limits of well-formed bytes."""

    levels: int
    elements: int
    pairs: int
    # Whether NaN, infinities and bignums are.
    has_all_numbers: bool


# Go: modes.Decode.
VALUE: Final = Limits(10000, 2147483647, 2097152, has_all_numbers=False)
# Go: modes.Diagnostic.
DIAGNOSTIC: Final = VALUE._replace(has_all_numbers=True)
# Go: the default options of its library, which the framer of watches has.
FRAME: Final = Limits(32, 131072, 131072, has_all_numbers=True)

# The major types, and their names in messages.
UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, PRIMITIVES = range(8)
TYPES: Final = (
    "positive integer",
    "negative integer",
    "byte string",
    "UTF-8 text string",
    "array",
    "map",
    "tag",
    "primitives",
)

SELF_DESCRIBED: Final = 55799
"""The tag that begins what Kubernetes writes; it does not change the meaning of its content."""

_BREAK: Final = 0xFF
_FALSE, _NULL = 0xF4, 0xF6
_MAX_INT64: Final = 2**63 - 1
_INDEFINITE: Final = 31
_UNREAD: Final = -1
# Deeper items are not left to cbor2, which recurses.
_PLAIN_LEVELS: Final = 200
_FLOATS: Final = {25: struct.Struct(">e"), 26: struct.Struct(">f"), 27: struct.Struct(">d")}
_INFINITY: Final = float("inf")


class Scanner:
    """The check of one item, which begins at `at`. Not thread-safe.

    After `scan` returned True, `at` is the end of the item, and `is_plain` reports that the item has only what
    Kubernetes itself writes: no tags, no indefinite lengths, no integers beyond int64, no other simple values.
    """

    __slots__ = ("_count", "_kind", "_left", "_level", "_limits", "_stack", "at", "is_plain")

    def __init__(self, at: int = 0, limits: Limits = VALUE) -> None:
        self.at = at
        self._limits = limits
        self.is_plain = True
        # Of the innermost container: its major type (-1 outside of all), the items that it lacks (-1 for an
        # indefinite length), the items that it has if its length is indefinite, and the containers and tags around.
        self._kind = _UNREAD
        self._left = 1
        self._count = 0
        self._level = 0
        self._stack: list[tuple[int, int, int, int]] = []

    def scan(self, data: bytes | bytearray) -> bool:
        """Return True at the end of the item, and False if `data` ends within it; a later call may pass more data.

        Raises WellformednessError and UnacceptableDataItemError.
        """
        size, limits = len(data), self._limits
        at, kind, left, count, level, stack = (
            self.at, self._kind, self._left, self._count, self._level, self._stack,
        )  # fmt: skip
        try:
            while left:
                start = at
                if at >= size:
                    return False
                first = data[at]
                if left < 0:
                    if first == _BREAK:
                        if kind == MAP and count % 2:
                            raise WellformednessError('cbor: unexpected "break" code')
                        at += 1
                        kind, left, count, level = stack.pop()
                        left, count = self._completed(kind, left, count)
                        while not left and stack:
                            kind, left, count, level = stack.pop()
                            left, count = self._completed(kind, left, count)
                        continue
                    if kind in (BYTES, TEXT):
                        _check_chunk(kind, first)
                major, info = first >> 5, first & 31
                at += 1
                value = info
                if info > 23:
                    if info <= 27:
                        end = at + (1 << (info - 24))
                        if end > size:
                            at = start
                            return False
                        value = int.from_bytes(data[at:end], "big")
                        if major == PRIMITIVES:
                            _check_primitive(info, value, data[at:end], limits)
                        at = end
                    elif info != _INDEFINITE or major in (UNSIGNED, NEGATIVE, TAG):
                        raise WellformednessError(
                            f"cbor: invalid additional information {info} for type {TYPES[major]}"
                        )
                    elif major == PRIMITIVES:
                        raise WellformednessError('cbor: unexpected "break" code')
                if major in (BYTES, TEXT):
                    if info == _INDEFINITE:
                        self.is_plain = False
                        stack.append((kind, left, count, level))
                        kind, left, count = major, -1, 0
                        continue
                    if value > _MAX_INT64:
                        raise WellformednessError(
                            f"cbor: {TYPES[major]} length {value} is too large, causing integer overflow"
                        )
                    if at + value > size:
                        at = start
                        return False
                    at += value
                elif major in (ARRAY, MAP):
                    stack.append((kind, left, count, level))
                    level += 1
                    _check_container(major, info, value, level, limits)
                    if level > _PLAIN_LEVELS or info == _INDEFINITE:
                        self.is_plain = False
                    kind, count = major, 0
                    left = -1 if info == _INDEFINITE else value if major == ARRAY else 2 * value
                    if left:
                        continue
                    kind, left, count, level = stack.pop()
                elif major == TAG:
                    inner = level + 1 if kind == TAG else level
                    if inner > limits.levels:
                        raise _too_deep(limits)
                    if at >= size:
                        at = start
                        return False
                    if value in (2, 3) and not limits.has_all_numbers:
                        raise UnacceptableDataItemError("tag", "bignum")
                    self.is_plain = False
                    stack.append((kind, left, count, level))
                    kind, left, count, level = TAG, 1, 0, inner
                    continue
                elif major == PRIMITIVES:
                    if not (_FALSE <= first <= _NULL or info > 24):
                        self.is_plain = False
                elif value > _MAX_INT64:
                    self.is_plain = False
                left, count = self._completed(kind, left, count)
                while not left and stack:
                    kind, left, count, level = stack.pop()
                    left, count = self._completed(kind, left, count)
            return True
        finally:
            self.at, self._kind, self._left, self._count, self._level = at, kind, left, count, level

    def _completed(self, kind: int, left: int, count: int) -> tuple[int, int]:
        """Return the container's missing and present items after one more of them."""
        if left > 0:
            return left - 1, count
        count += 1
        if kind == ARRAY and count > self._limits.elements:
            raise _too_many_elements(self._limits)
        if kind == MAP and count > 2 * self._limits.pairs + 1:
            raise _too_many_pairs(self._limits)
        return left, count


def _check_chunk(kind: int, first: int) -> None:
    """Raise if the item is no chunk of a string of an indefinite length."""
    if first >> 5 != kind:
        raise WellformednessError(
            f"cbor: wrong element type {TYPES[first >> 5]} for indefinite-length {TYPES[kind]}"
        )
    if first & 31 == _INDEFINITE:
        raise WellformednessError(f"cbor: indefinite-length {TYPES[kind]} chunk is not definite-length")


def _check_primitive(info: int, value: int, argument: bytes | bytearray, limits: Limits) -> None:
    """Raise for a reserved simple value, and for NaN and infinity unless the limits accept them."""
    if info == 24:
        if value < 32:
            raise WellformednessError(f"cbor: invalid simple value {value} for type primitives")
        return
    if limits.has_all_numbers:
        return
    number = _FLOATS[info].unpack(argument)[0]
    if number != number:
        raise UnacceptableDataItemError("primitives", "floating-point NaN")
    if number in (_INFINITY, -_INFINITY):
        raise UnacceptableDataItemError("primitives", "floating-point infinity")


def _check_container(major: int, info: int, value: int, level: int, limits: Limits) -> None:
    if level > limits.levels:
        raise _too_deep(limits)
    if info == _INDEFINITE:
        return
    if value > _MAX_INT64:
        raise WellformednessError(
            f"cbor: {TYPES[major]} length {value} is too large, it would cause integer overflow"
        )
    if major == ARRAY and value > limits.elements:
        raise _too_many_elements(limits)
    if major == MAP and value > limits.pairs:
        raise _too_many_pairs(limits)


def _too_deep(limits: Limits) -> WellformednessError:
    return WellformednessError(f"cbor: exceeded max nested level {limits.levels}")


def _too_many_elements(limits: Limits) -> WellformednessError:
    return WellformednessError(f"cbor: exceeded max number of elements {limits.elements} for CBOR array")


def _too_many_pairs(limits: Limits) -> WellformednessError:
    return WellformednessError(f"cbor: exceeded max number of key-value pairs {limits.pairs} for CBOR map")
