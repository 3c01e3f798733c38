"""Guestbook, written by hand as any API type is.

Its definition for the server, config/crd/guestbooks.yaml, is generated from it by hack/update-codegen.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema


class GuestbookSpec(runtime.Struct):
    """The desired state of a Guestbook."""

    size: int | None = runtime.field(
        "size", "*int32", default=None, schema=runtime.Schema(minimum=0, default=1)
    )
    image: str = runtime.field(
        "image", "string", default="", schema=runtime.Schema(min_length=1, default="guestbook:1.0")
    )
    port: int = runtime.field(
        "port", "int32", default=0, schema=runtime.Schema(minimum=1, maximum=65535, default=80)
    )
    title: str = runtime.field("title", "string", default="", schema=runtime.Schema(max_length=100))


class GuestbookStatus(runtime.Struct):
    """The observed state of a Guestbook."""

    ready_replicas: int = runtime.field("readyReplicas", "int32", default=0)
    conditions: MutableSequence[metav1.Condition] = runtime.field(
        "conditions",
        "[]metav1.Condition",
        default=runtime.EMPTY,
        schema=runtime.Schema(list_type="map", list_map_keys=["type"]),
    )


class Guestbook(runtime.ResourceObject):
    """A web page that visitors sign: a Deployment and a Service."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("webapp.example.com", "v1", "Guestbook")
    CRD = runtime.CustomResource(
        singular="guestbook",
        list_kind="GuestbookList",
        short_names=["gb"],
        printer_columns=[
            runtime.PrinterColumn("Size", ".spec.size", "integer"),
            runtime.PrinterColumn("Ready", ".status.readyReplicas", "integer"),
            runtime.PrinterColumn("Available", '.status.conditions[?(@.type=="Available")].status'),
        ],
        descriptions=False,
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: GuestbookSpec = runtime.field(
        "spec", "GuestbookSpec", default=runtime.EMPTY, schema=runtime.Schema(default={})
    )
    status: GuestbookStatus = runtime.field("status", "GuestbookStatus", default=runtime.EMPTY)


class GuestbookList(runtime.ListObject):
    """A list of Guestbooks."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("webapp.example.com", "v1", "GuestbookList")
    ITEM = Guestbook

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Guestbook] = runtime.field("items", "[]Guestbook", default=runtime.EMPTY)
