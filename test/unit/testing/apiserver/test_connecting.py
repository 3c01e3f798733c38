"""Logs, streams and proxies as far as a server without kubelets answers; and other answers of a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
NAMESPACE = "/api/v1/namespaces/default"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "foos", "kind": "Foo"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["a"],
                                "properties": {"a": {"type": "string"}},
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment(crds=[CRD]) as env:
        client = Api(env)
        one, two = {"name": "c", "image": "i"}, {"name": "d", "image": "i"}
        for name, containers, node in (("p", [one], None), ("two", [one, two], None), ("lost", [one], "gone")):
            spec = {"containers": containers, **({"nodeName": node} if node else {})}
            client("POST", f"{NAMESPACE}/pods", {"metadata": {"name": name}, "spec": spec}, want=201)
        yield client
        client.close()


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("pods/none/log", 404, 'pods "none" not found'),
        ("pods/p/log?tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "pods/p/log?tailLines=-1",
            422,
            'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
        ),
        ("pods/p/log?container=nope", 400, "container nope is not valid for pod p"),
        ("pods/two/log", 400, "a container name must be specified for pod two, choose one of: [c d]"),
        ("pods/lost/log", 404, 'nodes "gone" not found'),
        ("pods/p/exec?command=ls", 400, "pod p does not have a host assigned"),
        ("pods/lost/exec?command=ls", 404, 'nodes "gone" not found'),
        ("services/none/proxy", 404, 'services "none" not found'),
        ("services/none:80/proxy/path", 404, 'services "none" not found'),
        ("services/a:b:c/proxy", 400, 'invalid service request "a:b:c"'),
    ],
)
def test_what_leads_nowhere_is_named(api: Api, path: str, code: int, message: str) -> None:
    assert api("GET", f"{NAMESPACE}/{path}", want=code)["message"] == message


def test_a_pod_on_no_node_has_logged_nothing(api: Api) -> None:
    answer = api.request("GET", f"{NAMESPACE}/pods/p/log")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "Content-Length" not in answer.headers
    assert api.request("DELETE", f"{NAMESPACE}/pods/p/log").status_code == 405
    assert api("GET", f"{NAMESPACE}/pods/p", want=200)["kind"] == "Pod"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("web", 'no endpoints available for service "web"'),
        ("https:web:80", 'no endpoints available for service "web"'),
        ("web:http", 'no endpoints available for service "web"'),
        ("web:81", 'no service port "81" found for service "web"'),
    ],
)
def test_a_service_without_endpoints_is_unavailable(api: Api, name: str, message: str) -> None:
    service = {"metadata": {"name": "web"}, "spec": {"ports": [{"name": "http", "port": 80}]}}
    api("POST", f"{NAMESPACE}/services", service)
    status = api("GET", f"{NAMESPACE}/services/{name}/proxy", want=503)
    assert (status["reason"], status["message"]) == ("ServiceUnavailable", message)


def test_services_are_named_by_rfc_1123_labels(api: Api) -> None:
    spec = {"ports": [{"port": 80}]}
    api("POST", f"{NAMESPACE}/services", {"metadata": {"name": "1a"}, "spec": spec}, want=201)
    status = api("POST", f"{NAMESPACE}/services", {"metadata": {"name": "a.b"}, "spec": spec}, want=422)
    assert status["message"] == ('Service "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots')


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_a_namespaced_custom_resource_is_not_served_outside_of_namespaces(api: Api, method: str) -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": {"a": "b"}}
    for path in ("/apis/example.com/v1/foos", "/apis/example.com/v1/foos/x"):
        answer = api.request(method, path, body)
        assert (answer.status_code, answer.text) == (404, "404 page not found\n")
    assert api("GET", "/apis/example.com/v1/foos", want=200)["items"] == []


def test_a_missing_field_of_the_root_keeps_rules_from_being_checked(api: Api) -> None:
    path = "/apis/example.com/v1/namespaces/default/foos"
    body = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}
    rules = (
        "some validation rules were not checked because the object was invalid; correct the existing errors to "
        "complete validation"
    )
    assert api("POST", path, body, want=422)["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec"},
        {"reason": "FieldValueInvalid", "message": f"Invalid value: null: {rules}", "field": "<nil>"},
    ]
    inner = api("POST", path, {**body, "spec": {}}, want=422)["details"]["causes"]
    assert [cause["field"] for cause in inner] == ["spec.a"]


def test_a_terminating_namespace_names_what_it_refuses(api: Api) -> None:
    held = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    api("POST", "/api/v1/namespaces", {"metadata": {"name": "ending"}}, want=201)
    api("POST", "/api/v1/namespaces/ending/configmaps", held, want=201)
    api("DELETE", "/api/v1/namespaces/ending", want=200)
    for name in ({"name": "late"}, {"generateName": "late-"}):
        status = api("POST", "/api/v1/namespaces/ending/configmaps", {"metadata": name}, want=403)
        shown = name.get("name", "")
        head = f'configmaps "{shown}"' if shown else "configmaps"
        why = "unable to create new content in namespace ending because it is being terminated"
        assert status["message"] == f"{head} is forbidden: {why}"
        assert status["details"].get("name", "") == shown
