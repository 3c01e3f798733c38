"""An API type with a field of each kind, for the tests of its definition."""

from __future__ import annotations

import enum
from collections.abc import MutableMapping, MutableSequence
from datetime import datetime
from typing import Any

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api.resource import Quantity
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema


class Size(enum.Enum):
    SMALL = "S"
    LARGE = "L"


class Topping(runtime.Struct):
    """An ingredient on top."""

    name: str = runtime.field("name", "string", default="", schema=runtime.Schema(required=True))
    grams: int = runtime.field("grams", "int64", default=0)


class Template(runtime.Struct):
    """The dish of an order.

    A second paragraph, over
    two lines.
    """

    SCHEMA = runtime.Schema(max_properties=5)

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)


class OrderSpec(runtime.Struct):
    SCHEMA = runtime.Schema(cel=[runtime.ValidationRule("self.count < 5 || self.size == 'L'", message="too many")])

    size: str = runtime.field("size", "string", default="", schema=runtime.Schema(required=True, enum=Size))
    # How many, of the
    # same kind.
    count: int | None = runtime.field(
        "count", "*int32", default=None, schema=runtime.Schema(minimum=1, maximum=10, default=1)
    )
    code: str = runtime.field("code", "string", default="", schema=runtime.Schema(pattern="^[a-z]+$", max_length=5))
    """The name in the kitchen."""
    tags: MutableSequence[str] = runtime.field(
        "tags",
        "[]string",
        default=runtime.EMPTY,
        schema=runtime.Schema(max_items=2, list_type="set", items=runtime.Schema(min_length=2)),
    )
    toppings: MutableSequence[Topping] = runtime.field(
        "toppings",
        "[]Topping",
        default=runtime.EMPTY,
        schema=runtime.Schema(list_type="map", list_map_keys=["name"]),
    )
    prices: MutableMapping[str, Quantity] = runtime.field("prices", "map[string]quantity", default=runtime.EMPTY)
    port: int | str = runtime.field("port", "intstr.IntOrString", default=0)
    due: datetime | None = runtime.field("due", "metav1.Time", default=None, schema=runtime.Schema(nullable=True))
    weight: float = runtime.field("weight", "float64", default=0.0)
    seal: bytes = runtime.field("seal", "[]byte", default=b"")
    wait: float = runtime.field("wait", "metav1.Duration", default=0.0)
    paid: bool = runtime.field("paid", "bool", default=False)
    table: int = runtime.field("table", "uint8", default=0)
    extra: Any = runtime.field("extra", "runtime.RawExtension", default=None)
    template: Template = runtime.field("template", "Template", default=runtime.EMPTY)
    pod: corev1.PodSpec = runtime.field(
        "pod", "corev1.PodSpec", default=runtime.EMPTY, schema=runtime.Schema(preserve_unknown_fields=True)
    )
    resources: corev1.ResourceRequirements = runtime.field(
        "resources", "corev1.ResourceRequirements", default=runtime.EMPTY
    )


class OrderStatus(runtime.Struct):
    replicas: int = runtime.field("replicas", "int32", default=0)


class Order(runtime.ResourceObject):
    """An order."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Order")
    GENCLIENT = runtime.Genclient("orders")
    CRD = runtime.CustomResource(
        short_names=["ord"],
        categories=["all"],
        scale=runtime.ScaleSubresource(spec_replicas_path=".spec.count"),
        printer_columns=[
            runtime.PrinterColumn("Size", ".spec.size"),
            runtime.PrinterColumn("Due", ".spec.due", "date", priority=1),
        ],
        selectable_fields=[".spec.size"],
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: OrderSpec = runtime.field("spec", "OrderSpec", default=runtime.EMPTY)
    status: OrderStatus = runtime.field("status", "OrderStatus", default=runtime.EMPTY)


class OldOrder(runtime.ResourceObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1beta1", "Order")
    GENCLIENT = runtime.Genclient("orders")
    CRD = runtime.CustomResource(storage=False, deprecated=True, deprecation_warning="take v1")

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: OrderSpec = runtime.field("spec", "OrderSpec", default=runtime.EMPTY)
