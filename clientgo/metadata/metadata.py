"""A client that reads only the metadata of objects. Mirrors metadata/metadata.go.

A controller that needs only owners and labels saves most of the transfer and of the memory. The results have neither
apiVersion nor kind, which would be those of PartialObjectMetadata. A server without this format (before 1.15) sends
whole objects; the client keeps only their metadata.

The client requests protobuf, also for custom resources and regardless of the config, with JSON as the fallback.
"""

from __future__ import annotations

import builtins
import copy

from clientgo.apimachinery import watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.error import new_missing_kind_err, new_missing_version_err
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC, new_codec_factory
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_PROTOBUF
from clientgo.apimachinery.util.json import unmarshal
from clientgo.context import Context
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.strconv import quote
from clientgo.metadata.interface import Getter, ResourceInterface
from clientgo.rest.client import Interface as RESTInterface
from clientgo.rest.config import (
    Config,
    copy_config,
    default_kubernetes_user_agent,
    rest_client_for_config_and_client,
)
from clientgo.rest.request import Request, is_valid_path_segment_name, require_namespace, require_patch
from clientgo.rest.transport import http_client_for

_V1 = GroupVersion("", "v1")
_JSON = "application/json"
# The first bytes of an object in protobuf.
_PROTOBUF_PREFIX = b"k8s\0"
# The accepted content types, in order of preference.
_MEDIA_TYPES = (CONTENT_TYPE_PROTOBUF, _JSON)

# All kinds that this client reads and writes.
_SCHEME = Scheme("metadata client")
metav1.add_to_group_version(_SCHEME, _V1)
metav1.add_to_group_version(_SCHEME, metav1.SCHEME_GROUP_VERSION)
_CODECS = new_codec_factory(_SCHEME)


class Client:
    """A client for the metadata of any resource; implements metadata.Interface. Thread-safe. Go: metadata.Client."""

    def __init__(self, client: RESTInterface) -> None:
        self._client = client

    def resource(self, resource: GroupVersionResource) -> Getter:
        """Return the client of one resource. Sends nothing. Go: Resource."""
        return _ResourceClient(self._client, resource)

    def close(self) -> None:
        """Close the idle connections; the client can be used again."""
        self._client.close()

    def __repr__(self) -> str:
        return f"<metadata client over {self._client!r}>"


def config_for(in_config: Config) -> Config:
    """Return a copy of the config for a metadata client. Go: metadata.ConfigFor."""
    config = copy_config(in_config)
    config.accept_content_types = ",".join(_MEDIA_TYPES)
    config.content_type = _JSON
    config.negotiated_serializer = _CODECS.without_conversion()
    config.user_agent = config.user_agent or default_kubernetes_user_agent()
    return config


def new_for_config_or_die(c: Config) -> Client:
    """Return a client, like new_for_config. Go: metadata.NewForConfigOrDie."""
    return new_for_config(c)


def new_for_config(in_config: Config) -> Client:
    """Return a client with connections of its own. Raises ValueError, OSError. Go: metadata.NewForConfig."""
    config = config_for(in_config)
    return new_for_config_and_client(config, http_client_for(config))


def new_for_config_and_client(in_config: Config, h: HTTPClient) -> Client:
    """Return a client over shared connections. Go: metadata.NewForConfigAndClient."""
    config = config_for(in_config)
    config.group_version = GroupVersion("", "")
    config.api_path = "/this-value-should-never-be-sent"
    return Client(rest_client_for_config_and_client(config, h))


