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
    (found,) = warnings.of_object(resource(storage), {"metadata": {}, **obj}, created=True)
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
