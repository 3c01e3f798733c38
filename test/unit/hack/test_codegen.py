"""The code generators: names, and that what is committed is what they write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

from codegen import naming  # noqa: E402


def test_generated_code_is_current() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "hack" / "update-codegen", "--verify"], capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stdout + done.stderr


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
    ],
)
def test_plurals_are_those_of_kubernetes(kind: str, plural: str) -> None:
    assert naming.plural(kind) == plural


def test_constants_lose_the_name_of_their_type() -> None:
    assert naming.constant("StatusReasonNotFound", "StatusReason") == "NOT_FOUND"
    assert naming.constant("JSONPatchType", "PatchType") == "JSON"
    assert naming.constant("ConditionTrue", "ConditionStatus") == "CONDITION_TRUE"
