"""Admission webhooks: the embedded API server asks a real webhook server, and does what it and its policies say."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from patience import PATIENCE
from webhookserver import GROUP, Webhooks, hook

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime.webhook import JSONPatchOp, admission
from clientgo.controller_runtime.webhook.admission import Request, Response
from clientgo.golang.http import BytesBody
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import ResponseWriter
from clientgo.kubernetes import scheme
from clientgo.testing.apiserver.wire import webhooks as webhookclients

Json = dict[str, Any]
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def hooks() -> Iterator[Webhooks]:
    made = Webhooks()
    yield made
    made.close()


def config_map(name: str, **data: str) -> Json:
    return {"metadata": {"name": name}, "data": data}


def allow(ctx: Context, req: Request) -> Response:
    return admission.allowed("")


def deny(ctx: Context, req: Request) -> Response:
    return admission.denied("never")


def setting(key: str, value: str) -> Any:
    return lambda ctx, req: admission.patched("", JSONPatchOp("add", f"/data/{key}", value))


class Recorder:
    """Allows everything, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Json] = []

    def __call__(self, ctx: Context, req: Request) -> Response:
        self.requests.append(req.to_dict())
        return admission.allowed("")

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [(request["operation"], request.get("name", "")) for request in self.requests]


# ---- what a program of controller_runtime.webhook sees


class Defaults:
    def default(self, ctx: Context, obj: corev1.ConfigMap) -> None:
        obj.data.setdefault("color", "blue")


class Rules:
    def validate_create(self, ctx: Context, obj: corev1.ConfigMap) -> list[str]:
        return self._checked(obj)

    def validate_update(self, ctx: Context, old_obj: corev1.ConfigMap, new_obj: corev1.ConfigMap) -> list[str]:
        if old_obj.data["color"] != new_obj.data["color"]:
            raise ValueError("a color stays")
        return self._checked(new_obj)

    def validate_delete(self, ctx: Context, obj: corev1.ConfigMap) -> list[str]:
        raise ValueError(f"{obj.get_name()} stays")

    @staticmethod
    def _checked(obj: corev1.ConfigMap) -> list[str]:
        if obj.data["color"] == "pink":
            raise ValueError("not pink")
        return [f"{obj.data['color']} is an odd color"]


def test_a_defaulter_and_a_validator_decide_about_every_write(hooks: Webhooks) -> None:
    defaulter = hooks.serve(admission.with_defaulter(scheme.SCHEME, corev1.ConfigMap, Defaults()))
    validator = hooks.serve(admission.with_validator(scheme.SCHEME, corev1.ConfigMap, Rules()))
    hooks.configure("Mutating", "defaults", hook("d.example.com", defaulter))
    hooks.configure("Validating", "rules", hook("v.example.com", validator))
    made = hooks.api("POST", MAPS, config_map("one", a="b"), want=201)
    assert made["data"] == {"a": "b", "color": "blue"}
    assert hooks.api("GET", f"{MAPS}/one", want=200) == made
    assert hooks.api.warnings("PUT", f"{MAPS}/one", made) == ["blue is an odd color"]
    status = hooks.api("POST", MAPS, config_map("two", color="pink"), want=403)
    assert status["message"] == 'admission webhook "v.example.com" denied the request: not pink'
    assert status["reason"] == "Forbidden"
    assert hooks.api("GET", f"{MAPS}/two")["code"] == 404
    patch = {"data": {"color": "red"}}
    status = hooks.api("PATCH", f"{MAPS}/one", patch, want=403, media="application/merge-patch+json")
    assert status["message"].endswith("a color stays")
    apply = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("one", color="red")}
    where = f"{MAPS}/one?fieldManager=me&force=true"
    assert hooks.api("PATCH", where, apply, want=403, media="application/apply-patch+yaml")["message"].endswith("stays")
    assert hooks.api("DELETE", f"{MAPS}/one", want=403)["message"].endswith("one stays")
    assert hooks.api("DELETE", MAPS, want=403)["message"].endswith("one stays")
    assert hooks.api("GET", f"{MAPS}/one", want=200) == made


