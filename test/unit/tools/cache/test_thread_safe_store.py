"""ThreadSafeStore: indexes without leaks, and the version it has seen."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache


def pod(name: str, version: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=version))


def new(index_func: Any) -> Any:
    return cache.new_thread_safe_store({"i": index_func}, {})


def buckets(store: Any) -> dict[str, set[str]]:
    store._check()
    return {value: set(keys) for value, keys in store._index.indices["i"].items()}


def test_the_last_object_of_a_value_takes_the_value_along() -> None:
    """Go: TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex"""
    store = new(lambda obj: [obj])
    store.add("key", "value")
    assert buckets(store) == {"value": {"key"}}
    store.delete("key")
    assert buckets(store) == {}


def test_the_others_of_a_value_stay() -> None:
    """Go: TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex"""
    store = new(lambda obj: ["same"])
    store.add("keep", "1")
    store.add("delete", "2")
    store.delete("delete")
    assert buckets(store) == {"same": {"keep"}}


def test_several_values_for_each_object() -> None:
    """Go: TestThreadSafeStoreIndexingFunctionsWithMultipleValues"""
    store = new(lambda obj: obj.split(","))
    store.add("key1", "foo")
    store.add("key2", "bar")
    assert buckets(store) == {"foo": {"key1"}, "bar": {"key2"}}
    store.update("key1", "foo,bar")
    store.update("key2", "bar,baz")
    assert buckets(store) == {"foo": {"key1"}, "bar": {"key1", "key2"}, "baz": {"key2"}}
    store.update("key1", "foo")
    assert buckets(store) == {"foo": {"key1"}, "bar": {"key2"}, "baz": {"key2"}}
    store.delete("key2")
    store.replace({"x": "qux"}, "1")
    assert buckets(store) == {"qux": {"x"}}


def test_indexers_may_come_later() -> None:
    store = new(lambda obj: [obj])
    store.add("key", "value")
    store.add_indexers({"length": lambda obj: [str(len(obj))]})
    assert store.by_index("length", "5") == ["value"]
    with pytest.raises(ValueError, match=r"indexer conflict: map\[i:{}\]"):
        store.add_indexers({"i": lambda obj: []})
    store._check()


def test_version_of_a_new_store() -> None:
    """Go: TestThreadSafeStoreRV/Initial state"""
    assert cache.new_thread_safe_store({}, {}).last_store_sync_resource_version() == ""


def test_version_follows_the_writes() -> None:
    """The last write wins, whatever its version.

    Go: TestThreadSafeStoreRV/Add Update and Delete, Go: TestThreadSafeStoreRV/Delete, Go: TestThreadSafeStoreRV/Replace
    """
    store: Any = cache.new_thread_safe_store({}, {})
    version = store.last_store_sync_resource_version
    store.add("a", pod("a", "1"))
    assert version() == "1"
    store.update("a", pod("a", "3"))
    assert version() == "3"
    store.add("b", "no metadata")
    assert version() == "3"
    store.delete("b")
    assert version() == "3"
    store.delete_with_object("a", pod("a", "5"))
    assert version() == "5"
    store.transaction(
        cache.ThreadSafeStoreTransaction(pod("a", "7"), cache.TransactionType.ADD, "a"),
        cache.ThreadSafeStoreTransaction(pod("b", "6"), cache.TransactionType.ADD, "b"),
    )
    assert version() == "6"
    store.transaction()
    store.bookmark("9")
    assert version() == "9"
    store.replace({"c": pod("c", "1")}, "12")
    assert version() == "12"


def test_an_index_function_that_fails() -> None:
    """As in Go the object is stored by then, its version is not noted, and the lock is free again."""

    def fail(obj: Any) -> list[str]:
        if obj.get_name() == "bad":
            raise ValueError("no")
        return []

    store = new(fail)
    store.add("good", pod("good", "1"))
    message = 'unable to calculate an index entry for key "k" on index "i": no'
    with pytest.raises(RuntimeError, match=message):
        store.add("k", pod("bad", "2"))
    assert store.list_keys() == ["good", "k"]
    assert store.last_store_sync_resource_version() == "1"


def test_lists_are_in_order_of_insertion_and_belong_to_the_caller() -> None:
    store = new(lambda obj: ["all"])
    for name in "cab":
        store.add(name, name)
    store.update("a", "a")
    assert store.list() == store.list_keys() == store.by_index("i", "all") == ["c", "a", "b"]
    assert store.index_keys("i", "all") == ["a", "b", "c"]
    store.list().clear()
    store.list_keys().clear()
    assert len(store.list()) == 3


def test_repr_tells_what_is_in_it() -> None:
    store = new(lambda obj: [])
    store.replace({"a": 1}, "7")
    assert repr(store) == "<ThreadSafeStore 1 objects, indexes: i, resourceVersion '7'>"
