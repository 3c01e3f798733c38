"""The type converter and the types of the built-in kinds. Mirrors k8s.io/client-go/applyconfigurations/utils.go.

Difference from Go: the converter needs no scheme; unknown kinds merge by the shape of their JSON, where Go returns an
error.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from clientgo.api import facts
from clientgo.apimachinery.util.managedfields import DEDUCED_OBJECT, Node, TypeConverter
from clientgo.applyconfigurations.internal import of_kind

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.object import Object
    from clientgo.apimachinery.runtime.schema import GroupVersionKind

_GO_API = "k8s.io/api/"


def new_type_converter() -> TypeConverter:
    """Return the converter for the built-in kinds. Go: applyconfigurations.NewTypeConverter."""
    return _convert


def _convert(gvk: GroupVersionKind) -> Node:
    group_version, kind = gvk.to_api_version_and_kind()
    return of_kind(group_version, kind) or DEDUCED_OBJECT


def for_kind(gvk: GroupVersionKind) -> type[Object] | None:
    """Return the type of a built-in kind, or None for any other. Imports its package. Go: ForKind."""
    package = facts.package_of_kind(str(gvk.group_version()), gvk.kind)
    if package is None or not package.startswith(_GO_API):
        return None
    module = import_module(f"clientgo.api.{package.removeprefix(_GO_API).replace('/', '.')}")
    found: type[Object] | None = getattr(module, gvk.kind, None)
    return found
