"""Group, version, kind and resource names as Go client-go reads them (golden/apimachinery/schema.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import schema


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "parse_group_version":
            return parse_group_version(**args)
        case "parse_resource_arg":
            gvr, gr = schema.parse_resource_arg(args["arg"])
            full = gvr and {"group": gvr.group, "version": gvr.version, "resource": gvr.resource}
            return {"gr_string": str(gr), "group": gr.group, "resource": gr.resource, "gvr": full}
        case "parse_kind_arg":
            gvk, gk = schema.parse_kind_arg(args["arg"])
            full = gvk and {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
            return {"gk_string": str(gk), "group": gk.group, "kind": gk.kind, "gvk": full}
        case "parse_group_resource":
            gr = schema.parse_group_resource(args["arg"])
            return {"group": gr.group, "resource": gr.resource}
        case "parse_group_kind":
            gk = schema.parse_group_kind(args["arg"])
            return {"group": gk.group, "kind": gk.kind}
        case "from_api_version_and_kind":
            return from_api_version_and_kind(**args)
        case "unsafe_guess_kind_to_resource":
            plural, singular = meta.unsafe_guess_kind_to_resource(schema.GroupVersionKind(kind=args["kind"]))
            return {"plural": plural.resource, "singular": singular.resource}
    raise AssertionError(f"unknown operation {op}")


def parse_group_version(gv: str) -> dict[str, Any]:
    error, parsed = None, schema.GroupVersion()
    try:
        parsed = schema.parse_group_version(gv)
    except ValueError as err:
        error = str(err)
    return {"error": error, "group": parsed.group, "version": parsed.version, "string": str(parsed)}


def from_api_version_and_kind(api_version: str, kind: str) -> dict[str, Any]:
    gvk = schema.from_api_version_and_kind(api_version, kind)
    back_api_version, back_kind = gvk.to_api_version_and_kind()
    return {
        "group": gvk.group,
        "version": gvk.version,
        "kind": gvk.kind,
        "string": str(gvk),
        "empty": gvk.empty(),
        "back_api_version": back_api_version,
        "back_kind": back_kind,
    }


@pytest.mark.parametrize("case", cases("apimachinery/schema.jsonl"))
def test_names_are_read_as_go_reads_them(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step
