"""JSON patches on plain documents."""

from __future__ import annotations

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
