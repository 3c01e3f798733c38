"""A decoder for the objects in conversion requests. Mirrors pkg/webhook/conversion/decoder.go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.runtime.schema import GroupVersionKind, from_api_version_and_kind
from clientgo.apimachinery.runtime.view import copy_json

__all__ = ["Decoder", "new_decoder"]

ObjectT = TypeVar("ObjectT", bound=Object)


class Decoder:
    """A decoder of documents into the kinds of a scheme. Thread-safe. Go: conversion.Decoder."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme

    def decode(self, content: Mapping[str, Any]) -> tuple[Object, GroupVersionKind]:
        """Return the object and its kind. Raises the scheme's error for an unknown kind, ValueError for an invalid
        object.

        Go: Decode.
        """
        gvk = from_api_version_and_kind(content.get("apiVersion", ""), content.get("kind", ""))
        return self.decode_into(content, self._scheme.class_for(gvk)), gvk

    def decode_into(self, content: Mapping[str, Any], into: type[ObjectT]) -> ObjectT:
        """Return the object as an instance of `into`. Raises ValueError for a value of a wrong type. Go: DecodeInto."""
        obj = into.from_dict(copy_json(dict(content)))
        check_fields(obj)
        return obj


def new_decoder(scheme: Scheme) -> Decoder:
    """Return a decoder for the kinds of `scheme`. Raises ValueError without one (Go panics). Go: NewDecoder."""
    if scheme is None:
        raise ValueError("scheme should never be nil")
    return Decoder(scheme)
