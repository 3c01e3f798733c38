"""Phase 1: apply the specifications of StatefulSets and add nodes. This phase removes none."""

from __future__ import annotations

from dataclasses import dataclass, field

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import certificates, label, names, nodespec, pvc_expansion, sset, version, voting
from elasticsearch.expectations import Expectations
from elasticsearch.nodespec import Resources
from elasticsearch.reconciler import reconcile_resource
from elasticsearch.services import reconcile_service
from elasticsearch.state import NewNodeStatus, Results, State


@dataclass
class Upscale:
    """The state of the phase."""

    client: client.Client
    es: Elasticsearch
    expectations: Expectations
    state: State
    results: Results
    # The StatefulSets to recreate before anything else.
    recreations: list[str] = field(default_factory=list)


def handle_upscale_and_spec_changes(
    ctx: Context, up: Upscale, actual: sset.StatefulSets, expected: list[Resources], pods: list[corev1.Pod]
) -> sset.StatefulSets:
    """Apply the specifications, add nodes, and return the resulting StatefulSets. Raises Refused, StatusError.

    Raises Refused before it has changed anything. When the version changes, StatefulSets with masters follow when all
    other nodes run the new version: a node must not join the cluster of an older master with newer data, and a node
    that crashes meanwhile must restart with its old version.
    """
    pvc_expansion.check_claims(ctx, up.client, nodespec.expected_stateful_sets(expected), actual)
    adjusted = adjust(ctx, up, actual, expected)
    initial = voting.setup_initial_master_nodes(ctx, up.client, up.es, nodespec.expected_stateful_sets(adjusted))
    if not is_version_upgrade(up.es):
        return _reconcile(ctx, up, actual, adjusted, initial)
    masters = [each for each in adjusted if sset.is_master_set(each.stateful_set)]
    others = [each for each in adjusted if not sset.is_master_set(each.stateful_set)]
    actual = _reconcile(ctx, up, actual, others, initial)
    pending = _not_upgraded(up, actual, others, pods)
    if pending:
        ctrl.logger_from(ctx).v(1).info("Non-master StatefulSets are still upgrading", statefulsets=pending)
        up.results.requeue("Non-master StatefulSets are still upgrading")
        return _grow_only(ctx, up, actual, masters)
    return _reconcile(ctx, up, actual, masters, initial)


def is_version_upgrade(es: Elasticsearch) -> bool:
    """Report whether the nodes run an older version than specified."""
    return bool(es.status.version) and version.parse(es.spec.version) > version.parse(es.status.version)


def adjust(
    ctx: Context, up: Upscale, actual: sset.StatefulSets, expected: list[Resources]
) -> list[Resources]:
    """Return the expected sets with the sizes that are allowed now.

    A size is never less than the present one, nor more than the surge allows.
    """
    surge = up.es.spec.update_strategy.change_budget.max_surge
    wanted = sum(sset.replicas_of(each.stateful_set) for each in expected)
    left = None if surge is None or surge < 0 else max(0, surge + wanted - sset.node_count(actual))
    adjusted = []
    for each in expected:
        target = sset.replicas_of(each.stateful_set)
        has = sset.replicas_of(actual.get(each.name))
        size = max(has, target)
        if target > has:
            new = target - has if left is None else min(left, target - has)
            left = None if left is None else left - new
            size = has + new
            _report(ctx, up, each.name, has, size, target)
        changed = each.stateful_set.deep_copy()
        changed.spec.replicas = size
        adjusted.append(Resources(changed, each.service, each.config))
    return adjusted


def _report(ctx: Context, up: Upscale, name: str, has: int, allowed: int, target: int) -> None:
    log = ctrl.logger_from(ctx)
    if allowed > has:
        log.info("Creating nodes", statefulset_name=name, actual_replicas=has, replicas_to_create=allowed - has)
    text = f"Upscaling StatefulSet {name} from {has} to {allowed} replicas"
    for ordinal in range(has, allowed):
        up.state.new_node(names.pod(name, ordinal), NewNodeStatus.EXPECTED, text)
    if allowed < target:
        text = "Limiting nodes creation to respect maxSurge setting"
        log.info(text, statefulset_name=name, target=target, actual=has)
        for ordinal in range(allowed, target):
            up.state.new_node(names.pod(name, ordinal), NewNodeStatus.PENDING, text)
    up.results.requeue("Upscale in progress")


def _reconcile(
    ctx: Context, up: Upscale, actual: sset.StatefulSets, wanted: list[Resources], initial: list[str]
) -> sset.StatefulSets:
    """Apply the configuration, the Service and the StatefulSet of each node set. A starting pod needs the first two."""
    found = dict(actual)
    for each in wanted:
        secret = nodespec.config_secret(up.es, each, initial)
        reconcile_resource(ctx, up.client, up.es, secret, certificates.copy_data)
        reconcile_service(ctx, up.client, up.es, each.service)
        known = actual.get(each.name)
        if known is not None and _is_to_be_recreated(ctx, up, each.stateful_set, known):
            continue
        found[each.name] = _reconcile_stateful_set(ctx, up, each.stateful_set, known)
    return sset.by_name(found.values())


def _is_to_be_recreated(
    ctx: Context, up: Upscale, expected: appsv1.StatefulSet, known: appsv1.StatefulSet
) -> bool:
    if not pvc_expansion.handle_volume_expansion(ctx, up.client, up.es, expected, known, up.state):
        return False
    up.recreations.append(known.get_name())
    up.results.requeue(f"StatefulSet {known.get_name()} is scheduled for recreation")
    return True


def _reconcile_stateful_set(
    ctx: Context, up: Upscale, expected: appsv1.StatefulSet, known: appsv1.StatefulSet | None
) -> appsv1.StatefulSet:
    """Apply a StatefulSet, but keep the claim templates of an existing one, which are immutable."""
    if known is not None:
        expected.spec.volume_claim_templates = [each.deep_copy() for each in known.spec.volume_claim_templates]

    def update(expected: appsv1.StatefulSet, actual: appsv1.StatefulSet) -> None:
        actual.spec.replicas = expected.spec.replicas
        actual.spec.template = expected.spec.template
        actual.spec.update_strategy = expected.spec.update_strategy

    reconciled = reconcile_resource(ctx, up.client, up.es, expected, update)
    up.expectations.generations.expect_generation(reconciled)
    return reconciled


def _grow_only(
    ctx: Context, up: Upscale, actual: sset.StatefulSets, masters: list[Resources]
) -> sset.StatefulSets:
    """Add masters, which is safe at any time. All other changes to their StatefulSets wait."""
    found = dict(actual)
    for each in masters:
        known = found.get(each.name)
        if known is None or sset.replicas_of(known) >= sset.replicas_of(each.stateful_set):
            continue
        changed = known.deep_copy()
        changed.spec.replicas = each.stateful_set.spec.replicas
        up.client.update(ctx, changed)
        up.expectations.generations.expect_generation(changed)
        found[each.name] = changed
    return found


def _not_upgraded(
    up: Upscale, actual: sset.StatefulSets, others: list[Resources], pods: list[corev1.Pod]
) -> list[str]:
    """Return the sets without masters whose nodes do not all run the version yet."""
    pending = []
    for each in others:
        found = actual[each.name]
        if found.get_generation() != found.status.observed_generation:
            pending.append(each.name)
            continue
        running = sset.pods_of(each.name, pods)
        if any(pod.get_labels().get(label.VERSION) != up.es.spec.version for pod in running):
            pending.append(each.name)
    return pending
