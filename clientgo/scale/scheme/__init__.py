"""The internal version of Scale and its conversions. Mirrors k8s.io/client-go/scale/scheme."""

from clientgo.scale.scheme.register import (
    GROUP_NAME,
    SCHEME_BUILDER,
    SCHEME_GROUP_VERSION,
    add_to_scheme,
    kind,
    resource,
)
from clientgo.scale.scheme.types import Scale, ScaleSpec, ScaleStatus

__all__ = [
    "GROUP_NAME",
    "SCHEME_BUILDER",
    "SCHEME_GROUP_VERSION",
    "Scale",
    "ScaleSpec",
    "ScaleStatus",
    "add_to_scheme",
    "kind",
    "resource",
]
