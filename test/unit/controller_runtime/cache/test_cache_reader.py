"""The reader of one kind on its own indexer: keys and options."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.controller_runtime import client
from clientgo.controller_runtime.cache.internal.cache_reader import (
    CacheReader,
    field_index_name,
    key_to_namespaced_key,
    new_cached_list,
)
from clientgo.tools import cache


def reader_of(scope: meta.RESTScopeName, *objects: Any) -> CacheReader:
    return reader_of_indexer(indexer_of(*objects), scope, *objects)


def indexer_of(*objects: Any) -> cache.Indexer:
    indexer = cache.new_indexer(
        cache.meta_namespace_key_func, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
    )
    for obj in objects:
        indexer.add(obj.freeze())
    return indexer


def reader_of_indexer(indexer: cache.Indexer, scope: meta.RESTScopeName, *objects: Any) -> CacheReader:
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


def pods_with(**labels: str) -> list[corev1.Pod]:
    return [
        corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name=name, labels={"app": app}))
        for name, app in labels.items()
    ]


def test_an_object_of_another_class_is_refused() -> None:
    reader = reader_of(meta.RESTScopeName.NAMESPACE, *pods_with(p="a"))
    with pytest.raises(TypeError, match="cache had type Pod, but ConfigMap was asked for"):
        reader.get(client.ObjectKey("ns", "p"), corev1.ConfigMap)


def test_a_limit_of_one_gives_one() -> None:
    reader = reader_of(meta.RESTScopeName.NAMESPACE, *pods_with(p="a", q="b"))
    assert len(reader.list(corev1.PodList, [client.Limit(1)]).items) == 1
    assert repr(reader) == "<CacheReader of /v1, Kind=Pod>"


def test_a_list_has_the_kind_of_its_example_and_no_version() -> None:
    reader = reader_of(meta.RESTScopeName.NAMESPACE, *pods_with(p="a"))
    by_class = reader.list(corev1.PodList, [])
    assert (by_class.kind, by_class.api_version, by_class.get_resource_version()) == ("", "", "")
    example = corev1.PodList.from_dict({"apiVersion": "v1", "kind": "PodList"})
    found = reader.list(example, [])
    assert (found.kind, found.api_version, len(found.items)) == ("PodList", "v1", 1)
    without = reader.list(corev1.PodList(), [])
    assert (without.kind, without.api_version) == ("", "")


@pytest.mark.parametrize("version", ["", "7"])
def test_a_cached_list_has_the_version_that_it_is_given(version: str) -> None:
    assert new_cached_list(corev1.PodList, [], version).get_resource_version() == version


def test_several_fields_choose_by_their_indexes() -> None:
    pods = pods_with(p="a", q="b")
    indexer = indexer_of(*pods)
    reader = reader_of_indexer(indexer, meta.RESTScopeName.NAMESPACE, *pods)

    def index(value: Any) -> Any:
        return lambda obj: [key_to_namespaced_key(each, value(obj)) for each in ("", "ns")]

    indexer.add_indexers(
        {
            field_index_name("app"): index(lambda pod: pod.metadata.labels["app"]),
            field_index_name("name"): index(lambda pod: pod.name),
        }
    )

    def found(text: str) -> list[str]:
        options = [client.InNamespace("ns"), client.MatchingFieldsSelector(fields.parse_selector(text))]
        return [pod.name for pod in reader.list(corev1.PodList, options).items]

    assert found("app=a,name=p") == ["p"]
    assert found("app=a,name=q") == []
    assert found("app=c,unknown=x") == [], "no object is left to ask about the other field"
    with pytest.raises(ValueError, match="index with name field:unknown does not exist"):
        found("app=a,unknown=x")
