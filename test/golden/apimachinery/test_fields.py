"""Field selectors (golden/apimachinery/fields.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery import fields


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "fields_matches":
            return {"matches": fields.parse_selector(args["selector"]).matches(fields.Set(args["fields"]))}
        case "fields_parse_selector":
            return parse_selector(args["selector"])
        case "escape_value":
            escaped = fields.escape_value(args["value"])
            return {"error": None, "escaped": escaped, "unescaped": fields.unescape_value(escaped)}
        case "unescape_value":
            return unescape_value(args["value"])
        case "one_term_equal":
            return {"string": str(fields.one_term_equal_selector(args["field"], args["value"]))}
    raise AssertionError(f"unknown operation {op}")


def parse_selector(text: str) -> dict[str, Any]:
    try:
        selector = fields.parse_selector(text)
    except ValueError as err:
        return {"error": str(err)}
    value, found = selector.requires_exact_match("a")
    return {
        "error": None,
        "empty": selector.empty(),
        "string": str(selector),
        "requires_exact_match_a": {"found": found, "value": value},
        "requirements": [
            {"field": each.field, "operator": str(each.operator), "value": each.value}
            for each in selector.requirements()
        ],
    }


def unescape_value(text: str) -> dict[str, Any]:
    try:
        return {"error": None, "unescaped": fields.unescape_value(text)}
    except ValueError as err:
        return {"error": str(err), "unescaped": ""}


@pytest.mark.parametrize("case", cases("apimachinery/fields.jsonl"))
def test_field_selectors_behave_as_in_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step
