"""The group version of the internal Scale. Mirrors client-go's scale/scheme/register.go."""

from __future__ import annotations

from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.interfaces import API_VERSION_INTERNAL
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersion
from clientgo.apimachinery.runtime.scheme_builder import new_scheme_builder
from clientgo.scale.scheme.types import Scale

__all__ = ["GROUP_NAME", "SCHEME_BUILDER", "SCHEME_GROUP_VERSION", "add_to_scheme", "kind", "resource"]

GROUP_NAME = "autoscaling"
SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, API_VERSION_INTERNAL)


def kind(name: str) -> GroupKind:
    """Return a kind of this group. Go: scheme.Kind."""
    return SCHEME_GROUP_VERSION.with_kind(name).group_kind()


def resource(name: str) -> GroupResource:
    """Return a resource of this group. Go: scheme.Resource."""
    return SCHEME_GROUP_VERSION.with_resource(name).group_resource()


def _add_known_types(scheme: Scheme) -> None:
    scheme.add_known_types(SCHEME_GROUP_VERSION, Scale)


SCHEME_BUILDER = new_scheme_builder(_add_known_types)


def add_to_scheme(scheme: Scheme) -> None:
    """Register the internal Scale in `scheme`. Go: scheme.AddToScheme."""
    SCHEME_BUILDER.add_to_scheme(scheme)
