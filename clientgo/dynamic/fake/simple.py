"""A fake dynamic client on an object tracker, which records the calls. Mirrors dynamic/fake/simple.go."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping

from clientgo import testing
from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.dynamic.interface import NamespaceableResourceInterface, ResourceInterface
from clientgo.gentype import takes_context


def new_simple_dynamic_client(scheme: Scheme, *objects: Object) -> FakeDynamicClient:
    """Return a client with these objects, converted to Unstructured. Go: NewSimpleDynamicClient.

    Only resources whose list kinds `scheme` knows, and those of the objects, can be listed.
    """
    kinds = [_as_unstructured(obj).group_version_kind() for obj in objects]
    list_kinds = {_guess_resource(gvk): f"{gvk.kind}List" for gvk in kinds if not gvk.kind.endswith("List")}
    return new_simple_dynamic_client_with_custom_list_kinds(scheme, list_kinds, *objects)


def new_simple_dynamic_client_with_custom_list_kinds(
    scheme: Scheme, gvr_to_list_kind: Mapping[GroupVersionResource, str], *objects: Object
) -> FakeDynamicClient:
    """Return a fake client with the list kinds of more resources. Go: NewSimpleDynamicClientWithCustomListKinds.

    Raises ValueError for a list kind that does not end in "List".
    """
    list_kinds: dict[GroupVersionResource, str] = {}
    for gvk in scheme.all_known_types():
        if gvk.kind.endswith("List") and gvk.kind != "List":
            item_kind = gvk.group_version().with_kind(gvk.kind.removesuffix("List"))
            list_kinds[_guess_resource(item_kind)] = gvk.kind
    for gvr, kind in gvr_to_list_kind.items():
        if not kind.endswith("List"):
            raise ValueError("coding error, listGVK must end in List or this fake client doesn't work right")
        list_kinds[gvr] = kind
    return FakeDynamicClient(list_kinds, *(_as_unstructured(obj) for obj in objects))


def _guess_resource(gvk: GroupVersionKind) -> GroupVersionResource:
    plural, _ = meta.unsafe_guess_kind_to_resource(gvk)
    return plural


def _as_unstructured(obj: Object) -> Unstructured:
    document = obj.to_dict()
    own = type(obj).GROUP_VERSION_KIND
    if own is not None:
        api_version, kind = own.to_api_version_and_kind()
        document = {"apiVersion": api_version, "kind": kind, **document}
    return Unstructured.from_dict(document)


class FakeDynamicClient(testing.Fake):
    """A fake of dynamic.Interface. Reactors work as in any fake; calls without one use the tracker."""

    def __init__(self, list_kinds: Mapping[GroupVersionResource, str], *objects: Unstructured) -> None:
        super().__init__()
        self._list_kinds = dict(list_kinds)
        scheme = Scheme("fake dynamic client")
        for gvr, kind in self._list_kinds.items():
            scheme.add_known_type_with_name(gvr.group_version().with_kind(kind), UnstructuredList)
        self._tracker = testing.new_object_tracker(scheme, new_codec_factory(scheme).universal_deserializer())
        for obj in objects:
            self._tracker.add(obj)
        self.add_reactor("*", "*", testing.object_reaction(self._tracker))
        self.add_watch_reactor("*", self._watch)

    def _watch(self, action: testing.Action) -> tuple[bool, watch.Interface | None]:
        options = getattr(action, "list_options", None)
        return True, self._tracker.watch(action.get_resource(), action.get_namespace(), options)

    def tracker(self) -> testing.ObjectTracker:
        """Return the tracker that stores the objects. Go: Tracker."""
        return self._tracker

    def resource(self, resource: GroupVersionResource) -> NamespaceableResourceInterface:
        """Return the client of one resource. Go: Resource."""
        return _FakeResourceClient(self, resource, self._list_kinds.get(resource, ""))

    def close(self) -> None:
        """Do nothing, since there are no connections."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Return True: a fake cannot stream lists. Go: IsWatchListSemanticsUnSupported."""
        return True


