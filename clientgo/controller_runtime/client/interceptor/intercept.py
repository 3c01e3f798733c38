"""A client with methods that a test replaces. Mirrors pkg/client/interceptor/intercept.go.

    def refuse(ctx, client, obj, *opts):
        raise errors.new_conflict(...)

    c = interceptor.new_client(fake_client, interceptor.Funcs(update=refuse))

Calls without a function go to the wrapped client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from clientgo.apimachinery import watch
from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import (
    ApplyConfiguration,
    ObjectKey,
    Patch,
    SubResourceClient,
    WithWatch,
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
from clientgo.controller_runtime.client.wrapped import WrappedClient
from clientgo.gentype import methods_take_context
from clientgo.golang.functions import call_checked

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


@dataclass(kw_only=True)
class Funcs:
    """Functions that replace a client's methods; None keeps the client's own. Go: interceptor.Funcs.

    Each receives the context, the wrapped client and the call's other arguments. Functions for subresources also
    receive the subresource's name after the client. An error that a function returns, as in Go, is raised.
    """

    # (ctx, client, key, obj, *opts) -> the object
    get: Callable[..., Any] | None = None
    # (ctx, client, list, *opts) -> the list
    list: Callable[..., Any] | None = None
    # (ctx, client, obj, *opts)
    create: Callable[..., None] | None = None
    # (ctx, client, obj, *opts)
    delete: Callable[..., None] | None = None
    # (ctx, client, obj, *opts)
    delete_all_of: Callable[..., None] | None = None
    # (ctx, client, obj, *opts)
    update: Callable[..., None] | None = None
    # (ctx, client, obj, patch, *opts)
    patch: Callable[..., None] | None = None
    # (ctx, client, obj, *opts)
    apply: Callable[..., None] | None = None
    # (ctx, client, list, *opts) -> the watch
    watch: Callable[..., watch.Interface] | None = None
    # (client, sub_resource) -> the subresource's client
    sub_resource: Callable[[WithWatch, str], SubResourceClient] | None = None
    # (ctx, client, sub_resource_name, obj, sub_resource, *opts) -> the subresource
    sub_resource_get: Callable[..., Any] | None = None
    # (ctx, client, sub_resource_name, obj, sub_resource, *opts)
    sub_resource_create: Callable[..., None] | None = None
    # (ctx, client, sub_resource_name, obj, *opts)
    sub_resource_update: Callable[..., None] | None = None
    # (ctx, client, sub_resource_name, obj, patch, *opts)
    sub_resource_patch: Callable[..., None] | None = None
    # (ctx, client, sub_resource_name, obj, *opts)
    sub_resource_apply: Callable[..., None] | None = None


def new_client(intercepted_client: WithWatch, funcs: Funcs) -> WithWatch:
    """Return a client that calls `funcs` instead of the methods that they replace. Go: interceptor.NewClient."""
    return _Interceptor(intercepted_client, funcs)


@methods_take_context
class _Interceptor(WrappedClient):
    """Go: interceptor."""

    def __init__(self, client: WithWatch, funcs: Funcs) -> None:
        super().__init__(client)
        self._below = client
        self._funcs = funcs

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        if self._funcs.get is None:
            return self._below.get(ctx, key, obj, *opts)
        found: T = call_checked(self._funcs.get, ctx, self._below, key, obj, *opts)
        return found

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        if self._funcs.list is None:
            return self._below.list(ctx, obj, *opts)
        found: L = call_checked(self._funcs.list, ctx, self._below, obj, *opts)
        return found

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        if self._funcs.create is None:
            return self._below.create(ctx, obj, *opts)
        return call_checked(self._funcs.create, ctx, self._below, obj, *opts)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        if self._funcs.delete is None:
            return self._below.delete(ctx, obj, *opts)
        return call_checked(self._funcs.delete, ctx, self._below, obj, *opts)

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        if self._funcs.delete_all_of is None:
            return self._below.delete_all_of(ctx, obj, *opts)
        return call_checked(self._funcs.delete_all_of, ctx, self._below, obj, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        if self._funcs.update is None:
            return self._below.update(ctx, obj, *opts)
        return call_checked(self._funcs.update, ctx, self._below, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        if self._funcs.patch is None:
            return self._below.patch(ctx, obj, patch, *opts)
        return call_checked(self._funcs.patch, ctx, self._below, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        if self._funcs.apply is None:
            return self._below.apply(ctx, obj, *opts)
        return call_checked(self._funcs.apply, ctx, self._below, obj, *opts)

    def watch(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> watch.Interface:
        if self._funcs.watch is None:
            return self._below.watch(ctx, obj, *opts)
        return call_checked(self._funcs.watch, ctx, self._below, obj, *opts)

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        if self._funcs.sub_resource is not None:
            return call_checked(self._funcs.sub_resource, self._below, sub_resource)
        return _SubResourceInterceptor(self._below, sub_resource, self._funcs)


@methods_take_context
class _SubResourceInterceptor:
    """Go: subResourceInterceptor."""

    def __init__(self, client: WithWatch, sub_resource: str, funcs: Funcs) -> None:
        self._client = client
        self._name = sub_resource
        self._funcs = funcs

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, *opts: SubResourceGetOption) -> T:
        if self._funcs.sub_resource_get is None:
            return self._below().get(ctx, obj, sub_resource, *opts)
        found: T = call_checked(self._funcs.sub_resource_get, ctx, self._client, self._name, obj, sub_resource, *opts)
        return found

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        if self._funcs.sub_resource_create is None:
            return self._below().create(ctx, obj, sub_resource, *opts)
        return call_checked(self._funcs.sub_resource_create, ctx, self._client, self._name, obj, sub_resource, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        if self._funcs.sub_resource_update is None:
            return self._below().update(ctx, obj, *opts)
        return call_checked(self._funcs.sub_resource_update, ctx, self._client, self._name, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        if self._funcs.sub_resource_patch is None:
            return self._below().patch(ctx, obj, patch, *opts)
        return call_checked(self._funcs.sub_resource_patch, ctx, self._client, self._name, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        if self._funcs.sub_resource_apply is None:
            return self._below().apply(ctx, obj, *opts)
        return call_checked(self._funcs.sub_resource_apply, ctx, self._client, self._name, obj, *opts)

    def _below(self) -> SubResourceClient:
        return self._client.sub_resource(self._name)
