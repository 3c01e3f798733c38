"""The contract of a Store, for each kind of store; transactions; keys."""

from __future__ import annotations

from typing import Any

import pytest
from queueobjects import Item, key_of, pop

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache


def value_index(obj: Any) -> list[str]:
    return [obj.val]


INDEXERS = {"by_val": value_index}


def transformer(obj: Any) -> Any:
    return Item(obj.name, obj.val)


STORES = [
    pytest.param(lambda: cache.new_store(key_of), id="store"),
    pytest.param(lambda: cache.new_store(key_of, cache.with_transformer(transformer)), id="store with transformer"),
    pytest.param(lambda: cache.new_indexer(key_of, INDEXERS), id="indexer"),
    pytest.param(lambda: cache.new_undelta_store(lambda objs: None, key_of), id="undelta store"),
    pytest.param(lambda: cache.new_ttl_store(key_of, 3600.0), id="ttl store"),
]


@pytest.mark.parametrize("make", STORES)
def test_store_contract(make: Any) -> None:
    """Go: TestCache, Go: TestCacheWithTransformer, Go: TestUndeltaStore"""
    store = make()
    foo = Item("foo", "bar")
    store.add(foo)
    assert store.get(Item("foo")) == (foo, True)
    store.update(Item("foo", "baz"))
    assert store.get_by_key("foo") == (Item("foo", "baz"), True)
    store.delete(Item("foo"))
    assert store.get(Item("foo")) == (None, False)
    store.delete(Item("foo"))  # once more changes nothing

    for name, val in (("a", "b"), ("c", "d"), ("e", "e")):
        store.add(Item(name, val))
    assert store.list() == [Item("a", "b"), Item("c", "d"), Item("e", "e")]
    assert store.list_keys() == ["a", "c", "e"]

    store.replace([Item("foo", "foo"), Item("bar", "bar")], "0")
    assert store.list_keys() == ["foo", "bar"]
    store.resync()
    with pytest.raises(cache.KeyError):
        store.add("no item")
    with pytest.raises(cache.KeyError):
        store.replace([Item("new"), "no item"], "0")
    assert store.list_keys() == ["foo", "bar"]


def test_fifo_meets_the_contract_where_it_has_the_methods() -> None:
    """Go: TestFIFOCache"""
    fifo = cache.new_fifo(key_of)
    fifo.add(Item("foo", "bar"))
    fifo.update(Item("foo", "baz"))
    assert fifo.statistics().items == 1
    assert pop(fifo) == Item("foo", "baz")
    fifo.add(Item("foo", "bar"))
    fifo.delete(Item("foo"))
    assert fifo.statistics().items == 0
    fifo.replace([Item("foo", "foo"), Item("bar", "bar")], "0")
    assert [pop(fifo) for _ in range(fifo.statistics().items)] == [Item("foo", "foo"), Item("bar", "bar")]


def test_transformer_sees_every_write_and_its_failure_stops_it() -> None:
    """Go: TestCacheWithTransformer"""
    seen: list[str] = []

    def transform(obj: Any) -> Any:
        if obj.val == "bad":
            raise ValueError("no")
        seen.append(obj.name)
        return Item(obj.name, f"{obj.val}+t")

    store = cache.new_store(key_of, cache.with_transformer(transform))
    store.add(Item("a", "1"))
    store.update(Item("b", "2"))
    store.replace([Item("c", "3")], "0")
    assert seen == ["a", "b", "c"]
    assert store.list() == [Item("c", "3+t")]
    with pytest.raises(ValueError, match="transforming: no"):
        store.add(Item("d", "bad"))


def test_index_finds_what_shares_a_value() -> None:
    """Go: TestIndex"""
    indexer = cache.new_indexer(key_of, INDEXERS)
    for name, val in (("a", "b"), ("c", "b"), ("e", "e"), ("f", "f")):
        indexer.add(Item(name, val))
    assert [obj.name for obj in indexer.index("by_val", Item("", "b"))] == ["a", "c"]
    assert [obj.name for obj in indexer.index("by_val", Item("", "e"))] == ["e"]
    assert indexer.index("by_val", Item("", "g")) == []


