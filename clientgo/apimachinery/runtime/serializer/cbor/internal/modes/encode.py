"""JSON values to CBOR. Mirrors runtime/serializer/cbor/internal/modes/encode.go.

Texts become byte strings, which need not be UTF-8; floats take the shortest form that keeps their value; keys are
sorted by length and then by bytes. An integer beyond int64 is written as a float: as such Go's decoder of JSON reads
it. `cbor2` writes the bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import cbor2

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.wellformed import VALUE
from clientgo.golang import utf8

__all__ = ["encode", "encode_nondeterministic"]

_MAX_INT64: Final = 2**63 - 1
_ARRAY, _MAP = 0x80, 0xA0
_MIN_INT64: Final = -(2**63)


def encode(value: Any) -> bytes:
    """Return the CBOR of a JSON value: the same bytes for the same value. Blocks for O(size) time.

    Raises ValueError for NaN, infinities, integers beyond float64 and values that contain themselves, TypeError for
    other types. Go: modes.Encode.
    """
    return _encoded(value, canonical=True)


def encode_nondeterministic(value: Any) -> bytes:
    """Return the CBOR of a JSON value, with keys in the order of its dicts. Raises as `encode` does.

    Go: modes.EncodeNondeterministic.
    """
    return _encoded(value, canonical=False)


def _encoded(value: Any, *, canonical: bool) -> bytes:
    try:
        prepared = _prepared(value)
    except RecursionError:
        return _written_at_any_depth(value, canonical)
    return cbor2.dumps(prepared, canonical=canonical, encoders=None if canonical else _SHORT_FLOATS)


def _encode_float(encoder: cbor2.CBOREncoder, value: float) -> None:
    encoder.write(cbor2.dumps(value, canonical=True))


_SHORT_FLOATS: Final[Mapping[type, Callable[[cbor2.CBOREncoder, Any], Any]]] = {float: _encode_float}


def _prepared(value: Any) -> Any:
    """Return the value with byte strings in place of texts. Raises ValueError, TypeError."""
    kind = type(value)
    if kind is str:
        return utf8.encode(value)
    if kind is dict:
        return {_key(key): _prepared(each) for key, each in value.items()}
    if kind is list or kind is tuple:
        return [_prepared(each) for each in value]
    if value is None or kind is bool:
        return value
    return _prepared_other(value)


def _written_at_any_depth(value: Any, canonical: bool) -> bytes:
    """Return the CBOR of a value without recursion, which cbor2 has. Raises as `encode` does."""
    written = bytearray()
    waiting: list[Iterator[Any]] = [iter((value,))]
    while waiting:
        for each in waiting[-1]:
            if isinstance(each, Mapping):
                pairs = [(_key(key), item) for key, item in each.items()]
                if canonical:
                    pairs.sort(key=lambda pair: (len(pair[0]), pair[0]))
                written += _head(_MAP, len(pairs))
                waiting.append(chain.from_iterable(pairs))
                break
            if isinstance(each, list | tuple):
                written += _head(_ARRAY, len(each))
                waiting.append(iter(each))
                break
            written += cbor2.dumps(each if type(each) is bytes else _prepared(each), canonical=True)
        else:
            waiting.pop()
        if len(waiting) > VALUE.levels + 1:
            raise ValueError(f"cbor: exceeded max nested level {VALUE.levels}, or the value contains itself")
    return bytes(written)


def _head(major: int, size: int) -> bytes:
    """Return the first bytes of an array or a map."""
    head = bytearray(cbor2.dumps(size))
    head[0] |= major
    return bytes(head)


def _prepared_other(value: Any) -> Any:
    if isinstance(value, int):
        if _MIN_INT64 <= value <= _MAX_INT64:
            return int(value)
        try:
            return float(value)
        except OverflowError:
            raise ValueError("cbor: unsupported type: big.Int") from None
    if isinstance(value, float):
        if not math.isfinite(value):
            what = "NaN" if math.isnan(value) else "infinity"
            raise ValueError(f"cbor: unsupported value: floating-point {what}")
        return float(value)
    if isinstance(value, str):
        return utf8.encode(value)
    if isinstance(value, Mapping):
        return {_key(key): _prepared(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_prepared(each) for each in value]
    raise TypeError(f"cbor: unsupported type: {type(value).__name__}")


def _key(key: Any) -> bytes:
    if not isinstance(key, str):
        raise TypeError(f"cbor: unsupported type of a key: {type(key).__name__}")
    return utf8.encode(key)
