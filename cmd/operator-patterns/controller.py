"""The reconcile cycle of Sites. Each practice of the guides is a function with the same name.

A Site owns a ConfigMap and a Deployment that serves it, and has a record in a DNS zone, which the garbage collector
does not know. The order is that of the guides with one difference: the deletion comes before the validation and the
initialization. An invalid Site must still be deletable, and a Site that is being deleted must get no new finalizer.
"""

from __future__ import annotations

import hashlib

import validation
import watches
from api.v1alpha1 import GROUP_VERSION, Site
from clientgo import context
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client, controller, handler, predicate
from clientgo.controller_runtime.builder import with_predicates
from clientgo.controller_runtime.controller import controllerutil
from clientgo.klog.exceptions import operational_error
from clientgo.tools import events
from clientgo.utils.clock import REAL_CLOCK, PassiveClock
from reconciler_base import FIRST_RETRY, ReconcilerBase, is_stale
from zone import Record, Zone

# The finalizer: it keeps a deleted Site until its host is removed from the zone. Each controller has its own one.
FINALIZER = "patterns.example.com/zone"
# The owner of this operator's fields in server-side apply.
FIELD_OWNER = client.FieldOwner("operator-patterns")
# An annotation of the pods: the fingerprint of their certificate. A change replaces the pods.
FINGERPRINT_ANNOTATION = "patterns.example.com/certificate-sha256"


class SiteReconciler(ReconcilerBase):
    """A reconciler that makes the cluster and the zone match the Sites."""

    def __init__(
        self,
        client: client.Client,
        scheme: Scheme,
        recorder: events.EventRecorder,
        zone: Zone,
        domain: str,
        clock: PassiveClock = REAL_CLOCK,
    ) -> None:
        super().__init__(client, recorder, clock)
        self.scheme = scheme
        self.zone = zone
        self.domain = domain

    def setup_with_manager(self, mgr: ctrl.Manager, options: controller.Options | None = None) -> None:
        """Create the watches: of Sites, of the objects that they own, and of the Secrets that they name."""
        mgr.get_field_indexer().index_field(
            context.background(), Site, watches.TLS_SECRET_FIELD, watches.index_tls_secret
        )
        builder = ctrl.new_controller_managed_by(mgr)
        builder.for_(Site, with_predicates(watches.ResourceGenerationOrFinalizerChangedPredicate()))
        # A ConfigMap has no generation. A Deployment's status changes often, and this controller does not read it.
        builder.owns(corev1.ConfigMap)
        builder.owns(appsv1.Deployment, with_predicates(predicate.GenerationChangedPredicate()))
        builder.watches(
            corev1.Secret,
            handler.enqueue_requests_from_map_func(lambda ctx, obj: watches.match_secret(self.client, ctx, obj)),
            with_predicates(watches.is_annotated_secret()),
        )
        builder.with_options(options or controller.Options()).complete(self)

    def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result | None:
        """Bring the actual state to the desired state.

        The program may be killed between any two steps, so each step checks whether there is anything to do.
        """
        try:
            # The objects of the cache are shared, hence the copy.
            site = self.client.get(ctx, request, Site).deep_copy()
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return None
        try:
            return self.manage(ctx, site)
        except Exception as err:
            if ctx.err() is not None:
                raise  # The operator is stopping, and that is no fault of the Site.
            if is_stale(err):
                ctrl.logger_from(ctx).info("The cache is behind, trying again", err=err)
                return ctrl.Result(requeue_after=FIRST_RETRY)
            return self.manage_error(ctx, site, err)

    def manage(self, ctx: Context, site: Site) -> ctrl.Result:
        """Run one cycle for a Site, and change the Site. `reconcile` handles the errors that this method raises."""
        if is_being_deleted(site):
            self.manage_deletion(ctx, site)
            return ctrl.Result()
        ok, err = self.is_valid(site)
        if not ok:
            assert err is not None
            return self.manage_error(ctx, site, err)
        if not self.is_initialized(site):
            # The change causes an event, which starts the next cycle.
            self.client.update(ctx, site)
            return ctrl.Result()
        self.manage_operator_logic(ctx, site)
        return self.manage_success(ctx, site)

    def is_valid(self, site: Site) -> tuple[bool, Exception | None]:
        """Report whether the Site is valid, and the error. Some Sites were stored without the webhook."""
        found = validation.validate(site, self.domain)
        if not found:
            return True, None
        return False, errors.new_invalid(GROUP_VERSION.with_kind("Site").group_kind(), site.get_name(), found)

    def is_initialized(self, site: Site) -> bool:
        """Fill in missing fields and report whether there were none. Otherwise the caller has to write the object.

        This includes the finalizer, which must exist before anything is created outside of the cluster.
        """
        defaulted = validation.set_defaults(site, self.domain)
        return not controllerutil.add_finalizer(site, FINALIZER) and not defaulted

    def manage_deletion(self, ctx: Context, site: Site) -> None:
        """Clean up what the garbage collector does not know, then remove the finalizer.

        The Site stays as long as the clean-up fails, and its status has the reason.
        """
        if not controllerutil.contains_finalizer(site, FINALIZER):
            return
        self.manage_cleanup_logic(ctx, site)
        controllerutil.remove_finalizer(site, FINALIZER)
        self.client.update(ctx, site)

    def manage_cleanup_logic(self, ctx: Context, site: Site) -> None:
        """Remove the Site from the zone. The garbage collector deletes its objects in the cluster."""
        for host in self.zone.withdraw(str(_key(site))):
            ctrl.logger_from(ctx).info("Removed from the zone", host=host)

    def manage_operator_logic(self, ctx: Context, site: Site) -> None:
        """Reconcile the Site with its Deployment, its ConfigMap and its record in the zone."""
        fingerprint = self.certificate_fingerprint(ctx, site)
        record = Record(owner=str(_key(site)), target=f"{site.get_name()}.{site.get_namespace()}.svc")
        if self.zone.publish(site.spec.host, record):
            ctrl.logger_from(ctx).info("Published in the zone", host=site.spec.host)
        self.update_config_map(ctx, site)
        self.apply_deployment(ctx, site, fingerprint)

    def certificate_fingerprint(self, ctx: Context, site: Site) -> str:
        """Return the fingerprint of the certificate in the Site's Secret, or "" when the Site names no Secret.

        Raises an error when the Secret or the certificate is missing.
        """
        name = site.spec.tls_secret_name
        if not name:
            return ""
        try:
            secret = self.client.get(ctx, NamespacedName(site.get_namespace(), name), corev1.Secret)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            raise CertificateError(f"there is no TLS Secret {name}") from None
        if not watches.is_usable(secret):
            wanted = f"{corev1.SecretType.TLS}, annotated {watches.CERTIFICATE_ANNOTATION}=true"
            raise CertificateError(f"the Secret {name} is not of type {wanted}")
        return hashlib.sha256(b"".join(watches.certificate_of(secret))).hexdigest()

    def update_config_map(self, ctx: Context, site: Site) -> None:
        """Manage an object with `update`: read it, change it, and write the whole object if it has changed.

        A write of another program in between is a conflict, after which the controller retries. This function must
        remove superfluous fields itself.
        """
        config_map = corev1.ConfigMap(metadata=_named_like(site))

        def mutate() -> None:
            config_map.metadata.labels.update(_labels(site))
            config_map.data["index.html"] = site.spec.page
            controllerutil.set_controller_reference(site, config_map, self.scheme)

        result = controllerutil.create_or_update(ctx, self.client, config_map, mutate)
        if result != controllerutil.OperationResult.NONE:
            ctrl.logger_from(ctx).info(f"ConfigMap {result}")

    def apply_deployment(self, ctx: Context, site: Site, fingerprint: str) -> None:
        """Manage an object with server-side apply: send only the fields that this operator wants to set.

        The operator does not read the object first, so an old cache causes no conflict. Others own the fields that it
        does not send: `kubectl scale` and autoscalers keep the replicas. The server removes fields that are no longer
        sent, such as the certificate of a Site that no longer names a Secret. The operator takes its fields over from
        other managers.
        """
        deployment = appsv1.Deployment(metadata=_named_like(site), spec=_deployment_spec(site, fingerprint))
        deployment.metadata.labels.update(_labels(site))
        controllerutil.set_controller_reference(site, deployment, self.scheme)
        self.client.apply(ctx, deployment, FIELD_OWNER, client.FORCE_OWNERSHIP)


