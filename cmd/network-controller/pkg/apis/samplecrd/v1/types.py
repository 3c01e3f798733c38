"""Network, written by hand as any API type is. Mirrors types.go.

Its clients, informers and listers are generated from it, and crd/network.yaml.

The walkthrough's `+genclient:noStatus` is the list of verbs without `updateStatus`; its `+k8s:deepcopy-gen` has no
counterpart, since every object here can `deep_copy()`.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema

_VERBS_WITHOUT_STATUS = ("create", "update", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply")


class NetworkSpec(runtime.Struct):
    """The desired state of a Network."""

    cidr: str = runtime.field("cidr", "string", default="")
    gateway: str = runtime.field("gateway", "string", default="")


class Network(runtime.ResourceObject):
    """A network, by its address range and its gateway."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("samplecrd.k8s.io", "v1", "Network")
    GENCLIENT = runtime.Genclient("networks", verbs=_VERBS_WITHOUT_STATUS)
    CRD = runtime.CustomResource(
        singular="network",
        short_names=["nw"],
        annotations={"api-approved.kubernetes.io": "unapproved, experimental-only; an example"},
        descriptions=False,
        number_formats=False,
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: NetworkSpec = runtime.field("spec", "NetworkSpec", default=runtime.EMPTY)


class NetworkList(runtime.ListObject):
    """A list of Networks."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("samplecrd.k8s.io", "v1", "NetworkList")
    ITEM = Network

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Network] = runtime.field("items", "[]Network", default=runtime.EMPTY)
