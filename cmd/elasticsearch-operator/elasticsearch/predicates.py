"""Predicates that decide which pod a rolling upgrade may delete next, one for each reason against it.

A pod is deleted if all predicates allow it. The name of the first that does not is logged and written to the status.
The annotation names.DISABLE_PREDICATES disables some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from elasticsearch import label, names, sset
from elasticsearch.client import Client, Health, HealthStatus, Shard, ShardState


@dataclass
class PredicateContext:
    """The input of predicates."""

    es: Elasticsearch
    api: Client
    health: Health
    # All existing pods; the pods to restart; the pods that are ready and in the cluster, by name.
    pods: list[corev1.Pod]
    to_update: list[corev1.Pod]
    healthy: dict[str, corev1.Pod]
    # The masters after the upgrade; the roles of each StatefulSet's nodes after it.
    expected_masters: list[str]
    expected_roles: dict[str, set[str]]
    max_unavailable_reached: bool
    # The pods deleted in this step.
    deleted: list[corev1.Pod] = field(default_factory=list)
    master_update_in_progress: bool = False

    @cached_property
    def shards(self) -> list[Shard]:
        """The shards; requested once, when a predicate needs them."""
        return self.api.shards()

    def is_healthy(self, pod: corev1.Pod) -> bool:
        return pod.get_name() in self.healthy

    def changes_version(self, pod: corev1.Pod) -> bool:
        return pod.get_labels().get(label.VERSION) != self.es.spec.version

    def roles_to_be(self, pod: corev1.Pod) -> set[str]:
        return self.expected_roles.get(pod.get_labels().get(label.STATEFUL_SET_NAME, ""), set())

    def becomes_master(self, pod: corev1.Pod) -> bool:
        return pod.get_name() in self.expected_masters

    def shards_on(self, pod: corev1.Pod) -> list[Shard]:
        return [shard for shard in self.shards if shard.node == pod.get_name()]


Predicate = Callable[[PredicateContext, corev1.Pod], bool]

# All predicates by name, in the order of their calls. Each reports whether the candidate may be deleted.
PREDICATES: dict[str, Predicate] = {}


def _predicate(function: Predicate) -> Predicate:
    PREDICATES[function.__name__] = function
    return function


# Data moves to the right as it gets older.
_TIERS = ("data_hot", "data_warm", "data_cold", "data_frozen")


def _depends_on(roles: set[str], others: set[str]) -> bool:
    """Report whether data moves from nodes of these roles to nodes of the others."""
    return any(
        early in roles and any(late in others for late in _TIERS[number + 1 :]) for number, early in enumerate(_TIERS)
    )


@_predicate
def data_tier_with_higher_priority_must_be_upgraded_first(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Upgrade colder tiers first: data moves on to them, and no node takes data of a newer version."""
    if not ctx.changes_version(candidate):
        return True
    roles = ctx.roles_to_be(candidate)
    others = [ctx.roles_to_be(pod) for pod in [*ctx.to_update, *ctx.deleted]]
    return not any(_depends_on(roles, each) and not _depends_on(each, roles) for each in others)


