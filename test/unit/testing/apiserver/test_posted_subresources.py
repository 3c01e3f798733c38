"""Documents that are posted to a subresource: they may not name another namespace or object than the request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
CORE = "/api/v1/namespaces/default"
REVIEWS = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
TARGET = {"target": {"name": "node"}}
REVIEW = {"spec": {"user": "u", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        spec = {"containers": [{"name": "c", "image": "i"}]}
        client("POST", f"{CORE}/pods", {"metadata": {"name": "one"}, "spec": spec}, want=201)
        client("POST", f"{CORE}/serviceaccounts", {"metadata": {"name": "one"}}, want=201)
        yield client
        client.close()


POSTS = [
    (f"{CORE}/pods/one/eviction?dryRun=All", "one", {}),
    (f"{CORE}/pods/one/binding?dryRun=All", "one", TARGET),
    (f"{CORE}/bindings?dryRun=All", "one", TARGET),
    (f"{CORE}/serviceaccounts/one/token", "one", {"spec": {}}),
    (REVIEWS, "", REVIEW),
]


@pytest.mark.parametrize(("path", "name", "body"), POSTS)
def test_another_namespace_is_refused(api: Api, path: str, name: str, body: Json) -> None:
    for namespace, want in (("", 201), ("default", 201), ("kube-system", 400)):
        answer = api("POST", path, {"metadata": {"name": name, "namespace": namespace}, **body}, want=want)
    assert answer["message"] == "the namespace of the provided object does not match the namespace sent on the request"


def test_a_token_request_for_another_account_is_refused(api: Api) -> None:
    answer = api("POST", f"{CORE}/serviceaccounts/one/token", {"metadata": {"name": "two"}, "spec": {}}, want=422)
    why = 'metadata.name: Invalid value: "two": must match the service account name if specified'
    assert answer["message"] == f'TokenRequest.authentication.k8s.io "one" is invalid: {why}'


def test_a_dry_run_of_a_binding_needs_the_pod(api: Api) -> None:
    body = {"metadata": {"name": "missing"}, **TARGET}
    answer = api("POST", f"{CORE}/bindings?dryRun=All", body, want=404)
    assert answer["message"] == 'pods "missing" not found'
    assert "nodeName" not in api("GET", f"{CORE}/pods/one", want=200)["spec"]


@pytest.mark.parametrize(
    ("metadata", "code", "why"),
    [
        ({"namespace": "kube-system"}, 400, "the namespace of the provided object does not match the namespace sent"),
        ({"uid": "of-another"}, 409, "Precondition failed: UID in precondition: of-another, UID in object meta: "),
        ({"namespace": "default"}, 200, ""),
    ],
)
def test_a_scale_names_its_own_object(api: Api, metadata: Json, code: int, why: str) -> None:
    path = f"{CORE}/replicationcontrollers"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    name = f"of-{'-'.join(metadata.values())}"
    spec = {"replicas": 0, "selector": {"a": "b"}, "template": template}
    api("POST", path, {"metadata": {"name": name}, "spec": spec}, want=201)
    body = {"metadata": {"name": name, **metadata}, "spec": {"replicas": 3}}
    answer = api("PUT", f"{path}/{name}/scale", body, want=code)
    assert why in answer.get("message", "")
    assert api("GET", f"{path}/{name}", want=200)["spec"]["replicas"] == (3 if code == 200 else 0)
