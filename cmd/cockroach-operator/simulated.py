"""A simulated CockroachDB in the pods of the embedded API server: it is initialized, nodes join, data moves.

It behaves like a real one in all that an operator needs. A cluster has 12 ranges with three replicas each, spread over
its nodes. The replicas of a node that is decommissioned move to other nodes one after the other, if at least three
other nodes exist. A node without replicas can leave. It never returns: a new pod with the same volume is rejected. A
file holds the state, so it outlives the operator. Each call reads it, since another replica may have led until now.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from database import ExecError
from resources.builders import JOB_CONTAINER
from resources.cluster import DATA_DIR, DB_CONTAINER

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.klog.exceptions import as_operational, operational
from clientgo.utils.clock import REAL_CLOCK

RANGES = 12
REPLICATION = 3
ACTIVE, DECOMMISSIONING, DECOMMISSIONED = "active", "decommissioning", "decommissioned"
_COLUMNS = "id,address,sql_address,build,started_at,updated_at,locality,is_available,is_live,gossiped_replicas"
_NODE_COLUMNS = f"{_COLUMNS},is_decommissioning,membership,is_draining"

State = dict[str, Any]


class SimulatedDatabase:
    """A simulated Database. Thread-safe. `seconds_per_replica` is the duration of the move of one replica."""

    def __init__(
        self, reader: client.Reader, path: str | Path | None = None, *, seconds_per_replica: float = 0.2
    ) -> None:
        """Create a database whose nodes are the pods that `reader` lists.

        Without `path` the state is kept in memory. Raises ValueError for a file that does not hold a database's state.
        """
        self._reader = reader
        self._path = Path(path) if path is not None else None
        self._seconds_per_replica = seconds_per_replica
        # Guards _state and the file. Not held during requests to the API server.
        self._lock = threading.Lock()
        # By namespace/name of the StatefulSet: {"initialized": bool, "nodes": [...]}.
        self._state: dict[str, State] = {}
        self._state = self._load()

    def __repr__(self) -> str:
        return f"<SimulatedDatabase of {sorted(self._state)}>"

    def membership(self, namespace: str, pod: str, volume: str = "") -> str:
        """Return the membership of the pod's newest node, or "" if it had none.

        With `volume`, the uid of a volume, only a node of this volume counts.
        """
        with self._lock:
            self._state = self._load()
            nodes = self._cluster(namespace, pod)["nodes"]
            known = (node for node in reversed(nodes) if node["pod"] == pod and volume in ("", node["volume"]))
            return next((str(node["membership"]) for node in known), "")

    # ---- the interface

    def pod_logs(self, ctx: Context, namespace: str, pod: str, container: str, lines: int) -> str:
        """Return the log of the version job: the tag of its image. Other pods have no log."""
        found = self._pod(ctx, namespace, pod)
        if container != JOB_CONTAINER or found.status.phase not in ("Running", "Succeeded"):
            return ""
        image = next((each.image for each in found.spec.containers if each.name == container), "")
        return f"{image.rpartition(':')[2]}\n\n" if "cockroach" in image else ""

    def exec_in_pod(self, ctx: Context, namespace: str, pod: str, container: str, command: Sequence[str]) -> str:
        found = self._pod(ctx, namespace, pod)
        if not found.spec.node_name:
            raise ExecError(f"pod {pod} does not have a host assigned")
        if found.status.phase != "Running" or container != DB_CONTAINER:
            raise ExecError("unable to upgrade connection: container not found", f'("{container}")')
        living = self._living(ctx, namespace, pod)
        with self._lock:
            self._state = self._load()
            cluster = self._cluster(namespace, pod)
            before = json.dumps(cluster)
            self._advance(cluster, living)
            try:
                return self._answer(cluster, list(command))
            finally:  # also of a command that failed: what it waited for has gone on
                if json.dumps(cluster) != before:
                    self._save()

    def _answer(self, cluster: State, command: list[str]) -> str:
        words = [word for word in command if not word.startswith("-")]
        match words:
            case ["/cockroach/cockroach.sh", "init"]:
                return self._init(cluster)
            case [_, "node", "status"]:
                return self._status(cluster)
            case [_, "node", "decommission", number]:
                return self._decommission(cluster, int(number), wait="--wait=none" not in command)
        raise ExecError("command terminated with exit code 127", f"{' '.join(command)}: not found")

    # ---- pods

    def _pod(self, ctx: Context, namespace: str, pod: str) -> corev1.Pod:
        try:
            return self._reader.get(ctx, NamespacedName(namespace, pod), corev1.Pod)
        except errors.StatusError as err:
            raise ExecError(str(err)) from err

    def _living(self, ctx: Context, namespace: str, pod: str) -> dict[str, str]:
        """Return the pods that run a node, with the uid of each pod's volume."""
        prefix = pod.rpartition("-")[0]
        pods = self._reader.list(ctx, corev1.PodList, client.InNamespace(namespace)).items
        claims = self._reader.list(ctx, corev1.PersistentVolumeClaimList, client.InNamespace(namespace)).items
        uids = {claim.get_name(): claim.get_uid() for claim in claims}
        return {
            each.get_name(): uids.get(f"{DATA_DIR}-{each.get_name()}", each.get_uid())
            for each in pods
            if each.get_name().rpartition("-")[0] == prefix
            and each.status.phase == "Running"
            and each.metadata.deletion_timestamp is None
            and any(one.type == "Ready" and one.status == "True" for one in each.status.conditions)
        }

    # ---- with the lock held

    def _cluster(self, namespace: str, pod: str) -> State:
        name = f"{namespace}/{pod.rpartition('-')[0]}"
        return self._state.setdefault(name, {"initialized": False, "nodes": [], "at": REAL_CLOCK.now()})

    def _advance(self, cluster: State, living: dict[str, str]) -> None:
        """Simulate the time since the last call: nodes join and leave, replicas move."""
        nodes, now = cluster["nodes"], REAL_CLOCK.now()
        passed, cluster["at"] = now - cluster["at"], now
        if not cluster["initialized"]:
            return
        for pod, volume in sorted(living.items()):
            if not any(node["volume"] == volume for node in nodes):
                nodes.append(
                    {"id": len(nodes) + 1, "pod": pod, "volume": volume, "membership": ACTIVE, "replicas": 0.0}
                )
        for node in nodes:
            node["live"] = living.get(node["pod"]) == node["volume"] and node["membership"] != DECOMMISSIONED
        staying = [node for node in nodes if node["membership"] == ACTIVE]
        moved = passed / self._seconds_per_replica
        for node in nodes:
            if node["membership"] == DECOMMISSIONING and sum(each["live"] for each in staying) >= REPLICATION:
                node["replicas"] = max(0.0, node["replicas"] - moved)
        left = sum(node["replicas"] for node in nodes if node["membership"] == DECOMMISSIONING)
        for node in staying:
            node["replicas"] = (RANGES * REPLICATION - left) / len(staying)

    @staticmethod
    def _init(cluster: State) -> str:
        if cluster["initialized"]:
            text = "ERROR: cluster has already been initialized"
            raise ExecError("command terminated with exit code 1", text)
        cluster["initialized"] = True
        return "Cluster successfully initialized\n"

    @staticmethod
    def _check_initialized(cluster: State) -> None:
        if not cluster["initialized"]:
            text = "ERROR: node is waiting for cluster initialization"
            raise ExecError("command terminated with exit code 1", text)

    def _status(self, cluster: State) -> str:
        self._check_initialized(cluster)
        rows = [_NODE_COLUMNS]
        for node in cluster["nodes"]:
            live, going = str(node["live"]).lower(), str(node["membership"] != ACTIVE).lower()
            host = f"{node['pod']}.{node['pod'].rpartition('-')[0]}."
            row = [node["id"], host, host, "", "", "", "", live, live, -int(-node["replicas"] // 1)]
            rows.append(",".join(map(str, [*row, going, node["membership"], "false"])))
        return "\n".join(rows) + "\n"

    def _decommission(self, cluster: State, number: int, *, wait: bool) -> str:
        self._check_initialized(cluster)
        node = next((each for each in cluster["nodes"] if each["id"] == number), None)
        if node is None:
            raise ExecError("command terminated with exit code 1", f"ERROR: node {number} does not exist")
        if node["membership"] == ACTIVE:
            node["membership"] = DECOMMISSIONING
        if wait and node["membership"] == DECOMMISSIONING:
            if node["replicas"] > 0:
                raise ExecError("command terminated with exit code 1", f"ERROR: node {number} still has replicas")
            node["membership"] = DECOMMISSIONED
        return f"id\tmembership\n{number}\t{node['membership']}\n"

    # ---- the file

    def _load(self) -> dict[str, State]:
        if self._path is None:
            return self._state
        try:
            with operational(OSError):
                state = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as err:
            raise as_operational(ValueError(f"{self._path} is no state of a simulated database: {err}")) from err
        if not isinstance(state, dict) or not all(
            isinstance(each, dict) and "nodes" in each for each in state.values()
        ):
            text = f"{self._path} is no state of a simulated database: expected an object of clusters"
            raise as_operational(ValueError(text))
        return state

    def _save(self) -> None:
        if self._path is None:
            return
        new = self._path.with_name(f"{self._path.name}.new")
        with new.open("w") as file:
            json.dump(self._state, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
