"""Merge semantics of a type: which lists are associative, which values are atomic.

One small interface, Node, over two sources: the facts about built-in types and the structural schemas of CRDs.
Server-side apply (apply.py) works on it alone. Mirrors the schema package of structured-merge-diff.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from clientgo.testing.apiserver import schema

Json = dict[str, Any]


class Node:
    """How one value merges, and what it may be.

    kind: "leaf" (scalar or atomic), "struct" (named fields), "map" (any key), "assoc" (list by keys), "set", "list"
    (only inside of an atomic list), "deduced" (no schema). A struct without `elem` has the fields of `fields` only.
    """

    __slots__ = ("defaults", "elem", "fields", "inside", "keys", "kind", "scalar")

    def __init__(
        self,
        kind: str,
        *,
        fields: dict[str, Node] | None = None,
        elem: Node | None = None,
        keys: tuple[str, ...] = (),
        defaults: Json | None = None,
        inside: Node | None = None,
        scalar: str = "",
    ) -> None:
        self.kind = kind
        self.fields = fields if fields is not None else {}
        self.elem = elem
        self.keys = keys
        # Values of keys that an item may leave out.
        self.defaults = defaults or {}
        # What an atomic value is made of.
        self.inside = inside
        # "numeric", "string", "boolean", "untyped" (any of them), or "" for a value that nobody knows.
        self.scalar = scalar

    def child(self, name: str) -> Node:
        """The node of a map entry or struct field; unknown ones merge as their JSON suggests."""
        known = self.fields.get(name)
        if known is not None:
            return known
        return self.elem or DEDUCED

    def __repr__(self) -> str:
        return f"<Node {self.kind} {','.join(self.keys)}>"


LEAF = Node("leaf")
_SCALARS = {name: Node("leaf", scalar=name) for name in ("numeric", "string", "boolean", "untyped")}
# A value without schema: objects merge key by key, lists are atomic.
DEDUCED = Node("deduced")
DEDUCED.elem = DEDUCED

_KEY_DEFAULTS = {"protocol": "TCP"}
_EXTRA_FACTS: dict[str, Json] = {
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus": {"conditions": ["type"]},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec": {},
}
# The schema documents of a CRD version are atomic as part of the versions list, nothing to add here.


@cache
def of_struct(package: str, name: str) -> Node:
    """The node of a built-in type."""
    struct = schema.structure(package, name)
    facts = schema.merge_facts(struct.definition) or _EXTRA_FACTS.get(struct.definition, {})
    fields = Node("struct")
    node = Node("leaf", inside=fields) if facts.get("") == "atomic" else fields
    _BUILDING[package, name] = node
    for field in struct.fields.values():
        fields.fields[field.json] = _of_field(field, package, facts.get(field.json))
    return node


_BUILDING: dict[tuple[str, str], Node] = {}


def _of_codec(codec: schema.Codec | None) -> Node:
    if codec is None:
        return LEAF
    struct = codec.struct
    if struct is None:
        scalar = schema.scalar(codec)
        return _SCALARS[scalar] if scalar else LEAF
    building = _BUILDING.get((struct.package, struct.name))
    return building if building is not None else of_struct(struct.package, struct.name)


def _of_field(field: schema.Field, package: str, fact: Any) -> Node:
    if field.type.endswith("FieldsV1"):
        return LEAF
    kind = schema.collection_kind(field.type, package)
    if kind not in ("map", "list"):
        node = _of_codec(schema.codec(field.type.lstrip("*"), package))
        return Node("leaf", inside=node) if fact == "atomic" and node.kind == "struct" else node
    elem = _of_codec(schema.element(field.type, package))
    if kind == "map":
        node = Node("map", elem=elem)
        return Node("leaf", inside=node) if fact == "atomic" else node
    if fact == "set":
        return Node("set", elem=elem)
    if isinstance(fact, list):
        defaults = {key: _KEY_DEFAULTS[key] for key in fact if key in _KEY_DEFAULTS}
        return Node("assoc", elem=elem, keys=tuple(fact), defaults=defaults)
    return Node("leaf", inside=Node("list", elem=elem))


_OBJECT_META: list[Node] = []


def object_meta() -> Node:
    if not _OBJECT_META:
        _OBJECT_META.append(of_struct(schema.META_V1, "ObjectMeta"))
    return _OBJECT_META[0]


def of_schema(doc: Json | None, root: bool = False) -> Node:
    """The node of a structural schema."""
    if not doc:
        return DEDUCED if not root else Node("deduced", fields={"metadata": object_meta()}, elem=DEDUCED)
    if doc.get("x-kubernetes-int-or-string"):
        return _SCALARS["untyped"]
    if doc.get("type") == "array":
        return _of_array(doc)
    if doc.get("type") != "object" and not doc.get("properties") and not doc.get(_PRESERVE):
        return _of_scalar(doc)
    node = _of_object(doc)
    if root or doc.get("x-kubernetes-embedded-resource"):
        node.fields.update(apiVersion=_SCALARS["string"], kind=_SCALARS["string"], metadata=object_meta())
    return Node("leaf", inside=node) if doc.get("x-kubernetes-map-type") == "atomic" else node


_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_JSON_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}


def _of_scalar(doc: Json) -> Node:
    scalar = "untyped" if doc.get("format") == "date-time" else _JSON_SCALARS.get(doc.get("type", ""), "")
    return _SCALARS[scalar] if scalar else LEAF


def _of_object(doc: Json) -> Node:
    fields = {name: of_schema(inner) for name, inner in (doc.get("properties") or {}).items()}
    more = doc.get("additionalProperties")
    if isinstance(more, dict):
        return Node("struct" if fields else "map", fields=fields, elem=of_schema(more))
    # An object of which the schema says nothing may have any fields.
    is_open = more is True or doc.get(_PRESERVE) or not fields
    return Node("struct" if fields else "map", fields=fields, elem=DEDUCED if is_open else None)


def _of_array(doc: Json) -> Node:
    kind = doc.get("x-kubernetes-list-type")
    items: Json = doc["items"] if isinstance(doc.get("items"), dict) else {}
    elem = of_schema(items)
    if kind == "set":
        return Node("set", elem=elem)
    if kind == "map":
        properties = items.get("properties") or {}
        keys = tuple(doc.get("x-kubernetes-list-map-keys") or ())
        defaults = {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}
        return Node("assoc", elem=elem, keys=keys, defaults=defaults)
    return Node("leaf", inside=Node("list", elem=elem))
