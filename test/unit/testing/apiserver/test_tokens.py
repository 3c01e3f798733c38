"""Tokens of service accounts, requested and used over HTTP."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from apiclient import Api
from patience import PATIENCE

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
API = "https://kubernetes.default.svc"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def code_for(api: Api, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    with requests.post(f"{api.env.url}{path}", json={}, headers=headers, timeout=PATIENCE) as answer:
        return answer.status_code


def requested(api: Api, **spec: Any) -> str:
    return str(api("POST", TOKEN, {"spec": spec}, want=201)["status"]["token"])


def review(api: Api, token: str, *audiences: str) -> Json:
    status: Json = api("POST", REVIEWS, {"spec": {"token": token, "audiences": [*audiences]}}, want=201)["status"]
    return status


def pod(api: Api, name: str, **resources: Json) -> Json:
    container = {"name": "a", "image": "nginx", "resources": resources}
    spec = {"serviceAccountName": "default", "containers": [container]}
    made: Json = api("POST", PODS, {"metadata": {"name": name}, "spec": spec}, want=201)
    return made


def test_a_token_for_another_audience_is_refused(api: Api) -> None:
    vault = requested(api, audiences=["vault"])
    assert code_for(api, vault) == 401
    assert code_for(api, requested(api)) == 201
    assert code_for(api, requested(api, audiences=["vault", API])) == 201


def test_a_review_names_the_audiences_that_the_token_is_for(api: Api) -> None:
    token = requested(api, audiences=["vault", API])
    assert review(api, token)["audiences"] == [API]
    found = review(api, token, "s3", "vault")
    assert (found["authenticated"], found["audiences"]) == (True, ["vault"])
    assert found["user"]["username"] == "system:serviceaccount:default:default"
    refused = review(api, token, "s3")
    assert refused["user"] == {} and "authenticated" not in refused
    assert refused["error"] == (
        f'[invalid bearer token, token audiences ["vault" "{API}"] is invalid for the target audiences ["s3"]]'
    )


def test_audiences_are_compared_in_linear_time(api: Api) -> None:
    token = requested(api, audiences=[f"a{i}" for i in range(50_000)])
    started = time.process_time()
    found = review(api, token, *(f"b{i}" for i in range(50_000)), "a7")
    assert time.process_time() - started < 5
    assert found["audiences"] == ["a7"]


def test_a_token_that_is_bound_to_a_pod_ends_with_it(api: Api) -> None:
    pod(api, "bound")
    token = requested(api, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "bound"})
    assert code_for(api, token) == 201
    assert review(api, token)["user"]["extra"]["authentication.kubernetes.io/pod-name"] == ["bound"]
    api("DELETE", f"{PODS}/bound?gracePeriodSeconds=0", want=200)
    assert code_for(api, token) == 401
    pod(api, "bound")
    assert code_for(api, token) == 401, "another pod of the same name"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Name parameter required."),
        ("../kube-system/web", "Name parameter invalid: \"../kube-system/web\": may not contain '/'"),
        ("..", "Name parameter invalid: \"..\": may not be '..'"),
        ("a%2Fb", "Name parameter invalid: \"a%2Fb\": may not contain '%'"),
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "Secret", "Node"])
def test_a_token_is_bound_to_a_name(api: Api, kind: str, name: str, why: str) -> None:
    spec = {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}}
    assert api("POST", TOKEN, {"spec": spec}, want=400)["message"] == why


def test_a_token_of_no_seconds_is_refused(api: Api) -> None:
    refused = api("POST", TOKEN, {"spec": {"expirationSeconds": 0}}, want=422)
    assert "spec.expirationSeconds: Invalid value: 0: may not specify a duration less than 10 minutes" in str(refused)


def test_a_token_request_may_name_the_uid_of_its_account(api: Api) -> None:
    account = api("GET", TOKEN.removesuffix("/token"), want=200)["metadata"]["uid"]
    made = api("POST", TOKEN, {"metadata": {"uid": account}}, want=201)
    assert made["metadata"]["uid"] == account
    refused = api("POST", TOKEN, {"metadata": {"uid": "of-the-account-before"}}, want=409)
    assert refused["message"].endswith(
        "the UID in the token request (of-the-account-before) does not match the UID of the service account "
        f"({account})"
    )


@pytest.mark.parametrize("version", [{}, {"apiVersion": "v2"}])
def test_a_token_is_bound_to_a_pod_of_any_version(api: Api, version: Json) -> None:
    name = f"unversioned-{len(version)}"
    pod(api, name)
    assert requested(api, boundObjectRef={"kind": "Pod", "name": name, **version})


POLICIES = "/apis/admissionregistration.k8s.io/v1"


@contextlib.contextmanager
def policy(api: Api, kind: str, spec: Json) -> Iterator[None]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["serviceaccounts/token"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, **spec}
    bound: Json = {"policyName": "tokens"}
    if kind == "validating":
        bound["validationActions"] = ["Deny"]
    paths = [f"{POLICIES}/{kind}admissionpolicies", f"{POLICIES}/{kind}admissionpolicybindings"]
    for path, each in zip(paths, (spec, bound), strict=True):
        api("POST", path, {"metadata": {"name": "tokens"}, "spec": each}, want=201)
    yield
    for path in paths:
        api("DELETE", f"{path}/tokens", want=200)


def test_a_validating_policy_sees_token_requests(api: Api) -> None:
    seen = (
        "object.metadata.name == 'default' && object.spec.audiences == ['vault'] && "
        "object.spec.expirationSeconds == 3600 && request.name == 'default'"
    )
    validations = [{"expression": f"!({seen})", "message": "no tokens for the vault"}]
    with policy(api, "validating", {"validations": validations}):
        refused = api("POST", TOKEN, {"spec": {"audiences": ["vault"]}}, want=422)
        assert "no tokens for the vault" in refused["message"]
        requested(api)


def mutating(operation: str) -> Json:
    patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": f"[JSONPatch{{{operation}}}]"}}
    return {"mutations": [patch], "reinvocationPolicy": "Never"}


def test_a_mutating_policy_changes_a_token_request(api: Api) -> None:
    with policy(api, "mutating", mutating('op: "add", path: "/spec/audiences", value: ["vault"]')):
        token = requested(api)
    assert code_for(api, token) == 401
    assert review(api, token, "vault")["authenticated"]


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ('op: "remove", path: "/spec"', ""),
        ('op: "add", path: "/metadata/namespace", value: "other"',
         "metadata.namespace: Invalid value: \"other\": must match the service account namespace if specified"),
        ('op: "add", path: "/spec/expirationSeconds", value: 1', "may not specify a duration less than 10 minutes"),
    ],
)  # fmt: skip
def test_what_a_policy_writes_is_checked(api: Api, operation: str, why: str) -> None:
    with policy(api, "mutating", mutating(operation)):
        answer = api("POST", TOKEN, {"spec": {}}, want=422 if why else 201)
    assert why in answer["message"] if why else answer["spec"]["expirationSeconds"] == 3600
