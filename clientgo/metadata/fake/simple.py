"""A fake metadata client on an object tracker, which records the calls. Mirrors metadata/fake/simple.go.

Differences: it does not change a scheme that already knows the required kind of list. Lists contain metadata directly;
Go's tracker first makes a generic list.
"""

from __future__ import annotations

import copy
from typing import Protocol

from clientgo import testing
from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.apimachinery.types import PatchType
from clientgo.context import Context
from clientgo.metadata.interface import Getter, ResourceInterface

# The tracker appends "List" to the kind.
_ITEMS = GroupVersionKind("fake-metadata-client-group", "v1", "")


class MetadataClient(Getter, Protocol):
    """A metadata client that can also create objects. Go: fake.MetadataClient."""

    def create_fake(
        self, obj: metav1.PartialObjectMetadata, opts: metav1.CreateOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        """Create an object."""
        ...

    def update_fake(
        self, obj: metav1.PartialObjectMetadata, opts: metav1.UpdateOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        """Replace an object."""
        ...


def new_test_scheme() -> Scheme:
    """Return a new scheme for a test. Go: fake.NewTestScheme."""
    return Scheme()


def new_simple_metadata_client(scheme: Scheme, *objects: Object) -> FakeMetadataClient:
    """Return a client with these objects, which must have apiVersion and kind. Go: NewSimpleMetadataClient."""
    return FakeMetadataClient(scheme, *objects)


class FakeMetadataClient(testing.Fake):
    """A fake of metadata.Interface. Reactors work as in any fake; calls without one use the tracker."""

    def __init__(self, scheme: Scheme, *objects: Object) -> None:
        super().__init__()
        items = _ITEMS.group_version().with_kind("List")
        if not scheme.recognizes(items):
            scheme.add_known_type_with_name(items, metav1.PartialObjectMetadataList)
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

    def resource(self, resource: GroupVersionResource) -> MetadataClient:
        """Return the client of one resource. Go: Resource."""
        return _ResourceClient(self, resource)

    def close(self) -> None:
        """Do nothing, since there are no connections."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Return True: a fake cannot stream lists. Go: IsWatchListSemanticsUnSupported."""
        return True


class _ResourceClient:
    """See MetadataClient. Go: metadataResourceClient."""

    def __init__(self, client: FakeMetadataClient, resource: GroupVersionResource) -> None:
        self._client = client
        self._resource = resource
        self._namespace = ""

    def namespace(self, namespace: str) -> ResourceInterface:
        scoped = copy.copy(self)
        scoped._namespace = namespace
        return scoped

    def _invoke(self, action: testing.Action) -> metav1.PartialObjectMetadata:
        found = self._client.invokes(action, metav1.PartialObjectMetadata())
        if not isinstance(found, metav1.PartialObjectMetadata):
            raise TypeError(f"unexpected return value type {type(found).__name__}")
        return found

    def create_fake(
        self, obj: metav1.PartialObjectMetadata, opts: metav1.CreateOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        options = opts or metav1.CreateOptions()
        if subresources:
            return self._invoke(
                testing.new_create_subresource_action_with_options(
                    self._resource, obj.get_name(), "/".join(subresources), self._namespace, obj, options
                )
            )
        return self._invoke(testing.new_create_action_with_options(self._resource, self._namespace, obj, options))

    def update_fake(
        self, obj: metav1.PartialObjectMetadata, opts: metav1.UpdateOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        options = opts or metav1.UpdateOptions()
        if subresources:
            return self._invoke(
                testing.new_update_subresource_action_with_options(
                    self._resource, "/".join(subresources), self._namespace, obj, options
                )
            )
        return self._invoke(testing.new_update_action_with_options(self._resource, self._namespace, obj, options))

    def delete(self, ctx: Context, name: str, options: metav1.DeleteOptions | None = None, *subresources: str) -> None:
        opts = options or metav1.DeleteOptions()
        if subresources:
            action = testing.new_delete_subresource_action_with_options(
                self._resource, "/".join(subresources), self._namespace, name, opts
            )
        else:
            action = testing.new_delete_action_with_options(self._resource, self._namespace, name, opts)
        self._client.invokes(action, None)

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

    def get(
        self, ctx: Context, name: str, options: metav1.GetOptions | None = None, *subresources: str
    ) -> metav1.PartialObjectMetadata:
        opts = options or metav1.GetOptions()
        if subresources:
            return self._invoke(
                testing.new_get_subresource_action_with_options(
                    self._resource, self._namespace, "/".join(subresources), name, opts
                )
            )
        return self._invoke(testing.new_get_action_with_options(self._resource, self._namespace, name, opts))

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> metav1.PartialObjectMetadataList:
        options = opts or metav1.ListOptions()
        action = testing.new_list_action_with_options(self._resource, _ITEMS, self._namespace, options)
        found = self._client.invokes(action, metav1.PartialObjectMetadataList())
        if not isinstance(found, metav1.PartialObjectMetadataList):
            raise TypeError(f"incoming object is incorrect type {type(found).__name__}")
        selector = labels.parse(options.label_selector) if options.label_selector else labels.everything()
        chosen = metav1.PartialObjectMetadataList(metadata=found.metadata)
        chosen.items = [item for item in meta.extract_list(found) if selector.matches(item.get_labels())]
        return chosen

    def watch(self, ctx: Context, opts: metav1.ListOptions | None = None) -> watch.Interface:
        options = opts.deep_copy() if opts is not None else metav1.ListOptions()
        options.watch = True
        return self._client.invokes_watch(
            testing.new_watch_action_with_options(self._resource, self._namespace, options)
        )

    def patch(
        self,
        ctx: Context,
        name: str,
        pt: str,
        data: bytes,
        options: metav1.PatchOptions | None = None,
        *subresources: str,
    ) -> metav1.PartialObjectMetadata:
        opts = options or metav1.PatchOptions()
        return self._invoke(
            testing.new_patch_subresource_action_with_options(
                self._resource, self._namespace, name, PatchType(pt), data, opts, *subresources
            )
        )
