"""Selectors in reviews of access, and the names and namespaces by which requests are authorized."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.access import routing
from clientgo.testing.apiserver.wire.http import Request

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1"
KINDS = ("subjectaccessreviews", "selfsubjectaccessreviews")
FIELDS, LABELS = "spec.resourceAttributes.fieldSelector", "spec.resourceAttributes.labelSelector"
BOTH = "may not specified at the same time as requirements"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def requirement(key: str, operator: str, *values: str) -> Json:
    return {"requirements": [{"key": key, "operator": operator, "values": [*values]}]}


def review(api: Api, plural: str, **selectors: Json) -> Json:
    attributes = {"verb": "list", "resource": "pods", **selectors}
    user = {"user": "u"} if plural == "subjectaccessreviews" else {}
    answer: Json = api("POST", f"{REVIEWS}/{plural}", {"spec": {**user, "resourceAttributes": attributes}})
    return answer


@pytest.mark.parametrize(
    ("selectors", "text"),
    [
        (
            {"fieldSelector": {"rawSelector": "a=b", **requirement("a", "In", "b")}},
            f'{FIELDS}.rawSelector: Invalid value: "a=b": {BOTH}',
        ),
        (
            {"labelSelector": {"rawSelector": "a", **requirement("a", "Exists")}},
            f'{LABELS}.rawSelector: Invalid value: "a": {BOTH}',
        ),
        ({"fieldSelector": {}}, f"{FIELDS}.requirements: Required value: when {FIELDS} is specified, requirements or"),
        ({"labelSelector": {"requirements": []}}, f"{LABELS}.requirements: Required value: when {LABELS} is specified"),
        ({"fieldSelector": requirement("", "In", "x")}, f"{FIELDS}.requirements[0].key: Required value: must be"),
        ({"fieldSelector": requirement("a", "In")}, f"{FIELDS}.requirements[0].values: Required value: must be"),
        ({"fieldSelector": requirement("a", "Exists", "b")}, f"{FIELDS}.requirements[0].values: Forbidden: may not"),
        ({"labelSelector": requirement("a b", "In", "x")}, f'{LABELS}.requirements[0].key: Invalid value: "a b"'),
        ({"labelSelector": requirement("a", "In", "x y")}, f'{LABELS}.requirements[0].values[0]: Invalid value: "x y"'),
    ],
)
@pytest.mark.parametrize("plural", KINDS)
def test_invalid_selectors_of_a_review(api: Api, plural: str, selectors: Json, text: str) -> None:
    answer = review(api, plural, **selectors)
    assert answer.get("code") == 422
    assert text in answer["message"]


IGNORED = "ignored due to parse error"


@pytest.mark.parametrize(
    ("selectors", "error"),
    [
        ({"fieldSelector": {"rawSelector": "a=b,c!=d"}}, ""),
        ({"fieldSelector": {"rawSelector": "a b"}}, f"{FIELDS} {IGNORED}"),
        ({"labelSelector": {"rawSelector": "a in (b)"}}, ""),
        ({"labelSelector": {"rawSelector": "a in b"}}, f"{LABELS} {IGNORED}"),
        ({"fieldSelector": requirement("a", "Exists")}, f"{FIELDS} {IGNORED}"),
        ({"fieldSelector": requirement("a", "In", "b", "c")}, f"{FIELDS} {IGNORED}"),
        ({"fieldSelector": requirement("a", "NotIn", "b")}, ""),
        ({"labelSelector": requirement("a", "Near", "b")}, f"{LABELS} {IGNORED}"),
        (
            {
                "fieldSelector": requirement("a", "Near"),
                "labelSelector": {"requirements": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "X"}]},
            },
            f"{FIELDS} {IGNORED}; {LABELS} partially {IGNORED}",
        ),
    ],
)
@pytest.mark.parametrize("plural", KINDS)
def test_a_review_reports_selectors_that_no_authorizer_reads(
    api: Api, plural: str, selectors: Json, error: str
) -> None:
    status = review(api, plural, **selectors)["status"]
    assert status["allowed"] is (plural != "subjectaccessreviews")
    assert status.get("evaluationError", "") == error


@pytest.mark.parametrize(
    ("selector", "name"),
    [("%3Dmine", "mine"), ("%3Da/b", ""), ("%3D..", ""), ("%3D", ""), ("%3D%3Da.b", "a.b"), ("!%3Da", "")],
)
def test_only_a_segment_of_a_path_is_the_name_that_a_selector_asks_for(selector: str, name: str) -> None:
    request = Request("GET", f"/api/v1/pods?fieldSelector=metadata.name{selector}", {})
    info = routing.parse("GET", request.path, False)
    assert info is not None
    assert routing.attributes(request, info).name == name


@pytest.mark.parametrize("group", ["/api/v1", "/apis/example.com/v1"])
@pytest.mark.parametrize("rest", ["", "/more"])
def test_status_and_finalize_are_subresources_of_namespaces_in_every_group(group: str, rest: str) -> None:
    for subresource in ("status", "finalize"):
        info = routing.parse("GET", f"{group}/namespaces/ns/{subresource}{rest}", False)
        assert info is not None
        assert (info.resource, info.name, info.subresource) == ("namespaces", "ns", subresource)
        assert info.attributes().namespace == "ns"


RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.mark.parametrize(
    ("part_of", "roles"), [("view", {"view", "edit", "admin"}), ("edit", {"edit", "admin"}), ("admin", {"admin"})]
)
def test_a_role_for_custom_resources_joins_the_roles_of_users(api: Api, part_of: str, roles: set[str]) -> None:
    group = f"{part_of}.example.com"
    rule = {"apiGroups": [group], "resources": ["foos"], "verbs": ["get"]}
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{part_of}": "true"}
    api("POST", f"{RBAC}/clusterroles", {"metadata": {"name": group, "labels": labels}, "rules": [rule]}, want=201)
    may = set()
    for role in ("view", "edit", "admin"):
        user = f"{role}-of-{part_of}"
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
        binding = {"metadata": {"name": user}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]}
        api("POST", f"{RBAC}/clusterrolebindings", binding, want=201)
        attributes = {"verb": "get", "group": group, "resource": "foos", "namespace": "default"}
        spec = {"user": user, "resourceAttributes": attributes}
        if api("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec}, want=201)["status"]["allowed"]:
            may.add(role)
    assert may == roles


def test_own_rules_of_an_aggregate_grant_nothing(api: Api) -> None:
    def role(name: str, resource: str, labels: Json, selectors: list[Json] | None = None) -> None:
        rules = [{"apiGroups": [""], "resources": [resource], "verbs": ["get"]}]
        body: Json = {"metadata": {"name": name, "labels": labels}, "rules": rules}
        if selectors:
            body["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": each} for each in selectors]}
        api("POST", f"{RBAC}/clusterroles", body, want=201)

    role("plain", "pods", {"part": "inner"})
    role("inner", "nodes", {"part": "outer"}, [{"part": "inner"}])
    role("outer", "secrets", {}, [{"part": "outer"}])
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "aggregate"}
    role_ref = {"kind": "ClusterRole", "name": "outer"}
    binding = {"metadata": {"name": "outer"}, "roleRef": role_ref, "subjects": [subject]}
    api("POST", f"{RBAC}/clusterrolebindings", binding, want=201)

    allowed = {}
    for resource in ("pods", "nodes", "secrets"):
        spec = {"user": "aggregate", "resourceAttributes": {"verb": "get", "resource": resource}}
        status = api("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec}, want=201)["status"]
        allowed[resource] = status["allowed"]
    assert allowed == {"pods": True, "nodes": False, "secrets": False}
