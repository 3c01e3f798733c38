"""Reading from a store by selector, namespace and name."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.tools import cache

PODS = GroupResource("", "pods")
NAMESPACES = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}


def pod(namespace: str, name: str, **pod_labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(namespace=namespace, name=name, labels=pod_labels))


def new(indexers: Any = NAMESPACES) -> cache.Indexer:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, indexers)
    for obj in (pod("a", "x", app="web"), pod("a", "y", app="db"), pod("b", "x", app="web"), pod("b", "z")):
        indexer.add(obj)
    return indexer


def keys(objs: Any) -> list[str]:
    return [obj.object_key() for obj in objs]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param("app=web", ["a/x", "b/x"], id="subset match"),
        pytest.param("", ["a/x", "a/y", "b/x", "b/z"], id="all match"),
        pytest.param("app=nope", [], id="no match"),
    ],
)
def test_list_all(selector: str, expected: list[str]) -> None:
    """Go: TestListAll"""
    found: list[Any] = []
    cache.list_all(new(), labels.parse(selector), found.append)
    assert keys(found) == expected


@pytest.mark.parametrize("indexers", [NAMESPACES, {}], ids=["index", "no index"])
def test_list_all_by_namespace(indexers: Any) -> None:
    def list_(namespace: str, selector: labels.Selector) -> list[str]:
        found: list[Any] = []
        cache.list_all_by_namespace(new(indexers), namespace, selector, found.append)
        return keys(found)

    assert list_("a", labels.everything()) == ["a/x", "a/y"]
    assert list_("b", labels.parse("app=web")) == ["b/x"]
    assert list_("", labels.parse("app=web")) == ["a/x", "b/x"]
    assert list_("a", labels.nothing()) == []
    assert list_("c", labels.everything()) == []


def test_generic_lister() -> None:
    lister = cache.new_generic_lister(new(), PODS)
    assert keys(lister.list(labels.everything())) == ["a/x", "a/y", "b/x", "b/z"]
    assert lister.get("a/x").object_key() == "a/x"  # type: ignore[attr-defined]
    in_b = lister.by_namespace("b")
    assert keys(in_b.list(labels.parse("app"))) == ["b/x"]
    assert keys([in_b.get("z")]) == ["b/z"]
    for get in (lambda: lister.get("nope"), lambda: in_b.get("nope")):
        with pytest.raises(errors.StatusError, match='pods "nope" not found') as caught:
            get()
        assert errors.is_not_found(caught.value)


@pytest.mark.parametrize(("indexers", "lines"), [(NAMESPACES, 0), ({}, 1)], ids=["index", "no index"])
def test_a_list_of_a_namespace_without_its_index_is_logged(
    indexers: Any, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    """It looks at all objects, which is slow."""
    caplog.set_level("INFO", logger="clientgo")
    cache.list_all_by_namespace(new(indexers), "a", labels.everything(), lambda obj: None)
    assert caplog.text.count("Warning: can not retrieve list of objects using index") == lines
