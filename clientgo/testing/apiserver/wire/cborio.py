"""CBOR in and out, if the gate CBORServingAndStorage is enabled. The codec is that of the clients.

It needs the extra `cbor`; a server with the gate loads it when it starts.
"""

from __future__ import annotations

from clientgo.apimachinery.runtime.serializer import cbor
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.testing.apiserver.wire.jsonio import MAX_DEPTH, Json, ParseError, is_deep

__all__ = ["dumps", "loads", "loads_patch", "watch_event"]


def dumps(value: Json) -> bytes:
    """Return a document as the body of a response."""
    return cbor.SELF_DESCRIBED + direct.marshal(value)


def loads(body: bytes) -> Json:
    """Return the document in a body; null is an object without fields. Raises ParseError with Go's text."""
    try:
        document = cbor.read_document(body)
    except (ValueError, EOFError) as err:
        raise ParseError(str(err)) from None
    _check_depth(document)
    return document


def loads_patch(body: bytes) -> object:
    """Return the value of any type in the body of an apply patch. Raises ParseError with Go's text."""
    try:
        value = direct.unmarshal(body)
    except (ValueError, EOFError) as err:
        raise ParseError(str(err)) from None
    _check_depth(value)
    return value


def watch_event(kind: str, raw: bytes) -> bytes:
    """Return an event with an object that is encoded already."""
    head = direct.marshal({"type": kind, "object": None})
    # The object is the last value: keys are sorted by length.
    return cbor.SELF_DESCRIBED + head[:-1] + raw


def _check_depth(value: object) -> None:
    if is_deep(value):
        raise ParseError(f"cbor: exceeded max nested level {MAX_DEPTH}")
