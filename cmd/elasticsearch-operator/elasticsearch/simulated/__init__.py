"""Simulated clusters: the nodes are the ready pods of the API server, everything else is simulated.

Each request to a cluster first simulates the time since the last request. The running nodes are read once for each
reconciliation. A file keeps the votes and the places of the shards, so they outlive the operator, as in a real cluster.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from api.v1 import Elasticsearch
from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.controller_runtime import client
from clientgo.klog.exceptions import as_operational, operational
from clientgo.utils.clock import REAL_CLOCK, Clock
from elasticsearch import label, names
from elasticsearch.client import Health, NodeShutdown, Shard, ShutdownType
from elasticsearch.simulated.cluster import Cluster, Node
from elasticsearch.simulated.shards import Pace

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Cluster", "Node", "Pace", "RunningNodes", "SimulatedClients", "parse_indices"]

Indices = tuple[tuple[str, int, int], ...]
Nodes = Callable[[Elasticsearch], Iterable[Node]]


def parse_indices(text: str) -> Indices:
    """Return the indices that the text describes. Raises ValueError for an invalid text.

    >>> parse_indices("logs=3:1,users=1:2")
    (('logs', 3, 1), ('users', 1, 2))
    """
    found = []
    for part in filter(None, text.split(",")):
        name, _, sizes = part.partition("=")
        primaries, _, replicas = sizes.partition(":")
        if not name or not primaries.isdecimal() or not replicas.isdecimal():
            raise ValueError(f"invalid index {part!r}: expected NAME=PRIMARIES:REPLICAS")
        found.append((name, int(primaries), int(replicas)))
    return tuple(found)


class RunningNodes:
    """The nodes of a cluster: its ready pods, as `reader` shows them. Thread-safe.

    `reader` must not be a cache, because a real cluster knows its nodes before any informer does. Each call lists the
    pods once. A node reads its elasticsearch.yml when it starts, so this class reads the Secret once for each start of
    a container.
    """

    def __init__(self, reader: client.Reader) -> None:
        self._reader = reader
        # By cluster, then by node instance. Needs no lock, because each write replaces the whole dict.
        self._initial_masters: dict[str, dict[str, tuple[str, ...]]] = {}

    def __call__(self, es: Elasticsearch) -> list[Node]:
        """Return the nodes of this cluster. Blocks for the requests; raises StatusError."""
        ctx, namespace = context.background(), client.InNamespace(es.get_namespace())
        chosen = client.MatchingLabels({label.CLUSTER_NAME: es.get_name()})
        known = self._initial_masters.get(es.get_uid(), {})
        started: dict[str, tuple[str, ...]] = {}
        nodes = []
        for pod in filter(_runs, self._reader.list(ctx, corev1.PodList, namespace, chosen).items):
            instance = _instance_of(pod)
            initial = known[instance] if instance in known else _initial_masters(self._reader, pod)
            started[instance] = initial
            nodes.append(_node_of(pod, initial))
        self._initial_masters[es.get_uid()] = started
        return nodes


def _runs(pod: corev1.Pod) -> bool:
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return ready and pod.get_deletion_timestamp() is None


def _node_of(pod: corev1.Pod, initial: tuple[str, ...]) -> Node:
    roles = tuple(sorted(label.roles_of(pod)))
    return Node(pod.get_name(), _instance_of(pod), pod.get_labels().get(label.VERSION, "0.0.0"), roles, initial)


def _instance_of(pod: corev1.Pod) -> str:
    """Return an id that changes with each start of the node."""
    restarts = sum(each.restart_count for each in pod.status.container_statuses)
    return f"{pod.get_uid()}/{restarts}"


def _initial_masters(reader: client.Reader, pod: corev1.Pod) -> tuple[str, ...]:
    """Return the initial masters in the node's elasticsearch.yml."""
    stateful_set = pod.get_labels().get(label.STATEFUL_SET_NAME, "")
    key = client.ObjectKey(pod.get_namespace(), names.config_secret(stateful_set))
    try:
        secret = reader.get(context.background(), key, corev1.Secret)
    except errors.StatusError as err:
        client.ignore_not_found(err)
        return ()
    settings = yaml.safe_load(secret.data.get(names.CONFIG_FILE, b"")) or {}
    return tuple(settings.get("cluster.initial_master_nodes") or ())


