"""The interfaces of scale clients. Mirrors client-go's scale/interfaces.go."""

from __future__ import annotations

from typing import Protocol

from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context

__all__ = ["ScaleInterface", "ScalesGetter"]


class ScaleInterface(Protocol):
    """The scales of any resources with the scale subresource, in one namespace. Go: scale.ScaleInterface.

    All methods block and may be called from any thread. They raise StatusError if the server rejects the request,
    URLError if it cannot be reached, ValueError for a resource without scale or a response that is not a scale.
    """

    def get(
        self, ctx: Context, resource: GroupResource, name: str, opts: metav1.GetOptions | None = None
    ) -> autoscalingv1.Scale:
        """Return the scale of the named object. Go: Get."""
        ...

    def update(
        self,
        ctx: Context,
        resource: GroupResource,
        scale: autoscalingv1.Scale,
        opts: metav1.UpdateOptions | None = None,
    ) -> autoscalingv1.Scale:
        """Replace the scale of the object that `scale` names. Go: Update."""
        ...

    def patch(
        self,
        ctx: Context,
        gvr: GroupVersionResource,
        name: str,
        pt: PatchType,
        data: bytes,
        opts: metav1.PatchOptions | None = None,
    ) -> autoscalingv1.Scale:
        """Patch the scale of the named object. Go: Patch."""
        ...


class ScalesGetter(Protocol):
    """A factory of scale clients. Go: scale.ScalesGetter."""

    def scales(self, namespace: str) -> ScaleInterface:
        """Return the client of a namespace's scales; "" selects cluster-scoped resources. Go: Scales."""
        ...

    def close(self) -> None:
        """Close the idle connections; the client can be used again. No Go identifier."""
        ...
