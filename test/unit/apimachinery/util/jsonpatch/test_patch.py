"""JSON patches on plain documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.apimachinery.util import jsonpatch


@pytest.mark.parametrize(
    ("operations", "wanted"),
    [
        ([{"op": "add", "path": "/list/-", "value": 4}], {"list": [1, 2, 4], "map": {"a/b": 1}}),
        ([{"op": "add", "path": "/list/0", "value": 0}], {"list": [0, 1, 2], "map": {"a/b": 1}}),
        ([{"op": "remove", "path": "/map/a~1b"}], {"list": [1, 2], "map": {}}),
        ([{"op": "move", "from": "/list/0", "path": "/map/first"}], {"list": [2], "map": {"a/b": 1, "first": 1}}),
        ([{"op": "copy", "from": "/list", "path": "/map/list"}], {"list": [1, 2], "map": {"a/b": 1, "list": [1, 2]}}),
        ([{"op": "replace", "path": "", "value": {}}], {}),
        ([{"op": "test", "path": "/none"}, {"op": "remove", "path": "/list"}], {"map": {"a/b": 1}}),
        ([{"op": "replace", "path": "/map"}, {"op": "remove", "path": "/list/-1"}], {"list": [1], "map": None}),
        ([{"op": "add", "path": "/list/-1", "value": 3}, {"op": "remove", "path": "x/map"}], {"list": [1, 2, 3]}),
        ([{"op": "copy", "from": "/none", "path": "/map"}], {"list": [1, 2], "map": None}),
        ([{"op": "replace", "path": "/new", "value": 1}], {"list": [1, 2], "map": {"a/b": 1}, "new": 1}),
    ],
)
def test_operations_in_order(operations: list[dict[str, Any]], wanted: Any) -> None:
    original = {"list": [1, 2], "map": {"a/b": 1}}
    assert jsonpatch.apply(original, operations) == wanted
    assert original == {"list": [1, 2], "map": {"a/b": 1}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/missing"},
        {"op": "replace", "path": "/missing/inside", "value": 1},
        {"op": "test", "path": "/a", "value": True},
        {"op": "test", "path": "/list/1", "value": None},
        {"op": "remove", "path": "/list/-2"},
        {"op": "move", "path": "/list"},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "move", "from": "/list", "path": "/list/0"},
        {"op": "spin", "path": "/a"},
        {"op": "add", "path": "no slash", "value": 1},
        {"path": "/a"},
        {"op": "add"},
    ],
)
def test_a_patch_that_does_not_fit_is_refused(operation: dict[str, Any]) -> None:
    with pytest.raises(jsonpatch.PatchError):
        jsonpatch.apply({"a": 1, "list": [1]}, [operation])


DOUBLING = [
    step
    for _ in range(8)
    for step in ({"op": "copy", "from": "/a", "path": "/b"}, {"op": "move", "from": "/b", "path": "/a/-"})
]


def test_copies_beyond_the_limit_are_refused_with_what_they_add_up_to() -> None:
    document = {"a": ["ü<"], "keep": 1}  # ["ü<"] is 12 bytes in Go's JSON, which escapes the <
    patch = [{"op": "copy", "from": "/a", "path": f"/{i}"} for i in range(3)]
    assert jsonpatch.apply(document, patch, accumulated_copy_size_limit=36)["2"] == ["ü<"]
    with pytest.raises(jsonpatch.AccumulatedCopySizeError) as found:
        jsonpatch.apply(document, patch, accumulated_copy_size_limit=35)
    words = "Unable to complete the copy, the accumulated size increase of copy is 36, exceeding the limit 35"
    assert (str(found.value), found.value.limit, found.value.accumulated) == (words, 35, 36)


def test_only_copies_count_and_null_costs_nothing() -> None:
    document: dict[str, Any] = {"a": ["x" * 100], "none": None}
    steps = [
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/c", "value": "x" * 100},
        {"op": "replace", "path": "/c", "value": "y" * 100},
        {"op": "copy", "from": "/none", "path": "/d"},
    ]
    after = jsonpatch.apply(document, steps, accumulated_copy_size_limit=1)
    assert after == {"b": ["x" * 100], "c": "y" * 100, "d": None, "none": None}
    assert document == {"a": ["x" * 100], "none": None}


def test_the_library_has_no_limit_of_its_own() -> None:
    assert len(json.dumps(jsonpatch.apply({"a": [1]}, DOUBLING))) > 256


def test_copies_into_their_own_value_cannot_exhaust_the_stack() -> None:
    deep = [
        step
        for i in range(15)
        for step in (
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/b", "path": "/a" + "/a" * 2**i},
        )
    ]
    limit = r"^exceeded max depth of a few hundred \(Python's stack has \d+ frames\)$"
    with pytest.raises(jsonpatch.PatchError, match=limit):
        jsonpatch.apply({"a": {}}, deep, accumulated_copy_size_limit=3 << 20)


@pytest.mark.parametrize(
    ("operation", "failure"),
    [
        ({"op": "add", "path": "", "value": 1}, 'add operation does not apply: doc is missing path: "": missing value'),
        ({"op": "remove", "path": ""}, 'remove operation does not apply: doc is missing path: "": missing value'),
        (
            {"op": "move", "from": "/a", "path": ""},
            "move operation does not apply: doc is missing destination path: : missing value",
        ),
        (
            {"op": "copy", "from": "/a", "path": ""},
            "copy operation does not apply: doc is missing destination path: : missing value",
        ),
        (
            {"op": "move", "from": "", "path": "/b"},
            "move operation does not apply: doc is missing from path: : missing value",
        ),
        (
            {"op": "copy", "from": "", "path": "/b"},
            "copy operation does not apply: doc is missing from path: : missing value",
        ),
        ({"op": "replace", "path": "", "value": 1}, "replace operation value must be object or array: %!w(<nil>)"),
        ({"op": "replace", "path": "", "value": None}, "replace operation value must be object or array: %!w(<nil>)"),
        ({"op": "test", "path": "", "value": {"a": 2}}, "testing value  failed: test failed"),
    ],
)
def test_the_whole_document_can_only_be_tested_and_replaced(operation: dict[str, Any], failure: str) -> None:
    """Go: TestAllCases, BadCases; findObject finds nothing for a path without a slash."""
    document = {"a": {"b": 1}}
    with pytest.raises(jsonpatch.PatchError) as found:
        jsonpatch.apply(document, [operation])
    assert str(found.value) == failure
    assert document == {"a": {"b": 1}}


def test_the_whole_document_is_tested_and_replaced() -> None:
    """Go: TestAllCases, the case with an id and a parentID."""
    steps = [
        {"op": "test", "path": "", "value": {"id": "0", "parentID": "0"}},
        {"op": "replace", "path": "", "value": {"id": "1", "originalID": "bar", "parentID": "0"}},
    ]
    assert jsonpatch.apply({"id": "0", "parentID": "0"}, steps) == {"id": "1", "originalID": "bar", "parentID": "0"}
    assert jsonpatch.apply({"a": 1}, [{"op": "replace", "path": "", "value": [1]}]) == [1]


@pytest.mark.parametrize(
    ("document", "operation", "failure"),
    [
        (
            {"foo": "bar"},
            {"op": "add", "path": "/baz/bat", "value": "qux"},
            'add operation does not apply: doc is missing path: "/baz/bat": missing value',
        ),
        (
            {"a": {"b": {"d": 1}}},
            {"op": "remove", "path": "/a/b/c"},
            "error in remove for path: '/a/b/c': Unable to remove nonexistent key: c: missing value",
        ),
        (
            {"a": {"b": {"d": 1}}},
            {"op": "move", "from": "/a/b/c", "path": "/a/b/e"},
            "error in move for path: 'c': Unable to remove nonexistent key: c: missing value",
        ),
        (
            {"a": {"b": [1]}},
            {"op": "remove", "path": "/a/b/1"},
            "error in remove for path: '/a/b/1': Unable to access invalid index: 1: invalid index referenced",
        ),
        (
            {"a": {"b": [1]}},
            {"op": "move", "from": "/a/b/1", "path": "/a/b/2"},
            "error in move for path: '1': Unable to access invalid index: 1: invalid index referenced",
        ),
        (
            {"foo": "bar"},
            {"op": "add", "pathz": "/baz", "value": "qux"},
            "add operation failed to decode path: missing value",
        ),
        (
            {"foo": ["bar", "baz"]},
            {"op": "replace", "path": "/foo/2", "value": "bum"},
            "replace operation does not apply: doc is missing key: /foo/2: missing value",
        ),
        (
            {"foo": ["bar", "baz"]},
            {"op": "add", "path": "/foo/-4", "value": "bum"},
            "error in add for path: '/foo/-4': Unable to access invalid index: -4: invalid index referenced",
        ),
        (
            {"name": {"foo": "bat", "qux": "bum"}},
            {"op": "replace", "path": "/foo/bar", "value": "baz"},
            "replace operation does not apply: doc is missing path: /foo/bar: missing value",
        ),
        (
            {"foo": []},
            {"op": "remove", "path": "/foo/-"},
            "error in remove for path: '/foo/-': strconv.Atoi: parsing \"-\": invalid syntax",
        ),
        (
            {"foo": ["bar"]},
            {"op": "add", "path": "/foo/x", "value": 1},
            "error in add for path: '/foo/x': value was not a proper array index: 'x': "
            'strconv.Atoi: parsing "x": invalid syntax',
        ),
        ({}, {"op": None, "path": ""}, "Unexpected kind: unknown"),
        ({}, {"op": "add", "path": None}, "add operation failed to decode path: missing value"),
        (
            {},
            {"op": "copy", "from": None},
            "copy operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            {"foo": ["bar"]},
            {"op": "copy", "path": "/foo/6666666666", "from": "/"},
            "error while adding value during copy: "
            "Unable to access invalid index: 6666666666: invalid index referenced",
        ),
        (
            {"foo": ["bar"]},
            {"op": "copy", "path": "/foo/2", "from": "/foo/0"},
            "error while adding value during copy: Unable to access invalid index: 2: invalid index referenced",
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            {"op": "move", "from": "/foo/1", "path": "/foo/4"},
            "error in move for path: '/foo/4': Unable to access invalid index: 4: invalid index referenced",
        ),
        (
            {"a": 1},
            {"op": "replace"},
            "replace operation failed to decode path: operation missing path field: missing value",
        ),
        (
            {"a": 1},
            {"op": "test", "path": 5},
            "test operation failed to decode path: json: cannot unmarshal number into Go value of type string",
        ),
    ],
)
def test_what_does_not_fit_has_the_text_of_go(document: Any, operation: dict[str, Any], failure: str) -> None:
    """Go: TestAllCases, BadCases."""
    with pytest.raises(jsonpatch.PatchError) as found:
        jsonpatch.apply(document, [operation])
    assert str(found.value) == failure


@pytest.mark.parametrize(("document", "name"), [(1, "number"), ("x", "string"), (False, "bool")])
def test_a_scalar_is_no_document(document: Any, name: str) -> None:
    for operations in ([], [{"op": "replace", "path": "", "value": {}}]):
        with pytest.raises(jsonpatch.PatchError) as caught:
            jsonpatch.apply(document, operations)
        assert str(caught.value) == f"json: cannot unmarshal {name} into Go value of type jsonpatch.partialDoc"


def test_null_is_an_empty_document() -> None:
    with pytest.raises(jsonpatch.PatchError, match="Unable to remove nonexistent key: a: missing value"):
        jsonpatch.apply(None, [{"op": "remove", "path": "/a"}])
