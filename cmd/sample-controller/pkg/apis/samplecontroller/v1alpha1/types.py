"""Foo, written by hand as any API type is. Mirrors types.go.

Its clients, informers and listers are generated from it, and artifacts/examples/crd.yaml.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema

_ONE_TO_TEN = runtime.Schema(minimum=1, maximum=10)


class FooSpec(runtime.Struct):
    """The desired state of a Foo."""

    deployment_name: str = runtime.field("deploymentName", "string", default="")
    replicas: int | None = runtime.field("replicas", "*int32", default=None, schema=_ONE_TO_TEN)


class FooStatus(runtime.Struct):
    """The observed state of a Foo."""

    available_replicas: int = runtime.field("availableReplicas", "int32", default=0)


class Foo(runtime.ResourceObject):
    """A Deployment of nginx, by name and size."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("samplecontroller.k8s.io", "v1alpha1", "Foo")
    GENCLIENT = runtime.Genclient("foos")
    CRD = runtime.CustomResource(
        annotations={"api-approved.kubernetes.io": "unapproved, experimental-only; an example"},
        descriptions=False,
        number_formats=False,
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: FooSpec = runtime.field("spec", "FooSpec", default=runtime.EMPTY)
    status: FooStatus = runtime.field("status", "FooStatus", default=runtime.EMPTY)


class FooList(runtime.ListObject):
    """A list of Foos."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("samplecontroller.k8s.io", "v1alpha1", "FooList")
    ITEM = Foo

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Foo] = runtime.field("items", "[]Foo", default=runtime.EMPTY)
