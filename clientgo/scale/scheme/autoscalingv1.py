"""The conversions between autoscaling/v1 and the internal Scale. Mirrors client-go's scale/scheme/autoscalingv1."""

from __future__ import annotations

from clientgo.api.autoscaling import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.scale.scheme.types import Scale

__all__ = ["GROUP_NAME", "SCHEME_GROUP_VERSION", "add_to_scheme"]

GROUP_NAME = v1.GROUP_NAME
SCHEME_GROUP_VERSION = v1.SCHEME_GROUP_VERSION


def add_to_scheme(scheme: Scheme) -> None:
    """Register the kinds of autoscaling/v1 and the conversions of its Scale. Go: autoscalingv1.AddToScheme."""
    v1.add_to_scheme(scheme)
    scheme.add_conversion_func(v1.Scale, Scale, _to_internal)
    scheme.add_conversion_func(Scale, v1.Scale, _from_internal)


def _to_internal(source: v1.Scale, target: Scale) -> None:
    target.metadata = source.metadata.deep_copy()
    target.spec.replicas = source.spec.replicas
    target.status.replicas = source.status.replicas
    target.status.selector = parse_selector(source.status.selector)


def _from_internal(source: Scale, target: v1.Scale) -> None:
    target.metadata = source.metadata.deep_copy()
    target.spec.replicas = source.spec.replicas
    target.status.replicas = source.status.replicas
    target.status.selector = format_selector(source.status.selector)


def parse_selector(text: str) -> metav1.LabelSelector | None:
    """Parse a status's selector; "" is None. Raises ValueError."""
    if not text:
        return None
    try:
        return metav1.parse_to_label_selector(text)
    except ValueError as err:
        raise ValueError(f"failed to parse target selector: {err}") from err


def format_selector(selector: metav1.LabelSelector | None) -> str:
    """Return a status's selector as text; None is "". Raises ValueError."""
    if selector is None:
        return ""
    try:
        return str(metav1.label_selector_as_selector(selector))
    except Exception as err:
        raise ValueError(f"invalid label selector: {err}") from err
