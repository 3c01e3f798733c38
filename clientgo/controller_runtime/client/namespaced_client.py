"""A client of one namespace. Mirrors pkg/client/namespaced_client.go.

Difference: before a write, the client sets the namespace of an object without one, as Go does. It copies the object
instead if the method only names it (for a delete, or as the parent of a subresource) or if it is read-only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from clientgo.context import Context
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.interfaces import (
    ApplyConfiguration,
    Client,
    ObjectKey,
    Patch,
    SubResourceClient,
)
from clientgo.controller_runtime.client.object import Object, ObjectList, require_writable
from clientgo.controller_runtime.client.options import (
    ApplyOption,
    CreateOption,
    DeleteAllOfOption,
    DeleteOption,
    GetOption,
    InNamespace,
    ListOption,
    PatchOption,
    SubResourceApplyOption,
    SubResourceCreateOption,
    SubResourceGetOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
)
from clientgo.controller_runtime.client.wrapped import WrappedClient, WrappedSubResourceClient
from clientgo.gentype import methods_take_context

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


def new_namespaced_client(c: Client, ns: str) -> Client:
    """Return a client of one namespace and of cluster-scoped objects. Go: client.NewNamespacedClient.

    Its methods raise ValueError for objects of another namespace. Raises TypeError if `ns` is no text.
    """
    if not isinstance(ns, str):
        raise TypeError(f"expected the name of a namespace, got {ns!r}")
    return _NamespacedClient(c, ns)


@methods_take_context
class _NamespacedClient(WrappedClient):
    def __init__(self, client: Client, namespace: str) -> None:
        super().__init__(client)
        self._namespace = namespace

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self.put_into_namespace(obj)
        self._client.create(ctx, obj, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        self.put_into_namespace(obj)
        self._client.update(ctx, obj, *opts)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        self._client.delete(ctx, self.named_in_namespace(obj), *opts)

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        restricted = (InNamespace(self._namespace),) if self._is_namespaced(obj) else ()
        self._client.delete_all_of(ctx, obj, *opts, *restricted)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self.put_into_namespace(obj)
        self._client.patch(ctx, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        self.put_configuration_into_namespace(obj)
        self._client.apply(ctx, obj, *opts)

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        if self._is_namespaced(obj):
            if key.namespace not in ("", self._namespace):
                raise ValueError(
                    f"namespace {key.namespace} provided for the object {key.name} "
                    f"does not match the namespace {self._namespace} on the client"
                )
            key = replace(key, namespace=self._namespace)
        return self._client.get(ctx, key, obj, *opts)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        restricted = (InNamespace(self._namespace),) if self._is_namespaced(obj) and self._namespace else ()
        return self._client.list(ctx, obj, *opts, *restricted)

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return _NamespacedSubResourceClient(self._client.sub_resource(sub_resource), self)

    def put_into_namespace(self, obj: Object) -> None:
        """Set the object's namespace if it is empty and the kind is namespaced."""
        if self._misses_namespace(obj):
            require_writable(obj)
            obj.set_namespace(self._namespace)

    def named_in_namespace(self, obj: T) -> T:
        """Return the object, or a copy of it that has the namespace."""
        if self._misses_namespace(obj):
            obj = obj.deep_copy()
            obj.set_namespace(self._namespace)
        return obj

    def put_configuration_into_namespace(self, obj: ApplyConfiguration) -> None:
        """Set the namespace of an apply configuration. A cluster-scoped object keeps its namespace unchecked."""
        if not self._is_namespaced(obj):
            return
        require_writable(obj)
        if obj.get_namespace() not in ("", self._namespace):
            raise ValueError(
                f"namespace {obj.get_namespace()} provided for the object {obj.get_name()} "
                f"does not match the namespace {self._namespace} on the client"
            )
        obj.set_namespace(self._namespace)

    def _misses_namespace(self, obj: Object) -> bool:
        is_namespaced = self._is_namespaced(obj)
        namespace = obj.get_namespace()
        if namespace not in ("", self._namespace):
            raise ValueError(
                f"namespace {namespace} of the object {obj.get_name()} "
                f"does not match the namespace {self._namespace} on the client"
            )
        return is_namespaced and not namespace

    def _is_namespaced(self, obj: Example) -> bool:
        try:
            return self._client.is_object_namespaced(obj)
        except Exception as err:
            raise RuntimeError(f"error finding the scope of the object: {err}") from err


@methods_take_context
class _NamespacedSubResourceClient(WrappedSubResourceClient):
    def __init__(self, client: SubResourceClient, namespaced: _NamespacedClient) -> None:
        super().__init__(client)
        self._namespaced = namespaced

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, *opts: SubResourceGetOption) -> T:
        return self._client.get(ctx, self._namespaced.named_in_namespace(obj), sub_resource, *opts)

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self._client.create(ctx, self._namespaced.named_in_namespace(obj), sub_resource, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self._namespaced.put_into_namespace(obj)
        self._client.update(ctx, obj, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._namespaced.put_into_namespace(obj)
        self._client.patch(ctx, obj, patch, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        self._namespaced.put_configuration_into_namespace(obj)
        self._client.apply(ctx, obj, *opts)
