"""A type converter that tries several others. Mirrors pkg/client/fake/typeconverter.go."""

from __future__ import annotations

from collections.abc import Sequence

from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util.errors import new_aggregate
from clientgo.apimachinery.util.managedfields import Node, TypeConverter


def multi_type_converter(upstream: Sequence[TypeConverter]) -> TypeConverter:
    """Return a converter that returns the first converter's result. Raises the last error if none accepts the object.

    Go: multiTypeConverter.
    """

    def convert(gvk: GroupVersionKind) -> Node:
        errors: list[Exception] = []
        for converter in upstream:
            try:
                return converter(gvk)
            except Exception as err:
                errors.append(err)
        raise ValueError(f"failed to convert Object to TypedValue: {new_aggregate(errors)}")

    return convert
