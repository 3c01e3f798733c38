"""A client of unstructured objects. Mirrors pkg/client/unstructured_client.go.

It sends the typed client's requests over a REST client that does not decode documents. A result has the apiVersion of
the example in the request.
"""

from __future__ import annotations

from typing import TypeVar

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import ObjectKey
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.client.options import GetOption, SubResourceCreateOption, SubResourceGetOption
from clientgo.controller_runtime.client.typed_client import TypedClient

T = TypeVar("T", bound=Object)


class UnstructuredClient(TypedClient):
    """A client of unstructured objects. Each method sends a request. Thread-safe. Go: unstructuredClient."""

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        found = super().get(ctx, key, obj, *opts)
        if not isinstance(obj, type):
            found.set_group_version_kind(obj.group_version_kind())
        return found

    def get_sub_resource(
        self, ctx: Context, obj: Object, sub_resource_obj: type[T] | T, sub_resource: str, *opts: SubResourceGetOption
    ) -> T:
        _require_unstructured(sub_resource_obj)
        return super().get_sub_resource(ctx, obj, sub_resource_obj, sub_resource, *opts)

    def create_sub_resource(
        self, ctx: Context, obj: Object, sub_resource_obj: Object, sub_resource: str, *opts: SubResourceCreateOption
    ) -> None:
        _require_unstructured(sub_resource_obj)
        super().create_sub_resource(ctx, obj, sub_resource_obj, sub_resource, *opts)


def _require_unstructured(obj: Object | type[Object]) -> None:
    cls = obj if isinstance(obj, type) else type(obj)
    if not issubclass(cls, Unstructured):
        raise TypeError(f"unstructured client did not understand object: {cls.__name__}")
