"""The elasticsearch-operator as processes, kubectl as its user: one walk through its phases, with deaths on the way."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import (
    Program,
    as_service_account,
    children,
    eventually,
    kubectl,
    post_mortem,
    python,
    start_apiserver,
    watch,
)

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(6)]
CONFIG = "cmd/elasticsearch-operator/config"
ES = "quickstart"
PREFIX = f"{ES}-es"
IMAGE = "registry.example/elasticsearch:8.12.0"

# Errors that may be in the log: a cache is behind, what then fails is tried again; a manager tells of its end; and what
# the walk does wrong on purpose.
EXCUSES = (
    "already exists",
    "the object has been modified",
    "Precondition failed",
    "leader election lost",
    "context canceled",
    "Downgrades are not supported",
)


class Cluster:
    """An API server where StatefulSets live, allowed to its operators what their role says."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.kubeconfig = folder / "kubeconfig"
        self._state = folder / "elasticsearch.json"
        self._stack = stack
        self.server = stack.enter_context(
            start_apiserver(self.kubeconfig, "--simulate-workloads", "--simulate-delay=0.1")
        )
        self.programs = [self.server]
        self.run("apply", "-f", f"{CONFIG}/crd", "-f", f"{CONFIG}/rbac")
        self.run("wait", "--for=condition=Established", "crd/elasticsearches.elasticsearch.k8s.elastic.co")
        self._own = as_service_account(self.kubeconfig, "elastic-operator", "elastic-system")
        # One kubectl that tells of each change, and not one for each question.
        status = ("observedGeneration", "phase", "health", "availableNodes")
        columns = " ".join(["{.metadata.name}", *(f"{{.status.{each}}}" for each in status)])
        self._watch = stack.enter_context(watch(self.kubeconfig, "es", columns))

    def run(self, *arguments: str, check: bool = True) -> str:
        return kubectl(self.kubeconfig, *arguments, check=check)

    def operator(self) -> Program:
        program = python(
            "cmd/elasticsearch-operator",
            f"-kubeconfig={self._own}",
            f"-elasticsearch-state={self._state}",
            "-simulated-indices=logs=2:1",
            "-simulated-speed=50",
            "-requeue-after=300ms",
            "-leader-elect",
            "-leader-elect-namespace=elastic-system",
            "-leader-elect-lease-duration=4s",
            "-leader-elect-renew-deadline=3s",
            "-leader-elect-retry-period=1s",
        )
        self.programs.append(self._stack.enter_context(program))
        return program

    def eventually(self, description: str, condition: Callable[[], object]) -> None:
        with post_mortem(self.programs, look=lambda: self.run("get", "es,sts,pods,pdb", "-o", "yaml")):
            eventually(description, condition)

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return json.loads(self.run("get", kind, name, "-o", "json"))

    def patch(self, spec: dict[str, Any]) -> None:
        self.run("patch", "es", ES, "--type=merge", "-p", json.dumps({"spec": spec}))

    def pods(self) -> dict[str, str]:
        """Return the versions of the pods."""
        nodes = f"elasticsearch.k8s.elastic.co/cluster-name={ES}"
        found = json.loads(self.run("get", "pods", "-l", nodes, "-o", "json"))["items"]
        version = "elasticsearch.k8s.elastic.co/version"
        return {pod["metadata"]["name"]: pod["metadata"]["labels"][version] for pod in found}

    def claims(self) -> dict[str, str]:
        """Return the sizes of the data nodes' volumes."""
        found = json.loads(self.run("get", "pvc", "-o", "json"))["items"]
        sizes = {each["metadata"]["name"]: each["status"]["capacity"]["storage"] for each in found}
        return {name: size for name, size in sizes.items() if "masters" not in name}

    def wait_until_ready(self, nodes: int) -> None:
        """Wait until the status has the generation and all nodes are ready. The status is written as a whole."""
        generation = self.get("es", ES)["metadata"]["generation"]
        with post_mortem(self.programs, look=lambda: self.run("get", "es,sts,pods,pdb", "-o", "yaml")):
            self._watch.wait_for(f"^{ES} {generation} Ready green {nodes}$")

    def end(self) -> None:
        assert self.server.stop() == 0, self.server.output
        for program in self.programs:
            assert program.process.poll() is not None, "left running by a test that has failed"
            errors = [line for line in program.output.splitlines() if "\tERROR\t" in line]
            assert [line for line in errors if not any(excuse in line for excuse in EXCUSES)] == []


