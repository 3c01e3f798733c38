"""ThreadSafeStore: indexes without leaks, and the version it has seen."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from invariants import check_invariants

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache
from clientgo.utils.clock.testing import FakeClock


def pod(name: str, version: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=version))


def new(index_func: Any) -> Any:
    return cache.new_thread_safe_store({"i": index_func}, {})


def buckets(store: Any) -> dict[str, set[str]]:
    check_invariants(store)
    return {value: set(keys) for value, keys in store.contents().indices["i"].items()}


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
    check_invariants(store)


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


class Wrapped:
    """An object of the user's own type that has its metadata in a field."""

    def __init__(self, name: str, version: str) -> None:
        self.meta = metav1.ObjectMeta(name=name, resource_version=version)

    def get_object_meta(self) -> metav1.ObjectMeta:
        return self.meta


@pytest.mark.parametrize("write", ["add", "update", "delete_with_object"])
def test_version_follows_objects_that_have_their_metadata_in_a_field(write: str) -> None:
    store: Any = cache.new_thread_safe_store({}, {})
    store.add("a", Wrapped("a", "3"))
    assert store.last_store_sync_resource_version() == "3"
    getattr(store, write)("a", Wrapped("a", "4"))
    assert store.last_store_sync_resource_version() == "4"


def by_label(obj: Any) -> list[str]:
    return [obj.metadata.labels["team"]]


def labelled(name: str, version: str, **labels: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, resource_version=version, labels=labels))


def names_and_versions(store: Any) -> list[tuple[str, str]]:
    check_invariants(store)
    return [(obj.get_name(), obj.get_resource_version()) for obj in store.list()]


def test_what_cannot_be_indexed_is_not_stored() -> None:
    """In Go it is, and then there is a panic."""
    store = cache.new_thread_safe_store({"first": lambda obj: ["x"], "team": by_label}, {})
    store.add("good", labelled("good", "1", team="a"))
    message = '^unable to calculate an index entry for key "bad" on index "team": KeyError: \'team\'$'
    with pytest.raises(cache.IndexingError, match=message) as raised:
        store.add("bad", labelled("bad", "2"))
    assert (raised.value.key, raised.value.index_name) == ("bad", "team")
    with pytest.raises(cache.IndexingError):
        store.update("good", labelled("good", "3"))
    assert names_and_versions(store) == [("good", "1")]
    assert store.last_store_sync_resource_version() == "1"


def test_a_transaction_applies_all_that_can_be_indexed() -> None:
    store: Any = cache.new_thread_safe_store({"team": by_label}, {})
    store.add("old", labelled("old", "1", team="a"))
    adds = [labelled("a", "2", team="a"), labelled("bad", "3"), labelled("b", "4", team="b"), labelled("old", "5")]
    with pytest.raises(cache.TransactionError) as raised:
        store.transaction(
            *(cache.ThreadSafeStoreTransaction(obj, cache.TransactionType.ADD, obj.get_name()) for obj in adds)
        )
    assert raised.value.successful_indices == [0, 2]
    assert [err.key for err in raised.value.errors if isinstance(err, cache.IndexingError)] == ["bad", "old"]
    assert names_and_versions(store) == [("old", "1"), ("a", "2"), ("b", "4")]
    assert store.last_store_sync_resource_version() == "4"


def test_a_replace_keeps_what_it_cannot_replace() -> None:
    store = cache.new_thread_safe_store({"team": by_label}, {})
    for name in ("kept", "gone"):
        store.add(name, labelled(name, "1", team="a"))
    listed = [labelled("bad", "2"), labelled("kept", "3"), labelled("new", "4", team="b")]
    with pytest.raises(cache.TransactionError) as raised:
        store.replace({obj.get_name(): obj for obj in listed}, "9")
    assert raised.value.successful_indices == [2]
    assert names_and_versions(store) == [("kept", "1"), ("new", "4")]
    assert store.index_keys("team", "a") == ["kept"]
    assert store.last_store_sync_resource_version() == "9"


def test_what_a_replace_keeps_stays_where_it_is_indexed_also_if_that_cannot_be_asked_any_more() -> None:
    failing: set[str] = set()

    def words(obj: str) -> list[str]:
        if failing & {*obj.split()}:
            raise ValueError("no")
        return obj.split()

    store = new(words)
    store.replace({"1": "a b", "2": "b"}, "1")
    failing.add("a")
    with pytest.raises(cache.TransactionError):
        store.replace({"1": "a c", "3": "c"}, "2")
    assert store.index_keys("i", "a") == store.index_keys("i", "b") == ["1"]
    assert (store.get("1"), store.index_keys("i", "c"), store.list_keys()) == (("a b", True), ["3"], ["1", "3"])


