"""The validation rules of each built-in kind, and the field path in each error."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import defaults, schema, validation
from clientgo.testing.apiserver.kinds.registry import Registry

Json = dict[str, Any]
REGISTRY = Registry()
CONTAINER = {"name": "c", "image": "i"}
POD = {"containers": [CONTAINER]}
LABELS = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
RULE = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
HOOK = {
    "name": "a.b.io", "clientConfig": {"url": "https://x"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
    "rules": [RULE],
}  # fmt: skip
VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
PATH = {"pathType": "Prefix", "path": "/", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
INGRESS = {"rules": [{"http": {"paths": [PATH]}}]}
ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}


def made(group_version: str, kind: str, fields: Json) -> tuple[Any, Json]:
    """Return an object decoded and with defaults, as for a write."""
    resource = REGISTRY.by_kind(group_version, kind)
    assert resource is not None and resource.struct is not None
    doc = {"apiVersion": group_version, "kind": kind, "metadata": {"name": "x", "namespace": "n"}, **fields}
    obj: Json = resource.struct.decode(doc, schema.Context(), "", "")
    fill = defaults.for_kind(group_version, kind)
    if fill is not None:
        fill(obj)
    return resource, obj


def fields_of(group_version: str, kind: str, fields: Json) -> list[str]:
    resource, obj = made(group_version, kind, fields)
    return [error.field for error in validation.create(resource, obj)]


def pod(**spec: Any) -> tuple[str, str, Json]:
    return "v1", "Pod", {"spec": {**POD, **spec}}


def container(**more: Any) -> tuple[str, str, Json]:
    return pod(containers=[{**CONTAINER, **more}])


def deployment(**spec: Any) -> tuple[str, str, Json]:
    return "apps/v1", "Deployment", {"spec": {"selector": LABELS, "template": TEMPLATE, **spec}}


GOOD = [
    pod(dnsPolicy="Default", dnsConfig={"searches": ["a"]}),
    pod(dnsPolicy="None", dnsConfig={"nameservers": ["1.2.3.4"]}),
    ("v1", "ResourceQuota", {"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating"]}}),
    *(
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {"webhooks": [{**HOOK, name: value}]})
        for name, value in [
            ("failurePolicy", "Ignore"),
            ("matchPolicy", "Exact"),
            ("sideEffects", "NoneOnDryRun"),
            ("timeoutSeconds", 1),
            ("timeoutSeconds", 30),
            ("reinvocationPolicy", "IfNeeded"),
        ]
    ),
    pod(),
    container(resources={"limits": {"example.com/gpu": "1"}, "requests": {"example.com/gpu": "1"}}),
    pod(volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]),
    deployment(),
    ("apps/v1", "StatefulSet", {"spec": {"selector": LABELS, "template": TEMPLATE, "serviceName": "s"}}),
    ("apps/v1", "DaemonSet", {"spec": {"selector": LABELS, "template": TEMPLATE}}),
    ("v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "template": TEMPLATE}}),
    ("v1", "PersistentVolume", {"spec": VOLUME}),
    ("v1", "PersistentVolumeClaim", {"spec": CLAIM}),
    ("networking.k8s.io/v1", "Ingress", {"spec": INGRESS}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"maxReplicas": 3, "scaleTargetRef": TARGET}}),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {"webhooks": [HOOK]}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": ROLE_REF}),
    ("v1", "ResourceQuota", {"spec": {"hard": {"pods": "1", "requests.cpu": "1", "count/x.example.com": "1"}}}),
    ("v1", "LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1"}}]}}),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        {"spec": {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("group_version", "kind", "fields"), GOOD)
def test_what_is_as_it_should_be_is_taken(group_version: str, kind: str, fields: Json) -> None:
    assert fields_of(group_version, kind, fields) == []


TWO_PORTS = [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 80}]
WRONG = [
    (container(ports=TWO_PORTS), ["spec.containers[0].ports[1].hostPort"]),
    (container(envFrom=[{"configMapRef": {}}]), ["spec.containers[0].envFrom[0].configMapRef.name"]),
    (container(env=[{"name": "A", "valueFrom": {}}]), ["spec.containers[0].env[0].valueFrom"]),
    (
        container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nope"}}}]),
        ["spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"],
    ),
    (
        deployment(
            template={**TEMPLATE, "spec": {"containers": [{**CONTAINER, "resources": {"limits": {"foo": "1"}}}]}}
        ),
        ["spec.template.spec.containers[0].resources.limits[foo]"] * 2,
    ),
    (
        container(livenessProbe={"tcpSocket": {"port": 1}, "successThreshold": 2}),
        ["spec.containers[0].livenessProbe.successThreshold"],
    ),
    # A volume that is not right cannot be mounted either.
    (
        pod(
            volumes=[{"name": "v", "secret": {}}],
            containers=[{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        ),
        ["spec.volumes[0].secret.secretName", "spec.containers[0].volumeMounts[0].name"],
    ),
    (pod(tolerations=[{"operator": "Exists", "value": "x"}]), ["spec.tolerations[0].operator"]),
    (pod(dnsPolicy="None"), ["spec.dnsConfig"]),
    (pod(dnsPolicy="None", dnsConfig={"searches": ["a"]}), ["spec.dnsConfig.nameservers"]),
    (pod(activeDeadlineSeconds=0), ["spec.activeDeadlineSeconds"]),
    (deployment(strategy={"type": "Recreate", "rollingUpdate": {}}), ["spec.strategy.rollingUpdate"]),
    (deployment(selector={"matchLabels": {"a": "other"}}), ["spec.template.metadata.labels"]),
    (deployment(progressDeadlineSeconds=0), ["spec.progressDeadlineSeconds"]),
    (("v1", "PersistentVolume", {"spec": {**VOLUME, "capacity": {}}}), ["spec.capacity", "spec.capacity"]),
    (("v1", "PersistentVolumeClaim", {"spec": {**CLAIM, "volumeMode": "X"}}), ["spec.volumeMode"]),
    (("networking.k8s.io/v1", "Ingress", {"spec": {}}), ["spec"]),
    (
        ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "x"}}),
        ["spec.controller"],
    ),
    (
        ("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"scaleTargetRef": TARGET}}),
        ["spec.maxReplicas", "spec.maxReplicas"],
    ),
    (
        ("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 1, "maxUnavailable": 1}}),
        ["spec"],
    ),
    (
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {"webhooks": [{**HOOK, "name": "x"}]}),
        ["webhooks[0].name"],
    ),
    *(
        (("admissionregistration.k8s.io/v1", kind, {"webhooks": [{**HOOK, name: value}]}), [f"webhooks[0].{name}"])
        for kind, name, value in [
            ("MutatingWebhookConfiguration", "failurePolicy", "Retry"),
            ("MutatingWebhookConfiguration", "matchPolicy", "Same"),
            ("MutatingWebhookConfiguration", "sideEffects", "Some"),
            ("MutatingWebhookConfiguration", "sideEffects", None),
            ("MutatingWebhookConfiguration", "timeoutSeconds", 0),
            ("MutatingWebhookConfiguration", "timeoutSeconds", 31),
            ("MutatingWebhookConfiguration", "reinvocationPolicy", "Always"),
            ("ValidatingWebhookConfiguration", "failurePolicy", "Retry"),
            ("ValidatingWebhookConfiguration", "matchPolicy", "Same"),
        ]
    ),
    (("v1", "ResourceQuota", {"spec": {"hard": {"bogus": "1"}}}), ["spec.hard[bogus]"] * 2),
    (("v1", "ResourceQuota", {"spec": {"hard": {"pods": "1"}, "scopes": ["Tired"]}}), ["spec.scopes"]),
    (("v1", "ResourceQuota", {"spec": {"hard": {"services": "1"}, "scopes": ["Terminating"]}}), ["spec.scopes"]),
    (
        ("v1", "LimitRange", {"spec": {"limits": [{"type": "Pod", "default": {"cpu": "1"}}]}}),
        ["spec.limits[0].default"],
    ),
    (("v1", "ConfigMap", {"data": {"a": "1"}, "binaryData": {"a": "aGk="}}), ["data[a]"]),
    (("v1", "Endpoints", {"subsets": [{}]}), ["subsets[0]"]),
    (
        ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": [{"addresses": ["::2"]}]}),
        ["endpoints[0].addresses"],
    ),
    (("storage.k8s.io/v1", "StorageClass", {"provisioner": ""}), ["provisioner"]),
    (
        ("rbac.authorization.k8s.io/v1", "ClusterRole", {"rules": [{"nonResourceURLs": ["/x"]}]}),
        ["rules[0].verbs"],
    ),
    (
        ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}, "ingress": [{"from": [{}]}]}}),
        ["spec.ingress[0].from[0]"],
    ),
    (("v1", "Node", {"spec": {"podCIDRs": ["x"]}}), ["spec.podCIDRs[0]"]),
    (("scheduling.k8s.io/v1", "PriorityClass", {"value": 2_000_000_000}), ["value"]),
]


@pytest.mark.parametrize(("given", "fields"), WRONG)
def test_what_is_wrong_is_named(given: tuple[str, str, Json], fields: list[str]) -> None:
    assert fields_of(*given) == fields


def updated(group_version: str, kind: str, before: Json, after: Json) -> list[str]:
    resource, old = made(group_version, kind, before)
    _, new = made(group_version, kind, after)
    return [str(error).partition("\n")[0][:90] for error in validation.update(resource, new, old, "")]


def test_of_a_pod_hardly_anything_changes() -> None:
    before = {"spec": {**POD, "tolerations": [{"key": "a", "operator": "Exists"}], "activeDeadlineSeconds": 60}}
    for change in (
        {"activeDeadlineSeconds": 30},
        {"containers": [{"name": "c", "image": "other"}]},
        {"tolerations": [*before["spec"]["tolerations"], {"key": "b", "operator": "Exists"}]},
    ):
        assert updated("v1", "Pod", before, {"spec": {**before["spec"], **change}}) == []
    for change, field in (
        ({"activeDeadlineSeconds": 90}, "spec.activeDeadlineSeconds: Invalid value: 90"),
        ({"tolerations": []}, "spec.tolerations: Forbidden: existing toleration"),
        ({"nodeName": "n"}, "spec: Forbidden: pod updates may not change fields other than"),
        ({"containers": [*POD["containers"], {"name": "d", "image": "i"}]}, "spec.containers: Forbidden"),
    ):
        (error,) = updated("v1", "Pod", before, {"spec": {**before["spec"], **change}})
        assert error.startswith(field)


def test_a_claim_grows_only_once_it_is_bound() -> None:
    bigger = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    (error,) = updated("v1", "PersistentVolumeClaim", {"spec": CLAIM}, {"spec": bigger})
    assert error.startswith("spec: Forbidden: spec is immutable after creation")
    bound = {"spec": CLAIM, "status": {"phase": "Bound"}}
    assert updated("v1", "PersistentVolumeClaim", bound, {"spec": bigger}) == []
