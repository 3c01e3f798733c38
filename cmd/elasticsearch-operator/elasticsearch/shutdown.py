"""Shutdowns of nodes: the operator registers the nodes to remove, and Elasticsearch reports when they may go."""

from __future__ import annotations

from collections.abc import Callable, Collection

from clientgo import controller_runtime as ctrl
from clientgo.context import Context
from elasticsearch.client import (
    Client,
    HealthStatus,
    NodeShutdown,
    RequestFailed,
    ShutdownStatus,
    ShutdownType,
)


class NodeShutdowns:
    """The shutdowns of one type: as read by the constructor, with the changes made since then. Not thread-safe."""

    def __init__(self, api: Client, type: ShutdownType, reason: str) -> None:
        """Read the nodes and their shutdowns of this type from the cluster. Raises Unreachable."""
        self._api = api
        self._type = type
        self._reason = reason
        self._ids = api.nodes()
        self._shutdowns = {node_id: each for node_id, each in api.shutdowns().items() if each.type == type}

    def __repr__(self) -> str:
        return f"<NodeShutdowns {self._type} {list(self._shutdowns.values())}>"

    def is_in_cluster(self, name: str) -> bool:
        """Report whether the node has joined."""
        return name in self._ids

    def reconcile(self, ctx: Context, leaving: Collection[str], terminating: Collection[str]) -> None:
        """Request shutdowns for the `leaving` nodes, and delete those of all other nodes that are not `terminating`.

        Raises RequestFailed, Unreachable.
        """
        wanted = {self._ids[name] for name in leaving if name in self._ids}
        spared = wanted | {self._ids[name] for name in terminating if name in self._ids}
        self.clear(ctx, lambda each: each.node_id not in spared)
        for node_id in sorted(wanted - set(self._shutdowns)):
            ctrl.logger_from(ctx).v(1).info("Requesting shutdown", type=self._type, node_id=node_id)
            self._api.put_shutdown(node_id, self._type, self._reason)
        self._shutdowns = {key: each for key, each in self._api.shutdowns().items() if each.type == self._type}

    def clear(self, ctx: Context, condition: Callable[[NodeShutdown], bool]) -> None:
        """Delete the shutdowns that meet the condition: cancels or cleans them up. Raises Unreachable."""
        for node_id, each in list(self._shutdowns.items()):
            if condition(each):
                ctrl.logger_from(ctx).v(1).info("Deleting shutdown", type=self._type, node_id=node_id)
                self._api.delete_shutdown(node_id)
                del self._shutdowns[node_id]

    def ids_of(self, nodes: Collection[str]) -> set[str]:
        """Return the ids of these nodes. Omits nodes that are not in the cluster."""
        return {self._ids[name] for name in nodes if name in self._ids}

    def status(self, name: str) -> NodeShutdown:
        """Return the progress of a node's shutdown. Raises RequestFailed if it was not requested, and Unreachable.

        A node outside of the cluster has no progress. It may go if the cluster misses nothing without it.
        """
        if name not in self._ids:
            if self._api.health().status == HealthStatus.GREEN:
                return NodeShutdown("", self._type, ShutdownStatus.COMPLETE)
            why = f"node {name} is not in the cluster, and shards are missing that it may hold"
            return NodeShutdown("", self._type, ShutdownStatus.STALLED, why)
        found = self._shutdowns.get(self._ids[name])
        if found is None:
            raise RequestFailed(f"no shutdown in progress for {name}")
        return found
