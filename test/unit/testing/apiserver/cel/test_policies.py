"""Admission policies and match conditions on a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api
from webhookserver import Webhooks, hook

from clientgo.controller_runtime.webhook import admission

Json = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES, BINDINGS = f"{GROUP}/validatingadmissionpolicies", f"{GROUP}/validatingadmissionpolicybindings"
MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    for path in (BINDINGS, POLICIES, MAPS):
        server("DELETE", path, want=200)


def policy(
    api: Api, name: str = "p", /, actions: tuple[str, ...] = ("Deny",), binding: Json | None = None, **spec: Any
) -> None:
    spec.setdefault("matchConstraints", {"resourceRules": [CONFIG_MAPS]})
    api("POST", POLICIES, {"metadata": {"name": name}, "spec": spec}, want=201)
    bound = {"policyName": name, "validationActions": list(actions), **(binding or {})}
    api("POST", BINDINGS, {"metadata": {"name": f"{name}-b"}, "spec": bound}, want=201)


def validations(*expressions: str) -> list[Json]:
    return [{"expression": expression} for expression in expressions]


def config_map(name: str, labels: Json | None = None, **data: str) -> Json:
    return {"metadata": {"name": name, **({"labels": labels} if labels else {})}, "data": data}


def denial(api: Api, body: Json, path: str = MAPS, method: str = "POST") -> str:
    """Return the message with which a policy denies a write, or "" if the write succeeds."""
    answer = api(method, path, body)
    if answer["kind"] != "Status" or answer["status"] == "Success":
        return ""
    _, _, why = answer["message"].partition(" denied request: ")
    assert why, answer
    assert answer["details"]["causes"] == [{"message": answer["message"].partition(" is forbidden: ")[2]}]
    return str(why)


def test_a_policy_denies_in_kubernetes_words(api: Api) -> None:
    wanted = {"expression": "object.metadata.name.startsWith('ok')", "message": "must start with ok"}
    policy(api, validations=[wanted])
    answer = api("POST", MAPS, config_map("bad"), want=422)
    text = "ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: must start with ok"
    assert answer["message"] == f'configmaps "bad" is forbidden: {text}'
    assert (answer["reason"], answer["code"]) == ("Invalid", 422)
    assert answer["details"] == {"name": "bad", "kind": "configmaps", "causes": [{"message": text}]}
    api("POST", MAPS, config_map("ok"), want=201)
    assert api("GET", f"{MAPS}/bad")["code"] == 404


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, "failed expression: object.data.size() < 1"),
        ({"message": " too many "}, "too many"),
        ({"messageExpression": "'has ' + string(object.data.size())"}, "has 1"),
        ({"messageExpression": "object.data.nope", "message": "instead"}, None),
        ({"messageExpression": "string(object.data.nope)", "message": "instead"}, "instead"),
    ],
)
def test_messages(api: Api, more: Json, why: str | None) -> None:
    spec: Json = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}}
    spec["validations"] = [{"expression": "object.data.size() < 1", **more}]
    body = {"metadata": {"name": "p"}, "spec": spec}
    if why is None:
        answer = api("POST", POLICIES, body, want=422)
        assert "must evaluate to string but got dyn" in answer["message"]
        return
    policy(api, **spec)
    assert denial(api, config_map("x", a="1")) == why


CODES = [("Forbidden", 403), ("Unauthorized", 401), ("RequestEntityTooLarge", 413)]


@pytest.mark.parametrize(("reason", "code"), CODES)
def test_reasons_have_their_codes(api: Api, reason: str, code: int) -> None:
    policy(api, validations=[{"expression": "false", "reason": reason}])
    assert api("POST", MAPS, config_map("x"), want=code)["reason"] == reason


def test_what_expressions_speak_of(api: Api) -> None:
    api("POST", MAPS, config_map("old", a="1"), want=201)
    policy(
        api,
        variables=[
            {"name": "size", "expression": "has(object.data) ? object.data.size() : 0"},
            {"name": "twice", "expression": "variables.size * 2"},
            {"name": "fresh", "expression": "object.data.size()"},
            {"name": "broken", "expression": "object.nope.nope"},
        ],
        validations=validations(
            "request.operation != 'DELETE' || oldObject.data.a == '1'",
            "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && !request.dryRun",
            "request.userInfo.groups.exists(g, g == 'system:masters') && request.namespace == 'default'",
            "namespaceObject.metadata.name == 'default' && namespaceObject.status.phase == 'Active'",
            "object == null || [1].all(object, variables.fresh > 0)",
            "object == null || variables.twice == object.data.size() * 2",
            "request.operation != 'UPDATE' || object.data.a == oldObject.data.a",
            "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()",
            "authorizer.requestResource.check('get').allowed() && authorizer.path('/healthz').check('get').allowed()",
            "!authorizer.serviceAccount('default', 'nobody').group('').resource('pods').check('get').allowed()",
        ),
    )
    assert denial(api, config_map("new", a="1", b="2")) == ""
    assert denial(api, config_map("old", a="2"), f"{MAPS}/old", "PUT").endswith("object.data.a == oldObject.data.a")
    assert denial(api, {}, f"{MAPS}/old", "DELETE") == ""


def test_a_policy_may_refuse_a_delete(api: Api) -> None:
    api("POST", MAPS, config_map("kept"), want=201)
    policy(api, validations=[{"expression": "request.operation != 'DELETE'", "message": "it stays"}])
    assert denial(api, {}, f"{MAPS}/kept", "DELETE") == "it stays"
    api("GET", f"{MAPS}/kept", want=200)


def test_the_failure_policy_says_what_follows_an_error(api: Api) -> None:
    policy(api, "closed", validations=validations("object.data.nope == '1'"))
    why = "expression 'object.data.nope == '1'' resulted in error: no such key: nope"
    assert denial(api, config_map("x", a="1")) == why
    api("DELETE", f"{POLICIES}/closed", want=200)
    policy(api, "open", validations=validations("object.data.nope == '1'"), failurePolicy="Ignore")
    assert denial(api, config_map("x", a="1")) == ""


def test_actions_warn_and_audit_without_refusing(api: Api) -> None:
    policy(api, actions=("Warn", "Audit"), validations=validations("false"))
    text = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': failed expression: false"
    assert api.warnings("POST", MAPS, config_map("x")) == [text]
    assert api("GET", f"{MAPS}/x", want=200)["metadata"]["name"] == "x"


def test_only_what_matches_is_asked_about(api: Api) -> None:
    constraints = {
        "resourceRules": [{**CONFIG_MAPS, "operations": ["CREATE"]}],
        "excludeResourceRules": [{**CONFIG_MAPS, "resourceNames": ["free"]}],
        "objectSelector": {"matchLabels": {"checked": "yes"}},
    }
    binding = {"matchResources": {"namespaceSelector": {"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["default"]}]}}}  # fmt: skip
    conditions = [{"name": "named", "expression": "object.metadata.name != 'unnamed'"}]
    never = validations("false")
    policy(api, matchConstraints=constraints, binding=binding, matchConditions=conditions, validations=never)
    checked = {"checked": "yes"}
    assert denial(api, config_map("x", checked)) == "failed expression: false"
    for body in (config_map("other"), config_map("free", checked), config_map("unnamed", checked)):
        assert denial(api, body) == ""
    assert denial(api, config_map("x", checked), "/api/v1/namespaces/kube-system/configmaps") == ""
    api("DELETE", "/api/v1/namespaces/kube-system/configmaps/x", want=200)


def test_parameters_come_from_objects(api: Api) -> None:
    api("POST", MAPS, config_map("limits", {"role": "limits"}, most="1"), want=201)
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    named = {"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}}
    expression = "request.operation == 'DELETE' || object.data.size() <= int(params.data.most)"
    policy(api, paramKind=kind, binding=named, validations=validations(expression))
    assert denial(api, config_map("two", a="1", b="2")) == f"failed expression: {expression}"
    assert denial(api, config_map("one", a="1")) == ""
    selected = {"selector": {"matchLabels": {"role": "limits"}}, "parameterNotFoundAction": "Allow"}
    binding = api("GET", f"{BINDINGS}/p-b", want=200)
    binding["spec"]["paramRef"] = selected
    api("PUT", f"{BINDINGS}/p-b", binding, want=200)
    assert denial(api, config_map("two", a="1", b="2")) == f"failed expression: {expression}"
    api("DELETE", f"{MAPS}/limits", want=200)
    assert denial(api, config_map("two", a="1", b="2")) == ""
    binding = api("GET", f"{BINDINGS}/p-b", want=200)
    binding["spec"]["paramRef"] = named["paramRef"]
    api("PUT", f"{BINDINGS}/p-b", binding, want=200)
    why = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert denial(api, config_map("three")) == why
    for path in (BINDINGS, POLICIES):
        api("DELETE", path, want=200)


def test_audit_annotations_are_evaluated(api: Api) -> None:
    policy(api, auditAnnotations=[{"key": "k", "valueExpression": "string(object.data.a)"}])
    assert denial(api, config_map("x", a="1")) == ""
    why = "expression 'string(object.data.a)' resulted in error: no such key: a"
    assert denial(api, config_map("y", b="1")) == why


def test_subresources_and_scales_are_writes_too(api: Api) -> None:
    scale = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["deployments/scale"]}
    policy(api, matchConstraints={"resourceRules": [scale]}, validations=validations("object.spec.replicas < 3"))
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    path = "/apis/apps/v1/namespaces/default/deployments"
    api("POST", path, {"metadata": {"name": "d"}, "spec": spec}, want=201)
    merge = "application/merge-patch+json"
    api("PATCH", f"{path}/d/scale", {"spec": {"replicas": 2}}, want=200, media=merge)
    assert api("PATCH", f"{path}/d/scale", {"spec": {"replicas": 3}}, want=422, media=merge)["reason"] == "Invalid"
    api("DELETE", f"{path}/d", want=200)


def test_a_policy_that_costs_too_much_fails(api: Api) -> None:
    source = "".join(f"[1,2,3,4,5,6,7,8,9,10].all({name}, " for name in "abcdef") + "a > 0" + ")" * 6
    policy(api, validations=validations(source))
    assert denial(api, config_map("x")).endswith("resulted in error: operation cancelled: actual cost limit exceeded")


@pytest.mark.parametrize(
    ("spec", "field", "text"),
    [
        ({"matchConstraints": None}, "spec.matchConstraints", "Required value"),
        ({"matchConstraints": {}}, "spec.matchConstraints.resourceRules", "Required value"),
        ({"validations": []}, "spec.validations", "Required value: validations or auditAnnotations must contain"),
        ({"validations": validations("")}, "spec.validations[0].expression", "Required value: expression is not spec"),
        ({"validations": validations("1")}, "spec.validations[0].expression", "must evaluate to bool but got int"),
        ({"validations": validations("params.a")}, "spec.validations[0].expression", "reference to 'params'"),
        ({"validations": validations("request.nope")}, "spec.validations[0].expression", "undefined field 'nope'"),
        ({"validations": validations("variables.b")}, "spec.validations[0].expression", "undefined field 'b'"),
        ({"variables": [{"name": "a-b", "expression": "1"}]}, "spec.variables[0].name", "not a valid CEL identifier"),
        ({"variables": [{"name": "a", "expression": "x"}]}, "spec.variables[0].expression", "undeclared reference"),
        ({"matchConditions": [{"name": "", "expression": "true"}]}, "spec.matchConditions[0].name", "Required value"),
        ({"auditAnnotations": [{"key": "a", "valueExpression": "1"}]}, "spec.auditAnnotations[0].valueExpression",
         "must evaluate to one of [string null_type]"),
        ({"failurePolicy": "Wat"}, "spec.failurePolicy", "Unsupported value"),
    ],
)  # fmt: skip
def test_wrong_policies_are_refused(api: Api, spec: Json, field: str, text: str) -> None:
    good = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, "validations": validations("true")}
    given = {key: value for key, value in {**good, **spec}.items() if value is not None}
    causes = api("POST", POLICIES, {"metadata": {"name": "p"}, "spec": given}, want=422)["details"]["causes"]
    assert any(cause["field"] == field and text in cause["message"] for cause in causes), causes


def test_wrong_bindings_are_refused(api: Api) -> None:
    def causes(**spec: Any) -> list[str]:
        body = {"metadata": {"name": "b"}, "spec": spec}
        return [cause["field"] for cause in api("POST", BINDINGS, body, want=422)["details"]["causes"]]

    assert causes() == ["spec.policyName", "spec.validationActions"]
    assert causes(policyName="p", validationActions=["Deny", "Warn"]) == ["spec.validationActions"]
    assert causes(policyName="p", validationActions=["Deny", "Deny", "Wat"]) == [
        "spec.validationActions[1]",
        "spec.validationActions[2]",
    ]
    assert causes(policyName="p", validationActions=["Deny"], paramRef={}) == [
        "spec.paramRef",
        "spec.paramRef.parameterNotFoundAction",
    ]


# ---- match conditions of webhooks


def test_a_webhook_is_asked_only_when_its_conditions_hold() -> None:
    hooks = Webhooks()
    asked: list[str] = []

    def remember(ctx: Any, req: Any) -> Any:
        asked.append(req.name)
        return admission.allowed("")

    try:
        service = hooks.serve(remember)
        conditions = [{"name": "a", "expression": "object.metadata.name.startsWith('a')"},
                      {"name": "b", "expression": "object.data.size() > 0"}]  # fmt: skip
        hooks.configure("Validating", "some", hook("v.example.com", service, matchConditions=conditions))
        for name, data in (("a1", {"x": "1"}), ("b1", {"x": "1"}), ("b2", {})):
            hooks.api("POST", MAPS, config_map(name, **data), want=201)
        assert asked == ["a1"]
        body = {"metadata": {"name": "a2"}}
        answer = hooks.api("POST", MAPS, body, want=403)
        text = "expression 'object.data.size() > 0' resulted in error: no such key: data"
        assert answer["message"] == f'configmaps "a2" is forbidden: {text}'
        ignoring = hook("v.example.com", service, matchConditions=conditions, failurePolicy="Ignore")
        path = f"{GROUP}/validatingwebhookconfigurations/some"
        hooks.api("DELETE", path, want=200)
        hooks.configure("Validating", "some", ignoring)
        hooks.api("POST", MAPS, body, want=201)
        assert asked == ["a1"]
    finally:
        hooks.close()


def test_wrong_conditions_are_refused_with_the_webhook(api: Api) -> None:
    client = {"url": "https://127.0.0.1:1"}
    webhook: Json = {"name": "a.b.c", "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
    webhook["matchConditions"] = [{"name": "", "expression": ""}, {"name": "c", "expression": "nope("}]
    webhook["matchConditions"] += [{"name": "c", "expression": "true"}]
    for kind in ("validating", "mutating"):
        body = {"metadata": {"name": "x"}, "webhooks": [webhook]}
        causes = api("POST", f"{GROUP}/{kind}webhookconfigurations", body, want=422)["details"]["causes"]
        head = "webhooks[0].matchConditions"
        assert [cause["field"] for cause in causes] == [
            f"{head}[0].expression", f"{head}[0].name", f"{head}[1].expression", f"{head}[2].name",
        ]  # fmt: skip
        assert causes[2]["message"].startswith('Invalid value: "nope(": compilation failed: ERROR: <input>:1:6: Syntax')
