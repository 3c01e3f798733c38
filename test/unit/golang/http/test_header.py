"""The names and values of a message. Go: net/http's header_test.go, as far as clientgo has it."""

from __future__ import annotations

import pytest

from clientgo.golang.http import Header


def two_groups() -> Header:
    header = Header({"Accept": "application/json"})
    header.add("Impersonate-Group", "a")
    header.add("impersonate-group", "b")
    return header


def test_names_are_found_in_any_case_and_keep_their_first_spelling() -> None:
    header = two_groups()

    assert header["ACCEPT"] == "application/json"
    assert "impersonate-GROUP" in header
    assert 7 not in header
    assert list(header) == ["Accept", "Impersonate-Group"]
    assert len(header) == 2


def test_several_values_are_one_joined_and_each_by_itself() -> None:
    header = two_groups()

    assert header["Impersonate-Group"] == "a, b"
    assert header.getlist("Impersonate-Group") == ["a", "b"]
    assert header.getlist("Impersonate-User") == []
    assert header.get("Impersonate-User", "nobody") == "nobody"


def test_items_have_a_pair_for_each_value() -> None:
    items = two_groups().items()

    assert list(items) == [
        ("Accept", "application/json"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
    ]
    assert len(items) == 3
    assert ("Impersonate-Group", "b") in items
    assert ("Impersonate-Group", "a, b") not in items


def test_setting_replaces_all_values_and_the_spelling() -> None:
    header = two_groups()

    header["IMPERSONATE-GROUP"] = "c"

    assert header.getlist("Impersonate-Group") == ["c"]
    assert list(header) == ["Accept", "IMPERSONATE-GROUP"]


def test_taking_away_what_is_not_there_is_no_error() -> None:
    header = two_groups()

    header.discard("impersonate-group")
    header.discard("impersonate-group")

    assert header == {"accept": "application/json"}
    with pytest.raises(KeyError):
        del header["Impersonate-Group"]


def test_a_copy_shares_nothing() -> None:
    header = two_groups()

    copied = header.copy()
    copied.add("Impersonate-Group", "c")
    copied["Accept"] = "*/*"

    assert header == two_groups()
    assert copied.getlist("Impersonate-Group") == ["a", "b", "c"]
    assert header != copied


def test_made_of_another_one_it_keeps_all_values() -> None:
    assert Header(two_groups()).getlist("Impersonate-Group") == ["a", "b"]
    assert Header([("A", "1"), ("a", "2")]).getlist("A") == ["1", "2"]


def test_a_name_in_another_case_is_equal_and_another_order_of_values_is_not() -> None:
    assert Header({"A": "1"}) == Header({"a": "1"})
    assert Header([("A", "1"), ("A", "2")]) != Header([("A", "2"), ("A", "1")])
    assert Header() != ["a"]


def test_its_repr_shows_no_value() -> None:
    assert repr(Header({"Authorization": "Bearer secret"})) == "<Header Authorization>"
