"""The conversions between apps/v1beta2 and the internal Scale. Mirrors client-go's scale/scheme/appsv1beta2."""

from __future__ import annotations

from clientgo.api.apps import v1beta2
from clientgo.apimachinery.runtime import Scheme
from clientgo.scale.scheme.extensionsv1beta1 import add_conversions

__all__ = ["GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme"]

GROUP_NAME = v1beta2.GROUP_NAME
SCHEME_GROUP_VERSION = v1beta2.SCHEME_GROUP_VERSION


def add_to_scheme(scheme: Scheme) -> None:
    """Register the kinds of apps/v1beta2 and the conversions of its Scale. Go: appsv1beta2.AddToScheme."""
    v1beta2.add_to_scheme(scheme)
    add_conversions(scheme, v1beta2.Scale)