@pytest.mark.parametrize("sort", ["Mutating", "Validating"])
def test_a_webhook_of_either_sort_alone_is_asked_about_deletes(hooks: Webhooks, sort: str) -> None:
    seen = Recorder()
    hooks.configure(sort, "seen", hook("s.example.com", hooks.serve(seen)))
    hooks.api("POST", MAPS, config_map("one"), want=201)
    hooks.api("DELETE", f"{MAPS}/one", want=200)
    assert seen.asked == [("CREATE", "one"), ("DELETE", "one")]


def test_a_webhook_is_told_what_happens_and_who_does_it(hooks: Webhooks) -> None:
    seen = Recorder()
    hooks.configure("Validating", "seen", hook("s.example.com", hooks.serve(seen)))
    made = hooks.api("POST", f"{MAPS}?fieldManager=me", {"metadata": {"generateName": "a-"}}, want=201)
    name = made["metadata"]["name"]
    hooks.api("PUT", f"{MAPS}/{name}", {**made, "data": {"a": "b"}}, want=200)
    hooks.api("DELETE", f"{MAPS}/{name}", {"gracePeriodSeconds": 0}, want=200)
    assert seen.asked == [("CREATE", name), ("UPDATE", name), ("DELETE", name)]
    create, update, delete = seen.requests
    assert create["kind"] == create["requestKind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert create["resource"] == create["requestResource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert create["namespace"] == "default"
    assert create["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    assert create["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}
    assert create["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert create.get("oldObject") is None
    assert (update["object"]["data"], update["oldObject"].get("data")) == ({"a": "b"}, None)
    assert (delete.get("object"), delete["oldObject"]["data"]) == (None, {"a": "b"})
    assert delete["options"]["gracePeriodSeconds"] == 0


# ---- which are asked


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ({"operations": ["CREATE"]}, True),
        ({"operations": ["UPDATE", "DELETE"]}, False),
        ({"apiGroups": ["apps"]}, False),
        ({"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}, True),
        ({"resources": ["*/*"]}, True),
        ({"resources": ["configmaps/status", "*/scale"]}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
    ],
)
def test_rules_say_what_a_webhook_is_asked_about(hooks: Webhooks, rule: Json, asked: bool) -> None:
    wanted = hook("r.example.com", hooks.serve(deny))
    wanted["rules"][0].update(rule)
    hooks.configure("Validating", "rules", wanted)
    hooks.api("POST", MAPS, config_map("one"), want=403 if asked else 201)


def test_a_subresource_is_another_thing(hooks: Webhooks) -> None:
    seen, scaled = Recorder(), Recorder()
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["deployments"]}
    main = hook("m.example.com", hooks.serve(seen), rules=[rule])
    scale = hook("s.example.com", hooks.serve(scaled), rules=[{**rule, "resources": ["deployments/scale"]}])
    hooks.configure("Validating", "both", main, scale)
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    where = "/apis/apps/v1/namespaces/default/deployments"
    hooks.api("POST", where, body, want=201)
    patch = {"spec": {"replicas": 3}}
    hooks.api("PATCH", f"{where}/web/scale", patch, want=200, media="application/merge-patch+json")
    hooks.api("PATCH", f"{where}/web/status", {}, want=200, media="application/merge-patch+json")
    assert seen.asked == []
    (request,) = scaled.requests
    assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (request["subResource"], request["object"]["spec"], request["oldObject"]["spec"]) == (
        "scale", {"replicas": 3}, {"replicas": 1},
    )  # fmt: skip


def test_selectors_say_which_objects_and_namespaces_matter(hooks: Webhooks) -> None:
    seen = Recorder()
    selectors = {
        "objectSelector": {"matchLabels": {"watched": "yes"}},
        "namespaceSelector": {"matchExpressions": [{"key": "quiet", "operator": "DoesNotExist"}]},
    }
    hooks.configure("Validating", "some", hook("s.example.com", hooks.serve(seen), **selectors))
    hooks.api("POST", "/api/v1/namespaces", {"metadata": {"name": "q", "labels": {"quiet": "1"}}}, want=201)
    watched = {"metadata": {"name": "watched", "labels": {"watched": "yes"}}}
    hooks.api("POST", MAPS, config_map("other"), want=201)
    hooks.api("POST", "/api/v1/namespaces/q/configmaps", watched, want=201)
    made = hooks.api("POST", MAPS, watched, want=201)
    del made["metadata"]["labels"]
    hooks.api("PUT", f"{MAPS}/watched", made, want=200)
    assert seen.asked == [("CREATE", "watched"), ("UPDATE", "watched")]


def test_another_version_of_the_resource_is_the_resource(hooks: Webhooks) -> None:
    seen, exact = Recorder(), Recorder()
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v2"], "operations": ["*"]}
    rule["resources"] = ["horizontalpodautoscalers"]
    hooks.configure(
        "Mutating", "versions",
        hook("e.example.com", hooks.serve(seen), rules=[rule], matchPolicy="Equivalent"),
        hook("x.example.com", hooks.serve(exact), rules=[rule], matchPolicy="Exact"),
    )  # fmt: skip
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    where = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    hooks.api("POST", where, {"metadata": {"name": "web"}, "spec": spec}, want=201)
    (request,) = seen.requests
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v2", "v1")
    assert request["object"]["apiVersion"] == "autoscaling/v2"
    assert request["object"]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
    assert exact.requests == []


def test_nobody_is_asked_about_the_configurations_themselves(hooks: Webhooks) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    hooks.configure("Validating", "all", hook("a.example.com", hooks.serve(deny), rules=[rule]))
    hooks.api("POST", MAPS, config_map("one"), want=403)
    hooks.api("DELETE", f"{GROUP}/validatingwebhookconfigurations/all", want=200)
    hooks.api("POST", MAPS, config_map("one"), want=201)


# ---- mutating


def test_mutating_webhooks_come_by_the_name_of_their_configuration_and_before_validating_ones(
    hooks: Webhooks,
) -> None:
    seen = Recorder()
    hooks.configure("Validating", "a", hook("v.example.com", hooks.serve(seen)))
    hooks.configure("Mutating", "c", hook("3.example.com", hooks.serve(setting("last", "c"))))
    hooks.configure(
        "Mutating", "b",
        hook("1.example.com", hooks.serve(setting("last", "b"))),
        hook("2.example.com", hooks.serve(setting("b", "2"))),
    )  # fmt: skip
    made = hooks.api("POST", MAPS, config_map("one", a="b"), want=201)
    assert made["data"] == {"a": "b", "last": "c", "b": "2"}
    assert [request["object"]["data"] for request in seen.requests] == [made["data"]]


@pytest.mark.parametrize(("policy", "calls"), [("Never", 1), ("IfNeeded", 2)])
def test_a_webhook_that_wants_it_is_asked_again_when_a_later_one_changed_the_object(
    hooks: Webhooks, policy: str, calls: int
) -> None:
    seen = Recorder()
    hooks.configure("Mutating", "a", hook("a.example.com", hooks.serve(seen), reinvocationPolicy=policy))
    hooks.configure("Mutating", "b", hook("b.example.com", hooks.serve(setting("x", "y")), reinvocationPolicy=policy))
    hooks.api("POST", MAPS, config_map("one", a="b"), want=201)
    assert [request["object"]["data"] for request in seen.requests] == [{"a": "b"}, {"a": "b", "x": "y"}][:calls]


def test_a_webhook_cannot_change_what_a_client_cannot(hooks: Webhooks) -> None:
    def meddle(ctx: Context, req: Request) -> Response:
        steps = [("metadata/uid", "mine"), ("metadata/managedFields", []), ("metadata/creationTimestamp", None)]
        return admission.patched("", *(JSONPatchOp("add", f"/{path}", value) for path, value in steps))

    hooks.configure("Mutating", "meddle", hook("m.example.com", hooks.serve(meddle)))
    made = hooks.api("POST", MAPS, config_map("one", a="b"), want=201)
    changed = hooks.api("PUT", f"{MAPS}/one", {**made, "data": {"a": "c"}})
    assert made["metadata"]["uid"] != "mine"
    assert made["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}
    assert changed.get("code", 200) == 200 or "uid" in changed["message"]


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        (JSONPatchOp("remove", "/data/nothing"), "Internal error occurred: "),
        (JSONPatchOp("replace", "/data", "text"), "cannot unmarshal string"),
        (JSONPatchOp("replace", "", 3), "replace operation value must be object or array"),
        (JSONPatchOp("replace", "", []), "is no object"),
        (JSONPatchOp("replace", "/data", ["x"]), "cannot unmarshal array"),
        (JSONPatchOp("add", "", {}), 'doc is missing path: ""'),
    ],
)
def test_a_patch_that_does_not_fit_is_an_internal_error(hooks: Webhooks, patch: JSONPatchOp, why: str) -> None:
    hooks.configure("Mutating", "p", hook("p.example.com", hooks.serve(lambda ctx, req: admission.patched("", patch))))
    status = hooks.api("POST", MAPS, config_map("one", a="b"), want=500)
    assert status["reason"] == "InternalError"
    assert why in status["message"]


def _patched(patch: JSONPatchOp, ctx: Context, req: Request) -> Response:
    return admission.patched("", patch)


SCHEME = 'in scheme "pkg/api/legacyscheme/scheme.go:30"'
UNREADABLE = "Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal"


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (JSONPatchOp("replace", "/kind", "Pod"), 500, "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
        (JSONPatchOp("replace", "/kind", 7), 500, f"{UNREADABLE} number into Go struct field .kind of type string"),
        (JSONPatchOp("replace", "/apiVersion", []), 500,
         f"{UNREADABLE} array into Go struct field .apiVersion of type string"),
        (JSONPatchOp("replace", "/apiVersion", "v7"), 500,
         f'Internal error occurred: no kind "ConfigMap" is registered for version "v7" {SCHEME}'),
        (JSONPatchOp("replace", "/metadata", []), 500,
         "Internal error occurred: json: cannot unmarshal array into Go struct field ConfigMap.metadata of type "
         "v1.ObjectMeta"),
        (JSONPatchOp("remove", "/metadata"), 422,
         'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'),
        (JSONPatchOp("remove", "/kind"), 201, None),
        (JSONPatchOp("remove", "/apiVersion"), 201, None),
    ],
)  # fmt: skip
def test_a_mutated_object_stays_of_its_kind(
    hooks: Webhooks, patch: JSONPatchOp, code: int, message: str | None
) -> None:
    hooks.configure("Mutating", "p", hook("p.example.com", hooks.serve(lambda ctx, req: admission.patched("", patch))))
    assert hooks.api("POST", MAPS, config_map("one", a="b"), want=code).get("message") == message
    listed = hooks.api("GET", MAPS, want=200)["items"]
    if code == 201:
        made = hooks.api("GET", f"{MAPS}/one", want=200)
        assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")
    assert len(listed) == (code == 201)


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("/spec/replicas", "many", "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas"),
        ("/spec", None, "json: cannot unmarshal"),
        ("/kind", "Deployment", 'no kind "Deployment" is registered'),
    ],
)
def test_a_mutated_object_of_a_subresource_stays_of_its_kind(hooks: Webhooks, path: str, value: Any, why: str) -> None:
    where = "/apis/apps/v1/namespaces/default/deployments"
    container = {"name": "c", "image": "i"}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    hooks.api("POST", where, {"metadata": {"name": "web"}, "spec": spec}, want=201)
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments/scale"]}
    patch = JSONPatchOp("replace", path, value)
    config = hooks.serve(lambda ctx, req: admission.patched("", patch))
    hooks.configure("Mutating", "p", hook("p.example.com", config, rules=[rule]))
    scale = {"spec": {"replicas": 3}}
    answer = hooks.api("PATCH", f"{where}/web/scale", scale, media="application/merge-patch+json")
    if value is None:
        assert answer["spec"].get("replicas", 0) == 0
    else:
        assert (answer["code"], answer["reason"]) == (500, "InternalError")
        assert why in answer["message"]
        assert hooks.api("GET", f"{where}/web/scale", want=200)["spec"]["replicas"] == 1