class _ResourceClient:
    """See Getter. Go: metadata.client."""

    def __init__(self, client: RESTInterface, resource: GroupVersionResource, namespace: str = "") -> None:
        self._client = client
        self._resource = resource
        self._namespace = namespace

    def namespace(self, namespace: str) -> ResourceInterface:
        scoped = copy.copy(self)
        scoped._namespace = require_namespace(namespace)
        return scoped

    def delete(self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str) -> None:
        request = self._client.delete().abs_path(*self._segments(_required(name)), *subresources)
        _with_delete_options(request, options).do(ctx).raise_for_error()

    def delete_collection(
        self,
        ctx: Context,
        options: metav1.DeleteOptions | None = None,
        list_options: metav1.ListOptions | None = None,
    ) -> None:
        request = _with_params(self._client.delete().abs_path(*self._segments("")), list_options)
        _with_delete_options(request, options).do(ctx).raise_for_error()

    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        request = self._client.get().abs_path(*self._segments(_required(name)), *subresources)
        return _answered(ctx, _with_params(request, options))

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> metav1.PartialObjectMetadataList:
        request = self._client.get().abs_path(*self._segments(""))
        request.set_header("Accept", _accepting("PartialObjectMetadataList"))
        listed = _with_params(request, opts).do(ctx).into(metav1.PartialObjectMetadataList)
        items = meta.extract_list(listed)
        if items and not _is_partial(items[0]):
            listed.items = [meta.as_partial_object_metadata(item) for item in items]
        return listed

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        opts = opts.deep_copy() if opts is not None else metav1.ListOptions()
        opts.watch = True
        request = self._client.get().abs_path(*self._segments(""))
        request.set_header("Accept", _accepting("PartialObjectMetadata")).timeout(float(opts.timeout_seconds or 0))
        return _with_params(request, opts).watch(ctx, metav1.PartialObjectMetadata)

    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> metav1.PartialObjectMetadata:
        require_patch(data)
        request = self._client.patch(pt).abs_path(*self._segments(_required(name)), *subresources).body(data)
        return _answered(ctx, _with_params(request, options))

    def _segments(self, name: str) -> builtins.list[str]:
        """Return the segments of the URL's path. Raises ValueError for an invalid namespace or name."""
        for part, value in (("namespace", self._namespace), ("resource name", name)):
            if messages := is_valid_path_segment_name(value):
                raise ValueError(f"invalid {part} {quote(value)}: [{' '.join(messages)}]")
        group, version, resource = self._resource.group, self._resource.version, self._resource.resource
        return [
            *(("apis", group) if group else ("api",)),
            version,
            *(("namespaces", self._namespace) if self._namespace else ()),
            resource,
            *((name,) if name else ()),
        ]

    def __repr__(self) -> str:
        return f"<metadata client of {self._resource}, namespace {self._namespace!r}>"


def _required(name: str) -> str:
    if not name:
        raise ValueError("name is required")
    return name


def _accepting(kind: str) -> str:
    """Return the Accept header for metadata; a server that does not support it may send whole objects in JSON."""
    return ",".join([*(f"{each};as={kind};g=meta.k8s.io;v=v1" for each in _MEDIA_TYPES), _JSON])


def _with_params(request: Request, options: Object | None) -> Request:
    return request if options is None else request.specifically_versioned_params(options, PARAMETER_CODEC, _V1)


def _with_delete_options(request: Request, options: metav1.DeleteOptions | None) -> Request:
    """Set the body to the delete options in JSON regardless of the config, since custom resources accept only JSON."""
    body = options if options is not None else metav1.DeleteOptions()
    serializer = next(info.serializer for info in _CODECS.supported_media_types() if info.media_type == _JSON)
    return request.set_header("Content-Type", _JSON).body(_CODECS.encoder_for_version(serializer, _V1).encode(body))


def _answered(ctx: Context, request: Request) -> metav1.PartialObjectMetadata:
    """Send the request and return the metadata. Raises ValueError if the response has none."""
    answer = request.set_header("Accept", _accepting("PartialObjectMetadata")).do(ctx)
    partial = answer.into(metav1.PartialObjectMetadata)
    data = answer.raw()
    return partial if data.startswith(_PROTOBUF_PREFIX) or _is_partial_document(data) else _reduced(partial)


def _is_partial_document(data: bytes) -> bool:
    """Report whether the object in JSON has the kind PartialObjectMetadata. Raises if it names no kind or version."""
    document = unmarshal(data)
    if not document.get("kind"):
        raise new_missing_kind_err(data.decode(errors="replace")[:1024])
    if not document.get("apiVersion"):
        raise new_missing_version_err(data.decode(errors="replace")[:1024])
    return bool(document["kind"] == "PartialObjectMetadata")


def _reduced(obj: metav1.PartialObjectMetadata) -> metav1.PartialObjectMetadata:
    """Return the metadata of a whole object. Raises ValueError if it does not look like an object's."""
    partial = meta.as_partial_object_metadata(obj)
    known = (
        partial.get_uid(),
        partial.get_creation_timestamp(),
        partial.get_name(),
        partial.get_generate_name(),
    )
    if not any(known):
        raise ValueError(f"object does not appear to match the ObjectMeta schema: {partial!r}")
    return partial


def _is_partial(obj: metav1.PartialObjectMetadata) -> bool:
    return not obj.to_dict().keys() - {"apiVersion", "kind", "metadata"}