class SimulatedClients:
    """Simulated clusters by the uid of their resource. Thread-safe; one process at a time."""

    def __init__(
        self,
        nodes: Nodes,
        *,
        path: str | Path | None = None,
        indices: Indices = (),
        pace: Pace | None = None,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """Create clients of simulated clusters, whose state is stored in the file `path`, or in memory if it is None.

        Raises ValueError for a file that does not hold such a state, and OSError for an unreadable one.
        """
        self._nodes = nodes
        self._path = Path(path) if path else None
        self._indices = indices
        self._pace = pace or Pace()
        self._clock = clock
        # Guards the attributes below, and the file while it is read, changed and written.
        self._lock = threading.Lock()
        self._clusters: dict[str, Cluster] = {}
        self._written = ""
        self._load()

    def __repr__(self) -> str:
        return f"<SimulatedClients {len(self._clusters)} clusters>"

    def client_for(self, es: Elasticsearch) -> SimulatedClient:
        """Return a client of the cluster."""
        return SimulatedClient(self, es)

    @contextmanager
    def looking_at(self, es: Elasticsearch, *, ask: bool = True) -> Iterator[Cluster]:
        """Return a context with the current cluster, which stores changes to the cluster when it ends.

        With `ask` it reads the running nodes from the API server, else it uses the last answer.
        """
        with self._lock:
            self._load()
            cluster = self._clusters.setdefault(es.get_uid(), Cluster(self._pace, self._indices))
            # The lock is held, so no older answer replaces a newer one.
            nodes = self._nodes(es) if ask else cluster.nodes.values()
            cluster.observe(list(nodes), self._clock.now())
            try:
                yield cluster
            finally:
                self._save()

    def _load(self) -> None:
        """Load the file, which another process may have changed."""
        if self._path is None:
            return
        try:
            with operational(OSError):
                text = self._path.read_text()
        except FileNotFoundError:
            return
        except UnicodeDecodeError as err:
            raise as_operational(ValueError(f"{self._path} is no state of simulated clusters: {err}")) from err
        if text == self._written:
            return
        try:
            found = json.loads(text)
            self._clusters = {
                uid: Cluster.from_json(self._pace, self._indices, each) for uid, each in found["clusters"].items()
            }
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as err:
            raise as_operational(ValueError(f"{self._path} is no state of simulated clusters: {err}")) from err
        self._written = text

    def _save(self) -> None:
        if self._path is None:
            return
        document: dict[str, Any] = {uid: each.to_json() for uid, each in self._clusters.items()}
        text = json.dumps({"clusters": document}, indent=1, sort_keys=True)
        if text == self._written:
            return
        new = self._path.with_name(f"{self._path.name}.new")
        with new.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self._written = text


class SimulatedClient:
    """The API of one simulated cluster; see client.Client. Made for one reconcile, and used by one thread.

    It reads the running nodes once, so each reconciliation of an idle operator makes one list request.
    """

    def __init__(self, clients: SimulatedClients, es: Elasticsearch) -> None:
        self._clients = clients
        self._es = es
        self._has_asked = False

    @contextmanager
    def _cluster(self) -> Iterator[Cluster]:
        with self._clients.looking_at(self._es, ask=not self._has_asked) as cluster:
            self._has_asked = True
            yield cluster

    def cluster_uuid(self) -> str:
        with self._cluster() as cluster:
            cluster.check_reachable()
            return cluster.uuid

    def health(self) -> Health:
        with self._cluster() as cluster:
            return cluster.health()

    def shards(self) -> list[Shard]:
        with self._cluster() as cluster:
            cluster.check_master()
            return cluster.shards.view()

    def nodes(self) -> dict[str, str]:
        with self._cluster() as cluster:
            cluster.check_master()
            return {name: node.id for name, node in cluster.nodes.items()}

    def shutdowns(self) -> dict[str, NodeShutdown]:
        with self._cluster() as cluster:
            return cluster.shutdown_views()

    def put_shutdown(self, node_id: str, type: ShutdownType, reason: str) -> None:
        with self._cluster() as cluster:
            cluster.put_shutdown(node_id, type, reason)

    def delete_shutdown(self, node_id: str) -> None:
        with self._cluster() as cluster:
            cluster.delete_shutdown(node_id)

    def voting_config_exclusions(self) -> list[str]:
        with self._cluster() as cluster:
            cluster.check_master()
            return list(cluster.exclusions)

    def add_voting_config_exclusions(self, names: list[str]) -> None:
        with self._cluster() as cluster:
            cluster.exclude(names)

    def delete_voting_config_exclusions(self) -> None:
        with self._cluster() as cluster:
            cluster.include_all()
