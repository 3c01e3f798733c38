"""Decoders for the objects in admission requests. Mirrors pkg/webhook/admission/decode.go.

The target type is a class, or for resources without one an Unstructured with its kind: `decoder.decode(req, Foo)`
returns a Foo. A value of the wrong type raises its error on decoding, not on access.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.runtime.view import copy_json
from clientgo.controller_runtime.webhook.admission.webhook import Request
from clientgo.golang.json import UnmarshalTypeError

__all__ = ["Decoder", "new_decoder"]

ObjectT = TypeVar("ObjectT", bound=Object)


class Decoder(Protocol):
    """A decoder of the objects in a request. Raises ValueError for an invalid object. Go: admission.Decoder."""

    def decode(self, req: Request, into: type[ObjectT], /) -> ObjectT:
        """Decode the request's object. Go: Decode."""
        ...

    def decode_raw(self, raw_obj: Mapping[str, Any] | None, into: type[ObjectT], /) -> ObjectT:
        """Decode a raw object, such as `req.old_object`. Go: DecodeRaw."""
        ...


def new_decoder(scheme: Scheme) -> Decoder:
    """Return a decoder for the kinds of `scheme`. Raises ValueError without one (Go panics). Go: NewDecoder."""
    if scheme is None:
        raise ValueError("scheme should never be nil")
    return _Decoder(scheme)


class _Decoder:
    """Go: decoder. Thread-safe."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme

    def decode(self, req: Request, into: type[ObjectT]) -> ObjectT:
        return self.decode_raw(req.object, into)

    def decode_raw(self, raw_obj: Mapping[str, Any] | None, into: type[ObjectT]) -> ObjectT:
        if not raw_obj:
            # Objects arrive as JSON; null is equivalent to a missing object.
            raise ValueError("there is no content to decode")
        document = copy_json(dict(raw_obj))
        if issubclass(into, unstructured.Unstructured):
            return into.from_dict(document)
        (expected, *_), _ = self._scheme.object_kinds(into())
        found = (document.get("apiVersion", expected.group_version().identifier()), document.get("kind", expected.kind))
        if found != (expected.group_version().identifier(), expected.kind):
            version, kind = found
            raise ValueError(f"unable to decode {_shown(version)}, Kind={kind} into {into.__name__}")
        obj = into.from_dict(document)
        try:
            check_fields(obj)
        except UnmarshalTypeError as err:
            # The request supplies the object's namespace and name.
            raise ValueError(err.text) from None
        return obj


def _shown(api_version: str) -> str:
    """Return a group version as Go prints it within a kind: with an empty core group before the slash."""
    return api_version if "/" in api_version else f"/{api_version}"