@_predicate
def do_not_restart_healthy_node_if_MaxUnavailable_reached(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow no healthy node beyond maxUnavailable. A node that is unavailable may go: the change may repair it."""
    return not (ctx.max_unavailable_reached and ctx.is_healthy(candidate))


@_predicate
def skip_already_terminating_pods(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow pods that are not already terminating."""
    return candidate.get_deletion_timestamp() is None


@_predicate
def only_restart_healthy_node_if_green_or_yellow(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow no healthy node while the cluster is red: data is missing, so no other node may stop."""
    return ctx.health.status in (HealthStatus.GREEN, HealthStatus.YELLOW) or not ctx.is_healthy(candidate)


@_predicate
def if_yellow_only_restart_upgrading_nodes_with_unassigned_replicas(
    ctx: PredicateContext, candidate: corev1.Pod
) -> bool:
    """Allow a healthy pod in a yellow cluster only if it changes its version and no shard moves.

    Clusters with a single pod are exempt. Replicas may be unassigned because all remaining nodes are too old for them.
    Then only further upgrades help.
    """
    if ctx.health.status != HealthStatus.YELLOW or not ctx.is_healthy(candidate) or len(ctx.pods) == 1:
        return True
    return ctx.changes_version(candidate) and not ctx.health.has_shard_activity


@_predicate
def require_started_replica(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow a pod unless it has the only started copy of a shard that has replicas."""
    if ctx.health.status == HealthStatus.GREEN:
        return True
    if len(ctx.pods) == 1 and ctx.health.status == HealthStatus.YELLOW and ctx.is_healthy(candidate):
        return True
    for mine in ctx.shards_on(candidate):
        others = [each for each in ctx.shards if each.key == mine.key and each is not mine]
        if mine.primary and others and not any(each.state == ShardState.STARTED for each in others):
            return False
    return True


@_predicate
def one_master_at_a_time(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow one master at a time, and only while all other masters are available."""
    is_master = label.is_master_node(candidate)
    if not is_master and not ctx.becomes_master(candidate):
        return True
    if ctx.master_update_in_progress:
        return False
    if not is_master or not ctx.is_healthy(candidate):
        return True
    others = [pod for pod in label.master_pods(ctx.pods) if pod.get_name() != candidate.get_name()]
    if not all(map(ctx.is_healthy, others)):
        return False
    # A pod that ceases to be a master may be deleted now. A pod that stays one waits until all expected masters run.
    healthy = sum(map(label.is_master_node, ctx.healthy.values()))
    return not ctx.becomes_master(candidate) or healthy == len(ctx.expected_masters)


@_predicate
def do_not_delete_last_master_if_all_master_ineligible_nodes_are_not_upgraded(
    ctx: PredicateContext, candidate: corev1.Pod
) -> bool:
    """Allow the last old master only after all other nodes: a new master may not elect nodes of an older version."""
    if not label.is_master_node(candidate):
        return True
    others = [pod for pod in ctx.to_update if pod.get_name() != candidate.get_name()]
    return not others or any(map(label.is_master_node, others))


@_predicate
def do_not_delete_pods_with_same_shards(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Allow a pod unless a pod deleted in this step has copies of the same shards."""
    if not ctx.deleted:
        return True
    gone = {shard.key for pod in ctx.deleted for shard in ctx.shards_on(pod)}
    return not any(shard.key in gone for shard in ctx.shards_on(candidate))


@_predicate
def do_not_delete_all_members_of_a_tier(ctx: PredicateContext, candidate: corev1.Pod) -> bool:
    """Keep at least one node of each role that several nodes have."""
    if not ctx.is_healthy(candidate):
        return True
    others = [pod for name, pod in ctx.healthy.items() if name != candidate.get_name()]
    for role in label.roles_of(candidate) - {label.MASTER}:
        if sum(label.has_role(pod, role) for pod in ctx.pods) == 1:
            continue
        if not any(label.has_role(pod, role) for pod in others):
            return False
    return True


def run_predicates(ctx: Context, context: PredicateContext, candidate: corev1.Pod) -> str:
    """Return the name of the first predicate that refuses the pod, or "" when all allow it. Raises Unreachable."""
    disabled = context.es.get_annotations().get(names.DISABLE_PREDICATES, "").split(",")
    for name, predicate in PREDICATES.items():
        if predicate(context, candidate):
            continue
        if name not in disabled and "*" not in disabled:
            return name
        text = "Warning: disabling upgrade predicate because of annotation"
        ctrl.logger_from(ctx).info(text, predicate=name)
    return ""


def apply_predicates(
    ctx: Context, context: PredicateContext, candidates: Iterable[corev1.Pod], allowed: int
) -> tuple[list[corev1.Pod], dict[str, str]]:
    """Return the pods to delete now, at most `allowed`, and for each other pod the predicate that rejected it.

    If `allowed` is used up, one more pod may go: the predicates allow it only if it is unavailable already.
    """
    refused: dict[str, str] = {}
    for candidate in candidates:
        if predicate := run_predicates(ctx, context, candidate):
            refused[candidate.get_name()] = predicate
            continue
        if label.is_master_node(candidate) or context.becomes_master(candidate):
            context.master_update_in_progress = True
        context.healthy.pop(candidate.get_name(), None)
        context.deleted.append(candidate)
        allowed -= 1
        if allowed <= 0:
            break
    if refused:
        grouped: dict[str, list[str]] = {}
        for name, predicate in sorted(refused.items()):
            grouped.setdefault(predicate, []).append(name)
        text = "Cannot restart some nodes for upgrade at this time"
        ctrl.logger_from(ctx).info(text, failed_predicates=grouped)
    return context.deleted, refused


def sort_candidates(pods: Iterable[corev1.Pod]) -> list[corev1.Pod]:
    """Return the pods in the order of restarts: masters last; within a StatefulSet, the highest ordinal first."""

    def key(pod: corev1.Pod) -> tuple[bool, str, int]:
        stateful_set = pod.get_labels().get(label.STATEFUL_SET_NAME, "")
        return label.is_master_node(pod), stateful_set, -names.ordinal(pod.get_name())

    return sorted(pods, key=key)


def needs_upgrade(pod: corev1.Pod, stateful_sets: sset.StatefulSets) -> bool:
    """Report whether the pod has an older revision than its StatefulSet."""
    found = stateful_sets.get(pod.get_labels().get(label.STATEFUL_SET_NAME, ""))
    if found is None or not found.status.update_revision:
        return False
    return sset.revision_of(pod) != found.status.update_revision
