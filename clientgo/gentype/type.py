"""Create, update, delete, get, list, watch, patch and apply for any class of objects. Mirrors gentype/type.go.

A generated client is a subclass or an instance of one of the four classes here. Differences: options are optional; an
apply accepts the object or a plain document instead of Go's apply configurations; `prefers_protobuf` is a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.interfaces import ParameterCodec
from clientgo.apimachinery.runtime.object import ListObject, ResourceObject
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.unknown_fields import UnknownFieldsError, has_unknown_fields
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.json import encode
from clientgo.context import Context
from clientgo.gentype.first_argument import takes_context
from clientgo.rest.client import Interface
from clientgo.rest.request import Request, require_namespace, require_patch

T = TypeVar("T", bound=ResourceObject)
L = TypeVar("L", bound=ListObject)
# The type of a subresource.
S = TypeVar("S", bound=ResourceObject)


class Client(Generic[T]):
    """A client for single objects of one resource, in one namespace or cluster-wide. Thread-safe.

    Every method blocks until the server has responded. It raises StatusError if the server rejects the request,
    URLError if the server cannot be reached. Returned objects are new and belong to the caller.
    """

    def __init__(
        self,
        resource: str,
        client: Interface,
        namespace: str,
        object_class: type[T],
        *,
        parameter_codec: ParameterCodec = PARAMETER_CODEC,
        prefers_protobuf: bool = False,
    ) -> None:
        """Initialize a client. `namespace` is "" for cluster-scoped resources and for all namespaces.

        `prefers_protobuf` requests protobuf unless the config has another format; use it for built-in kinds, which have
        messages. Go: PrefersProtobuf.
        """
        self._resource = resource
        self._client = client
        self._parameter_codec = parameter_codec
        self._prefers_protobuf = prefers_protobuf
        self._namespace = require_namespace(namespace)
        self._object_class = object_class

    def get_client(self) -> Interface:
        """Return the REST client. Go: GetClient."""
        return self._client

    def get_namespace(self) -> str:
        """Return the namespace, or "". Go: GetNamespace."""
        return self._namespace

    def _on_resource(self, request: Request) -> Request:
        request = request.use_protobuf_as_default_if_preferred(self._prefers_protobuf)
        return request.namespace_if_scoped(self._namespace, self._namespace != "").resource(self._resource)

    @takes_context
    def get(self, ctx: Context, name: str, options: metav1.GetOptions | None = None) -> T:
        """Return the named object."""
        request = self._on_resource(self._client.get()).name(name)
        return self._params(request, options).do(ctx).into(self._object_class)

    @takes_context
    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        """Watch the objects that the options select."""
        request = self._on_resource(self._client.get())
        opts = opts.deep_copy() if opts is not None else metav1.ListOptions()
        opts.watch = True
        request = self._params(request, opts)
        return request.timeout(_timeout(opts)).watch(ctx, self._object_class)

    @takes_context
    def create(self, ctx: Context, obj: T, opts: metav1.CreateOptions | None = None) -> T:
        """Create the object and return the server's result."""
        request = self._params(self._on_resource(self._client.post()), opts)
        return request.body(obj).do(ctx).into(self._object_class)

    @takes_context
    def update(self, ctx: Context, obj: T, opts: metav1.UpdateOptions | None = None) -> T:
        """Replace the object. Raises StatusError (Conflict) if its resourceVersion is set and not current."""
        request = self._params(self._on_resource(self._client.put()).name(obj.get_name()), opts)
        return request.body(obj).do(ctx).into(self._object_class)

    @takes_context
    def update_status(self, ctx: Context, obj: T, opts: metav1.UpdateOptions | None = None) -> T:
        """Replace the object's status; ignores the rest of `obj`."""
        request = self._on_resource(self._client.put()).name(obj.get_name()).sub_resource("status")
        return self._params(request, opts).body(obj).do(ctx).into(self._object_class)

    @takes_context
    def delete(self, ctx: Context, name: str, opts: metav1.DeleteOptions | None = None) -> None:
        """Delete the named object."""
        request = self._on_resource(self._client.delete()).name(name)
        request.body(opts if opts is not None else metav1.DeleteOptions()).do(ctx).raise_for_error()

    @takes_context
    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        opts: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> T:
        """Patch the named object, or a subresource of it, with a patch of type `pt` (types.PatchType)."""
        require_patch(data)
        request = self._on_resource(self._client.patch(pt)).name(name).sub_resource(*subresources)
        return self._params(request, opts).body(data).do(ctx).into(self._object_class)

    def _params(self, request: Request, options: Struct | None) -> Request:
        if options is None:
            return request
        if not isinstance(options, Struct):
            raise TypeError(f"expected options of the package metav1, such as metav1.ListOptions; got {options!r}")
        return request.versioned_params(options, self._parameter_codec)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._resource} in {self._namespace or 'all namespaces'!r}>"


class _AlsoLister(Client[T], Generic[T, L]):
    """A client with the methods for many objects."""

    _list_class: type[L]

    @takes_context
    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> L:
        """Return the objects that the options select."""
        request = self._params(self._on_resource(self._client.get()), opts)
        return request.timeout(_timeout(opts)).do(ctx).into(self._list_class)

    @takes_context
    def delete_collection(
        self, ctx: Context, opts: metav1.DeleteOptions | None = None, list_opts: metav1.ListOptions | None = None
    ) -> None:
        """Delete the objects that `list_opts` selects."""
        request = self._params(self._on_resource(self._client.delete()), list_opts)
        body = opts if opts is not None else metav1.DeleteOptions()
        request.timeout(_timeout(list_opts)).body(body).do(ctx).raise_for_error()


