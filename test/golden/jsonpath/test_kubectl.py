"""Templates find and print what kubectl 1.33 printed for the same document (golden/jsonpath/kubectl.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from kubectljsonpath import answer


@pytest.mark.parametrize("case", cases("jsonpath/kubectl.jsonl"))
def test_a_template_gives_kubectls_output_or_error(case: dict[str, Any]) -> None:
    found = answer(case["template"], case["document"], case["as_json"], case["allow_missing_keys"])
    assert found == {key: case[key] for key in ("output", "error") if key in case}
