"""Checks of names and label values, message by message (golden/apimachinery/validation.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery.util import validation

CHECKS = {
    "config_map_key": validation.is_config_map_key,
    "dns1035_label": validation.is_dns1035_label,
    "dns1123_label": validation.is_dns1123_label,
    "dns1123_subdomain": validation.is_dns1123_subdomain,
    "label_value": validation.is_valid_label_value,
    "qualified_name": validation.is_qualified_name,
    "wildcard_dns1123_subdomain": validation.is_wildcard_dns1123_subdomain,
}


@pytest.mark.parametrize("case", cases("apimachinery/validation.jsonl"))
def test_broken_rules_are_named_in_go_words(case: dict[str, Any]) -> None:
    """Go: TestIsDNS1123Label, TestIsDNS1123Subdomain, TestIsDNS1035Label, TestIsQualifiedName,
    TestIsValidLabelValue, TestIsConfigMapKey, TestIsWildcardDNS1123Subdomain.
    """
    for step in case["steps"]:
        value = step["args"]["value"]
        assert {name: check(value) for name, check in CHECKS.items()} == step["expect"], step
