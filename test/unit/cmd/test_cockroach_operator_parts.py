"""The cockroach-operator's parts by themselves: its database, simulated or by kubectl, and its feature gates."""

from __future__ import annotations

import ssl
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cockroachclusters import CTX, PROGRAM, crdb_cluster, database, features, main, simulated
from processes import kubectl_binary
from tlspeers import connect, server_context

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime.client import fake
from clientgo.golang.tls import load_key_pair
from clientgo.testing.apiserver import Environment
from clientgo.util import cert
from clientgo.utils.clock import REAL_CLOCK

with PROGRAM:
    resources = PROGRAM.module("resources")
    authority = PROGRAM.module("actor.authority")
    partitioned_update = PROGRAM.module("actor.partitioned_update")


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def pod(number: int, phase: str = "Running") -> corev1.Pod:
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True"}]}
    spec = {"nodeName": "n" if phase else "", "containers": [{"name": "db", "image": "cockroach:1"}]}
    metadata = {"namespace": "default", "name": f"crdb-{number}", "uid": f"uid-{number}"}
    return corev1.Pod.from_dict({"metadata": metadata, "spec": spec, "status": status})


def reader(*pods: corev1.Pod) -> Any:
    return fake.new_client_builder().with_scheme(main.new_scheme()).with_objects(*pods).build()


def node(answering: Any) -> Any:
    return database.Node(answering, resources.Cluster(crdb_cluster()))


def test_the_simulated_database_outlives_the_operator(tmp_path: Path) -> None:
    state, pods = tmp_path / "state.json", reader(*map(pod, range(4)))
    first = node(simulated.SimulatedDatabase(pods, state))
    first.init(CTX)
    first.init(CTX)  # which is no error
    first.decommission(CTX, 4, wait=False)

    again = node(simulated.SimulatedDatabase(pods, state))

    statuses = again.statuses(CTX)
    assert [(each.id, each.is_live, each.membership) for each in statuses] == [
        (1, True, "active"),
        (2, True, "active"),
        (3, True, "active"),
        (4, True, "decommissioning"),
    ]
    # All three replicas of each of twelve ranges are somewhere.
    assert 36 <= sum(each.replicas for each in statuses) <= 39
    with pytest.raises(database.ExecError, match="node 4 still has replicas"):
        again.decommission(CTX, 4, wait=True)
    with pytest.raises(database.ExecError, match="node 9 does not exist"):
        again.decommission(CTX, 9, wait=False)


def test_the_simulated_database_is_the_one_that_another_replica_left(tmp_path: Path) -> None:
    """The replica that waits for the lease had started before the database was initialised."""
    pods = reader(*(pod(number) for number in range(3)))
    leading, waiting = (node(simulated.SimulatedDatabase(pods, tmp_path / "state.json")) for _ in range(2))
    leading.init(CTX)
    leading.decommission(CTX, 3, wait=False)
    assert [each.membership for each in waiting.statuses(CTX)] == ["active", "active", "decommissioning"]


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}', "[" * 100_000])
def test_a_file_that_is_no_state_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(ValueError, match=r"state\.json is no state of a simulated database"):
        simulated.SimulatedDatabase(reader(), tmp_path / "state.json")


def test_the_simulated_database_says_what_a_pod_says_that_is_not_there_yet() -> None:
    answering = simulated.SimulatedDatabase(reader(pod(0, "Pending"), pod(1, "")))
    command = ["/cockroach/cockroach.sh", "init", "--insecure"]
    for name, message in (
        ("crdb-0", "container not found"),
        ("crdb-1", "does not have a host assigned"),
        ("crdb-2", "not found"),
    ):
        with pytest.raises(database.ExecError, match=message):
            answering.exec_in_pod(CTX, "default", name, "db", command)
    with pytest.raises(database.ExecError, match="waiting for cluster initialization"):
        node(simulated.SimulatedDatabase(reader(pod(0)))).statuses(CTX)
    with pytest.raises(database.ExecError, match="rm -rf /: not found"):
        simulated.SimulatedDatabase(reader(pod(0))).exec_in_pod(CTX, "default", "crdb-0", "db", ["rm", "-rf", "/"])


def test_in_a_real_cluster_kubectl_runs_the_commands(tmp_path: Path) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\necho "$@"\ncase "$*" in *crdb-9*) echo "pods not found" >&2; exit 3;; esac\n')
    kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
    real = database.KubectlDatabase("--kubeconfig=kc", kubectl=str(kubectl))
    assert real.exec_in_pod(CTX, "ns", "crdb-0", "db", ["./cockroach", "node"]) == (
        "--kubeconfig=kc exec -n ns crdb-0 -c db -- ./cockroach node\n"
    )
    assert real.pod_logs(CTX, "ns", "job-x", "crdb", 2) == "--kubeconfig=kc logs -n ns job-x -c crdb --tail=2\n"
    with pytest.raises(database.ExecError, match="exit code 3: pods not found") as raised:
        real.exec_in_pod(CTX, "ns", "crdb-9", "db", ["./cockroach"])
    assert raised.value.stderr == "pods not found\n"
    with pytest.raises(database.ExecError, match="could not read the status of the nodes"):
        node(real).statuses(CTX)
    with pytest.raises(database.ExecError, match="no-kubectl"):
        database.KubectlDatabase(kubectl=str(tmp_path / "no-kubectl")).pod_logs(CTX, "ns", "p", "c", 1)


