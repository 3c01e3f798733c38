"""Phase 2: shrink StatefulSets, one node at a time, after other nodes have taken over the node's data."""

from __future__ import annotations

from dataclasses import dataclass

from api.v1 import Elasticsearch, Phase
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import label, names, sset, voting
from elasticsearch.client import Client, ShutdownStatus
from elasticsearch.expectations import Expectations
from elasticsearch.shutdown import NodeShutdowns
from elasticsearch.state import Results, State

# The reason why a node must not be removed now.
ONE_NODE_AT_A_TIME = "A node is already in the process of being removed"
AT_LEAST_ONE_RUNNING_MASTER = "Cannot remove the last running master node"
MASTERS_QUORUM = "Not removing master node to keep a quorum of running masters"
RESPECT_MAX_UNAVAILABLE = "Not removing node to respect maxUnavailable setting"

DEFAULT_MAX_UNAVAILABLE = 1


@dataclass
class Downscale:
    """The state of the phase."""

    client: client.Client
    api: Client
    shutdowns: NodeShutdowns
    es: Elasticsearch
    expectations: Expectations
    state: State
    results: Results


@dataclass
class Removal:
    """A StatefulSet that is too large."""

    stateful_set: appsv1.StatefulSet
    # The number of pods at the end.
    final: int

    @property
    def size(self) -> int:
        return sset.replicas_of(self.stateful_set)

    @property
    def leaving(self) -> list[str]:
        """All leaving nodes in the order of their removal: StatefulSets shrink from their highest ordinal."""
        return [names.pod(self.stateful_set.get_name(), each) for each in reversed(range(self.final, self.size))]


def max_unavailable(es: Elasticsearch) -> int | None:
    """Return the number of nodes that may be unavailable; None for any number."""
    said = es.spec.update_strategy.change_budget.max_unavailable
    if said is None:
        return DEFAULT_MAX_UNAVAILABLE
    return None if said < 0 else said


class Invariants:
    """Invariants during the removal of nodes, counted from the existing pods."""

    def __init__(
        self, es: Elasticsearch, expected: sset.StatefulSets, actual: sset.StatefulSets, pods: list[corev1.Pod]
    ) -> None:
        self._removing = False
        self._ready = {pod.get_name() for pod in pods if sset.is_ready(pod)}
        self._ready_masters = {pod.get_name() for pod in label.master_pods(pods)} & self._ready
        self._wanted_masters = len(sset.master_names(expected))
        budget = max_unavailable(es)
        away = sset.node_count(actual) - len(self._ready)
        self._too_many_away = budget is not None and away > budget

    def check(self, removal: Removal) -> str:
        """Return the reason why the first leaving node must stay for now, or "" when it may leave.

        At most one node may leave at a time.
        """
        (node, *_) = removal.leaving
        reason = self._reason(node, sset.is_master_set(removal.stateful_set))
        self._removing = self._removing or not reason
        return reason

    def _reason(self, node: str, is_master: bool) -> str:
        if self._removing:
            return ONE_NODE_AT_A_TIME
        if is_master:
            left = self._ready_masters - {node}
            if not left:
                return AT_LEAST_ONE_RUNNING_MASTER
            if len(left) < self._wanted_masters // 2 + 1:
                return MASTERS_QUORUM
        # While other nodes are missing, the cluster needs the nodes that work.
        if self._too_many_away and node in self._ready:
            return RESPECT_MAX_UNAVAILABLE
        return ""


def removals(expected: sset.StatefulSets, actual: sset.StatefulSets) -> list[Removal]:
    """Return the StatefulSets that have too many replicas."""
    found = [Removal(each, sset.replicas_of(expected.get(name))) for name, each in actual.items()]
    return [each for each in found if each.final < each.size]


