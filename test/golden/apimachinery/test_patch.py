"""Strategic and JSON merge patches, made and applied (golden/apimachinery/patch.jsonl)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import jsonmergepatch, strategicpatch


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "create_two_way_merge_patch":
            original, modified = json.dumps(args["original"]), json.dumps(args["modified"])
            patch = strategicpatch.create_two_way_merge_patch(original, modified, getattr(corev1, args["kind"]))
            return {"error": None, "patch": patch.decode()}
        case "strategic_merge_patch":
            before = json.dumps(args)
            merged = strategicpatch.strategic_merge_map_patch(
                args["original"], args["patch"], getattr(corev1, args["kind"])
            )
            assert json.dumps(args) == before, "the documents given were changed"
            return {"error": None, "result": merged}
        case "json_create_merge_patch":
            return {"error": None, "patch": jsonmergepatch.create_merge_patch(args["original"], args["modified"])}
        case "json_merge_patch":
            return {"error": None, "result": jsonmergepatch.merge_patch(args["original"], args["patch"])}
    raise AssertionError(f"unknown operation {op}")


@pytest.mark.parametrize("case", cases("apimachinery/patch.jsonl"))
def test_patches_are_those_of_go(case: dict[str, Any]) -> None:
    """Go: TestStrategicMergePatch."""
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step


def result_of(function: Callable[..., bytes], *documents: Any, kind: str) -> tuple[Any, str | None]:
    """Return the document that the function returns, or the text of its error."""
    try:
        return json.loads(function(*map(json.dumps, documents), getattr(corev1, kind))), None
    except ValueError as err:
        return None, str(err)


@pytest.mark.parametrize("case", cases("apimachinery/strategic_merge_duplicates.jsonl"))
def test_lists_whose_elements_share_their_merge_key_are_patched_as_go_patches_them(case: dict[str, Any]) -> None:
    kind, original = case["kind"], case["original"]
    made = result_of(strategicpatch.create_two_way_merge_patch, original, case["modified"], kind=kind)
    assert made == (case.get("patch"), case.get("error"))
    if case.get("patch") is not None:
        applied = result_of(strategicpatch.strategic_merge_patch, original, case["patch"], kind=kind)
        assert applied == (case.get("applied"), case.get("apply_error"))