def test_a_mutated_object_in_another_version_stays_of_its_kind(hooks: Webhooks) -> None:
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}
    for number, (path, value) in enumerate([("/spec", 7), ("/spec/scaleTargetRef", []), ("/metadata", "x")]):
        config = hooks.serve(functools.partial(_patched, JSONPatchOp("replace", path, value)))
        hooks.configure("Mutating", f"p{number}", hook("p.example.com", config, rules=[rule]))
        target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
        body = {"metadata": {"name": "one"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
        where = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
        answer = hooks.api("POST", where, body, want=500)
        assert answer["message"].startswith("Internal error occurred: json: cannot unmarshal ")
        hooks.api("DELETE", f"{GROUP}/mutatingwebhookconfigurations/p{number}", want=200)


def test_a_patch_that_is_null_changes_nothing(hooks: Webhooks) -> None:
    patch = base64.b64encode(b"null").decode()
    config = hooks.serve_raw(answering(review(allowed=True, patchType="JSONPatch", patch=patch)))
    hooks.configure("Mutating", "null", hook("n.example.com", config))
    assert hooks.api("POST", MAPS, config_map("one", a="b"), want=201)["data"] == {"a": "b"}


def test_the_mark_of_an_eviction_passes_no_webhook(hooks: Webhooks) -> None:
    pods = "/api/v1/namespaces/default/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    hooks.api("POST", pods, pod, want=201)
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods", "pods/status"]}
    for sort in ("Mutating", "Validating"):
        hooks.configure(sort, "no", hook("no.example.com", hooks.serve(deny), rules=[rule]))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    hooks.api("POST", f"{pods}/p/eviction", eviction, want=201)


@pytest.mark.parametrize(("given", "code"), [(399, 400), (999, 999), (1000, 500), (99999, 500), (-5, 400)])
def test_a_denial_has_a_status_that_http_has(hooks: Webhooks, given: int, code: int) -> None:
    answer = review(allowed=False, status={"code": given, "message": "no"})
    hooks.configure("Validating", "v", hook("v.example.com", hooks.serve_raw(answering(answer))))
    hooks.api("POST", MAPS, config_map("one", a="b"), want=code)


def test_a_mutated_object_is_still_validated(hooks: Webhooks) -> None:
    hooks.configure("Mutating", "bad", hook("b.example.com", hooks.serve(setting("not~1valid", "x"))))
    status = hooks.api("POST", MAPS, config_map("one", a="b"), want=422)
    assert "data[not/valid]" in status["message"]


# ---- what is said


def test_a_denial_carries_the_status_of_the_webhook(hooks: Webhooks) -> None:
    def teapot(ctx: Context, req: Request) -> Response:
        result = metav1.Status(code=418, reason="Teapot", message="short and stout")
        return Response(allowed=False, result=result).with_warnings("hot")

    def silent(ctx: Context, req: Request) -> Response:
        return Response(allowed=False)

    hooks.configure("Validating", "tea", hook("t.example.com", hooks.serve(teapot)))
    status = hooks.api("POST", MAPS, config_map("one"), want=418)
    assert status["message"] == 'admission webhook "t.example.com" denied the request: short and stout'
    assert status["reason"] == "Teapot"
    assert hooks.api.warnings("POST", MAPS, config_map("one")) == ["hot"]
    hooks.configure("Mutating", "first", hook("s.example.com", hooks.serve(silent)))
    status = hooks.api("POST", MAPS, config_map("one"), want=400)
    assert status["message"] == 'admission webhook "s.example.com" denied the request without explanation'


def test_validating_webhooks_are_asked_at_once_and_the_first_denial_counts(hooks: Webhooks) -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def meet(why: str) -> Any:
        def decide(ctx: Context, req: Request) -> Response:
            both.wait()
            return admission.denied(why)

        return decide

    hooks.configure(
        "Validating", "both",
        hook("1.example.com", hooks.serve(meet("one"))),
        hook("2.example.com", hooks.serve(meet("two"))),
    )  # fmt: skip
    status = hooks.api("POST", MAPS, config_map("one"), want=403)
    assert status["message"] == 'admission webhook "1.example.com" denied the request: one'


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize("effects", ["None", "NoneOnDryRun"])
def test_a_dry_run_asks_webhooks_without_side_effects(hooks: Webhooks, kind: str, effects: str) -> None:
    seen = Recorder()
    hooks.configure(kind, "dry", hook("d.example.com", hooks.serve(seen), sideEffects=effects, failurePolicy="Ignore"))
    hooks.api("POST", f"{MAPS}?dryRun=All", config_map("one"), want=201)
    assert seen.requests[0]["dryRun"] is True
    assert seen.requests[0]["options"]["dryRun"] == ["All"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sideEffects": "Some"},
        {"sideEffects": "Unknown"},
        {"admissionReviewVersions": ["v3"]},
        {"clientConfig": {}},
        {"clientConfig": {"url": "http://127.0.0.1:1/"}},
    ],
)
def test_a_webhook_that_could_not_be_asked_is_refused(hooks: Webhooks, wrong: Json) -> None:
    hooks.configure("Validating", "wrong", {**hook("w.example.com", {"url": "https://x"}), **wrong}, want=422)


# ---- webhooks that fail


def answering(body: Any, status: int = 200) -> Any:
    def serve(resp: ResponseWriter, req: HTTPRequest) -> None:
        uid = json.loads(req.read_body(1 << 20))["request"]["uid"]
        resp.write_header(status)
        resp.write(body if isinstance(body, str) else json.dumps(body).replace("UID", uid))

    return serve


def review(**response: Any) -> Json:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "UID", **response}}


