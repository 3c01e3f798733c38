"""Label selectors: parsing, matching, and the LabelSelector of the API (golden/apimachinery/labels.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "labels_parse":
            return parse(lambda: labels.parse(args["selector"]))
        case "matches":
            labels_set = labels.Set(args["labels"])
            return {"matches": labels.parse(args["selector"]).matches(labels_set), "labels_string": str(labels_set)}
        case "convert_selector_to_labels_map":
            return convert(args["selector"])
        case "label_selector_as_selector":
            return parse(lambda: metav1.label_selector_as_selector(label_selector(args)))
        case "format_label_selector":
            return {"string": metav1.format_label_selector(label_selector(args))}
    raise AssertionError(f"unknown operation {op}")


def parse(make: Any) -> dict[str, Any]:
    try:
        selector = make()
    except Exception as err:
        return {"error": str(err)}
    requirements, selectable = selector.requirements()
    return {
        "error": None,
        "empty": selector.empty(),
        "string": str(selector),
        "selectable": selectable,
        "requirements": [
            {"key": each.key(), "operator": str(each.operator()), "values": sorted(each.values())}
            for each in requirements
        ],
    }


def convert(selector: str) -> dict[str, Any]:
    try:
        return {"error": None, "labels": labels.convert_selector_to_labels_map(selector)}
    except Exception as err:
        return {"error": str(err), "labels": {}}


def label_selector(args: dict[str, Any]) -> metav1.LabelSelector | None:
    document = args["label_selector"]
    return None if document is None else metav1.LabelSelector.from_dict(document)


@pytest.mark.parametrize("case", cases("apimachinery/labels.jsonl"))
def test_label_selectors_behave_as_in_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        result = run(step["op"], step["args"])
        expect = step["expect"]
        if step["op"] == "convert_selector_to_labels_map" and expect["error"]:
            # Go also returns the labels read before the error; an exception takes their place here.
            result, expect = result["error"], expect["error"]
        assert result == expect, step
