"""Index functions and the indexes made of them."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools import cache


def pod(name: str, **annotations: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, annotations=annotations))


def by_users(obj: Any) -> list[str]:
    return str(obj.get_annotations().get("users", "")).split(",")


def names(objs: list[Any]) -> set[str]:
    return {obj.get_name() for obj in objs}


def test_values_of_an_index() -> None:
    """Go: TestGetIndexFuncValues"""
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"foo": lambda obj: [obj.get_annotations()["foo"]]})
    for name, value in (("one", "bar"), ("two", "bar"), ("tre", "biz")):
        indexer.add(pod(name, foo=value))
    assert sorted(indexer.list_index_func_values("foo")) == ["bar", "biz"]
    assert indexer.list_index_func_values("nope") == []


def test_an_object_with_several_values_is_found_under_its_present_ones() -> None:
    """Go: TestMultiIndexKeys"""
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {"byUser": by_users})
    for name, users in (("one", "ernie,bert"), ("two", "bert,oscar"), ("tre", "ernie,elmo")):
        indexer.add(pod(name, users=users))
    expected = {"ernie": {"one", "tre"}, "bert": {"one", "two"}, "elmo": {"tre"}, "oscar": {"two"}, "elmo1": set()}
    assert {user: names(indexer.by_index("byUser", user)) for user in expected} == expected
    assert names(indexer.index("byUser", pod("any", users="ernie,bert"))) == {"one", "two", "tre"}

    indexer.delete(pod("tre"))
    assert indexer.by_index("byUser", "elmo") == []
    assert names(indexer.by_index("byUser", "ernie")) == {"one"}
    indexer.update(pod("two", users="elmo,cookie"))
    assert names(indexer.by_index("byUser", "bert")) == {"one"}
    assert indexer.index_keys("byUser", "cookie") == ["two"]
    assert "oscar" not in indexer.list_index_func_values("byUser")


def test_a_key_function_out_of_an_index_function() -> None:
    key_func = cache.index_func_to_key_func_adapter(lambda obj: obj)
    assert key_func(["a"]) == "a"
    with pytest.raises(ValueError, match=r"too many keys: \[a b\]"):
        key_func(["a", "b"])
    with pytest.raises(ValueError, match="unexpected empty indexKeys"):
        key_func([])


def test_an_index_that_is_not_there() -> None:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    for look_up in (indexer.by_index, indexer.index_keys):
        with pytest.raises(LookupError, match="Index with name nope does not exist"):
            look_up("nope", "x")


def test_the_indexers_given_stay_as_they_are() -> None:
    given = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
    indexer = cache.new_indexer(cache.meta_namespace_key_func, given)
    indexer.add_indexers({"byUser": by_users})
    assert list(given) == ["namespace"]
    assert list(indexer.get_indexers()) == ["namespace", "byUser"]
