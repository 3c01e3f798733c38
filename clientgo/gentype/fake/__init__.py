"""Fake clients for any class of objects, which a generated fake clientset consists of. Mirrors gentype/fake.go.

The fake clientsets of this project need no such clients: theirs are the real typed clients over testing.FakeRESTClient,
and record the same actions. These classes are for programs with fakes in Go's form, and for single fake clients.

Differences: `fake` is an attribute, in Go it is embedded; options are optional; an apply accepts the object or a plain
document, as the real clients do. A reactor's result of another type is a TypeError; Go panics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import ListObject, Object, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.json import encode
from clientgo.context import Context
from clientgo.gentype.first_argument import takes_context
from clientgo.gentype.type import apply_document
from clientgo.testing import actions
from clientgo.testing.actions import Action
from clientgo.testing.fake import Fake

__all__ = [
    "FakeClient",
    "FakeClientWithApply",
    "FakeClientWithList",
    "FakeClientWithListAndApply",
    "from_pointer_slice",
    "new_fake_client",
    "new_fake_client_with_apply",
    "new_fake_client_with_list",
    "new_fake_client_with_list_and_apply",
    "to_pointer_slice",
]

T = TypeVar("T", bound=ResourceObject)
L = TypeVar("L", bound=ListObject)
O = TypeVar("O", bound=Object)  # noqa: E741
E = TypeVar("E")
# `list` is a method of the class that needs this.
_Items: TypeAlias = list[T]


class FakeClient(Generic[T]):
    """A fake client for single objects of one resource, in one namespace or cluster-wide. Thread-safe.

    Every method records an action in `fake` and returns the result of the first reactor that handles it; without one,
    an empty object. It raises the reactor's error, and blocks only while reactors run. Go: gentype.FakeClient.
    """

    def __init__(
        self,
        fake: Fake,
        namespace: str,
        resource: GroupVersionResource,
        kind: GroupVersionKind,
        empty_object_creator: Callable[[], T],
    ) -> None:
        """Initialize a client. `namespace` is "" for cluster-scoped resources; a class creates its empty objects."""
        self.fake = fake
        """The recorder of the actions, with the reactors. It belongs to the fake clientset."""
        self._namespace = namespace
        self._resource = resource
        self._kind = kind
        self._new_object = empty_object_creator

    @takes_context
    def get(self, ctx: Context, name: str, options: metav1.GetOptions | None = None) -> T:
        """Return the named object."""
        options = options if options is not None else metav1.GetOptions()
        return self._invoke(actions.new_get_action_with_options(self._resource, self._namespace, name, options))

    @takes_context
    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        """Watch the objects that the options select."""
        opts = opts.deep_copy() if opts is not None else metav1.ListOptions()
        opts.watch = True
        return self.fake.invokes_watch(actions.new_watch_action_with_options(self._resource, self._namespace, opts))

    @takes_context
    def create(self, ctx: Context, resource: T, opts: metav1.CreateOptions | None = None) -> T:
        """Create the object and return the result."""
        opts = opts if opts is not None else metav1.CreateOptions()
        return self._invoke(actions.new_create_action_with_options(self._resource, self._namespace, resource, opts))

    @takes_context
    def update(self, ctx: Context, resource: T, opts: metav1.UpdateOptions | None = None) -> T:
        """Replace the object and return the result."""
        opts = opts if opts is not None else metav1.UpdateOptions()
        return self._invoke(actions.new_update_action_with_options(self._resource, self._namespace, resource, opts))

    @takes_context
    def update_status(self, ctx: Context, resource: T, opts: metav1.UpdateOptions | None = None) -> T:
        """Replace the object's status and return the result."""
        opts = opts if opts is not None else metav1.UpdateOptions()
        return self._invoke(
            actions.new_update_subresource_action_with_options(
                self._resource, "status", self._namespace, resource, opts
            )
        )

    @takes_context
    def delete(self, ctx: Context, name: str, opts: metav1.DeleteOptions | None = None) -> None:
        """Delete the named object."""
        opts = opts if opts is not None else metav1.DeleteOptions()
        action = actions.new_delete_action_with_options(self._resource, self._namespace, name, opts)
        self.fake.invokes(action, self._new_object())

    @takes_context
    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        opts: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> T:
        """Patch the named object, or a subresource of it, with a patch of type `pt` (types.PatchType)."""
        opts = opts if opts is not None else metav1.PatchOptions()
        return self._invoke(
            actions.new_patch_subresource_action_with_options(
                self._resource, self._namespace, name, PatchType(pt), data, opts, *subresources
            )
        )

    def namespace(self) -> str:
        """Return the namespace, or "". Go: FakeClient.Namespace."""
        return self._namespace

    def kind(self) -> GroupVersionKind:
        """Return the objects' kind. Go: FakeClient.Kind."""
        return self._kind

    def resource(self) -> GroupVersionResource:
        """Return the resource. Go: FakeClient.Resource."""
        return self._resource

    def _invoke(self, action: Action) -> T:
        return _result_of(self.fake, action, self._new_object())

    def __repr__(self) -> str:
        where = self._namespace or "all namespaces"
        return f"<{type(self).__name__} {self._resource.resource} in {where!r}>"


