"""The interfaces of clients. Mirrors pkg/client/interfaces.go.

Go's methods take an empty object and fill it. In this package:

  * **reads** take the class and return a new object of that type: `pod = client.get(ctx, key, Pod)`, `pods =
    client.list(ctx, PodList, InNamespace("default"))`. For Unstructured and PartialObjectMetadata, pass an example with
    apiVersion and kind instead of the class. The client does not change it.
  * **writes** take the object, update it from the server's response, as Go does, and return None. A read-only object
    from a cache raises ReadOnlyError before anything is sent; `pod = pod.deep_copy()` makes a writable copy. A failed
    request does not change the object.
  * methods that only **name** an object (`delete`, `delete_all_of`, the parent in `sub_resource(...).get`) never change
    it and accept read-only ones; `delete_all_of` takes the class or an example.

Errors: StatusError when the server rejects the request, the REST mapper's errors for unknown kinds, URLError when the
server cannot be reached. All methods are thread-safe. Methods that send a request block until the response arrives or
their context ends.
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

# The namespace and name of an object. Go: client.ObjectKey.
ObjectKey: TypeAlias = NamespacedName

# The argument of `apply`: an object with only those fields set that the caller wants to own. Documents contain only the
# fields that were set, so there is no second set of types as in Go. Go: runtime.ApplyConfiguration.
ApplyConfiguration: TypeAlias = Object


def object_key_from_object(obj: Object) -> ObjectKey:
    """Return the key of an object. Go: client.ObjectKeyFromObject."""
    return NamespacedName(obj.get_namespace(), obj.get_name())


@runtime_checkable
class Patch(Protocol):
    """A change to an object. Go: client.Patch."""

    def type(self) -> str:
        """Return the patch's format, one of types.PatchType."""
        ...

    def data(self, obj: Object, /) -> bytes:
        """Return the patch's bytes, which may depend on the object's current content."""
        ...


class Reader(Protocol):
    """A reader of objects, from a server or a cache. Go: client.Reader."""

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, /, *opts: GetOption) -> T:
        """Return the object of this name; read-only if it comes from a cache. Raises StatusError (NotFound)."""
        ...

    def list(self, ctx: Context, obj: type[L] | L, /, *opts: ListOption) -> L:
        """Return the objects that match the options, as a list of the class; read-only if it comes from a cache."""
        ...


class Writer(Protocol):
    """A writer of objects on the server. Go: client.Writer."""

    def apply(self, ctx: Context, obj: ApplyConfiguration, /, *opts: ApplyOption) -> None:
        """Set the fields of `obj` on the server (server-side apply) and make the field owner their owner."""
        ...

    def create(self, ctx: Context, obj: Object, /, *opts: CreateOption) -> None:
        """Create the object."""
        ...

    def delete(self, ctx: Context, obj: Object, /, *opts: DeleteOption) -> None:
        """Delete the object of this kind, namespace and name."""
        ...

    def update(self, ctx: Context, obj: Object, /, *opts: UpdateOption) -> None:
        """Replace the object. Raises StatusError (Conflict) if it has changed since its resourceVersion."""
        ...

    def patch(self, ctx: Context, obj: Object, patch: Patch, /, *opts: PatchOption) -> None:
        """Change the object of this kind, namespace and name by a patch."""
        ...

    def delete_all_of(self, ctx: Context, obj: type[T] | T, /, *opts: DeleteAllOfOption) -> None:
        """Delete all objects of the kind that match the options."""
        ...


class StatusClient(Protocol):
    """A provider of a writer for the status. Go: client.StatusClient."""

    def status(self) -> SubResourceWriter:
        """Return the writer of the subresource "status"."""
        ...


class SubResourceClientConstructor(Protocol):
    """A provider of clients for subresources. Go: client.SubResourceClientConstructor."""

    def sub_resource(self, sub_resource: str, /) -> SubResourceClient:
        """Return the client of a subresource, such as "scale", "token", "eviction", "binding" or "approval".

        `client.sub_resource("scale").get(ctx, deployment, autoscalingv1.Scale)` reads one;
        `.update(ctx, deployment, with_sub_resource_body(scale))` writes it;
        `.create(ctx, pod, policyv1.Eviction())` creates one.
        """
        ...


