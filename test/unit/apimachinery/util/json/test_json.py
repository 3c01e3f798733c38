"""JSON texts and what they are read as."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.apimachinery.util import json


# Go: TestEvaluateTypes
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("2147483647", 2**31 - 1),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0.0", 0.0),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("-0.3", -0.3),
        ('""', ""),
        ('"0"', "0"),
        ("[]", []),
        ("[1,1.5]", [1, 1.5]),
        ("{}", {}),
        ('{"a":{"b":[1]}}', {"a": {"b": [1]}}),
    ],
)
def test_numbers_are_integers_or_floats_as_they_are_written(text: str, value: Any) -> None:
    found = json.unmarshal(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["x", "", "{", "[1,]", '"a'])
def test_what_is_no_json_is_refused(text: str) -> None:
    """Go: TestEvaluateTypes."""
    with pytest.raises(ValueError):
        json.unmarshal(text)
