"""The dynamic client. Mirrors dynamic/simple.go."""

from __future__ import annotations

import copy

from clientgo import features
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_CBOR
from clientgo.context import Context
from clientgo.dynamic.interface import NamespaceableResourceInterface, ResourceInterface
from clientgo.dynamic.scheme import BasicNegotiatedSerializer
from clientgo.gentype import takes_context
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.strconv import quote
from clientgo.rest.client import Interface as RESTInterface
from clientgo.rest.config import (
    Config,
    copy_config,
    default_kubernetes_user_agent,
    unversioned_rest_client_for_config_and_client,
)
from clientgo.rest.request import Request, is_valid_path_segment_name, require_namespace, require_patch
from clientgo.rest.transport import http_client_for

_V1 = GroupVersion("", "v1")


class DynamicClient:
    """A client for any resource; implements dynamic.Interface. Thread-safe."""

    def __init__(self, client: RESTInterface) -> None:
        self._client = client

    def resource(self, resource: GroupVersionResource) -> NamespaceableResourceInterface:
        """Return the client of one resource. Go: Resource. Sends nothing."""
        return _DynamicResourceClient(self._client, resource)

    def close(self) -> None:
        """Close the idle connections; the client can be used again."""
        self._client.close()

    def __repr__(self) -> str:
        return f"<DynamicClient over {self._client!r}>"


def config_for(in_config: Config) -> Config:
    """Return a copy of the config for a dynamic client. Go: ConfigFor."""
    config = copy_config(in_config)
    config.content_type = config.accept_content_types = "application/json"
    gates = features.feature_gates()
    if gates.enabled(features.CLIENTS_ALLOW_CBOR):
        config.accept_content_types = "application/json;q=0.9,application/cbor;q=1"
        if gates.enabled(features.CLIENTS_PREFER_CBOR):
            config.content_type = CONTENT_TYPE_CBOR
    config.negotiated_serializer = BasicNegotiatedSerializer()
    config.user_agent = config.user_agent or default_kubernetes_user_agent()
    return config


def new(c: RESTInterface) -> DynamicClient:
    """Return a client on a RESTClient, whose config must come from `config_for`. Go: New."""
    return DynamicClient(c)


def new_for_config_or_die(c: Config) -> DynamicClient:
    """Return a client, like new_for_config. Go: NewForConfigOrDie."""
    return new_for_config(c)


def new_for_config(in_config: Config) -> DynamicClient:
    """Return a client with connections of its own. Go: NewForConfig. Raises ValueError, OSError."""
    config = config_for(in_config)
    return new_for_config_and_client(config, http_client_for(config))


def new_for_config_and_client(in_config: Config, h: HTTPClient) -> DynamicClient:
    """Return a client over shared connections. Go: NewForConfigAndClient."""
    config = config_for(in_config)
    config.group_version = None
    config.api_path = "/if-you-see-this-search-for-the-break"
    return DynamicClient(unversioned_rest_client_for_config_and_client(config, h))


class _DynamicResourceClient:
    """See ResourceInterface."""

    def __init__(self, client: RESTInterface, resource: GroupVersionResource, namespace: str = "") -> None:
        self._client = client
        self._resource = resource
        self._namespace = namespace

    def namespace(self, namespace: str) -> ResourceInterface:
        scoped = copy.copy(self)
        scoped._namespace = require_namespace(namespace)
        return scoped

    @takes_context
    def create(
        self, ctx: Context, obj: Unstructured, options: metav1.CreateOptions | None = None, *subresources: str
    ) -> Unstructured:
        name = _required(obj.get_name()) if subresources else ""
        request = self._at(self._client.post(), name, *subresources).body(obj)
        return _with_params(request, options).do(ctx).into(Unstructured)

    @takes_context
    def update(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None, *subresources: str
    ) -> Unstructured:
        request = self._at(self._client.put(), _required(obj.get_name()), *subresources).body(obj)
        return _with_params(request, options).do(ctx).into(Unstructured)

    @takes_context
    def update_status(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None
    ) -> Unstructured:
        return self.update(ctx, obj, options, "status")

    @takes_context
    def delete(self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str) -> None:
        request = self._at(self._client.delete(), _required(name), *subresources)
        request.body(options if options is not None else metav1.DeleteOptions()).do(ctx).raise_for_error()

    @takes_context
    def delete_collection(
        self,
        ctx: Context,
        options: metav1.DeleteOptions | None = None,
        list_options: metav1.ListOptions | None = None,
    ) -> None:
        request = _with_params(self._at(self._client.delete(), ""), list_options)
        request.body(options if options is not None else metav1.DeleteOptions()).do(ctx).raise_for_error()

    @takes_context
    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> Unstructured:
        request = self._at(self._client.get(), _required(name), *subresources)
        return _with_params(request, options).do(ctx).into(Unstructured)

    @takes_context
    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> UnstructuredList:
        return _with_params(self._at(self._client.get(), ""), opts).do(ctx).into(UnstructuredList)

    @takes_context
    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        opts = opts.deep_copy() if opts is not None else metav1.ListOptions()
        opts.watch = True
        return _with_params(self._at(self._client.get(), ""), opts).watch(ctx)

    @takes_context
    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        require_patch(data)
        request = self._at(self._client.patch(pt), _required(name), *subresources).body(data)
        return _with_params(request, options).do(ctx).into(Unstructured)

    @takes_context
    def apply(
        self,
        ctx: Context,
        name: str,
        obj: Unstructured,
        options: metav1.ApplyOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        _required(name)
        if obj.get_managed_fields():
            raise ValueError(
                "cannot apply an object with managed fields already set: "
                "apply only the fields that this field manager shall own"
            )
        from clientgo.util import apply  # imported here, since few programs apply

        request = self._at(apply.new_request(self._client, json_document_of(obj)), name, *subresources)
        patch_options = None if options is None else options.to_patch_options()
        return _with_params(request, patch_options).do(ctx).into(Unstructured)

    @takes_context
    def apply_status(
        self, ctx: Context, name: str, obj: Unstructured, options: metav1.ApplyOptions | None = None
    ) -> Unstructured:
        return self.apply(ctx, name, obj, options, "status")

    def _at(self, request: Request, name: str, *subresources: str) -> Request:
        """Set the URL's path. Raises ValueError for an invalid namespace or name."""
        for part, value in (("namespace", self._namespace), ("resource name", name)):
            if messages := is_valid_path_segment_name(value):
                raise ValueError(f"invalid {part} {quote(value)}: [{' '.join(messages)}]")
        resource = self._resource
        segments = ["apis", resource.group] if resource.group else ["api"]
        segments.append(resource.version)
        if self._namespace:
            segments += ["namespaces", self._namespace]
        segments.append(resource.resource)
        return request.abs_path(*segments, *([name] if name else []), *subresources)

    def __repr__(self) -> str:
        return f"<dynamic client of {self._resource}, namespace {self._namespace!r}>"


def _required(name: str) -> str:
    if not name:
        raise ValueError("name is required")
    return name


def _with_params(request: Request, options: Object | None) -> Request:
    return request if options is None else request.specifically_versioned_params(options, PARAMETER_CODEC, _V1)
