"""The REST client and the resource of each kind. Mirrors pkg/client/client_rest_resources.go."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from clientgo import rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ListObject, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.object import Object
from clientgo.golang.http import Client as HTTPClient


@dataclass(frozen=True)
class ResourceMeta:
    """The resource and the REST client of a kind. Go: resourceMeta."""

    client: rest.Interface
    gvk: GroupVersionKind
    mapping: meta.RESTMapping

    def is_namespaced(self) -> bool:
        """Report whether the kind is namespaced."""
        return self.mapping.scope.name() != meta.RESTScopeName.ROOT

    def at(self, request: rest.Request, namespace: str, name: str | None = None) -> rest.Request:
        """Point a request at the resource, or at one object of it."""
        request.namespace_if_scoped(namespace, self.is_namespaced()).resource(self.mapping.resource.resource)
        return request if name is None else request.name(name)

    def at_object(self, request: rest.Request, obj: Object) -> rest.Request:
        """Point a request at `obj`."""
        return self.at(request, obj.get_namespace(), obj.get_name())


class ClientRestResources:
    """A cache of the clients of kinds. Thread-safe. Go: clientRestResources.

    Creating a client may ask the server for the kind's resource, and raises the mapper's errors.
    """

    def __init__(self, http_client: HTTPClient, config: rest.Config, scheme: Scheme, mapper: meta.RESTMapper) -> None:
        self._http_client = http_client
        self._config = config
        self._scheme = scheme
        self._mapper = mapper
        self._codecs = new_codec_factory(scheme)
        # Guards writes to _resources and the creation of its entries.
        self._lock = threading.Lock()
        # Keys are the kind, and whether its objects are read and written as JSON only.
        self._resources: dict[tuple[GroupVersionKind, bool], ResourceMeta] = {}

    def get_resource(self, example: Example, *, applying: bool = False) -> ResourceMeta:
        """Return the resource and client of a kind; for a list, those of its items' kind."""
        gvk = apiutil.gvk_for_object(example, self._scheme)
        cls = example if isinstance(example, type) else type(example)
        unstructured = issubclass(cls, (Unstructured, UnstructuredList))
        key = gvk, unstructured or applying
        found = self._resources.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._resources:
                self._resources[key] = self._new_resource(gvk, issubclass(cls, ListObject), key[1], unstructured)
            return self._resources[key]

    def _new_resource(
        self, gvk: GroupVersionKind, is_list: bool, force_disable_proto_buf: bool, unstructured: bool
    ) -> ResourceMeta:
        if is_list:
            gvk = gvk.group_version().with_kind(gvk.kind.removesuffix("List"))
        client = apiutil.rest_client_for_gvk(
            gvk, force_disable_proto_buf, unstructured, self._config, self._codecs, self._http_client
        )
        return ResourceMeta(client, gvk, self._mapper.rest_mapping(gvk.group_kind(), gvk.version))

    def __repr__(self) -> str:
        return f"<REST clients of {len(self._resources)} kinds>"
