"""A client of typed objects. Mirrors pkg/client/typed_client.go.

Difference: an object keeps its apiVersion and kind after a write; Go's typed objects lose them after some methods.
"""

from __future__ import annotations

from typing import TypeVar

from clientgo import rest
from clientgo.apimachinery import watch
from clientgo.apimachinery.runtime import Struct
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.json import marshal
from clientgo.context import Context
from clientgo.controller_runtime.client.client import (
    SubResourceApplyOptions,
    SubResourceCreateOptions,
    SubResourceGetOptions,
    SubResourcePatchOptions,
    SubResourceUpdateOptions,
)
from clientgo.controller_runtime.client.client_rest_resources import ClientRestResources, ResourceMeta
from clientgo.controller_runtime.client.interfaces import ApplyConfiguration, ObjectKey, Patch
from clientgo.controller_runtime.client.object import Object, ObjectList, require_writable
from clientgo.controller_runtime.client.options import (
    ApplyOption,
    ApplyOptions,
    CreateOption,
    CreateOptions,
    DeleteAllOfOption,
    DeleteAllOfOptions,
    DeleteOption,
    DeleteOptions,
    GetOption,
    GetOptions,
    ListOption,
    ListOptions,
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

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


class TypedClient:
    """A client of typed objects. Each method sends a request. Thread-safe. Go: typedClient."""

    def __init__(self, resources: ClientRestResources) -> None:
        self._resources = resources

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        require_writable(obj)
        meta = self._resources.get_resource(obj)
        options = CreateOptions().apply_options(opts).as_create_options()
        request = meta.at(meta.client.post(), obj.get_namespace()).body(obj)
        _bring_up_to_date(ctx, _with_params(request, options), obj)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        require_writable(obj)
        meta = self._resources.get_resource(obj)
        options = UpdateOptions().apply_options(opts).as_update_options()
        request = meta.at_object(meta.client.put(), obj).body(obj)
        _bring_up_to_date(ctx, _with_params(request, options), obj)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        meta = self._resources.get_resource(obj)
        options = DeleteOptions().apply_options(opts).as_delete_options()
        meta.at_object(meta.client.delete(), obj).body(options).do(ctx).raise_for_error()

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        meta = self._resources.get_resource(obj)
        options = DeleteAllOfOptions().apply_options(opts)
        request = meta.at(meta.client.delete(), options.list_options.namespace)
        request = _with_params(request, options.list_options.as_list_options())
        request.body(options.delete_options.as_delete_options()).do(ctx).raise_for_error()

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        require_writable(obj)
        meta = self._resources.get_resource(obj)
        options = PatchOptions().apply_options(opts).as_patch_options()
        request = meta.at_object(meta.client.patch(patch.type()), obj).body(patch.data(obj))
        _bring_up_to_date(ctx, _with_params(request, options), obj)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        require_writable(obj)
        meta = self._resources.get_resource(obj, applying=True)
        options = ApplyOptions().apply_options(opts).as_patch_options()
        request = meta.at_object(meta.client.patch(PatchType.APPLY), obj).body(_configuration(obj, meta))
        _bring_up_to_date(ctx, _with_params(request, options), obj)

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        meta = self._resources.get_resource(obj)
        options = GetOptions().apply_options(opts).as_get_options()
        request = meta.at(meta.client.get(), key.namespace, key.name)
        return _with_params(request, options).do(ctx).into(_class_of(obj))

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        meta = self._resources.get_resource(obj)
        options = ListOptions().apply_options(opts)
        request = meta.at(meta.client.get(), options.namespace)
        cls = obj if isinstance(obj, type) else type(obj)
        return _with_params(request, options.as_list_options()).do(ctx).into(cls)

    def watch(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> watch.Interface:
        meta = self._resources.get_resource(obj)
        options = ListOptions().apply_options(opts)
        sent = options.as_list_options()
        sent.watch = True
        request = meta.at(meta.client.get(), options.namespace)
        return _with_params(request, sent).watch(ctx, obj.ITEM)

    def get_sub_resource(
        self, ctx: Context, obj: Object, sub_resource_obj: type[T] | T, sub_resource: str, *opts: SubResourceGetOption
    ) -> T:
        meta = self._resources.get_resource(obj)
        options = SubResourceGetOptions().apply_options(opts).as_get_options()
        request = meta.at_object(meta.client.get(), obj).sub_resource(sub_resource)
        return _with_params(request, options).do(ctx).into(_class_of(sub_resource_obj))

    def create_sub_resource(
        self, ctx: Context, obj: Object, sub_resource_obj: Object, sub_resource: str, *opts: SubResourceCreateOption
    ) -> None:
        require_writable(sub_resource_obj)
        meta = self._resources.get_resource(obj)
        options = SubResourceCreateOptions().apply_options(opts).as_create_options()
        body = sub_resource_obj
        if not body.get_name():
            body = body.deep_copy()
            body.set_name(obj.get_name())
        request = meta.at_object(meta.client.post(), obj).sub_resource(sub_resource).body(body)
        _bring_up_to_date(ctx, _with_params(request, options), sub_resource_obj)

    def update_sub_resource(self, ctx: Context, obj: Object, sub_resource: str, *opts: SubResourceUpdateOption) -> None:
        options = SubResourceUpdateOptions().apply_options(opts)
        target = options.sub_resource_body if options.sub_resource_body is not None else obj
        require_writable(target)
        meta = self._resources.get_resource(obj)
        body = target
        if not (body.get_name() and body.get_namespace()):
            body = body.deep_copy()
            body.set_name(body.get_name() or obj.get_name())
            body.set_namespace(body.get_namespace() or obj.get_namespace())
        request = meta.at_object(meta.client.put(), obj).sub_resource(sub_resource).body(body)
        _bring_up_to_date(ctx, _with_params(request, options.as_update_options()), target)

    def patch_sub_resource(
        self, ctx: Context, obj: Object, sub_resource: str, patch: Patch, *opts: SubResourcePatchOption
    ) -> None:
        options = SubResourcePatchOptions().apply_options(opts)
        target = options.sub_resource_body if options.sub_resource_body is not None else obj
        require_writable(target)
        meta = self._resources.get_resource(obj)
        request = meta.at_object(meta.client.patch(patch.type()), obj).sub_resource(sub_resource)
        request.body(patch.data(target))
        _bring_up_to_date(ctx, _with_params(request, options.as_patch_options()), target)

    def apply_sub_resource(
        self, ctx: Context, obj: ApplyConfiguration, sub_resource: str, *opts: SubResourceApplyOption
    ) -> None:
        require_writable(obj)
        meta = self._resources.get_resource(obj, applying=True)
        options = SubResourceApplyOptions().apply_opts(opts)
        body = obj if options.sub_resource_body is None else options.sub_resource_body
        request = meta.at_object(meta.client.patch(PatchType.APPLY), obj).sub_resource(sub_resource)
        request.body(_configuration(body, meta))
        _bring_up_to_date(ctx, _with_params(request, options.as_patch_options()), obj)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} over {self._resources!r}>"


def _with_params(request: rest.Request, options: Struct) -> rest.Request:
    return request.versioned_params(options, PARAMETER_CODEC)


def _bring_up_to_date(ctx: Context, request: rest.Request, obj: Object) -> None:
    """Send the request and copy the response into the object, which keeps its apiVersion and kind."""
    gvk = obj.group_version_kind()
    request.do(ctx).into(obj)
    if not gvk.empty():
        obj.set_group_version_kind(gvk)


def _configuration(obj: ApplyConfiguration, meta: ResourceMeta) -> bytes:
    """Return the body of an apply: the document with its kind. Raises ValueError for unknown fields."""
    document = json_document_of(obj)
    own = type(obj).GROUP_VERSION_KIND or obj.group_version_kind()
    kind = meta.gvk if own.empty() else own
    document["apiVersion"], document["kind"] = kind.to_api_version_and_kind()
    return marshal(document).encode()


def _class_of(obj: type[T] | T) -> type[T]:
    return obj if isinstance(obj, type) else type(obj)
