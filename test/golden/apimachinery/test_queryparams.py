"""Options become the query parameters of Go (golden/apimachinery/queryparams.jsonl, made by go/options/main.go)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.conversion import queryparams


@pytest.mark.parametrize("case", cases("apimachinery/queryparams.jsonl"))
def test_options_have_the_parameters_of_go(case: dict[str, Any]) -> None:
    kind = getattr(metav1, case["kind"], None) or getattr(v1, case["kind"])
    assert queryparams.convert(kind.from_dict(case["options"])) == case["parameters"]