class SubResourceReader(Protocol):
    """A reader of a subresource. Go: client.SubResourceReader."""

    def get(self, ctx: Context, obj: Object, sub_resource: type[T] | T, /, *opts: SubResourceGetOption) -> T:
        """Return the subresource of `obj`. Uses only the namespace and name of `obj`."""
        ...


class SubResourceWriter(Protocol):
    """A writer of a subresource. Go: client.SubResourceWriter."""

    def create(self, ctx: Context, obj: Object, sub_resource: Object, /, *opts: SubResourceCreateOption) -> None:
        """Create the subresource of `obj`; the server's response replaces the content of `sub_resource`."""
        ...

    def update(self, ctx: Context, obj: Object, /, *opts: SubResourceUpdateOption) -> None:
        """Write the subresource from `obj`, or from the body of `with_sub_resource_body`."""
        ...

    def patch(self, ctx: Context, obj: Object, patch: Patch, /, *opts: SubResourcePatchOption) -> None:
        """Change the subresource of `obj` by a patch."""
        ...

    def apply(self, ctx: Context, obj: ApplyConfiguration, /, *opts: SubResourceApplyOption) -> None:
        """Set the fields of `obj` in the subresource by server-side apply."""
        ...


# A writer of the status. Go: client.StatusWriter.
StatusWriter: TypeAlias = SubResourceWriter


class SubResourceClient(SubResourceReader, SubResourceWriter, Protocol):
    """A client of a subresource. Go: client.SubResourceClient."""


@runtime_checkable
class Client(Reader, Writer, StatusClient, SubResourceClientConstructor, Protocol):
    """A client for objects of any kind. Go: client.Client."""

    def scheme(self) -> Scheme:
        """Return the scheme, which maps classes to kinds."""
        ...

    def rest_mapper(self) -> meta.RESTMapper:
        """Return the mapper from kinds to resources."""
        ...

    def group_version_kind_for(self, obj: RuntimeObject | type[RuntimeObject], /) -> GroupVersionKind:
        """Return the kind of an object, an example or a class. Raises the not-registered error."""
        ...

    def is_object_namespaced(self, obj: RuntimeObject | type[RuntimeObject], /) -> bool:
        """Report whether the kind is namespaced. May ask the server."""
        ...


@runtime_checkable
class WithWatch(Client, Protocol):
    """A client that can also watch. Most programs use a cache instead. Go: client.WithWatch."""

    def watch(self, ctx: Context, obj: type[L] | L, /, *opts: ListOption) -> watch.Interface:
        """Return a watch of the objects that match the options; `obj` is the list's class or an example."""
        ...


# Returns the values of an object in an index. Go: client.IndexerFunc.
IndexerFunc: TypeAlias = Callable[[Any], Sequence[str]]


class FieldIndexer(Protocol):
    """A registry of field indexes for lists. Go: client.FieldIndexer."""

    def index_field(
        self, ctx: Context, obj: type[T] | T, field: str, extract_value: Callable[[T], Sequence[str]], /
    ) -> None:
        """Index the kind by `field`, a name that lists then pass in `MatchingFields`.

        `extract_value` returns the values of an object, which is read-only. To behave like an API server, return one
        value and name a field that the server can select by. An object with several values matches if one of them is
        equal. The indexer handles namespaces by itself.
        """
        ...


def ignore_not_found(err: Exception | None) -> None:
    """Raise `err`, unless it is None or a StatusError (NotFound). Go: client.IgnoreNotFound.

    Use it in an except clause: `except StatusError as err: client.ignore_not_found(err)`.
    """
    if err is not None and not errors.is_not_found(err):
        raise err


def ignore_already_exists(err: Exception | None) -> None:
    """Raise `err`, unless it is None or a StatusError (AlreadyExists). Go: client.IgnoreAlreadyExists."""
    if err is not None and not errors.is_already_exists(err):
        raise err
