"""The cockroach-operator as processes, kubectl as its user: from nothing to another version, and a leader's death."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from processes import Program, as_service_account, children, eventually, kubectl, post_mortem, python, start_apiserver

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(6)]
CONFIG = "cmd/cockroach-operator/config"
NAME = "cockroachdb"
LEASE = (
    "-leader-elect",
    "-leader-elect-namespace=default",
    "-leader-elect-lease-duration=4s",
    "-leader-elect-renew-deadline=3s",
    "-leader-elect-retry-period=1s",
)
NEWER = "cockroachdb/cockroach:v22.2.0"


class Cluster:
    """An API server where workloads live, with the operator's definition and rights, and the database's state."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.kubeconfig = folder / "kubeconfig"
        self.database = folder / "database.json"
        self._stack = stack
        self.programs = [
            stack.enter_context(start_apiserver(self.kubeconfig, "--simulate-workloads", "--simulate-delay=0.1"))
        ]
        self.run("apply", "-f", f"{CONFIG}/crd", "-f", f"{CONFIG}/rbac")
        self.run("wait", "--for=condition=Established", "crd/crdbclusters.crdb.cockroachlabs.com", "--timeout=240s")
        # The operator may do what its role says, and no more.
        self.own_kubeconfig = as_service_account(self.kubeconfig, "cockroach-operator")

    def run(self, *arguments: str) -> str:
        return kubectl(self.kubeconfig, *arguments)

    def operator(self, *more: str) -> Program:
        flags = ["-health-probe-bind-address=0", f"-simulate-database={self.database}", *LEASE, *more]
        program = python("cmd/cockroach-operator", f"-kubeconfig={self.own_kubeconfig}", *flags)
        self.programs.append(self._stack.enter_context(program))
        return program

    def eventually(self, description: str, condition: Callable[[], object]) -> None:
        with post_mortem(self.programs):
            eventually(description, condition)

    def patch(self, spec: dict[str, Any]) -> None:
        self.run("patch", "crdb", NAME, "--type=merge", "-p", json.dumps({"spec": spec}))

    def status(self) -> dict[str, Any]:
        return json.loads(self.run("get", "crdb", NAME, "-o", "json")).get("status", {})

    def wait_until_running(self, nodes: int, image: str) -> None:
        pods = {f"{NAME}-{number}": image for number in range(nodes)}

        def arrived() -> bool:
            # One kubectl for all of it: this is asked many times.
            found = json.loads(self.run("get", "crdb,pods", "-o", "json"))["items"]
            (status,) = (each.get("status", {}) for each in found if each["kind"] == "CrdbCluster")
            wanted = {"Initialized", "CrdbVersionChecked", "CertificateGenerated"}
            state = status.get("clusterStatus"), true_conditions(status), ready_pods(found)
            return state == ("Running", wanted, pods)

        self.eventually(f"{nodes} nodes of {image}", arrived)

    def memberships(self) -> list[str]:
        state = json.loads(self.database.read_text()) if self.database.exists() else {}
        return [node["membership"] for cluster in state.values() for node in cluster["nodes"]]


def true_conditions(status: dict[str, Any]) -> set[str]:
    return {each["type"] for each in status.get("conditions", ()) if each["status"] == "True"}


def ready_pods(found: list[dict[str, Any]]) -> dict[str, str]:
    """Return the nodes among these objects that are ready, with their images."""
    return {
        each["metadata"]["name"]: each["spec"]["containers"][0]["image"]
        for each in found
        if each["metadata"].get("labels", {}).get("app.kubernetes.io/instance") == NAME
        and each["kind"] == "Pod"
        and "Ready" in true_conditions(each.get("status", {}))
    }


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)
    assert children() == []


def test_the_life_of_a_cluster_and_the_death_of_its_operator(cluster: Cluster) -> None:
    first = cluster.operator("-feature-gates=AutoPrunePVC=true")
    first.wait_for("Starting workers")
    second = cluster.operator("-feature-gates=AutoPrunePVC=true")
    assert f"{NAME} created" in cluster.run("apply", "-f", f"{CONFIG}/samples")
    image = "cockroachdb/cockroach:v22.1.3"
    cluster.wait_until_running(3, image)

    # One action at a time, in the order of the Director.
    line = 0
    for action in ("SetupRBAC", "VersionCheckerAction", "GenerateCert", "Deploy", "Initialize"):
        line = first.wait_for(f"Running action with name: {action}", after=line)
    first.wait_for("No actor to run; not requeueing", after=line)
    assert cluster.run("get", "crdb", "--no-headers").split() == [NAME, "3", "v22.1.3", "Running"]
    output = cluster.run("describe", "crdb", NAME)
    assert re.search("Crdbcontainerimage: +cockroachdb/cockroach:v22.1.3", output)
    assert all(text in output for text in ("Operator Actions:", "Cluster Status:", "CertificateGenerated"))
    parts = cluster.run("get", "statefulsets,services,secrets,poddisruptionbudgets", "-o", "name").split()
    assert {part.partition("/")[2] for part in parts} - {"kubernetes"} == {
        NAME, f"{NAME}-public", f"{NAME}-ca", f"{NAME}-node", f"{NAME}-root",
    }  # fmt: skip

    # A node leaves, and the operator dies in the middle of that: the other one takes over, and brings it to its end.
    cluster.patch({"nodes": 4})
    cluster.wait_until_running(4, image)
    cluster.patch({"nodes": 3})
    first.wait_for("draining node")
    first.send(signal.SIGKILL)
    first.wait()
    cluster.wait_until_running(3, image)
    second.wait_for("decommissioned node")
    assert cluster.memberships() == ["active", "active", "active", "decommissioned"]
    assert f"datadir-{NAME}-3" not in cluster.run("get", "pvc", "-o", "name")

    # Another version, by an operator that was started in the middle.
    assert second.stop() == 0, second.output
    cluster.patch({"image": {"name": NEWER}})
    third = cluster.operator()
    line = third.wait_for("Starting workers")
    cluster.wait_until_running(3, NEWER)
    for ordinal in (2, 1, 0):
        line = third.wait_for(f'updating node.*"pod": "{NAME}-{ordinal}"', after=line)
    assert cluster.status()["version"] == "v22.2.0"

    cluster.run("delete", "crdb", NAME, "--timeout=240s")
    cluster.eventually("what it owned to be collected", lambda: NAME not in cluster.run("get", "all,pdb,secrets"))
    assert third.stop() == 0, third.output
    for operator in (second, third):
        assert "forbidden" not in operator.output
