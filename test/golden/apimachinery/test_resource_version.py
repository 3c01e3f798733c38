"""Order of resource versions (golden/apimachinery/resource_version.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery.util import resourceversion


def compare(a: str, b: str) -> dict[str, Any]:
    try:
        return {"error": None, "result": resourceversion.compare_resource_version(a, b)}
    except resourceversion.InvalidResourceVersion as err:
        return {"error": str(err), "result": 0}


@pytest.mark.parametrize("case", cases("apimachinery/resource_version.jsonl"))
def test_resource_versions_order_as_in_go(case: dict[str, Any]) -> None:
    """Go: TestCompareResourceVersion."""
    for step in case["steps"]:
        assert step["op"] == "compare_resource_version"
        assert compare(**step["args"]) == step["expect"], step