GARBAGE = [
    ("<html>", 200, "failed to call webhook: couldn't get version/kind; json parse error: "),
    ("[" * 100_000, 200, "failed to call webhook: "),
    ("[]", 200, "failed to call webhook: "),
    ("gone", 404, "failed to call webhook: the server could not find the requested resource"),
    ("oops", 500, 'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding'),
    ({}, 200, "received invalid webhook response: webhook response was absent"),
    ({**review(allowed=True), "kind": "Other"}, 200, "expected webhook response of admission.k8s.io/v1, "),
    (review(allowed="yes"), 200, "failed to call webhook: json: cannot unmarshal string into Go struct field"),
    (review(uid="another", allowed=True), 200, "expected response.uid="),
    (review(allowed=True, patch="W10="), 200, "webhook returned response.patch but not response.patchType"),
    (review(allowed=True, patchType="JSONPatch"), 200, "response.patchType but not response.patch"),
    (review(allowed=True, patch="W10=", patchType="Odd"), 200, 'webhook returned invalid response.patchType of "Odd"'),
]


@pytest.mark.parametrize(("body", "code", "why"), GARBAGE)
def test_an_answer_that_is_none_fails_the_write(hooks: Webhooks, body: Any, code: int, why: str) -> None:
    config = hooks.serve_raw(answering(body, code))
    hooks.configure("Mutating", "garbage", hook("g.example.com", config))
    status = hooks.api("POST", MAPS, config_map("one"), want=500)
    assert status["message"].startswith('Internal error occurred: failed calling webhook "g.example.com": ')
    assert why in status["message"]
    hooks.api("DELETE", f"{GROUP}/mutatingwebhookconfigurations/garbage", want=200)
    hooks.configure("Mutating", "garbage", hook("g.example.com", config, failurePolicy="Ignore"))
    hooks.api("POST", MAPS, config_map("one"), want=201)


