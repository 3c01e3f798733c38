"""The bytes of patches (golden controller_runtime/client/patch_bytes.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenruntime import to_object

from clientgo.controller_runtime import client


@pytest.mark.parametrize("case", cases("controller_runtime/client/patch_bytes.jsonl"))
def test_patches_are_byte_for_byte_those_of_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        args, expect = step["args"], step["expect"]
        original, modified = to_object(args["original"], "typed"), to_object(args["modified"], "typed")
        lock = [client.MergeFromWithOptimisticLock()] if args["optimistic_lock"] else []
        make = client.strategic_merge_from if args["strategic"] else client.merge_from_with_options
        patch = make(original, *lock)
        data, error = "", None
        try:
            data = patch.data(modified).decode()
        except ValueError as err:
            # Behind these words stands Go's way of printing an object.
            error = str(err).partition(', object "')[0]
        wanted = expect["error"] and expect["error"].partition(', object "')[0].partition(", object &")[0]
        assert (data, error, patch.type()) == (expect["data"], wanted, expect["type"]), step
