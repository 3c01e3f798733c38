"""Methods of the client of pods in addition to the generated ones. Mirrors kubernetes/typed/core/v1/pod_expansion.go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clientgo import gentype, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import net
from clientgo.context import Context
from clientgo.gentype import takes_context

if TYPE_CHECKING:
    from clientgo.api.policy import v1 as policyv1
    from clientgo.api.policy import v1beta1 as policyv1beta1


class PodExpansion(gentype.ClientWithListAndApply[corev1.Pod, corev1.PodList]):
    """The extra methods of PodInterface. Methods with a context block for one request and raise StatusError."""

    @takes_context
    def bind(self, ctx: Context, binding: corev1.Binding, opts: metav1.CreateOptions | None = None) -> None:
        """Assign the pod that the binding names to its target node, as a scheduler does. Go: Bind."""
        request = self.get_client().post().namespace(self.get_namespace()).resource("pods")
        request = request.name(binding.metadata.name).sub_resource("binding")
        request.versioned_params(opts or metav1.CreateOptions()).body(binding).do(ctx).raise_for_error()

    @takes_context
    def evict(self, ctx: Context, eviction: policyv1beta1.Eviction) -> None:
        """Deprecated: use evict_v1beta1. Go: Evict."""
        self.evict_v1beta1(ctx, eviction)

    @takes_context
    def evict_v1(self, ctx: Context, eviction: policyv1.Eviction) -> None:
        """Delete the pod that the eviction names, unless a PodDisruptionBudget forbids it. Go: EvictV1.

        Then it raises an error for which `apierrors.is_too_many_requests` returns True.
        """
        self._evict(ctx, eviction)

    @takes_context
    def evict_v1beta1(self, ctx: Context, eviction: policyv1beta1.Eviction) -> None:
        """Evict a pod on a server without policy/v1, as `evict_v1` does. Go: EvictV1beta1."""
        self._evict(ctx, eviction)

    def _evict(self, ctx: Context, eviction: runtime.ResourceObject) -> None:
        request = self.get_client().post().namespace(self.get_namespace()).resource("pods")
        request.name(eviction.get_name()).sub_resource("eviction").body(eviction).do(ctx).raise_for_error()

    def get_logs(self, name: str, opts: corev1.PodLogOptions | None = None) -> rest.Request:
        """Return a request for a container's log; its `stream(ctx)` or `do_raw(ctx)` sends it. Go: GetLogs.

        body = pods.get_logs("web", corev1.PodLogOptions(follow=True)).stream(ctx)
        for piece in iter(body.read_some, b""):
            ...
        """
        request = self.get_client().get().namespace(self.get_namespace()).name(name).resource("pods")
        return request.sub_resource("log").versioned_params(opts or corev1.PodLogOptions())

    def proxy_get(
        self, scheme: str, name: str, port: str, path: str, params: Mapping[str, str]
    ) -> rest.ResponseWrapper:
        """Return a GET request for `path` of the pod, through the API server; `scheme` and `port` may be "".

        `do_raw(ctx)` or `stream(ctx)` sends it. Go: ProxyGet.
        """
        request = self.get_client().get().namespace(self.get_namespace()).resource("pods").sub_resource("proxy")
        request = request.name(net.join_scheme_name_port(scheme, name, port)).suffix(path)
        for key, value in params.items():
            request = request.param(key, value)
        return request
