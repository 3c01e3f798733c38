"""Small requests that ask for large objects: each way to grow has a bound, and the server lives on."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api
from webhookserver import Webhooks, hook

from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import ResponseWriter
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.verbs.sizes import MAX_REQUEST_BYTES

Json = dict[str, Any]
MAPS = "/api/v1/namespaces/default/configmaps"
JSON_PATCH, MERGE_PATCH = "application/json-patch+json", "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


def doubling(times: int, path: str = "/metadata/annotations") -> list[Json]:
    """A JSON patch whose `copy` operations double a text's list, as the issue's attack does."""
    steps: list[Json] = [{"op": "add", "path": "/x", "value": ["0123456789"]}]
    for _ in range(times):
        steps += [{"op": "copy", "from": "/x", "path": "/y"}, {"op": "move", "from": "/y", "path": "/x/-"}]
    return [*steps, {"op": "remove", "path": "/x"}, {"op": "add", "path": path, "value": {"patched": "yes"}}]


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        client("GET", "/version", want=200)
        yield client
        client.close()


@pytest.fixture
def hooks() -> Iterator[Webhooks]:
    made = Webhooks()
    yield made
    made.close()


@pytest.fixture
def api(server: Api) -> Iterator[Api]:
    yield server
    server("DELETE", MAPS, want=200)


def test_copies_of_a_json_patch_stay_below_three_mebibytes(api: Api) -> None:
    api("POST", MAPS, {"metadata": {"name": "grows"}}, want=201)
    patched = api("PATCH", f"{MAPS}/grows", doubling(10), want=200, media=JSON_PATCH)
    assert patched["metadata"]["annotations"] == {"patched": "yes"}
    status = api("PATCH", f"{MAPS}/grows", doubling(20), want=422, media=JSON_PATCH)
    assert (status["reason"], status["details"]) == ("Invalid", {})
    assert status["message"] == "the server rejected our request due to an error in our request"


def test_copies_of_a_webhooks_patch_stay_below_three_mebibytes(hooks: Webhooks) -> None:
    def grow(resp: ResponseWriter, req: HTTPRequest) -> None:
        uid = json.loads(req.read_body(1 << 20))["request"]["uid"]
        patch = base64.b64encode(json.dumps(doubling(20)).encode()).decode()
        response = {"uid": uid, "allowed": True, "patchType": "JSONPatch", "patch": patch}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        resp.write(json.dumps(review))

    hooks.configure("Mutating", "grow", hook("g.example.com", hooks.serve_raw(grow)))
    status = hooks.api("POST", MAPS, {"metadata": {"name": "grows"}}, want=500)
    text = "Unable to complete the copy, the accumulated size increase of copy is "
    assert text in status["message"] and status["message"].endswith("exceeding the limit 3145728")


def test_copies_of_a_mutating_policy_stay_below_three_mebibytes(api: Api) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    steps = ["JSONPatch{op: 'add', path: '/x', value: ['0123456789']}"]
    steps += [
        "JSONPatch{op: 'copy', from: '/x', path: '/y'}",
        "JSONPatch{op: 'move', from: '/y', path: '/x/-'}",
    ] * 20
    spec = {
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
            ]
        },
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{', '.join(steps)}]"}}],
    }
    api("POST", f"{group}/mutatingadmissionpolicies", {"metadata": {"name": "grow"}, "spec": spec}, want=201)
    bound = {"metadata": {"name": "grow"}, "spec": {"policyName": "grow"}}
    api("POST", f"{group}/mutatingadmissionpolicybindings", bound, want=201)
    try:
        status = api("POST", MAPS, {"metadata": {"name": "grows"}})
        assert "JSON Patch: Unable to complete the copy" in status["message"]
    finally:
        api("DELETE", f"{group}/mutatingadmissionpolicybindings/grow", want=200)
        api("DELETE", f"{group}/mutatingadmissionpolicies/grow", want=200)


def crd(plural: str, schema: Json) -> Json:
    kind = plural.capitalize()[:-1]
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "metadata": {"name": f"{plural}.grow.example.com"},
        "spec": {
            "group": "grow.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = "/apis/grow.example.com/v1/namespaces/default"
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture
def heaps(api: Api) -> Iterator[Api]:
    api("POST", CRDS, crd("heaps", FREE), want=201)
    yield api
    api("DELETE", f"{CRDS}/heaps.grow.example.com", want=200)


def heap(**fields: Any) -> Json:
    return {"apiVersion": "grow.example.com/v1", "kind": "Heap", "metadata": {"name": "h"}, **fields}


def test_an_object_above_etcds_limit_is_not_stored(heaps: Api) -> None:
    path = f"{OBJECTS}/heaps"
    status = heaps("POST", path, heap(a="x" * MAX_REQUEST_BYTES), want=500)
    assert status["message"] == "etcdserver: request is too large"
    assert "reason" not in status
    status = heaps("POST", path, heap(a="x" * (2 << 20)), want=500)
    assert status["message"].startswith(
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("
    )
    assert status["message"].endswith(" vs. 2097152)")
    assert heaps("GET", f"{path}/h")["code"] == 404


def test_patches_cannot_grow_an_object_step_by_step(heaps: Api) -> None:
    path = f"{OBJECTS}/heaps/h"
    heaps("POST", f"{OBJECTS}/heaps", heap(a="x" * (1 << 20)), want=201)
    patch = {"b": "x" * (1 << 19)}
    assert heaps("PATCH", path, patch, want=500, media=MERGE_PATCH)["message"] == "etcdserver: request is too large"
    config = heap(c="x" * (1 << 19))
    where = f"{path}?fieldManager=me"
    assert heaps("PATCH", where, config, want=500, media=APPLY)["message"] == "etcdserver: request is too large"
    assert set(heaps("GET", path, want=200)) == {"a", "apiVersion", "kind", "metadata"}


def test_managed_fields_give_way_before_an_object_is_too_large(heaps: Api) -> None:
    fields = {f"f{i}": 1 for i in range(70_000)}
    made = heaps("POST", f"{OBJECTS}/heaps", heap(**fields), want=201)
    assert "managedFields" not in made["metadata"]
    assert made["f69999"] == 1


def test_a_built_in_kind_is_measured_as_protobuf(api: Api) -> None:
    # A million line breaks are two million bytes of JSON.
    made = api("POST", MAPS, {"metadata": {"name": "lines"}, "data": {"a": "\n" * 1_000_000}}, want=201)
    assert len(made["data"]["a"]) == 1_000_000
