"""The reconciler of Guestbooks: each has a Deployment, a Service, and an entry in the directory outside the cluster."""

from __future__ import annotations

from api.v1 import Guestbook
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from clientgo.tools import events
from directory import Directory

# The finalizer: it keeps a deleted Guestbook until its entry in the directory is removed.
FINALIZER = "webapp.example.com/directory"
# The type of the status condition.
AVAILABLE = "Available"
CONTAINER = "guestbook"


class GuestbookReconciler:
    """A reconciler that makes the cluster and the directory match the Guestbooks."""

    def __init__(
        self, client: client.Client, scheme: Scheme, recorder: events.EventRecorder, directory: Directory
    ) -> None:
        self.client = client
        self.scheme = scheme
        self.recorder = recorder
        self.directory = directory

    def setup_with_manager(self, mgr: ctrl.Manager) -> None:
        """Add a controller that runs after each change of a Guestbook, or of an object that it owns."""
        builder = ctrl.new_controller_managed_by(mgr).for_(Guestbook)
        builder.owns(appsv1.Deployment).owns(corev1.Service).complete(self)

    def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
        """Bring the actual state to the desired state. After an error the controller retries with growing delays.

        The program may be killed between any two steps, so each step checks whether there is anything to do.
        """
        try:
            return self._reconcile(ctx, request)
        except errors.StatusError as err:
            if not (errors.is_conflict(err) or errors.is_already_exists(err)):
                raise
            # The cache is behind the server: the next attempt will read newer objects.
            ctrl.logger_from(ctx).info("The cache is behind, trying again", err=str(err))
            return ctrl.Result(requeue=True)

    def _reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
        try:
            # The objects of the cache are shared, hence the copy.
            guestbook = self.client.get(ctx, request, Guestbook).deep_copy()
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return None
        if guestbook.get_deletion_timestamp() is not None:
            self._finalize(ctx, request, guestbook)
            return None
        # Before anything is created outside of the cluster, so that the operator cannot forget it there.
        if controllerutil.add_finalizer(guestbook, FINALIZER):
            self.client.update(ctx, guestbook)
        deployment = self._apply_deployment(ctx, guestbook)
        service = self._apply_service(ctx, guestbook)
        self.directory.register(str(request), f"http://{service.get_name()}.{request.namespace}:{guestbook.spec.port}")
        self._update_status(ctx, guestbook, deployment)
        return None

    def _finalize(self, ctx: Context, request: ctrl.Request, guestbook: Guestbook) -> None:
        """Clean up what the garbage collector does not know, then remove the finalizer."""
        if not controllerutil.contains_finalizer(guestbook, FINALIZER):
            return
        if self.directory.unregister(str(request)):
            ctrl.logger_from(ctx).info("Removed from the directory")
        controllerutil.remove_finalizer(guestbook, FINALIZER)
        try:
            self.client.update(ctx, guestbook)
        except errors.StatusError as err:
            client.ignore_not_found(err)  # gone already: the cache is behind

    def _apply_deployment(self, ctx: Context, guestbook: Guestbook) -> appsv1.Deployment:
        deployment = appsv1.Deployment(metadata=_owned(guestbook))
        labels = _labels(guestbook)

        def mutate() -> None:
            # Field by field, so the server's defaults and the fields of others stay.
            spec = deployment.spec
            if spec.selector is None:
                spec.selector = metav1.LabelSelector(match_labels=labels)
            spec.replicas = guestbook.spec.size
            spec.template.metadata.labels.update(labels)
            pod = spec.template.spec
            if not pod.containers:
                pod.containers.append(corev1.Container(name=CONTAINER))
            container = pod.containers[0]
            container.image = guestbook.spec.image
            container.ports = [corev1.ContainerPort(container_port=guestbook.spec.port, protocol="TCP")]
            container.env = [corev1.EnvVar(name="GUESTBOOK_TITLE", value=guestbook.spec.title)]
            controllerutil.set_controller_reference(guestbook, deployment, self.scheme)

        self._record(ctx, guestbook, deployment, controllerutil.create_or_update(ctx, self.client, deployment, mutate))
        return deployment

    def _apply_service(self, ctx: Context, guestbook: Guestbook) -> corev1.Service:
        service = corev1.Service(metadata=_owned(guestbook))

        def mutate() -> None:
            service.spec.selector = _labels(guestbook)
            if not service.spec.ports:
                service.spec.ports.append(corev1.ServicePort(protocol="TCP"))
            service.spec.ports[0].port = guestbook.spec.port
            service.spec.ports[0].target_port = guestbook.spec.port
            controllerutil.set_controller_reference(guestbook, service, self.scheme)

        self._record(ctx, guestbook, service, controllerutil.create_or_update(ctx, self.client, service, mutate))
        return service

    def _record(
        self, ctx: Context, guestbook: Guestbook, owned: client.Object, result: controllerutil.OperationResult
    ) -> None:
        """Report a change to the user and in the log."""
        if result == controllerutil.OperationResult.NONE:
            return
        kind = self.client.group_version_kind_for(owned).kind
        ctrl.logger_from(ctx).info(f"{kind} {result}")
        self.recorder.eventf(
            guestbook, owned, corev1.EVENT_TYPE_NORMAL, result.capitalize(), "Reconcile", "%s %s %s",
            *(kind, owned.get_name(), result),
        )

    def _update_status(self, ctx: Context, guestbook: Guestbook, deployment: appsv1.Deployment) -> None:
        """Write the status if it has changed. Each write changes the object, which causes another reconciliation.

        Uses a patch: an update would be a conflict if the cache does not have the operator's last write yet.
        """
        before = guestbook.deep_copy()
        size, ready = guestbook.spec.size or 0, deployment.status.ready_replicas
        guestbook.status.ready_replicas = ready
        meta.set_status_condition(
            guestbook.status.conditions,
            metav1.Condition(
                type=AVAILABLE,
                status="True" if ready >= size else "False",
                observed_generation=guestbook.get_generation(),
                reason="DeploymentReady" if ready >= size else "DeploymentNotReady",
                message=f"{ready} of {size} replicas are ready",
            ),
        )
        if guestbook.status != before.status:
            self.client.status().patch(ctx, guestbook, client.merge_from(before))


def _owned(guestbook: Guestbook) -> metav1.ObjectMeta:
    return metav1.ObjectMeta(namespace=guestbook.get_namespace(), name=guestbook.get_name())


def _labels(guestbook: Guestbook) -> dict[str, str]:
    return {"app.kubernetes.io/name": "guestbook", "app.kubernetes.io/instance": guestbook.get_name()}