CLAIM = {
    "metadata": {"name": "elasticsearch-data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
}


def node_sets(masters: int, data: int) -> list[dict[str, Any]]:
    return [
        {"name": "masters", "count": masters, "config": {"node.roles": ["master"]}},
        {"name": "data", "count": data, "config": {"node.roles": ["data", "ingest"]}, "volumeClaimTemplates": [CLAIM]},
    ]


def test_a_cluster_lives_through_all_phases_and_the_deaths_of_its_operators(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        cluster = Cluster(tmp_path, stack)
        first = cluster.operator()
        first.wait_for("Starting workers")
        second = cluster.operator()
        walk(cluster, first, second)
        cluster.end()
    assert children() == []


def walk(cluster: Cluster, first: Program, second: Program) -> None:
    # Services, Secrets and certificates, StatefulSets, a disruption budget.
    cluster.run("apply", "-f", f"{CONFIG}/samples")
    cluster.wait_until_ready(5)
    assert "No resources" in cluster.run("get", "jobs")
    for line in ("Setting `cluster.initial_master_nodes`", "Creating nodes", "Zen 2 bootstrap is complete"):
        first.wait_for(line)
    kinds = cluster.run("get", "statefulsets,services,secrets,pdb", "-o", "name").split()
    assert {
        f"statefulset.apps/{PREFIX}-data",
        f"statefulset.apps/{PREFIX}-masters",
        f"service/{PREFIX}-http",
        f"service/{PREFIX}-transport",
        f"secret/{PREFIX}-elastic-user",
        f"secret/{PREFIX}-http-certs-public",
        f"secret/{PREFIX}-masters-es-config",
        f"poddisruptionbudget.policy/{PREFIX}-default",
    } <= set(kinds)
    cluster.eventually("its budget", lambda: cluster.get("pdb", f"{PREFIX}-default")["spec"]["minAvailable"] == 4)
    assert cluster.run("get", "es", "--no-headers").split()[:5] == [ES, "green", "5", "8.11.0", "Ready"]
    assert "Starting workers" not in second.output

    # Upgraded one by one, data before masters, and the leader is killed on the way. A Job has looked at the image.
    cluster.patch({"version": "8.12.0", "image": IMAGE})
    first.wait_for("Checking the version of an image")
    first.wait_for("Deleting pod for rolling upgrade")
    first.send(signal.SIGKILL)
    first.wait()
    second.wait_for("Starting workers")
    cluster.wait_until_ready(5)
    assert set(cluster.pods().values()) == {"8.12.0"}
    deleted = [line for line in second.output.splitlines() if "Deleting pod for rolling upgrade" in line]
    assert f"{PREFIX}-masters-0" in deleted[-1]

    # Volumes grow under running nodes, data nodes come, then masters go, each after its vote; the operator stops in the
    # middle, and another goes on.
    third = cluster.operator()
    cluster.patch({"nodeSets": node_sets(masters=1, data=3)})
    second.wait_for("Scaling replicas down")
    assert second.stop() == 0, second.output
    cluster.wait_until_ready(4)
    assert set(cluster.pods()) == {f"{PREFIX}-{each}" for each in ("data-0", "data-1", "data-2", "masters-0")}
    assert "Setting voting config exclusions" in second.output + third.output
    assert cluster.claims() == {f"elasticsearch-data-{PREFIX}-data-{each}": "2Gi" for each in range(3)}
    assert cluster.run("get", "jobs", "--no-headers").split()[1:3] == ["Complete", "1/1"]

    # At rest it writes nothing; a spec that cannot work is named and changes nothing.
    version = cluster.get("es", ES)["metadata"]["resourceVersion"]
    cluster.run("annotate", "sts", f"{PREFIX}-data", "seen=yes")
    line = len(third.output.splitlines())
    for _ in range(2):  # one may have begun before
        line = third.wait_for("Ending reconciliation run", after=line)
    assert cluster.get("es", ES)["metadata"]["resourceVersion"] == version
    cluster.patch({"version": "8.11.0"})
    cluster.eventually("the refusal", lambda: cluster.get("es", ES)["status"]["phase"] == "Invalid")
    message = "Downgrades are not supported"
    cluster.eventually("the event", lambda: message in cluster.run("describe", "es", ES))
    assert set(cluster.pods().values()) == {"8.12.0"}

    # What it owned goes with it.
    cluster.run("delete", "es", ES, "--timeout=240s")
    owned = "statefulsets,pdb,pods,pvc"
    cluster.eventually("the end of what it owned", lambda: "No resources" in cluster.run("get", owned))
    assert third.stop() == 0, third.output
