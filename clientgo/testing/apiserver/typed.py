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
    """How one value merges.

    kind: "leaf" (scalar or atomic), "struct" (named fields), "map" (any key), "assoc" (list by keys), "set".
    """

    __slots__ = ("defaults", "elem", "fields", "keys", "kind")

    def __init__(
        self,
        kind: str,
        *,
        fields: dict[str, Node] | None = None,
        elem: Node | None = None,
        keys: tuple[str, ...] = (),
        defaults: Json | None = None,
    ) -> None:
        self.kind = kind
        self.fields = fields if fields is not None else {}
        self.elem = elem
        self.keys = keys
        # Values of keys that an item may leave out.
        self.defaults = defaults or {}

    def child(self, name: str) -> Node:
        """The node of a map entry or struct field; unknown ones merge as their JSON suggests."""
        known = self.fields.get(name)
        if known is not None:
            return known
        return self.elem or DEDUCED

    def __repr__(self) -> str:
        return f"<Node {self.kind} {','.join(self.keys)}>"


LEAF = Node("leaf")
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
    if facts.get("") == "atomic":
        return LEAF
    node = Node("struct")
    _BUILDING[package, name] = node
    for field in struct.fields.values():
        node.fields[field.json] = _of_field(field, package, facts.get(field.json))
    return node


_BUILDING: dict[tuple[str, str], Node] = {}


def _of_element(codec: schema.Codec | None) -> Node:
    return LEAF if codec is None else _of_type(codec.struct)


def _of_type(struct: schema.Struct | None) -> Node:
    if struct is None:
        return LEAF
    building = _BUILDING.get((struct.package, struct.name))
    return building if building is not None else of_struct(struct.package, struct.name)


def _of_field(field: schema.Field, package: str, fact: Any) -> Node:
    if fact == "atomic" or field.type.endswith("FieldsV1"):
        return LEAF
    kind = schema.collection_kind(field.type, package)
    if kind == "map":
        elem = schema.element(field.type, package)
        return Node("map", elem=_of_element(elem))
    if kind == "list":
        if fact == "set":
            return Node("set", elem=LEAF)
        if isinstance(fact, list):
            elem = schema.element(field.type, package)
            defaults = {key: _KEY_DEFAULTS[key] for key in fact if key in _KEY_DEFAULTS}
            return Node("assoc", elem=_of_element(elem), keys=tuple(fact), defaults=defaults)
        return LEAF
    return _of_type(field.struct)


_OBJECT_META: list[Node] = []


def object_meta() -> Node:
    if not _OBJECT_META:
        _OBJECT_META.append(of_struct(schema.META_V1, "ObjectMeta"))
    return _OBJECT_META[0]


def of_schema(doc: Json | None, root: bool = False) -> Node:
    """The node of a structural schema."""
    if not doc:
        node = DEDUCED if not root else Node("deduced", elem=DEDUCED)
    elif doc.get("x-kubernetes-int-or-string"):
        return LEAF
    elif doc.get("type") == "array":
        return _of_array(doc)
    elif doc.get("x-kubernetes-map-type") == "atomic":
        return LEAF
    elif doc.get("type") == "object" or doc.get("properties") or doc.get("x-kubernetes-preserve-unknown-fields"):
        fields = {name: of_schema(inner) for name, inner in (doc.get("properties") or {}).items()}
        more = doc.get("additionalProperties")
        elem = of_schema(more) if isinstance(more, dict) else DEDUCED
        node = Node("struct" if fields else "map", fields=fields, elem=elem)
    else:
        return LEAF
    if root:
        node.fields["metadata"] = object_meta()
    return node


def _of_array(doc: Json) -> Node:
    kind = doc.get("x-kubernetes-list-type")
    items = doc.get("items") if isinstance(doc.get("items"), dict) else {}
    if kind == "set":
        return Node("set", elem=LEAF)
    if kind == "map":
        properties = (items or {}).get("properties") or {}
        keys = tuple(doc.get("x-kubernetes-list-map-keys") or ())
        defaults = {key: properties[key]["default"] for key in keys if "default" in properties.get(key, {})}
        return Node("assoc", elem=of_schema(items), keys=keys, defaults=defaults)
    return LEAF
