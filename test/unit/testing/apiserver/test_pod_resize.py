"""pods/resize: only cpu and memory of containers and of the pod change, over every kind of write."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
ORDER = "containers may not be renamed or reordered on resize"
COUNT = "containers may not be added or removed on resize"
ONLY = "only cpu and memory resources are mutable"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


@pytest.fixture
def pod(api: Api) -> Iterator[Json]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}
    spec = {
        "initContainers": [{"name": "side", "image": "i", "restartPolicy": "Always"}, {"name": "once", "image": "i"}],
        "containers": [{"name": "a", "image": "i", "resources": resources}, {"name": "b", "image": "i"}],
    }
    yield api("POST", PODS, {"metadata": {"name": "small"}, "spec": spec}, want=201)
    api("DELETE", f"{PODS}/small?gracePeriodSeconds=0", want=200)


def put(api: Api, pod: Json) -> Json:
    answer: Json = api("PUT", f"{PODS}/small/resize", pod)
    return answer


def merge(api: Api, pod: Json) -> Json:
    body = {"metadata": {"labels": pod["metadata"].get("labels")}, "spec": pod["spec"]}
    answer: Json = api("PATCH", f"{PODS}/small/resize", body, media=MERGE)
    return answer


def steps(api: Api, pod: Json) -> Json:
    body = [{"op": "replace", "path": f"/{name}", "value": pod[name]} for name in ("metadata", "spec", "status")]
    answer: Json = api("PATCH", f"{PODS}/small/resize", body, media=JSON_PATCH)
    return answer


def strategic(api: Api, pod: Json) -> Json:
    spec = {"$patch": "replace", **pod["spec"]}
    answer: Json = api("PATCH", f"{PODS}/small/resize", {"spec": spec}, media=STRATEGIC)
    return answer


def apply(api: Api, pod: Json) -> Json:
    metadata = {"name": "small", "labels": pod["metadata"].get("labels") or {}}
    body = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]})
    answer: Json = api("PATCH", f"{PODS}/small/resize?fieldManager=m&force=true", body, media=APPLY)
    return answer


Write = Callable[[Api, Json], Json]
WRITES = [put, merge, steps, strategic, apply]


def message(answer: Json) -> str:
    assert answer.get("code") == 422, answer
    text: str = answer["message"]
    return text


@pytest.mark.parametrize("write", WRITES)
def test_a_resize_changes_cpu_and_memory_only(api: Api, pod: Json, write: Write) -> None:
    changed = copy.deepcopy(pod)
    changed["metadata"]["labels"] = {"a": "b"}
    changed["spec"] |= {"hostNetwork": True, "activeDeadlineSeconds": 5, "nodeName": "n"}
    changed["spec"]["containers"][0] |= {"image": "evil", "command": ["x"], "env": [{"name": "A", "value": "b"}]}
    expected = copy.deepcopy(pod["spec"])
    for spec in (changed["spec"], expected):
        spec["containers"][0]["resources"]["requests"] |= {"cpu": "1500m", "memory": "2Gi"}
        spec["containers"][1]["resources"] = {"requests": {"cpu": "1"}}
        spec["initContainers"][0]["resources"] = {"requests": {"cpu": "1"}}
    write(api, changed)
    stored = api("GET", f"{PODS}/small", want=200)
    assert stored["spec"] == expected
    assert stored["status"] == pod["status"]
    assert "labels" not in stored["metadata"]
    assert stored["metadata"]["generation"] == pod["metadata"]["generation"] + 1


def rename(spec: Json) -> None:
    spec["containers"][0]["name"] = "z"


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (lambda spec: spec["containers"].append({"name": "c", "image": "i"}), [f"spec.containers: Forbidden: {COUNT}"]),
        (lambda spec: spec["containers"].pop(), [f"spec.containers: Forbidden: {COUNT}"]),
        (lambda spec: spec["initContainers"].pop(), ["initContainers may not be added or removed on resize"]),
        (rename, [f"spec.containers[0].name: Forbidden: {ORDER}"]),
        (lambda spec: spec["containers"].reverse(), [f"[0].name: Forbidden: {ORDER}", f"[1].name: Forbidden: {ORDER}"]),
        (lambda spec: spec["initContainers"].reverse(), ["spec.initContainers[0].name: Forbidden: initContainers may"]),
    ],
)
@pytest.mark.parametrize("write", [put, merge, steps])
def test_containers_keep_their_number_names_and_order(
    api: Api, pod: Json, write: Write, change: Callable[[Json], None], texts: list[str]
) -> None:
    changed = copy.deepcopy(pod)
    change(changed["spec"])
    found = message(write(api, changed))
    for text in texts:
        assert text in found
    assert api("GET", f"{PODS}/small", want=200)["spec"] == pod["spec"]


def resources(spec: Json) -> Json:
    found: Json = spec["containers"][0]["resources"]
    return found


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda spec: resources(spec)["requests"].update({"ephemeral-storage": "1Gi"}), f"spec: Forbidden: {ONLY}"),
        (lambda spec: resources(spec).update(claims=[{"name": "gpu"}]), f"spec: Forbidden: {ONLY}"),
        (lambda spec: resources(spec).pop("limits"), "resources.limits: Forbidden: resource limits cannot be removed"),
        (
            lambda spec: resources(spec)["requests"].pop("memory"),
            "[0].resources.requests: Forbidden: resource requests cannot be removed",
        ),
        (lambda spec: spec["containers"][0].pop("resources"), "Pod QOS Class may not change as a result of resizing"),
        (
            lambda spec: spec["initContainers"][0].update(resources={"requests": {"ephemeral-storage": "1Gi"}}),
            "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are",
        ),
        (lambda spec: spec.update(resources={"requests": {"hugepages-2Mi": "2Mi"}}), f"{ONLY} at pod-level"),
    ],
)
def test_other_resources_are_kept(api: Api, pod: Json, change: Callable[[Json], Any], text: str) -> None:
    changed = copy.deepcopy(pod)
    change(changed["spec"])
    assert text in message(put(api, changed))
    assert api("GET", f"{PODS}/small", want=200)["spec"] == pod["spec"]


def test_resources_of_the_pod_can_change_and_stay(api: Api, pod: Json) -> None:
    grown = copy.deepcopy(pod)
    grown["spec"]["resources"] = {"requests": {"cpu": "9"}}
    grown = put(api, grown)
    assert grown["spec"] == {**pod["spec"], "resources": {"requests": {"cpu": "9"}}}
    assert "pod-level resources cannot be removed" in message(put(api, {**grown, "spec": pod["spec"]}))
    lacking = {**grown, "spec": {**grown["spec"], "resources": {"requests": {"memory": "9Gi"}}}}
    assert "pod-level resource requests cannot be removed" in message(put(api, lacking))


def test_static_and_windows_pods_and_old_nodes_are_not_resized(api: Api, pod: Json) -> None:
    windows = {**pod["spec"], "os": {"name": "windows"}}
    for name, metadata, spec, text in (
        ("static", {"annotations": {"kubernetes.io/config.mirror": "x"}}, {"nodeName": "n"}, "static pods cannot be"),
        ("windows", {}, windows, "windows pods cannot be resized"),
    ):
        plain = {"containers": [{"name": "a", "image": "i"}]}
        made = api("POST", PODS, {"metadata": {"name": name, **metadata}, "spec": {**plain, **spec}}, want=201)
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "9"}}
        answer = api("PUT", f"{PODS}/{name}/resize", made, want=422)
        assert text in answer["message"]
    running = {"name": "a", "image": "i", "imageID": "i", "ready": True, "restartCount": 0, "state": {"running": {}}}
    status = {"status": {"containerStatuses": [running]}}
    old = api("PATCH", f"{PODS}/small/status", status, media=MERGE, want=200)
    old["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    assert "Pod running on node without support for resize" in message(put(api, old))


@pytest.mark.parametrize("subresource", ["", "/status", "/resize", "/ephemeralcontainers"])
def test_no_patch_changes_the_uid(api: Api, pod: Json, subresource: str) -> None:
    answer = api("PATCH", f"{PODS}/small{subresource}", {"metadata": {"uid": "other"}}, media=MERGE, want=422)

    causes = {(each["field"], each["message"]) for each in answer["details"]["causes"]}
    assert causes == {("metadata.uid", 'Invalid value: "other": field is immutable')}
    assert api("GET", f"{PODS}/small")["metadata"]["uid"] == pod["metadata"]["uid"]
