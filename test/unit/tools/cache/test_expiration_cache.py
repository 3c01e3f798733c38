"""Entries that expire."""

from __future__ import annotations

from typing import Any

import pytest
from queueobjects import Item, key_of

from clientgo.golang.channel import Channel
from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting


def key_of_entry(entry: Any) -> str:
    return key_of(entry.obj)


def new(deleted: Channel[str], *never_expire: str) -> Any:
    """Return a store in which all objects except the named ones have expired."""
    return new_with_policy(deleted, cache.FakeExpirationPolicy(set(never_expire), key_of_entry))


def new_with_policy(deleted: Channel[str], policy: cache.FakeExpirationPolicy) -> Any:
    return cache.new_fake_expiration_store(key_of, deleted, policy, clocktesting.new_fake_clock(0.0))


def test_what_has_expired_is_gone_with_the_first_look() -> None:
    """Go: TestTTLExpirationBasic"""
    deleted: Channel[str] = Channel(1)
    store = new(deleted)
    store.add(Item("foo", "bar"))
    assert store.get(Item("foo")) == (None, False)
    assert deleted.receive(0) == ("foo", True)
    assert store.list_keys() == []


def test_an_expired_key_can_come_back() -> None:
    """Go: TestReAddExpiredItem"""
    deleted: Channel[str] = Channel(1)
    policy = cache.FakeExpirationPolicy(set(), key_of_entry)
    store = new_with_policy(deleted, policy)
    store.add(Item("foo", "bar"))
    assert store.get_by_key("foo") == (None, False)
    assert deleted.receive(0) == ("foo", True)
    policy.never_expire = {"foo"}
    store.add(Item("foo", "baz"))
    assert store.get_by_key("foo") == (Item("foo", "baz"), True)


def test_list_drops_what_has_expired() -> None:
    """Go: TestTTLList"""
    deleted: Channel[str] = Channel(3)
    store = new(deleted, "foo1")
    for name in ("foo", "foo1", "foo2"):
        store.add(Item(name))
    assert store.list() == [Item("foo1")]
    assert {deleted.receive(0)[0], deleted.receive(0)[0]} == {"foo", "foo2"}
    assert store.list_keys() == ["foo1"]


@pytest.mark.parametrize(
    ("ttl", "age", "expired"),
    [(30.0, 30.0, False), (30.0, 30.001, True), (30.0, 0.0, False), (0.0, 1000.0, False), (-1.0, 1000.0, False)],
)
def test_ttl_policy(ttl: float, age: float, expired: bool) -> None:
    """Go: TestTTLPolicy"""
    clock = clocktesting.new_fake_clock(1000.0)
    policy = cache.TTLPolicy(ttl, clock)
    assert policy.is_expired(cache.TimestampedEntry(Item("a"), 1000.0 - age)) == expired


def test_an_update_refreshes_the_time() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    store = cache.new_ttl_store(key_of, 10.0, clock=clock)
    store.add(Item("a", 1))
    clock.step(8.0)
    store.update(Item("a", 2))
    clock.step(8.0)
    assert store.list() == [Item("a", 2)]
    clock.step(3.0)
    assert store.list_keys() == ["a"]
    assert store.list() == []
    assert store.list_keys() == []
