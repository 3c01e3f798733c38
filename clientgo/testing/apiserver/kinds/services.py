"""Fields of a Service that the server sets: cluster IPs, node ports, and changes that follow from its type.

Mirrors pkg/registry/core/service: the strategy's patchAllocatedValues and dropTypeDependentFields, and the allocators.
Differs: the cluster has one IP family, and two Services may request the same address or port.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver.wire.jsonio import Json

Allocate = Callable[[str], str]
_FAMILY = ("clusterIP", "clusterIPs"), ("ipFamilies",), ("ipFamilyPolicy",)


def before_create(obj: Json, allocate: Allocate) -> None:
    """Allocate a new Service's addresses and ports, and reset its status. Changes the given object."""
    _allocate(obj["spec"], allocate)
    obj["status"] = {"loadBalancer": {}}


def before_update(obj: Json, old: Json, allocate: Allocate) -> None:
    """Keep the allocated values while the type needs them and the user sets no others."""
    spec, before = obj["spec"], old.get("spec") or {}
    if spec.get("ports"):
        spec["ports"] = [dict(port) for port in spec["ports"]]
    _patch_allocated(spec, before)
    _drop_type_dependent(spec, before)
    _allocate(spec, allocate)
    if spec.get("type") != "LoadBalancer" and (obj.get("status") or {}).get("loadBalancer"):
        obj["status"] = {**obj["status"], "loadBalancer": {}}


def _patch_allocated(spec: Json, before: Json) -> None:
    if _needs_ip(spec) and _needs_ip(before):
        if not spec.get("clusterIP"):
            spec["clusterIP"] = before.get("clusterIP", "")
        if not spec.get("clusterIPs") and spec.get("clusterIP") == before.get("clusterIP"):
            spec["clusterIPs"] = list(before.get("clusterIPs") or ())
    if _needs_node_ports(spec) and _needs_node_ports(before):
        _patch_node_ports(spec, before)
    if _needs_health_check(spec) and _needs_health_check(before) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort", 0)


def _patch_node_ports(spec: Json, before: Json) -> None:
    """Copy the old node ports to ports of the same name without one, except numbers that another port uses now."""
    known = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports") or ()}
    used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")} & set(known.values())
    for port in spec.get("ports") or ():
        number = known.get(port.get("name", ""), 0)
        if not port.get("nodePort") and number and number not in used:
            port["nodePort"] = number
            used.add(number)


def _drop_type_dependent(spec: Json, before: Json) -> None:
    """Drop the fields that the old type of a Service had and the new type does not have.

    A field that the user changed together with the type stays.
    """
    if _needs_ip(before) and not _needs_ip(spec):
        for names in _FAMILY:
            _drop_unchanged(spec, before, *names)
    if _needs_node_ports(before) and not _needs_node_ports(spec) and _node_ports(spec) == _node_ports(before):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if _needs_health_check(before) and not _needs_health_check(spec):
        _drop_unchanged(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        _drop_unchanged(spec, before, "allocateLoadBalancerNodePorts")
        _drop_unchanged(spec, before, "loadBalancerClass")
    if _needs_ip(before) and not _needs_ip(spec):
        _drop_unchanged(spec, before, "internalTrafficPolicy")
    if needs_external_policy(before) and not needs_external_policy(spec):
        _drop_unchanged(spec, before, "externalTrafficPolicy")


def _drop_unchanged(spec: Json, before: Json, *names: str) -> None:
    if all(spec.get(name) == before.get(name) for name in names):
        for name in names:
            spec.pop(name, None)


def _allocate(spec: Json, allocate: Allocate) -> None:
    if _needs_ip(spec):
        if not spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIP"] = allocate("ip")
        if not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        _default_families(spec)
    if _needs_node_ports(spec):
        for port in spec.get("ports") or ():
            if not port.get("nodePort"):
                port["nodePort"] = int(allocate("port"))
    if _needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = int(allocate("port"))


def _default_families(spec: Json) -> None:
    families: list[Any] = list(spec.get("ipFamilies") or ["IPv4"])
    free = spec.get("clusterIP") == "None" and not spec.get("selector")
    if free and len(families) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        # The author of such a Service's endpoints may use addresses of both families.
        families.append("IPv6" if families == ["IPv4"] else "IPv4")
        spec["ipFamilyPolicy"] = spec.get("ipFamilyPolicy") or "RequireDualStack"
    spec["ipFamilies"] = families
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = "SingleStack"


def _needs_ip(spec: Json) -> bool:
    return spec.get("type") in ("ClusterIP", "NodePort", "LoadBalancer")


def _needs_node_ports(spec: Json) -> bool:
    if spec.get("type") == "NodePort":
        return True
    return spec.get("type") == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False


def _needs_health_check(spec: Json) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def needs_external_policy(spec: Json) -> bool:
    """Report whether the Service accepts external traffic: by its type, or by addresses that are routed to it."""
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        return True
    return spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))


def _node_ports(spec: Json) -> list[int]:
    return [port.get("nodePort", 0) for port in spec.get("ports") or ()]
