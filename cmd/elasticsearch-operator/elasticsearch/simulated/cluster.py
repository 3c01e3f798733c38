"""A simulated cluster: its nodes, its voting configuration and its shards. It does not use Kubernetes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from elasticsearch import label
from elasticsearch.client import (
    Health,
    HealthStatus,
    NodeShutdown,
    NoMaster,
    RequestFailed,
    ShardState,
    ShutdownStatus,
    ShutdownType,
    Unreachable,
)
from elasticsearch.simulated.shards import Pace, Shards
from elasticsearch.simulated.voting import has_quorum, reconfigure


@dataclass(frozen=True)
class Node:
    """A running node, made of a ready pod."""

    name: str
    # Changes with each start of the node.
    instance: str
    version: str
    roles: tuple[str, ...]
    # From its configuration: the nodes that form the cluster.
    initial_master_nodes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Stays with the data of the node."""
        return hashlib.sha256(self.name.encode()).hexdigest()[:22]


@dataclass
class Shutdown:
    """A requested shutdown."""

    type: str
    reason: str
    since: float


@dataclass
class Cluster:
    """One cluster. Call `observe` first: it sets the nodes and the time. Not thread-safe.

    Invariants (`_check` asserts them):
      * a copy of a shard is only assigned to running nodes
      * no node has two copies of a shard
    """

    pace: Pace
    # The indices that users create at once: the name, the number of primaries and of replicas of each.
    indices: tuple[tuple[str, int, int], ...] = ()
    uuid: str = ""
    now: float = 0.0
    nodes: dict[str, Node] = field(default_factory=dict)
    voting_config: list[str] = field(default_factory=list)
    exclusions: list[str] = field(default_factory=list)
    shutdowns: dict[str, Shutdown] = field(default_factory=dict)
    shards: Shards = field(init=False)
    # The start of each state that must not occur: "no quorum" or "red".
    incidents: list[str] = field(default_factory=list)
    _trouble: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.shards = Shards(self.pace)

    def to_json(self) -> dict[str, Any]:
        return {
            "uuid": self.uuid,
            "nodes": [asdict(node) for node in self.nodes.values()],
            "votingConfig": self.voting_config,
            "exclusions": self.exclusions,
            "shutdowns": {name: asdict(shutdown) for name, shutdown in self.shutdowns.items()},
            "shards": self.shards.to_json(),
            "incidents": self.incidents,
            "trouble": sorted(self._trouble),
        }

    @classmethod
    def from_json(
        cls, pace: Pace, indices: tuple[tuple[str, int, int], ...], document: Mapping[str, Any]
    ) -> Cluster:
        """Return the cluster in a document. Raises KeyError or TypeError for another document."""
        made = cls(pace, indices, document["uuid"])
        for each in document["nodes"]:
            lists = {key: tuple(each[key]) for key in ("roles", "initial_master_nodes")}
            node = Node(**{**each, **lists})
            made.nodes[node.name] = node
        made.voting_config, made.exclusions = list(document["votingConfig"]), list(document["exclusions"])
        made.shutdowns = {name: Shutdown(**each) for name, each in document["shutdowns"].items()}
        made.shards = Shards.from_json(pace, document["shards"])
        made.incidents, made._trouble = list(document["incidents"]), set(document["trouble"])
        return made

    # ---- what happens

    def observe(self, nodes: Iterable[Node], now: float) -> None:
        """Advance to `now`: nodes that are new in `nodes` join the cluster, and missing nodes leave it."""
        self.now = now
        running = {node.name: node for node in nodes}
        self._tell_shards()
        self.shards.advance(now)
        for name, node in list(self.nodes.items()):
            if name not in running or running[name].instance != node.instance:
                del self.nodes[name]
                self.shards.node_left(name, now)
        self.nodes.update(running)
        self._form()
        self._settle()

    def _form(self) -> None:
        """Form the cluster if a quorum of the initial masters runs."""
        if self.uuid:
            return
        initial = next((node.initial_master_nodes for node in self.nodes.values() if node.initial_master_nodes), ())
        if not initial or not has_quorum(initial, self._masters()):
            return
        self.uuid = hashlib.sha256(f"{initial}{self.now}".encode()).hexdigest()[:22]
        self.voting_config = sorted(initial)
        for index, primaries, replicas in self.indices:
            self.shards.create_index(index, primaries, replicas)

    def _settle(self) -> None:
        """Adapt the voting configuration and the shards to the current nodes."""
        if self.has_master:
            self.voting_config = reconfigure(self.voting_config, self._masters(), self.exclusions)
            self._tell_shards()
            self.shards.advance(self.now)
        trouble = set()
        if self.uuid and not self.has_master:
            trouble.add("no quorum")
        # A new primary is not assigned either, but has lost nothing.
        lost = [copy for copy in self.shards.copies if copy.primary and not copy.is_assigned and copy.node]
        if lost:
            trouble.add("red")
        self.incidents += [f"{each} at {self.now:.0f}" for each in sorted(trouble - self._trouble)]
        self._trouble = trouble
        self._check()

    def _tell_shards(self) -> None:
        def of_type(type: ShutdownType) -> frozenset[str]:
            return frozenset(name for name, each in self.shutdowns.items() if each.type == type)

        self.shards.nodes = {name: node.version for name, node in self.nodes.items() if label.is_data(node.roles)}
        self.shards.leaving = of_type(ShutdownType.REMOVE)
        self.shards.restarting = of_type(ShutdownType.RESTART)

    def _masters(self) -> list[str]:
        return [name for name, node in self.nodes.items() if label.MASTER in node.roles]

    @property
    def has_master(self) -> bool:
        """Report whether a master is elected."""
        return bool(self.uuid) and has_quorum(self.voting_config, self._masters())

    def _check(self) -> None:
        seen = set()
        for copy in self.shards.copies:
            for node in {copy.node, copy.target} - {""} if copy.is_assigned else set():
                assert node in self.nodes, (copy, self)
                assert (copy.key, node) not in seen, (copy, self)
                seen.add((copy.key, node))

    # ---- what it is asked

    def check_reachable(self) -> None:
        if not self.nodes:
            raise Unreachable("no node answers")

    def check_master(self) -> None:
        self.check_reachable()
        if not self.has_master:
            raise NoMaster("master_not_discovered_exception: fewer than a quorum of masters are there")

    def health(self) -> Health:
        self.check_master()
        shards = self.shards
        return Health(
            HealthStatus(shards.status()),
            len(self.nodes),
            shards.count(ShardState.RELOCATING),
            shards.count(ShardState.INITIALIZING),
            shards.count(ShardState.UNASSIGNED),
        )

    def put_shutdown(self, node_id: str, type: ShutdownType, reason: str) -> None:
        self.check_master()
        node = next((each for each in self.nodes.values() if each.id == node_id), None)
        if node is None:
            raise RequestFailed(f"node {node_id} is not in the cluster")
        known = self.shutdowns.get(node.name)
        if known is None or (known.type, known.reason) != (type, reason):
            self.shutdowns[node.name] = Shutdown(type, reason, self.now)
        self._settle()

    def delete_shutdown(self, node_id: str) -> None:
        self.check_master()
        for name in [each for each in self.shutdowns if Node(each, "", "", ()).id == node_id]:
            del self.shutdowns[name]
        self._settle()

    def shutdown_views(self) -> dict[str, NodeShutdown]:
        self.check_master()
        found = {}
        for name, shutdown in self.shutdowns.items():
            status, why = self._status_of(name, shutdown)
            node_id = Node(name, "", "", ()).id
            found[node_id] = NodeShutdown(node_id, ShutdownType(shutdown.type), status, why)
        return found

    def _status_of(self, name: str, shutdown: Shutdown) -> tuple[ShutdownStatus, str]:
        if shutdown.type == ShutdownType.RESTART:
            done = name not in self.nodes or self.now - shutdown.since >= self.pace.prepare
            return (ShutdownStatus.COMPLETE if done else ShutdownStatus.IN_PROGRESS), ""
        held = len(self.shards.on(name)) + len(self.shards.left_behind_by(name))
        if not held:
            return ShutdownStatus.COMPLETE, ""
        if self.shards.can_move(name):
            return ShutdownStatus.IN_PROGRESS, f"{held} shards are yet to move"
        return ShutdownStatus.STALLED, f"{held} shards have no other node that they could move to"

    def exclude(self, names: Iterable[str]) -> None:
        self.check_master()
        self.exclusions = sorted({*self.exclusions, *names})
        self._settle()
        left = set(self.voting_config) & set(self.exclusions)
        if left:
            raise RequestFailed(f"timed out waiting for removal of nodes; voting config exclusions {sorted(left)}")

    def include_all(self) -> None:
        self.check_master()
        self.exclusions = []
        self._settle()
