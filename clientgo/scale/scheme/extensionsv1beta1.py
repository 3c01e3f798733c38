"""The conversions between extensions/v1beta1 and the internal Scale. Mirrors scale/scheme/extensionsv1beta1.

The Scale of apps/v1beta1 and apps/v1beta2 has the same fields; their modules use these conversions too. Go's generator
writes them once for each group version.
"""

from __future__ import annotations

from typing import TypeAlias

from clientgo.api.apps import v1beta1 as appsv1beta1
from clientgo.api.apps import v1beta2 as appsv1beta2
from clientgo.api.extensions import v1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.scale.scheme.autoscalingv1 import format_selector, parse_selector
from clientgo.scale.scheme.types import Scale

__all__ = ["GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme"]

GROUP_NAME = v1beta1.GROUP_NAME
SCHEME_GROUP_VERSION = v1beta1.SCHEME_GROUP_VERSION

BetaScale: TypeAlias = v1beta1.Scale | appsv1beta1.Scale | appsv1beta2.Scale
"""A Scale whose status has its selector both as labels and as text."""


def add_to_scheme(scheme: Scheme) -> None:
    """Register the kinds of extensions/v1beta1 and the conversions of its Scale. Go: extensionsv1beta1.AddToScheme."""
    v1beta1.add_to_scheme(scheme)
    add_conversions(scheme, v1beta1.Scale)


def add_conversions(scheme: Scheme, cls: type[BetaScale]) -> None:
    """Register the conversions between `cls` and the internal Scale."""
    scheme.add_conversion_func(cls, Scale, _to_internal)
    scheme.add_conversion_func(Scale, cls, _from_internal)


def _to_internal(source: BetaScale, target: Scale) -> None:
    target.metadata = source.metadata.deep_copy()
    target.spec.replicas = source.spec.replicas
    target.status.replicas = source.status.replicas
    if source.status.target_selector:
        target.status.selector = parse_selector(source.status.target_selector)
    elif source.status.selector:
        target.status.selector = metav1.LabelSelector(match_labels=dict(source.status.selector))
    else:
        target.status.selector = None


def _from_internal(source: Scale, target: BetaScale) -> None:
    target.metadata = source.metadata.deep_copy()
    target.spec.replicas = source.spec.replicas
    target.status.replicas = source.status.replicas
    selector = source.status.selector
    target.status.target_selector = format_selector(selector)
    # Labels alone cannot represent expressions.
    has_only_labels = selector is not None and not selector.match_expressions
    target.status.selector = dict(selector.match_labels) if selector is not None and has_only_labels else {}