def test_feature_gates_are_read_as_kubernetes_components_read_them() -> None:
    gates = features.FeatureGates("AutoPrunePVC=true,ResizePVC=false")
    assert gates.enabled(features.Feature.AUTO_PRUNE_PVC)
    assert not gates.enabled(features.Feature.RESIZE_PVC)
    assert not features.FeatureGates().enabled(features.Feature.AUTO_PRUNE_PVC)
    for text, message in (("Other=true", "unrecognized feature gate: Other"), ("ResizePVC", "missing bool value")):
        with pytest.raises(ValueError, match=message):
            features.FeatureGates(text)


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        ("v22.1.3", "v22.1.9", True),
        ("v22.1.3", "v22.2.0", True),
        ("v22.2.0", "v22.1.3", True),
        ("v22.2.0", "v23.1.1", True),
        ("v24.2.0", "v24.3.0", True),
        ("v24.3.0", "v25.1.0", True),
        ("v22.1.3", "v23.1.1", False),
        ("v23.1.1", "v22.1.3", False),
        ("v24.2.0", "v25.1.0", False),
        ("v22.1.3", "v21.1.0", False),
    ],
)
def test_data_goes_one_release_up_or_back_down(before: str, after: str, allowed: bool) -> None:
    if allowed:
        partitioned_update.check_versions(before, after)
        return
    with pytest.raises(Exception, match=f"upgrading from {before} to {after} not allowed"):
        partitioned_update.check_versions(before, after)


@pytest.mark.kubectl
def test_a_real_kubectl_takes_the_commands_as_far_as_there_is_no_node_to_run_them() -> None:
    """The embedded API server has no kubelet: what a container would answer is not asked of it here, all before is."""
    with Environment() as env:
        real = database.KubectlDatabase(f"--kubeconfig={env.kubeconfig}", kubectl=kubectl_binary())
        pods = kubernetes.new_for_config(env.config).core_v1().pods("default")
        # No node at first, which the actor Initialize takes for a pod that has not started.
        spec = {"containers": [{"name": "db", "image": "i"}]}
        pods.create(CTX, corev1.Pod.from_dict({"metadata": {"name": "crdb-0"}, "spec": spec}))
        commands = ["./cockroach", "node", "status", "--format=csv", "--insecure"]
        with pytest.raises(database.ExecError, match="pod crdb-0 does not have a host assigned"):
            real.exec_in_pod(CTX, "default", "crdb-0", "db", commands)
        assert real.pod_logs(CTX, "default", "crdb-0", "db", 2) == ""
        for name, container, message in (
            ("crdb-1", "db", 'pods "crdb-1" not found'),
            ("crdb-0", "other", "container other is not valid for pod crdb-0"),
        ):
            with pytest.raises(database.ExecError, match=message):
                real.pod_logs(CTX, "default", name, container, 2)


def arguments_of(**spec: Any) -> list[str]:
    """Return the arguments of the nodes of a new cluster."""
    cluster = resources.Cluster(crdb_cluster(**spec))
    manifest = resources.StatefulSetBuilder(cluster, features.FeatureGates()).build(None)
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    started: list[str] = next(value for value in (container.get("command"), container.get("args")) if value)
    return " ".join(started).split()


def test_nodes_join_the_first_three_by_default() -> None:
    joins = [each for each in arguments_of(grpcPort=26258) if each.startswith("--join=")]
    assert joins == ["--join=" + ",".join(f"crdb-{n}.crdb.default:26258" for n in range(3))]
    assert [each for each in arguments_of(additionalArgs=["--join=x"]) if "--join" in each] == ["--join=x"]


# ---- certificates


def test_an_authority_comes_back_from_its_secret_and_goes_on_signing() -> None:
    now = REAL_CLOCK.now()
    first = authority.Authority("an authority", now)
    again = authority.Authority("an authority", now + 1000, key=first.key, certificate=first.certificate)
    assert (again.key, again.certificate) == (first.key, first.certificate)
    assert first.key.strip() not in repr(first)
    for each in (first, again):
        server = server_context(*each.issue("node", ["localhost", "127.0.0.1", "*.db.svc"], now, years=5))
        server.verify_mode = ssl.CERT_REQUIRED
        server.load_verify_locations(cadata=first.certificate)
        client = ssl.create_default_context(cadata=first.certificate)
        load_key_pair(client, *each.issue("root", [], now, years=5))
        for name in ("localhost", "127.0.0.1", "one.db.svc"):
            found = connect(server, client, name)
            assert found["subject"] == ((("commonName", "node"),),)
            assert found["issuer"] == ((("commonName", "an authority"),),)
        with pytest.raises(ssl.SSLCertVerificationError):
            connect(server, client, "elsewhere")


def test_what_is_no_key_of_an_authority_is_refused() -> None:
    _, of_rsa = cert.generate_self_signed_cert_key("a")
    for wrong in ("x", of_rsa.decode()):
        with pytest.raises(ValueError, match="private key"):
            authority.Authority("an authority", 0.0, key=wrong)
