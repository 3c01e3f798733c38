"""Methods of the client of services in addition to the generated ones.

Mirrors kubernetes/typed/core/v1/service_expansion.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from clientgo import gentype, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import net


class ServiceExpansion(gentype.ClientWithListAndApply[corev1.Service, corev1.ServiceList]):
    """The extra method of ServiceInterface."""

    def proxy_get(
        self, scheme: str, name: str, port: str, path: str, params: Mapping[str, str]
    ) -> rest.ResponseWrapper:
        """Return a GET request for `path` of the service, through the API server; `scheme` and `port` may be "".

        `do_raw(ctx)` or `stream(ctx)` sends it. Go: ProxyGet.
        """
        request = self.get_client().get().namespace(self.get_namespace()).resource("services").sub_resource("proxy")
        request = request.name(net.join_scheme_name_port(scheme, name, port)).suffix(path)
        for key, value in params.items():
            request = request.param(key, value)
        return request
