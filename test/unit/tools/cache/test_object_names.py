"""Names of objects in two parts."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.types import NamespacedName
from clientgo.tools import cache


@pytest.mark.parametrize(
    ("namespace", "name"), [("", "a"), ("ns", "a"), ("x", ""), ("", ""), ("a-b", "c.d")]
)
def test_round_trips(namespace: str, name: str) -> None:
    """Go: TestObjectNames"""
    object_name = cache.new_object_name(namespace, name)
    assert object_name.parts() == (namespace, name)
    assert cache.parse_object_name(str(object_name)) == object_name
    assert cache.namespaced_name_as_object_name(object_name.as_namespaced_name()) == object_name
    assert object_name.as_namespaced_name() == NamespacedName(namespace, name)


def test_an_empty_namespace_before_a_slash_is_lost() -> None:
    """Go: TestObjectNames"""
    assert str(cache.parse_object_name("/a")) == "a"


def test_two_slashes_are_refused() -> None:
    """Go: TestObjectNames"""
    with pytest.raises(ValueError, match='unexpected key format: "a/b/c"'):
        cache.parse_object_name("a/b/c")


def test_as_a_queue_item() -> None:
    assert len({cache.ObjectName("ns", "a"), cache.ObjectName("ns", "a"), cache.ObjectName("", "a")}) == 2
    assert repr(cache.ObjectName("ns", "a")) == "ObjectName(namespace='ns', name='a')"
