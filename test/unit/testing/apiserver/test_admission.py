"""The admission plugins: what each adds or refuses, and the switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment, Server
from clientgo.testing.apiserver.admission import limit_ranger, pod_standards

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


def test_a_cluster_has_the_two_priority_classes_of_the_system(api: Api) -> None:
    items = api("GET", "/apis/scheduling.k8s.io/v1/priorityclasses", want=200)["items"]

    assert {each["metadata"]["name"]: each["value"] for each in items} == {
        "system-cluster-critical": 2_000_000_000,
        "system-node-critical": 2_000_001_000,
    }


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


# ---- limits, quotas, classes


def namespace(api: Api, name: str, **labels: str) -> str:
    api("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}, want=201)
    return f"/api/v1/namespaces/{name}"


def message(api: Api, path: str, body: Json, want: int = 403) -> str:
    return str(api("POST", path, body, want=want)["message"])


def with_resources(name: str, **resources: Json) -> Json:
    return pod(name, containers=[{"name": "c", "image": "i", "resources": resources}])


def test_a_limit_range_fills_in_defaults_and_says_so(api: Api) -> None:
    here = namespace(api, "limited")
    limit = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}}
    api("POST", f"{here}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [limit]}}, want=201)
    made = api("POST", f"{here}/pods", pod("p"), want=201)
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}
    text = "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    assert made["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": text}


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({"limits": {"memory": "3Gi"}}, "maximum memory usage per Pod is 2Gi, but limit is 3Gi"),
        ({"limits": {"memory": "64Mi"}}, "minimum memory usage per Pod is 128Mi, but request is 64Mi"),
        ({"requests": {"memory": "1Gi"}}, "maximum memory usage per Pod is 2Gi.  No limit is specified"),
        ({"requests": {"memory": "256Mi"}, "limits": {"memory": "1Gi"}},
         "memory max limit to request ratio per Pod is 2, but provided ratio is 4.000000"),
    ],
)  # fmt: skip
def test_a_limit_range_refuses_what_is_out_of_bounds(resources: Json, wanted: str) -> None:
    bounds = {"min": {"memory": "128Mi"}, "max": {"memory": "2Gi"}, "maxLimitRequestRatio": {"memory": "2"}}
    complete = {"requests": resources.get("limits"), **resources}
    spec = {"containers": [{"name": "c", "resources": complete}]}
    assert wanted in list(limit_ranger.found_in_pod([{"type": "Pod", **bounds}], spec))


@pytest.mark.parametrize(
    ("scope", "counted", "free"),
    [
        ("BestEffort", pod("counted"), with_resources("free", requests={"cpu": "1"})),
        ("NotBestEffort", with_resources("counted", limits={"memory": "1Gi"}), pod("free")),
        ("Terminating", pod("counted", activeDeadlineSeconds=9), pod("free")),
        ("NotTerminating", pod("counted"), pod("free", activeDeadlineSeconds=9)),
    ],
)
def test_a_quota_with_a_scope_counts_only_the_pods_of_the_scope(
    api: Api, scope: str, counted: Json, free: Json
) -> None:
    here = namespace(api, f"scoped-{scope.lower()}")
    spec = {"hard": {"pods": "0"}, "scopes": [scope]}
    api("POST", f"{here}/resourcequotas", {"metadata": {"name": "q"}, "spec": spec}, want=201)
    quota = api("GET", f"{here}/resourcequotas/q")
    quota["status"] = {"hard": {"pods": "0"}, "used": {"pods": "0"}}
    api("PUT", f"{here}/resourcequotas/q/status", quota, want=200)

    assert message(api, f"{here}/pods", counted) == (
        'pods "counted" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'
    )
    api("POST", f"{here}/pods", free, want=201)


def test_a_quota_counts_what_its_status_knows(api: Api) -> None:
    here = namespace(api, "counted")
    hard = {"configmaps": "2", "requests.cpu": "1"}
    api("POST", f"{here}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}}, want=201)
    api("POST", f"{here}/configmaps", {"metadata": {"name": "before"}}, want=201)
    quota = api("GET", f"{here}/resourcequotas/q")
    quota["status"] = {"hard": hard, "used": {"configmaps": "1", "requests.cpu": "0"}}
    api("PUT", f"{here}/resourcequotas/q/status", quota, want=200)
    api("POST", f"{here}/configmaps?dryRun=All", {"metadata": {"name": "dry"}}, want=201)
    api("POST", f"{here}/configmaps", {"metadata": {"name": "second"}}, want=201)
    assert message(api, f"{here}/configmaps", {"metadata": {"name": "third"}}) == (
        'configmaps "third" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, '
        "limited: configmaps=2"
    )
    used = api("GET", f"{here}/resourcequotas/q")["status"]["used"]
    assert used == {"configmaps": "2", "requests.cpu": "0"}
    assert "failed quota: q: must specify requests.cpu for: c" in message(api, f"{here}/pods", pod("p"))
    big = with_resources("big", requests={"cpu": "1500m"})
    assert "requested: requests.cpu=1500m, used: requests.cpu=0, limited: requests.cpu=1" in message(
        api, f"{here}/pods", big
    )


def test_what_is_refused_is_not_counted(api: Api) -> None:
    here = namespace(api, "uncounted")
    api("POST", f"{here}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "9"}}}, want=201)
    quota = api("GET", f"{here}/resourcequotas/q")
    quota["status"] = {"hard": {"secrets": "9"}, "used": {"secrets": "0"}}
    api("PUT", f"{here}/resourcequotas/q/status", quota, want=200)
    api("POST", f"{here}/secrets", {"metadata": {"name": "Bad"}}, want=422)
    assert api("GET", f"{here}/resourcequotas/q")["status"]["used"] == {"secrets": "0"}


def test_a_runtime_class_is_there_and_costs_what_it_says(api: Api) -> None:
    text = message(api, f"{NAMESPACE}/pods", pod("lost-class", runtimeClassName="none"))
    assert text == 'pods "lost-class" is forbidden: pod rejected: RuntimeClass "none" not found'
    runtime = {"metadata": {"name": "kata"}, "handler": "kata", "overhead": {"podFixed": {"cpu": "250m"}}}
    api("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime, want=201)
    made = api("POST", f"{NAMESPACE}/pods", pod("kata", runtimeClassName="kata"), want=201)
    assert made["spec"]["overhead"] == {"cpu": "250m"}


def test_a_claim_gets_the_default_class(api: Api) -> None:
    notes = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage = {"metadata": {"name": "fast", "annotations": notes}, "provisioner": "p"}
    api("POST", "/apis/storage.k8s.io/v1/storageclasses", storage, want=201)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"metadata": {"name": "classless"}, "spec": claim}
    made = api("POST", f"{NAMESPACE}/persistentvolumeclaims", body, want=201)
    assert made["spec"]["storageClassName"] == "fast"
    none = {"metadata": {"name": "unclassed"}, "spec": {**claim, "storageClassName": ""}}
    made = api("POST", f"{NAMESPACE}/persistentvolumeclaims", none, want=201)
    assert made["spec"]["storageClassName"] == ""


# ---- pod security


def test_pods_keep_the_standard_of_their_namespace(api: Api) -> None:
    head = "pod-security.kubernetes.io"
    here = namespace(api, "secure", **{f"{head}/enforce": "baseline", f"{head}/warn": "restricted"})
    privileged = pod("p", containers=[{"name": "c", "image": "i", "securityContext": {"privileged": True}}])
    assert message(api, f"{here}/pods", privileged) == (
        'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set '
        "securityContext.privileged=true)"
    )
    response = api.request("POST", f"{here}/pods", pod("plain"))
    assert response.status_code == 201
    assert "would violate PodSecurity" in response.headers["Warning"]
    patch = {"metadata": {"labels": {f"{head}/enforce": "tight"}}}
    status = api("PATCH", here, patch, want=422, media="application/merge-patch+json")
    assert "must be one of privileged, baseline, restricted" in status["message"]


def test_a_template_is_only_warned_of_and_its_subresources_are_not(api: Api) -> None:
    head = "pod-security.kubernetes.io"
    here = namespace(api, "templates", **{f"{head}/enforce": "restricted", f"{head}/warn": "baseline"})
    template = {**pod("p", hostPID=True), "metadata": {"labels": {"a": "b"}}}
    body = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    deployments = here.replace("/api/v1", "/apis/apps/v1") + "/deployments"

    created = api.request("POST", deployments, body)
    assert created.status_code == 201
    why = r'would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)'
    assert why in created.headers["Warning"]
    scaled = api.request("PUT", f"{deployments}/d/scale", {"metadata": {"name": "d"}, "spec": {"replicas": 2}})
    assert scaled.status_code == 200, scaled.text
    assert "Warning" not in scaled.headers


RUN: Json = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
SAFE: Json = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def restricted(**spec: Any) -> Json:
    return {"spec": {"securityContext": RUN, "containers": [{"name": "c", "securityContext": SAFE}], **spec}}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (restricted(), None),
        (restricted(hostPID=True), "host namespaces (hostPID=true)"),
        (restricted(volumes=[{"name": "v", "hostPath": {}}]),
         'restricted volume types (volume "v" uses restricted volume type "hostPath")'),
        (restricted(securityContext={**RUN, "runAsUser": 0}), "runAsUser=0 (pod must not set runAsUser=0)"),
        (restricted(securityContext={**RUN, "sysctls": [{"name": "kernel.x"}]}), "forbidden sysctls (kernel.x)"),
        (restricted(securityContext={**RUN, "runAsNonRoot": False}),
         "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)"),
        (restricted(containers=[{"name": "c", "securityContext": SAFE, "ports": [{"hostPort": 80}]}]),
         'hostPort (container "c" uses hostPort 80)'),
        (restricted(containers=[{"name": "c", "securityContext": {**SAFE, "procMount": "Unmasked"}}]),
         'procMount (container "c" must not set securityContext.procMount to "Unmasked")'),
        (restricted(containers=[{"name": "c", "securityContext": {**SAFE, "seLinuxOptions": {"user": "u"}}}]),
         'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: user may not be set)'),
    ],
)  # fmt: skip
def test_the_restricted_standard(body: Json, reason: str | None) -> None:
    found = [f"{one.reason} ({one.detail})" for one in pod_standards.evaluate(body, "restricted")]
    assert found == ([] if reason is None else [reason])


def test_a_token_is_bound_to_what_is_there(api: Api) -> None:
    path = f"{NAMESPACE}/serviceaccounts/default/token"
    asked = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "gone"}}}
    assert message(api, path, asked, want=404) == 'pods "gone" not found'
    asked["spec"]["boundObjectRef"]["kind"] = "Node"
    assert message(api, path, asked, want=404) == 'nodes "gone" not found'
    asked["spec"]["boundObjectRef"]["kind"] = "Rock"
    assert message(api, path, asked, want=400) == "cannot bind token to object of type /v1, Kind=Rock"
