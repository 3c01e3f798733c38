"""References to objects with and without kind (golden/record/get_reference.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.coordination import v1 as coordinationv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import reference

CLASSES = {
    "*v1.Pod": corev1.Pod,
    "*v1.Node": corev1.Node,
    "*v1.Lease": coordinationv1.Lease,
    "*v1.PodList": corev1.PodList,
    "*v1.ObjectReference": corev1.ObjectReference,
    "*unstructured.Unstructured": Unstructured,
}


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    document, go_type = args["object"], args["go_type"]
    obj = CLASSES[go_type].from_dict(document) if go_type in CLASSES else None
    scheme = SCHEME if args["scheme"] else None
    try:
        if op == "get_partial_reference":
            found = reference.get_partial_reference(scheme, obj, args["field_path"])
        else:
            found = reference.get_reference(scheme, obj)
    except Exception as err:
        return {"error": str(err), "reference": None}
    return {"error": None, "reference": found.to_dict()}


@pytest.mark.parametrize("case", cases("record/get_reference.jsonl"))
def test_references_are_those_of_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        assert run(step["op"], step["args"]) == step["expect"], step
