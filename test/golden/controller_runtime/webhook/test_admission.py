"""Admission webhooks against what controller-runtime v0.24 answered."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from goldenfile import cases

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.jsonpatch import Operation
from clientgo.apimachinery.util.validation import field
from clientgo.context import Context, background
from clientgo.controller_runtime.webhook import admission
from clientgo.golang.http import Header
from clientgo.golang.http.server import Request, ResponseWriter
from clientgo.kubernetes import scheme

CONFIG_MAP, CONFIG_MAPS = GroupKind("", "ConfigMap"), GroupResource("", "configmaps")
# Go's name of a type, and how this port names it.
GO_TYPE = re.compile(r"\*v1\.(\w+)")


class Defaulter:
    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour.removesuffix("_remove_unknown")

    def default(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        getattr(self, f"_{self.behaviour}")(ctx, obj)

    def _set(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        obj.data["defaulted"] = "yes"
        obj.data.pop("drop", None)

    def _labels(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        obj.metadata.labels["a/b~c"] = "1"

    def _finalizers(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        obj.metadata.finalizers = ["first", *obj.metadata.finalizers]

    def _error(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        raise ValueError("cannot default")

    def _status_error(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        missing = field.required(field.new_path("data"), "must be set")
        raise errors.new_invalid(CONFIG_MAP, obj.metadata.name, field.ErrorList([missing]))

    def _panic(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        raise AssertionError("defaulter panics")

    def _request(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        request = admission.request_from_context(ctx)
        obj.metadata.annotations["user"] = request.user_info.username
        obj.metadata.annotations["op"] = request.operation

    def _nothing(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        pass


class Validator:
    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour

    def validate_create(self, ctx: Context, obj: corev1.ConfigMap) -> list[str]:
        return self._decide("create", obj)

    def validate_update(self, ctx: Context, old_obj: corev1.ConfigMap, new_obj: corev1.ConfigMap) -> list[str]:
        return self._decide("update", new_obj, old_obj)

    def validate_delete(self, ctx: Context, obj: corev1.ConfigMap) -> list[str]:
        return self._decide("delete", obj)

    def _decide(self, verb: str, obj: corev1.ConfigMap, old: corev1.ConfigMap | None = None) -> list[str] | None:
        if self.behaviour == "warn":
            shown = verb if old is None else f"{verb} from {old.data.get('v', '')} to {obj.data.get('v', '')}"
            return [f"careful with {shown}", "second"]
        if self.behaviour == "allow":
            return None
        if self.behaviour == "panic":
            raise AssertionError("validator panics")
        raise self._error(verb, obj)

    def _error(self, verb: str, obj: corev1.ConfigMap) -> Exception:
        name = obj.metadata.name
        if self.behaviour == "deny":
            return ValueError(f"no {verb}")
        if self.behaviour == "warn_and_deny":
            return admission.with_warnings(ValueError("no"), "w")
        if self.behaviour == "forbidden":
            return errors.new_forbidden(CONFIG_MAPS, name, ValueError("because"))
        if self.behaviour == "invalid":
            bad = field.invalid(field.new_path("data", "k"), "v", "bad")
            return admission.with_warnings(errors.new_invalid(CONFIG_MAP, name, field.ErrorList([bad])), "w")
        assert self.behaviour == "wrapped"
        wrapped = RuntimeError("wrapped")
        wrapped.__cause__ = errors.new_conflict(CONFIG_MAPS, name, ValueError("c"))
        return wrapped


def post(webhook: admission.Webhook, args: dict[str, Any]) -> ResponseWriter:
    body = args["body"].encode()
    headers = Header()
    headers["Content-Type"] = args["content_type"]
    headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    webhook.serve_http(response, Request("POST", "/", headers, lambda count: body[:count]))
    return response


def webhook_for(config: dict[str, Any]) -> admission.Webhook:
    behaviour = config["behaviour"]
    if config["kind"] == "validator":
        return admission.with_validator(scheme.SCHEME, corev1.ConfigMap, Validator(behaviour))
    remove = [admission.defaulter_remove_unknown_or_omitable_fields] if behaviour.endswith("_remove_unknown") else []
    return admission.with_defaulter(scheme.SCHEME, corev1.ConfigMap, Defaulter(behaviour), *remove)


def sorted_patch(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(operations, key=lambda step: json.dumps(step, sort_keys=True))


def pruned(value: Any) -> Any:
    """Return the value without null and empty fields. Go writes some of them."""
    if isinstance(value, dict):
        cleaned = {key: pruned(item) for key, item in value.items()}
        return {key: item for key, item in cleaned.items() if item not in (None, {}, [], "")}
    return [pruned(item) for item in value] if isinstance(value, list) else value


def shown(review: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with its patch decoded and sorted."""
    answer = pruned(review)
    if "patch" in review["response"]:
        answer["response"]["patch"] = sorted_patch(json.loads(base64.b64decode(review["response"]["patch"])))
    return answer


