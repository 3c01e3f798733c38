"""The internal Scale in the group extensions. Mirrors client-go's scale/scheme/extensionsint."""

from __future__ import annotations

from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.interfaces import API_VERSION_INTERNAL
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.scale.scheme.types import Scale

__all__ = ["GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme"]

GROUP_NAME = "extensions"
SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, API_VERSION_INTERNAL)


def add_to_scheme(scheme: Scheme) -> None:
    """Register the internal Scale as a kind of this group. Go: extensionsint.AddToScheme."""
    scheme.add_known_types(SCHEME_GROUP_VERSION, Scale)
