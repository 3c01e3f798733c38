"""One admission plugin at a time: quotas, accounts, priorities, classes and tolerations. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.testing.apiserver.admission import (
    default_classes,
    default_tolerations,
    namespace_lifecycle,
    pod_resources,
    priority,
    resource_quota,
    runtime_class,
    service_account,
    storage_protection,
    taint_nodes,
)
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.store.storage import Changed
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import copy

Json = dict[str, Any]
REGISTRY = Registry()


class Objects:
    """The part of a store that plugins use, with objects by bucket."""

    version = 1

    def __init__(self, **buckets: list[Json]) -> None:
        self.buckets = {f"/{name}": found for name, found in buckets.items()}
        self.updated: list[tuple[str, Json]] = []
        self.waits = 0
        self.changed = 0

    def _stored(self, obj: Json) -> Any:
        return SimpleNamespace(obj=obj, name=obj["metadata"]["name"], key=f"ns/{obj['metadata']['name']}", rv=7)

    def count(self, bucket: str) -> int:
        return len(self.buckets.get(bucket, ()))

    def list(self, bucket: str, prefix: str = "") -> tuple[int, list[Any]]:
        assert prefix in ("", "ns/")
        return 1, [self._stored(obj) for obj in self.buckets.get(bucket, ())]

    def get(self, bucket: str, key: str) -> Any:
        name = key.removeprefix("ns/")
        found = [obj for obj in self.buckets.get(bucket, ()) if obj["metadata"]["name"] == name]
        return self._stored(found[0]) if found else None

    def wait_for_version(self, version: int, seconds: float) -> None:
        assert (version, seconds > 0) == (2, True)
        self.waits += 1

    def update(self, bucket: str, key: str, obj: Json, rv: int) -> None:
        assert (bucket, rv) == ("/resourcequotas", 7)
        if self.changed:
            self.changed -= 1
            raise Changed
        self.updated.append((key, obj))


def request(storage: str, obj: Json, **more: Any) -> AdmissionRequest:
    resource = REGISTRY.by_storage(storage)
    assert resource is not None
    return AdmissionRequest(resource, more.pop("namespace", "ns"), "x", copy(obj), registry=REGISTRY, **more)


def pod(*containers: Json, **spec: Any) -> Json:
    named = [{"name": f"c{number}", **one} for number, one in enumerate(containers or ({},))]
    return {"metadata": {"name": "x"}, "spec": {"containers": named, **spec}}


def refused(plugin: Any, store: Any, asked: AdmissionRequest) -> str:
    """Return the message of the plugin's refusal, without its head."""
    with pytest.raises(ApiError) as caught:
        plugin(store, asked)
    status = caught.value.status()
    assert status["code"] == 403
    return str(status["message"]).partition(" is forbidden: ")[2]


# ---- quotas


def quota(hard: Json, used: Json | None = None, **spec: Any) -> Json:
    known = dict.fromkeys(hard, "0") | (used or {})
    return {"metadata": {"name": "q"}, "spec": spec, "status": {"hard": hard, "used": known}}


def charged(asked: AdmissionRequest, *quotas: Json) -> list[Json]:
    """Return what each changed quota has in use after the request."""
    store: Any = Objects(resourcequotas=[*quotas])
    resource_quota.charge(store, asked)
    return [obj["status"]["used"] for _, obj in store.updated]


