"""pods/binding, with which a scheduler assigns a pod to a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
CONFLICT = 'Operation cannot be fulfilled on pods/binding "{name}": pod {name} '


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def pod(api: Api, name: str, metadata: Json | None = None, **spec: Any) -> Json:
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    made: Json = api("POST", PODS, {"metadata": {"name": name, **(metadata or {})}, "spec": spec}, want=201)
    return made


def bind(api: Api, name: str, want: int, **metadata: Any) -> Json:
    body = {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": "n1"}}
    answer: Json = api("POST", f"{PODS}/{name}/binding", body, want=want)
    return answer


@pytest.mark.parametrize(("field", "label"), [("uid", "UID"), ("resourceVersion", "ResourceVersion")])
def test_a_binding_for_another_pod_of_the_name_is_a_conflict(api: Api, field: str, label: str) -> None:
    name = f"reborn-{field.lower()}"
    made = pod(api, name)
    message = bind(api, name, 409, **{field: "123456"})["message"]
    assert message == (
        f'Operation cannot be fulfilled on pods "{name}": StorageError: invalid object, Code: 4, '
        f"Key: /registry/pods/default/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"{label} in precondition: 123456, {label} in object meta: {made['metadata'][field]}"
    )
    bind(api, name, 201, **{field: made["metadata"][field]})
    assert api("GET", f"{PODS}/{name}", want=200)["spec"]["nodeName"] == "n1"


def test_a_pod_that_cannot_be_bound_is_a_conflict(api: Api) -> None:
    pod(api, "gated", schedulingGates=[{"name": "wait"}])
    assert bind(api, "gated", 409)["message"] == CONFLICT.format(name="gated") + "has non-empty .spec.schedulingGates"
    pod(api, "going", {"finalizers": ["example.com/held"]})
    api("DELETE", f"{PODS}/going?gracePeriodSeconds=0")
    ending = "is being deleted, cannot be assigned to a host"
    assert bind(api, "going", 409)["message"] == CONFLICT.format(name="going") + ending
    pod(api, "taken")
    bind(api, "taken", 201)
    assert bind(api, "taken", 409)["message"] == CONFLICT.format(name="taken") + 'is already assigned to node "n1"'


def test_a_binding_brings_annotations_and_new_labels(api: Api) -> None:
    pod(api, "marked", {"labels": {"zone": "old"}, "annotations": {"by": "old", "kept": "yes"}})
    bind(api, "marked", 201, labels={"zone": "new", "rack": "r1"}, annotations={"by": "scheduler"})
    metadata = api("GET", f"{PODS}/marked", want=200)["metadata"]
    assert metadata["labels"] == {"zone": "old", "rack": "r1"}
    assert metadata["annotations"] == {"by": "scheduler", "kept": "yes"}


POLICIES = "/apis/admissionregistration.k8s.io/v1"


@pytest.mark.parametrize(
    ("subresource", "operation", "code", "why"),
    [
        ("binding", 'op: "remove", path: "/target"', 500, "target.name: Required value"),
        ("binding", 'op: "replace", path: "/metadata/name", value: "q"', 400, "name in URL does not match name"),
        ("eviction", 'op: "replace", path: "/metadata/name", value: "q"', 400, "name in URL does not match name"),
        ("eviction", 'op: "add", path: "/deleteOptions", value: {"preconditions": {"uid": "q"}}', 409,
         "the UID in the precondition (q) does not match"),
    ],
)  # fmt: skip
def test_what_a_policy_writes_into_a_subresource_is_checked(
    api: Api, subresource: str, operation: str, code: int, why: str
) -> None:
    name = f"{subresource}-{len(operation)}"
    pod(api, name)
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [f"pods/{subresource}"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[JSONPatch{{{operation}}}]"}}],
        "reinvocationPolicy": "Never",
    }
    api("POST", f"{POLICIES}/mutatingadmissionpolicies", {"metadata": {"name": name}, "spec": spec}, want=201)
    binding = {"metadata": {"name": name}, "spec": {"policyName": name}}
    api("POST", f"{POLICIES}/mutatingadmissionpolicybindings", binding, want=201)
    body: Json = {"metadata": {"name": name}}
    if subresource == "binding":
        body["target"] = {"name": "n"}
    answer = api("POST", f"{PODS}/{name}/{subresource}", body, want=code)
    assert why in answer["message"]
    assert "nodeName" not in api("GET", f"{PODS}/{name}", want=200)["spec"]
    for plural in ("policies", "policybindings"):
        api("DELETE", f"{POLICIES}/mutatingadmission{plural}/{name}", want=200)
