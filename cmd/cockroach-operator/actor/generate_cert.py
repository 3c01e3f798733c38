"""The creation of the certificates of the nodes and of the user root. Mirrors pkg/actor/generate_cert.go.

Differs: one Secret holds the certificate and the key of the authority, and is never changed. So all certificates come
from one authority, also after an interruption. Only the nodes' certificate is issued again, if the database gets
another host for clients outside of the cluster. An annotation of its Secret has this host. So has an annotation of the
CrdbCluster, which is written together with the request for the nodes' restart, so the nodes restart once for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from resources import Cluster, labels_of
from resources.cluster import CERT_EXPIRATION_ANNOTATION, RESTART_TYPE_ANNOTATION, SQL_HOST_ANNOTATION, now

from actor.actor import Action
from actor.authority import Authority
from actor.cluster_restart import ROLLING
from api.v1alpha1 import ActionType, ClusterConditionType
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime.controller import controllerutil
from clientgo.logr import Logger
from clientgo.utils.clock import REAL_CLOCK

_AUTHORITY = "Cockroach CA"
_YEARS = 5


class GenerateCert(Action):
    """Three Secrets: NAME-ca for the authority, NAME-node for the nodes, NAME-root for a client."""

    def get_action_type(self) -> str:
        return ActionType.GENERATE_CERT

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        if not cluster.spec.tls_enabled or cluster.spec.node_tls_secret:
            return
        at = REAL_CLOCK.now()
        authority = self._authority(ctx, cluster, at, log)
        host = cluster.sql_ingress.host if cluster.sql_ingress is not None else ""
        is_new_host = bool(host) and cluster.annotations.get(SQL_HOST_ANNOTATION) != host
        self._issue(ctx, cluster, authority, cluster.node_tls_secret_name, "node", _hosts(cluster), at, log, host)
        if not cluster.spec.client_tls_secret:
            self._issue(ctx, cluster, authority, cluster.client_tls_secret_name, "root", [], at, log)
        self._note(ctx, cluster, host if is_new_host else "")
        cluster.set_true(ClusterConditionType.CERTIFICATE_GENERATED)
        cluster.status.sql_host = host

    def _note(self, ctx: Context, cluster: Cluster, new_host: str) -> None:
        """Record when the certificates expire, and request a restart if running nodes must load a new certificate."""
        notes: dict[str, str | None] = {}
        if new_host or CERT_EXPIRATION_ANNOTATION not in cluster.annotations:
            notes[CERT_EXPIRATION_ANNOTATION] = now().replace(year=now().year + _YEARS).isoformat()
        if new_host:
            notes[SQL_HOST_ANNOTATION] = new_host
            if cluster.is_true(ClusterConditionType.INITIALIZED):
                notes[RESTART_TYPE_ANNOTATION] = cluster.annotations.get(RESTART_TYPE_ANNOTATION) or ROLLING
        if notes:
            self.annotate(ctx, cluster, notes)

    def _authority(self, ctx: Context, cluster: Cluster, at: float, log: Logger) -> Authority:
        secret = self.find(ctx, cluster, cluster.ca_secret_name, corev1.Secret)
        if secret is not None:
            key, certificate = _text(secret, "ca.key"), _text(secret, "ca.crt")
            return Authority(_AUTHORITY, at, key=key, certificate=certificate)
        authority = Authority(_AUTHORITY, at, years=2 * _YEARS)
        data = {"ca.key": authority.key, "ca.crt": authority.certificate}
        self._create(ctx, cluster, cluster.ca_secret_name, data)
        log.info("generated and saved ca key")
        return authority

    def _issue(
        self,
        ctx: Context,
        cluster: Cluster,
        authority: Authority,
        name: str,
        user: str,
        hosts: list[str],
        at: float,
        log: Logger,
        outside: str = "",
    ) -> None:
        """Issue a certificate into a Secret, unless the Secret already has one that includes the host `outside`."""
        found = self.find(ctx, cluster, name, corev1.Secret)
        if found is not None and (not outside or found.get_annotations().get(SQL_HOST_ANNOTATION) == outside):
            return
        said = {SQL_HOST_ANNOTATION: outside} if outside else {}
        certificate, key = authority.issue(user, hosts, at, years=_YEARS)
        data = {"ca.crt": authority.certificate, "tls.crt": certificate, "tls.key": key}
        if found is None:
            self._create(ctx, cluster, name, data, said)
        else:
            found.set_annotations({**found.get_annotations(), **said})
            found.data = {key: text.encode() for key, text in data.items()}
            self.client.update(ctx, found)
        log.info(f"generated and saved {user} certificate and key")

    def _create(
        self, ctx: Context, cluster: Cluster, name: str, data: Mapping[str, str], annotations: Mapping[str, str] = {}
    ) -> None:
        metadata = metav1.ObjectMeta(
            namespace=cluster.namespace, name=name, labels=labels_of(cluster), annotations=dict(annotations)
        )
        secret = corev1.Secret(metadata=metadata, data={key: text.encode() for key, text in data.items()})
        controllerutil.set_controller_reference(cluster.crdb, secret, self.scheme)
        self.client.create(ctx, secret)


def _text(secret: corev1.Secret, key: str) -> str:
    return secret.data[key].decode()


def _hosts(cluster: Cluster) -> list[str]:
    public, discovery = cluster.public_service_name, cluster.discovery_service_name
    domains = ("", f".{cluster.namespace}", f".{cluster.namespace}.svc.cluster.local")
    outside = [cluster.sql_ingress.host] if cluster.sql_ingress is not None else []
    return [
        "localhost",
        "127.0.0.1",
        *(f"{public}{domain}" for domain in domains),
        *(f"*.{discovery}{domain}" for domain in domains),
        *outside,
    ]
