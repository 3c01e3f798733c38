"""The client of evictions, which has one method: evict. Mirrors kubernetes/typed/policy/v1/eviction_expansion.go.

An eviction is not a resource: it is a subresource of a pod.
"""

from __future__ import annotations

from clientgo import gentype
from clientgo.api.policy import v1 as policyv1
from clientgo.context import Context
from clientgo.gentype import takes_context


class EvictionExpansion(gentype.Client[policyv1.Eviction]):
    """The method of EvictionInterface."""

    @takes_context
    def evict(self, ctx: Context, eviction: policyv1.Eviction) -> None:
        """Delete the pod with the eviction's namespace and name, unless a PodDisruptionBudget forbids it. Go: Evict.

        Blocks for the request. Raises StatusError; `apierrors.is_too_many_requests` returns True if a budget forbids
        it.
        """
        request = self.get_client().post().abs_path("/api/v1").namespace(eviction.metadata.namespace)
        request = request.resource("pods").name(eviction.metadata.name).sub_resource("eviction")
        request.body(eviction).do(ctx).raise_for_error()
