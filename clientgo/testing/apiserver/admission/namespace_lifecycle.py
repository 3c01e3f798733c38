"""NamespaceLifecycle: nothing new in a namespace that does not exist, or that is being deleted."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors


def admit(store: Store, request: AdmissionRequest) -> None:
    if not request.namespace:
        return
    namespace = store.get("/namespaces", request.namespace)
    if namespace is None:
        raise errors.not_found("", "namespaces", request.namespace)
    if not namespace.obj["metadata"].get("deletionTimestamp"):
        return
    why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {request.namespace} is being terminated",
        "field": "metadata.namespace",
    }
    resource = request.resource
    raise errors.forbidden(resource.group, resource.plural, request.name, why, causes=[cause])
