"""CBOR to JSON values. Mirrors runtime/serializer/cbor/internal/modes/decode.go.

Byte strings become str, as the options of Go's decoder have it. Bytes that are not UTF-8 become surrogates (see
golang.utf8).

`Scanner` checks all bytes first. What Kubernetes itself writes is then decoded by `cbor2`; all else, and everything
that is wrong, by `exact`, which follows Go's decoder step by step and finds the error that Go reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cbor2

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import WellformednessError
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.exact import ExactDecoder
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.wellformed import VALUE, Limits, Scanner
from clientgo.golang.io import ErrUnexpectedEOF

__all__ = ["check_wellformed", "interpret", "read_map", "unmarshal", "unmarshal_map"]

_SELF_DESCRIBED = b"\xd9\xd9\xf7"
_HAS_NO_ITEM = "EOF"


class _NotPlainError(Exception):
    """Raised out of cbor2's hook for a map that `exact` has to decode."""


def unmarshal(data: bytes) -> Any:
    """Return the JSON value of one data item. Takes O(bytes) time and memory.

    Raises InvalidCBORError, ErrUnexpectedEOF if the item is incomplete, and EOFError if there is none. Go: Unmarshal
    into an `any`.
    """
    at = len(_SELF_DESCRIBED) if data.startswith(_SELF_DESCRIBED) else 0
    if check_wellformed(data, at):
        try:
            return _plain(data[at:])
        except (cbor2.CBORError, _NotPlainError, UnicodeError, RecursionError):
            pass  # `exact` has the error, or the value.
    return ExactDecoder(data).value()


def unmarshal_map(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object of one data item, or None for null. Raises as `unmarshal` does.

    Go: Unmarshal into a map[string]any.
    """
    return read_map(data)[0]


def read_map(data: bytes) -> tuple[dict[str, Any] | None, bool]:
    """Return the result of `unmarshal_map`, and whether the item has only what Kubernetes itself writes."""
    value = None
    at = len(_SELF_DESCRIBED) if data.startswith(_SELF_DESCRIBED) else 0
    if check_wellformed(data, at):
        try:
            value = _plain(data[at:])
        except (cbor2.CBORError, _NotPlainError, UnicodeError, RecursionError):
            value = None
    return (value, True) if type(value) is dict else (ExactDecoder(data).object(), False)


def interpret(data: bytes) -> tuple[str, str]:
    """Return the apiVersion and the kind of an object. Raises as `unmarshal` does. Go: metaFactory.Interpret."""
    check_wellformed(data)
    names = ExactDecoder(data).text_fields("v1.TypeMeta", ("kind", "apiVersion"))
    return names["apiVersion"], names["kind"]


def check_wellformed(data: bytes, at: int = 0, limits: Limits = VALUE) -> bool:
    """Raise unless the bytes from `at` are one item of CBOR. Report whether cbor2 can decode it as Go does.

    Raises InvalidCBORError, ErrUnexpectedEOF and EOFError.
    """
    if not data:
        raise EOFError(_HAS_NO_ITEM)
    scanner = Scanner(at, limits)
    if not scanner.scan(data):
        raise ErrUnexpectedEOF
    if scanner.at != len(data):
        extra = len(data) - scanner.at
        raise WellformednessError(f"cbor: {extra} bytes of extraneous data starting at index {scanner.at}")
    return scanner.is_plain


def _plain(data: bytes) -> Any:
    """Decode an item of definite lengths and without tags."""
    value = cbor2.loads(data, object_hook=_with_texts, allow_duplicate_keys=False, max_depth=VALUE.levels)
    return _with_text(value)


def _with_texts(pairs: Mapping[Any, Any], immutable: bool) -> dict[str, Any]:
    """Return a map with texts in place of byte strings. Raises _NotPlainError for other keys and repeated ones."""
    found: dict[str, Any] = {}
    for key, value in pairs.items():
        kind = type(key)
        if kind is bytes:
            key = key.decode("utf-8", "surrogateescape")
        elif kind is not str:
            raise _NotPlainError
        kind = type(value)
        if kind is bytes:
            value = value.decode("utf-8", "surrogateescape")
        elif kind is list:
            value = _with_text(value)
        found[key] = value
    if len(found) != len(pairs):
        raise _NotPlainError
    return found


def _with_text(value: Any) -> Any:
    """Return a value with texts in place of byte strings; the maps in it have none left."""
    if type(value) is bytes:
        return value.decode("utf-8", "surrogateescape")
    if type(value) is list:
        return [_with_text(each) if type(each) in (bytes, list) else each for each in value]
    return value