class _AlsoFakeLister(FakeClient[T], Generic[T, L]):
    """A fake client with the methods for many objects. Go: alsoFakeLister."""

    _new_list: Callable[[], L]
    _copy_list_meta: Callable[[L, L], None]
    _get_items: Callable[[L], Sequence[T]]
    _set_items: Callable[[L, _Items[T]], None]

    @takes_context
    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> L:
        """Return the objects that the label selector of the options selects, in a new list.

        Raises ValueError for an invalid selector; Go panics.
        """
        opts = opts if opts is not None else metav1.ListOptions()
        selector, _, _ = actions.extract_from_list_options(opts)
        action = actions.new_list_action_with_options(self._resource, self._kind, self._namespace, opts)
        found = _result_of(self.fake, action, self._new_list())
        result = self._new_list()
        self._copy_list_meta(result, found)
        self._set_items(result, [item for item in self._get_items(found) if _matches(item, selector)])
        return result

    @takes_context
    def delete_collection(
        self, ctx: Context, opts: metav1.DeleteOptions | None = None, list_opts: metav1.ListOptions | None = None
    ) -> None:
        """Delete the objects that `list_opts` selects. Go's tracker, and ours, do nothing for this action."""
        opts = opts if opts is not None else metav1.DeleteOptions()
        list_opts = list_opts if list_opts is not None else metav1.ListOptions()
        action = actions.new_delete_collection_action_with_options(self._resource, self._namespace, opts, list_opts)
        self.fake.invokes(action, self._new_list())


class _AlsoFakeApplier(FakeClient[T]):
    """A fake client with server-side apply. Go: alsoFakeApplier."""

    @takes_context
    def apply(
        self, ctx: Context, configuration: T | Mapping[str, Any] | None, opts: metav1.ApplyOptions | None = None
    ) -> T:
        """Apply the fields of `configuration`. Raises ValueError if it is None or has no name."""
        return self._apply(configuration, opts)

    @takes_context
    def apply_status(
        self, ctx: Context, configuration: T | Mapping[str, Any] | None, opts: metav1.ApplyOptions | None = None
    ) -> T:
        """Apply the status, as `apply` does."""
        return self._apply(configuration, opts, "status")

    def _apply(
        self, configuration: T | Mapping[str, Any] | None, opts: metav1.ApplyOptions | None, *subresources: str
    ) -> T:
        if configuration is None:
            raise ValueError("configuration provided to Apply must not be nil")
        document = apply_document(type(self._new_object()), configuration)
        name = (document.get("metadata") or {}).get("name")
        if name is None:
            raise ValueError("configuration.Name must be provided to Apply")
        options = (opts if opts is not None else metav1.ApplyOptions()).to_patch_options()
        return self._invoke(
            actions.new_patch_subresource_action_with_options(
                self._resource,
                self._namespace,
                name,
                PatchType.APPLY_YAML,
                encode(document).encode(),
                options,
                *subresources,
            )
        )


