"""Controllers among owner references (golden/apimachinery/owner_references.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta.v1 import controller_ref
from clientgo.apimachinery.runtime.schema import GroupVersionKind


def config_map(metadata: dict[str, Any]) -> corev1.ConfigMap:
    return corev1.ConfigMap.from_dict({"metadata": {key: value for key, value in metadata.items() if value}})


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    if op == "new_controller_ref":
        owner = config_map({"name": args["owner_name"], "uid": args["owner_uid"]})
        ref = controller_ref.new_controller_ref(owner, GroupVersionKind(args["group"], args["version"], args["kind"]))
        return {"reference": ref.to_dict()}
    controllee = config_map({"ownerReferences": args["owner_references"]})
    if op == "is_controlled_by":
        return {"result": controller_ref.is_controlled_by(controllee, config_map({"uid": args["owner_uid"]}))}
    assert op == "get_controller_of"
    found = controller_ref.get_controller_of(controllee)
    return {"controller": found and found.to_dict()}


@pytest.mark.parametrize("case", cases("apimachinery/owner_references.jsonl"))
def test_the_controller_is_found_as_in_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step
