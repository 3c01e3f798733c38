"""The group version patterns.example.com/v1alpha1."""

from api.v1alpha1.groupversion_info import GROUP_VERSION, SCHEME_BUILDER, add_to_scheme
from api.v1alpha1.reconcile_status import (
    FAILURE,
    READY,
    SUCCESS,
    ReconcileStatus,
    ReconcileStatusAware,
)
from api.v1alpha1.site_types import Site, SiteList, SiteSpec

__all__ = [
    "FAILURE",
    "GROUP_VERSION",
    "READY",
    "SCHEME_BUILDER",
    "SUCCESS",
    "ReconcileStatus",
    "ReconcileStatusAware",
    "Site",
    "SiteList",
    "SiteSpec",
    "add_to_scheme",
]
