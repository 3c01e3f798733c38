"""A fake scale client for tests. Mirrors client-go's scale/fake/client.go."""

from __future__ import annotations

from clientgo import testing
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.scale.interfaces import ScaleInterface

__all__ = ["FakeScaleClient"]


class FakeScaleClient(testing.Fake):
    """A fake of scale.ScalesGetter without objects: reactors supply the scales. Go: fake.FakeScaleClient.

    Without a reactor, each call returns an empty Scale. As in Go, actions of `get` and `update` have no version.
    """

    def scales(self, namespace: str) -> ScaleInterface:
        """Return the fake client of a namespace's scales. Go: Scales."""
        return _FakeNamespacedScaleClient(self, namespace)

    def close(self) -> None:
        """Do nothing, since there are no connections."""


class _FakeNamespacedScaleClient:
    """See ScaleInterface. Go: fakeNamespacedScaleClient."""

    def __init__(self, fake: testing.Fake, namespace: str) -> None:
        self._fake = fake
        self._namespace = namespace

    def get(
        self, ctx: Context, resource: GroupResource, name: str, opts: metav1.GetOptions | None = None
    ) -> autoscalingv1.Scale:
        return self._invoke(
            testing.new_get_subresource_action(resource.with_version(""), self._namespace, "scale", name)
        )

    def update(
        self,
        ctx: Context,
        resource: GroupResource,
        scale: autoscalingv1.Scale,
        opts: metav1.UpdateOptions | None = None,
    ) -> autoscalingv1.Scale:
        return self._invoke(
            testing.new_update_subresource_action(resource.with_version(""), "scale", self._namespace, scale)
        )

    def patch(
        self,
        ctx: Context,
        gvr: GroupVersionResource,
        name: str,
        pt: PatchType,
        data: bytes,
        opts: metav1.PatchOptions | None = None,
    ) -> autoscalingv1.Scale:
        return self._invoke(testing.new_patch_subresource_action(gvr, self._namespace, name, pt, data, "scale"))

    def _invoke(self, action: testing.Action) -> autoscalingv1.Scale:
        found = self._fake.invokes(action, autoscalingv1.Scale())
        if not isinstance(found, autoscalingv1.Scale):
            raise TypeError(f"unexpected return value type {type(found).__name__}")
        return found
