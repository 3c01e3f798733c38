"""A map of limited size whose entries expire."""

from __future__ import annotations

import pytest
from invariants import check_invariants

from clientgo.apimachinery.util import cache
from clientgo.utils.clock import testing as clocktesting


def test_the_least_recently_used_one_makes_room() -> None:
    """Go: TestLRUOverflow, TestAddBringsToFront, TestGetBringsToFront, TestSimpleGet."""
    lru = cache.new_lru_expire_cache(2)
    lru.add("a", 1, 10.0)
    lru.add("b", 2, 10.0)
    assert lru.get("a") == (1, True)
    lru.add("c", 3, 10.0)
    assert lru.get("b") == (None, False)
    assert lru.keys() == ["a", "c"]
    check_invariants(lru)


def test_one_added_again_is_the_most_recently_used() -> None:
    """Go: TestLRUKeys."""
    lru = cache.new_lru_expire_cache(2)
    for key, value in [("a", 1), ("b", 2), ("a", 3), ("c", 4)]:
        lru.add(key, value, 10.0)
    assert lru.keys() == ["a", "c"]
    assert lru.get("a") == (3, True)


def test_an_entry_expires_when_it_is_older_than_its_time() -> None:
    """Go: TestExpiredGet."""
    clock = clocktesting.new_fake_clock(1000.0)
    lru = cache.new_lru_expire_cache_with_clock(10, clock)
    lru.add("short", 1, 1.0)
    lru.add("long", 2, 10.0)
    clock.step(1.0)
    assert lru.get("short") == (1, True)
    clock.step(0.5)
    assert lru.keys() == ["long"]
    assert lru.get("short") == (None, False)
    lru.add("long", 3, 10.0)  # starts anew
    clock.step(9.5)
    assert lru.get("long") == (3, True)


def test_remove() -> None:
    """Go: TestSimpleRemove, TestSimpleRemoveAll."""
    lru = cache.new_lru_expire_cache(10)
    for key in range(4):
        lru.add(key, key, 10.0)
    lru.remove(0)
    lru.remove(99)
    lru.remove_all(lambda key: key % 2 == 1)
    assert lru.keys() == [2]


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="maxSize must be > 0"):
        cache.new_lru_expire_cache(0)
