"""Semantic equality of API objects. Mirrors k8s.io/apimachinery/pkg/api/equality/semantic.go.

Go uses reflection with functions for some types. Here an object is a document: a missing field equals an explicit zero
value, a missing list or map equals an empty one, and quantities and times compare by value. Unknown fields from a newer
server (see unknown_fields) compare by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime import Struct
from clientgo.apimachinery.runtime.documents import copied_document_of
from clientgo.apimachinery.runtime.unknown_fields import unknown_fields_of
from clientgo.apimachinery.runtime.view import equal_json


class Equalities:
    """The semantic comparison of objects. Go: conversion.Equalities."""

    def deep_equal(self, a1: Any, a2: Any) -> bool:
        """Report whether both values are semantically equal. Values of different classes never are. O(size).

        Go: DeepEqual.
        """
        # Not recursive: objects may be nested deeper than Python's stack.
        unfinished = [(a1, a2)]
        while unfinished:
            inner = _parts(*unfinished.pop())
            if inner is None:
                return False
            unfinished += inner
        return True


def _parts(one: Any, other: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return the pairs of values that remain to be compared, or None if the values differ."""
    if isinstance(one, Struct) and isinstance(other, Struct):
        return _parts_of_structs(one, other) if type(one) is type(other) else None
    if isinstance(one, (str, bytes)) or isinstance(other, (str, bytes)):
        return () if one == other else None
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return [(one[key], other[key]) for key in one] if one.keys() == other.keys() else None
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return zip(one, other) if len(one) == len(other) else None
    return () if one == other else None


def _parts_of_structs(one: Struct, other: Struct) -> Iterable[tuple[Any, Any]] | None:
    raw1, raw2 = copied_document_of(one), copied_document_of(other)
    if equal_json(raw1, raw2):
        return ()
    if unknown_fields_of(raw1) != unknown_fields_of(raw2):
        return None
    declared = {info.json: attr for attr, info in type(one)._fields.items()}
    names = raw1.keys() | raw2.keys()
    if not all(name in declared or equal_json(raw1.get(name), raw2.get(name)) for name in names):
        return None
    return [(getattr(one, attr), getattr(other, attr)) for attr in map(declared.get, names) if attr is not None]


# The default comparison of API objects. Go: equality.Semantic.
SEMANTIC: Final = Equalities()