class _FakeResourceClient:
    """See ResourceInterface."""

    def __init__(self, client: FakeDynamicClient, resource: GroupVersionResource, list_kind: str) -> None:
        self._client = client
        self._resource = resource
        self._list_kind = list_kind
        self._namespace = ""

    def namespace(self, namespace: str) -> ResourceInterface:
        scoped = copy.copy(self)
        scoped._namespace = namespace
        return scoped

    def _invoke(self, action: testing.Action, default: Object) -> Unstructured:
        found = self._client.invokes(action, default)
        return _as_unstructured(found) if found is not None else Unstructured()

    @takes_context
    def create(
        self, ctx: Context, obj: Unstructured, options: metav1.CreateOptions | None = None, *subresources: str
    ) -> Unstructured:
        opts = options or metav1.CreateOptions()
        if not subresources:
            return self._invoke(testing.new_create_action_with_options(self._resource, self._namespace, obj, opts), obj)
        action = testing.new_create_subresource_action_with_options(
            self._resource, obj.get_name(), "/".join(subresources), self._namespace, obj, opts
        )
        return self._invoke(action, obj)

    @takes_context
    def update(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None, *subresources: str
    ) -> Unstructured:
        opts = options or metav1.UpdateOptions()
        if not subresources:
            return self._invoke(testing.new_update_action_with_options(self._resource, self._namespace, obj, opts), obj)
        action = testing.new_update_subresource_action_with_options(
            self._resource, "/".join(subresources), self._namespace, obj, opts
        )
        return self._invoke(action, obj)

    @takes_context
    def update_status(
        self, ctx: Context, obj: Unstructured, options: metav1.UpdateOptions | None = None
    ) -> Unstructured:
        return self.update(ctx, obj, options, "status")

    @takes_context
    def delete(self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str) -> None:
        opts = options or metav1.DeleteOptions()
        action: testing.Action
        if subresources:
            action = testing.new_delete_subresource_action_with_options(
                self._resource, "/".join(subresources), self._namespace, name, opts
            )
        else:
            action = testing.new_delete_action_with_options(self._resource, self._namespace, name, opts)
        self._client.invokes(action, None)

    @takes_context
    def delete_collection(
        self,
        ctx: Context,
        options: metav1.DeleteOptions | None = None,
        list_options: metav1.ListOptions | None = None,
    ) -> None:
        action = testing.new_delete_collection_action_with_options(
            self._resource, self._namespace, options or metav1.DeleteOptions(), list_options or metav1.ListOptions()
        )
        self._client.invokes(action, None)

    @takes_context
    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> Unstructured:
        opts = options or metav1.GetOptions()
        if not subresources:
            action = testing.new_get_action_with_options(self._resource, self._namespace, name, opts)
        else:
            action = testing.new_get_subresource_action_with_options(
                self._resource, self._namespace, "/".join(subresources), name, opts
            )
        return self._invoke(action, Unstructured())

    @takes_context
    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> UnstructuredList:
        if not self._list_kind:
            raise ValueError(
                "coding error: you must register resource to list kind for every resource you're going to LIST when "
                "creating the client. See new_simple_dynamic_client_with_custom_list_kinds or register the list into "
                f"the scheme: {self._resource}"
            )
        options = opts or metav1.ListOptions()
        # The tracker appends "List" to the kind.
        kind = self._resource.group_version().with_kind(self._list_kind.removesuffix("List"))
        action = testing.new_list_action_with_options(self._resource, kind, self._namespace, options)
        found = self._client.invokes(action, UnstructuredList())
        if found is None:
            return UnstructuredList()
        selector = labels.parse(options.label_selector) if options.label_selector else labels.everything()
        items = map(_as_unstructured, meta.extract_list(found))
        document = {
            "apiVersion": str(self._resource.group_version()),
            "kind": self._list_kind,
            "metadata": found.to_dict().get("metadata") or {},
            "items": [item.to_dict() for item in items if selector.matches(labels.Set(item.get_labels()))],
        }
        return UnstructuredList.from_dict(document)

    @takes_context
    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        options = opts.deep_copy() if opts is not None else metav1.ListOptions()
        options.watch = True
        return self._client.invokes_watch(
            testing.new_watch_action_with_options(self._resource, self._namespace, options)
        )

    @takes_context
    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        opts = options or metav1.PatchOptions()
        action = testing.new_patch_subresource_action_with_options(
            self._resource, self._namespace, name, PatchType(pt), data, opts, *subresources
        )
        return self._invoke(action, Unstructured())

    @takes_context
    def apply(
        self,
        ctx: Context,
        name: str,
        obj: Unstructured,
        options: metav1.ApplyOptions | None = None,
        *subresources: str,
    ) -> Unstructured:
        opts = options or metav1.ApplyOptions()
        patch_options = opts.to_patch_options()
        data = json.dumps(obj.to_dict()).encode()
        return self.patch(ctx, name, PatchType.APPLY_YAML, data, patch_options, *subresources)

    @takes_context
    def apply_status(
        self, ctx: Context, name: str, obj: Unstructured, options: metav1.ApplyOptions | None = None
    ) -> Unstructured:
        return self.apply(ctx, name, obj, options, "status")