REQUESTS: Json = {"resources": {"requests": {"cpu": "1", "memory": "2"}, "limits": {"cpu": "3", "memory": "4"}}}
LARGE = dict.fromkeys(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"), "100")


@pytest.mark.parametrize(
    ("storage", "obj", "hard", "used"),
    [
        ("/pods", pod(), {"pods": "1"}, {"pods": "1"}),
        ("/pods", pod(), {"count/pods": "1"}, {"count/pods": "1"}),
        ("/pods", pod(REQUESTS), LARGE,
         {"cpu": "1", "memory": "2", "requests.cpu": "1", "requests.memory": "2", "limits.cpu": "3",
          "limits.memory": "4"}),
        ("/pods", pod(REQUESTS, REQUESTS), {"cpu": "9", "limits.memory": "9"}, {"cpu": "2", "limits.memory": "8"}),
        ("/pods", pod({"resources": {"requests": {"ephemeral-storage": "1"}, "limits": {"ephemeral-storage": "2"}}}),
         {"ephemeral-storage": "9", "requests.ephemeral-storage": "9", "limits.ephemeral-storage": "9"},
         {"ephemeral-storage": "1", "requests.ephemeral-storage": "1", "limits.ephemeral-storage": "2"}),
        ("/pods", pod({"resources": {"requests": {"hugepages-2Mi": "2Mi"}}}),
         {"hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi"},
         {"hugepages-2Mi": "2Mi", "requests.hugepages-2Mi": "2Mi"}),
        ("/pods", pod({"resources": {"requests": {"a.b/gpu": "1"}}}), {"requests.a.b/gpu": "2", "a.b/gpu": "2"},
         {"requests.a.b/gpu": "1", "a.b/gpu": "0"}),
        # What has ended is an object still, but uses nothing.
        *(("/pods", {**pod(), "status": {"phase": phase}}, {"pods": "1", "count/pods": "1"},
           {"pods": "0", "count/pods": "1"}) for phase in ("Succeeded", "Failed")),
        ("/configmaps", {}, {"configmaps": "1", "count/configmaps": "1"}, {"configmaps": "1", "count/configmaps": "1"}),
        ("/secrets", {}, {"secrets": "1", "pods": "1"}, {"secrets": "1", "pods": "0"}),
        ("apps/deployments", {}, {"count/deployments.apps": "1"}, {"count/deployments.apps": "1"}),
        ("/services", {"spec": {"type": "ClusterIP", "ports": [{}]}},
         {"services": "9", "services.nodeports": "9", "services.loadbalancers": "9"},
         {"services": "1", "services.nodeports": "0", "services.loadbalancers": "0"}),
        ("/services", {"spec": {"type": "NodePort", "ports": [{}, {}]}}, {"services.nodeports": "9"},
         {"services.nodeports": "2"}),
        ("/services", {"spec": {"type": "LoadBalancer", "ports": [{}, {}]}},
         {"services.nodeports": "9", "services.loadbalancers": "9"},
         {"services.nodeports": "2", "services.loadbalancers": "1"}),
        ("/services",
         {"spec": {"type": "LoadBalancer", "ports": [{}, {"nodePort": 30000}], "allocateLoadBalancerNodePorts": False}},
         {"services.nodeports": "9"}, {"services.nodeports": "1"}),
        ("/persistentvolumeclaims", {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
         {"persistentvolumeclaims": "9", "requests.storage": "9Gi"},
         {"persistentvolumeclaims": "1", "requests.storage": "1Gi"}),
        ("/persistentvolumeclaims",
         {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}},
         {"fast.storageclass.storage.k8s.io/persistentvolumeclaims": "9",
          "fast.storageclass.storage.k8s.io/requests.storage": "9Gi",
          "slow.storageclass.storage.k8s.io/requests.storage": "9Gi"},
         {"fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
          "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
          "slow.storageclass.storage.k8s.io/requests.storage": "0"}),
    ],
)  # fmt: skip
def test_a_quota_counts_what_an_object_uses(storage: str, obj: Json, hard: Json, used: Json) -> None:
    assert charged(request(storage, {"metadata": {}, **obj}), quota(hard)) == [used]


@pytest.mark.parametrize(
    ("storage", "obj", "hard", "more"),
    [
        # These do not concern the quota, or change nothing that it counts.
        ("/pods", pod(), {"services": "0", "count/services": "0", "requests.storage": "0"}, {}),
        ("/configmaps", {}, {"pods": "0", "secrets": "0"}, {}),
        ("apps/deployments", {}, {"pods": "0", "deployments": "0", "cpu": "0"}, {}),
        ("/persistentvolumeclaims", {"spec": {}}, {"count/pods": "0", "services": "0", "requests.storage": "0"}, {}),
        ("/pods", pod(), {"pods": "0"}, {"subresource": "status"}),
        ("/pods", pod(), {"pods": "0"}, {"namespace": ""}),
        ("/pods", pod(), {"pods": "0"}, {"old": pod()}),
        ("/configmaps", {}, {"configmaps": "0"}, {"old": {}}),
        ("/services", {"spec": {"type": "NodePort", "ports": [{}]}}, {"services": "0", "services.nodeports": "0"},
         {"old": {"spec": {"type": "NodePort", "ports": [{}]}}}),
        ("/pods", pod(), {"pods": "1"}, {"dry_run": True}),
    ],
)  # fmt: skip
def test_a_request_that_uses_nothing_more_is_not_charged(storage: str, obj: Json, hard: Json, more: Json) -> None:
    assert charged(request(storage, {"metadata": {}, **obj}, **more), quota(hard)) == []


def test_an_update_is_charged_for_what_it_adds() -> None:
    small: Json = {"spec": {"type": "NodePort", "ports": [{}]}}
    large: Json = {"spec": {"type": "NodePort", "ports": [{}, {}, {}]}}
    hard, used = {"services": "1", "services.nodeports": "4"}, {"services": "1", "services.nodeports": "2"}

    assert charged(request("/services", {"metadata": {}, **large}, old=small), quota(hard, used)) == [
        {"services": "1", "services.nodeports": "4"}
    ]
    assert charged(request("/services", {"metadata": {}, **small}, old=large), quota(hard, used)) == []


def test_a_resize_is_charged_for_what_it_adds() -> None:
    def cpu(amount: str) -> Json:
        return pod({"resources": {"requests": {"cpu": amount}}})

    hard, used = {"pods": "1", "requests.cpu": "3"}, {"pods": "1", "requests.cpu": "1"}
    resize = {"old": cpu("1"), "subresource": "resize"}

    assert charged(request("/pods", cpu("3"), **resize), quota(hard, used)) == [{"pods": "1", "requests.cpu": "3"}]
    assert charged(request("/pods", cpu("1"), **resize), quota(hard, used)) == []
    store: Any = Objects(resourcequotas=[quota(hard, used)])
    assert refused(resource_quota.charge, store, request("/pods", cpu("4"), **resize)) == (
        "exceeded quota: q, requested: requests.cpu=3, used: requests.cpu=1, limited: requests.cpu=3"
    )


@pytest.mark.parametrize(
    ("hard", "used", "why"),
    [
        ({"pods": "2"}, {"pods": "2"}, "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
        ({"pods": "2"}, {"pods": "1"}, None),
        ({"limits.cpu": "3", "pods": "0", "cpu": "500m"}, {},
         "exceeded quota: q, requested: cpu=1,pods=1, used: cpu=0,pods=0, limited: cpu=500m,pods=0"),
    ],
)  # fmt: skip
def test_a_quota_that_would_be_exceeded_refuses(hard: Json, used: Json, why: str | None) -> None:
    store: Any = Objects(resourcequotas=[quota(hard, used)])
    if why is None:
        resource_quota.charge(store, request("/pods", pod(REQUESTS)))
    else:
        assert refused(resource_quota.charge, store, request("/pods", pod(REQUESTS))) == why
        assert store.updated == []


@pytest.mark.parametrize(
    ("containers", "init", "hard", "why"),
    [
        ([{}], [], {"cpu": "9"}, "failed quota: q: must specify cpu for: c0"),
        ([{}, {}], [{"name": "i"}], {"requests.cpu": "9"}, "failed quota: q: must specify requests.cpu for: c0,c1,i"),
        ([REQUESTS], [{"name": "i"}], {"limits.memory": "9"}, "failed quota: q: must specify limits.memory for: i"),
        ([{}], [], {"limits.cpu": "9", "cpu": "9"},
         "failed quota: q: must specify cpu for: c0; limits.cpu for: c0"),
        ([{"resources": {"requests": {"cpu": "1"}}}], [], {"limits.cpu": "9"},
         "failed quota: q: must specify limits.cpu for: c0"),
        ([{"resources": {"limits": {"cpu": "1"}}}], [], {"cpu": "9"}, "failed quota: q: must specify cpu for: c0"),
        ([{}], [], {"ephemeral-storage": "9", "pods": "9"}, None),
        ([REQUESTS], [], LARGE, None),
    ],
)  # fmt: skip
def test_a_pod_says_what_a_quota_counts(containers: list[Json], init: list[Json], hard: Json, why: str | None) -> None:
    asked = request("/pods", pod(*containers, initContainers=init))
    store: Any = Objects(resourcequotas=[quota(hard)])
    if why is None:
        resource_quota.charge(store, asked)
    else:
        assert refused(resource_quota.charge, store, asked) == why


def test_a_quota_whose_usage_is_unknown_refuses() -> None:
    one = quota({"pods": "9", "count/pods": "9", "services": "9"})
    one["status"]["used"] = {}
    store: Any = Objects(resourcequotas=[one])

    why = "status unknown for quota: q, resources: count/pods,pods"
    assert refused(resource_quota.charge, store, request("/pods", pod())) == why


def test_a_quota_without_a_status_stops_nothing() -> None:
    assert charged(request("/pods", pod()), {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}) == []


def test_all_quotas_of_a_namespace_are_charged() -> None:
    first, second = quota({"pods": "9"}), quota({"cpu": "9"})

    assert charged(request("/pods", pod(REQUESTS)), first, second) == [{"pods": "1"}, {"cpu": "1"}]


def test_a_quota_that_another_request_has_changed_is_read_again() -> None:
    store: Any = Objects(resourcequotas=[quota({"pods": "9"})])
    store.changed = 3
    resource_quota.charge(store, request("/pods", pod()))

    assert [obj["status"]["used"] for _, obj in store.updated] == [{"pods": "1"}]


def scoped(name: str, operator: str = "Exists", values: list[str] | None = None) -> Json:
    term: Json = {"scopeName": name, "operator": operator, **({"values": values} if values else {})}
    return {"scopeSelector": {"matchExpressions": [term]}}


def asks(**resources: Json) -> Json:
    return {"resources": resources}


def affine(kind: str, term: Json, *, preferred: bool = False) -> Json:
    if preferred:
        rules = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    else:
        rules = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod(affinity={kind: rules})


CLASS = "PriorityClass"
TERMS: list[Json] = [{}, {"namespaces": ["a"]}, {"namespaceSelector": {}}]
CROSS: Json = {"scopes": ["CrossNamespacePodAffinity"]}


@pytest.mark.parametrize(
    ("spec", "obj", "counts"),
    [
        ({"scopes": ["BestEffort"]}, pod(), True),
        ({"scopes": ["NotBestEffort"]}, pod(), False),
        *(({"scopes": [scope]}, one, scope == "NotBestEffort") for scope in ("BestEffort", "NotBestEffort") for one in (
            pod(asks(requests={"cpu": "1"})), pod(asks(limits={"cpu": "1"})), pod(asks(requests={"memory": "1"})),
            pod(asks(limits={"memory": "1"})), pod({}, asks(requests={"cpu": "1"})),
            pod(initContainers=[asks(requests={"cpu": "1"})]))),
        # Only cpu and memory make the class, and nothing is none.
        *(({"scopes": [scope]}, one, scope == "BestEffort") for scope in ("BestEffort", "NotBestEffort") for one in (
            pod(asks(requests={"ephemeral-storage": "1"})), pod(asks(requests={"cpu": "0"})))),
        ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=0), True),
        ({"scopes": ["Terminating"]}, pod(), False),
        ({"scopes": ["NotTerminating"]}, pod(activeDeadlineSeconds=0), False),
        ({"scopes": ["NotTerminating"]}, pod(), True),
        ({"scopes": ["NotTerminating", "BestEffort"]}, pod(), True),
        ({"scopes": ["Terminating", "BestEffort"]}, pod(), False),
        ({"scopes": ["BestEffort"], **scoped("Terminating")}, pod(), False),
        ({"scopes": [CLASS]}, pod(priorityClassName="a"), True),
        ({"scopes": [CLASS]}, pod(), False),
        (scoped(CLASS, "DoesNotExist"), pod(), True),
        (scoped(CLASS, "DoesNotExist"), pod(priorityClassName="a"), False),
        (scoped(CLASS, "In", ["a", "b"]), pod(priorityClassName="b"), True),
        (scoped(CLASS, "In", ["a", "b"]), pod(priorityClassName="c"), False),
        (scoped(CLASS, "In", ["a"]), pod(), False),
        (scoped(CLASS, "NotIn", ["a"]), pod(priorityClassName="a"), False),
        (scoped(CLASS, "NotIn", ["a"]), pod(priorityClassName="c"), True),
        (scoped(CLASS, "NotIn", ["a"]), pod(), True),
        (CROSS, pod(), False),
        *((CROSS, affine(kind, term, preferred=preferred), bool(term)) for kind in ("podAffinity", "podAntiAffinity")
          for term in TERMS for preferred in (False, True)),
    ],
)  # fmt: skip
def test_a_quota_with_scopes_counts_the_pods_in_all_of_them(spec: Json, obj: Json, counts: bool) -> None:
    assert charged(request("/pods", obj), quota({"pods": "9"}, **spec)) == ([{"pods": "1"}] if counts else [])


