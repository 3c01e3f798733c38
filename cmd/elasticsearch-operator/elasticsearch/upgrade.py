"""Phase 3: restart nodes of an old revision. A restart deletes the pod when all predicates allow it."""

from __future__ import annotations

from dataclasses import dataclass

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import label, names, predicates, sset, voting
from elasticsearch.client import Client, ShutdownStatus, ShutdownType
from elasticsearch.downscale import max_unavailable, removals
from elasticsearch.expectations import Expectations
from elasticsearch.shutdown import NodeShutdowns
from elasticsearch.state import Results, State

ROLLING = "Deleting pod for rolling upgrade"
FORCED = "Deleting Pod for forced rolling upgrade"


@dataclass
class Upgrade:
    """The state of the phase. The pods and sets were read when all expectations were met."""

    client: client.Client
    es: Elasticsearch
    expectations: Expectations
    state: State
    results: Results
    expected: sset.StatefulSets
    actual: sset.StatefulSets
    pods: list[corev1.Pod]

    @property
    def to_upgrade(self) -> list[corev1.Pod]:
        """The pods of an older revision, except those that will be removed."""
        going = {node for each in removals(self.expected, self.actual) for node in each.leaving}
        old = [pod for pod in self.pods if predicates.needs_upgrade(pod, self.actual)]
        return [pod for pod in old if pod.get_name() not in going]

    @property
    def leaving_masters(self) -> list[str]:
        """The next nodes to remove from sets that are too large, and those that restart without the role of master."""
        next_ones = [each.leaving[0] for each in removals(self.expected, self.actual)]
        stay = sset.master_names(self.expected)
        return next_ones + [pod.get_name() for pod in self.to_upgrade if pod.get_name() not in stay]


def handle_upgrades(ctx: Context, up: Upgrade, api: Client) -> None:
    """Run one step of the upgrade. Raises StatusError, Unreachable, RequestFailed."""
    shutdowns = NodeShutdowns(api, ShutdownType.RESTART, str(up.es.get_generation()))
    to_upgrade = up.to_upgrade
    _complete(ctx, up, shutdowns, to_upgrade)
    up.state.nodes_to_upgrade(pod.get_name() for pod in to_upgrade)
    if not to_upgrade:
        return
    # Also if none is deleted now.
    up.results.requeue("Nodes upgrade in progress")
    healthy = {
        pod.get_name(): pod for pod in up.pods if sset.is_ready(pod) and shutdowns.is_in_cluster(pod.get_name())
    }
    allowed = _allowed_deletions(up, len(healthy))
    context = predicates.PredicateContext(
        es=up.es,
        api=api,
        health=api.health(),
        pods=up.pods,
        to_update=to_upgrade,
        healthy=healthy,
        expected_masters=sset.master_names(up.expected),
        expected_roles={name: label.roles_of(each.spec.template) for name, each in up.expected.items()},
        max_unavailable_reached=allowed <= 0,
    )
    chosen, refused = predicates.apply_predicates(ctx, context, predicates.sort_candidates(to_upgrade), allowed)
    for name, predicate in refused.items():
        up.state.upgrade_refused(name, predicate)
    if chosen:
        _restart(ctx, up, api, shutdowns, chosen)


def _allowed_deletions(up: Upgrade, healthy: int) -> int:
    """Return the number of further nodes that may be unavailable; 0 or less if the limit is reached."""
    budget = max_unavailable(up.es)
    size = sset.node_count(up.actual)
    return size if budget is None else budget - (size - healthy)


def _complete(ctx: Context, up: Upgrade, shutdowns: NodeShutdowns, to_upgrade: list[corev1.Pod]) -> None:
    """Delete the completed shutdowns of nodes that have returned, and once no node is missing, of all other nodes."""
    terminating = [pod.get_name() for pod in up.pods if pod.get_deletion_timestamp() is not None]
    kept = shutdowns.ids_of({*terminating, *(pod.get_name() for pod in to_upgrade)})
    expected = sset.all_pod_names(up.actual)
    here = shutdowns.ids_of(expected)
    missing = [name for name in expected if not shutdowns.is_in_cluster(name)]
    shutdowns.clear(
        ctx,
        lambda each: (
            each.status == ShutdownStatus.COMPLETE
            and each.node_id not in kept
            and (not missing or each.node_id in here)
        ),
    )
    if missing:
        ctrl.logger_from(ctx).v(1).info("Some nodes are not back in the cluster yet", nodes=missing)
        up.results.requeue(f"Some nodes are not in the cluster yet: {','.join(missing)}")


def _restart(
    ctx: Context, up: Upgrade, api: Client, shutdowns: NodeShutdowns, chosen: list[corev1.Pod]
) -> None:
    running = [pod.get_name() for pod in chosen if sset.is_ready(pod)]
    terminating = [pod.get_name() for pod in up.pods if pod.get_deletion_timestamp() is not None]
    shutdowns.reconcile(ctx, running, terminating)
    for pod in chosen:
        name = pod.get_name()
        if label.is_master_node(pod) and name not in sset.master_names(up.expected):
            # It will return without the role of master, so the quorum must not depend on its vote.
            voting.exclude(ctx, api, [name])
        if sset.is_ready(pod) and shutdowns.is_in_cluster(name):
            status = shutdowns.status(name).status
            if status != ShutdownStatus.COMPLETE:
                ctrl.logger_from(ctx).v(1).info("Node is not ready to restart yet", node=name, status=status)
                return
        if not delete_pod(ctx, up, pod, ROLLING):
            return


def delete_pod(ctx: Context, up: Upgrade, pod: corev1.Pod, message: str) -> bool:
    """Delete the pod if it is unchanged since it was read. Return False if it has changed or is gone.

    Raises StatusError.
    """
    ctrl.logger_from(ctx).info(message, pod_name=pod.get_name(), pod_uid=pod.get_uid())
    seen = client.Preconditions(uid=pod.get_uid(), resource_version=pod.get_resource_version())
    try:
        up.client.delete(ctx, pod, seen)
    except errors.StatusError as err:
        if errors.is_conflict(err) or errors.is_not_found(err):
            return False  # the cache is behind; what it shows then is looked at anew
        raise
    up.expectations.deletions.expect_deletion(pod)
    up.state.deleted(pod.get_name(), message)
    return True


def maybe_force_upgrade(ctx: Context, up: Upgrade) -> bool:
    """Restart the pods of a StatefulSet if none of them ever ran. Raises StatusError.

    This does not need Elasticsearch to be reachable: a wrong specification may be the reason why it is not.
    """
    forced = False
    for name in up.actual:
        pods = sset.pods_of(name, up.pods)
        old = [pod for pod in pods if predicates.needs_upgrade(pod, up.actual)]
        if not old or not (all(map(_is_pending, pods)) or all(map(_is_boot_looping, pods))):
            continue
        forced = True
        text = "Performing a forced rolling upgrade"
        ctrl.logger_from(ctx).info(text, statefulset_name=name, pod_count=len(old))
        for pod in old:
            delete_pod(ctx, up, pod, FORCED)
    return forced


def _is_pending(pod: corev1.Pod) -> bool:
    return pod.status.phase == "Pending"


def _is_boot_looping(pod: corev1.Pod) -> bool:
    statuses = [each for each in pod.status.container_statuses if each.name == names.CONTAINER]
    return not sset.is_ready(pod) and all(each.restart_count for each in statuses)
