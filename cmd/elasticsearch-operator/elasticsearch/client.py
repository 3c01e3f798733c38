"""The parts of Elasticsearch's API that orchestration needs.

The operator uses Elasticsearch only through `Client`. Here a simulated cluster implements it (simulated.py); a client
of the real API would use the paths that the methods name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from api.v1 import Elasticsearch
from clientgo.klog.exceptions import operational_error


class Unreachable(ConnectionError):
    """No node answers."""


class NoMaster(Unreachable):
    """The cluster has no elected master, because fewer nodes than a quorum run. It rejects every change."""


@operational_error
class RequestFailed(Exception):
    """Elasticsearch rejected the request, or did not complete it in time."""


class HealthStatus(StrEnum):
    """The health of the shards: all copies assigned, all primaries assigned, or neither."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Health:
    """GET /_cluster/health."""

    status: HealthStatus
    number_of_nodes: int = 0
    relocating_shards: int = 0
    initializing_shards: int = 0
    unassigned_shards: int = 0

    @property
    def has_shard_activity(self) -> bool:
        """Report whether shards are moving or initializing."""
        return bool(self.relocating_shards or self.initializing_shards)


class ShardState(StrEnum):
    """The state of a copy of a shard."""

    STARTED = "STARTED"
    INITIALIZING = "INITIALIZING"
    RELOCATING = "RELOCATING"
    UNASSIGNED = "UNASSIGNED"


@dataclass(frozen=True)
class Shard:
    """A line of GET /_cat/shards: one copy of a shard. `node` is "" for an unassigned copy."""

    index: str
    number: int
    primary: bool
    state: ShardState
    node: str

    @property
    def key(self) -> tuple[str, int]:
        """The shard of this copy: its index and number."""
        return self.index, self.number


class ShutdownType(StrEnum):
    """The reason for a node's shutdown: a restart, or its removal."""

    RESTART = "restart"
    REMOVE = "remove"


class ShutdownStatus(StrEnum):
    """The progress of a node's preparation for its shutdown."""

    NOT_STARTED = "NOT_STARTED"
    IN_PROGRESS = "IN_PROGRESS"
    STALLED = "STALLED"
    COMPLETE = "COMPLETE"


@dataclass(frozen=True)
class NodeShutdown:
    """An entry of GET /_nodes/shutdown."""

    node_id: str
    type: ShutdownType
    status: ShutdownStatus
    explanation: str = ""


class Client(Protocol):
    """The API of one cluster.

    Each method blocks until the answer and may raise Unreachable. A method that changes something may also raise
    NoMaster. All methods are idempotent.
    """

    def cluster_uuid(self) -> str:
        """Return the id that the cluster got when it was formed, or "" before. Request: GET /"""
        ...

    def health(self) -> Health:
        """Return the cluster's health. Request: GET /_cluster/health"""
        ...

    def shards(self) -> list[Shard]:
        """Return all copies of all shards. Request: GET /_cat/shards"""
        ...

    def nodes(self) -> dict[str, str]:
        """Return the ids of the nodes in the cluster, by name. Request: GET /_nodes"""
        ...

    def shutdowns(self) -> dict[str, NodeShutdown]:
        """Return the requested shutdowns, by the id of the node. Request: GET /_nodes/shutdown"""
        ...

    def put_shutdown(self, node_id: str, type: ShutdownType, reason: str) -> None:
        """Prepare a node for its shutdown. Request: PUT /_nodes/{node_id}/shutdown"""
        ...

    def delete_shutdown(self, node_id: str) -> None:
        """Delete a shutdown, and cancel it if it is in progress. Request: DELETE /_nodes/{node_id}/shutdown"""
        ...

    def voting_config_exclusions(self) -> list[str]:
        """Return the names of the nodes that are excluded from voting. Request: GET /_cluster/state/metadata"""
        ...

    def add_voting_config_exclusions(self, names: list[str]) -> None:
        """Exclude nodes from voting, and wait until they are. Request: POST /_cluster/voting_config_exclusions

        Raises RequestFailed if too few other nodes can vote.
        """
        ...

    def delete_voting_config_exclusions(self) -> None:
        """Delete all exclusions. Request: DELETE /_cluster/voting_config_exclusions?wait_for_removal=false"""
        ...


class Clients(Protocol):
    """A source of clients for the API of clusters."""

    def client_for(self, es: Elasticsearch) -> Client:
        """Return a client for a cluster. Never blocks: an unreachable cluster fails the client's first request."""
        ...