def expected(review: dict[str, Any]) -> dict[str, Any]:
    answer = pruned(review)
    response = answer["response"]
    if "patch" in review["response"]:
        # Values keep their nulls.
        response["patch"] = sorted_patch(review["response"]["patch"])
    status = response.get("status", {})
    if "message" in status:
        status["message"] = GO_TYPE.sub(r"\1", status["message"])
    return answer


def serves(config: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    for step in steps:
        webhook = webhook_for(config)
        response = post(webhook, step["args"])
        assert response.status == step["expect"]["code"]
        assert step["expect"]["panic"] is None
        assert shown(json.loads(response.body)) == expected(step["expect"]["response"]), step


def numbered(kind: str, number: int) -> admission.HandlerFunc:
    """Return the n-th of several handlers."""

    def handle(ctx: Context, req: admission.Request) -> admission.Response:
        if kind == "allow":
            return admission.allowed("")
        if kind == "warn":
            return admission.allowed("").with_warnings(f"w{number}")
        if kind == "allow_patch":
            return admission.patched("", Operation("add", f"/p{number}", 1))
        if kind == "deny":
            return admission.denied(f"denied by {number}")
        if kind == "patch_type_set":
            return admission.Response(allowed=True, patch_type="JSONPatch")
        assert kind == "error"
        return admission.errored(500, "e")

    return admission.HandlerFunc(handle)


def handles(config: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    make = admission.multi_mutating_handler if config["mutating"] else admission.multi_validating_handler
    handler = make(*(numbered(kind, number) for number, kind in enumerate(config["handlers"])))
    for step in steps:
        answer = handler.handle(background(), admission.Request())
        assert shown({"response": answer.to_dict()}) == expected(step["expect"]), step


def constructs(steps: list[dict[str, Any]]) -> None:
    for step in steps:
        args, expect = step["args"], dict(step["expect"])
        response = constructed(step["op"], args)
        patches = [pruned_value(one.to_dict()) for one in response.patches]
        wanted = [pruned_value(one) for one in expect.pop("patches", [])]
        assert sorted(patches, key=by_path) == wanted, step
        assert pruned(response.to_dict()) == pruned(expect), step


def pruned_value(step: dict[str, Any]) -> dict[str, Any]:
    value = step.get("value")
    return {**step, "value": float(value)} if isinstance(value, int) and not isinstance(value, bool) else step


def by_path(step: dict[str, Any]) -> tuple[str, str]:
    return step["path"], step["op"]


def constructed(op: str, args: dict[str, Any]) -> admission.Response:
    if op == "with_warnings":
        return admission.allowed("").with_warnings(*args["warnings"])
    if op == "patch_response_from_raw":
        return admission.patch_response_from_raw(args["original"].encode(), args["current"].encode())
    if op == "errored":
        return admission.errored(args["code"], args["error"])
    if op.startswith("validation_response"):
        return admission.validation_response(op.endswith("true"), args["message"])
    return {"allowed": admission.allowed, "denied": admission.denied}[op](args["message"])


@pytest.mark.parametrize("case", cases("controller_runtime/webhook/admission.jsonl"))
def test_admission(case: dict[str, Any]) -> None:
    """Reviews of both versions, and bodies that are none, go to a defaulter or a validator; each answer is Go's.

    Go: webhook/admission: Admission Webhooks > HTTP Handler > should return
    Go: webhook/admission: Admission Webhooks > HTTP Handler > should error when given a NoBody
    Go: webhook/admission: Defaulter Handler
    Go: webhook/admission: customValidatingHandler
    Go: webhook/admission: Multi-Handler Admission Webhooks
    Go: webhook/admission: Admission Webhook Response Helpers > Allowed
    Go: webhook/admission: Admission Webhook Response Helpers > Denied
    Go: webhook/admission: Admission Webhook Response Helpers > Errored
    Go: webhook/admission: Admission Webhook Response Helpers > ValidationResponse
    Go: webhook/admission: Admission Webhook Response Helpers > PatchResponseFromRaw
    Go: webhook/admission: Admission Webhook Response Helpers > WithWarnings
    """
    config, steps = case["config"], case["steps"]
    if "behaviour" in config:
        serves(config, steps)
    elif "handlers" in config:
        handles(config, steps)
    else:
        constructs(steps)
