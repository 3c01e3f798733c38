"""The interface of metadata clients. Mirrors metadata/interface.go. Options are optional."""

from __future__ import annotations

from typing import Protocol

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import Context


class ResourceInterface(Protocol):
    """The methods on the metadata of one resource's objects, in one namespace or cluster-wide.

    The server sends only metadata. There is no update; use a patch. All methods block. They raise StatusError if the
    server rejects the request, URLError if it cannot be reached, ValueError for an invalid name.
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
    """A client for the metadata of any resource."""

    def resource(self, resource: GroupVersionResource) -> Getter: ...
