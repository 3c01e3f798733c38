"""API errors: constructors, predicates, generic server responses (golden/apimachinery/errors.jsonl)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from goldenfile import cases

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.validation.field import ErrorList

CONSTRUCTORS: dict[str, Callable[[GroupResource, str], errors.StatusError]] = {
    "already_exists": errors.new_already_exists,
    "bad_request": lambda gr, name: errors.new_bad_request("b"),
    "conflict": lambda gr, name: errors.new_conflict(gr, name, Exception("boom")),
    "forbidden": lambda gr, name: errors.new_forbidden(gr, name, Exception("nope")),
    "forbidden_no_name": lambda gr, name: errors.new_forbidden(gr, "", Exception("nope")),
    "gone": lambda gr, name: errors.new_gone("g"),
    "internal": lambda gr, name: errors.new_internal_error(Exception("i")),
    "invalid": lambda gr, name: errors.new_invalid(GroupKind("g", "K"), "n", ErrorList()),
    "method_not_supported": lambda gr, name: errors.new_method_not_supported(gr, "patch"),
    "not_found": errors.new_not_found,
    "request_entity_too_large": lambda gr, name: errors.new_request_entity_too_large_error("big"),
    "resource_expired": lambda gr, name: errors.new_resource_expired("e"),
    "server_timeout": lambda gr, name: errors.new_server_timeout(gr, "list", 2),
    "service_unavailable": lambda gr, name: errors.new_service_unavailable("s"),
    "timeout": lambda gr, name: errors.new_timeout_error("t", 3),
    "too_many_requests": lambda gr, name: errors.new_too_many_requests("m", 5),
    "too_many_requests_error": lambda gr, name: errors.new_too_many_requests_error("m"),
    "unauthorized": lambda gr, name: errors.new_unauthorized("u"),
    "unauthorized_empty": lambda gr, name: errors.new_unauthorized(""),
}


def run(op: str, args: dict[str, Any]) -> dict[str, Any]:
    resource = GroupResource(args["group"], args["resource"])
    if op == "generic_server_response":
        err = errors.new_generic_server_response(
            args["code"],
            args["verb"],
            resource,
            args["name"],
            args["server_message"],
            args["retry_after_seconds"],
            args["is_unexpected_response"],
        )
        return {"status": err.status().to_dict()}
    assert op == "api_error"
    return describe(CONSTRUCTORS[args["kind"]](resource, args["name"]))


def describe(err: errors.StatusError) -> dict[str, Any]:
    # The predicates must find the status in an error's causes too.
    outer = RuntimeError("outer")
    outer.__cause__ = err
    predicates = [name for name in dir(errors) if name.startswith("is_")]
    assert all(getattr(errors, name)(outer) == getattr(errors, name)(err) for name in predicates)
    delay, suggested = errors.suggests_client_delay(err)
    return {
        "message": str(err),
        "reason": errors.reason_for_error(err),
        "status": err.status().to_dict(),
        "delay_seconds": delay,
        "suggests_client_delay": suggested,
        "is": {name.removeprefix("is_"): getattr(errors, name)(err) for name in predicates},
    }


@pytest.mark.parametrize("case", cases("apimachinery/errors.jsonl"))
def test_errors_are_made_and_recognised_as_in_go(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        result, expect = run(step["op"], step["args"]), step["expect"]
        if "is" in expect:
            result["is"] = {name: result["is"][name] for name in expect["is"]}
        assert result == expect, step
