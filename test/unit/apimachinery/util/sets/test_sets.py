"""Sets with Go's vocabulary."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.util import sets


def test_insert_delete_and_clear_return_the_set():
    """Go: TestSet, TestSetDeleteMultiples, TestSetClear, TestSetClearWithSharedReference,
    TestSetClearInSeparateFunction, TestStringSet, TestStringSetDeleteMultiples.
    """
    s = sets.new("a")
    assert s.insert("b", "c") is s
    assert s.delete("b", "missing") is s
    assert s == {"a", "c"}
    assert sets.insert(s, "d") is s
    assert s.clear() is s
    assert s.len() == 0


def test_has():
    """Go: TestSet, TestSetHasAny, TestStringSetHasAny."""
    s = sets.new(1, 2, 3)
    assert s.has(1)
    assert not s.has(4)
    assert s.has_all(1, 2)
    assert not s.has_all(1, 4)
    assert s.has_any(4, 3)
    assert not s.has_any(4, 5)
    assert s.has_all()
    assert not s.has_any()


@pytest.mark.parametrize("make", [sets.new, sets.new_int])
def test_algebra_makes_new_sets_of_the_same_type(make):
    """Go: TestSetDifference, TestSetSymmetricDifference, TestUnion, TestIntersection, TestStringSetDifference,
    TestStringSetSymmetricDifference, TestStringUnion, TestStringIntersection.
    """
    a, b = make(1, 2, 3), make(3, 4)
    results = {
        "difference": (a.difference(b), {1, 2}),
        "symmetric_difference": (a.symmetric_difference(b), {1, 2, 4}),
        "union": (a.union(b), {1, 2, 3, 4}),
        "intersection": (a.intersection(b), {3}),
        "clone": (a.clone(), {1, 2, 3}),
    }
    for name, (got, want) in results.items():
        assert got == want, name
        assert type(got) is type(a), name
    assert a == {1, 2, 3}


def test_superset_and_equal():
    """Go: TestSetEquals, TestStringSetEquals."""
    a = sets.new(1, 2)
    assert a.is_superset(sets.new(1))
    assert a.is_superset(sets.new())
    assert not a.is_superset(sets.new(3))
    assert a.equal(sets.new(2, 1))
    assert not a.equal(sets.new(1))


def test_lists():
    """Go: TestSortedList, TestNewSet, TestNewEmptySet."""
    assert sets.new() == set()
    s = sets.new("b", "a")
    assert sets.list(s) == ["a", "b"]
    assert sorted(s.unsorted_list()) == ["a", "b"]


def test_pop_any():
    s = sets.new("a")
    assert s.pop_any() == ("a", True)
    assert s.pop_any() == (None, False)


def test_key_set():
    """Go: TestKeySet."""
    assert sets.key_set({"a": 1}) == {"a"}


@pytest.mark.parametrize(
    ("kind", "make", "of_keys", "items"),
    [
        (sets.String, sets.new_string, sets.string_key_set, ["a", "b"]),
        (sets.Int, sets.new_int, sets.int_key_set, [1, 2]),
        (sets.Int32, sets.new_int32, sets.int32_key_set, [1, 2]),
        (sets.Int64, sets.new_int64, sets.int64_key_set, [1, 2]),
        (sets.Byte, sets.new_byte, sets.byte_key_set, [1, 2]),
    ],
)
def test_the_older_types(kind, make, of_keys, items):
    """Go: TestNewStringSet, TestStringSetList."""
    s = make(*reversed(items))
    assert type(s) is kind
    assert s.list() == items
    assert of_keys(dict.fromkeys(items)) == s
