"""Fields of documents by their path: reading, writing, copies."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.apimachinery.apis.meta.v1 import unstructured


def document() -> dict[str, Any]:
    return {"a": {"b": {"foo": "bar"}, "c": None, "d": ["foo"], "e": [{"f": "bar"}]}}


def test_a_field_that_is_there_is_the_documents_own_or_a_copy() -> None:
    """Go: TestNestedFieldNoCopy, TestNestedFieldCopy."""
    obj = document()
    assert unstructured.nested_field_no_copy(obj, "a", "b")[0] is obj["a"]["b"]
    copy, found = unstructured.nested_field_copy(obj, "a", "b")
    assert found and copy == {"foo": "bar"} and copy is not obj["a"]["b"]


@pytest.mark.parametrize("read", [unstructured.nested_field_no_copy, unstructured.nested_field_copy])
@pytest.mark.parametrize(
    ("path", "found"), [("c", True), ("g", False), ("g.f", False), ("c.f", False), ("e[0]", False)]
)
def test_null_is_there_and_nothing_is_below_it(read: Any, path: str, found: bool) -> None:
    """Go: TestNestedFieldNoCopy, TestNestedFieldCopy."""
    assert read(document(), "a", *path.split(".")) == (None, found)


@pytest.mark.parametrize("read", [unstructured.nested_field_no_copy, unstructured.nested_field_copy])
def test_a_path_through_a_list_is_an_error(read: Any) -> None:
    """Go: TestNestedFieldNoCopy, TestNestedFieldCopy."""
    with pytest.raises(TypeError, match=r"\.a\.d\.foo accessor error"):
        read(document(), "a", "d", "foo")


def test_a_field_is_removed_and_its_neighbours_stay() -> None:
    """Go: TestRemoveNestedField."""
    obj = {"x": {"y": 1, "a": "foo"}}
    for path, left in ((("x", "a"), {"x": {"y": 1}}), (("x", "y"), {"x": {}}), (("x",), {}), (("x",), {})):
        unstructured.remove_nested_field(obj, *path)
        assert obj == left


@pytest.mark.parametrize(
    ("write", "value"),
    [
        (unstructured.set_nested_string_slice, ["bar"]),
        (unstructured.set_nested_slice, ["bar"]),
        (unstructured.set_nested_string_map, {"b": "bar"}),
        (unstructured.set_nested_map, {"b": "bar"}),
    ],
)
def test_lists_and_maps_are_written_beside_the_others(write: Any, value: Any) -> None:
    """Go: TestSetNestedStringSlice, TestSetNestedSlice, TestSetNestedStringMap, TestSetNestedMap."""
    obj = {"x": {"y": 1, "a": "foo"}}
    write(obj, value, "x", "z")
    assert obj == {"x": {"y": 1, "a": "foo", "z": value}} and obj["x"]["z"] is not value


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        pytest.param({}, (0.0, False), id="not found"),
        pytest.param({"value": 42.0}, (42.0, True), id="found float64"),
        pytest.param({"value": 42}, (42.0, True), id="found int64"),
    ],
)
def test_a_number_is_read_as_a_float(obj: dict[str, Any], found: tuple[float, bool]) -> None:
    """Go: TestNestedNumberAsFloat64."""
    assert unstructured.nested_number_as_float64(obj, "value") == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(True, "true is of the type bool, expected float64 or int64", id="found unexpected type bool"),
        pytest.param(
            2**63 - 1,
            "int64 value 9223372036854775807 cannot be losslessly converted to float64",
            id="found int64 not representable as float64",
        ),
    ],
)
def test_what_is_no_float_is_refused(value: Any, text: str) -> None:
    """Go: TestNestedNumberAsFloat64."""
    with pytest.raises((TypeError, ValueError)) as raised:
        unstructured.nested_number_as_float64({"value": value}, "value")
    assert str(raised.value) == f".value accessor error: {text}"


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        pytest.param({}, ({}, False), id="missing map"),
        pytest.param({"path": None}, ({}, True), id="null map"),
        pytest.param({"path": {}}, ({}, True), id="empty map"),
        pytest.param({"path": {"k": "v"}}, ({"k": "v"}, True), id="string value"),
        pytest.param({"path": {"k": None}}, ({"k": ""}, True), id="null value"),
    ],
)
def test_nulls_of_a_map_of_texts_are_empty_texts(obj: dict[str, Any], found: Any) -> None:
    """Go: TestNestedNullCoercingStringMap."""
    value, there = unstructured.nested_null_coercing_string_map(obj, "path")
    assert (value or {}, there) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0, "0 is of the type int64, expected map", id="non map"),
        pytest.param({"k": 0}, 'under key "k": 0 is of the type int64', id="invalid value"),
    ],
)
def test_other_values_of_a_map_of_texts_are_refused(value: Any, text: str) -> None:
    """Go: TestNestedNullCoercingStringMap."""
    with pytest.raises(TypeError, match=text):
        unstructured.nested_null_coercing_string_map({"path": value}, "path")
