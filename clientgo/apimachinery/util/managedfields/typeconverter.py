"""Converters from a kind to its merge semantics. Mirrors k8s.io/apimachinery/pkg/util/managedfields/typeconverter.go.

Here a converter is a function that returns only the type; documents stay plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from clientgo.apimachinery.util.managedfields.schema import DEDUCED, LEAF, SCALARS, Node

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.schema import GroupVersionKind

TypeConverter: TypeAlias = Callable[["GroupVersionKind"], Node]
"""A function that returns the merge semantics of a kind. Go: managedfields.TypeConverter."""


def _object_meta() -> Node:
    string, time, number, boolean = SCALARS["string"], SCALARS["untyped"], SCALARS["numeric"], SCALARS["boolean"]
    strings = Node("map", elem=string)
    owner = Node("struct", fields=dict.fromkeys(("apiVersion", "kind", "name", "uid"), string))
    owner.fields.update(controller=boolean, blockOwnerDeletion=boolean)
    entry = Node("struct", fields=dict.fromkeys(("manager", "operation", "apiVersion"), string))
    entry.fields.update(time=time, fieldsType=string, fieldsV1=LEAF, subresource=string)
    names = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
    return Node(
        "struct",
        fields={
            **dict.fromkeys(names, string),
            "generation": number,
            "creationTimestamp": time,
            "deletionTimestamp": time,
            "deletionGracePeriodSeconds": number,
            "labels": strings,
            "annotations": strings,
            "ownerReferences": Node("assoc", elem=Node("leaf", inside=owner), keys=("uid",)),
            "finalizers": Node("set", elem=string),
            "managedFields": Node("leaf", inside=Node("list", elem=entry)),
        },
    )


OBJECT_META = _object_meta()
"""The node of metav1.ObjectMeta, which every kind has."""

DEDUCED_OBJECT = Node("deduced", fields={"metadata": OBJECT_META}, elem=DEDUCED)
"""The node of an object with an unknown schema, except its metadata."""


def new_deduced_type_converter() -> TypeConverter:
    """Return a converter that derives every kind's semantics from its JSON.

    Go: managedfields.NewDeducedTypeConverter.
    """
    return lambda gvk: DEDUCED_OBJECT


def of_schema(doc: dict[str, Any] | None, root: bool = False) -> Node:
    """Return the node of a CRD's structural schema, or of the whole object with `root`."""
    if not doc:
        return DEDUCED_OBJECT if root else DEDUCED
    if doc.get("x-kubernetes-int-or-string"):
        return SCALARS["untyped"]
    if doc.get("type") == "array":
        return _of_array(doc)
    if doc.get("type") != "object" and not doc.get("properties") and not doc.get(_PRESERVE):
        return _of_scalar(doc)
    node = _of_object(doc)
    if root or doc.get("x-kubernetes-embedded-resource"):
        node.fields.update(apiVersion=SCALARS["string"], kind=SCALARS["string"], metadata=OBJECT_META)
    return Node("leaf", inside=node) if doc.get("x-kubernetes-map-type") == "atomic" else node


_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_JSON_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}


def _of_scalar(doc: dict[str, Any]) -> Node:
    scalar = "untyped" if doc.get("format") == "date-time" else _JSON_SCALARS.get(doc.get("type", ""), "")
    return SCALARS[scalar] if scalar else LEAF


def _of_object(doc: dict[str, Any]) -> Node:
    fields = {name: of_schema(inner) for name, inner in (doc.get("properties") or {}).items()}
    more = doc.get("additionalProperties")
    if isinstance(more, dict):
        return Node("struct" if fields else "map", fields=fields, elem=of_schema(more))
    # An object without a schema may have any fields.
    is_open = more is True or doc.get(_PRESERVE) or not fields
    return Node("struct" if fields else "map", fields=fields, elem=DEDUCED if is_open else None)


def _of_array(doc: dict[str, Any]) -> Node:
    kind = doc.get("x-kubernetes-list-type")
    items: dict[str, Any] = doc["items"] if isinstance(doc.get("items"), dict) else {}
    elem = of_schema(items)
    if kind == "set":
        return Node("set", elem=elem)
    if kind == "map":
        properties = items.get("properties") or {}
        keys = tuple(doc.get("x-kubernetes-list-map-keys") or ())
        defaults = {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}
        return Node("assoc", elem=elem, keys=keys, defaults=defaults)
    return Node("leaf", inside=Node("list", elem=elem))