class _AlsoApplier(Client[T]):
    """A client with server-side apply."""

    @takes_context
    def apply(self, ctx: Context, obj: T | Mapping[str, Any], opts: metav1.ApplyOptions | None = None) -> T:
        """Apply the fields of `obj` and make this field manager their owner.

        Raises ValueError without a name, and for an object with unknown fields from a newer server; StatusError on a
        conflict.
        """
        return self._apply(ctx, obj, opts)

    @takes_context
    def apply_status(self, ctx: Context, obj: T | Mapping[str, Any], opts: metav1.ApplyOptions | None = None) -> T:
        """Apply the status, as `apply` does."""
        return self._apply(ctx, obj, opts, "status")

    def _apply(
        self, ctx: Context, obj: T | Mapping[str, Any] | None, opts: metav1.ApplyOptions | None, *subresources: str
    ) -> T:
        if obj is None:
            raise ValueError("object provided to Apply must not be nil")
        document = apply_document(self._object_class, obj)
        name = (document.get("metadata") or {}).get("name")
        if not name:
            raise ValueError("obj.Name must be provided to Apply")
        return self._send_apply(ctx, name, document, opts, subresources, self._object_class)

    @takes_context
    def apply_subresource(
        self,
        ctx: Context,
        name: str,
        obj: S | Mapping[str, Any] | None,
        opts: metav1.ApplyOptions | None,
        subresource: str,
        cls: type[S],
    ) -> S:
        """Apply a subresource with a separate type, for generated methods such as apply_scale."""
        if obj is None:
            raise ValueError(f"{subresource} provided to Apply{subresource.capitalize()} must not be nil")
        return self._send_apply(ctx, name, apply_document(cls, obj), opts, (subresource,), cls)

    def _send_apply(
        self,
        ctx: Context,
        name: str,
        document: dict[str, Any],
        opts: metav1.ApplyOptions | None,
        subresources: Sequence[str],
        cls: type[S],
    ) -> S:
        request = self._on_resource(self._client.patch(PatchType.APPLY_YAML)).name(name)
        options = opts.to_patch_options() if opts is not None else None
        data = encode(document).encode()
        return self._params(request.sub_resource(*subresources), options).body(data).do(ctx).into(cls)


class ClientWithList(_AlsoLister[T, L], Generic[T, L]):
    """A Client with list and delete_collection. Go: ClientWithList."""

    def __init__(
        self,
        resource: str,
        client: Interface,
        namespace: str,
        object_class: type[T],
        list_class: type[L],
        *,
        parameter_codec: ParameterCodec = PARAMETER_CODEC,
        prefers_protobuf: bool = False,
    ) -> None:
        super().__init__(
            resource,
            client,
            namespace,
            object_class,
            parameter_codec=parameter_codec,
            prefers_protobuf=prefers_protobuf,
        )
        self._list_class = list_class


class ClientWithApply(_AlsoApplier[T], Generic[T]):
    """A Client with apply and apply_status. Go: ClientWithApply."""


class ClientWithListAndApply(ClientWithList[T, L], _AlsoApplier[T], Generic[T, L]):
    """A Client with list, delete_collection, apply and apply_status. Go: ClientWithListAndApply."""


def new_client(
    resource: str, client: Interface, parameter_codec: ParameterCodec, namespace: str, object_class: type[T]
) -> Client[T]:
    """Return a client of one resource. Go: NewClient, with its order of parameters."""
    return Client(resource, client, namespace, object_class, parameter_codec=parameter_codec)


def new_client_with_list(
    resource: str,
    client: Interface,
    parameter_codec: ParameterCodec,
    namespace: str,
    object_class: type[T],
    list_class: type[L],
) -> ClientWithList[T, L]:
    """Return a client of one resource that lists too. Go: NewClientWithList."""
    return ClientWithList(resource, client, namespace, object_class, list_class, parameter_codec=parameter_codec)


def new_client_with_apply(
    resource: str, client: Interface, parameter_codec: ParameterCodec, namespace: str, object_class: type[T]
) -> ClientWithApply[T]:
    """Return a client of one resource that applies too. Go: NewClientWithApply."""
    return ClientWithApply(resource, client, namespace, object_class, parameter_codec=parameter_codec)


def new_client_with_list_and_apply(
    resource: str,
    client: Interface,
    parameter_codec: ParameterCodec,
    namespace: str,
    object_class: type[T],
    list_class: type[L],
) -> ClientWithListAndApply[T, L]:
    """Return a client of one resource that lists and applies too. Go: NewClientWithListAndApply."""
    return ClientWithListAndApply(
        resource, client, namespace, object_class, list_class, parameter_codec=parameter_codec
    )


def apply_document(cls: type[ResourceObject], obj: ResourceObject | Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of an apply, with the kind of `cls`. Raises UnknownFieldsError. No Go identifier."""
    if isinstance(obj, ResourceObject):
        if has_unknown_fields(document_of(obj)):
            raise UnknownFieldsError(f"{obj!r} has fields that this version does not know, which no apply can say")
        document = obj.to_dict()
    else:
        document = dict(obj)
        if has_unknown_fields(document):
            raise UnknownFieldsError("the document has fields that this version does not know, which no apply can say")
    kind = cls.GROUP_VERSION_KIND
    if kind is not None:
        api_version, name = kind.to_api_version_and_kind()
        document = {"apiVersion": api_version, "kind": name, **document}
    return document


def _timeout(opts: metav1.ListOptions | None) -> float:
    """Return the server's timeout in seconds, which is also the client's; 0 is unlimited."""
    return float(opts.timeout_seconds or 0) if opts is not None else 0.0
