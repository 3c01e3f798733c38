"""A definition in a group that Kubernetes has itself: its objects are stored apart from those of the built-in kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api, eventually

from clientgo.testing.apiserver import Environment

Json = dict[str, Any]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APPROVED = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def definition(plural: str, kind: str, group: str, version: str) -> Json:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": APPROVED},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


# Kinds with rules of their own: validation, defaults, controllers.
KINDS = [
    ("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", {"podSelector": {}}),
    ("coordination.k8s.io", "v1", "leases", "Lease", {"holderIdentity": "me"}),
]


@pytest.mark.parametrize(("group", "version", "plural", "kind", "spec"), KINDS)
def test_a_definition_neither_sees_nor_deletes_the_built_in_objects(
    api: Api, group: str, version: str, plural: str, kind: str, spec: Json
) -> None:
    own = f"/apis/{group}/{version}/namespaces/default/{plural}"
    custom = f"/apis/{group}/v9/namespaces/default/{plural}"
    mine = api("POST", own, {"metadata": {"name": "mine"}, "spec": spec}, want=201)
    api("POST", CRDS, definition(plural, kind, group, "v9"), want=201)
    eventually(lambda: api.request("GET", custom, None, "application/json").status_code == 200)

    assert api("GET", custom, want=200)["items"] == []
    # Without any of the built-in kind's rules.
    made = {"apiVersion": f"{group}/v9", "kind": kind, "metadata": {"name": "other"}, "spec": {"anything": 1}}
    assert api("POST", custom, made, want=201)["spec"] == {"anything": 1}
    assert [each["metadata"]["name"] for each in api("GET", own, want=200)["items"]] == ["mine"]

    api("DELETE", f"{CRDS}/{plural}.{group}", want=200)
    eventually(lambda: api.request("GET", f"{CRDS}/{plural}.{group}", None, "application/json").status_code == 404)
    assert api("GET", f"{own}/mine", want=200) == mine


def test_a_built_in_version_is_served_by_its_own_kinds_alone(api: Api) -> None:
    api("POST", CRDS, definition("gadgets", "Gadget", "networking.k8s.io", "v1"), want=201)
    eventually(lambda: "Established" in str(api("GET", f"{CRDS}/gadgets.networking.k8s.io", want=200)))
    api("GET", "/apis/networking.k8s.io/v1/namespaces/default/gadgets", want=404)
    api("GET", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", want=200)


APPROVALS = [
    ("https://example.org", ("True", "ApprovedAnnotation", "approved in https://example.org")),
    ("ftp://example.org/a?b", ("True", "ApprovedAnnotation", "approved in ftp://example.org/a?b")),
    ("unapproved, a test", ("False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"')),
]


@pytest.mark.parametrize(("annotation", "wanted"), APPROVALS)
def test_a_condition_says_whether_a_protected_group_is_approved(
    api: Api, annotation: str, wanted: tuple[str, str, str]
) -> None:
    made = definition("gadgets", "Gadget", "sub.x-k8s.io", "v1")
    unprotected = api("POST", CRDS, made, want=201)["metadata"]["name"]
    assert approval(api, unprotected) is None
    made = definition("gadgets", "Gadget", "sub.kubernetes.io", "v1")
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    api("POST", CRDS, made, want=201)
    assert approval(api, "gadgets.sub.kubernetes.io") == wanted


@pytest.mark.parametrize("annotation", ["example.org", "/pull/1", "https:///pull/1", "https://[bad/", "approved"])
def test_an_approval_is_a_url_with_a_host(api: Api, annotation: str) -> None:
    made = definition("gadgets", "Gadget", "sub.k8s.io", "v1")
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    assert "with either a URL or a reason starting with" in api("POST", CRDS, made, want=422)["message"]


def approval(api: Api, name: str) -> tuple[str, str, str] | None:
    """Return status, reason and message of the condition about a definition's approval."""
    for one in api("GET", f"{CRDS}/{name}", want=200)["status"]["conditions"]:
        if one["type"] == "KubernetesAPIApprovalPolicyConformant":
            return one["status"], one["reason"], one["message"]
    return None