def test_a_quota_with_scopes_counts_pods_only() -> None:
    asked = request("/configmaps", {"metadata": {}})

    assert charged(asked, quota({"configmaps": "9"}, scopes=["NotTerminating"])) == []


@pytest.mark.parametrize(
    ("spec", "requests", "limits"),
    [
        (pod(REQUESTS)["spec"], {"cpu": "1", "memory": "2"}, {"cpu": "3", "memory": "4"}),
        (pod(REQUESTS, REQUESTS)["spec"], {"cpu": "2", "memory": "4"}, {"cpu": "6", "memory": "8"}),
        # The most that an init container needs, beside the sidecars that run already.
        (pod(REQUESTS, initContainers=[asks(requests={"cpu": "5"})])["spec"], {"cpu": "5", "memory": "2"},
         {"cpu": "3", "memory": "4"}),
        (pod(REQUESTS, initContainers=[asks(requests={"cpu": "5"}), asks(requests={"cpu": "4"})])["spec"],
         {"cpu": "5", "memory": "2"}, {"cpu": "3", "memory": "4"}),
        (pod(REQUESTS, initContainers=[{**asks(requests={"cpu": "5"}), "restartPolicy": "Always"}])["spec"],
         {"cpu": "6", "memory": "2"}, {"cpu": "3", "memory": "4"}),
        (pod(REQUESTS, initContainers=[{**asks(requests={"cpu": "2"}), "restartPolicy": "Always"},
                                       asks(requests={"cpu": "4"})])["spec"],
         {"cpu": "6", "memory": "2"}, {"cpu": "3", "memory": "4"}),
        (pod(REQUESTS, initContainers=[asks(requests={"cpu": "4"}),
                                       {**asks(requests={"cpu": "2"}), "restartPolicy": "Always"}])["spec"],
         {"cpu": "4", "memory": "2"}, {"cpu": "3", "memory": "4"}),
        # The overhead is an own demand; of the limits it lifts only those that there are.
        (pod({}, overhead={"cpu": "1"})["spec"], {"cpu": "1"}, {}),
        (pod(REQUESTS, overhead={"cpu": "1"})["spec"], {"cpu": "2", "memory": "2"}, {"cpu": "4", "memory": "4"}),
    ],
)  # fmt: skip
def test_a_pod_needs_what_its_containers_need_at_the_same_time(spec: Json, requests: Json, limits: Json) -> None:
    for kind, wanted in (("requests", requests), ("limits", limits)):
        found = pod_resources.of_pod(spec, kind)
        assert found == {name: parse_quantity(amount) for name, amount in wanted.items()}


