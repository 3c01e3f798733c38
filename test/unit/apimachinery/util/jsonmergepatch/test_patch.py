"""JSON merge patches as json-patch v4 makes and applies them; the expectations were read from its merge.go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.apimachinery.util import jsonmergepatch
from clientgo.apimachinery.util.jsonmergepatch import BadJSONDocError, BadJSONPatchError


@pytest.mark.parametrize(
    ("original", "patch", "merged"),
    [
        ({}, {"list": [{"a": 1, "b": None}]}, {"list": [{"a": 1}]}),
        ({"list": [{"b": 1}]}, {"list": [{"a": 1, "b": None}]}, {"list": [{"a": 1}]}),
        ({"list": None}, {"list": [{"b": None}]}, {"list": [{}]}),
        ({"list": "text"}, {"list": [{"b": None}]}, {"list": [{}]}),
        ({}, {"list": [[{"b": None}, [{"c": {"d": None}}]]]}, {"list": [[{}, [{"c": {}}]]]}),
        ({"a": 1}, {"a": {"list": [{"b": None}], "c": None}}, {"a": {"list": [{}]}}),
        ({"a": {}}, {"a": {"list": [{"b": None}]}}, {"a": {"list": [{}]}}),
    ],
)
def test_nulls_in_the_objects_of_new_lists_are_dropped(original: Any, patch: Any, merged: Any) -> None:
    before = json.dumps([original, patch])
    assert jsonmergepatch.merge_patch(original, patch) == merged
    assert json.dumps([original, patch]) == before


@pytest.mark.parametrize("original", [{}, {"list": None}, {"list": ["x"]}])
def test_nulls_that_are_items_of_a_list_stay(original: Any) -> None:
    patch = {"list": [None, 1, [None]]}
    assert jsonmergepatch.merge_patch(original, patch) == patch


def test_a_list_in_place_of_an_object_keeps_its_nulls() -> None:
    """json-patch v4 keeps them too, though it drops them everywhere else."""
    assert jsonmergepatch.merge_patch({"a": {"b": 1}}, {"a": [{"c": None}]}) == {"a": [{"c": None}]}


def test_nulls_of_the_original_stay() -> None:
    merged = jsonmergepatch.merge_patch({"a": None, "list": [{"b": None}]}, {"c": 1})
    assert merged == {"a": None, "list": [{"b": None}], "c": 1}


@pytest.mark.parametrize(
    ("original", "patch", "merged"),
    [
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ("text", {"a": {"b": None}}, {"a": {}}),
        ({"a": 1}, [{"b": None}, None], [{}, None]),
    ],
)
def test_a_patch_replaces_what_is_not_an_object(original: Any, patch: Any, merged: Any) -> None:
    assert jsonmergepatch.merge_patch(original, patch) == merged


@pytest.mark.parametrize("patch", [None, 1, 1.5, True, "text"])
def test_a_patch_is_an_object_or_an_array(patch: Any) -> None:
    with pytest.raises(BadJSONPatchError, match=r"\AInvalid JSON Patch\Z"):
        jsonmergepatch.merge_patch({"a": 1}, patch)


def test_null_is_no_document_to_patch() -> None:
    with pytest.raises(BadJSONDocError, match=r"\AInvalid JSON Document\Z"):
        jsonmergepatch.merge_patch(None, {})


@pytest.mark.parametrize(
    ("before", "after"), [(1, 1.0), ([1], [1.0]), ({"a": [{"b": 2.0}]}, {"a": [{"b": 2}]}), (None, None)]
)
def test_equal_values_need_no_patch(before: Any, after: Any) -> None:
    assert jsonmergepatch.create_merge_patch({"k": before}, {"k": after}) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, True),
        ([0], [False]),
        ([{"a": True}], [{"a": 1}]),
        ([[1]], [[True]]),
        (None, 0),
        ([], {}),
        (2**53, 2**53 + 1),
    ],
)
def test_values_of_another_type_are_replaced(before: Any, after: Any) -> None:
    assert json.dumps(jsonmergepatch.create_merge_patch({"k": before}, {"k": after})) == json.dumps({"k": after})


def test_null_counts_as_an_empty_object_where_a_patch_is_made() -> None:
    assert jsonmergepatch.create_merge_patch(None, {"a": 1}) == {"a": 1}
    assert jsonmergepatch.create_merge_patch({"a": 1}, None) == {"a": None}


def test_arrays_of_documents_give_an_array_of_patches() -> None:
    assert jsonmergepatch.create_merge_patch([{"a": 1}, None], [{}, {"b": 2}]) == [{"a": None}, {"b": 2}]


@pytest.mark.parametrize(
    ("original", "modified", "text"),
    [
        ({}, [], "Mismatched JSON Documents"),
        ([{}], [{}, {}], "Invalid JSON Document"),
        ([1], [{}], "Invalid JSON Document"),
        ("text", {}, "Invalid JSON Document"),
        ({}, 1, "Invalid JSON Document"),
    ],
)
def test_a_patch_is_made_of_objects(original: Any, modified: Any, text: str) -> None:
    with pytest.raises(ValueError) as raised:
        jsonmergepatch.create_merge_patch(original, modified)
    assert str(raised.value) == text


def test_a_three_way_patch_takes_null_for_an_empty_document() -> None:
    patch = jsonmergepatch.create_three_way_json_merge_patch("null", '{"a": [{"b": null}]}', "null")
    assert json.loads(patch) == {"a": [{}]}