def handle_downscale(
    ctx: Context, down: Downscale, expected: sset.StatefulSets, actual: sset.StatefulSets, pods: list[corev1.Pod]
) -> None:
    """Run one step of the downscale. Raises StatusError, Unreachable, RequestFailed."""
    wanted = removals(expected, actual)
    all_leaving = [node for each in wanted for node in each.leaving]
    down.state.nodes_to_remove(all_leaving)
    _delete_empty(ctx, down, expected, actual)
    invariants = Invariants(down.es, expected, actual, pods)
    allowed = []
    for each in wanted:
        if reason := invariants.check(each):
            name = each.stateful_set.get_name()
            ctrl.logger_from(ctx).v(1).info("Cannot downscale StatefulSet", statefulset_name=name, reason=reason)
        else:
            allowed.append(each)
    leaving = [each.leaving[0] for each in allowed]
    terminating = [pod.get_name() for pod in pods if pod.get_deletion_timestamp() is not None]
    down.shutdowns.reconcile(ctx, leaving, terminating)
    for each in allowed:
        _attempt(ctx, down, each)
    if delayed := sorted(set(all_leaving) - set(leaving)):
        down.results.requeue(f"Downscale in progress, delayed nodes: {delayed}")


def _delete_empty(
    ctx: Context, down: Downscale, expected: sset.StatefulSets, actual: sset.StatefulSets
) -> None:
    """Delete StatefulSets that the specification does not contain, once they have no pods.

    The expectations guarantee that the cache shows the current number of pods.
    """
    for name, each in actual.items():
        if name in expected or sset.replicas_of(each):
            continue
        ctrl.logger_from(ctx).info("Deleting statefulset", statefulset_name=name)
        metadata = {"namespace": each.get_namespace(), "name": names.config_secret(name)}
        for obj in (
            corev1.Service.from_dict({"metadata": {**metadata, "name": name}}),
            corev1.Secret.from_dict({"metadata": metadata}),
            each,
        ):
            _delete(ctx, down.client, obj)
        # Its name is in use until the cache shows that the StatefulSet is gone.
        down.results.requeue("StatefulSet is being deleted")


def _delete(ctx: Context, c: client.Client, obj: client.Object) -> None:
    try:
        c.delete(ctx, obj)
    except Exception as err:
        client.ignore_not_found(err)


def _attempt(ctx: Context, down: Downscale, removal: Removal) -> None:
    """Remove the first leaving node of the set if that is safe now."""
    node = removal.leaving[0]
    status = down.shutdowns.status(node)
    down.state.shutdown_seen(node, status)
    log = ctrl.logger_from(ctx)
    if status.status == ShutdownStatus.COMPLETE:
        log.info("Node shutdown complete, can start node deletion", type=status.type, node=node)
        _do(ctx, down, removal)
    elif status.status == ShutdownStatus.STALLED:
        down.state.phase = Phase.STALLED
        text = "Requested topology change is stalled. User intervention maybe required if this condition persists."
        down.state.add_event(corev1.EVENT_TYPE_WARNING, "Stalled", "Shutdown", f"{text} {status.explanation}")
        log.info("Node shutdown stalled", type=status.type, node=node, explanation=status.explanation)
    else:
        down.state.phase = Phase.MIGRATING_DATA
        text = "Requested topology change delayed by data migration. Ensure index settings allow node removal."
        down.state.add_event(corev1.EVENT_TYPE_NORMAL, "Delayed", "Shutdown", text)
        log.v(1).info("Node shutdown not over yet, hold off with node deletion", type=status.type, node=node)
    down.results.requeue("Downscale in progress")


def _do(ctx: Context, down: Downscale, removal: Removal) -> None:
    """Remove a node. Revokes its vote first, since a master that leaves with its vote weakens the quorum."""
    node = removal.leaving[0]
    if sset.is_master_set(removal.stateful_set):
        voting.exclude(ctx, down.api, [node])
    target = removal.size - 1
    ctrl.logger_from(ctx).info(
        "Scaling replicas down",
        **{"statefulset_name": removal.stateful_set.get_name(), "from": removal.size, "to": target},
    )
    changed = removal.stateful_set.deep_copy()
    changed.spec.replicas = target
    down.client.update(ctx, changed)
    down.expectations.generations.expect_generation(changed)
