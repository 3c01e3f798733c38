"""Semantic equality of API objects. Mirrors k8s.io/apimachinery/pkg/api/equality/semantic.go.

Go uses reflection with functions for some types. Here an object is a document: a missing field equals an explicit zero
value, a missing list or map equals an empty one, and quantities and times compare by value. Unknown fields from a newer
server (see unknown_fields) compare by their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime import Struct
from clientgo.apimachinery.runtime.documents import copied_document_of
from clientgo.apimachinery.runtime.unknown_fields import unknown_fields_of


class Equalities:
    """The semantic comparison of objects. Go: conversion.Equalities."""

    def deep_equal(self, a1: Any, a2: Any) -> bool:
        """Report whether both values are semantically equal. Values of different classes never are. O(size).

        Go: DeepEqual.
        """
        if isinstance(a1, Struct) and isinstance(a2, Struct):
            return type(a1) is type(a2) and self._same_struct(a1, a2)
        if isinstance(a1, (str, bytes)) or isinstance(a2, (str, bytes)):
            return bool(a1 == a2)
        if isinstance(a1, Mapping) and isinstance(a2, Mapping):
            return a1.keys() == a2.keys() and all(self.deep_equal(a1[key], a2[key]) for key in a1)
        if isinstance(a1, Sequence) and isinstance(a2, Sequence):
            return len(a1) == len(a2) and all(map(self.deep_equal, a1, a2))
        return bool(a1 == a2)

    def _same_struct(self, a1: Struct, a2: Struct) -> bool:
        raw1, raw2 = copied_document_of(a1), copied_document_of(a2)
        if raw1 == raw2:
            return True
        if unknown_fields_of(raw1) != unknown_fields_of(raw2):
            return False
        declared = {info.json: attr for attr, info in type(a1)._fields.items()}
        names = raw1.keys() | raw2.keys()
        return all(
            self.deep_equal(getattr(a1, declared[name]), getattr(a2, declared[name]))
            if name in declared
            else raw1.get(name) == raw2.get(name)
            for name in names
        )


# The default comparison of API objects. Go: equality.Semantic.
SEMANTIC: Final = Equalities()
