"""The rest strategies: the fields that the server sets, and the fields that each kind of write may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def workload(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE, **spec}}


def owned(obj: Json, manager: str) -> Json:
    """Return the fields of a manager."""
    return next((one["fieldsV1"] for one in obj["metadata"]["managedFields"] if one["manager"] == manager), {})


def test_only_kinds_with_a_generation_count_it(api: Api) -> None:
    made = api("POST", f"{APPS}/deployments", {**workload("g"), "metadata": {"name": "g", "generation": 7}}, want=201)
    assert made["metadata"]["generation"] == 1
    config = {"metadata": {"name": "g", "generation": 5}}
    assert api("POST", f"{CORE}/configmaps", config, want=201)["metadata"]["generation"] == 5
    config["metadata"]["generation"] = 9
    assert api("PUT", f"{CORE}/configmaps/g", config, want=200)["metadata"]["generation"] == 5
    priority = {"metadata": {"name": "g"}, "value": 5}
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    assert api("POST", path, priority, want=201)["metadata"]["generation"] == 1


def test_a_refused_write_raises_no_generation(api: Api) -> None:
    api("POST", f"{APPS}/deployments", workload("refused"), want=201)
    patch = {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": {}}}}
    status = api("PATCH", f"{APPS}/deployments/refused", patch, media=MERGE, want=422)
    assert status["details"]["causes"][0]["field"] == "spec.strategy.rollingUpdate"
    assert api("GET", f"{APPS}/deployments/refused")["metadata"]["generation"] == 1


def test_some_kinds_are_replaced_only_by_who_knows_their_version(api: Api) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    api("POST", path, {"metadata": {"name": "l"}}, want=201)
    status = api("PUT", f"{path}/l", {"metadata": {"name": "l"}}, want=422)
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in status["message"]


def test_a_job_gets_labels_and_orphans_its_pods_unless_told(api: Api) -> None:
    path = "/apis/batch/v1/namespaces/default/jobs"
    spec = {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
    made = api("POST", path, {"metadata": {"name": "j"}, "spec": spec}, want=201)
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    assert made["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] == made["metadata"]["uid"]
    assert made["spec"]["manualSelector"] is False
    gone = api("DELETE", f"{path}/j", want=200)
    assert (gone["metadata"]["finalizers"], gone["metadata"]["generation"]) == (["orphan"], 2)


def test_a_daemon_set_counts_its_templates_in_an_annotation(api: Api) -> None:
    note = "deprecated.daemonset.template.generation"
    made = api("POST", f"{APPS}/daemonsets", workload("d"), want=201)
    assert made["metadata"]["annotations"][note] == "1"
    patch = {"spec": {"template": {"spec": {"nodeSelector": {"x": "y"}}}}}
    changed = api("PATCH", f"{APPS}/daemonsets/d", patch, media=MERGE, want=200)
    assert changed["metadata"]["annotations"][note] == "2"
    patch = {"spec": {"minReadySeconds": 3}}
    changed = api("PATCH", f"{APPS}/daemonsets/d", patch, media=MERGE, want=200)
    assert (changed["metadata"]["annotations"][note], changed["metadata"]["generation"]) == ("2", 3)


def test_a_service_keeps_what_its_type_needs_and_loses_the_rest(api: Api) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}
    first = api("POST", f"{CORE}/services", body, want=201)["spec"]
    body["spec"]["type"] = "NodePort"
    second = api("PUT", f"{CORE}/services/s", body, want=200)["spec"]
    assert second["clusterIP"] == first["clusterIP"]
    assert second["ports"] == first["ports"]
    assert "allocateLoadBalancerNodePorts" not in second
    third = api("PATCH", f"{CORE}/services/s", {"spec": {"type": "ClusterIP"}}, media=MERGE, want=200)
    assert "nodePort" not in third["spec"]["ports"][0]
    assert "externalTrafficPolicy" not in third["spec"]
    last = {"spec": {"type": "ExternalName", "externalName": "x.example.com"}}
    spec = api("PATCH", f"{CORE}/services/s", last, media=MERGE, want=200)["spec"]
    assert {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & set(spec) == set()


def test_nobody_owns_what_the_server_gave(api: Api) -> None:
    body = {"metadata": {"name": "gave"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
    api("POST", f"{CORE}/services?fieldManager=one", body, want=201)
    again = api("PUT", f"{CORE}/services/gave?fieldManager=one", body, want=200)
    fields = owned(again, "one")["f:spec"]
    assert "f:clusterIP" not in fields
    assert "f:nodePort" not in fields["f:ports"]['k:{"port":80,"protocol":"TCP"}']


def test_limits_are_requests_in_pods_and_not_in_templates(api: Api) -> None:
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}
    pod = {"metadata": {"name": "limited"}, "spec": {"containers": [container]}}
    made = api("POST", f"{CORE}/pods", pod, want=201)
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    template = {**TEMPLATE, "spec": {"containers": [container]}}
    made = api("POST", f"{APPS}/deployments", workload("limited", template=template), want=201)
    assert "requests" not in made["spec"]["template"]["spec"]["containers"][0]["resources"]


def test_an_apply_that_changes_nothing_leaves_the_time_and_the_version(api: Api) -> None:
    path = f"{CORE}/configmaps/applied"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"k": "v"}}
    api("PATCH", f"{path}?fieldManager=one", body, media=APPLY, want=201)
    shared = api("PATCH", f"{path}?fieldManager=two", body, media=APPLY, want=200)
    times = {one["manager"]: "time" in one for one in shared["metadata"]["managedFields"]}
    assert times == {"one": True, "two": False}
    again = api("PATCH", f"{path}?fieldManager=two", body, media=APPLY, want=200)
    assert again == shared


@pytest.mark.parametrize("nothing", [[], [{}]])
def test_an_update_may_clear_who_owns_what_and_then_nobody_is_noted(api: Api, nothing: list[Json]) -> None:
    """Go: TestResetManagedFieldsEmptyList, TestNoTrackManagedFieldsForClientSideApply."""
    path = f"{CORE}/configmaps/cleared-{len(nothing)}"
    body: Json = {"metadata": {"name": path.rpartition("/")[2]}, "data": {"k": "v"}}
    made = api("POST", f"{CORE}/configmaps?fieldManager=one", body, want=201)
    assert owned(made, "one")
    cleared = {**body, "metadata": {**body["metadata"], "managedFields": nothing}}
    assert "managedFields" not in api("PUT", f"{path}?fieldManager=one", cleared, want=200)["metadata"]
    later = api("PUT", f"{path}?fieldManager=two", {**body, "data": {"k": "w"}}, want=200)
    assert "managedFields" not in later["metadata"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"apiVersion": "apps/v1beta1"}, "invalid object type: apps/v1beta1, Kind=ConfigMap"),
        ({"apiVersion": None, "kind": None}, "invalid object type: /, Kind="),
        ({"metadata": {"name": "refused", "managedFields": [{"manager": "m"}]}}, "metadata.managedFields must be nil"),
    ],
)
def test_an_apply_is_of_the_kind_and_says_nothing_about_owners(api: Api, wrong: Json, message: str) -> None:
    """Go: TestVersionCheck, TestVersionCheckDoesNotPanic, TestApplyFailsWithManagedFields."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "refused"}, **wrong}
    status = api("PATCH", f"{CORE}/configmaps/refused?fieldManager=one", body, media=APPLY, want=400)
    assert (status["reason"], status["message"]) == ("BadRequest", message)
