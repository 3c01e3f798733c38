"""The default values of the built-in kinds, and the warnings for their fields."""

from __future__ import annotations

import random
from typing import Any

import protobuf_documents
import pytest

from clientgo.testing.apiserver.kinds import defaults, protobuf, schema, strategy, warnings
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.kinds.validation import internal_types, networking
from clientgo.testing.apiserver.wire.jsonio import copy

Json = dict[str, Any]
REGISTRY = Registry()


def resource(storage: str) -> Resource:
    found = REGISTRY.by_storage(storage)
    assert found is not None
    return found


def filled(group_version: str, kind: str, **fields: Any) -> Json:
    obj = {"metadata": {"name": "x"}, **fields, "apiVersion": group_version, "kind": kind}
    fill = defaults.for_kind(group_version, kind)
    assert fill is not None
    fill(obj)
    return obj


@pytest.mark.parametrize(
    "kind",
    [each for each in REGISTRY.all() if defaults.for_kind(each.group_version, each.kind) is not None],
    ids=lambda each: f"{each.kind} of {each.group_version}",
)
def test_what_is_filled_in_is_in_normal_form(kind: Resource) -> None:
    message, struct = protobuf.message_of(kind.group_version, kind.kind), kind.struct
    assert message is not None and struct is not None
    for seed in range(60):
        given = protobuf_documents.document(message, random.Random(seed)) if seed else {}
        obj = struct.decode(given, schema.Context(), "", "")
        filled_in = filled(kind.group_version, kind.kind, **obj)
        assert struct.decode(copy(filled_in), schema.Context(), "", "") == filled_in


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("n", "Always"),
        ("n:latest", "Always"),
        ("reg:5000/a/b", "Always"),
        ("reg:5000/a/b:1", "IfNotPresent"),
        ("a@sha256:0", "IfNotPresent"),
        ("", "IfNotPresent"),
        (" x", "IfNotPresent"),
        ("Upper", "IfNotPresent"),
    ],
)
def test_what_cannot_be_read_as_an_image_is_not_pulled_again(image: str, policy: str) -> None:
    pod = filled("v1", "Pod", spec={"containers": [{"name": "c", "image": image}]})
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_handlers_and_volumes_are_completed() -> None:
    container = {"name": "c", "lifecycle": {"preStop": {"httpGet": {"port": 80}}}}
    downward = {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}
    claim = {"volumeClaimTemplate": {"spec": {}}}
    volumes = [{"name": "d", "downwardAPI": downward}, {"name": "e", "ephemeral": claim}]
    spec = filled("v1", "Pod", spec={"containers": [container], "volumes": volumes, "serviceAccount": "a",
                                     "terminationGracePeriodSeconds": -5})["spec"]  # fmt: skip
    assert spec["containers"][0]["lifecycle"]["preStop"]["httpGet"] == {"port": 80, "path": "/", "scheme": "HTTP"}
    assert spec["volumes"][0]["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] == "v1"
    assert spec["volumes"][1]["ephemeral"]["volumeClaimTemplate"]["spec"] == {"volumeMode": "Filesystem"}
    assert (spec["serviceAccountName"], spec["terminationGracePeriodSeconds"]) == ("a", 1)


def at(obj: Any, path: str) -> Any:
    """Return the value at a path of names and indices."""
    for name in path.split("."):
        obj = obj[int(name) if name.isdecimal() else name]
    return obj


TEMPLATE: Json = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
POD = {
    "containers": [
        {
            "name": "c",
            "image": "i:1",
            "livenessProbe": {"httpGet": {"port": 80}},
            "ports": [{"containerPort": 80}],
            "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        }
    ],
    "volumes": [
        {"name": "a", "secret": {"secretName": "s"}},
        {"name": "b", "projected": {"sources": [{"serviceAccountToken": {"path": "p"}}]}},
    ],
}
DEFAULTS: list[tuple[str, str, Json, dict[str, Any]]] = [
    (
        "v1", "Pod", {"spec": POD},
        {
            "spec.restartPolicy": "Always", "spec.dnsPolicy": "ClusterFirst", "spec.schedulerName": "default-scheduler",
            "spec.terminationGracePeriodSeconds": 30, "spec.enableServiceLinks": True, "spec.securityContext": {},
            "spec.containers.0.terminationMessagePath": "/dev/termination-log",
            "spec.containers.0.terminationMessagePolicy": "File",
            "spec.containers.0.imagePullPolicy": "IfNotPresent",
            "spec.containers.0.ports.0.protocol": "TCP",
            "spec.containers.0.env.0.valueFrom.fieldRef.apiVersion": "v1",
            "spec.containers.0.livenessProbe": {
                "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
            },
            "spec.volumes.0.secret.defaultMode": 0o644,
            "spec.volumes.1.projected.defaultMode": 0o644,
            "spec.volumes.1.projected.sources.0.serviceAccountToken.expirationSeconds": 3600,
        },
    ),
    (
        "apps/v1", "Deployment", {"spec": {"template": TEMPLATE}},
        {
            "spec.replicas": 1, "spec.revisionHistoryLimit": 10, "spec.progressDeadlineSeconds": 600,
            "spec.strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        },
    ),
    ("apps/v1", "ReplicaSet", {"spec": {"template": TEMPLATE}}, {"spec.replicas": 1}),
    (
        "apps/v1", "StatefulSet", {"spec": {"template": TEMPLATE, "volumeClaimTemplates": [{"spec": {}}]}},
        {
            "spec.replicas": 1, "spec.revisionHistoryLimit": 10, "spec.podManagementPolicy": "OrderedReady",
            "spec.updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            "spec.volumeClaimTemplates.0.kind": "PersistentVolumeClaim",
            "spec.volumeClaimTemplates.0.spec.volumeMode": "Filesystem",
        },
    ),
    (
        "apps/v1", "DaemonSet", {"spec": {"template": TEMPLATE}},
        {
            "spec.revisionHistoryLimit": 10,
            "spec.updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        },
    ),
    (
        "batch/v1", "Job", {"spec": {"template": TEMPLATE}},
        {
            "spec.completions": 1, "spec.parallelism": 1, "spec.backoffLimit": 6, "spec.completionMode": "NonIndexed",
            "spec.suspend": False, "spec.podReplacementPolicy": "TerminatingOrFailed",
        },
    ),
    (
        "batch/v1", "CronJob", {"spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}}},
        {
            "spec.concurrencyPolicy": "Allow", "spec.suspend": False,
            "spec.successfulJobsHistoryLimit": 3, "spec.failedJobsHistoryLimit": 1,
        },
    ),
    (
        "v1", "Service", {"spec": {"ports": [{"port": 80}], "type": "LoadBalancer"}},
        {
            "spec.sessionAffinity": "None", "spec.externalTrafficPolicy": "Cluster",
            "spec.internalTrafficPolicy": "Cluster", "spec.allocateLoadBalancerNodePorts": True,
            "spec.ports.0.protocol": "TCP", "spec.ports.0.targetPort": 80,
        },
    ),
    ("v1", "Service", {"spec": {"sessionAffinity": "ClientIP"}},
     {"spec.type": "ClusterIP", "spec.sessionAffinityConfig.clientIP.timeoutSeconds": 10800}),
    ("v1", "Secret", {}, {"type": "Opaque"}),
    ("v1", "Namespace", {}, {"status.phase": "Active", "metadata.labels": {"kubernetes.io/metadata.name": "x"}}),
    ("v1", "PersistentVolumeClaim", {"spec": {}}, {"spec.volumeMode": "Filesystem", "status.phase": "Pending"}),
    (
        "v1", "PersistentVolume", {"spec": {"hostPath": {"path": "/"}}},
        {
            "spec.volumeMode": "Filesystem", "spec.persistentVolumeReclaimPolicy": "Retain", "status.phase": "Pending",
            "spec.hostPath.type": "",
        },
    ),
    (
        "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"behavior": {"scaleDown": {}}}},
        {
            "spec.minReplicas": 1,
            "spec.behavior": {
                "scaleUp": {
                    "selectPolicy": "Max", "stabilizationWindowSeconds": 0,
                    "policies": [
                        {"type": "Pods", "value": 4, "periodSeconds": 15},
                        {"type": "Percent", "value": 100, "periodSeconds": 15},
                    ],
                },
                "scaleDown": {
                    "selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
                },
            },
        },
    ),
    ("autoscaling/v1", "HorizontalPodAutoscaler", {"spec": {}},
     {"spec.minReplicas": 1, "spec.targetCPUUtilizationPercentage": 80}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {}}, {"spec.metrics": [{
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }]}),
    ("storage.k8s.io/v1", "StorageClass", {}, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
    ("scheduling.k8s.io/v1", "PriorityClass", {}, {"preemptionPolicy": "PreemptLowerPriority"}),
    (
        "rbac.authorization.k8s.io/v1", "RoleBinding",
        {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]},
        {"roleRef.apiGroup": "rbac.authorization.k8s.io", "subjects.0.apiGroup": "rbac.authorization.k8s.io"},
    ),
    ("v1", "PodTemplate", {"template": copy(TEMPLATE)}, {"template.spec.restartPolicy": "Always"}),
    (
        "v1", "ReplicationController",
        {"spec": {"template": {**copy(TEMPLATE), "metadata": {"labels": {"a": "b"}}}}},
        {
            "spec.replicas": 1, "spec.selector": {"a": "b"}, "metadata.labels": {"a": "b"},
            "spec.template.spec.dnsPolicy": "ClusterFirst",
        },
    ),
    ("v1", "Endpoints", {"subsets": [{"ports": [{"port": 1}]}]}, {"subsets.0.ports.0.protocol": "TCP"}),
    ("v1", "Node", {"spec": {"podCIDRs": ["10.1.0.0/24"]}}, {"spec.podCIDR": "10.1.0.0/24"}),
    (
        "v1", "LimitRange",
        {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Mi"}}]}},
        {
            "spec.limits.0.default": {"cpu": "2"},
            "spec.limits.0.defaultRequest": {"cpu": "2", "memory": "1Mi"},
        },
    ),
    ("networking.k8s.io/v1", "IngressClass", {"spec": {"parameters": {"kind": "K", "name": "n"}}},
     {"spec.parameters.scope": "Cluster"}),
    (
        "networking.k8s.io/v1", "NetworkPolicy",
        {"spec": {"ingress": [{"ports": [{"port": 1}]}], "egress": [{"ports": [{"port": 2}]}]}},
        {
            "spec.ingress.0.ports.0.protocol": "TCP", "spec.egress.0.ports.0.protocol": "TCP",
            "spec.policyTypes": ["Ingress", "Egress"],
        },
    ),
    ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {}}, {"spec.policyTypes": ["Ingress"]}),
    (
        "rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
        {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "Group", "name": "g"}]},
        {"roleRef.apiGroup": "rbac.authorization.k8s.io", "subjects.0.apiGroup": "rbac.authorization.k8s.io"},
    ),
    ("discovery.k8s.io/v1", "EndpointSlice", {"ports": [{"port": 1}]}, {"ports.0": {
        "port": 1, "name": "", "protocol": "TCP"}}),
    (
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", {"spec": {"names": {"plural": "ws", "kind": "Wi"}}},
        {"spec.names.singular": "wi", "spec.names.listKind": "WiList", "spec.conversion": {"strategy": "None"}},
    ),
    (
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
        {"webhooks": [{"rules": [{}], "clientConfig": {"service": {}}}]},
        {"webhooks.0.failurePolicy": "Fail", "webhooks.0.timeoutSeconds": 10, "webhooks.0.rules.0.scope": "*"},
    ),
    *(
        (
            "admissionregistration.k8s.io/v1", kind,
            {"spec": {"matchConstraints": {"resourceRules": [{}], "excludeResourceRules": [{}]}}},
            {
                "spec.failurePolicy": "Fail", "spec.matchConstraints.matchPolicy": "Equivalent",
                "spec.matchConstraints.namespaceSelector": {}, "spec.matchConstraints.objectSelector": {},
                "spec.matchConstraints.resourceRules.0.scope": "*",
                "spec.matchConstraints.excludeResourceRules.0.scope": "*",
            },
        )
        for kind in ("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy")
    ),
    *(
        ("admissionregistration.k8s.io/v1", kind, {"spec": {"matchResources": {"resourceRules": [{}]}}},
         {"spec.matchResources.matchPolicy": "Equivalent", "spec.matchResources.resourceRules.0.scope": "*"})
        for kind in ("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding")
    ),
    (
        "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
        {"webhooks": [{"rules": [{}], "clientConfig": {"service": {}}}]},
        {
            "webhooks.0.failurePolicy": "Fail", "webhooks.0.matchPolicy": "Equivalent",
            "webhooks.0.timeoutSeconds": 10, "webhooks.0.reinvocationPolicy": "Never",
            "webhooks.0.namespaceSelector": {}, "webhooks.0.objectSelector": {},
            "webhooks.0.rules.0.scope": "*", "webhooks.0.clientConfig.service.port": 443,
        },
    ),
]  # fmt: skip
"""Kinds, their given fields and the values that the API reference documents for the fields left out."""


@pytest.mark.parametrize(("group_version", "kind", "given", "wanted"), DEFAULTS, ids=[each[1] for each in DEFAULTS])
def test_fields_that_are_left_out_have_the_documented_values(
    group_version: str, kind: str, given: Json, wanted: dict[str, Any]
) -> None:
    obj = filled(group_version, kind, **copy(given))
    assert {path: at(obj, path) for path in wanted} == wanted


def test_each_kind_with_defaults_has_a_row() -> None:
    having = {
        (each.group_version, each.kind)
        for each in REGISTRY.all()
        if defaults.for_kind(each.group_version, each.kind) is not None
    }
    assert {row[:2] for row in DEFAULTS} == having


GIVEN: list[tuple[str, str, Json]] = [
    ("apps/v1", "Deployment", {"replicas": 0, "revisionHistoryLimit": 0, "progressDeadlineSeconds": 0,
                               "template": TEMPLATE, "strategy": {"type": "Recreate"}}),
    ("apps/v1", "Deployment", {"template": TEMPLATE, "strategy": {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}}),
    ("apps/v1", "ReplicaSet", {"replicas": 0, "template": TEMPLATE}),
    ("apps/v1", "StatefulSet", {
        "replicas": 0, "revisionHistoryLimit": 0, "podManagementPolicy": "Parallel", "template": TEMPLATE,
        "updateStrategy": {"type": "OnDelete"},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"}}),
    ("apps/v1", "DaemonSet", {"revisionHistoryLimit": 0, "template": TEMPLATE, "updateStrategy": {"type": "OnDelete"}}),
    ("apps/v1", "DaemonSet", {"template": TEMPLATE, "updateStrategy": {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}}),
    ("batch/v1", "Job", {"completions": 0, "parallelism": 0, "backoffLimit": 0, "completionMode": "Indexed",
                         "suspend": True, "manualSelector": True, "podReplacementPolicy": "Failed",
                         "template": TEMPLATE}),
    ("batch/v1", "CronJob", {"concurrencyPolicy": "Forbid", "suspend": True, "successfulJobsHistoryLimit": 0,
                             "failedJobsHistoryLimit": 0, "jobTemplate": {"spec": {"template": TEMPLATE}}}),
    ("v1", "Service", {"type": "NodePort", "externalTrafficPolicy": "Local", "internalTrafficPolicy": "Local",
                       "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1}},
                       "ports": [{"port": 1, "protocol": "UDP", "targetPort": "p"}]}),
    ("v1", "Service", {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}),
    ("v1", "PersistentVolumeClaim", {"volumeMode": "Block"}),
    ("v1", "PersistentVolume", {"volumeMode": "Block", "persistentVolumeReclaimPolicy": "Delete",
                                "hostPath": {"path": "/", "type": "Directory"}}),
    ("networking.k8s.io/v1", "IngressClass", {"parameters": {"kind": "K", "name": "n", "scope": "Namespace"}}),
    ("networking.k8s.io/v1", "NetworkPolicy", {
        "policyTypes": ["Egress"], "egress": [{"ports": [{"protocol": "UDP"}]}]}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", {"minReplicas": 0, "metrics": [{"type": "Pods"}]}),
    ("autoscaling/v1", "HorizontalPodAutoscaler", {"minReplicas": 2, "targetCPUUtilizationPercentage": 50}),
    ("v1", "LimitRange", {"limits": [{"type": "Pod", "max": {"cpu": "2"}}, {
        "type": "Container", "max": {"cpu": "4"}, "min": {"cpu": "1"}, "default": {"cpu": "3"},
        "defaultRequest": {"cpu": "2"}}]}),
    ("v1", "Pod", {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "dnsPolicy": "None", "schedulerName": "own",
        "enableServiceLinks": False, "securityContext": {"runAsUser": 1},
        "volumes": [{"name": "v", "secret": {"secretName": "s", "defaultMode": 0}}],
        "containers": [{"name": "c", "image": "i", "imagePullPolicy": "Never", "terminationMessagePath": "/log",
                        "terminationMessagePolicy": "FallbackToLogsOnError",
                        "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]}),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
        "names": {"plural": "ws", "kind": "Wi", "singular": "one", "listKind": "Wis"}, "scope": "Cluster",
        "conversion": {"strategy": "Webhook"}}),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", {"usages": ["client auth"]}),
]  # fmt: skip
"""Kinds, and values of their fields that differ from the defaults, explicit zeros among them."""


@pytest.mark.parametrize(("group_version", "kind", "given"), GIVEN, ids=[each[1] for each in GIVEN])
def test_given_values_stay(group_version: str, kind: str, given: Json) -> None:
    def differing(got: Any, wanted: Any, path: str) -> list[str]:
        if isinstance(wanted, dict):
            return [each for name in wanted for each in differing(got.get(name), wanted[name], f"{path}.{name}")]
        if isinstance(wanted, list):
            pairs = zip(got, wanted, strict=True)
            return [each for i, pair in enumerate(pairs) for each in differing(*pair, f"{path}[{i}]")]
        return [] if got == wanted else [path]

    fill = defaults.for_kind(group_version, kind) or (lambda obj: None)
    obj = {"metadata": {"name": "x"}, "apiVersion": group_version, "kind": kind, "spec": copy(given)}
    fill(obj)
    assert differing(obj["spec"], given, "spec") == []


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        ({"type": "ExternalName"}, "internalTrafficPolicy"),
        ({"type": "ClusterIP"}, "externalTrafficPolicy"),
        ({"type": "ClusterIP"}, "allocateLoadBalancerNodePorts"),
        ({"sessionAffinity": "None", "sessionAffinityConfig": {"clientIP": {}}}, "sessionAffinityConfig"),
    ],
)
def test_a_service_has_no_fields_of_other_types(given: Json, absent: str) -> None:
    assert absent not in filled("v1", "Service", spec=copy(given))["spec"]


def test_a_subject_that_is_a_service_account_has_no_group() -> None:
    subject = {"kind": "ServiceAccount", "name": "a", "namespace": "n"}
    binding = filled("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef={}, subjects=[subject])
    assert "apiGroup" not in binding["subjects"][0]


def test_a_pod_without_an_account_gets_none() -> None:
    spec = filled("v1", "Pod", spec={"containers": []})["spec"]
    assert {"serviceAccount", "serviceAccountName"} & set(spec) == set()
    assert filled("v1", "Pod", spec={"serviceAccountName": "a"})["spec"]["serviceAccount"] == "a"


def test_the_ports_of_a_pod_on_the_hosts_network_are_the_hosts() -> None:
    containers = [{"name": "c", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]}]
    spec = filled("v1", "Pod", spec={"hostNetwork": True, "containers": copy(containers)})["spec"]
    assert [port["hostPort"] for port in spec["containers"][0]["ports"]] == [80, 81]
    spec = filled("v1", "Pod", spec={"containers": copy(containers)})["spec"]
    assert "hostPort" not in spec["containers"][0]["ports"][0]


def test_text_in_a_secret_is_stored_as_data() -> None:
    secret = filled("v1", "Secret", data={"b": "Yg==", "c": "eA=="}, stringData={"c": "c", "a": "a"})
    assert (secret["data"], "stringData" in secret) == ({"a": "YQ==", "b": "Yg==", "c": "Yw=="}, False)


def test_a_network_of_a_node_may_be_empty() -> None:
    assert filled("v1", "Node", spec={})["spec"] == {}
    assert filled("v1", "Node", spec={"podCIDRs": [""]})["spec"] == {"podCIDRs": [""]}
    given = {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}
    assert filled("v1", "Node", spec={}, status=copy(given))["status"] == given


def test_an_autoscaler_goes_up_fast_and_down_slowly() -> None:
    spec = filled("autoscaling/v2", "HorizontalPodAutoscaler", spec={"behavior": {"scaleUp": {}}})["spec"]
    up, down = spec["behavior"]["scaleUp"], spec["behavior"]["scaleDown"]
    assert ([policy["type"] for policy in up["policies"]], up["stabilizationWindowSeconds"]) == (["Pods", "Percent"], 0)
    assert down == {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def test_a_node_has_one_network_among_others() -> None:
    node = filled("v1", "Node", spec={"podCIDR": "10.1.0.0/24"}, status={"capacity": {"cpu": "4"}})
    assert node["spec"]["podCIDRs"] == ["10.1.0.0/24"]
    assert node["status"]["allocatable"] == {"cpu": "4"}
    both = filled("v1", "Node", spec={"podCIDR": "x", "podCIDRs": ["10.1.0.0/24"]})
    assert both["spec"]["podCIDRs"] == ["x"]


def test_a_job_that_says_what_a_failure_means_waits_for_it() -> None:
    job = filled("batch/v1", "Job", spec={"podFailurePolicy": {"rules": []}, "template": {"spec": {}}})
    assert job["spec"]["podReplacementPolicy"] == "Failed"


def test_fields_of_features_that_are_off_stay_out() -> None:
    lease: Json = {"metadata": {}, "spec": {"strategy": "s", "preferredHolder": "p"}}
    strategy.before_create(resource("coordination.k8s.io/leases"), lease, str)
    assert lease["spec"] == {}


@pytest.mark.parametrize(
    ("spec", "stored"),
    [
        ({"dataSource": {"kind": "X", "name": "n"}}, {}),
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "n"}},
         {"dataSource": {"kind": "PersistentVolumeClaim", "name": "n"},
          "dataSourceRef": {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "n"}}),
        ({"dataSourceRef": {"apiGroup": "a.b", "kind": "X", "name": "n"}},
         {"dataSourceRef": {"apiGroup": "a.b", "kind": "X", "name": "n"}}),
    ],
)  # fmt: skip
def test_the_sources_of_a_claim_agree(spec: Json, stored: Json) -> None:
    claim = {"metadata": {}, "spec": spec}
    strategy.before_create(resource("/persistentvolumeclaims"), claim, str)
    assert claim["spec"] == stored


@pytest.mark.parametrize(
    ("storage", "obj", "text"),
    [
        ("/services", {"spec": {"externalIPs": ["1.2.3.4"]}}, "spec.externalIPs is deprecated"),
        ("/services", {"spec": {"trafficDistribution": "PreferClose"}}, 'use "PreferSameZone"'),
        ("/secrets", {"type": "kubernetes.io/tls", "data": {"tls.crt": "YQ=="}}, "any PEM data in certificate input"),
        ("/serviceaccounts", {"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}},
         "deprecated in v1.32+"),
        ("networking.k8s.io/ingresses", {"metadata": {"annotations": {"kubernetes.io/ingress.class": "q"}}},
         "use 'spec.ingressClassName' instead"),
    ],
)  # fmt: skip
def test_writers_are_warned(storage: str, obj: Json, text: str) -> None:
    (found,) = warnings.of_object(resource(storage), {"metadata": {}, **obj}, None)
    assert text in found


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"clusterIPs": ["10.0.0.1"], "clusterIP": "10.0.0.1"}, None),
        ({"clusterIPs": ["8.8.8.8"], "clusterIP": "8.8.8.8"}, "the provided network does not match the current range"),
        ({"clusterIPs": ["None"]}, "must be empty when `clusterIP` is not specified"),
        ({"ipFamilies": ["IPv6"]}, "not configured on this cluster"),
        ({"ipFamilies": ["IPv4", "IPv6"], "clusterIP": "None", "clusterIPs": ["None"]}, None),
        ({"ipFamilies": ["IPv6"], "type": "ExternalName"}, None),
    ],
)
def test_what_keeps_a_service_from_its_addresses(spec: Json, wanted: str | None) -> None:
    found = networking.service_allocation({"spec": {"type": "ClusterIP", **spec}})
    assert ([error.body.rpartition(": ")[2] for error in found] == ([] if wanted is None else [wanted])) or (
        wanted is not None and wanted in found[0].body
    )


