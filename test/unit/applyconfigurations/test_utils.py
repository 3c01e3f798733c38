"""Merging of built-in and foreign kinds."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.util.managedfields import DEDUCED_OBJECT, OBJECT_META, Node
from clientgo.applyconfigurations import new_type_converter
from clientgo.applyconfigurations.internal import of_type


def shape(node: Node | None, depth: int = 9) -> Any:
    if node is None or depth == 0:
        return None
    fields = {name: shape(field, depth - 1) for name, field in node.fields.items()}
    elem = shape(node.elem, depth - 1)
    return node.kind, node.scalar, node.keys, node.defaults, shape(node.inside, depth), fields, elem


def test_the_metadata_of_deduced_objects_is_that_of_the_api() -> None:
    assert shape(OBJECT_META) == shape(of_type("k8s.io/apimachinery/pkg/apis/meta/v1", "ObjectMeta"))


def test_lists_of_built_in_kinds_merge_by_their_keys() -> None:
    pod = new_type_converter()(GroupVersionKind("", "v1", "Pod"))
    containers = pod.child("spec").child("containers")
    assert (containers.kind, containers.keys) == ("assoc", ("name",))
    ports = containers.elem.child("ports") if containers.elem is not None else None
    assert ports is not None
    assert (ports.keys, ports.defaults) == (("containerPort", "protocol"), {"protocol": "TCP"})


def test_a_foreign_kind_merges_as_its_json_suggests() -> None:
    assert new_type_converter()(GroupVersionKind("example.com", "v1", "Foo")) is DEDUCED_OBJECT
