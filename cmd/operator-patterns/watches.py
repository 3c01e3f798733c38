"""The watches of the controller: the events that it accepts, and the Sites that they concern.

The guides write `predicate.Funcs` with e.MetaNew and e.ObjectNew; both are `e.object_new` today. Their handler with a
method for each event is a function here, which `enqueue_requests_from_map_func` calls with each object.
"""

from __future__ import annotations

from api.v1alpha1 import Site, SiteList
from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from clientgo.controller_runtime import client, event, predicate

# An annotation: "true" allows Sites to use the Secret, and the operator reacts to its changes.
CERTIFICATE_ANNOTATION = "patterns.example.com/certificate"
# The index of Sites by the Secret that they name.
TLS_SECRET_FIELD = ".spec.tlsSecretName"


class ResourceGenerationOrFinalizerChangedPredicate(predicate.Funcs):
    """A predicate that drops updates which changed neither the spec nor the finalizers.

    Writing a status is such an update: without the predicate each reconcile would cause the next one. A change of the
    finalizers, which initialisation may add, does not change the generation.
    """

    def update(self, e: event.UpdateEvent, /) -> bool:
        """Report whether the generation or the finalizers changed."""
        old, new = e.object_old, e.object_new
        return new.get_generation() != old.get_generation() or new.get_finalizers() != old.get_finalizers()


def is_annotated_secret() -> predicate.TypedFuncs[corev1.Secret]:
    """Return a predicate that accepts events of annotated TLS Secrets, and updates that remove the annotation.

    It drops updates that change neither the certificate, nor its authority, nor the annotation.
    """

    def update(e: event.TypedUpdateEvent[corev1.Secret]) -> bool:
        old, new = e.object_old, e.object_new
        if new.type != corev1.SecretType.TLS:
            return False
        if certificate_of(new) != certificate_of(old):
            return is_annotated(new)
        return is_annotated(new) != is_annotated(old)

    # Deletions are filtered too. The guides omit this, so their predicate accepts the deletion of any Secret.
    return predicate.TypedFuncs(
        create_func=lambda e: is_usable(e.object), update_func=update, delete_func=lambda e: is_usable(e.object)
    )


def is_usable(secret: corev1.Secret) -> bool:
    """Report whether Sites may use the Secret."""
    return secret.type == corev1.SecretType.TLS and is_annotated(secret)


def is_annotated(secret: corev1.Secret) -> bool:
    """Report whether the Secret's annotation allows Sites to use it."""
    return secret.get_annotations().get(CERTIFICATE_ANNOTATION) == "true"


def certificate_of(secret: corev1.Secret) -> tuple[bytes, bytes]:
    """Return the certificate and its authority. The key changes together with the certificate."""
    return secret.data.get(corev1.TLS_CERT_KEY, b""), secret.data.get(corev1.SERVICE_ACCOUNT_ROOT_CA_KEY, b"")


def match_secret(reader: client.Reader, ctx: Context, secret: client.Object) -> list[ctrl.Request]:
    """Return a request for each Site that names the Secret."""
    found = reader.list(
        ctx,
        SiteList,
        client.InNamespace(secret.get_namespace()),
        client.MatchingFields({TLS_SECRET_FIELD: secret.get_name()}),
    )
    return [ctrl.Request(site.get_namespace(), site.get_name()) for site in found.items]


def index_tls_secret(site: Site) -> list[str]:
    """Return the values of TLS_SECRET_FIELD of a Site. Without this index `match_secret` would read all Sites."""
    return [site.spec.tls_secret_name] if site.spec.tls_secret_name else []