def test_a_validating_webhook_may_not_change_anything(hooks: Webhooks) -> None:
    hooks.configure("Validating", "v", hook("v.example.com", hooks.serve(setting("a", "b"))))
    status = hooks.api("POST", MAPS, config_map("one", a="c"), want=500)
    assert "validating webhook may not return response.patch" in status["message"]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_a_dead_server_fails_the_write_unless_that_is_ignored(hooks: Webhooks, kind: str) -> None:
    dead = {"url": f"https://127.0.0.1:{closed_port()}/x", "caBundle": hooks.options.client_config("")["caBundle"]}
    hooks.configure(kind, "open", hook("o.example.com", dead, failurePolicy="Ignore"))
    hooks.api("POST", MAPS, config_map("one"), want=201)
    hooks.configure(kind, "shut", hook("s.example.com", dead))
    status = hooks.api("POST", MAPS, config_map("two"), want=500)
    head = f'failed calling webhook "s.example.com": failed to call webhook: Post "{dead["url"]}?timeout=10s": '
    assert status["message"].startswith(f"Internal error occurred: {head}")
    assert "refused" in status["message"]
    assert status["details"]["causes"][0]["message"].startswith(head)


def test_a_silent_server_is_waited_for_no_longer_than_its_timeout(hooks: Webhooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = {"url": f"https://127.0.0.1:{listener.getsockname()[1]}"}
        hooks.configure("Validating", "silent", hook("s.example.com", silent, timeoutSeconds=1))
        status = hooks.api("POST", MAPS, config_map("one"), want=500)
    assert "?timeout=1s" in status["message"]
    assert "context deadline exceeded" in status["message"]


def test_the_server_stops_while_a_webhook_is_silent(hooks: Webhooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = {"url": f"https://127.0.0.1:{listener.getsockname()[1]}"}
        hooks.configure("Validating", "silent", hook("s.example.com", silent, timeoutSeconds=30))

        def write() -> None:
            with contextlib.suppress(OSError):
                hooks.api("POST", MAPS, config_map("one"))

        thread = threading.Thread(target=write, name="writer", daemon=True)
        thread.start()
        connection, _ = listener.accept()
        with connection:
            hooks.env.stop()
            thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"service": {"namespace": "a", "name": "b"}}, 'service "a/b" cannot be reached'),
        ({"url": "https://127.0.0.1:99999/"}, "Unparsable webhook URL"),
    ],
)
def test_a_client_config_that_leads_nowhere_says_so(hooks: Webhooks, config: Json, why: str) -> None:
    hooks.configure("Validating", "nowhere", hook("n.example.com", config))
    status = hooks.api("POST", MAPS, config_map("one"), want=500)
    assert 'failed calling webhook "n.example.com": could not get REST client: ' in status["message"]
    assert why in status["message"]