# ---- accounts


def account(**more: Any) -> Json:
    name = more.pop("name", "default")
    notes = {"kubernetes.io/enforce-mountable-secrets": more.pop("enforced")} if "enforced" in more else {}
    return {"metadata": {"name": name, "annotations": notes}, **more}


def with_account(obj: Json, *accounts: Json) -> Json:
    asked = request("/pods", obj)
    store: Any = Objects(serviceaccounts=[*(accounts or (account(),))])
    service_account.admit(store, asked)
    spec: Json = asked.obj["spec"]
    return spec


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "default"),
        ({"serviceAccountName": "a"}, "a"),
        ({"serviceAccount": "a"}, "a"),
        ({"serviceAccountName": "a", "serviceAccount": "default"}, "a"),
    ],
)
def test_a_pod_has_one_account_under_both_names(given: Json, name: str) -> None:
    spec = with_account(pod(**given), account(), account(name="a"))

    assert (spec["serviceAccountName"], spec["serviceAccount"]) == (name, name)


@pytest.mark.parametrize(
    ("of_pod", "of_account", "mounted"),
    [
        (None, None, True),
        (None, False, False),
        (None, True, True),
        (False, None, False),
        (False, True, False),
        (True, False, True),
    ],
)
def test_a_pod_wants_a_token_unless_it_or_else_its_account_says_no(
    of_pod: bool | None, of_account: bool | None, mounted: bool
) -> None:
    mine = {} if of_pod is None else {"automountServiceAccountToken": of_pod}
    its = {} if of_account is None else {"automountServiceAccountToken": of_account}

    assert bool(with_account(pod(**mine), account(**its)).get("volumes")) is mounted


MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_the_token_is_at_a_known_place_in_each_container() -> None:
    own = {"volumeMounts": [{"name": "mine", "mountPath": MOUNT}]}
    other = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    spec = with_account(pod({}, own, other, initContainers=[{"name": "i"}], volumes=[{"name": "v"}]))

    volume = spec["volumes"][1]
    mount = {"name": volume["name"], "readOnly": True, "mountPath": MOUNT}
    assert len(volume["name"]) == len("kube-api-access-") + 5
    assert [one.get("volumeMounts") for one in [*spec["initContainers"], *spec["containers"]]] == [
        [mount], [mount], own["volumeMounts"], [*other["volumeMounts"], mount],
    ]  # fmt: skip
    assert volume["projected"] == {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ],
    }  # fmt: skip


def test_no_volume_is_added_where_it_is_not_needed() -> None:
    own = {"volumeMounts": [{"name": "mine", "mountPath": MOUNT}]}
    assert "volumes" not in with_account(pod(own))

    known = [{"name": "kube-api-access-known"}]
    spec = with_account(pod({}, volumes=known))
    assert spec["volumes"] == known
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-known"


@pytest.mark.parametrize(
    ("mine", "its", "found"),
    [
        (None, [{"name": "a"}], [{"name": "a"}]),
        ([{"name": "m"}], [{"name": "a"}], [{"name": "m"}]),
        ([], [{"name": "a"}], [{"name": "a"}]),
        (None, None, None),
    ],
)
def test_the_account_gives_its_pull_secrets_to_pods_without_some(mine: Any, its: Any, found: Any) -> None:
    spec = with_account(pod(**({} if mine is None else {"imagePullSecrets": mine})), account(imagePullSecrets=its))

    assert spec.get("imagePullSecrets") == found


def test_a_mirror_pod_has_no_account() -> None:
    mirror = pod()
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": ""}

    assert "serviceAccountName" not in with_account(mirror)


@pytest.mark.parametrize(("name", "waits"), [("default", 10), ("other", 0)])
def test_the_default_account_is_waited_for(name: str, waits: int) -> None:
    store: Any = Objects(serviceaccounts=[])
    why = f'error looking up service account ns/{name}: serviceaccount "{name}" not found'

    assert refused(service_account.admit, store, request("/pods", pod(serviceAccountName=name))) == why
    assert store.waits == waits


def reads(secret: str, **more: Any) -> Json:
    """Return a container that reads a secret into a variable."""
    return {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret}}}, {"name": "B"}], **more}


TAIL = "is not allowed because service account default does not reference that"


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        (pod(), None),
        (pod(volumes=[{"secret": {"secretName": "known"}}, {"emptyDir": {}}]), None),
        (pod(volumes=[{"secret": {"secretName": "s"}}]), f'volume with secret.secretName="s" {TAIL} secret'),
        (pod(reads("known")), None),
        (pod(reads("s")), f'container c0 with envVar A referencing secret.secretName="s" {TAIL} secret'),
        (pod(initContainers=[reads("s", name="i")]),
         f'init container i with envVar A referencing secret.secretName="s" {TAIL} secret'),
        (pod(imagePullSecrets=[{"name": "pulls"}]), None),
        (pod(imagePullSecrets=[{"name": "pulls"}, {"name": "s"}]),
         f'imagePullSecrets[1].name="s" {TAIL} imagePullSecret'),
    ],
)  # fmt: skip
def test_an_account_may_limit_the_secrets_of_its_pods(obj: Json, why: str | None) -> None:
    secrets = {"secrets": [{"name": "known"}], "imagePullSecrets": [{"name": "pulls"}]}
    if why is None:
        with_account(obj, account(enforced="true", **secrets))
    else:
        store: Any = Objects(serviceaccounts=[account(enforced="true", **secrets)])
        assert refused(service_account.admit, store, request("/pods", obj)) == why
    with_account(obj, account(enforced="false", **secrets))


# ---- priorities


def priority_class(name: str, value: int, **more: Any) -> Json:
    return {"metadata": {"name": name}, "value": value, **more}


def with_priority(obj: Json, *classes: Json) -> AdmissionRequest:
    asked = request("/pods", obj)
    store: Any = Objects()
    store.buckets[priority.CLASSES] = [*classes]
    priority.admit(store, asked)
    return asked