def test_key_error_leads_to_its_cause() -> None:
    """Go: TestKeyError"""
    cause = ValueError("no key")

    def key_func(obj: Any) -> str:
        raise cause

    store = cache.new_store(key_func)
    with pytest.raises(cache.KeyError) as caught:
        store.add(100)
    assert caught.value.unwrap() is cause
    assert caught.value.__cause__ is cause
    assert caught.value.obj == 100
    assert str(caught.value) == "couldn't create key for object 100: no key"


ADD = cache.TransactionType.ADD


@pytest.mark.parametrize(
    ("objs", "successful"),
    [
        pytest.param([Item("1"), Item("2")], None, id="txn all success objects should work"),
        pytest.param(["bad", "worse"], [], id="txn all fail objects should work"),
        pytest.param([Item("1"), "bad", Item("2")], [0, 2], id="txn mix success and fail objects should work"),
    ],
)
def test_a_transaction_reports_its_successes(objs: list[Any], successful: list[int] | None) -> None:
    """Go: TestCacheTransactionShouldIndexErrors"""
    store: Any = cache.new_store(key_of)
    assert isinstance(store, cache.TransactionStore)
    txns = [cache.Transaction(obj, ADD) for obj in objs]
    if successful is None:
        store.transaction(*txns)
    else:
        with pytest.raises(cache.TransactionError) as caught:
            store.transaction(*txns)
        err = caught.value
        assert err.successful_indices == successful
        assert err.total_transactions == len(objs)
        failed = len(objs) - len(successful)
        assert len(err.errors) == failed
        assert str(err).startswith(f"failed to execute ({failed}/{len(objs)}) transactions failed due to: [couldn't")
    assert store.list() == [obj for obj in objs if isinstance(obj, Item)]


def test_get_all_returns_the_known_objects_or_none() -> None:
    store: Any = cache.new_store(key_of)
    known = Item("1", "old")
    store.add(known)
    assert store.get_all([Item("2"), Item("1")]) == [None, known]
    with pytest.raises(cache.KeyError):
        store.get_all([Item("1"), "bad"])


def test_transaction_applies_everything_in_order() -> None:
    store: Any = cache.new_store(key_of)
    store.add(Item("old", 1))
    kinds = cache.TransactionType
    store.transaction(
        cache.Transaction(Item("a", 1), kinds.ADD),
        cache.Transaction(Item("a", 2), kinds.UPDATE),
        cache.Transaction(Item("old"), kinds.DELETE),
    )
    assert store.list() == [Item("a", 2)]


def test_a_transaction_says_of_each_object_why_it_was_not_stored() -> None:
    store: Any = cache.new_indexer(key_of, INDEXERS)
    objs = ["no item", Item("a", 1), Item("b", "x"), "no item either", Item("c", 2), Item("d", "y")]
    with pytest.raises(cache.TransactionError) as raised:
        store.transaction(*(cache.Transaction(obj, cache.TransactionType.ADD) for obj in objs))
    assert raised.value.successful_indices == [2, 5]
    assert raised.value.total_transactions == 6
    no_key, indexing = cache.KeyError, cache.IndexingError
    assert [type(err) for err in raised.value.errors] == [no_key, no_key, indexing, indexing]
    assert store.list_keys() == ["b", "d"]


def test_a_storage_without_transactions_refuses_them() -> None:
    store: Any = cache.new_store(key_of)
    store._cache_storage = object()
    with pytest.raises(cache.TransactionError, match="transaction not supported"):
        store.transaction(cache.Transaction(Item("a"), ADD))


def test_keys_of_api_objects() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="a"))
    node = corev1.Node(metadata=metav1.ObjectMeta(name="n"))
    assert cache.meta_namespace_key_func(pod) == "ns/a"
    assert cache.meta_namespace_key_func(node) == "n"
    assert cache.meta_namespace_key_func(cache.ExplicitKey("x/y")) == "x/y"
    assert cache.object_to_name(pod) == cache.ObjectName("ns", "a")
    with pytest.raises(ValueError, match="object has no meta: object does not implement the Object interfaces"):
        cache.meta_namespace_key_func("pod")
