"""The fields of a Service that the server sets, keeps and drops. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import services
from clientgo.testing.apiserver.wire.jsonio import copy

Json = dict[str, Any]
FAMILIES: Json = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
GIVEN: Json = {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"], **FAMILIES}
BALANCED: Json = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 31000,
                  "allocateLoadBalancerNodePorts": True, "loadBalancerClass": "a/b", **GIVEN,
                  "ports": [{"port": 80, "nodePort": 30080}]}  # fmt: skip


class Allocator:
    """Hands out 10.0.0.1, 30001, 30002 and so on, and counts."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(self, kind: str) -> str:
        self.given.append(kind)
        return f"10.0.0.{len(self.given)}" if kind == "ip" else str(30000 + len(self.given))


def created(**spec: Any) -> tuple[Json, list[str]]:
    allocate, obj = Allocator(), {"spec": copy(spec)}
    services.before_create(obj, allocate)
    assert obj["status"] == {"loadBalancer": {}}
    return obj["spec"], allocate.given


def updated(before: Json, **spec: Any) -> tuple[Json, list[str]]:
    allocate, obj = Allocator(), {"spec": copy(spec)}
    services.before_update(obj, {"spec": copy(before)}, allocate)
    return obj["spec"], allocate.given


@pytest.mark.parametrize(
    ("spec", "wanted", "allocated"),
    [
        ({"type": "ClusterIP"}, {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], **FAMILIES}, ["ip"]),
        ({"type": "ClusterIP", "clusterIP": "10.0.0.9"}, GIVEN, []),
        ({"type": "ClusterIP", "clusterIP": "None", "selector": {"a": "b"}},
         {"clusterIP": "None", "clusterIPs": ["None"], **FAMILIES}, []),
        ({"type": "ClusterIP", "clusterIP": "None"},
         {"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "RequireDualStack"}, []),
        ({"type": "ClusterIP", "clusterIP": "None", "ipFamilies": ["IPv6"], "ipFamilyPolicy": "PreferDualStack"},
         {"ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "PreferDualStack"}, []),
        ({"type": "ClusterIP", "clusterIP": "None", "ipFamilyPolicy": "SingleStack"}, FAMILIES, []),
        ({"type": "NodePort", "clusterIP": "10.0.0.9", "ports": [{"port": 1}, {"port": 2, "nodePort": 31000}]},
         {"ports": [{"port": 1, "nodePort": 30001}, {"port": 2, "nodePort": 31000}]}, ["port"]),
        ({"type": "LoadBalancer", "clusterIP": "10.0.0.9", "ports": [{"port": 1}]},
         {"ports": [{"port": 1, "nodePort": 30001}]}, ["port"]),
        ({"type": "LoadBalancer", "clusterIP": "10.0.0.9", "ports": [{"port": 1}],
          "allocateLoadBalancerNodePorts": False}, {"ports": [{"port": 1}]}, []),
        ({"type": "LoadBalancer", "clusterIP": "10.0.0.9", "externalTrafficPolicy": "Local"},
         {"healthCheckNodePort": 30001}, ["port"]),
        ({"type": "LoadBalancer", "clusterIP": "10.0.0.9", "externalTrafficPolicy": "Local",
          "healthCheckNodePort": 31000}, {"healthCheckNodePort": 31000}, []),
        ({"type": "NodePort", "clusterIP": "10.0.0.9", "externalTrafficPolicy": "Local"},
         {"healthCheckNodePort": None}, []),
        ({"type": "ExternalName", "ports": [{"port": 1}]},
         {"clusterIP": None, "ipFamilies": None, "ports": [{"port": 1}]}, []),
    ],
)  # fmt: skip
def test_a_new_service_gets_what_its_type_needs(spec: Json, wanted: Json, allocated: list[str]) -> None:
    found, given = created(**spec)
    assert {name: found.get(name) for name in wanted} == wanted
    assert given == allocated


PORTS: Json = {"type": "NodePort", **GIVEN, "ports": [
    {"name": "a", "port": 1, "nodePort": 31001}, {"name": "b", "port": 2, "nodePort": 31002}]}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "spec", "wanted", "allocated"),
    [
        ({"type": "ClusterIP", **GIVEN}, {"type": "ClusterIP"}, {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"]},
         []),
        ({"type": "ClusterIP", **GIVEN}, {"type": "ClusterIP", "clusterIP": "10.0.0.8"},
         {"clusterIP": "10.0.0.8", "clusterIPs": ["10.0.0.8"]}, []),
        ({"type": "ExternalName"}, {"type": "ClusterIP"}, {"clusterIP": "10.0.0.1"}, ["ip"]),
        (PORTS, {"type": "NodePort", "ports": [{"name": "b", "port": 2}, {"name": "c", "port": 3}]},
         {"ports": [{"name": "b", "port": 2, "nodePort": 31002}, {"name": "c", "port": 3, "nodePort": 30001}]},
         ["port"]),
        (PORTS, {"type": "NodePort", "ports": [{"name": "b", "port": 2}, {"name": "c", "port": 3, "nodePort": 31002}]},
         {"ports": [{"name": "b", "port": 2, "nodePort": 30001}, {"name": "c", "port": 3, "nodePort": 31002}]},
         ["port"]),
        (BALANCED, {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]},
         {"healthCheckNodePort": 31000, "ports": [{"port": 80, "nodePort": 30080}]}, []),
    ],
)  # fmt: skip
def test_an_update_keeps_what_was_allocated(before: Json, spec: Json, wanted: Json, allocated: list[str]) -> None:
    found, given = updated(before, **spec)
    assert {name: found.get(name) for name in wanted} == wanted
    assert given == allocated


@pytest.mark.parametrize(
    ("changes", "absent", "kept"),
    [
        ({"type": "ClusterIP"},
         {"healthCheckNodePort", "allocateLoadBalancerNodePorts", "loadBalancerClass", "externalTrafficPolicy"},
         {"clusterIP": "10.0.0.9", "ports": [{"port": 80}]}),
        ({"type": "NodePort"}, {"healthCheckNodePort", "allocateLoadBalancerNodePorts", "loadBalancerClass"},
         {"externalTrafficPolicy": "Local", "ports": [{"port": 80, "nodePort": 30080}]}),
        ({"type": "ExternalName", "internalTrafficPolicy": "Local"},
         {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"},
         {"internalTrafficPolicy": "Local", "ports": [{"port": 80}]}),
        # Fields that the user changes together with the type stay.
        ({"type": "ClusterIP", "loadBalancerClass": "c/d", "healthCheckNodePort": 31001,
          "externalTrafficPolicy": "Cluster", "ports": [{"port": 80, "nodePort": 30081}]}, set(),
         {"loadBalancerClass": "c/d", "healthCheckNodePort": 31001, "externalTrafficPolicy": "Cluster",
          "ports": [{"port": 80, "nodePort": 30081}]}),
        ({"type": "ExternalName", "clusterIP": "10.0.0.8"}, {"ipFamilies", "ipFamilyPolicy"},
         {"clusterIP": "10.0.0.8", "clusterIPs": ["10.0.0.9"]}),
    ],
)  # fmt: skip
def test_another_type_drops_the_fields_of_the_old_one(changes: Json, absent: set[str], kept: Json) -> None:
    found, given = updated(BALANCED, **{**BALANCED, **changes})
    assert absent & found.keys() == set()
    assert {name: found.get(name) for name in kept} == kept
    assert given == []


@pytest.mark.parametrize(("kind", "stays"), [("LoadBalancer", True), ("NodePort", False)])
def test_only_a_load_balancer_keeps_its_addresses(kind: str, stays: bool) -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}]}}
    obj = {"spec": {**copy(BALANCED), "type": kind}, "status": copy(status)}
    services.before_update(obj, {"spec": copy(BALANCED)}, Allocator())
    assert obj["status"] == (status if stays else {"loadBalancer": {}})


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"type": "NodePort"}, True),
        ({"type": "LoadBalancer"}, True),
        ({"type": "ClusterIP"}, False),
        ({"type": "ClusterIP", "externalIPs": ["1.1.1.1"]}, True),
        ({"type": "ExternalName", "externalIPs": ["1.1.1.1"]}, False),
    ],
)
def test_which_services_take_traffic_from_outside(spec: Json, wanted: bool) -> None:
    assert services.needs_external_policy(spec) is wanted
