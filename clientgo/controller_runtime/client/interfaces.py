"""What a client can do. Mirrors pkg/client/interfaces.go.

Go's methods take an empty object and fill it. Here it reads so, everywhere in this layer:

  * what **reads** takes the class and returns a new object, of the type that was asked for:
    `pod = client.get(ctx, key, Pod)`, `pods = client.list(ctx, PodList, InNamespace("default"))`. Where a class says
    not enough, for Unstructured and PartialObjectMetadata, an example that says its apiVersion and kind stands in place
    of the class; it is only looked at, never changed.
  * what **writes** takes the object and brings it up to date with the server's answer, as Go does; it returns nothing.
    An object that is read-only, since it came from a cache, is refused with ReadOnlyError before anything is sent:
    `pod = pod.deep_copy()` gives one that may be changed. When a request fails the object stays as it was.
  * what only **names** objects (`delete`, `delete_all_of`, the parent in `sub_resource(...).get`) never changes them:
    read-only ones will do; `delete_all_of` takes the class or an example.

Errors are raised: StatusError when the server refuses, what the REST mapper raises for kinds it does not know, URLError
when the server cannot be reached. Every method of a client may be called from any thread; all that send a request
block until it is answered or their context ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.runtime import Object as RuntimeObject
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object, ObjectList

if TYPE_CHECKING:
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

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)

# Names an object of a kind. Go: client.ObjectKey.
ObjectKey: TypeAlias = NamespacedName

# What `apply` sends: an object in which just the fields that the caller wants to own are set. Objects here are
# documents that hold nothing but what was set, so there is no second set of types as in Go.
# Go: runtime.ApplyConfiguration.
ApplyConfiguration: TypeAlias = Object


def object_key_from_object(obj: Object) -> ObjectKey:
    """The key of an object. Go: client.ObjectKeyFromObject."""
    return NamespacedName(obj.get_namespace(), obj.get_name())


@runtime_checkable
class Patch(Protocol):
    """A change to an object. Go: client.Patch."""

    def type(self) -> str:
        """How the change is written: one of types.PatchType."""
        ...

    def data(self, obj: Object) -> bytes:
        """The change, which may depend on the object as it is now."""
        ...


class Reader(Protocol):
    """Reads objects, from a server or a cache. Go: client.Reader."""

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        """The object of this name; read-only when it comes from a cache. Raises StatusError (NotFound)."""
        ...

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        """The objects the options choose, as a list of the class; read-only when it comes from a cache."""
        ...


class Writer(Protocol):
    """Changes objects on the server. Go: client.Writer."""

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        """Server-side apply: make what is set in `obj` so, and owned by the field owner."""
        ...

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        """Create the object."""
        ...

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        """Delete the object of this kind, namespace and name."""
        ...

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        """Replace the object; StatusError (Conflict) if it has changed since its resourceVersion."""
        ...

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        """Change the object of this kind, namespace and name by a patch."""
        ...

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        """Delete all objects of the kind that the options choose."""
        ...


class StatusClient(Protocol):
    """Gives a writer of the status. Go: client.StatusClient."""

    def status(self) -> SubResourceWriter:
        """The writer of the subresource "status"."""
        ...


class SubResourceClientConstructor(Protocol):
    """Gives clients of subresources. Go: client.SubResourceClientConstructor."""

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        """The client of a subresource, such as "scale", "token", "eviction", "binding" or "approval".

        `client.sub_resource("scale").get(ctx, deployment, autoscalingv1.Scale)` reads one;
        `.update(ctx, deployment, with_sub_resource_body(scale))` writes it;
        `.create(ctx, pod, policyv1.Eviction())` creates one.
        """
        ...


class SubResourceReader(Protocol):
    """Reads a subresource. Go: client.SubResourceReader."""

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, *opts: SubResourceGetOption) -> T:
        """The subresource of `obj`, which is only named."""
        ...


class SubResourceWriter(Protocol):
    """Writes a subresource. Go: client.SubResourceWriter."""

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        """Create the subresource of `obj`; `sub_resource` becomes what the server answers."""
        ...

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        """Write the subresource from `obj`, or from the body that `with_sub_resource_body` gives."""
        ...

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        """Change the subresource of `obj` by a patch."""
        ...

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        """Server-side apply to the subresource."""
        ...


# Writes the status. Go: client.StatusWriter.
StatusWriter: TypeAlias = SubResourceWriter


class SubResourceClient(SubResourceReader, SubResourceWriter, Protocol):
    """Reads and writes a subresource. Go: client.SubResourceClient."""


@runtime_checkable
class Client(Reader, Writer, StatusClient, SubResourceClientConstructor, Protocol):
    """Reads and writes any kind of object. Go: client.Client."""

    def scheme(self) -> Scheme:
        """What the client knows classes by."""
        ...

    def rest_mapper(self) -> meta.RESTMapper:
        """What the client knows resources by."""
        ...

    def group_version_kind_for(self, obj: RuntimeObject | type[RuntimeObject]) -> GroupVersionKind:
        """The kind of an object, an example of it or its class. Raises the not-registered error."""
        ...

    def is_object_namespaced(self, obj: RuntimeObject | type[RuntimeObject]) -> bool:
        """Whether objects of the kind live in namespaces. May ask the server."""
        ...


@runtime_checkable
class WithWatch(Client, Protocol):
    """A client that can watch too. Most programs want a cache instead. Go: client.WithWatch."""

    def watch(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> watch.Interface:
        """The changes of the objects the options choose, from now on; `obj` is the list's class or an example."""
        ...


# The values of an object in an index. Go: client.IndexerFunc.
IndexerFunc: TypeAlias = Callable[[Any], Sequence[str]]


class FieldIndexer(Protocol):
    """Lets lists choose by fields. Go: client.FieldIndexer."""

    def index_field(
        self, ctx: Context, obj: type[T] | T, field: str, extract_value: Callable[[T], Sequence[str]]
    ) -> None:
        """Index the kind by `field`, a name that lists then give in `MatchingFields`.

        `extract_value` says which values an object has; it gets a read-only object. To be like an API server, return
        one value and name a field that the server can select by. With several, one that is equal will do. The indexer
        takes care of namespaces by itself.
        """
        ...


def ignore_not_found(err: Exception | None) -> None:
    """Raise `err`, unless it says that the object is not there. Go: client.IgnoreNotFound.

    In an except clause: `except StatusError as err: client.ignore_not_found(err)`.
    """
    if err is not None and not errors.is_not_found(err):
        raise err


def ignore_already_exists(err: Exception | None) -> None:
    """Raise `err`, unless it says that the object exists already. Go: client.IgnoreAlreadyExists."""
    if err is not None and not errors.is_already_exists(err):
        raise err
