"""The field selectors that an index supports."""

from __future__ import annotations

import pytest

from clientgo.apimachinery import fields
from clientgo.controller_runtime.internal.field.selector import requires_exact_match


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (fields.everything(), False),
        (fields.nothing(), False),
        (fields.parse_selector("key!=val"), False),
        (fields.parse_selector("key1==val1,key2!=val2"), False),
        (fields.parse_selector("key1==val1,key2==val2"), True),
        (fields.parse_selector("key==val"), True),
        (fields.parse_selector("key=val"), True),
    ],
)
def test_only_exact_values_can_be_looked_up(selector: fields.Selector, expected: bool) -> None:
    """
    Go: internal/field/selector: RequiresExactMatch function
    """
    assert requires_exact_match(selector) is expected
