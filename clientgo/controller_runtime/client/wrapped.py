"""Base classes of client wrappers. No Go file: in Go each wrapper repeats these methods.

The wrappers (dryrun, fieldowner, fieldvalidation, namespaced_client, interceptor) override only the methods that they
change.
"""

from __future__ import annotations

from typing import TypeVar

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.interfaces import (
    ApplyConfiguration,
    Client,
    ObjectKey,
    Patch,
    SubResourceClient,
)
from clientgo.controller_runtime.client.object import Object, ObjectList
from clientgo.controller_runtime.client.options import (
    ApplyOption,
    CreateOption,
    DeleteAllOfOption,
    DeleteOption,
    GetOption,
    ListOption,
    PatchOption,
    SubResourceApplyOption,
    SubResourceCreateOption,
    SubResourceGetOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
)
from clientgo.gentype import methods_take_context

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


@methods_take_context
class WrappedClient:
    """A Client that delegates to another one."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def scheme(self) -> Scheme:
        return self._client.scheme()

    def rest_mapper(self) -> meta.RESTMapper:
        return self._client.rest_mapper()

    def group_version_kind_for(self, obj: Example) -> GroupVersionKind:
        return self._client.group_version_kind_for(obj)

    def is_object_namespaced(self, obj: Example) -> bool:
        return self._client.is_object_namespaced(obj)

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        return self._client.get(ctx, key, obj, *opts)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        return self._client.list(ctx, obj, *opts)

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self._client.create(ctx, obj, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        self._client.update(ctx, obj, *opts)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        self._client.delete(ctx, obj, *opts)

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        self._client.delete_all_of(ctx, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self._client.patch(ctx, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        self._client.apply(ctx, obj, *opts)

    def status(self) -> SubResourceClient:
        return self.sub_resource("status")

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return self._client.sub_resource(sub_resource)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} over {self._client!r}>"


@methods_take_context
class WrappedSubResourceClient:
    """A SubResourceClient that delegates to another one."""

    def __init__(self, client: SubResourceClient) -> None:
        self._client = client

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, *opts: SubResourceGetOption) -> T:
        return self._client.get(ctx, obj, sub_resource, *opts)

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self._client.create(ctx, obj, sub_resource, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self._client.update(ctx, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._client.patch(ctx, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        self._client.apply(ctx, obj, *opts)