HIGH = priority_class("high", 1000, preemptionPolicy="Never")


@pytest.mark.parametrize(
    ("given", "classes", "found"),
    [
        ({}, [], (None, 0, "PreemptLowerPriority")),
        ({}, [HIGH], (None, 0, "PreemptLowerPriority")),
        ({"priorityClassName": "high"}, [HIGH], ("high", 1000, "Never")),
        ({"priorityClassName": "a"}, [priority_class("a", 5)], ("a", 5, "PreemptLowerPriority")),
        ({}, [priority_class("a", 5, globalDefault=True)], ("a", 5, "PreemptLowerPriority")),
        ({}, [priority_class("b", 7, globalDefault=True), priority_class("a", 5, globalDefault=True)],
         ("a", 5, "PreemptLowerPriority")),
        ({}, [priority_class("a", 5, globalDefault=False)], (None, 0, "PreemptLowerPriority")),
        ({"priorityClassName": "high"}, [HIGH, priority_class("a", 5, globalDefault=True)], ("high", 1000, "Never")),
        ({"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "Never"}, [HIGH], ("high", 1000, "Never")),
        ({"priority": 0}, [], (None, 0, "PreemptLowerPriority")),
    ],
)  # fmt: skip
def test_a_pod_has_the_priority_of_its_class_or_of_the_default_one(
    given: Json, classes: list[Json], found: tuple[str | None, int, str]
) -> None:
    spec = with_priority(pod(**given), *classes).obj["spec"]

    assert (spec.get("priorityClassName"), spec["priority"], spec["preemptionPolicy"]) == found


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"priorityClassName": "a"}, "no PriorityClass with name a was found"),
        ({"priority": 1},
         "the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 0 "
         "from the given PriorityClass name"),
        ({"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
         "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority "
         "admission controller computed Never from the given PriorityClass name"),
    ],
)  # fmt: skip
def test_a_pod_cannot_say_another_priority_than_its_class(given: Json, why: str) -> None:
    store: Any = Objects()
    store.buckets[priority.CLASSES] = [HIGH]

    assert refused(priority.admit, store, request("/pods", pod(**given))) == why


# ---- classes of runtimes, storage and ingresses


def runtime(**more: Any) -> Any:
    store: Any = Objects()
    store.buckets["node.k8s.io/runtimeclasses"] = [{"metadata": {"name": "r"}, "handler": "h", **more}]
    return store


COSTS: Json = {"overhead": {"podFixed": {"cpu": "1"}}}


@pytest.mark.parametrize(
    ("given", "costs", "found"),
    [
        ({"runtimeClassName": "r"}, COSTS, {"cpu": "1"}),
        ({"runtimeClassName": "r", "overhead": {"cpu": "1"}}, COSTS, {"cpu": "1"}),
        ({"runtimeClassName": "r"}, {}, None),
        ({}, COSTS, None),
    ],
)
def test_a_pod_costs_what_its_runtime_costs(given: Json, costs: Json, found: Json | None) -> None:
    asked = request("/pods", pod(**given))
    runtime_class.admit(runtime(**costs), asked)
    runtime_class.validate(runtime(**costs), asked)

    assert asked.obj["spec"].get("overhead") == found


@pytest.mark.parametrize(
    ("selectors", "tolerations"),
    [
        (({}, {}, None), ([], [], None)),
        (({"a": "b"}, {}, {"a": "b"}), ([{"key": "k"}], [], [{"key": "k"}])),
        (({}, {"c": "d"}, {"c": "d"}), ([], [{"key": "m"}], [{"key": "m"}])),
        (({"a": "b"}, {"a": "b", "c": "d"}, {"a": "b", "c": "d"}),
         ([{"key": "k"}, {"key": "n"}], [{"key": "k"}], [{"key": "k"}, {"key": "n"}])),
    ],
)  # fmt: skip
def test_a_pod_runs_where_its_runtime_runs(selectors: tuple[Any, Any, Any], tolerations: tuple[Any, Any, Any]) -> None:
    scheduling = {"nodeSelector": selectors[0], "tolerations": tolerations[0]}
    given = {"nodeSelector": selectors[1]} if selectors[1] else {}
    given |= {"tolerations": tolerations[1]} if tolerations[1] else {}
    asked = request("/pods", pod(runtimeClassName="r", **given))
    runtime_class.admit(runtime(scheduling=scheduling), asked)

    assert asked.obj["spec"].get("nodeSelector") == selectors[2]
    assert asked.obj["spec"].get("tolerations") == tolerations[2]


