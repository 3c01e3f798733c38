"""Objects as query parameters. Mirrors apimachinery/pkg/conversion/queryparams/convert.go."""

from __future__ import annotations

from clientgo.apimachinery.runtime.parameters import convert_to_parameters
from clientgo.apimachinery.runtime.structs import Struct

__all__ = ["convert"]


def convert(obj: Struct | None) -> dict[str, list[str]]:
    """Return the scalar and list fields of an object, and those of its structs, by their JSON names. Omits zero values.

    >>> from clientgo.apimachinery.apis.meta import v1
    >>> convert(v1.ListOptions(label_selector="app=web", limit=5, watch=False))
    {'labelSelector': ['app=web'], 'limit': ['5']}

    Raises ValueError for an invalid time. Go: queryparams.Convert.
    """
    return convert_to_parameters(obj) if obj is not None else {}
