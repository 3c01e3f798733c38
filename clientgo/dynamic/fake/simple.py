"""The fake dynamic client. Mirrors dynamic/fake/simple.go.

Differs: listing a resource whose list kind nobody named raises ValueError, where Go panics.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from typing import Any

from clientgo import testing
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.dynamic.interface import NamespaceableResourceInterface, ResourceInterface
from clientgo.testing import actions

__all__ = ["FakeDynamicClient", "new_simple_dynamic_client", "new_simple_dynamic_client_with_custom_list_kinds"]


def new_simple_dynamic_client(scheme: Scheme, *objects: Object) -> FakeDynamicClient:
    """A fake that holds `objects` and can list every kind of `scheme` and theirs (Go: NewSimpleDynamicClient)."""
    unstructured_scheme = Scheme()
    converted = [_to_unstructured(scheme, obj) for obj in objects]
    for gvk in scheme.all_known_types():
        _register(unstructured_scheme, gvk)
    for obj in converted:
        gvk = obj.group_version_kind()
        _register(unstructured_scheme, gvk)
        _register(unstructured_scheme, _list_kind(gvk))
    return new_simple_dynamic_client_with_custom_list_kinds(unstructured_scheme, {}, *converted)


def new_simple_dynamic_client_with_custom_list_kinds(
    scheme: Scheme, gvr_to_list_kind: Mapping[GroupVersionResource, str], *objects: Object
) -> FakeDynamicClient:
    """The same for resources whose names their kinds do not suggest. Adds the list kinds to `scheme`.

    Raises ValueError for a list kind that does not end in List. Go: NewSimpleDynamicClientWithCustomListKinds.
    """
    list_kinds = {}
    for gvk in scheme.all_known_types():
        if gvk.kind.endswith("List"):
            plural, _ = meta.unsafe_guess_kind_to_resource(gvk.group_version().with_kind(gvk.kind[:-4]))
            list_kinds[plural] = gvk.kind
    for gvr, list_kind in gvr_to_list_kind.items():
        if not list_kind.endswith("List"):
            raise ValueError("coding error, listGVK must end in List or this fake client doesn't work right")
        _register(scheme, gvr.group_version().with_kind(list_kind))
        list_kinds[gvr] = list_kind

    tracker = testing.new_object_tracker(scheme, new_codec_factory(scheme).universal_deserializer())
    for obj in objects:
        tracker.add(obj)
    return FakeDynamicClient(tracker, scheme, list_kinds)


class FakeDynamicClient(testing.Fake):
    """A dynamic client over an object tracker; see `testing.Fake` (Go: fake.FakeDynamicClient). Thread-safe."""

    def __init__(
        self, tracker: testing.ObjectTracker, scheme: Scheme, gvr_to_list_kind: Mapping[GroupVersionResource, str]
    ) -> None:
        """Use the functions of this module."""
        super().__init__()
        self._tracker = tracker
        self._scheme = scheme
        self._gvr_to_list_kind = gvr_to_list_kind
        self.add_reactor("*", "*", testing.object_reaction(tracker))
        self.add_watch_reactor("*", self._watch_tracker)

    def tracker(self) -> testing.ObjectTracker:
        """Where the objects are."""
        return self._tracker

    def resource(self, resource: GroupVersionResource) -> NamespaceableResourceInterface:
        """The client of one resource."""
        return _DynamicResourceClient(self, resource)

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Tells the reflector that it has to list first."""
        return True

    def _watch_tracker(self, action: testing.Action) -> tuple[bool, watch.Interface | None]:
        options = action.list_options if isinstance(action, actions.WatchActionImpl) else metav1.ListOptions()
        return True, self._tracker.watch(action.get_resource(), action.get_namespace(), options)

    def _list_kind(self, resource: GroupVersionResource) -> str:
        """Raises ValueError when nobody said how the resource's lists are called."""
        try:
            return self._gvr_to_list_kind[resource]
        except KeyError:
            raise ValueError(
                "coding error: you must register resource to list kind for every resource you're going to LIST when "
                "creating the client.  See NewSimpleDynamicClientWithCustomListKinds or register the list into the "
                f"scheme: {resource} out of {sorted(map(str, self._gvr_to_list_kind))}"
            ) from None