def test_the_certificate_must_be_of_the_authority_that_is_named(hooks: Webhooks) -> None:
    config = hooks.serve(allow)
    other = Webhooks()
    try:
        wrong = {**config, "caBundle": other.options.client_config("")["caBundle"]}
    finally:
        other.close()
    hooks.configure("Validating", "wrong", hook("w.example.com", wrong))
    assert "certificate" in hooks.api("POST", MAPS, config_map("one"), want=500)["message"]


def test_a_review_version_that_both_know_is_spoken(hooks: Webhooks) -> None:
    seen: list[str] = []

    def old(resp: ResponseWriter, req: HTTPRequest) -> None:
        seen.append(json.loads(req.read_body(1 << 20))["apiVersion"])
        resp.write(json.dumps({"response": {"allowed": True}}))

    config = hooks.serve_raw(old)
    versions = ["v3", "v1beta1", "v1"]
    hooks.configure("Validating", "old", hook("o.example.com", config, admissionReviewVersions=versions))
    hooks.api("POST", MAPS, config_map("one"), want=201)
    assert seen == ["admission.k8s.io/v1beta1"]


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_an_end_is_broken_off(hooks: Webhooks, kind: str, status: int) -> None:
    """It would fill the server's memory before the timeout. What the webhook may say is bound by what it was asked."""
    read = webhookclients._BoundedBody(BytesBody([b"x" * 1000] * 5), 4999)
    with pytest.raises(webhookclients.CallError, match="^the response is larger than 4999 bytes$"):
        read.read()

    def endless(resp: ResponseWriter, req: HTTPRequest) -> None:
        resp.write_header(status)
        resp.write(b" " * (20 * 1024 * 1024))

    hooks.configure(kind, "endless", hook("endless.example.com", hooks.serve_raw(endless), failurePolicy="Fail"))
    refused = hooks.api("POST", MAPS, {"metadata": {"name": "a"}}, want=500)
    assert 'failed calling webhook "endless.example.com"' in refused["message"]
    assert re.search(r"the response is larger than 4\d{6} bytes", refused["message"])


def test_an_answer_may_be_as_large_as_its_limit() -> None:
    assert webhookclients._BoundedBody(BytesBody([b"x" * 1000] * 5), 5000).read() == b"x" * 5000
