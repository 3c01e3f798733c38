"""Site, written by hand as any API type is.

Its definition for the server, config/crd/sites.yaml, is generated from it by hack/update-codegen. The `schema` of a
field is the syntactic validation, which the server does without the operator.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from api.v1alpha1.reconcile_status import ReconcileStatus
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"^{_LABEL}(\.{_LABEL})*$"


class SiteSpec(runtime.Struct):
    """The desired state of a Site."""

    # The host name. The operator sets the default NAME.NAMESPACE.DOMAIN, which a schema cannot express.
    host: str = runtime.field(
        "host", "string", default="", schema=runtime.Schema(pattern=_SUBDOMAIN, max_length=253)
    )
    # What visitors see.
    page: str = runtime.field(
        "page", "string", default="", schema=runtime.Schema(required=True, min_length=1, max_length=65536)
    )
    # A Secret of type kubernetes.io/tls, annotated patterns.example.com/certificate=true, in the same namespace.
    # Without it the Site is served without encryption.
    tls_secret_name: str = runtime.field(
        "tlsSecretName", "string", default="", schema=runtime.Schema(pattern=_SUBDOMAIN, max_length=253)
    )


class Site(runtime.ResourceObject):
    """A web page under a host name: a ConfigMap, a Deployment, and a record in an external DNS zone."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("patterns.example.com", "v1alpha1", "Site")
    CRD = runtime.CustomResource(
        singular="site",
        list_kind="SiteList",
        categories=["all"],
        printer_columns=[
            runtime.PrinterColumn("Host", ".spec.host"),
            runtime.PrinterColumn("Status", ".status.status"),
            runtime.PrinterColumn("Reason", ".status.reason", priority=1),
            runtime.PrinterColumn("Age", ".metadata.creationTimestamp", "date"),
        ],
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: SiteSpec = runtime.field("spec", "SiteSpec", default=runtime.EMPTY, schema=runtime.Schema(required=True))
    status: ReconcileStatus = runtime.field("status", "ReconcileStatus", default=runtime.EMPTY)

    def get_reconcile_status(self) -> ReconcileStatus:
        """Return the whole status."""
        return self.status


class SiteList(runtime.ListObject):
    """A list of Sites."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("patterns.example.com", "v1alpha1", "SiteList")
    ITEM = Site

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Site] = runtime.field("items", "[]Site", default=runtime.EMPTY)
