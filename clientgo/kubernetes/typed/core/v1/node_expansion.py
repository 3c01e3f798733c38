"""Methods of the client of nodes in addition to the generated ones. Mirrors kubernetes/typed/core/v1/node_expansion.go."""

from __future__ import annotations

from clientgo import gentype
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.gentype import takes_context


class NodeExpansion(gentype.ClientWithListAndApply[corev1.Node, corev1.NodeList]):
    """The extra method of NodeInterface."""

    @takes_context
    def patch_status(self, ctx: Context, node_name: str, data: bytes) -> corev1.Node:
        """Apply a strategic merge patch to the status. Blocks for the request; raises StatusError. Go: PatchStatus."""
        request = self.get_client().patch(PatchType.STRATEGIC_MERGE).resource("nodes").name(node_name)
        return request.sub_resource("status").body(data).do(ctx).into(corev1.Node())
