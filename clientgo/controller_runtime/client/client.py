"""A client of a server that can read from a cache. Mirrors pkg/client/client.go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, TypeVar

from clientgo import metadata, rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ListObject, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime import log
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.client_rest_resources import ClientRestResources
from clientgo.controller_runtime.client.interfaces import (
    ApplyConfiguration,
    Client,
    ObjectKey,
    Patch,
    Reader,
    SubResourceClient,
)
from clientgo.controller_runtime.client.object import Object, ObjectList, require_list, require_object
from clientgo.controller_runtime.client.options import (
    ApplyOption,
    ApplyOptions,
    CreateOption,
    CreateOptions,
    DeleteAllOfOption,
    DeleteOption,
    FieldValidation,
    GetOption,
    ListOption,
    PatchOption,
    PatchOptions,
    SubResourceApplyOption,
    SubResourceCreateOption,
    SubResourceGetOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
    UpdateOptions,
)
from clientgo.gentype import methods_take_context
from clientgo.golang.http import Client as HTTPClient
from clientgo.kubernetes.scheme import SCHEME

if TYPE_CHECKING:
    from clientgo.controller_runtime.client.metadata_client import MetadataClient
    from clientgo.controller_runtime.client.typed_client import TypedClient

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)
C = TypeVar("C", bound="BaseClient")


@dataclass(kw_only=True)
class Options:
    """The settings of a client. Go: client.Options."""

    # The HTTP connections; None opens separate ones.
    http_client: HTTPClient | None = None
    # Maps classes to kinds; None selects the built-in kinds.
    scheme: Scheme | None = None
    # Maps kinds to resources; None selects a mapper that asks the server.
    mapper: meta.RESTMapper | None = None
    # The cache to read from; None, or one without a reader, selects the server.
    cache: CacheOptions | None = None
    # Send all writes as dry runs.
    dry_run: bool | None = None
    # The field owner of writes, unless a call names another.
    field_owner: str = ""
    # The server's treatment of unknown fields (metav1.FIELD_VALIDATION_*), unless a call names another.
    field_validation: str = ""


@dataclass(kw_only=True)
class CacheOptions:
    """The kinds that a client reads from a cache. Go: client.CacheOptions."""

    reader: Reader | None = None
    """The cache."""
    disable_for: Sequence[Example] = ()
    """The kinds to read from the server nevertheless: classes or examples."""
    unstructured: bool = False
    """Read unstructured objects from the cache too."""


# Makes a client. Go: client.NewClientFunc.
NewClientFunc: TypeAlias = Callable[[rest.Config, Options], Client]


def new(config: rest.Config, options: Options | None = None) -> Client:
    """Return a client of the server of `config`. Sends no request yet. Go: client.New.

    It reads from the server, or from `options.cache`; it always writes to the server. The scheme maps classes to kinds;
    Unstructured and PartialObjectMetadata objects name their kind themselves. The client logs the server's warnings
    unless the config has a warning handler. Raises ValueError or OSError for an unusable config.
    """
    from clientgo.controller_runtime.client.dryrun import new_dry_run_client
    from clientgo.controller_runtime.client.fieldowner import with_field_owner
    from clientgo.controller_runtime.client.fieldvalidation import with_field_validation

    options = options or Options()
    made: Client = new_client(config, options, BaseClient)
    if options.dry_run:
        made = new_dry_run_client(made)
    if options.field_owner:
        made = with_field_owner(made, options.field_owner)
    if options.field_validation:
        made = with_field_validation(made, FieldValidation(options.field_validation))
    return made


def new_client(config: rest.Config, options: Options, cls: type[C]) -> C:
    """Return a client without wrappers. Go: newClient."""
    from clientgo.controller_runtime.client.metadata_client import MetadataClient
    from clientgo.controller_runtime.client.typed_client import TypedClient
    from clientgo.controller_runtime.client.unstructured_client import UnstructuredClient

    config = rest.copy_config(config)
    config.user_agent = config.user_agent or rest.default_kubernetes_user_agent()
    if config.warning_handler is None and config.warning_handler_with_context is None:
        # Do not deduplicate: a user who wants each text only once sets such a handler in the config.
        config.warning_handler_with_context = log.new_kube_api_warning_logger()
    http_client = options.http_client or rest.http_client_for(config)
    scheme = options.scheme or SCHEME
    mapper = options.mapper or apiutil.new_dynamic_rest_mapper(config, http_client)
    resources = ClientRestResources(http_client, config, scheme, mapper)
    metadata_client = metadata.new_for_config_and_client(config, http_client)
    return cls(
        TypedClient(resources),
        UnstructuredClient(resources),
        MetadataClient(metadata_client, mapper),
        scheme,
        mapper,
        options.cache or CacheOptions(),
    )


@methods_take_context
class BaseClient:
    """A client that sends each request with the kind's own client, or reads from the cache. Thread-safe. Go: client."""

    def __init__(
        self,
        typed_client: TypedClient,
        unstructured_client: TypedClient,
        metadata_client: MetadataClient,
        scheme: Scheme,
        mapper: meta.RESTMapper,
        cache: CacheOptions,
    ) -> None:
        self._typed = typed_client
        self._unstructured = unstructured_client
        self._metadata = metadata_client
        self._scheme = scheme
        self._mapper = mapper
        self._cache = cache.reader
        self._cache_unstructured = cache.unstructured
        self._uncached = frozenset(self.group_version_kind_for(each) for each in cache.disable_for)

    def scheme(self) -> Scheme:
        return self._scheme

    def rest_mapper(self) -> meta.RESTMapper:
        return self._mapper

    def group_version_kind_for(self, obj: Example) -> GroupVersionKind:
        return apiutil.gvk_for_object(obj, self._scheme)

    def is_object_namespaced(self, obj: Example) -> bool:
        return apiutil.is_object_namespaced(obj, self._scheme, self._mapper)

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self.writer_for(obj, "cannot create using only metadata").create(ctx, obj, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        message = "cannot update using only metadata -- did you mean to patch?"
        self.writer_for(obj, message).update(ctx, obj, *opts)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        self.client_for(obj).delete(ctx, obj, *opts)

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        require_object(obj)
        self.client_for(obj).delete_all_of(ctx, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self.client_for(obj).patch(ctx, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        message = "cannot apply using only metadata -- did you mean to patch?"
        self.writer_for(obj, message).apply(ctx, obj, *opts)

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        require_object(obj)
        if self._cache is not None and not self._bypasses_cache(obj):
            return self._cache.get(ctx, key, obj, *opts)
        return self.client_for(obj).get(ctx, key, obj, *opts)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        require_list(obj)
        if self._cache is not None and not self._bypasses_cache(obj):
            return self._cache.list(ctx, obj, *opts)
        return self.client_for(obj).list(ctx, obj, *opts)

    def status(self) -> SubResourceClient:
        return self.sub_resource("status")

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return _SubResourceClient(self, sub_resource)

    def _bypasses_cache(self, obj: Example) -> bool:
        cls = _class_of(obj)
        if not self._cache_unstructured and issubclass(cls, (Unstructured, UnstructuredList)):
            return True
        if not self._uncached:
            return False
        gvk = self.group_version_kind_for(obj)
        # A guess, as in Go; it is right for nearly all kinds.
        kind = gvk.kind.removesuffix("List") if issubclass(cls, ListObject) else gvk.kind
        return gvk.group_version().with_kind(kind) in self._uncached

    def client_for(self, obj: Example) -> TypedClient | MetadataClient:
        """Return the client for the object's kind."""
        cls = _class_of(obj)
        if issubclass(cls, (metav1.PartialObjectMetadata, metav1.PartialObjectMetadataList)):
            return self._metadata
        return self.writer_for(obj, "")

    def writer_for(self, obj: Example, message: str) -> TypedClient:
        """Return the client that can write whole objects. Raises TypeError with the message for metadata-only objects.
        """
        cls = _class_of(obj)
        if issubclass(cls, (Unstructured, UnstructuredList)):
            return self._unstructured
        if issubclass(cls, metav1.PartialObjectMetadata):
            raise TypeError(message)
        return self._typed

    def __repr__(self) -> str:
        reads = f", reads from {self._cache!r}" if self._cache is not None else ""
        return f"<client over {self._typed!r}{reads}>"


def _class_of(obj: Example) -> type:
    return obj if isinstance(obj, type) else type(obj)


@dataclass(kw_only=True)
class SubResourceGetOptions:
    """The options of reading a subresource. Go: client.SubResourceGetOptions."""

    raw: metav1.GetOptions | None = None

    def apply_to_sub_resource_get(self, opts: SubResourceGetOptions) -> None:
        if self.raw is not None:
            opts.raw = self.raw

    def apply_options(self, opts: Iterable[SubResourceGetOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_sub_resource_get(self)
        return self

    def as_get_options(self) -> metav1.GetOptions:
        """Return the options for the request. Go: AsGetOptions."""
        return metav1.GetOptions() if self.raw is None else self.raw.deep_copy()


@dataclass(kw_only=True)
class SubResourceUpdateOptions(UpdateOptions):
    """The options of updating a subresource. Go: client.SubResourceUpdateOptions."""

    sub_resource_body: Object | None = None
    """The object to send instead of the parent object."""

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions) -> None:
        self.apply_to_update(opts)
        if self.sub_resource_body is not None:
            opts.sub_resource_body = self.sub_resource_body

    def apply_options(self, opts: Iterable[SubResourceUpdateOption]) -> Self:  # type: ignore[override]
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_sub_resource_update(self)
        return self


class SubResourceUpdateAndPatchOption(Protocol):
    """An option for both updates and patches of a subresource. Go: client.SubResourceUpdateAndPatchOption."""

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions, /) -> None: ...

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions, /) -> None: ...


def with_sub_resource_body(body: Object) -> SubResourceUpdateAndPatchOption:
    """Return an option that sends `body` in place of the object and copies the response into it.

    Go: client.WithSubResourceBody.
    """
    return _WithSubResourceBody(body)


@dataclass(frozen=True)
class _WithSubResourceBody:
    body: Object

    def apply_to_sub_resource_update(self, opts: SubResourceUpdateOptions) -> None:
        opts.sub_resource_body = self.body

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        opts.sub_resource_body = self.body


@dataclass(kw_only=True)
class SubResourceCreateOptions(CreateOptions):
    """The options of creating a subresource. Go: client.SubResourceCreateOptions."""

    def apply_options(self, opts: Iterable[SubResourceCreateOption]) -> Self:  # type: ignore[override]
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_sub_resource_create(self)
        return self

    def apply_to_sub_resource_create(self, opts: SubResourceCreateOptions) -> None:
        self.apply_to_create(opts)


@dataclass(kw_only=True)
class SubResourcePatchOptions(PatchOptions):
    """The options of patching a subresource. Go: client.SubResourcePatchOptions."""

    sub_resource_body: Object | None = None

    def apply_options(self, opts: Iterable[SubResourcePatchOption]) -> Self:  # type: ignore[override]
        """Apply `opts` in order and return self. Go: ApplyOptions."""
        for opt in opts:
            opt.apply_to_sub_resource_patch(self)
        return self

    def apply_to_sub_resource_patch(self, opts: SubResourcePatchOptions) -> None:
        self.apply_to_patch(opts)
        if self.sub_resource_body is not None:
            opts.sub_resource_body = self.sub_resource_body


@dataclass(kw_only=True)
class SubResourceApplyOptions(ApplyOptions):
    """The options of an apply to a subresource. Go: client.SubResourceApplyOptions."""

    sub_resource_body: Object | None = None

    def apply_opts(self, opts: Iterable[SubResourceApplyOption]) -> Self:
        """Apply `opts` in order and return self. Go: ApplyOpts."""
        for opt in opts:
            opt.apply_to_sub_resource_apply(self)
        return self

    def apply_to_sub_resource_apply(self, opts: SubResourceApplyOptions) -> None:
        self.apply_to_apply(opts)
        if self.sub_resource_body is not None:
            opts.sub_resource_body = self.sub_resource_body


@methods_take_context
class _SubResourceClient:
    """A client of one subresource. Go: subResourceClient."""

    def __init__(self, client: BaseClient, sub_resource: str) -> None:
        self._client = client
        self._sub_resource = sub_resource

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, *opts: SubResourceGetOption) -> T:
        client = self._client.writer_for(obj, "can not get subresource using only metadata")
        return client.get_sub_resource(ctx, obj, sub_resource, self._sub_resource, *opts)

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self.writer_for(obj).create_sub_resource(ctx, obj, sub_resource, self._sub_resource, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self.writer_for(obj).update_sub_resource(ctx, obj, self._sub_resource, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._client.client_for(obj).patch_sub_resource(ctx, obj, self._sub_resource, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        self.writer_for(obj).apply_sub_resource(ctx, obj, self._sub_resource, *opts)

    def writer_for(self, obj: Object) -> TypedClient:
        return self._client.writer_for(obj, "cannot update status using only metadata -- did you mean to patch?")

    def __repr__(self) -> str:
        return f"<client of the subresource {self._sub_resource} of {self._client!r}>"
