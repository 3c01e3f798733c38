"""A user cannot grant permissions that they lack, except with `escalate` or `bind`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api, let_bob
from webhookserver import Webhooks, hook

from clientgo.apimachinery.util.jsonpatch import Operation
from clientgo.controller_runtime.webhook import admission
from clientgo.testing.apiserver import Environment

Json = dict[str, Any]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = f"{RBAC}/namespaces/default/roles"
BINDINGS = f"{RBAC}/namespaces/default/rolebindings"
PODS: Json = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
AGGREGATION: Json = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
MANAGE: Json = {
    "apiGroups": ["rbac.authorization.k8s.io"],
    "resources": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
    "verbs": ["create", "update", "patch"],
}


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def role(name: str, *rules: Json) -> Json:
    return {"metadata": {"name": name}, "rules": list(rules)}


def test_a_role_has_at_most_what_its_writer_has(api: Api) -> None:
    let_bob(api, MANAGE, PODS)
    api("POST", ROLES, role("fine", PODS), want=201)
    more = {**PODS, "verbs": ["get", "delete", "watch"]}
    refused = api("POST", ROLES, role("more", more), want=403)
    assert refused["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}'
    )
    api("PUT", f"{ROLES}/fine", role("fine", more), want=403)
    api("PATCH", f"{ROLES}/fine", {"metadata": {"labels": {"a": "b"}}}, media="application/merge-patch+json", want=200)


@pytest.mark.parametrize(
    ("held", "wanted", "code"),
    [
        ({"resources": ["*"]}, {"resources": ["pods/log"]}, 201),
        ({"resources": ["*/log"]}, {"resources": ["pods/log"]}, 201),
        ({"resourceNames": ["a", "b"]}, {"resourceNames": ["a"]}, 201),
        ({"resourceNames": ["a"]}, {}, 403),
        ({"apiGroups": ["apps"]}, {}, 403),
    ],
)
def test_what_covers_what(api: Api, held: Json, wanted: Json, code: int) -> None:
    let_bob(api, MANAGE, {**PODS, **held})
    api("POST", ROLES, role("r", {**PODS, **wanted}), want=code)


def test_who_may_escalate_or_bind_is_not_asked(api: Api) -> None:
    more = {**MANAGE, "verbs": ["create", "escalate", "bind"]}
    let_bob(api, more)
    api("POST", ROLES, role("r", PODS), want=201)
    reference = {"kind": "ClusterRole", "name": "cluster-admin"}
    api("POST", BINDINGS, {"metadata": {"name": "b"}, "roleRef": reference}, want=201)


def test_a_binding_grants_at_most_what_its_writer_has(api: Api) -> None:
    api("POST", ROLES, role("fine", PODS), want=201)
    let_bob(api, MANAGE, PODS)
    fine = {"kind": "Role", "name": "fine"}
    api("POST", BINDINGS, {"metadata": {"name": "fine"}, "roleRef": fine}, want=201)
    refused = api(
        "POST",
        BINDINGS,
        {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}},
        want=403,
    )
    assert '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}' in refused["message"]
    missing = api("POST", BINDINGS, {"metadata": {"name": "c"}, "roleRef": {"kind": "Role", "name": "none"}}, want=404)
    assert missing["message"] == 'roles.rbac.authorization.k8s.io "none" not found'


def test_aggregation_needs_everything(api: Api) -> None:
    let_bob(api, MANAGE, PODS)
    rule = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    body = {"metadata": {"name": "all"}, "aggregationRule": rule, "rules": []}
    refused = api("POST", f"{RBAC}/clusterroles", body, want=403)
    assert "must have cluster-admin privileges to use the aggregationRule" in refused["message"]


@pytest.mark.parametrize("change", [{"labels": {"x": "y"}}, {"annotations": {"x": "y"}}])
def test_a_label_is_no_way_around_the_check(api: Api, change: Json) -> None:
    """A label aggregates the rules of a role into another one, which the writer may have."""
    secrets = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    api("POST", f"{RBAC}/clusterroles", role("strong", secrets), want=201)
    api("POST", f"{RBAC}/clusterroles", role("weak", PODS), want=201)
    api("POST", f"{RBAC}/clusterroles", {**role("sum"), "aggregationRule": AGGREGATION}, want=201)
    strong = {"kind": "ClusterRole", "name": "strong"}
    api("POST", f"{RBAC}/clusterrolebindings", {"metadata": {"name": "strong"}, "roleRef": strong}, want=201)
    let_bob(api, MANAGE, PODS)

    def patch(path: str, metadata: Json, want: int) -> str:
        body, media = {"metadata": metadata}, "application/merge-patch+json"
        return str(api("PATCH", f"{RBAC}/{path}", body, media=media, want=want).get("message", ""))

    patch("clusterroles/weak", change, 200)
    assert "not currently held" in patch("clusterroles/strong", change, 403)
    assert "not currently held" in patch("clusterrolebindings/strong", change, 403)
    assert "must have cluster-admin privileges" in patch("clusterroles/sum", change, 403)
    # The garbage collector changes these.
    for path in ("clusterroles/strong", "clusterrolebindings/strong", "clusterroles/sum"):
        patch(path, {"finalizers": ["a.example.com/b"]}, 200)
        patch(path, {"finalizers": None}, 200)


def test_a_rule_of_aggregation_is_kept_by_those_who_may_set_it(api: Api) -> None:
    body = {**role("sum"), "aggregationRule": AGGREGATION}
    api("POST", f"{RBAC}/clusterroles", body, want=201)
    let_bob(api, MANAGE, PODS)
    refused = api("PUT", f"{RBAC}/clusterroles/sum", role("sum", PODS), want=403)
    assert "must have cluster-admin privileges to use the aggregationRule" in refused["message"]


def test_one_object_may_be_listed_by_name(api: Api) -> None:
    let_bob(
        api, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"], "resourceNames": ["mine"]}
    )
    path = "/api/v1/namespaces/default/configmaps"
    api("GET", f"{path}?fieldSelector=metadata.name%3Dmine", want=200)
    refused = api("GET", f"{path}?fieldSelector=metadata.name%3Dtheirs", want=403)
    assert refused["message"].startswith(
        'configmaps "theirs" is forbidden: User "bob" cannot list resource "configmaps"'
    )
    api("GET", path, want=403)


@pytest.mark.parametrize(
    ("sent", "made", "code"), [(["get", "delete"], ["get"], 200), (["get"], ["get", "delete"], 403)]
)
def test_an_update_is_checked_as_mutating_webhooks_leave_it(sent: list[str], made: list[str], code: int) -> None:
    hooks = Webhooks()
    try:
        hooks.api("POST", ROLES, role("r", {**PODS, "verbs": ["list"]}), want=201)
        change = Operation("replace", "/rules/0/verbs", made)
        config = hooks.serve(lambda ctx, req: admission.patched("", change))
        rule = {"apiGroups": ["rbac.authorization.k8s.io"], "apiVersions": ["v1"], "operations": ["UPDATE"],
                "resources": ["roles"]}  # fmt: skip
        hooks.configure("Mutating", "verbs", hook("v.example.com", config, rules=[rule]))
        let_bob(hooks.api, MANAGE, PODS)

        hooks.api("PUT", f"{ROLES}/r", role("r", {**PODS, "verbs": sent}), want=code)

        del hooks.api.session.headers["Impersonate-User"]
        rules = hooks.api("GET", f"{ROLES}/r", want=200)["rules"]
        assert rules[0]["verbs"] == (made if code == 200 else ["list"])
    finally:
        hooks.close()


REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@pytest.mark.parametrize(("groups", "allowed"), [(None, False), ([], False), (["system:authenticated"], True)])
def test_a_review_of_another_subject_adds_no_group(api: Api, groups: list[str] | None, allowed: bool) -> None:
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}
    reference = {"kind": "ClusterRole", "name": "view"}
    api("POST", f"{RBAC}/clusterroles", role("view", PODS))
    binding = {"metadata": {"name": "all"}, "roleRef": reference, "subjects": [group]}
    api("POST", f"{RBAC}/clusterrolebindings", binding, want=201)
    asked = {"verb": "get", "resource": "pods", "namespace": "default"}
    spec = {"user": "eve", "resourceAttributes": asked, **({"groups": groups} if groups is not None else {})}
    assert api("POST", REVIEWS, {"spec": spec}, want=201)["status"]["allowed"] is allowed
    local = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
    assert api("POST", local, {"spec": spec}, want=201)["status"]["allowed"] is allowed


@pytest.mark.parametrize(
    ("held", "granted", "code"),
    [
        ("/healthz", "/healthz", 201),
        ("/healthz", "/metrics", 403),
        ("/health*", "/healthz", 201),
        ("/api/*", "/metrics", 403),
        ("*", "/metrics", 201),
    ],
)
def test_a_url_is_granted_by_a_user_whose_rule_covers_it(api: Api, held: str, granted: str, code: int) -> None:
    """Go: TestCovers, with nonResourceURLs"""
    let_bob(api, MANAGE, {"nonResourceURLs": [held], "verbs": ["get"]})
    api("POST", f"{RBAC}/clusterroles", role("urls", {"nonResourceURLs": [granted], "verbs": ["get"]}), want=code)