class FakeClientWithList(_AlsoFakeLister[T, L], Generic[T, L]):
    """A FakeClient with list and delete_collection. Go: gentype.FakeClientWithList."""

    def __init__(
        self,
        fake: Fake,
        namespace: str,
        resource: GroupVersionResource,
        kind: GroupVersionKind,
        empty_object_creator: Callable[[], T],
        empty_list_creator: Callable[[], L],
        list_meta_copier: Callable[[L, L], None],
        item_getter: Callable[[L], Sequence[T]],
        item_setter: Callable[[L, list[T]], None],
    ) -> None:
        """Initialize a client. The copier gets the new list first, and then the reactor's."""
        super().__init__(fake, namespace, resource, kind, empty_object_creator)
        self._new_list = empty_list_creator
        self._copy_list_meta = list_meta_copier
        self._get_items = item_getter
        self._set_items = item_setter


class FakeClientWithApply(_AlsoFakeApplier[T], Generic[T]):
    """A FakeClient with apply and apply_status. Go: gentype.FakeClientWithApply."""


class FakeClientWithListAndApply(FakeClientWithList[T, L], _AlsoFakeApplier[T], Generic[T, L]):
    """A FakeClient with list, delete_collection, apply and apply_status. Go: gentype.FakeClientWithListAndApply."""


def new_fake_client(
    fake: Fake,
    namespace: str,
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    empty_object_creator: Callable[[], T],
) -> FakeClient[T]:
    """Return a fake client of one resource. Go: NewFakeClient."""
    return FakeClient(fake, namespace, resource, kind, empty_object_creator)


def new_fake_client_with_list(
    fake: Fake,
    namespace: str,
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    empty_object_creator: Callable[[], T],
    empty_list_creator: Callable[[], L],
    list_meta_copier: Callable[[L, L], None],
    item_getter: Callable[[L], Sequence[T]],
    item_setter: Callable[[L, list[T]], None],
) -> FakeClientWithList[T, L]:
    """Return a fake client of one resource that lists too. Go: NewFakeClientWithList."""
    return FakeClientWithList(
        fake,
        namespace,
        resource,
        kind,
        empty_object_creator,
        empty_list_creator,
        list_meta_copier,
        item_getter,
        item_setter,
    )


def new_fake_client_with_apply(
    fake: Fake,
    namespace: str,
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    empty_object_creator: Callable[[], T],
) -> FakeClientWithApply[T]:
    """Return a fake client of one resource that applies too. Go: NewFakeClientWithApply."""
    return FakeClientWithApply(fake, namespace, resource, kind, empty_object_creator)


def new_fake_client_with_list_and_apply(
    fake: Fake,
    namespace: str,
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    empty_object_creator: Callable[[], T],
    empty_list_creator: Callable[[], L],
    list_meta_copier: Callable[[L, L], None],
    item_getter: Callable[[L], Sequence[T]],
    item_setter: Callable[[L, list[T]], None],
) -> FakeClientWithListAndApply[T, L]:
    """Return a fake client of one resource that lists and applies too. Go: NewFakeClientWithListAndApply."""
    return FakeClientWithListAndApply(
        fake,
        namespace,
        resource,
        kind,
        empty_object_creator,
        empty_list_creator,
        list_meta_copier,
        item_getter,
        item_setter,
    )


@overload
def to_pointer_slice(src: None) -> None: ...


@overload
def to_pointer_slice(src: Sequence[E]) -> list[E]: ...


def to_pointer_slice(src: Sequence[E] | None) -> list[E] | None:
    """Return the items in a new list, or None. Go: ToPointerSlice."""
    return None if src is None else list(src)


from_pointer_slice = to_pointer_slice
"""Another name of `to_pointer_slice`, since an object is a reference here. Go: FromPointerSlice."""


def _result_of(fake: Fake, action: Action, empty: O) -> O:
    """Return the reactor's result, or `empty` for None. Raises TypeError for a result of another class."""
    found = fake.invokes(action, empty)
    if found is None:
        return empty
    if not isinstance(found, type(empty)):
        raise TypeError(f"the reaction to {action!r} returned a {type(found).__name__}, not a {type(empty).__name__}")
    return found


def _matches(item: ResourceObject, selector: labels.Selector) -> bool:
    try:
        return selector.matches(meta.accessor(item).get_labels())
    except meta.ErrNotObject:
        return False
