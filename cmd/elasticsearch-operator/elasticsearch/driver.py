"""The phases of a reconciliation, in their order. Each phase reads the cluster again and does one safe step.

The first phase changes specifications and adds nodes. It is safe at any time, because these StatefulSets do not restart
pods by themselves. The next phases remove nodes and restart nodes, but only once the cache shows all earlier writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import image_check, nodespec, pdb, pvc_expansion, sset, voting
from elasticsearch.certificates import Certificates
from elasticsearch.client import Client, HealthStatus, ShutdownType, Unreachable
from elasticsearch.downscale import Downscale, handle_downscale
from elasticsearch.expectations import Expectations
from elasticsearch.nodespec import Resources
from elasticsearch.services import reconcile_services
from elasticsearch.shutdown import NodeShutdowns
from elasticsearch.state import Results, State
from elasticsearch.upgrade import Upgrade, handle_upgrades, maybe_force_upgrade
from elasticsearch.upscale import Upscale, handle_upscale_and_spec_changes


@dataclass
class Driver:
    """One reconciliation of one cluster."""

    client: client.Client
    api: Client
    certificates: Certificates
    es: Elasticsearch
    expectations: Expectations
    state: State

    def reconcile(self, ctx: Context) -> Results:
        """Reconcile once and return the remaining work. Raises Refused, StatusError, Unreachable, RequestFailed."""
        reconcile_services(ctx, self.client, self.es)
        self.certificates.reconcile(ctx, self.es)
        self._observe(ctx)
        results = Results()
        self._reconcile_node_specs(ctx, results)
        return results

    def _observe(self, ctx: Context) -> None:
        self.state.pods = sset.actual_pods(ctx, self.client, self.es)
        try:
            self.state.health = self.api.health().status
        except Unreachable:
            self.state.health = HealthStatus.UNKNOWN

    @property
    def _is_reachable(self) -> bool:
        return self.state.health != HealthStatus.UNKNOWN

    def _reconcile_node_specs(self, ctx: Context, results: Results) -> None:
        # Pods without their StatefulSet would be miscounted.
        recreations = pvc_expansion.recreate_stateful_sets(ctx, self.client, self.es, self.expectations)
        if recreations:
            results.requeue(f"StatefulSets recreation in progress: {','.join(recreations)}")
            return
        if not self._expectations_satisfied(ctx, results):
            return
        expected = nodespec.build_expected_resources(self.es)
        # No node gets an image that has not been checked.
        if images := image_check.reconcile_image_checks(ctx, self.client, self.es, expected):
            results.requeue(f"Waiting for the version check of image {', '.join(images)}")
            return
        # Phase 1: apply expected StatefulSets and scale up.
        upscale = Upscale(self.client, self.es, self.expectations, self.state, results)
        actual = sset.actual_stateful_sets(ctx, self.client, self.es)
        pods = sset.actual_pods(ctx, self.client, self.es)
        actual = handle_upscale_and_spec_changes(ctx, upscale, actual, expected, pods)
        if upscale.recreations:
            return
        pdb.reconcile_disruption_budget(ctx, self.client, self.es, actual, self.state.health)
        # The next phases count nodes, so they wait until the cache shows the writes of this one.
        if not self._expectations_satisfied(ctx, results):
            return
        upgrade = self._upgrade(ctx, expected, results)
        if maybe_force_upgrade(ctx, upgrade):
            results.requeue("Forced upgrade in progress")
            return
        if not self._is_reachable:
            message = "Elasticsearch cannot be reached yet, re-queuing"
            ctrl.logger_from(ctx).info(message)
            results.requeue(message)
            return
        if not voting.complete_bootstrap(ctx, self.client, self.es, self.api):
            results.requeue("Initial cluster bootstrap is not complete")
            return
        # Sets and pods agree: no node is being removed.
        voting.clear_exclusions(ctx, self.api, upgrade.leaving_masters)
        # Phase 2: scale down.
        self._downscale(ctx, expected, results)
        # Phase 3: rolling upgrades.
        if not self._expectations_satisfied(ctx, results):
            return
        handle_upgrades(ctx, self._upgrade(ctx, expected, results), self.api)

    def _downscale(self, ctx: Context, expected: list[Resources], results: Results) -> None:
        generation = str(self.es.get_generation())
        shutdowns = NodeShutdowns(self.api, ShutdownType.REMOVE, generation)
        down = Downscale(self.client, self.api, shutdowns, self.es, self.expectations, self.state, results)
        actual = sset.actual_stateful_sets(ctx, self.client, self.es)
        pods = sset.actual_pods(ctx, self.client, self.es)
        handle_downscale(ctx, down, nodespec.expected_stateful_sets(expected), actual, pods)

    def _upgrade(self, ctx: Context, expected: list[Resources], results: Results) -> Upgrade:
        return Upgrade(
            client=self.client,
            es=self.es,
            expectations=self.expectations,
            state=self.state,
            results=results,
            expected=nodespec.expected_stateful_sets(expected),
            actual=sset.actual_stateful_sets(ctx, self.client, self.es),
            pods=sset.actual_pods(ctx, self.client, self.es),
        )

    def _expectations_satisfied(self, ctx: Context, results: Results) -> bool:
        """Report whether the cache shows all writes, and StatefulSets and pods agree."""
        reason = self.expectations.pending(ctx)
        if not reason:
            actual = sset.actual_stateful_sets(ctx, self.client, self.es)
            reason = sset.pending_reconciliation(actual, sset.actual_pods(ctx, self.client, self.es))
        if not reason:
            return True
        text = "Cache expectations are not satisfied yet, re-queueing"
        ctrl.logger_from(ctx).v(1).info(text, reason=reason)
        results.requeue(reason)
        return False