class _DynamicResourceClient:
    """See dynamic.ResourceInterface. Does not block."""

    def __init__(self, client: FakeDynamicClient, resource: GroupVersionResource, namespace: str = "") -> None:
        self._client = client
        self._resource = resource
        self._namespace = namespace

    def namespace(self, namespace: str) -> ResourceInterface:
        scoped = copy.copy(self)
        scoped._namespace = namespace
        return scoped

    def create(
        self, ctx: Context, obj: Unstructured, options: metav1.CreateOptions | None = None, *subresources: str
    ) -> Unstructured:
        name = obj.get_name() if subresources else ""
        return self._invoke(
            actions.new_create_subresource_action_with_options(
                self._resource, name, "/".join(subresources), self._namespace, obj, options or metav1.CreateOptions()
            ),
            obj,
        )

    def update(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None, *subresources: str
    ) -> Unstructured:
        return self._invoke(
            actions.new_update_subresource_action_with_options(
                self._resource, "/".join(subresources), self._namespace, obj, options or metav1.UpdateOptions()
            ),
            obj,
        )

    def update_status(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None
    ) -> Unstructured:
        return self.update(ctx, obj, options, "status")

    def delete(self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str) -> None:
        self._client.invokes(
            actions.new_delete_subresource_action_with_options(
                self._resource, "/".join(subresources), self._namespace, name, options or metav1.DeleteOptions()
            ),
            None,
        )

    def delete_collection(
        self,
        ctx: Context,
        options: metav1.DeleteOptions | None = None,
        list_options: metav1.ListOptions | None = None,
    ) -> None:
        self._client.invokes(
            actions.new_delete_collection_action_with_options(
                self._resource, self._namespace, options or metav1.DeleteOptions(), list_options or metav1.ListOptions()
            ),
            None,
        )

    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> Unstructured:
        return self._invoke(
            actions.new_get_subresource_action_with_options(
                self._resource, self._namespace, "/".join(subresources), name, options or metav1.GetOptions()
            )
        )

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> UnstructuredList:
        options = opts if opts is not None else metav1.ListOptions()
        list_gvk = self._resource.group_version().with_kind(self._client._list_kind(self._resource))
        # The tracker appends "List" itself.
        kind = list_gvk.group_version().with_kind(list_gvk.kind[:-4])
        action = actions.new_list_action_with_options(self._resource, kind, self._namespace, options)
        found = self._client.invokes(action, None)
        document: dict[str, Any] = found.to_dict() if found is not None else {}
        result = UnstructuredList.from_dict({"metadata": document.get("metadata") or {}, "items": []})
        result.set_group_version_kind(list_gvk)
        items: Iterable[Unstructured] = map(Unstructured.from_dict, document.get("items") or ())
        selector = action.list_restrictions.labels
        result.items = [item for item in items if selector.matches(item.get_labels())]
        return result

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        options = opts.deep_copy() if opts is not None else metav1.ListOptions()
        options.watch = True
        action = actions.new_watch_action_with_options(self._resource, self._namespace, options)
        return self._client.invokes_watch(action)

    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        return self._invoke(
            actions.new_patch_subresource_action_with_options(
                self._resource,
                self._namespace,
                name,
                PatchType(pt),
                data,
                options or metav1.PatchOptions(),
                *subresources,
            )
        )

    def apply(
        self,
        ctx: Context,
        name: str,
        obj: Unstructured,
        options: metav1.ApplyOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        given = options if options is not None else metav1.ApplyOptions()
        patch_options = metav1.PatchOptions(
            force=given.force, dry_run=[*given.dry_run], field_manager=given.field_manager
        )
        data = json.dumps(obj.to_dict()).encode()
        return self.patch(ctx, name, PatchType.APPLY, data, patch_options, *subresources)

    def apply_status(
        self, ctx: Context, name: str, obj: Unstructured, options: metav1.ApplyOptions | None = None
    ) -> Unstructured:
        return self.apply(ctx, name, obj, options, "status")

    def _invoke(self, action: testing.Action, default: Object | None = None) -> Unstructured:
        """The answer as an unstructured object; an empty one if there is none."""
        result = self._client.invokes(action, default)
        return Unstructured() if result is None else _to_unstructured(self._client._scheme, result)

    def __repr__(self) -> str:
        return f"<fake dynamic client of {self._resource}, namespace {self._namespace!r}>"


def _register(scheme: Scheme, gvk: GroupVersionKind) -> None:
    """Let the scheme make unstructured objects of a kind it does not know."""
    if not scheme.recognizes(gvk):
        scheme.add_known_type_with_name(gvk, UnstructuredList if gvk.kind.endswith("List") else Unstructured)


def _list_kind(gvk: GroupVersionKind) -> GroupVersionKind:
    return gvk.group_version().with_kind(gvk.kind + "List")


def _to_unstructured(scheme: Scheme, obj: Object) -> Unstructured:
    """The object with its kind written in. Raises the not-registered error for a class without one."""
    if isinstance(obj, Unstructured):
        return obj
    result = Unstructured.from_dict(obj.to_dict())
    if not result.group_version_kind().kind:
        kinds, _ = scheme.object_kinds(obj)
        result.set_group_version_kind(kinds[0])
    return result