@operational_error
class CertificateError(Exception):
    """A certificate that a Site requests does not exist."""


def is_being_deleted(obj: client.Object) -> bool:
    """Report whether the object is being deleted and only finalizers keep it."""
    return obj.get_deletion_timestamp() is not None


def _key(site: Site) -> NamespacedName:
    return client.object_key_from_object(site)


def _named_like(site: Site) -> metav1.ObjectMeta:
    return metav1.ObjectMeta(namespace=site.get_namespace(), name=site.get_name())


def _labels(site: Site) -> dict[str, str]:
    return {"app.kubernetes.io/name": "site", "app.kubernetes.io/instance": site.get_name()}


def _deployment_spec(site: Site, fingerprint: str) -> appsv1.DeploymentSpec:
    container = corev1.Container(
        name="web",
        image="nginx:1.27",
        volume_mounts=[corev1.VolumeMount(name="page", mount_path="/usr/share/nginx/html")],
    )
    page = corev1.ConfigMapVolumeSource(name=site.get_name())
    pod = corev1.PodSpec(containers=[container], volumes=[corev1.Volume(name="page", config_map=page)])
    template = corev1.PodTemplateSpec(metadata=metav1.ObjectMeta(labels=_labels(site)), spec=pod)
    if fingerprint:
        template.metadata.annotations[FINGERPRINT_ANNOTATION] = fingerprint
        certificate = corev1.SecretVolumeSource(secret_name=site.spec.tls_secret_name)
        template.spec.volumes.append(corev1.Volume(name="certificate", secret=certificate))
        mount = corev1.VolumeMount(name="certificate", mount_path="/etc/nginx/tls", read_only=True)
        template.spec.containers[0].volume_mounts.append(mount)
    return appsv1.DeploymentSpec(selector=metav1.LabelSelector(match_labels=_labels(site)), template=template)