@pytest.mark.parametrize(
    ("given", "of_class", "why"),
    [
        ({"runtimeClassName": "x"}, {}, 'RuntimeClass "x" not found'),
        ({"runtimeClassName": "r", "overhead": {"cpu": "2"}}, COSTS,
         "Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
        ({"runtimeClassName": "r", "nodeSelector": {"a": "c"}}, {"scheduling": {"nodeSelector": {"a": "b"}}},
         "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c"),
        ({"overhead": {"cpu": "2"}}, COSTS, "Pod Overhead set without corresponding RuntimeClass defined Overhead"),
        ({"runtimeClassName": "r", "overhead": {"cpu": "2"}}, {},
         "Pod Overhead set without corresponding RuntimeClass defined Overhead"),
    ],
)  # fmt: skip
def test_a_pod_that_does_not_fit_its_runtime_is_refused(given: Json, of_class: Json, why: str) -> None:
    def both(store: Any, asked: AdmissionRequest) -> None:
        runtime_class.admit(store, asked)
        runtime_class.validate(store, asked)

    assert refused(both, runtime(**of_class), request("/pods", pod(**given))) == f"pod rejected: {why}"
    for passed in ({"old": pod()}, {"subresource": "status"}):
        both(runtime(**of_class), request("/pods", pod(**given), **passed))


STORAGE = "storageclass.kubernetes.io/is-default-class"
BETA = "storageclass.beta.kubernetes.io/is-default-class"
INGRESS = "ingressclass.kubernetes.io/is-default-class"


def a_class(name: str, note: str = "", made: str = "2001", value: str = "true", **more: Any) -> Json:
    notes = {note: value} if note else {}
    return {"metadata": {"name": name, "annotations": notes, "creationTimestamp": made}, **more}


@pytest.mark.parametrize("note", [STORAGE, BETA, INGRESS])
@pytest.mark.parametrize(
    ("classes", "found"),
    [
        ([], None),
        ([("a", "", "2001", "true")], None),
        ([("a", "note", "2001", "false")], None),
        ([("a", "", "2003", "true"), ("b", "note", "2001", "true")], "b"),
        ([("a", "note", "2001", "true"), ("b", "note", "2002", "true")], "b"),
        ([("a", "note", "2002", "true"), ("b", "note", "2001", "true")], "a"),
        ([("a", "note", "2001", "true"), ("b", "note", "2001", "true")], "a"),
    ],
)
def test_the_newest_default_class_is_that_of_an_object_without_one(
    note: str, classes: list[tuple[str, str, str, str]], found: str | None
) -> None:
    store: Any = Objects()
    ingress = note == INGRESS
    bucket = "networking.k8s.io/ingressclasses" if ingress else "storage.k8s.io/storageclasses"
    store.buckets[bucket] = [
        a_class(name, which and note, made, value) for name, which, made, value in classes
    ]  # fmt: skip
    asked = request("networking.k8s.io/ingresses" if ingress else "/persistentvolumeclaims", {"metadata": {}})
    (default_classes.admit_ingress if ingress else default_classes.admit_storage)(store, asked)

    assert asked.obj["spec"].get("ingressClassName" if ingress else "storageClassName") == found


@pytest.mark.parametrize(
    ("storage", "obj", "more"),
    [
        ("/persistentvolumeclaims", {"metadata": {}, "spec": {"storageClassName": ""}}, {}),
        ("/persistentvolumeclaims", {"metadata": {}, "spec": {"storageClassName": "mine"}}, {}),
        ("/persistentvolumeclaims",
         {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "mine"}}, "spec": {}}, {}),
        ("/persistentvolumeclaims", {"metadata": {}, "spec": {}}, {"subresource": "status"}),
        ("networking.k8s.io/ingresses", {"metadata": {}, "spec": {"ingressClassName": "mine"}}, {}),
        ("networking.k8s.io/ingresses",
         {"metadata": {"annotations": {"kubernetes.io/ingress.class": "mine"}}, "spec": {}}, {}),
        ("networking.k8s.io/ingresses", {"metadata": {}, "spec": {}}, {"subresource": "status"}),
        ("/pods", {"metadata": {}, "spec": {}}, {}),
    ],
)  # fmt: skip
def test_an_object_that_names_its_class_keeps_it(storage: str, obj: Json, more: Json) -> None:
    store: Any = Objects()
    store.buckets["storage.k8s.io/storageclasses"] = [a_class("a", STORAGE)]
    store.buckets["networking.k8s.io/ingressclasses"] = [a_class("a", INGRESS)]
    asked = request(storage, obj, **more)
    default_classes.admit_storage(store, asked)
    default_classes.admit_ingress(store, asked)

    assert asked.obj == obj


def claim(size: str, phase: str = "Bound", name: str | None = "grows", metadata: Json | None = None) -> Json:
    spec = {"resources": {"requests": {"storage": size}}, **({} if name is None else {"storageClassName": name})}
    return {"metadata": metadata or {}, "spec": spec, "status": {"phase": phase}}


