"""A client of the scale subresource of any resource. Mirrors k8s.io/client-go/scale."""

from clientgo.scale.client import new, new_for_config
from clientgo.scale.interfaces import ScaleInterface, ScalesGetter
from clientgo.scale.util import (
    PreferredResourceMapper,
    ScaleConverter,
    ScaleKindResolver,
    new_discovery_scale_kind_resolver,
    new_scale_converter,
)

__all__ = [
    "PreferredResourceMapper",
    "ScaleConverter",
    "ScaleInterface",
    "ScaleKindResolver",
    "ScalesGetter",
    "new",
    "new_discovery_scale_kind_resolver",
    "new_for_config",
    "new_scale_converter",
]
