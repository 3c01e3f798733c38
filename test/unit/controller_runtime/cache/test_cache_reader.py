"""The reader of one kind on its own indexer: keys and options."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.controller_runtime import client
from clientgo.controller_runtime.cache.internal.cache_reader import CacheReader
from clientgo.tools import cache


def reader_of(scope: meta.RESTScopeName, *objects: Any) -> CacheReader:
    indexer = cache.new_indexer(
        cache.meta_namespace_key_func, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
    )
    for obj in objects:
        indexer.add(obj.freeze())
    return CacheReader(indexer, GroupVersionKind("", "v1", type(objects[0]).__name__), scope)


def test_a_namespace_in_the_key_of_an_object_that_has_none_does_not_matter() -> None:
    node = corev1.Node(metadata=metav1.ObjectMeta(name="n"))
    reader = reader_of(meta.RESTScopeName.ROOT, node)
    assert reader.get(client.ObjectKey("ns", "n"), corev1.Node) is reader.get(client.ObjectKey("", "n"), corev1.Node)


def test_a_key_without_namespace_finds_nothing_that_has_one() -> None:
    reader = reader_of(meta.RESTScopeName.NAMESPACE, corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="p")))
    assert reader.get(client.ObjectKey("ns", "p"), corev1.Pod).get_name() == "p"
    with pytest.raises(errors.StatusError) as caught:
        reader.get(client.ObjectKey("", "p"), corev1.Pod)
    assert errors.is_not_found(caught.value)


def test_a_list_without_a_limit_has_all() -> None:
    names = ["a", "b", "c"]
    pods = [corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name=name)) for name in names]
    reader = reader_of(meta.RESTScopeName.NAMESPACE, *pods)
    assert sorted(each.get_name() for each in reader.list(corev1.PodList, []).items) == names
    assert len(reader.list(corev1.PodList, [client.Limit(0)]).items) == 3
    assert len(reader.list(corev1.PodList, [client.Limit(2)]).items) == 2


def test_a_list_says_that_it_cannot_be_continued() -> None:
    reader = reader_of(meta.RESTScopeName.NAMESPACE, corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="p")))
    listed = reader.list(corev1.PodList, [client.Limit(1)])
    assert listed.metadata.continue_ == "continue-not-supported" and len(listed.items) == 1
    with pytest.raises(ValueError, match="continue list option is not supported by the cache"):
        reader.list(corev1.PodList, [client.Continue("x")])
