"""The webhooks and policies that match a write, their parameters, and the meaning of an answer. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.api.admission.v1 import AdmissionReview
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.policies import validating
from clientgo.testing.apiserver.policies.finding import Finder
from clientgo.testing.apiserver.policies.params import ParamError, Params
from clientgo.testing.apiserver.verbs.call import internal_call
from clientgo.testing.apiserver.webhooks import reviews
from clientgo.testing.apiserver.webhooks.attributes import Attributes, of_delete, of_write
from clientgo.testing.apiserver.webhooks.conditions import Conditions, ExpressionError, namespace_value
from clientgo.testing.apiserver.webhooks.matching import MUTATING, Hook, Matcher
from clientgo.testing.apiserver.wire.errors import ApiError

Json = dict[str, Any]
REGISTRY = Registry()


class Objects:
    """The part of a store that matching reads, with objects by bucket and key."""

    def __init__(self, buckets: dict[str, dict[str, Json]] | None = None) -> None:
        self.buckets = {
            "/namespaces": {"ns": {"metadata": {"name": "ns", "labels": {"in": "ns"}}}},
            **(buckets or {}),
        }

    def count(self, bucket: str) -> int:
        return len(self.buckets.get(bucket, ()))

    def get(self, bucket: str, key: str) -> Any:
        found = self.buckets.get(bucket, {}).get(key)
        return None if found is None else SimpleNamespace(obj=found)

    def list(self, bucket: str, prefix: str = "") -> tuple[int, list[Any]]:
        items = [(key, obj) for key, obj in self.buckets.get(bucket, {}).items() if key.startswith(prefix)]
        return 1, [SimpleNamespace(obj=obj, name=key.rpartition("/")[2]) for key, obj in sorted(items)]


def attributes(
    resource: str = "pods.v1.", operation: str = "CREATE", *, namespace: str = "ns", name: str = "x", sub: str = "",
    labels: Json | None = None, old: Json | None = None,
) -> Attributes:  # fmt: skip
    plural, version, group = resource.split(".", 2)
    found = next(one for one in REGISTRY.all() if (one.plural, one.version, one.group) == (plural, version, group))
    call = internal_call("POST", "m", found, namespace if found.namespaced else "", name, sub)
    obj = None if operation == "DELETE" else {"metadata": {"name": name, "labels": labels or {}}}
    before = None if old is None else {"metadata": {"name": name, "labels": old}}
    return Attributes(operation, call, name, obj, before, False, {})


def rule(**more: Any) -> Json:
    return {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], **more}


def matches(spec: Json, of: Attributes) -> str:
    """Return the group, version and resource in which a webhook sees the write; "" if it does not."""
    store: Any = Objects()
    found = Matcher(store, REGISTRY).match(Hook("h/0", spec), of)
    return "" if found is None else f"{found.group_version} {found.plural}"


PODS = "v1 pods"


@pytest.mark.parametrize(
    ("given", "of", "seen"),
    [
        (rule(), attributes(), PODS),
        (rule(), attributes(operation="UPDATE"), ""),
        (rule(operations=["UPDATE", "CREATE"]), attributes(), PODS),
        (rule(operations=["*"]), attributes(operation="DELETE", old={}), PODS),
        (rule(operations=[]), attributes(), ""),
        (rule(operations=None), attributes(), ""),
        (rule(apiGroups=["apps"]), attributes(), ""),
        (rule(apiGroups=["*"]), attributes(), PODS),
        (rule(apiVersions=["v2"]), attributes(), ""),
        (rule(apiVersions=["*"]), attributes(), PODS),
        (rule(resources=["services"]), attributes(), ""),
        (rule(resources=["services", "pods"]), attributes(), PODS),
        (rule(resources=["*"]), attributes(), PODS),
        (rule(resources=["*/*"]), attributes(), PODS),
        (rule(resources=["pods/*"]), attributes(), PODS),
        (rule(resources=["pods/status"]), attributes(), ""),
        (rule(resources=[]), attributes(), ""),
        (rule(), attributes(sub="status"), ""),
        (rule(resources=["*"]), attributes(sub="status"), ""),
        (rule(resources=["pods/status"]), attributes(sub="status"), PODS),
        (rule(resources=["pods/*"]), attributes(sub="status"), PODS),
        (rule(resources=["*/status"]), attributes(sub="status"), PODS),
        (rule(resources=["*/scale"]), attributes(sub="status"), ""),
        (rule(resources=["*/*"]), attributes(sub="status"), PODS),
        (rule(scope="*"), attributes(), PODS),
        (rule(scope="Namespaced"), attributes(), PODS),
        (rule(scope="Cluster"), attributes(), ""),
        (rule(resources=["nodes"], scope="Cluster"), attributes("nodes.v1."), "v1 nodes"),
        (rule(resources=["nodes"], scope="Namespaced"), attributes("nodes.v1."), ""),
        (rule(resources=["namespaces"], scope="Cluster"), attributes("namespaces.v1."), "v1 namespaces"),
        (rule(resources=["namespaces"], scope="Namespaced"), attributes("namespaces.v1."), ""),
        (rule(resourceNames=["x"]), attributes(), PODS),
        (rule(resourceNames=["y"]), attributes(), ""),
        (rule(resourceNames=[]), attributes(), PODS),
    ],
)
def test_a_rule_says_what_a_webhook_sees(given: Json, of: Attributes, seen: str) -> None:
    assert matches({"rules": [given]}, of) == seen
    assert matches({"rules": [rule(operations=["CONNECT"]), given]}, of) == seen
    assert matches({"rules": []}, of) == matches({}, of) == ""


SCALERS = rule(apiGroups=["autoscaling"], resources=["horizontalpodautoscalers"], apiVersions=["v1"])


@pytest.mark.parametrize(
    ("policy", "asked", "seen"),
    [
        ({}, "v2", "autoscaling/v1 horizontalpodautoscalers"),
        ({"matchPolicy": "Equivalent"}, "v2", "autoscaling/v1 horizontalpodautoscalers"),
        ({"matchPolicy": "Exact"}, "v2", ""),
        ({"matchPolicy": "Exact"}, "v1", "autoscaling/v1 horizontalpodautoscalers"),
    ],
)
def test_another_version_of_the_resource_is_seen_in_the_rules_version(policy: Json, asked: str, seen: str) -> None:
    of = attributes(f"horizontalpodautoscalers.{asked}.autoscaling")

    assert matches({"rules": [SCALERS], **policy}, of) == seen


IN, OUT = {"matchLabels": {"in": "ns"}}, {"matchLabels": {"in": "other"}}


@pytest.mark.parametrize(
    ("selectors", "of", "seen"),
    [
        ({"namespaceSelector": IN}, attributes(), True),
        ({"namespaceSelector": OUT}, attributes(), False),
        ({"namespaceSelector": {}}, attributes(), True),
        # Cluster-wide objects are in no namespace, and a namespace has labels of its own.
        ({"namespaceSelector": OUT}, attributes("nodes.v1."), True),
        ({"namespaceSelector": IN}, attributes("namespaces.v1.", name="new", labels={"in": "ns"}), True),
        ({"namespaceSelector": IN}, attributes("namespaces.v1.", name="new"), False),
        ({"namespaceSelector": IN}, attributes("namespaces.v1.", "DELETE", name="ns", old={}), True),
        ({"namespaceSelector": OUT}, attributes("namespaces.v1.", "DELETE", name="ns", old={}), False),
        ({"objectSelector": IN}, attributes(labels={"in": "ns"}), True),
        ({"objectSelector": IN}, attributes(labels={"in": "other"}), False),
        ({"objectSelector": {}}, attributes(), True),
        # A change of the labels does not get around a webhook.
        ({"objectSelector": IN}, attributes(operation="UPDATE", labels={"in": "x"}, old={"in": "ns"}), True),
        ({"objectSelector": IN}, attributes(operation="UPDATE", labels={"in": "ns"}, old={"in": "x"}), True),
        ({"objectSelector": IN}, attributes(operation="UPDATE", labels={"in": "x"}, old={"in": "x"}), False),
        ({"objectSelector": IN}, attributes(operation="DELETE", old={"in": "ns"}), True),
        ({"objectSelector": IN}, attributes(operation="DELETE", old={"in": "x"}), False),
        ({"namespaceSelector": IN, "objectSelector": IN}, attributes(labels={"in": "x"}), False),
        ({"namespaceSelector": OUT, "objectSelector": IN}, attributes(labels={"in": "ns"}), False),
    ],
)
def test_selectors_choose_namespaces_and_objects(selectors: Json, of: Attributes, seen: bool) -> None:
    every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}

    assert bool(matches({"rules": [every], **selectors}, of)) is seen


def test_a_namespace_that_does_not_exist_cannot_be_selected() -> None:
    with pytest.raises(ApiError, match='namespaces "gone" not found'):
        matches({"rules": [rule()], "namespaceSelector": IN}, attributes(namespace="gone"))


def test_all_webhooks_of_all_configurations_are_found_but_for_their_own_kinds() -> None:
    hooks = [{"name": "one"}, {"name": "two", "failurePolicy": "Ignore"}]
    store: Any = Objects({MUTATING: {"b": {"webhooks": [{"name": "three"}]}, "a": {"webhooks": hooks}, "c": {}}})
    matcher = Matcher(store, REGISTRY)

    found = matcher.hooks(MUTATING, attributes())
    assert [(one.uid, one.name, one.is_ignorable) for one in found] == [
        ("a/0", "one", False), ("a/1", "two", True), ("b/0", "three", False),
    ]  # fmt: skip
    assert matcher.hooks("other", attributes()) == []
    for plural in ("mutatingwebhookconfigurations", "validatingadmissionpolicies"):
        assert matcher.hooks(MUTATING, attributes(f"{plural}.v1.admissionregistration.k8s.io")) == []


# ---- policies


def found_by(policy: Json, bindings: list[Json], of: Attributes) -> list[list[str]]:
    """Return the names of the bindings of each policy that matches."""
    group = "admissionregistration.k8s.io"
    named = {f"b{number}": {"metadata": {"name": f"b{number}"}, "spec": one} for number, one in enumerate(bindings)}
    buckets = {f"{group}/p": {"mine": {"metadata": {"name": "mine"}, "spec": policy}}, f"{group}/b": named}
    store: Any = Objects(buckets)
    finder = Finder(store, Matcher(store, REGISTRY), "p", "b")
    return [[one["metadata"]["name"] for one in own] for _, _, own in finder.find(of)]


def to(policy: str = "mine", **constraints: Any) -> Json:
    return {"policyName": policy, **({"matchResources": constraints} if constraints else {})}


OF_PODS: Json = {"matchConstraints": {"resourceRules": [rule()]}}


@pytest.mark.parametrize(
    ("policy", "bindings", "of", "found"),
    [
        (OF_PODS, [to()], attributes(), [["b0"]]),
        (OF_PODS, [], attributes(), []),
        (OF_PODS, [to("other")], attributes(), []),
        (OF_PODS, [to("other"), to()], attributes(), [["b1"]]),
        (OF_PODS, [to()], attributes("services.v1."), []),
        ({}, [to()], attributes(), []),
        ({"matchConstraints": {"resourceRules": []}}, [to()], attributes(), []),
        ({"matchConstraints": {"resourceRules": [rule()], "excludeResourceRules": [rule(resourceNames=["x"])]}},
         [to()], attributes(), []),
        ({"matchConstraints": {"resourceRules": [rule()], "excludeResourceRules": [rule(resourceNames=["y"])]}},
         [to()], attributes(), [["b0"]]),
        ({"matchConstraints": {"resourceRules": [rule()], "namespaceSelector": OUT}}, [to()], attributes(), []),
        # A binding narrows this; without rules of its own it takes all.
        (OF_PODS, [to(namespaceSelector=IN), to(namespaceSelector=OUT)], attributes(), [["b0"]]),
        (OF_PODS, [to(resourceRules=[rule()]), to(resourceRules=[rule(resourceNames=["y"])])], attributes(),
         [["b0"]]),
        (OF_PODS, [to(excludeResourceRules=[rule(resourceNames=["x"])])], attributes(), [[]]),
        ({"matchConstraints": {"resourceRules": [rule(resources=["*/*"])]}}, [to(namespaceSelector=IN)],
         attributes(sub="status"), [["b0"]]),
        ({"matchConstraints": {"resourceRules": [rule(apiGroups=["*"], resources=["*"])]}}, [to()],
         attributes("validatingadmissionpolicies.v1.admissionregistration.k8s.io"), []),
    ],
)  # fmt: skip
def test_a_policy_applies_where_it_and_its_bindings_match(
    policy: Json, bindings: list[Json], of: Attributes, found: list[list[str]]
) -> None:
    assert found_by(policy, bindings, of) == found


def test_a_policy_that_excludes_a_version_excludes_the_others_unless_it_is_exact() -> None:
    of = attributes("horizontalpodautoscalers.v2.autoscaling")
    every = {**SCALERS, "apiVersions": ["*"]}
    constraints = {"resourceRules": [every], "excludeResourceRules": [SCALERS]}

    assert found_by({"matchConstraints": constraints}, [to()], of) == []
    assert found_by({"matchConstraints": {**constraints, "matchPolicy": "Exact"}}, [to()], of) == [["b0"]]


MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
NODES = {"apiVersion": "v1", "kind": "Node"}
DENY = "no params found for policy binding with `Deny` parameterNotFoundAction"


def a_map(name: str, **labels: str) -> Json:
    return {"metadata": {"name": name, "labels": labels}}


@pytest.mark.parametrize(
    ("kind", "reference", "namespace", "found"),
    [
        (None, {"name": "a"}, "ns", [None]),
        (MAPS, None, "ns", [None]),
        (MAPS, {"name": "a"}, "ns", ["a"]),
        (MAPS, {"name": "a"}, "other", DENY),
        (MAPS, {"name": "a", "namespace": "ns"}, "other", ["a"]),
        (MAPS, {"name": "gone", "parameterNotFoundAction": "Deny"}, "ns", DENY),
        (MAPS, {"name": "gone", "parameterNotFoundAction": "Allow"}, "ns", []),
        (MAPS, {"selector": {}}, "ns", ["a", "b"]),
        (MAPS, {"selector": {"matchLabels": {"x": "y"}}}, "ns", ["b"]),
        (MAPS, {"selector": {"matchLabels": {"x": "z"}}}, "ns", DENY),
        (MAPS, {"selector": {}, "name": "a"}, "ns", "paramRef.name and paramRef.selector are mutually exclusive"),
        (MAPS, {"namespace": "ns"}, "ns", "one of name or selector must be provided"),
        (MAPS, {"name": "a"}, "",
         "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"),
        (MAPS, {"name": "a", "namespace": "ns"}, "", ["a"]),
        (NODES, {"name": "n"}, "ns", ["n"]),
        (NODES, {"name": "n", "namespace": "ns"}, "ns",
         "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"),
        ({"apiVersion": "v1", "kind": "Nope"}, {"name": "a"}, "ns", "paramKind kind `v1, Kind=Nope` not known"),
        ({"apiVersion": "v2", "kind": "ConfigMap"}, None, "ns", "paramKind kind `v2, Kind=ConfigMap` not known"),
    ],
)  # fmt: skip
def test_a_binding_names_the_parameters(
    kind: Json | None, reference: Json | None, namespace: str, found: list[Any] | str
) -> None:
    store: Any = Objects(
        {"/configmaps": {"ns/a": a_map("a"), "ns/b": a_map("b", x="y")}, "/nodes": {"n": a_map("n")}}
    )
    policy, binding = {"spec": {"paramKind": kind}}, {"spec": {"paramRef": reference}}
    if isinstance(found, str):
        with pytest.raises(ParamError) as caught:
            Params(store, REGISTRY).collect(policy, binding, namespace)
        assert str(caught.value) == found
    else:
        params = Params(store, REGISTRY).collect(policy, binding, namespace)
        assert [one and one["metadata"]["name"] for one in params] == found


@pytest.mark.parametrize(
    ("expressions", "held"),
    [
        ([], True),
        (["true"], True),
        (["true", "false"], False),
        (["false", "true"], False),
        # One that is false decides, whatever becomes of the others.
        (["1 / 0 > 0", "false"], False),
        (["nope", "false"], False),
        (["1 / 0 > 0"], "expression '1 / 0 > 0' resulted in error: division by zero"),
        (["1 / 0 > 0", "true", "1 / 0 > 0"], "expression '1 / 0 > 0' resulted in error: division by zero"),
        (["1 / 0 > 0", "2 % 0 > 0"],
         "[expression '1 / 0 > 0' resulted in error: division by zero, "
         "expression '2 % 0 > 0' resulted in error: modulus by zero]"),
    ],
)  # fmt: skip
def test_all_conditions_have_to_hold(expressions: list[str], held: bool | str) -> None:
    conditions = Conditions([{"expression": one} for one in expressions])
    assert bool(conditions) is bool(expressions)
    if isinstance(held, str):
        with pytest.raises(ExpressionError) as caught:
            conditions.hold({})
        assert str(caught.value) == held
    else:
        assert conditions.hold({}) is held


def test_a_namespace_is_shown_with_a_part_of_its_fields() -> None:
    metadata = {"name": "n", "labels": {"a": "b"}, "annotations": {}, "resourceVersion": "5", "uid": "u",
                "managedFields": [], "creationTimestamp": "2001-01-01T00:00:00Z"}  # fmt: skip
    shown = namespace_value({"metadata": metadata, "spec": {"finalizers": ["k"]}})

    assert namespace_value(None) is None
    assert shown is not None
    assert sorted(shown["metadata"]) == ["UID", "annotations", "creationTimestamp", "labels", "name", "resourceVersion"]
    assert (shown["spec"], shown["status"]) == ({"finalizers": ["k"]}, {})
    assert namespace_value({"metadata": {"name": "n"}}) == {"metadata": {"name": "n"}, "spec": {}, "status": {}}


@pytest.mark.parametrize(
    ("actions", "refused", "warned"),
    [
        (["Deny"], 1, 0), (["Warn"], 0, 1), (["Audit"], 0, 0), (["Warn", "Audit"], 0, 1), (["Deny", "Audit"], 1, 0),
        ([], 0, 0),
    ],
)  # fmt: skip
def test_the_actions_of_a_binding_say_what_a_failure_does(actions: list[str], refused: int, warned: int) -> None:
    of = attributes()
    denial = validating.Denial("p", "b", "no")

    assert validating._acted_on(denial, {"spec": {"validationActions": actions}}, of) == [denial] * refused
    text = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"
    assert of.call.warnings == [text] * warned


@pytest.mark.parametrize(
    ("reason", "code"),
    [("Unauthorized", 401), ("Forbidden", 403), ("RequestEntityTooLarge", 413), ("Invalid", 422), ("Other", 422)],
)
def test_a_denial_has_the_code_of_its_reason(reason: str, code: int) -> None:
    status = validating._refusal(attributes(), validating.Denial("p", "b", "no", reason)).status()

    text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    assert (status["code"], status["reason"]) == (code, reason)
    assert status["message"] == f'pods "x" is forbidden: {text}'
    assert status["details"]["causes"] == [{"message": text}]


# ---- requests to webhooks, and their answers


def options(**more: Any) -> Any:
    given = {"dry_run": False, "force": False, "manager": "m", "validation_given": False, "validation": "Warn"}
    return SimpleNamespace(**(given | more))


@pytest.mark.parametrize(
    ("method", "operation", "given", "shown"),
    [
        ("POST", "CREATE", {}, {"kind": "CreateOptions", "fieldManager": "m"}),
        ("PUT", "UPDATE", {}, {"kind": "UpdateOptions", "fieldManager": "m"}),
        ("PATCH", "UPDATE", {}, {"kind": "PatchOptions", "fieldManager": "m"}),
        ("PATCH", "UPDATE", {"force": True}, {"kind": "PatchOptions", "fieldManager": "m", "force": True}),
        # An apply of a new object is a create, which nothing can force.
        ("PATCH", "CREATE", {"force": True}, {"kind": "CreateOptions", "fieldManager": "m"}),
        ("PUT", "UPDATE", {"dry_run": True}, {"kind": "UpdateOptions", "fieldManager": "m", "dryRun": ["All"]}),
        ("PUT", "UPDATE", {"validation_given": True},
         {"kind": "UpdateOptions", "fieldManager": "m", "fieldValidation": "Warn"}),
    ],
)  # fmt: skip
def test_the_options_of_a_write_are_shown(method: str, operation: str, given: Json, shown: Json) -> None:
    call = internal_call(method, "m", attributes().resource, "ns")
    of = of_write(operation, call, {"metadata": {"name": "made"}}, None, options(**given))

    assert of.options == {"apiVersion": "meta.k8s.io/v1", **shown}
    assert (of.name, of.dry_run) == ("made", bool(given.get("dry_run")))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, {}),
        ({"grace": 0}, {"gracePeriodSeconds": 0}),
        ({"uid": "u"}, {"preconditions": {"uid": "u"}}),
        ({"version": "5"}, {"preconditions": {"resourceVersion": "5"}}),
        ({"policy": "Orphan"}, {"propagationPolicy": "Orphan"}),
        ({"dry_run": True}, {"dryRun": ["All"]}),
    ],
)
def test_the_options_of_a_delete_are_shown(given: Json, shown: Json) -> None:
    every: Json = {"grace": None, "uid": None, "version": None, "policy": "", "dry_run": False}
    all_options: Any = SimpleNamespace(**(every | given))
    old = {"metadata": {"name": "gone"}}
    of = of_delete(attributes(name="").call, old, all_options)

    assert of.options == {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", **shown}
    assert (of.operation, of.name, of.obj, of.old) == ("DELETE", "gone", None, old)


def review(response: Json | None, **more: Any) -> Json:
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response, **more}


PATCH = {"patch": "W10=", "patchType": "JSONPatch"}
NO_PATCH = "webhook returned response.patch"


@pytest.mark.parametrize(
    ("answer", "version", "mutating", "wrong"),
    [
        (review({"uid": "u"}), "v1", False, ""),
        (review({"uid": "u"}), "v1", True, ""),
        (review({"uid": "u", **PATCH}), "v1", True, ""),
        (review(None), "v1", True, "webhook response was absent"),
        (review({"uid": "v"}), "v1", True, 'expected response.uid="u", got "v"'),
        (review({"uid": "v"}), "v1beta1", True, ""),
        (review({"uid": "u"}, kind="Other"), "v1", True,
         "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Other"),
        (review({"uid": "u"}, apiVersion=""), "v1", True,
         "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=AdmissionReview"),
        (review({"uid": "u"}, kind="Other", apiVersion=""), "v1beta1", True, ""),
        (review({"uid": "u", "patch": "W10="}), "v1", True, f"{NO_PATCH} but not response.patchType"),
        (review({"uid": "u", "patchType": "JSONPatch"}), "v1", True, f"{NO_PATCH}Type but not response.patch"),
        (review({"uid": "u", "patch": "W10=", "patchType": "X"}), "v1", True,
         'webhook returned invalid response.patchType of "X"'),
        *((review({"uid": "u", **some}), "v1beta1", True, "") for some in (
            {"patch": "W10="}, {"patchType": "JSONPatch"}, {"patch": "W10=", "patchType": "X"})),
        (review({"uid": "u", "patch": "W10="}), "v1", False, "validating webhook may not return response.patch"),
        (review({"uid": "u", "patchType": "JSONPatch"}), "v1", False,
         "validating webhook may not return response.patchType"),
        (review({"uid": "u", "patch": "W10="}), "v1beta1", False, "validating webhook may not return response.patch"),
    ],
)  # fmt: skip
def test_an_answer_fits_its_question(answer: Json, version: str, mutating: bool, wrong: str) -> None:
    kind = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}"}
    response = reviews._read(AdmissionReview.from_dict(answer).response)

    assert reviews._wrong(answer, response, kind, "u", mutating) == wrong


@pytest.mark.parametrize(
    ("status", "code", "reason", "message"),
    [
        ({}, 400, "", 'admission webhook "h" denied the request without explanation'),
        ({"message": "no"}, 400, "", 'admission webhook "h" denied the request: no'),
        ({"reason": "Why"}, 400, "Why", 'admission webhook "h" denied the request: Why'),
        ({"reason": "Why", "message": "no", "code": 418}, 418, "Why", 'admission webhook "h" denied the request: no'),
        ({"code": 399}, 400, "", 'admission webhook "h" denied the request without explanation'),
    ],
)  # fmt: skip
def test_a_webhooks_denial_is_an_error_with_its_status(status: Json, code: int, reason: str, message: str) -> None:
    answer = reviews._read(AdmissionReview.from_dict(review({"uid": "u", "status": status})).response)
    assert answer is not None
    found = reviews._denial("h", answer).status()

    assert (found["code"], found.get("reason", ""), found["message"]) == (code, reason, message)
