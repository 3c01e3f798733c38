"""Owner references and finalizers (golden controller_runtime/controllerutil)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from goldenfile import cases
from goldenruntime import Document, to_object

from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime.controller import controllerutil
from clientgo.kubernetes.scheme import SCHEME


def call(op: str, args: Document, obj: Any) -> Any:
    if op.endswith("finalizer"):
        return getattr(controllerutil, op)(obj, args["finalizer"])
    owner = to_object(args["owner"], "typed")
    if op == "has_owner_reference":
        return controllerutil.has_owner_reference(obj.get_owner_references(), owner, SCHEME)
    opts = []
    if "block_owner_deletion" in args:
        opts.append(controllerutil.with_block_owner_deletion(args["block_owner_deletion"]))
    return getattr(controllerutil, op)(owner, obj, SCHEME, *opts)


def outcome(op: str, args: Document, obj: Any) -> Document:
    got: Document = {}
    try:
        value = call(op, args, obj)
    except controllerutil.AlreadyOwnedError as err:
        return {"error": str(err), "already_owned_by": err.owner.to_dict()}
    except ValueError as err:
        return {"error": str(err)}
    if value is not None:
        got["value"] = value
    if op.endswith("finalizer"):
        return {**got, "finalizers": obj.get_finalizers()}
    return {**got, "error": None}


@pytest.mark.parametrize("case", cases("controller_runtime/controllerutil/owner_references.jsonl"))
def test_owner_references_are_those_of_go(case: dict[str, Any]) -> None:
    """
    Go: controller/controllerutil: Controllerutil > SetOwnerReference
    Go: controller/controllerutil: Controllerutil > SetControllerReference
    Go: controller/controllerutil: Controllerutil > Finalizers > HasOwnerReference
    """
    obj = to_object(case["config"]["object"], "typed")
    for step in case["steps"]:
        got = outcome(step["op"], step["args"], obj)
        if not step["op"].endswith("finalizer"):
            got["owner_references"] = [reference.to_dict() for reference in obj.get_owner_references()]
            got["has_controller_reference"] = controllerutil.has_controller_reference(obj)
        expect = dict(step["expect"])
        if expect.get("error"):
            # Go's names of types.
            expect["error"] = re.sub(r"\*\w+\.(\w+)", r"\1", expect["error"])
        for name in ("finalizers", "owner_references"):
            if name in expect:
                expect[name] = expect[name] or []
        assert got == expect, step


@pytest.mark.parametrize("case", cases("controller_runtime/controllerutil/finalizers.jsonl"))
def test_finalizers_are_those_of_go(case: dict[str, Any]) -> None:
    """
    Go: controller/controllerutil: Controllerutil > Finalizers
    """
    obj = corev1.ConfigMap()
    obj.set_finalizers(case["config"]["finalizers"])
    for step in case["steps"]:
        expect = {**step["expect"], "finalizers": step["expect"]["finalizers"] or []}
        assert outcome(step["op"], step["args"], obj) == expect, step