def test_a_store_counts_the_objects_of_a_replace_not_their_keys() -> None:
    store = cache.new_indexer(cache.meta_namespace_key_func, {"team": by_label})
    listed = [labelled("a", "1"), labelled("bad", "2"), labelled("a", "3", team="x"), labelled("bad", "4")]
    with pytest.raises(cache.TransactionError) as raised:
        store.replace(listed, "9")
    assert raised.value.successful_indices == [0, 1, 2]
    assert [(obj.get_name(), obj.get_resource_version()) for obj in store.list()] == [("a", "3")]


def test_what_its_index_function_no_longer_knows_can_be_changed_and_deleted() -> None:
    """An index function that looks at something else than the object, say."""
    known = {"a": ["x", "y"], "b": ["x"]}
    store = cache.new_thread_safe_store({"i": lambda obj: known[obj]}, {})
    store.add("1", "a")
    store.add("2", "b")
    del known["a"]
    store.update("1", "b")
    assert buckets(store) == {"x": {"2", "1"}}
    del known["b"]
    store.delete("1")
    store.delete("2")
    assert buckets(store) == {}


@pytest.mark.parametrize("values", ["name", [None], [["a"]], 7], ids=repr)
def test_an_index_function_that_returns_no_strings_fails(values: Any) -> None:
    store = new(lambda obj: values if obj == "bad" else [obj])
    store.add("good", "good")
    with pytest.raises(cache.IndexingError):
        store.update("good", "bad")
    assert buckets(store) == {"good": {"good"}}


@pytest.mark.parametrize("values", ["name", [None], [["a"]], 7], ids=repr)
def test_a_replace_indexes_strings_only(values: Any) -> None:
    store = new(lambda obj: values if obj == "bad" else [obj])
    with pytest.raises(cache.TransactionError) as raised:
        store.replace({"1": "good", "2": "bad"}, "9")
    assert raised.value.successful_indices == [0]
    assert buckets(store) == {"good": {"1"}}


def test_an_index_function_may_be_a_generator() -> None:
    def words(obj: str) -> Any:
        yield from obj.split()

    store: Any = new(words)
    store.add("key", "a b")
    store.update("key", "b c")
    assert {value: store.index_keys("i", value) for value in "abc"} == {"a": [], "b": ["key"], "c": ["key"]}
    store.delete("key")
    assert store.list_index_func_values("i") == []
    store.replace({"key": "a b"}, "1")
    assert buckets(store) == {"a": {"key"}, "b": {"key"}}


def test_an_index_that_fails_for_one_object_is_not_added() -> None:
    store = new(lambda obj: [obj.get_name()])
    store.add("good", labelled("good", "1", team="a"))
    store.add("bad", labelled("bad", "2"))
    with pytest.raises(cache.IndexingError, match='key "bad" on index "team"'):
        store.add_indexers({"other": lambda obj: ["x"], "team": by_label})
    assert sorted(store.get_indexers()) == ["i"]
    check_invariants(store)
    store.update("bad", labelled("bad", "3", team="b"))
    store.add_indexers({"team": by_label})
    assert store.index_keys("team", "b") == ["bad"]


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


def test_repr_shows_the_contents() -> None:
    store = new(lambda obj: [])
    store.replace({"a": 1}, "7")
    assert repr(store) == "<ThreadSafeStore 1 objects, indexes: i, resourceVersion '7'>"


@pytest.fixture
def verbose(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    before = klog.verbosity()
    klog.set_verbosity(2)
    caplog.set_level(logging.INFO)
    yield caplog
    klog.set_verbosity(before)


@pytest.mark.parametrize(("seconds", "lines"), [(0.9, 0), (1.0, 1)])
def test_a_transaction_that_takes_half_a_second_an_object_is_logged(
    seconds: float, lines: int, verbose: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock(0.0)

    def slow(obj: Any) -> list[str]:
        clock.step(seconds / 2)
        return []

    store: Any = cache.new_thread_safe_store({"slow": slow}, {}, cache.with_thread_safe_store_clock(clock))
    added = cache.TransactionType.ADD
    store.transaction(*(cache.ThreadSafeStoreTransaction(name, added, name) for name in ("a", "b")))
    assert verbose.text.count("ThreadSafeMap Transaction Process") == lines


def test_a_replacement_whose_index_function_returns_a_text_is_refused() -> None:
    """A text would be indexed under each of its characters."""
    store = cache.new_thread_safe_store({"by": lambda obj: obj}, {})
    with pytest.raises(Exception, match="by"):
        store.replace({"a": "team"}, "1")
    assert store.index_keys("by", "t") == []
