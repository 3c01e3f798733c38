"""The errors of admission policies, their bindings and match conditions. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import policy_checks

Json = dict[str, Any]
RULES: Json = {"matchConstraints": {"resourceRules": [{}]}}
VALIDATING: Json = {**RULES, "validations": [{"expression": "true"}]}
REMOVE = "[JSONPatch{op: 'remove', path: '/a'}]"
CHANGE: Json = {"patchType": "JSONPatch", "jsonPatch": {"expression": REMOVE}}
MUTATING: Json = {**RULES, "mutations": [CHANGE], "reinvocationPolicy": "Never"}
MISSING = "Required value"


def found(kind: str, spec: Json) -> list[str]:
    return [str(error) for error in policy_checks.check(kind, {"spec": spec})]


def check(texts: list[str], wanted: list[str]) -> None:
    assert [text[: len(want)] for text, want in zip(texts, wanted, strict=True)] == wanted


def condition(name: str = "a", expression: str = "true") -> Json:
    return {"name": name, "expression": expression}


HEADS = [
    ({}, []),
    ({"failurePolicy": "Fail"}, []),
    ({"failurePolicy": "Ignore"}, []),
    ({"failurePolicy": "X"}, ['spec.failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"']),
    ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, []),
    ({"paramKind": {}}, [f"spec.paramKind.apiVersion: {MISSING}", f"spec.paramKind.kind: {MISSING}"]),
    ({"paramKind": {"apiVersion": "v1"}}, [f"spec.paramKind.kind: {MISSING}"]),
    ({"matchConstraints": None}, [f"spec.matchConstraints: {MISSING}"]),
    ({"matchConstraints": {}}, [f"spec.matchConstraints.resourceRules: {MISSING}"]),
    ({"matchConditions": [condition(), condition("b")]}, []),
    ({"matchConditions": [condition(), condition()]}, ['spec.matchConditions[1].name: Duplicate value: "a"']),
    ({"matchConditions": [condition("")]}, [f"spec.matchConditions[0].name: {MISSING}"]),
    ({"matchConditions": [condition("a b")]}, ['spec.matchConditions[0].name: Invalid value: "a b": name part must']),
    ({"matchConditions": [condition(expression=" ")]}, [f"spec.matchConditions[0].expression: {MISSING}"]),
    ({"matchConditions": [condition(expression="1")]}, ['spec.matchConditions[0].expression: Invalid value: "1"']),
    ({"matchConditions": [condition(f"n{number}") for number in range(64)]}, []),
    ({"matchConditions": [condition(f"n{number}") for number in range(65)]},
     ["spec.matchConditions: Too many: 65: must have at most 64 items"]),
    ({"variables": [{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.a + 1"}]}, []),
    ({"variables": [{"name": "", "expression": "1"}]},
     [f"spec.variables[0].name: {MISSING}: name is not specified"]),
    ({"variables": [{"name": "a-b", "expression": "1"}]},
     ['spec.variables[0].name: Invalid value: "a-b": name is not a valid CEL identifier']),
    ({"variables": [{"name": "a", "expression": "1"}, {"name": "a", "expression": "1"}]},
     ['spec.variables[1].name: Duplicate value: "a"']),
    ({"variables": [{"name": "a", "expression": " "}]},
     [f"spec.variables[0].expression: {MISSING}: expression is not specified"]),
    ({"variables": [{"name": "a", "expression": "variables.b"}, {"name": "b", "expression": "1"}]},
     ['spec.variables[0].expression: Invalid value: "variables.b": compilation failed']),
    ({"variables": [{"name": "a", "expression": "params"}]},
     ['spec.variables[0].expression: Invalid value: "params": compilation failed']),
    ({"paramKind": {"apiVersion": "v1", "kind": "K"}, "variables": [{"name": "a", "expression": "params"}]}, []),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "wanted"), HEADS)
@pytest.mark.parametrize(
    ("kind", "base"), [("ValidatingAdmissionPolicy", VALIDATING), ("MutatingAdmissionPolicy", MUTATING)]
)
def test_both_kinds_of_policies(kind: str, base: Json, changes: Json, wanted: list[str]) -> None:
    check(found(kind, {**base, **changes}), wanted)


NOTHING = "validations or auditAnnotations must contain at least one item"
V, A, M = "spec.validations[0]", "spec.auditAnnotations[0]", "spec.mutations[0]"


def audit(*annotations: tuple[str, str]) -> Json:
    return {"auditAnnotations": [{"key": key, "valueExpression": source} for key, source in annotations]}


def validation(expression: str = "true", **more: Any) -> Json:
    return {"validations": [{"expression": expression, **more}]}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"validations": []},
         [f"spec.validations: {MISSING}: {NOTHING}", f"spec.auditAnnotations: {MISSING}: {NOTHING}"]),
        ({"validations": [], **audit(("a", "'x'"))}, []),
        (validation(" "), [f"{V}.expression: {MISSING}: expression is not specified"]),
        (validation("1"), [f'{V}.expression: Invalid value: "1": must evaluate to bool but got int']),
        (validation(message="m"), []),
        (validation(message=" "), [f'{V}.message: Invalid value: " ": message must be non-empty if specified']),
        (validation(message="a\nb"), [f'{V}.message: Invalid value: "a\\nb": message must not contain line breaks']),
        (validation(message="\na\n"), []),
        (validation("true\n&& true"),
         [f"{V}.message: {MISSING}: message must be specified if expression contains line breaks"]),
        (validation("true\n&& true", message="m"), []),
        (validation("\ntrue\n"), []),
        (validation(messageExpression="'m'"), []),
        (validation(messageExpression="1"), [f'{V}.messageExpression: Invalid value: "1": must evaluate to string']),
        (validation(messageExpression="string(authorizer == null)"), [f"{V}.messageExpression: Invalid value"]),
        *((validation(reason=reason), []) for reason in
          ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")),
        (validation(reason="X"),
         [f'{V}.reason: Unsupported value: "X": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", '
          '"Unauthorized"']),
        (audit(("a", "'x'"), ("b", "null")), []),
        (audit(("", "'x'")), [f"{A}.key: {MISSING}"]),
        (audit(("a", "'x'"), ("a", "'x'")), ['spec.auditAnnotations[1].key: Duplicate value: "a"']),
        (audit(("", "'x'"), ("", "'x'")), [f"{A}.key: {MISSING}", f"spec.auditAnnotations[1].key: {MISSING}"]),
        (audit(("a", " ")), [f"{A}.valueExpression: {MISSING}: valueExpression is not specified"]),
        (audit(("a", "1")), [f'{A}.valueExpression: Invalid value: "1": must evaluate to one of [string null_type]']),
        (audit(*((f"k{number}", "'x'") for number in range(20))), []),
        (audit(*((f"k{number}", "'x'") for number in range(21))),
         ["spec.auditAnnotations: Invalid value: 21: must not have more than 20 auditAnnotations"]),
    ],
)  # fmt: skip
def test_validating_policies(changes: Json, wanted: list[str]) -> None:
    check(found("ValidatingAdmissionPolicy", {**VALIDATING, **changes}), wanted)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"mutations": []}, [f"spec.mutations: {MISSING}: mutations must contain at least one item"]),
        ({"mutations": [{}]}, [f"{M}.patchType: {MISSING}"]),
        ({"mutations": [{"patchType": "X"}]},
         [f'{M}.patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"']),
        *(({"mutations": [{"patchType": kind}]},
           [f"{M}.{place}: {MISSING}: must be specified when patchType is {kind}"])
          for kind, place in (("JSONPatch", "jsonPatch"), ("ApplyConfiguration", "applyConfiguration"))),
        ({"mutations": [{**CHANGE, "jsonPatch": {"expression": ""}}]},
         [f"{M}.jsonPatch.expression: {MISSING}: expression is not specified"]),
        ({"mutations": [{**CHANGE, "jsonPatch": {"expression": "1"}}]}, [f"{M}.jsonPatch.expression: Invalid value"]),
        ({"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}]}, []),
        ({"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "[]"}}]},
         [f"{M}.applyConfiguration.expression: Invalid value"]),
        ({"reinvocationPolicy": "IfNeeded"}, []),
        ({"reinvocationPolicy": ""}, [f"spec.reinvocationPolicy: {MISSING}"]),
        ({"reinvocationPolicy": "X"},
         ['spec.reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"']),
    ],
)  # fmt: skip
def test_mutating_policies(changes: Json, wanted: list[str]) -> None:
    check(found("MutatingAdmissionPolicy", {**MUTATING, **changes}), wanted)


R = "spec.paramRef"


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, []),
        ({"policyName": ""}, [f"spec.policyName: {MISSING}"]),
        ({R[5:]: {"name": "n", "parameterNotFoundAction": "Allow"}}, []),
        ({R[5:]: {"selector": {}, "parameterNotFoundAction": "Deny"}}, []),
        ({R[5:]: {"parameterNotFoundAction": "Deny"}},
         [f"{R}: {MISSING}: one of name or selector must be specified"]),
        ({R[5:]: {"name": "n", "selector": {}, "parameterNotFoundAction": "Deny"}},
         [f"{R}.{one}: Forbidden: name and selector are mutually exclusive" for one in ("name", "selector")]),
        ({R[5:]: {"name": "n"}}, [f"{R}.parameterNotFoundAction: {MISSING}"]),
        ({R[5:]: {"name": "n", "parameterNotFoundAction": "X"}},
         [f'{R}.parameterNotFoundAction: Unsupported value: "X": supported values: "Deny", "Allow"']),
    ],
)  # fmt: skip
def test_bindings(changes: Json, wanted: list[str]) -> None:
    check(found("MutatingAdmissionPolicyBinding", {"policyName": "p", **changes}), wanted)
    check(
        found("ValidatingAdmissionPolicyBinding", {"policyName": "p", "validationActions": ["Deny"], **changes}), wanted
    )


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        ([], [f"spec.validationActions: {MISSING}"]),
        (["Audit", "Warn"], []),
        (["Audit", "Deny"], []),
        (["Deny", "Warn"], ['spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and']),
        (["X"], ['spec.validationActions[0]: Unsupported value: "X": supported values: "Audit", "Deny", "Warn"']),
        (["Audit", "Audit"], ['spec.validationActions[1]: Duplicate value: "Audit"']),
    ],
)
def test_the_actions_of_a_binding(actions: list[str], wanted: list[str]) -> None:
    spec = {"policyName": "p", "validationActions": actions}

    check(found("ValidatingAdmissionPolicyBinding", spec), wanted)
    assert found("MutatingAdmissionPolicyBinding", spec) == []


def test_the_conditions_of_each_webhook() -> None:
    hooks = [{"matchConditions": [condition()]}, {}, {"matchConditions": [condition(), condition()]}]
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        errors = policy_checks.check(kind, {"webhooks": hooks})
        assert [str(error) for error in errors] == ['webhooks[2].matchConditions[1].name: Duplicate value: "a"']
