"""The Secrets of a cluster that are not configuration: the password of its first user, and its certificates."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from clientgo.golang import pem
from clientgo.util import cert
from clientgo.utils.clock import REAL_CLOCK, Clock
from elasticsearch import label, names
from elasticsearch.reconciler import get, reconcile_resource

CA, CERTIFICATE, KEY = "ca.crt", "tls.crt", "tls.key"
# Annotations of a certificate: its subject, and the time of its renewal in seconds since 1970.
HOSTS = "elasticsearch.k8s.elastic.co/certificate-hosts"
ROTATE_AT = "elasticsearch.k8s.elastic.co/certificate-rotate-at"
_END = b"-----END CERTIFICATE-----\n"
_VALIDITY = 365 * 24 * 3600.0
_ROTATE_AFTER = 364 * 24 * 3600.0

# (hosts) to the certificate of the authority, the certificate and its key, in PEM.
Maker = Callable[[list[str]], tuple[str, str, str]]


def make(hosts: list[str]) -> tuple[str, str, str]:
    """Return a certificate, its key and the certificate of its own authority, whose key is discarded."""
    host, *others = hosts
    options = cert.SelfSignedCertKeyOptions(host=host, alternate_dns=others, max_age=_VALIDITY)
    certificates, key = cert.generate_self_signed_cert_key_with_options(options)
    own, authority = (pem.encode(block.type, block.bytes).decode() for block in pem.blocks(certificates))
    return authority, own, key.decode()


class Certificates:
    """A reconciler of the Secrets of clusters."""

    def __init__(self, c: client.Client, clock: Clock = REAL_CLOCK, maker: Maker = make) -> None:
        self._client = c
        self._clock = clock
        self._maker = maker

    def reconcile(self, ctx: Context, es: Elasticsearch) -> None:
        """Create or renew all Secrets of a cluster. Raises StatusError."""
        self._elastic_user(ctx, es)
        name, namespace = es.get_name(), es.get_namespace()
        service = names.http_service(name)
        hosts = [f"{service}.{namespace}.svc", f"{service}.{namespace}", service]
        http = self._pair(ctx, es, names.http_certificates(name), hosts)
        self._public(ctx, es, http)
        sets = [names.stateful_set(name, node_set.name) for node_set in es.spec.node_sets]
        self._pair(ctx, es, names.transport_certificates(name), [f"*.{each}.{namespace}.svc" for each in sets])

    def _elastic_user(self, ctx: Context, es: Elasticsearch) -> None:
        """Create the password of the user `elastic`, unless it exists."""
        secret = _secret(es, names.elastic_user(es.get_name()))
        if get(ctx, self._client, secret) is not None:
            return
        secret.data = {"elastic": secrets.token_urlsafe(24).encode()}
        self._create(ctx, es, secret)

    def _pair(self, ctx: Context, es: Elasticsearch, name: str, hosts: list[str]) -> corev1.Secret:
        """Return the Secret with a certificate for these hosts, renewed when the hosts change or it is about to expire.

        Nodes load a new certificate at different times. The Secret therefore trusts the previous authority beside the
        new one.
        """
        secret = _secret(es, name)
        known = get(ctx, self._client, secret)
        if known is not None and self._is_good(known, hosts):
            return known
        now = self._clock.now()
        authority, certificate, key = self._maker(hosts)
        before, end, _ = known.data.get(CA, b"").partition(_END) if known is not None else (b"", b"", b"")
        trusted = authority.encode() + (before + end if end else b"")
        if known is not None:
            secret = known.deep_copy()
        secret.data = {CA: trusted, CERTIFICATE: certificate.encode(), KEY: key.encode()}
        said = {HOSTS: ",".join(hosts), ROTATE_AT: str(int(now + _ROTATE_AFTER))}
        secret.set_annotations({**secret.get_annotations(), **said})
        if known is None:
            self._create(ctx, es, secret)
        else:
            self._client.update(ctx, secret)
            ctrl.logger_from(ctx).info("Rotated certificate", secret=name)
        return secret

    def _is_good(self, secret: corev1.Secret, hosts: list[str]) -> bool:
        said = secret.get_annotations()
        rotate_at = said.get(ROTATE_AT, "")
        return (
            said.get(HOSTS) == ",".join(hosts)
            and rotate_at.isdecimal()
            and self._clock.now() < int(rotate_at)
            and all(secret.data.get(key) for key in (CA, CERTIFICATE, KEY))
        )

    def _public(self, ctx: Context, es: Elasticsearch, http: corev1.Secret) -> None:
        """Write the Secret for clients, which has everything except the key."""
        secret = _secret(es, names.public_http_certificates(es.get_name()))
        secret.data = {key: http.data[key] for key in (CA, CERTIFICATE)}
        reconcile_resource(ctx, self._client, es, secret, copy_data)

    def _create(self, ctx: Context, es: Elasticsearch, secret: corev1.Secret) -> None:
        controllerutil.set_controller_reference(es, secret, self._client.scheme())
        self._client.create(ctx, secret)
        ctrl.logger_from(ctx).info("Created resource successfully", kind="Secret", name=secret.get_name())


def copy_data(expected: corev1.Secret, actual: corev1.Secret) -> None:
    """Copy the expected data into the actual Secret."""
    actual.data = dict(expected.data)


def _secret(es: Elasticsearch, name: str) -> corev1.Secret:
    labels = label.of_cluster(es.get_name())
    return corev1.Secret(metadata=metav1.ObjectMeta(namespace=es.get_namespace(), name=name, labels=labels))
