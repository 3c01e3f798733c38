"""Go's names become Python names by rule."""

from __future__ import annotations

import pytest

from clientgo.codegen import naming


@pytest.mark.parametrize(
    ("go", "python"),
    [
        ("ClusterIPs", "cluster_ips"),
        ("HostIPC", "host_ipc"),
        ("CoreV1", "core_v1"),
        ("AutoscalingV2beta1", "autoscaling_v2beta1"),
        ("OpenAPIV3", "openapi_v3"),
        ("CABundle", "ca_bundle"),
        ("From", "from_"),
        ("UIDs", "uids"),
        ("ServerAddressByClientCIDRs", "server_address_by_client_cidrs"),
    ],
)
def test_names_follow_the_rule(go: str, python: str) -> None:
    assert naming.snake(go) == python


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "pods"),
        ("Endpoints", "endpoints"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("StorageClass", "storageclasses"),
        ("ComponentStatus", "componentstatuses"),
        ("Gateway", "gateways"),
        ("Node", "nodes"),
        ("Endpoint", "endpoints"),
    ],
)
def test_plurals_are_those_of_kubernetes(kind: str, plural: str) -> None:
    assert naming.plural(kind) == plural


def test_constants_lose_the_name_of_their_type() -> None:
    assert naming.constant("StatusReasonNotFound", "StatusReason") == "NOT_FOUND"
    assert naming.constant("JSONPatchType", "PatchType") == "JSON"
    assert naming.constant("ConditionTrue", "ConditionStatus") == "CONDITION_TRUE"
    assert naming.constant("Always", "Always") == "ALWAYS", "nothing would be left of it"
