"""The interface of dynamic clients. Mirrors dynamic/interface.go. Options are optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.context import Context


class ResourceInterface(Protocol):
    """The methods on one resource's objects, in one namespace or cluster-wide.

    All methods block. They raise StatusError if the server rejects the request, URLError if it cannot be reached,
    ValueError for an invalid name.
    """

    def create(
        self, ctx: Context, obj: Unstructured, options: metav1.CreateOptions | None = None, *subresources: str
    ) -> Unstructured: ...

    def update(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None, *subresources: str
    ) -> Unstructured: ...

    def update_status(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None
    ) -> Unstructured: ...

    def delete(
        self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str
    ) -> None: ...

    def delete_collection(
        self,
        ctx: Context,
        options: metav1.DeleteOptions | None = None,
        list_options: metav1.ListOptions | None = None,
    ) -> None: ...

    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> Unstructured: ...

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> UnstructuredList: ...

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface: ...

    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> Unstructured: ...

    def apply(
        self,
        ctx: Context,
        name: str,
        obj: Unstructured,
        options: metav1.ApplyOptions | None = None,
        *subresources: str,
    ) -> Unstructured: ...

    def apply_status(
        self, ctx: Context, name: str, obj: Unstructured, options: metav1.ApplyOptions | None = None
    ) -> Unstructured: ...


class NamespaceableResourceInterface(ResourceInterface, Protocol):
    """A client for the objects of all namespaces, or of one."""

    def namespace(self, namespace: str) -> ResourceInterface: ...


class Interface(Protocol):
    """A client for any resource."""

    def resource(self, resource: GroupVersionResource) -> NamespaceableResourceInterface: ...


# A function that returns the API path of a kind.
APIPathResolverFunc = Callable[[GroupVersionKind], str]


def legacy_api_path_resolver_func(kind: GroupVersionKind) -> str:
    """Return "/api" for the core group and "/apis" for all others. Go: LegacyAPIPathResolverFunc."""
    return "/apis" if kind.group else "/api"
