"""A client of the scale subresource of any resource. Mirrors client-go's scale/client.go.

    scales = scale.new_for_config(config, mapper, dynamic.legacy_api_path_resolver_func, resolver)
    found = scales.scales("default").get(ctx, GroupResource("apps", "deployments"), "web")

The server chooses the version of a Scale; the client converts it from and to autoscaling/v1. Difference from Go: a
client of `new_for_config` always requests JSON, since a Scale of any group version may arrive.
"""

from __future__ import annotations

from functools import cache

from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion, GroupVersionResource
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.dynamic import APIPathResolverFunc
from clientgo.rest.client import Interface as RESTInterface
from clientgo.rest.config import Config, copy_config, default_kubernetes_user_agent, rest_client_for
from clientgo.rest.request import Request, Result
from clientgo.rest.url_utils import default_versioned_api_path
from clientgo.scale.interfaces import ScaleInterface, ScalesGetter
from clientgo.scale.util import PreferredResourceMapper, ScaleConverter, ScaleKindResolver, new_scale_converter

__all__ = ["new", "new_for_config"]

_V1 = GroupVersion("", "v1")
_JSON = "application/json"


@cache
def _converter() -> ScaleConverter:
    """Return the converter of all clients. Nothing changes its scheme."""
    return new_scale_converter()


def new_for_config(
    cfg: Config,
    mapper: PreferredResourceMapper,
    resolver: APIPathResolverFunc,
    scale_kind_resolver: ScaleKindResolver,
) -> ScalesGetter:
    """Return a client with connections of its own. Raises ValueError, OSError. Go: scale.NewForConfig.

    `mapper` finds the version of a resource, `resolver` its API path (`dynamic.legacy_api_path_resolver_func`). The
    config is not changed; Go's is.
    """
    config = copy_config(cfg)
    config.group_version = GroupVersion("", "")
    config.negotiated_serializer = _converter().codecs().without_conversion()
    config.content_type = config.accept_content_types = _JSON
    config.user_agent = config.user_agent or default_kubernetes_user_agent()
    return new(rest_client_for(config), mapper, resolver, scale_kind_resolver)


def new(
    base_client: RESTInterface,
    mapper: PreferredResourceMapper,
    resolver: APIPathResolverFunc,
    scale_kind_resolver: ScaleKindResolver,
) -> ScalesGetter:
    """Return a client over a REST client, whose group version is ignored. Go: scale.New."""
    return _ScaleClient(base_client, mapper, resolver, scale_kind_resolver)


class _ScaleClient:
    """See ScalesGetter. Go: scaleClient."""

    def __init__(
        self,
        client: RESTInterface,
        mapper: PreferredResourceMapper,
        resolver: APIPathResolverFunc,
        scale_kind_resolver: ScaleKindResolver,
    ) -> None:
        self.client = client
        self.scale_kind_resolver = scale_kind_resolver
        self._mapper = mapper
        self._resolver = resolver

    def scales(self, namespace: str) -> ScaleInterface:
        return _NamespacedScaleClient(self, namespace)

    def close(self) -> None:
        """Close the idle connections; the client can be used again."""
        self.client.close()

    def api_path_for(self, group_version: GroupVersion) -> str:
        path = self._resolver(group_version.with_kind("")) or "/api"
        return default_versioned_api_path(path, group_version)

    def resource_for(self, resource: GroupResource) -> GroupVersionResource:
        try:
            return self._mapper.resource_for(resource.with_version(""))
        except Exception as err:
            raise ValueError(
                f"unable to get client for {resource}: "
                f"unable to get full preferred group-version-resource for {resource}: {err}"
            ) from err

    def __repr__(self) -> str:
        return f"<scale client over {self.client!r}>"


class _NamespacedScaleClient:
    """See ScaleInterface. Go: namespacedScaleClient."""

    def __init__(self, client: _ScaleClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace

    def get(
        self, ctx: Context, resource: GroupResource, name: str, opts: metav1.GetOptions | None = None
    ) -> autoscalingv1.Scale:
        gvr = self._client.resource_for(resource)
        request = self._at(self._client.client.get(), gvr, name, opts or metav1.GetOptions())
        return _as_scale(request.do(ctx).raise_for_error())

    def update(
        self,
        ctx: Context,
        resource: GroupResource,
        scale: autoscalingv1.Scale,
        opts: metav1.UpdateOptions | None = None,
    ) -> autoscalingv1.Scale:
        gvr = self._client.resource_for(resource)
        data = self._encoded(gvr, scale)
        request = self._at(self._client.client.put(), gvr, scale.get_name(), opts or metav1.UpdateOptions())
        return _as_scale(request.set_header("Content-Type", _JSON).body(data).do(ctx).raise_for_error())

    def _encoded(self, gvr: GroupVersionResource, scale: autoscalingv1.Scale) -> bytes:
        """Return the scale in the version of the resource's endpoint."""
        try:
            version = self._client.scale_kind_resolver.scale_for_resource(gvr).group_version()
        except Exception as err:
            raise ValueError(f"could not find proper group-version for scale subresource of {gvr}: {err}") from err
        codecs = _converter().codecs()
        try:
            converted = _converter().convert_to_version(scale, version)
        except Exception as err:
            raise ValueError(f"could not convert scale update to external Scale: {err}") from err
        encoder = codecs.encoder_for_version(codecs.supported_media_types()[0].serializer, version)
        return encoder.encode(converted)

    def patch(
        self,
        ctx: Context,
        gvr: GroupVersionResource,
        name: str,
        pt: PatchType,
        data: bytes,
        opts: metav1.PatchOptions | None = None,
    ) -> autoscalingv1.Scale:
        request = self._at(self._client.client.patch(pt), gvr, name, opts or metav1.PatchOptions())
        return _as_scale(request.body(data).do(ctx).raise_for_error())

    def _at(
        self,
        request: Request,
        gvr: GroupVersionResource,
        name: str,
        options: metav1.GetOptions | metav1.UpdateOptions | metav1.PatchOptions,
    ) -> Request:
        request.abs_path(self._client.api_path_for(gvr.group_version()))
        request.namespace_if_scoped(self._namespace, bool(self._namespace))
        request.resource(gvr.resource).name(name).sub_resource("scale")
        return request.specifically_versioned_params(options, PARAMETER_CODEC, _V1)

    def __repr__(self) -> str:
        return f"<scale client, namespace {self._namespace!r}>"


def _as_scale(result: Result) -> autoscalingv1.Scale:
    """Return a response in any version of Scale as autoscaling/v1. Raises ValueError for another kind."""
    received: Object
    received, _ = _converter().codecs().universal_deserializer().decode(result.raw())
    try:
        scale = _converter().convert_to_version(received, autoscalingv1.SCHEME_GROUP_VERSION)
    except Exception as err:
        raise ValueError(
            f"received an object from a /scale endpoint which was not convertible to autoscaling Scale: {err}"
        ) from err
    assert isinstance(scale, autoscalingv1.Scale)
    return scale
