"""The operator's access to the database: commands in its pods, and logs of pods.

Go uses kube.ExecInPod and the logs of a pod. Here an interface hides both, because the pods of the embedded API server
run nothing; simulated.py implements it for them.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from resources import Cluster
from resources.cluster import DB_CONTAINER

from clientgo.context import Context
from clientgo.klog.exceptions import operational_error

_TIMEOUT = 60.0


@operational_error
class ExecError(Exception):
    """A command that could not run, or that failed. `stderr` is its error output."""

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(f"{message}: {stderr.strip()}" if stderr.strip() else message)
        self.stderr = stderr


class Database(Protocol):
    """The interface to the pods. Thread-safe. Both methods block and raise ExecError."""

    def exec_in_pod(self, ctx: Context, namespace: str, pod: str, container: str, command: Sequence[str]) -> str:
        """Run the command in a container and return its standard output."""
        ...

    def pod_logs(self, ctx: Context, namespace: str, pod: str, container: str, lines: int) -> str:
        """Return the last log lines of a container, or "" when there are none yet."""
        ...


class KubectlDatabase:
    """A Database that runs `kubectl exec` and `kubectl logs`."""

    def __init__(self, *flags: str, kubectl: str = "kubectl") -> None:
        """Create a database driver. Each call of kubectl gets `flags`, such as --kubeconfig=FILE."""
        self._command = [kubectl, *flags]

    def exec_in_pod(self, ctx: Context, namespace: str, pod: str, container: str, command: Sequence[str]) -> str:
        return self._run("exec", "-n", namespace, pod, "-c", container, "--", *command)

    def pod_logs(self, ctx: Context, namespace: str, pod: str, container: str, lines: int) -> str:
        return self._run("logs", "-n", namespace, pod, "-c", container, f"--tail={lines}")

    def _run(self, *arguments: str) -> str:
        command = [*self._command, *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_TIMEOUT, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as err:
            raise ExecError(f"kubectl {arguments[0]}: {err}") from err
        if done.returncode:
            raise ExecError(f"command terminated with exit code {done.returncode}", done.stderr)
        return done.stdout


@dataclass(frozen=True)
class NodeStatus:
    """A row of `cockroach node status --decommission`."""

    id: int
    address: str
    is_live: bool
    replicas: int
    membership: str


class Node:
    """The commands of cockroach that the operator uses, run in one pod of a cluster. Raises ExecError."""

    def __init__(self, database: Database, cluster: Cluster, ordinal: int = 0) -> None:
        self._database = database
        self._cluster = cluster
        self._pod = f"{cluster.statefulset_name}-{ordinal}"

    def __repr__(self) -> str:
        return f"<Node {self._pod}>"

    def _run(self, ctx: Context, *command: str) -> str:
        return self._database.exec_in_pod(ctx, self._cluster.namespace, self._pod, DB_CONTAINER, command)

    def init(self, ctx: Context) -> None:
        """Initialize the cluster. Does nothing if it is initialized."""
        host = f"--host=localhost:{self._cluster.spec.grpc_port}"
        try:
            self._run(ctx, "/cockroach/cockroach.sh", "init", self._cluster.secure_mode, host)
        except ExecError as err:
            if "cluster has already been initialized" not in err.stderr:
                raise

    def statuses(self, ctx: Context) -> list[NodeStatus]:
        """Return the status of all present and former nodes of the cluster."""
        secure, port = self._cluster.secure_mode, f"--port={self._cluster.spec.grpc_port}"
        text = self._run(ctx, "./cockroach", "node", "status", "--decommission", "--format=csv", secure, port)
        rows = csv.DictReader(io.StringIO(text))
        if "membership" not in (rows.fieldnames or ()):
            raise ExecError("could not read the status of the nodes: no column membership")
        try:
            return [_status_of(row) for row in rows]
        except (KeyError, TypeError, ValueError) as err:
            raise ExecError(f"could not read the status of the nodes: {err}") from err

    def status_of(self, ctx: Context, ordinal: int) -> NodeStatus | None:
        """Return the status of the newest node in the pod with this ordinal, or None."""
        host = f"{self._cluster.statefulset_name}-{ordinal}.{self._cluster.discovery_service_name}."
        found = [status for status in self.statuses(ctx) if status.address.startswith(host)]
        return max(found, key=lambda status: status.id, default=None)

    def decommission(self, ctx: Context, node_id: int, *, wait: bool) -> None:
        """Start moving the node's data to other nodes. With `wait`, block until the node has left for good."""
        secure, port = self._cluster.secure_mode, f"--port={self._cluster.spec.grpc_port}"
        flags = [secure, port] if wait else ["--wait=none", secure, port]
        self._run(ctx, "./cockroach", "node", "decommission", str(node_id), *flags)


def _status_of(row: dict[str, str]) -> NodeStatus:
    return NodeStatus(
        id=int(row["id"]),
        address=row["address"],
        is_live=row["is_live"] == "true",
        replicas=int(row["gossiped_replicas"]),
        membership=row["membership"],
    )
