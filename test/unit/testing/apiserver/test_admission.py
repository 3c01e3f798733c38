"""The admission plugins: what each adds or refuses, and the switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment, Server

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
NAMESPACE = "/api/v1/namespaces/default"
ALL = ("ServiceAccount", "TaintNodesByCondition", "StorageObjectInUseProtection")


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment(enable_admission_plugins=ALL) as env:
        client = Api(env)
        yield client
        client.close()


def pod(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def test_a_pod_gets_the_default_account_and_its_token(api: Api) -> None:
    spec = api("POST", f"{NAMESPACE}/pods", pod("plain"), want=201)["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    kinds = [next(iter(source)) for source in volume["projected"]["sources"]]
    assert kinds == ["serviceAccountToken", "configMap", "downwardAPI"]
    path = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert spec["containers"][0]["volumeMounts"] == [{"name": volume["name"], "readOnly": True, "mountPath": path}]


def test_an_account_decides_about_tokens_and_pull_secrets(api: Api) -> None:
    account = {
        "metadata": {"name": "quiet"},
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "s"}],
    }
    api("POST", f"{NAMESPACE}/serviceaccounts", account, want=201)
    spec = api("POST", f"{NAMESPACE}/pods", pod("quiet", serviceAccountName="quiet"), want=201)["spec"]
    assert "volumes" not in spec
    assert spec["imagePullSecrets"] == [{"name": "s"}]
    wants = pod("loud", serviceAccountName="quiet", automountServiceAccountToken=True)
    assert api("POST", f"{NAMESPACE}/pods", wants, want=201)["spec"]["volumes"]


def test_a_missing_account_is_forbidden(api: Api) -> None:
    status = api("POST", f"{NAMESPACE}/pods", pod("lost", serviceAccountName="none"), want=403)
    assert status["message"] == (
        'pods "lost" is forbidden: error looking up service account default/none: serviceaccount "none" not found'
    )


def test_a_priority_is_that_of_the_class(api: Api) -> None:
    body = {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"}
    api("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", body, want=201)
    spec = api("POST", f"{NAMESPACE}/pods", pod("high", priorityClassName="high"), want=201)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")
    assert api("POST", f"{NAMESPACE}/pods", pod("none"), want=201)["spec"]["priority"] == 0
    status = api("POST", f"{NAMESPACE}/pods", pod("x", priorityClassName="nope"), want=403)
    assert status["message"] == 'pods "x" is forbidden: no PriorityClass with name nope was found'
    status = api("POST", f"{NAMESPACE}/pods", pod("x", priority=7), want=403)
    assert "the integer value of priority (7) must not be provided in pod spec" in status["message"]


def test_default_tolerations_stand_beside_given_ones(api: Api) -> None:
    given = [{"key": "a", "operator": "Exists"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    spec = api("POST", f"{NAMESPACE}/pods", pod("tolerant", tolerations=given), want=201)["spec"]
    added = [toleration["key"].rpartition("/")[2] for toleration in spec["tolerations"][2:]]
    assert added == ["not-ready", "unreachable"]
    everything = [{"operator": "Exists"}]
    spec = api("POST", f"{NAMESPACE}/pods", pod("stoic", tolerations=everything), want=201)["spec"]
    assert spec["tolerations"] == everything


def test_claims_are_protected_and_nodes_begin_closed(api: Api) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = api("POST", f"{NAMESPACE}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": claim}, want=201)
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    node = api("POST", "/api/v1/nodes", {"metadata": {"name": "n"}}, want=201)
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def test_plugins_are_switched_by_name() -> None:
    with Environment(disable_admission_plugins=["Priority", "DefaultTolerationSeconds"]) as env:
        client = Api(env)
        spec = client("POST", f"{NAMESPACE}/pods", pod("bare"), want=201)["spec"]
        client.close()
    assert {"priority", "tolerations", "serviceAccountName", "volumes"} & set(spec) == set()
    for switches in (
        {"enable_admission_plugins": ["Nope"]},
        {"enable_admission_plugins": ["Priority"], "disable_admission_plugins": ["Priority"]},
    ):
        with pytest.raises(ValueError, match="admission-plugin"):
            Server(**switches)  # type: ignore[arg-type]
