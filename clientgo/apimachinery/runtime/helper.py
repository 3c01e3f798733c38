"""Lists of undecoded objects, and codecs that add or take away apiVersion and kind. Mirrors runtime/helper.go.

Differs: Go's helpers over reflect.Value have no meaning here; fields are attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime.codec import decode, encode
from clientgo.apimachinery.runtime.error import is_not_registered_error
from clientgo.apimachinery.runtime.interfaces import (
    Decoder,
    Encoder,
    Framer,
    GroupVersioner,
    ObjectConvertor,
    ObjectTyper,
)
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.types import Unknown
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.apimachinery.util.errors import new_aggregate


class _UnsafeObjectConvertor:
    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme

    def convert(self, source: Any, target: Any, context: Any) -> None:
        self._scheme.convert(source, target, context)

    def convert_to_version(self, obj: Object, target: GroupVersioner) -> Object:
        return self._scheme.unsafe_convert_to_version(obj, target)

    def convert_field_label(self, gvk: GroupVersionKind, label: str, value: str) -> tuple[str, str]:
        return self._scheme.convert_field_label(gvk, label, value)


def unsafe_object_convertor(scheme: Scheme) -> ObjectConvertor:
    """Return a convertor that may change its argument and return it, instead of a copy. Go: UnsafeObjectConvertor."""
    return _UnsafeObjectConvertor(scheme)


def encode_list(encoder: Encoder, objects: list[Object]) -> None:
    """Put an Unknown with its bytes in the place of each object. Go: EncodeList.

    Raises Aggregate of what went wrong, after all others are replaced.
    """
    errs: list[BaseException] = []
    for index, obj in enumerate(objects):
        try:
            objects[index] = Unknown(encode(encoder, obj))
        except Exception as err:
            errs.append(err)
    failure = new_aggregate(errs)
    if failure is not None:
        raise failure


def decode_list(objects: list[Object], *decoders: Decoder) -> list[Exception]:
    """Replace each Unknown by its object, read by the first decoder that knows its kind. Return the errors.

    An Unknown of a kind that none of them knows stays. Go: DecodeList.
    """
    errs: list[Exception] = []
    for index, obj in enumerate(objects):
        if not isinstance(obj, Unknown):
            continue
        try:
            objects[index] = _decode_list_item(obj, decoders)
        except Exception as err:
            errs.append(err)
    return errs


def _decode_list_item(obj: Unknown, decoders: Sequence[Decoder]) -> Object:
    for decoder in decoders:
        try:
            return decode(decoder, obj.raw)
        except Exception as err:
            if not is_not_registered_error(err):
                raise
    return obj


class MultiObjectTyper(list[ObjectTyper]):
    """Several typers, asked in order. Go: MultiObjectTyper."""

    def object_kinds(self, obj: Object) -> tuple[list[GroupVersionKind], bool]:
        """Return the answer of the first typer that knows the object. Raises the last error if none does."""
        failure: Exception | None = None
        for typer in self:
            try:
                return typer.object_kinds(obj)
            except Exception as err:
                failure = err
        if failure is not None:
            raise failure
        return [], False

    def recognizes(self, gvk: GroupVersionKind) -> bool:
        """Report whether one of the typers recognizes the kind."""
        return any(typer.recognizes(gvk) for typer in self)


def set_zero_value(obj: Object) -> None:
    """Empty the object. Go: SetZeroValue."""
    obj._writable().clear()


class _DefaultFramer:
    """No frames: each read and write is one object."""

    def new_frame_reader(self, reader: Any) -> Any:
        return reader

    def new_frame_writer(self, writer: Any) -> Any:
        return writer


DEFAULT_FRAMER: Final[Framer] = _DefaultFramer()


class WithVersionEncoder:
    """Writes objects with apiVersion and kind, whether they have them or not. Go: WithVersionEncoder.

    The kind is the one `version` chooses among those `object_typer` knows, else the first; an object it does not know
    is written as it is. The object is only read, where Go changes it for a moment.
    """

    def __init__(self, version: GroupVersioner | None, encoder: Encoder, object_typer: ObjectTyper) -> None:
        self.version = version
        self.encoder = encoder
        self.object_typer = object_typer

    def encode(self, obj: Object) -> bytes:
        try:
            kinds, _ = self.object_typer.object_kinds(obj)
        except Exception as err:
            if is_not_registered_error(err):
                return self.encoder.encode(obj)
            raise
        gvk = kinds[0]
        if self.version is not None:
            preferred, found = self.version.kind_for_group_version_kinds(kinds)
            gvk = preferred if found else gvk
        api_version, kind = gvk.to_api_version_and_kind()
        # A plain Object has no kind of its own that the encoder might prefer.
        return self.encoder.encode(Object.from_dict({**obj._document, "apiVersion": api_version, "kind": kind}))

    def identifier(self) -> str:
        return self.encoder.identifier()


class WithoutVersionDecoder:
    """A decoder that removes apiVersion and kind, as typed clients need it. Go: WithoutVersionDecoder."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    def decode(
        self, data: bytes, defaults: GroupVersionKind | None = None, into: Object | type[Object] | None = None
    ) -> tuple[Object, GroupVersionKind]:
        obj, gvk = self.decoder.decode(data, defaults, into)
        obj.set_group_version_kind(GroupVersionKind())
        return obj, gvk

    def decode_document(self, document: JSONObject, into: Object | type[Object] | None = None) -> Object:
        obj = self.decoder.decode_document(document, into)
        obj.set_group_version_kind(GroupVersionKind())
        return obj

    def expecting(self, cls: type[Object]) -> Decoder:
        return WithoutVersionDecoder(self.decoder.expecting(cls))
