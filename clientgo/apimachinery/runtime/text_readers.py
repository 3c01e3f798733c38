"""Types for msgspec, which reads the texts of objects: they select the parts to decode; other parts are only checked.

No Go file. For `text_source`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypedDict


class Metadata(TypedDict, total=False):
    """The metadata that each access reads from the text: all fields except the header and managedFields."""

    annotations: Any
    creationTimestamp: Any
    deletionGracePeriodSeconds: Any
    finalizers: Any
    generateName: Any
    generation: Any
    ownerReferences: Any
    selfLink: Any


class _ObjectMetadata(TypedDict, total=False):
    metadata: Metadata


class _EventMetadata(TypedDict):
    object: _ObjectMetadata


class _ObjectAllMetadata(TypedDict, total=False):
    metadata: dict[str, Any]


class _EventAllMetadata(TypedDict):
    object: _ObjectAllMetadata


class _Readers:
    """The readers of texts, made when the first text arrives: to import msgspec takes time."""

    @cached_property
    def _msgspec(self) -> Any:
        return importlib.import_module("msgspec")

    def _reader(self, type: Any) -> Callable[[str | bytes], Any]:
        decode: Callable[[str | bytes], Any] = self._msgspec.json.Decoder(type).decode
        return decode

    @cached_property
    def refusals(self) -> tuple[type[Exception], ...]:
        """The errors that msgspec raises for a text that it refuses."""
        return (self._msgspec.DecodeError, UnicodeDecodeError, RecursionError)

    @cached_property
    def malformed(self) -> type[Exception]:
        """The error that msgspec raises for malformed JSON."""
        error: type[Exception] = self._msgspec.DecodeError
        return error

    @cached_property
    def shape(self) -> Callable[[str | bytes], Any]:
        """Arrays at the top are cut into their items and not decoded."""
        raw = self._msgspec.Raw
        return self._reader(dict[str, list[raw] | dict[str, Any] | str | bool | None])  # type: ignore[valid-type]

    @cached_property
    def absent(self) -> Any:
        """The value of a field that a text does not have."""
        return self._msgspec.UNSET

    def _struct(self, called: str, /, **fields: Any) -> Any:
        """Return a msgspec class whose fields are all optional. The garbage collector does not track its instances."""
        return self._msgspec.defstruct(called, [(name, kind, self.absent) for name, kind in fields.items()], gc=False)

    @cached_property
    def _header(self) -> Any:
        raw = self._msgspec.Raw
        metadata = self._struct("_Metadata", name=str, namespace=str, uid=str, resourceVersion=str, labels=raw,
                                deletionTimestamp=str)  # fmt: skip
        # Only lists have items. Spec and status, which most objects have, are cut out.
        return self._struct("_Header", apiVersion=str, kind=str, metadata=metadata, items=raw, spec=raw, status=raw)

    @cached_property
    def object_header(self) -> Callable[[str | bytes], Any]:
        """The reader of the fields that store, queue, index and selectors ask of every object."""
        return self._reader(self._header)

    @cached_property
    def event_header(self) -> Callable[[str | bytes], Any]:
        """The reader of these fields of the object in an event."""
        return self._reader(self._msgspec.defstruct("_Event", [("type", str), ("object", self._header)], gc=False))

    labels = cached_property(lambda self: self._reader(dict[str, str]))
    anything = cached_property(lambda self: self._reader(Any))
    object_metadata = cached_property(lambda self: self._reader(_ObjectMetadata))
    event_metadata = cached_property(lambda self: self._reader(_EventMetadata))
    object_all_metadata = cached_property(lambda self: self._reader(_ObjectAllMetadata))
    event_all_metadata = cached_property(lambda self: self._reader(_EventAllMetadata))


READ: Final = _Readers()
