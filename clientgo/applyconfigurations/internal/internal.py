"""The merge semantics of the built-in types, from the facts about them.

Replaces applyconfigurations/internal/internal.go, a schema in YAML; here types are read on first use.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from clientgo.api import facts
from clientgo.apimachinery.util.managedfields.schema import LEAF, SCALARS, Node

_KEY_DEFAULTS = {"protocol": "TCP"}
_EXTRA_FACTS: dict[str, dict[str, Any]] = {
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus": {"conditions": ["type"]},
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec": {},
}
_NUMBERS = ("int32", "int64", "int", "uint32", "byte", "float64")
# Types with a custom JSON form; others that may contain any value are leaves.
_SPECIAL = {
    f"{facts.META_V1}.Time": "untyped",
    f"{facts.META_V1}.MicroTime": "untyped",
    f"{facts.META_V1}.Duration": "string",
    f"{facts.META_V1}.FieldsV1": "",
    "time.Duration": "",
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "untyped",
    "k8s.io/apimachinery/pkg/runtime.RawExtension": "",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "untyped",
    "k8s.io/apimachinery/pkg/types.UID": "string",
    "k8s.io/apimachinery/pkg/types.NodeName": "string",
}
# apiextensions' unions of a schema and another type, and arbitrary JSON.
_ANYTHING = ("JSON", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrStringArray")
# Types may be recursive: a struct is added before its fields are known.
_STRUCTS: dict[tuple[str, str], Node] = {}
# Guards _STRUCTS, so that other threads do not see such a struct.
_LOCK = threading.RLock()


def of_kind(group_version: str, kind: str) -> Node | None:
    """Return the merge semantics of a kind, or None if it is not built in."""
    package = facts.package_of_kind(group_version, kind)
    return of_type(package, kind) if package is not None else None


def of_type(package: str, name: str) -> Node:
    """Return the merge semantics of a struct in a Go package. Raises KeyError for an unknown one."""
    with _LOCK:
        known = _STRUCTS.get((package, name))
        if known is not None:
            return known
        definition = facts.definition_name(package, name)
        merge = facts.merge_facts(definition) or _EXTRA_FACTS.get(definition, {})
        fields = Node("struct")
        node = Node("leaf", inside=fields) if merge.get("") == "atomic" else fields
        _STRUCTS[package, name] = node
        for field in facts.fields_of(package, name):
            fields.fields[field.json] = _of_field(field.type, package, merge.get(field.json))
        return node


def _of_field(go_type: str, package: str, fact: Any) -> Node:
    collection, inner, owner = facts.collection_of(go_type, package)
    if collection not in ("map", "list"):
        node = _of_single(go_type, package)
        return Node("leaf", inside=node) if fact == "atomic" and node.kind == "struct" else node
    elem = _of_single(inner, owner)
    if collection == "map":
        node = Node("map", elem=elem)
        return Node("leaf", inside=node) if fact == "atomic" else node
    if fact == "set":
        return Node("set", elem=elem)
    if isinstance(fact, list):
        defaults = {key: _KEY_DEFAULTS[key] for key in fact if key in _KEY_DEFAULTS}
        return Node("assoc", elem=elem, keys=tuple(fact), defaults=defaults)
    return Node("leaf", inside=Node("list", elem=elem))


@cache
def _of_single(go_type: str, package: str) -> Node:
    """Return the node of a type that is neither list nor map; nested lists and maps are leaves."""
    go_type = go_type.lstrip("*")
    if go_type in ("string", "[]byte"):
        return SCALARS["string"]
    if go_type == "bool":
        return SCALARS["boolean"]
    if go_type in _NUMBERS:
        return SCALARS["numeric"]
    if go_type == "interface{}" or go_type.startswith(("[]", "map[")):
        return LEAF
    owner, name = facts.resolve(go_type, package)
    special = _SPECIAL.get(f"{owner}.{name}")
    if special is not None:
        return SCALARS[special] if special else LEAF
    if name in _ANYTHING and "apiextensions" in owner:
        return LEAF
    fact = facts.types_of(owner).get(name)
    if isinstance(fact, str):
        return _of_single(fact, owner)
    return of_type(owner, name) if fact is not None else LEAF
