"""The requests a client sends (golden controller_runtime/client/requests.jsonl)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from decoding import OVER_JSON
from goldenfile import cases
from goldenruntime import dense, error_of, example, list_example, mapper, shown, to_object

from clientgo import context, rest
from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import client
from clientgo.golang import http

PROTOBUF = "application/vnd.kubernetes.protobuf"


class CannedServer:
    """A server that responds to every request with the step's response, or with the request's body."""

    def __init__(self) -> None:
        self.response: dict[str, Any] | None = None
        self.code = 200
        self.requests: list[dict[str, Any]] = []

    def round_trip(self, request: http.Request) -> http.Response:
        url = urlsplit(request.url)
        body = request.body
        seen: dict[str, Any] = {
            "method": request.method,
            "path": url.path,
            "query": parse_qs(url.query, keep_blank_values=True),
            "accept": request.headers.get("Accept") or "",
        }
        if body:
            assert isinstance(body, bytes)
            seen["body"] = json.loads(body)
            seen["content_type"] = request.headers.get("Content-Type") or ""
        self.requests.append(seen)
        answer = json.dumps(self.response).encode() if self.response is not None else body or b"{}"
        assert isinstance(answer, bytes)
        headers = http.Header()
        headers["Content-Type"] = "application/json"
        return http.Response(status_code=self.code, headers=headers, body=http.BytesBody(answer))


def wrapped(base: client.Client, wrappers: list[dict[str, Any]]) -> client.Client:
    for wrapper in wrappers:
        match wrapper["kind"]:
            case "dry_run":
                base = client.new_dry_run_client(base)
            case "field_owner":
                base = client.with_field_owner(base, wrapper["field_owner"])
            case "field_validation":
                base = client.with_field_validation(base, client.FieldValidation(wrapper["field_validation"]))
            case "namespaced":
                base = client.new_namespaced_client(base, wrapper["namespace"])
            case kind:
                raise AssertionError(f"unknown wrapper {kind}")
    return base


def options(args: dict[str, Any]) -> list[Any]:
    made: list[Any] = []
    if "field_owner" in args:
        made.append(client.FieldOwner(args["field_owner"]))
    if args.get("dry_run"):
        made.append(client.DRY_RUN_ALL)
    if args.get("force"):
        made.append(client.FORCE_OWNERSHIP)
    if "grace_period_seconds" in args:
        made.append(client.GracePeriodSeconds(args["grace_period_seconds"]))
    if "propagation_policy" in args:
        made.append(client.PropagationPolicy(args["propagation_policy"]))
    if "preconditions" in args:
        made.append(client.Preconditions.from_dict(dict(args["preconditions"])))
    if "in_namespace" in args:
        made.append(client.InNamespace(args["in_namespace"]))
    if "matching_labels" in args:
        made.append(client.MatchingLabels(args["matching_labels"]))
    if "has_labels" in args:
        made.append(client.HasLabels(args["has_labels"]))
    if "matching_fields" in args:
        made.append(client.MatchingFields(args["matching_fields"]))
    if "limit" in args:
        made.append(client.Limit(args["limit"]))
    if "continue" in args:
        made.append(client.Continue(args["continue"]))
    return made


def run(c: client.Client, op: str, args: dict[str, Any]) -> dict[str, Any]:
    """Call the client; what it gave, as the case shows it."""
    ctx = context.background()
    given = options(args)
    match op:
        case "get":
            key = client.ObjectKey(args["namespace"], args["name"])
            return {"object": shown(c.get(ctx, key, example(args["apiVersion"], args["kind"], args["as"]), *given))}
        case "list":
            found = c.list(ctx, list_example(args["apiVersion"], args["kind"], args["as"]), *given)
            return {
                "items": [shown(item) for item in found.items],
                "continue": found.get_continue(),
                "resource_version": found.get_resource_version(),
            }
        case "delete_all_of":
            c.delete_all_of(ctx, example(args["apiVersion"], args["kind"], args["as"]), *given)
            return {}
        case "delete":
            metadata = {"name": args["name"], "namespace": args["namespace"]}
            document = {"apiVersion": args["apiVersion"], "kind": args["kind"], "metadata": metadata}
            c.delete(ctx, to_object(document, args["as"]), *given)
            return {}
    raise AssertionError(f"unknown operation {op}")


def write(c: client.Client, op: str, args: dict[str, Any], obj: Any) -> None:
    ctx = context.background()
    given = options(args)
    match op:
        case "create":
            c.create(ctx, obj, *given)
        case "update":
            c.update(ctx, obj, *given)
        case "status_update":
            c.status().update(ctx, obj, *given)
        case "apply":
            c.apply(ctx, client.apply_configuration_from_unstructured(obj), *given)
        case "status_apply":
            c.status().apply(ctx, client.apply_configuration_from_unstructured(obj), *given)
        case "patch_from" | "status_patch_from":
            original = to_object(args["original"], args["as"])
            lock = [client.MergeFromWithOptimisticLock()] if args["optimistic_lock"] else []
            patch = client.merge_from_with_options(original, *lock)
            (c.status() if op == "status_patch_from" else c).patch(ctx, obj, patch, *given)
        case _:
            raise AssertionError(f"unknown operation {op}")


def accepted(accept: str) -> str:
    """Return the header, without protobuf in the run with JSON."""
    if not OVER_JSON:
        return accept
    if accept == f"{PROTOBUF}, */*":
        return "application/json, */*"
    return ",".join(each for each in accept.split(",") if not each.startswith(PROTOBUF))


def expected(step: dict[str, Any]) -> dict[str, Any]:
    expect = dense({key: value for key, value in step["expect"].items() if key not in ("error", "requests")})
    # Go's text leaves the name out where the caller gave an empty object to be filled.
    error = step["expect"]["error"]
    if error and "for the object  does" in error["message"]:
        error = {**error, "message": error["message"].replace("object  does", f"object {step['args']['name']} does")}
    requests = [
        {**dense(request), "query": request["query"], "accept": accepted(request["accept"])}
        for request in step["expect"]["requests"]
    ]
    return {**expect, "error": error, "requests": requests}


def sent(server: CannedServer) -> list[dict[str, Any]]:
    return [{**dense(request), "query": request["query"]} for request in server.requests]


@pytest.mark.parametrize("case", cases("controller_runtime/client/requests.jsonl"))
def test_requests_and_answers_are_those_of_go(case: dict[str, Any]) -> None:
    server = CannedServer()
    named = case["name"] != "default_content_type"
    config = rest.Config(host="http://canned", content_type="application/json" if named else "")
    opts = client.Options(http_client=http.Client(server), mapper=mapper(widget=True))
    c = wrapped(client.new(config, opts), case["config"].get("wrappers_inner_first", []))
    for step in case["steps"]:
        op, args = step["op"], step["args"]
        server.requests.clear()
        server.response, server.code = args.get("response"), args.get("response_code", 200)
        if not named:
            server.response = {"apiVersion": args["apiVersion"], "kind": args["kind"], "metadata": {"name": "a"}}
            run(c, op, {**args, "namespace": "ns1", "name": "a"})
            assert server.requests[0]["accept"] == accepted(step["expect"]["accept"]), step
            continue
        document = args.get("modified", args.get("object"))
        obj = None if document is None else to_object(document, args.get("as", "unstructured"))
        got: dict[str, Any] = {"error": None}
        try:
            if obj is None:
                got |= run(c, op, args)
            else:
                write(c, op, args, obj)
        except Exception as err:
            got["error"] = error_of(err)
        if obj is not None and "object" in step["expect"]:
            got["object"] = shown(obj)
        assert {**dense({**got, "error": ""}), "error": got["error"], "requests": sent(server)} == expected(step), step


def test_a_status_is_what_makes_an_error() -> None:
    """The canned server's errors are read as such, or the cases above would prove little."""
    server = CannedServer()
    server.response, server.code = metav1.Status(status="Failure", reason="Conflict", code=409).to_dict(), 409
    opts = client.Options(http_client=http.Client(server), mapper=mapper(widget=True))
    c = client.new(rest.Config(host="http://canned"), opts)
    with pytest.raises(StatusError) as caught:
        c.get(context.background(), client.ObjectKey("ns1", "a"), example("v1", "ConfigMap", "typed"))
    assert (error_of(caught.value) or {})["reason"] == "Conflict"
