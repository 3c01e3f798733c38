"""CertificateSubjectRestriction: a signing request cannot ask for the group of the cluster's administrators."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds import certificates
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors

_SIGNER = "kubernetes.io/kube-apiserver-client"
_MASTERS = "system:masters"


def validate(store: Store, request: AdmissionRequest) -> None:
    """Refuse a new request of the API server's clients with the group system:masters."""
    if request.resource.storage != certificates.STORAGE or request.subresource or request.old is not None:
        return
    spec = request.obj["spec"]
    if spec.get("signerName") == _SIGNER and _MASTERS in certificates.organizations(spec["request"]):
        why = f"use of {_SIGNER} signer with {_MASTERS} group is not allowed"
        raise errors.forbidden(request.resource.group, request.resource.plural, request.name, why)
