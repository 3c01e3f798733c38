"""The interface of metadata clients. Mirrors metadata/interface.go. Options are optional."""

from __future__ import annotations

from typing import Protocol

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import Context


class ResourceInterface(Protocol):
    """The methods on the metadata of the objects of one resource, in one namespace or in none.

    What a server sends is the metadata alone. There is no update; a patch does what one would. All block and raise
    StatusError when the server refuses, URLError when it cannot be reached, ValueError for names that cannot be.
    """

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
    ) -> metav1.PartialObjectMetadata: ...

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> metav1.PartialObjectMetadataList: ...

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface: ...

    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> metav1.PartialObjectMetadata: ...


class Getter(ResourceInterface, Protocol):
    """A client for the objects of all namespaces, or of one."""

    def namespace(self, namespace: str) -> ResourceInterface: ...


class Interface(Protocol):
    """A client of the metadata of any resource."""

    def resource(self, resource: GroupVersionResource) -> Getter: ...
