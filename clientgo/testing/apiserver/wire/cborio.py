"""CBOR in and out, if the gate CBORServingAndStorage is enabled. The codec is that of the clients.

It needs the extra `cbor`; a server with the gate loads it when it starts.

Differs: documents are decoded in one place for all formats, so the errors of wrong types are those of JSON, and are put
into the words of Go's CBOR library afterwards. A text is a byte string in them, as Kubernetes' encoder writes it. Of
several wrong values, Go names the first one of the bytes, and this server the first one in the type's order of fields.
Below the top of an object, Go adds "(cannot decode CBOR array to struct without toarray option)" to the error of an
array in place of a struct, and this server does not.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.serializer import cbor
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.apimachinery.runtime.serializer.cbor.internal import modes
from clientgo.testing.apiserver.wire.jsonio import MAX_DEPTH, Json, ParseError, is_deep

__all__ = ["dumps", "loads", "loads_patch", "mistyped", "unknown_field", "watch_event"]


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


def mistyped(text: str, value: Any, go_type: str, owner: str) -> str:
    """Return the error of JSON for a value of a wrong type in the words of Go's CBOR library; other texts unchanged.

    `owner` is the type of the whole object, such as "v1.Deployment": Go names its field, however deep the value is.
    """
    head, _, path = text.partition(" into Go struct field ")
    if not head.startswith("json: cannot unmarshal ") or not path:
        return text
    field = path.partition(" ")[0].split(".")[1]
    detail = ""
    if isinstance(value, bool | float):
        kind = "primitives"
    elif isinstance(value, int):
        kind = "negative integer" if value < 0 else "positive integer"
        detail = f"{value} overflows {go_type}" if go_type.startswith(("int", "uint")) else ""
    else:
        kind = "byte string" if isinstance(value, str) else "array" if isinstance(value, list) else "map"
    return str(modes.UnmarshalTypeError(kind, go_type, detail, f"{owner}.{field}"))


def unknown_field(document: Json, paths: list[str]) -> str:
    """Return the text of Go's decoder for a typed object with unknown fields, which are at these paths."""
    index = _first_unknown(document, "", frozenset(paths))
    return str(modes.UnknownFieldError(index or 0))


def _first_unknown(value: object, path: str, unknown: frozenset[str]) -> int | None:
    """Return the position in its map of the first unknown field. An object's own come before those of its fields."""
    inner = None
    if isinstance(value, dict):
        for index, (name, item) in enumerate(value.items()):
            below = f"{path}.{name}" if path else name
            if below in unknown:
                return index
            if inner is None:
                inner = _first_unknown(item, below, unknown)
    elif isinstance(value, list):
        inner = next(
            (
                found
                for at, each in enumerate(value)
                if (found := _first_unknown(each, f"{path}[{at}]", unknown)) is not None
            ),
            None,
        )
    return inner


def watch_event(kind: str, raw: bytes) -> bytes:
    """Return an event with an object that is encoded already."""
    head = direct.marshal({"type": kind, "object": None})
    # The object is the last value: keys are sorted by length.
    return cbor.SELF_DESCRIBED + head[:-1] + raw


def _check_depth(value: object) -> None:
    if is_deep(value):
        raise ParseError(f"cbor: exceeded max nested level {MAX_DEPTH}")
