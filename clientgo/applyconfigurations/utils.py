"""The type converter of the built-in kinds. Mirrors k8s.io/client-go/applyconfigurations/utils.go.

Difference from Go: the converter needs no scheme; unknown kinds merge by the shape of their JSON, where Go returns an
error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo.apimachinery.util.managedfields import DEDUCED_OBJECT, Node, TypeConverter
from clientgo.applyconfigurations.internal import of_kind

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.schema import GroupVersionKind


def new_type_converter() -> TypeConverter:
    """Return the converter for the built-in kinds. Go: applyconfigurations.NewTypeConverter."""
    return _convert


def _convert(gvk: GroupVersionKind) -> Node:
    group_version, kind = gvk.to_api_version_and_kind()
    return of_kind(group_version, kind) or DEDUCED_OBJECT
