"""The reconciler of Elasticsearch clusters: it reads a cluster, changes its resources, and writes its status."""

from __future__ import annotations

from collections.abc import Iterable

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime import client, handler
from clientgo.tools import events
from elasticsearch import label
from elasticsearch.certificates import Certificates
from elasticsearch.client import Clients, RequestFailed, Unreachable
from elasticsearch.driver import Driver
from elasticsearch.expectations import ClustersExpectations
from elasticsearch.state import REQUEUE_AFTER, Refused, Results, State
from elasticsearch.validation import validate

# An annotation: with "false" the operator ignores the cluster.
MANAGED = "eck.k8s.elastic.co/managed"


class ReconcileElasticsearch:
    """A reconciler that brings clusters to their desired state."""

    def __init__(
        self,
        client: client.Client,
        live: client.Reader,
        recorder: events.EventRecorder,
        clients: Clients,
        certificates: Certificates | None = None,
        requeue_after: float = REQUEUE_AFTER,
    ) -> None:
        """Create a reconciler. `live` reads without a cache, `clients` reach the clusters, `requeue_after` is in
        seconds.
        """
        self.client = client
        self.recorder = recorder
        self.clients = clients
        self.certificates = certificates or Certificates(client)
        self.requeue_after = requeue_after
        self.expectations = ClustersExpectations(client, live)

    def setup_with_manager(self, mgr: ctrl.Manager) -> None:
        """Add a controller that runs after each change of a cluster, of its pods, or of an object that it owns."""
        builder = ctrl.new_controller_managed_by(mgr).for_(Elasticsearch)
        builder.owns(appsv1.StatefulSet).owns(corev1.Service).owns(corev1.Secret).owns(policyv1.PodDisruptionBudget)
        builder.owns(batchv1.Job)
        # StatefulSets own the pods, so a label maps them to the cluster.
        builder.watches(corev1.Pod, handler.enqueue_requests_from_map_func(_cluster_of))
        builder.complete(self)

    def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
        """Do the next safe step, and return when to reconcile again. The controller retries after errors, ever later.

        The cache may be behind, and the program may be killed between any two writes. So each step checks whether there
        is anything to do, and decisions wait for the expectations.
        """
        log = ctrl.logger_from(ctx)
        try:
            # The objects of the cache are shared, hence the copy.
            es = self.client.get(ctx, request, Elasticsearch).deep_copy()
        except errors.StatusError as err:
            client.ignore_not_found(err)
            self.expectations.forget(request)
            return None
        if es.get_deletion_timestamp() is not None:
            return None
        if es.get_annotations().get(MANAGED) == "false":
            log.info("Object is currently not managed by this controller. Skipping reconciliation")
            return None
        log.v(1).info("Starting reconciliation run")
        state = State(es)
        try:
            results = self._reconcile(ctx, es, state)
        except Exception as err:
            stale = _is_stale(err)
            if not stale:
                self._failed(state, err)
            self._update_status(ctx, es, state)
            if not stale:
                raise
            # The cache is behind the server: the next attempt will read newer objects.
            log.info("The cache is behind, trying again", err=str(err))
            return ctrl.Result(requeue=True)
        if not self._update_status(ctx, es, state):
            return ctrl.Result(requeue=True)
        log.v(1).info("Ending reconciliation run", reasons=results.reasons if results else None)
        return ctrl.Result(requeue_after=self.requeue_after) if results else None

    def _reconcile(self, ctx: Context, es: Elasticsearch, state: State) -> Results | None:
        """Reconcile the cluster. Returns None if nothing can be done until the user changes it."""
        if invalid := validate(es):
            text = "; ".join(map(str, invalid))
            ctrl.logger_from(ctx).error(None, "Elasticsearch manifest validation failed", errors=text)
            state.refuse("Validation", text)
            return None
        driver = Driver(
            client=self.client,
            api=self.clients.client_for(es),
            certificates=self.certificates,
            es=es,
            expectations=self.expectations.for_cluster(es),
            state=state,
        )
        try:
            results = driver.reconcile(ctx)
        except Refused as err:
            # Changes inside of Elasticsearch cause no event, so reconcile again after a time that depends on the state.
            ctrl.logger_from(ctx).error(err, "Elasticsearch cannot be made as it is asked for")
            state.refuse("Refused", str(err))
            return Results()
        state.finish(results)
        return results

    @staticmethod
    def _failed(state: State, err: Exception) -> None:
        """Emit an event about errors that the user can correct."""
        if isinstance(err, (errors.StatusError, RequestFailed, Unreachable)):
            note = f"Reconciliation error: {err}"
            state.add_event(corev1.EVENT_TYPE_WARNING, "ReconciliationError", "Reconcile", note)

    def _update_status(self, ctx: Context, es: Elasticsearch, state: State) -> bool:
        """Write the status if it has changed. Each write changes the object, which causes another reconciliation.

        Uses a patch: an update would be a conflict if the cache does not have the operator's last write yet. Returns
        False if the server rejects even the patch, because others change the object all the time.
        """
        is_written = True
        before = es.deep_copy()
        state.write_to(es)
        if es.status != before.status:
            try:
                self.client.status().patch(ctx, es, client.merge_from(before))
            except errors.StatusError as err:
                if not _is_stale(err):
                    client.ignore_not_found(err)  # gone: the cache is behind
                else:
                    ctrl.logger_from(ctx).info("The cache is behind, trying again", err=str(err))
                    is_written = False
        for event in state.events:
            self.recorder.eventf(es, None, event.type, event.reason, event.action, "%s", event.note)
        return is_written


def _is_stale(err: Exception) -> bool:
    """Report whether the server refused a write because it was decided on an older state of the object."""
    return isinstance(err, errors.StatusError) and (errors.is_conflict(err) or errors.is_already_exists(err))


def _cluster_of(ctx: Context, pod: client.Object) -> Iterable[ctrl.Request]:
    name = pod.get_labels().get(label.CLUSTER_NAME)
    return [ctrl.Request(pod.get_namespace(), name)] if name else []
