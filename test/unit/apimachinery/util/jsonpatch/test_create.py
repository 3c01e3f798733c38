"""JSON patches that make one document into another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.apimachinery.util import jsonpatch


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": [1, 2, 3, 4]}, {"a": [1, 5]}, ["remove /a/3", "remove /a/2", "replace /a/1"]),
        ([1], [2, 3, 4], ["replace /0", "add /1", "add /2"]),
        ({"a~b/c": 1, "x/y": 1, "~": {}}, {"a~b/c": 2, "~": {"/": 1}},
         ["replace /a~0b~1c", "add /~0/~1", "remove /x~1y"]),
        ({"a": True, "b": 0, "c": 1}, {"a": 1, "b": False, "c": 1.0}, ["replace /a", "replace /b"]),
        ({"a": "1", "b": None, "c": []}, {"a": 1, "b": {}, "c": {}}, ["replace /a", "replace /b", "replace /c"]),
        ([1], {"0": 1}, ["replace "]),
    ],
)  # fmt: skip
def test_the_steps_make_the_one_into_the_other(before: Any, after: Any, steps: list[str]) -> None:
    patch = jsonpatch.create_patch(json.dumps(before), json.dumps(after))
    assert [f"{step.operation} {step.path}" for step in patch] == steps
    assert jsonpatch.apply(before, [step.to_dict() for step in patch]) == after


def test_what_is_no_json_is_refused_unless_nothing_changes() -> None:
    assert jsonpatch.create_patch("{", "{") == []
    for before, after in (("{", "{}"), ("{}", "["), ("{}", "[" * 100_000)):
        with pytest.raises(jsonpatch.InvalidDocumentError, match="invalid JSON Document"):
            jsonpatch.create_patch(before, after)
