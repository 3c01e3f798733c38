"""The internal version of Scale, the intermediate of all conversions. Mirrors scale/scheme/types.go."""

from __future__ import annotations

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
from clientgo.apimachinery.runtime.interfaces import API_VERSION_INTERNAL

__all__ = ["Scale", "ScaleSpec", "ScaleStatus"]


class ScaleSpec(runtime.Struct):
    """The desired state of a Scale. Go: scheme.ScaleSpec."""

    replicas: int = runtime.field("replicas", "int32", default=0, omitempty=True)
    """Number of desired replicas."""


class ScaleStatus(runtime.Struct):
    """The observed state of a Scale. Go: scheme.ScaleStatus."""

    replicas: int = runtime.field("replicas", "int32", default=0)
    """Number of observed replicas."""
    selector: metav1.LabelSelector | None = runtime.field(
        "selector", "*metav1.LabelSelector", default=None, omitempty=True
    )
    """Selector of the replicas' pods; None if it is unknown."""


class Scale(runtime.ResourceObject):
    """The scale subresource of a resource, in the internal version. Go: scheme.Scale."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("autoscaling", API_VERSION_INTERNAL, "Scale")

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY, omitempty=True)
    """Metadata of the scaled object."""
    spec: ScaleSpec = runtime.field("spec", "ScaleSpec", default=runtime.EMPTY, omitempty=True)
    """The desired state."""
    status: ScaleStatus = runtime.field("status", "ScaleStatus", default=runtime.EMPTY, omitempty=True)
    """The observed state."""
