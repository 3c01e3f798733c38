"""Listers of objects that have no class. Go: dynamic/dynamiclister/lister_test.go."""

from __future__ import annotations

import pytest

from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamiclister
from clientgo.tools import cache

GVR = GroupVersionResource("group", "version", "TheResource")


def foo(name: str, namespace: str = "", **marks: str) -> Unstructured:
    metadata = {"name": name, "namespace": namespace, "labels": marks}
    return Unstructured({"apiVersion": "group/version", "kind": "TheKind", "metadata": metadata})


@pytest.fixture
def lister() -> dynamiclister.Lister:
    """Return a lister of two objects in one namespace, one in another, and one without."""
    indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
    indexer = cache.new_indexer(cache.meta_namespace_key_func, indexers)
    for obj in (foo("foo1", "ns-foo", a="1"), foo("foo2", "ns-foo", a="2"), foo("foo1", "ns-bar", a="1"), foo("free")):
        indexer.add(obj)
    return dynamiclister.new(indexer, GVR)


def keys(objs: list[Unstructured]) -> list[str]:
    return sorted(obj.object_key() for obj in objs)


def test_a_namespaces_lister_gives_what_is_in_it(lister: dynamiclister.Lister) -> None:
    """Go: TestNamespaceGetMethod"""
    assert lister.namespace("ns-foo").get("foo1").object_key() == "ns-foo/foo1"
    for namespace, name in (("ns-foo", "none"), ("ns-bar", "foo2"), ("none", "foo1")):
        with pytest.raises(errors.StatusError, match=f'TheResource.group "{name}" not found') as raised:
            lister.namespace(namespace).get(name)
        assert errors.is_not_found(raised.value)


def test_a_namespaces_lister_lists_what_is_in_it(lister: dynamiclister.Lister) -> None:
    """Go: TestNamespaceListMethod"""
    inside = lister.namespace("ns-foo")
    assert keys(inside.list(labels.everything())) == ["ns-foo/foo1", "ns-foo/foo2"]
    assert keys(inside.list(labels.parse("a=1"))) == ["ns-foo/foo1"]
    assert lister.namespace("none").list(labels.everything()) == []


def test_a_lister_gives_what_is_in_no_namespace(lister: dynamiclister.Lister) -> None:
    """Go: TestListerGetMethod"""
    assert lister.get("free").object_key() == "free"
    with pytest.raises(errors.StatusError) as raised:
        lister.get("foo1")
    assert errors.is_not_found(raised.value)


def test_a_lister_lists_what_is_in_all_namespaces(lister: dynamiclister.Lister) -> None:
    """Go: TestListerListMethod"""
    assert keys(lister.list(labels.everything())) == ["free", "ns-bar/foo1", "ns-foo/foo1", "ns-foo/foo2"]
    assert keys(lister.list(labels.parse("a=1"))) == ["ns-bar/foo1", "ns-foo/foo1"]
    assert lister.list(labels.nothing()) == []