NOTED = {"annotations": {"volume.beta.kubernetes.io/storage-class": "grows"}}


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        (claim("1Gi"), claim("2Gi"), True),
        (claim("1Gi", name="fixed"), claim("2Gi", name="fixed"), False),
        (claim("1Gi", name="fixed"), claim("1024Mi", name="fixed"), True),
        (claim("2Gi", name="fixed"), claim("1Gi", name="fixed"), True),
        (claim("1Gi", name="gone"), claim("2Gi", name="gone"), False),
        (claim("1Gi", name=None), claim("2Gi", name=None), False),
        # The older annotation goes first.
        (claim("1Gi", name=None, metadata=NOTED), claim("2Gi", name=None, metadata=NOTED), True),
        (claim("1Gi", name="fixed", metadata=NOTED), claim("2Gi", name="fixed", metadata=NOTED), True),
        (claim("1Gi", "Pending", "fixed"), claim("2Gi", "Pending", "fixed"), True),
        (None, claim("2Gi", name="fixed"), True),
    ],
)
def test_a_claim_grows_where_its_class_allows_it(old: Json | None, new: Json, allowed: bool) -> None:
    store: Any = Objects()
    classes = [a_class("grows", allowVolumeExpansion=True), a_class("fixed", allowVolumeExpansion=False)]
    store.buckets["storage.k8s.io/storageclasses"] = classes
    asked = request("/persistentvolumeclaims", new, old=old)
    if allowed:
        default_classes.validate_resize(store, asked)
    else:
        assert refused(default_classes.validate_resize, store, asked) == (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support "
            "resize"
        )
        default_classes.validate_resize(store, request("/persistentvolumeclaims", new, old=old, subresource="status"))
        default_classes.validate_resize(store, request("/persistentvolumes", new, old=old))


# ---- tolerations, taints, finalizers, namespaces


def stays(key: str) -> Json:
    return {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


BOTH = [stays("not-ready"), stays("unreachable")]


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ([], BOTH),
        ([{"key": "a"}], BOTH),
        ([{"key": "node.kubernetes.io/not-ready"}], BOTH[1:]),
        ([{"key": "node.kubernetes.io/unreachable", "effect": ""}], BOTH[:1]),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}], BOTH[1:]),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}], BOTH),
        ([{"operator": "Exists"}], []),
        ([{"key": "", "operator": "Exists", "effect": "NoExecute"}], []),
        ([{"operator": "Exists", "effect": "NoSchedule"}], BOTH),
    ],
)
def test_a_pod_stays_five_minutes_on_a_node_in_trouble_unless_it_says_otherwise(given: Any, added: Any) -> None:
    asked = request("/pods", pod(**({"tolerations": given} if given else {})))
    default_tolerations.admit(Objects(), asked)  # type: ignore[arg-type]
    assert asked.obj["spec"]["tolerations"] == [*given, *added]

    for storage, more in (("/pods", {"subresource": "status"}), ("apps/deployments", {})):
        other = request(storage, pod(), **more)
        default_tolerations.admit(Objects(), other)  # type: ignore[arg-type]
        assert other.obj == pod()


NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "found"),
    [
        (None, [NOT_READY]),
        ([{"key": "a", "effect": "NoSchedule"}], [{"key": "a", "effect": "NoSchedule"}, NOT_READY]),
        ([{**NOT_READY, "effect": "NoExecute"}], [{**NOT_READY, "effect": "NoExecute"}, NOT_READY]),
        ([{**NOT_READY, "value": "x"}], [{**NOT_READY, "value": "x"}]),
    ],
)
def test_a_new_node_is_closed_until_it_is_ready(taints: Any, found: Any) -> None:
    asked = request("/nodes", {"metadata": {}, "spec": {} if taints is None else {"taints": taints}})
    taint_nodes.admit(Objects(), asked)  # type: ignore[arg-type]
    assert asked.obj["spec"]["taints"] == found

    other = request("/pods", pod())
    taint_nodes.admit(Objects(), other)  # type: ignore[arg-type]
    assert other.obj == pod()


@pytest.mark.parametrize(
    ("storage", "given", "found"),
    [
        ("/persistentvolumes", [], ["kubernetes.io/pv-protection"]),
        ("/persistentvolumeclaims", ["a"], ["a", "kubernetes.io/pvc-protection"]),
        ("/persistentvolumeclaims", ["kubernetes.io/pvc-protection"], ["kubernetes.io/pvc-protection"]),
        ("/pods", ["a"], ["a"]),
    ],
)
def test_volumes_and_claims_are_protected(storage: str, given: list[str], found: list[str]) -> None:
    asked = request(storage, {"metadata": {"finalizers": given}})
    storage_protection.admit(Objects(), asked)  # type: ignore[arg-type]

    assert asked.obj["metadata"]["finalizers"] == found


def test_nothing_new_comes_into_a_namespace_that_is_gone_or_goes() -> None:
    store: Any = Objects(namespaces=[{"metadata": {"name": "ns", "deletionTimestamp": "2001"}}])
    with pytest.raises(ApiError) as caught:
        namespace_lifecycle.admit(store, request("/pods", pod()))
    status = caught.value.status()
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"] == (
        'pods "x" is forbidden: unable to create new content in namespace ns because it is being terminated'
    )
    assert status["details"]["causes"] == [
        {"reason": "NamespaceTerminating", "message": "namespace ns is being terminated", "field": "metadata.namespace"}
    ]

    with pytest.raises(ApiError) as caught:
        namespace_lifecycle.admit(Objects(), request("/pods", pod()))  # type: ignore[arg-type]
    assert (caught.value.status()["code"], caught.value.status()["message"]) == (404, 'namespaces "ns" not found')
    namespace_lifecycle.admit(store, request("/nodes", {"metadata": {}}, namespace=""))
    lives: Any = Objects(namespaces=[{"metadata": {"name": "ns"}}])
    namespace_lifecycle.admit(lives, request("/pods", pod()))
