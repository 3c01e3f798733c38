"""Methods of the client of namespaces in addition to the generated ones.

Mirrors kubernetes/typed/core/v1/namespace_expansion.go.
"""

from __future__ import annotations

from clientgo import gentype
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.gentype import takes_context


class NamespaceExpansion(gentype.ClientWithListAndApply[corev1.Namespace, corev1.NamespaceList]):
    """The extra method of NamespaceInterface."""

    @takes_context
    def finalize(
        self, ctx: Context, item: corev1.Namespace, opts: metav1.UpdateOptions | None = None
    ) -> corev1.Namespace:
        """Write `spec.finalizers`, which an update leaves alone: an emptied one lets a deleted namespace go.

        Blocks for the request; raises StatusError. Go: Finalize.
        """
        request = self.get_client().put().resource("namespaces").name(item.metadata.name).sub_resource("finalize")
        return request.versioned_params(opts or metav1.UpdateOptions()).body(item).do(ctx).into(corev1.Namespace())
