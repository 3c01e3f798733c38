"""A client of objects' metadata: it reads, patches and deletes. Mirrors pkg/client/metadata_client.go."""

from __future__ import annotations

from typing import TypeVar, cast

from clientgo import metadata
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.error import new_missing_kind_err
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.client.client import SubResourcePatchOptions
from clientgo.controller_runtime.client.interfaces import ObjectKey, Patch
from clientgo.controller_runtime.client.object import Object, ObjectList, require_writable
from clientgo.controller_runtime.client.options import (
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
    SubResourcePatchOption,
)

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


class MetadataClient:
    """A client of metadata. Each method sends a request; results carry the requested kind. Thread-safe.

    Objects and examples are PartialObjectMetadata with apiVersion and kind. Go: metadataClient.
    """

    def __init__(self, client: metadata.Interface, rest_mapper: meta.RESTMapper) -> None:
        self._client = client
        self._rest_mapper = rest_mapper

    def get_resource_interface(self, gvk: GroupVersionKind, ns: str) -> metadata.ResourceInterface:
        """Return the metadata client of a kind. Go: getResourceInterface."""
        mapping = self._rest_mapper.rest_mapping(gvk.group_kind(), gvk.version)
        resource = self._client.resource(mapping.resource)
        return resource if mapping.scope.name() == meta.RESTScopeName.ROOT else resource.namespace(ns)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        client = self.get_resource_interface(obj.group_version_kind(), obj.get_namespace())
        client.delete(ctx, obj.get_name(), DeleteOptions().apply_options(opts).as_delete_options())

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        options = DeleteAllOfOptions().apply_options(opts)
        client = self.get_resource_interface(_kind_of(obj), options.list_options.namespace)
        client.delete_collection(
            ctx, options.delete_options.as_delete_options(), options.list_options.as_list_options()
        )

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        require_writable(obj)
        client = self.get_resource_interface(obj.group_version_kind(), obj.get_namespace())
        options = PatchOptions().apply_options(opts).as_patch_options()
        _take_over(obj, client.patch(ctx, obj.get_name(), patch.type(), patch.data(obj), options))

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        gvk = _kind_of(obj)
        client = self.get_resource_interface(gvk, key.namespace)
        found = client.get(ctx, key.name, GetOptions().apply_options(opts).as_get_options())
        found.set_group_version_kind(gvk)
        return cast(T, found)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        gvk = _kind_of(obj)
        item_kind = gvk.group_version().with_kind(gvk.kind.removesuffix("List"))
        options = ListOptions().apply_options(opts)
        client = self.get_resource_interface(item_kind, options.namespace)
        found = client.list(ctx, options.as_list_options())
        found.set_group_version_kind(gvk)
        for item in found.items:
            item.set_group_version_kind(item_kind)
        return cast(L, found)

    def watch(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> watch.Interface:
        gvk = _kind_of(obj)
        item_kind = gvk.group_version().with_kind(gvk.kind.removesuffix("List"))
        options = ListOptions().apply_options(opts)
        client = self.get_resource_interface(item_kind, options.namespace)
        return client.watch(ctx, options.as_list_options())

    def patch_sub_resource(
        self, ctx: Context, obj: Object, sub_resource: str, patch: Patch, *opts: SubResourcePatchOption
    ) -> None:
        require_writable(obj)
        client = self.get_resource_interface(obj.group_version_kind(), obj.get_namespace())
        options = SubResourcePatchOptions().apply_options(opts)
        body = obj if options.sub_resource_body is None else options.sub_resource_body
        data = patch.data(body)
        patched = client.patch(ctx, obj.get_name(), patch.type(), data, options.as_patch_options(), sub_resource)
        _take_over(obj, patched)

    def __repr__(self) -> str:
        return f"<MetadataClient over {self._client!r}>"


def _kind_of(obj: Object | ObjectList | type[Object] | type[ObjectList]) -> GroupVersionKind:
    if isinstance(obj, type):
        raise new_missing_kind_err("unstructured object has no kind")
    return obj.group_version_kind()


def _take_over(obj: Object, patched: metav1.PartialObjectMetadata) -> None:
    cast(metav1.PartialObjectMetadata, obj).metadata = patched.metadata
