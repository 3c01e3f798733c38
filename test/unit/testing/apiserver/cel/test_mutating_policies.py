"""MutatingAdmissionPolicy on a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api
from webhookserver import Webhooks, hook

from clientgo.controller_runtime.webhook import JSONPatchOp, admission

Json = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES, BINDINGS = f"{GROUP}/mutatingadmissionpolicies", f"{GROUP}/mutatingadmissionpolicybindings"
MAPS, PODS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/pods"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps", "pods"]}


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    for path in (BINDINGS, POLICIES, MAPS, PODS):
        server("DELETE", path, want=200)


def apply(expression: str) -> Json:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patch(expression: str) -> Json:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def spec_of(*mutations: Json, **more: Any) -> Json:
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "reinvocationPolicy": "Never"}
    return {**spec, "mutations": list(mutations), **more}


def policy(api: Api, name: str, *mutations: Json, binding: Json | None = None, **more: Any) -> None:
    api("POST", POLICIES, {"metadata": {"name": name}, "spec": spec_of(*mutations, **more)}, want=201)
    bound = {"metadata": {"name": f"{name}-b"}, "spec": {"policyName": name, **(binding or {})}}
    api("POST", BINDINGS, bound, want=201)


def config_map(name: str, **data: str) -> Json:
    return {"metadata": {"name": name}, "data": data}


def test_a_configuration_is_applied_as_the_schema_merges(api: Api) -> None:
    policy(
        api,
        "sidecar",
        apply(
            "has(object.spec) ? Object{metadata: Object.metadata{labels: {'touched': 'yes'}}, spec: Object.spec{"
            "  containers: [Object.spec.containers{name: 'sidecar', image: 'proxy:' + variables.version}],"
            "  ?priority: optional.none()}} : Object{}"
        ),
        variables=[{"name": "version", "expression": "'v' + string(1 + 1)"}],
    )
    spec = {"containers": [{"name": "main", "image": "i"}]}
    pod = api("POST", PODS, {"metadata": {"name": "p", "labels": {"own": "1"}}, "spec": spec}, want=201)
    images = [(one["name"], one["image"]) for one in pod["spec"]["containers"]]
    assert images == [("main", "i"), ("sidecar", "proxy:v2")]
    assert pod["metadata"]["labels"] == {"own": "1", "touched": "yes"}
    assert pod["spec"]["containers"][1]["imagePullPolicy"] == "IfNotPresent"


def test_json_patches_add_replace_and_test(api: Api) -> None:
    policy(
        api,
        "patches",
        patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}, "
              "JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'x'}]"),
        patch("[JSONPatch{op: 'test', path: '/data/a', value: '1'}, "
              "JSONPatch{op: 'replace', path: '/data/a', value: '2'}]"),
    )  # fmt: skip
    made = api("POST", MAPS, config_map("one", a="1"), want=201)
    assert (made["metadata"]["labels"], made["data"]) == ({"a.b/c": "x"}, {"a": "2"})
    other = api("POST", MAPS, config_map("two", a="5"), want=201)
    assert other["data"] == {"a": "5"}


def test_policies_see_what_those_before_them_made(api: Api) -> None:
    policy(api, "a", apply("Object{data: {'first': '1'}}"))
    policy(api, "b", apply("Object{data: {'second': object.data.first + object.data.own}}"))
    made = api("POST", MAPS, config_map("x", own="0"), want=201)
    assert made["data"] == {"own": "0", "first": "1", "second": "10"}
    changed = {**made, "data": {"own": "7"}}
    assert api("PUT", f"{MAPS}/x", changed, want=200)["data"] == {"own": "7", "first": "1", "second": "17"}


def test_conditions_parameters_and_validating_policies_go_with_it(api: Api) -> None:
    api("POST", MAPS, config_map("settings", color="blue"), want=201)
    policy(
        api,
        "colors",
        apply("Object{data: {'color': params.data.color}}"),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        binding={"paramRef": {"name": "settings", "parameterNotFoundAction": "Deny"}},
        matchConditions=[{"name": "n", "expression": "object.metadata.name != 'plain'"}],
    )
    checked: Json = {"matchConstraints": {"resourceRules": [RULE]}}
    checked["validations"] = [{"expression": "object == null || object.?data.?color.orValue('') != 'blue'"}]
    validating = f"{GROUP}/validatingadmissionpolicies"
    api("POST", MAPS, config_map("painted"), want=201)
    assert api("GET", f"{MAPS}/painted", want=200)["data"] == {"color": "blue"}
    assert "data" not in api("POST", MAPS, config_map("plain"), want=201)
    api("POST", validating, {"metadata": {"name": "never-blue"}, "spec": checked}, want=201)
    bound = {"metadata": {"name": "b"}, "spec": {"policyName": "never-blue", "validationActions": ["Deny"]}}
    api("POST", f"{GROUP}/validatingadmissionpolicybindings", bound, want=201)
    assert api("POST", MAPS, config_map("again"), want=422)["reason"] == "Invalid"
    api("DELETE", f"{GROUP}/validatingadmissionpolicybindings/b", want=200)
    api("DELETE", f"{validating}/never-blue", want=200)


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (apply("Object{data: {'a': object.data.nope}}"), "resulted in error: no such key: nope"),
        (apply("Object{metadata: Object.spec{name: 'x'}}"), 'type mismatch: unexpected type name "Object.spec"'),
        (patch("[JSONPatch{op: 'remove', path: '/nope/nope'}]"), "JSON Patch: "),
        (patch("[JSONPatch{op: 'replace', path: '', value: 1}]"), "replace operation value must be object or array"),
        (patch("[JSONPatch{op: 'replace', path: '', value: [1]}]"), "the patched object is no object with metadata"),
        (patch("[JSONPatch{op: 'move', from: '/data', path: ''}]"), "doc is missing destination path: : missing value"),
        (patch("[JSONPatch{op: 'add', path: '/data', value: ip('1.2.3.4')}]"), "could not marshal to JSON: net.IP"),
    ],
)
def test_what_cannot_be_done_refuses_the_write_or_is_ignored(api: Api, mutation: Json, why: str) -> None:
    policy(api, "bad", mutation)
    answer = api("POST", MAPS, config_map("x", a="1"), want=403)
    assert answer["message"].startswith("policy 'bad' with binding 'bad-b' denied request: ")
    assert why in answer["message"]
    assert answer["reason"] == "Invalid"
    assert answer["details"]["causes"] == [{"message": answer["message"]}]
    api("DELETE", f"{POLICIES}/bad", want=200)
    api("DELETE", f"{BINDINGS}/bad-b", want=200)
    policy(api, "bad", mutation, failurePolicy="Ignore")
    assert api("POST", MAPS, config_map("x", a="1"), want=201)["data"] == {"a": "1"}


def test_what_is_one_whole_is_not_merged(api: Api) -> None:
    policy(api, "atomic", apply("Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a'}]}}"))
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    answer = api("POST", PODS, pod, want=403)
    assert answer["message"].endswith(
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
        ".spec.tolerations"
    )


@pytest.mark.parametrize(
    ("spec", "field", "text"),
    [
        (spec_of(), "spec.mutations", "Required value"),
        (spec_of(apply("1")), "spec.mutations[0].applyConfiguration.expression", "must evaluate to Object but got"),
        (spec_of(patch("Object{}")), "spec.mutations[0].jsonPatch.expression", "must evaluate to list(JSONPatch)"),
        (spec_of(patch("[JSONPatch{nope: 1}]")), "spec.mutations[0].jsonPatch.expression", "field 'nope'"),
        (spec_of(apply("Other{}")), "spec.mutations[0].applyConfiguration.expression", "reference to 'Other'"),
        (spec_of({"patchType": "Wat"}), "spec.mutations[0].patchType", "Unsupported value"),
        (spec_of({"patchType": "JSONPatch"}), "spec.mutations[0].jsonPatch", "Required value"),
        (spec_of(apply("Object{}"), reinvocationPolicy="Often"), "spec.reinvocationPolicy", "Unsupported value"),
    ],
)
def test_wrong_policies_are_refused(api: Api, spec: Json, field: str, text: str) -> None:
    causes = api("POST", POLICIES, {"metadata": {"name": "p"}, "spec": spec}, want=422)["details"]["causes"]
    assert any(cause["field"] == field and text in cause["message"] for cause in causes), causes


@pytest.mark.parametrize(("reinvocation", "count"), [("IfNeeded", "2"), ("Never", "1")])
def test_a_policy_that_asks_for_it_sees_what_webhooks_made(reinvocation: str, count: str) -> None:
    hooks = Webhooks()
    try:
        config = hooks.serve(lambda ctx, req: admission.patched("", JSONPatchOp("add", "/data/hooked", "yes")))
        hooks.configure("Mutating", "hook", hook("m.example.com", config))
        counting = "Object{data: {'count': has(object.data.hooked) ? '2' : '1'}}"
        policy(hooks.api, "counting", apply(counting), reinvocationPolicy=reinvocation)
        made = hooks.api("POST", MAPS, config_map("x", own="0"), want=201)
        assert made["data"] == {"own": "0", "hooked": "yes", "count": count}
    finally:
        hooks.close()