def test_a_pod_template_as_go_prints_it() -> None:
    spec = {"containers": [{"name": "c", "tty": True}], "hostNetwork": True, "securityContext": {"fsGroup": 1}}
    shown = internal_types.pod_template({"metadata": {"labels": {"a": "b"}}, "spec": spec})
    container, context = shown["Spec"]["Containers"][0], shown["Spec"]["SecurityContext"]
    assert list(shown) == ["labels", "Spec"]
    assert (container["TTY"], container["Stdin"], container["Resources"]) == (
        True, False, {"Limits": None, "Requests": None, "Claims": None},
    )  # fmt: skip
    assert (context["HostNetwork"], context["FSGroup"], context["RunAsUser"]) == (True, 1, None)
    assert list(shown["Spec"])[:3] == ["Volumes", "InitContainers", "Containers"]


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("containers", "more", "quality"),
    [
        ([{}], {}, "BestEffort"),
        ([{"requests": {"ephemeral-storage": "1Gi"}, "limits": {"example.com/gpu": "1"}}], {}, "BestEffort"),
        ([{"requests": {"cpu": "0"}, "limits": {"memory": "0"}}], {}, "BestEffort"),
        ([{"requests": {"cpu": "1m"}}], {}, "Burstable"),
        ([{"limits": {"memory": "1"}}], {}, "Burstable"),
        ([{"requests": BOTH, "limits": BOTH}], {}, "Guaranteed"),
        ([{"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": BOTH}], {}, "Guaranteed"),
        ([{"requests": {**BOTH, "example.com/gpu": "1"}, "limits": BOTH}], {}, "Guaranteed"),
        ([{"requests": {**BOTH, "cpu": "500m"}, "limits": BOTH}], {}, "Burstable"),
        ([{"requests": BOTH, "limits": {"cpu": "1"}}], {}, "Burstable"),
        ([{"requests": BOTH, "limits": BOTH}, {}], {}, "Burstable"),
        ([{"requests": BOTH, "limits": BOTH}], {"initContainers": [{"name": "i"}]}, "Burstable"),
        ([{}], {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}]}, "Burstable"),
        ([{}], {"resources": {"requests": BOTH, "limits": BOTH}}, "Guaranteed"),
        ([{"requests": BOTH, "limits": BOTH}], {"resources": {"limits": {"cpu": "1"}}}, "Burstable"),
    ],
)
def test_only_amounts_of_cpu_and_memory_decide_about_a_pods_quality(
    containers: list[Any], more: Any, quality: str
) -> None:
    spec = {"containers": [{"name": "c", "resources": resources} for resources in containers], **more}
    assert defaults.qos_class(spec) == quality
