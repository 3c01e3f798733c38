"""A registry of converters by kind. Mirrors pkg/webhook/conversion/conversion_registry.go."""

from __future__ import annotations

import threading
from typing import Protocol

from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.runtime.schema import GroupKind
from clientgo.context import Context

__all__ = ["Converter", "Registry", "new_registry"]


class Converter(Protocol):
    """A converter between the versions of one kind. Several threads call it concurrently. Go: conversion.Converter."""

    def convert_object(self, ctx: Context, src: Object, dst: Object, /) -> None:
        """Fill `dst` from `src`, another version of it. Go: ConvertObject."""
        ...


class Registry(Protocol):
    """A registry of converters by kind. Go: conversion.Registry."""

    def register_converter(self, gk: GroupKind, converter: Converter) -> None:
        """Register the kind's converter. Raises ValueError for a second one. Go: RegisterConverter."""
        ...

    def get_converter(self, gk: GroupKind) -> tuple[Converter | None, bool]:
        """Return the converter of the kind and True, or None and False. Go: GetConverter."""
        ...


class _Registry:
    """Go: registry."""

    def __init__(self) -> None:
        # Guards _converters.
        self._lock = threading.Lock()
        self._converters: dict[GroupKind, Converter] = {}

    def register_converter(self, gk: GroupKind, converter: Converter) -> None:
        with self._lock:
            if gk in self._converters:
                raise ValueError(f"failed to register converter for GroupKind {gk}: converter already registered")
            self._converters[gk] = converter

    def get_converter(self, gk: GroupKind) -> tuple[Converter | None, bool]:
        with self._lock:
            converter = self._converters.get(gk)
        return converter, converter is not None


def new_registry() -> Registry:
    """Return an empty registry. Go: NewRegistry."""
    return _Registry()
