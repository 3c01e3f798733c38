"""The way from client-side to server-side apply. Mirrors k8s.io/client-go/util/csaupgrade.

An object that `kubectl apply` or a program's updates made has fields that the field manager owns by `Update`. Before
the same program applies on the server it hands these fields over to its `Apply`; otherwise fields that are no longer
applied would stay:

    patch = csaupgrade.upgrade_managed_fields_patch(obj, {"kubectl-client-side-apply"}, "my-controller")
    if patch is not None:
        client.patch(ctx, name, PatchType.JSON, patch, metav1.PatchOptions())
"""

from clientgo.util.csaupgrade.options import Option, subresource
from clientgo.util.csaupgrade.upgrade import (
    find_fields_owners,
    upgrade_managed_fields,
    upgrade_managed_fields_patch,
)

__all__ = ["Option", "find_fields_owners", "subresource", "upgrade_managed_fields", "upgrade_managed_fields_patch"]
