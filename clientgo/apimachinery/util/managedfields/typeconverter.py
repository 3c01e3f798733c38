"""Converters from a kind to its merge semantics. Mirrors k8s.io/apimachinery/pkg/util/managedfields/typeconverter.go.

Here a converter is a function that returns only the type; documents stay plain.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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


def new_type_converter(openapi_spec: Mapping[str, Any], preserve_unknown_fields: bool) -> TypeConverter:
    """Return a converter for the kinds in the schemas of OpenAPI documents, by their names.

    The converter raises KeyError for a kind without schema. Thread-safe. Go: managedfields.NewTypeConverter.
    """
    return _OpenAPI(openapi_spec, preserve_unknown_fields).of_kind


class _OpenAPI:
    """The nodes of OpenAPI schemas, made on first use; schemas may be recursive."""

    def __init__(self, schemas: Mapping[str, Any], preserve_unknown_fields: bool) -> None:
        self._schemas = schemas
        self._preserve = preserve_unknown_fields
        self._names: dict[tuple[str, str, str], str] = {}
        for name, schema in schemas.items():
            for gvk in schema.get("x-kubernetes-group-version-kind") or ():
                self._names[gvk.get("group", ""), gvk.get("version", ""), gvk.get("kind", "")] = name
        # Guards _nodes, so that other threads do not see a node before its fields are known.
        self._lock = threading.RLock()
        self._nodes: dict[str, Node] = {}

    def of_kind(self, gvk: GroupVersionKind) -> Node:
        name = self._names.get((gvk.group, gvk.version, gvk.kind))
        if name is None:
            raise KeyError(f"no corresponding type for {gvk}")
        with self._lock:
            return self._of_name(name)

    def _of_name(self, name: str) -> Node:
        known = self._nodes.get(name)
        if known is not None:
            return known
        node = self._nodes[name] = Node("leaf")
        made = self._of(self._schemas.get(name) or {})
        for attribute in Node.__slots__:
            setattr(node, attribute, getattr(made, attribute))
        return node

    def _of(self, doc: dict[str, Any] | None, root: bool = False) -> Node:
        doc = doc or {}
        name = _reference(doc)
        if name is not None:
            node = self._of_name(name)
            return Node("leaf", inside=node) if doc.get("x-kubernetes-map-type") == "atomic" else node
        if doc.get("oneOf") or doc.get("format") == "int-or-string":
            return SCALARS["untyped"]
        node = of_schema(doc, of=self._of, resolve=self._resolve)
        if self._preserve and node.kind == "struct" and node.elem is None:
            node.elem = DEDUCED
        return node

    def _resolve(self, doc: dict[str, Any]) -> dict[str, Any]:
        name = _reference(doc)
        return doc if name is None else self._schemas.get(name) or {}


def _reference(doc: dict[str, Any]) -> str | None:
    """Return the schema's name in a reference, which OpenAPI v3 puts into allOf beside other keys."""
    all_of = doc.get("allOf")
    ref = all_of[0].get("$ref") if isinstance(all_of, list) and len(all_of) == 1 else doc.get("$ref")
    return ref.rpartition("/")[2] if isinstance(ref, str) else None


_OfSchema: TypeAlias = Callable[[dict[str, Any] | None], Node]


def of_schema(
    doc: dict[str, Any] | None,
    root: bool = False,
    *,
    of: _OfSchema | None = None,
    resolve: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Node:
    """Return the node of a CRD's structural schema, or of the whole object with `root`.

    `of` makes the nodes of inner schemas, `resolve` follows a reference.
    """
    of = of or of_schema
    if not doc:
        return DEDUCED_OBJECT if root else DEDUCED
    if doc.get("x-kubernetes-int-or-string"):
        return SCALARS["untyped"]
    if doc.get("type") == "array":
        return _of_array(doc, of, resolve)
    if doc.get("type") != "object" and not doc.get("properties") and not doc.get(_PRESERVE):
        return _of_scalar(doc)
    node = _of_object(doc, of)
    if root or doc.get("x-kubernetes-embedded-resource"):
        node.fields.update(apiVersion=SCALARS["string"], kind=SCALARS["string"], metadata=OBJECT_META)
    return Node("leaf", inside=node) if doc.get("x-kubernetes-map-type") == "atomic" else node


_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_JSON_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}


def _of_scalar(doc: dict[str, Any]) -> Node:
    scalar = "untyped" if doc.get("format") == "date-time" else _JSON_SCALARS.get(doc.get("type", ""), "")
    return SCALARS[scalar] if scalar else LEAF


def _of_object(doc: dict[str, Any], of: _OfSchema) -> Node:
    fields = {name: of(inner) for name, inner in (doc.get("properties") or {}).items()}
    more = doc.get("additionalProperties")
    if isinstance(more, dict):
        return Node("struct" if fields else "map", fields=fields, elem=of(more))
    # An object without a schema may have any fields.
    is_open = more is True or doc.get(_PRESERVE) or not fields
    return Node("struct" if fields else "map", fields=fields, elem=DEDUCED if is_open else None)


def _of_array(
    doc: dict[str, Any], of: _OfSchema, resolve: Callable[[dict[str, Any]], dict[str, Any]]
) -> Node:
    kind = doc.get("x-kubernetes-list-type")
    items: dict[str, Any] = doc["items"] if isinstance(doc.get("items"), dict) else {}
    elem = of(items)
    if kind == "set":
        return Node("set", elem=elem)
    if kind == "map":
        properties = resolve(items).get("properties") or {}
        keys = tuple(doc.get("x-kubernetes-list-map-keys") or ())
        defaults = {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}
        return Node("assoc", elem=elem, keys=keys, defaults=defaults)
    return Node("leaf", inside=Node("list", elem=elem))
