"""The migration from client-side to server-side apply. Mirrors k8s.io/client-go/util/csaupgrade.

After `kubectl apply` or a program's updates, the field manager owns fields by `Update`. Before the program uses
server-side apply, it must transfer these fields to its `Apply`; otherwise fields that it no longer applies would
remain:

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
