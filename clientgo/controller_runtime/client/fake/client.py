"""A client without a server, for unit tests. Mirrors pkg/client/fake/client.go.

    c = fake.new_client_builder().with_objects(pod).with_status_subresource(Guestbook).build()

It checks resource versions and separates the status, but has no defaulting, validation, admission or controllers;
envtest provides a whole server. It ignores `limit` and `continue`.

Differences: the client remembers a kind that the scheme does not know; Go adds it to the scheme. A failed write does
not change the caller's object. `apply` with a dry run stores nothing; Go's stores the object. With managedFields, an
unstructured object that was created has them; in Go, only a read returns them.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Self, TypeVar, cast

from clientgo import testing
from clientgo.api.apps import v1 as appsv1
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.api.policy import v1beta1 as policyv1beta1
from clientgo.apimachinery import fields, labels, watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.apis.meta.v1.validation import validate_patch_options
from clientgo.apimachinery.runtime import Object as RuntimeObject
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import rand
from clientgo.apimachinery.util.managedfields import TypeConverter
from clientgo.applyconfigurations import new_type_converter
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import apiutil, interceptor
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.fake.scheme import GrowingScheme
from clientgo.controller_runtime.client.fake.typeconverter import multi_type_converter
from clientgo.controller_runtime.client.fake.versioned_tracker import (
    VersionedTracker,
    Write,
    deletion_timestamp_equal,
)
from clientgo.controller_runtime.client.object import require_list, require_object, require_writable
from clientgo.controller_runtime.internal.field.selector import requires_exact_match
from clientgo.gentype import methods_take_context
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools.cache.beyond.indexing import checked_values
from clientgo.utils.clock import REAL_CLOCK

T = TypeVar("T", bound=client.Object)
L = TypeVar("L", bound=client.ObjectList)

_Indexes = dict[GroupVersionKind, dict[str, client.IndexerFunc]]

_MAX_NAME_LENGTH: Final = 63
_RANDOM_LENGTH: Final = 5
_MAX_GENERATED_NAME_LENGTH: Final = _MAX_NAME_LENGTH - _RANDOM_LENGTH
_MAX_NAME_TRIES: Final = 7

_WITHOUT_CLASS: Final = (
    Unstructured,
    UnstructuredList,
    metav1.PartialObjectMetadata,
    metav1.PartialObjectMetadataList,
)


def new_fake_client(*init_objs: RuntimeObject) -> client.WithWatch:
    """Return a fake client that holds these objects. Go: fake.NewFakeClient."""
    return new_client_builder().with_runtime_objects(*init_objs).build()


def new_client_builder() -> ClientBuilder:
    """Return a builder of fake clients. Go: fake.NewClientBuilder."""
    return ClientBuilder()


class ClientBuilder:
    """A builder of fake clients. Go: fake.ClientBuilder."""

    def __init__(self) -> None:
        self._scheme: Scheme | None = None
        self._rest_mapper: meta.RESTMapper | None = None
        self._objects: list[RuntimeObject] = []
        self._lists: list[RuntimeObject] = []
        self._runtime_objects: list[RuntimeObject] = []
        self._with_status_subresource: list[Example] = []
        self._object_tracker: testing.ObjectTracker | None = None
        self._interceptor_funcs: interceptor.Funcs | None = None
        self._type_converters: list[TypeConverter] = []
        self._return_managed_fields = False
        self._indexes: _Indexes = {}
        self._is_built = False

    def with_scheme(self, scheme: Scheme) -> Self:
        """Set the scheme, which maps classes to kinds. The default has the built-in kinds. Go: WithScheme."""
        self._scheme = scheme
        return self

    def with_rest_mapper(self, rest_mapper: meta.RESTMapper) -> Self:
        """Set the mapper that `is_object_namespaced` uses. The default knows no kinds. Go: WithRESTMapper."""
        self._rest_mapper = rest_mapper
        return self

    def with_objects(self, *init_objs: client.Object) -> Self:
        """Add objects that exist from the start. Go: WithObjects.

        `build` sets the resourceVersion of each object without one to 999, as Go does, so that the caller may update
        the object without a read. It does not change frozen objects.
        """
        self._objects += init_objs
        return self

    def with_lists(self, *init_lists: client.ObjectList) -> Self:
        """Add lists of objects as `with_objects` does. Go: WithLists."""
        self._lists += init_lists
        return self

    def with_runtime_objects(self, *init_runtime_objs: RuntimeObject) -> Self:
        """Add objects or lists as `with_objects` does. Go: WithRuntimeObjects."""
        self._runtime_objects += init_runtime_objs
        return self

    def with_object_tracker(self, ot: testing.ObjectTracker) -> Self:
        """Set the tracker that stores the objects. It excludes type converters. Go: WithObjectTracker."""
        self._object_tracker = ot
        return self

    def with_index(self, obj: Example, field: str, extract_value: client.IndexerFunc) -> Self:
        """Let lists of the kind select by a field. Raises ValueError for a duplicate. Go: WithIndex."""
        gvk = apiutil.gvk_for_object(obj, self._scheme or SCHEME)
        of_kind = self._indexes.setdefault(gvk, {})
        if field in of_kind:
            raise ValueError(f"indexer conflict: field {field} for GroupVersionKind {gvk} is already indexed")
        of_kind[field] = extract_value
        return self

    def with_status_subresource(self, *o: Example) -> Self:
        """Add kinds whose status only `status()` writes; the built-in ones are included. Go: WithStatusSubresource."""
        self._with_status_subresource += o
        return self

    def with_interceptor_funcs(self, interceptor_funcs: interceptor.Funcs) -> Self:
        """Set functions that replace the client's methods. Go: WithInterceptorFuncs."""
        self._interceptor_funcs = interceptor_funcs
        return self

    def with_type_converters(self, *type_converters: TypeConverter) -> Self:
        """Set the converters that define how fields merge in an apply; the first one that knows the kind is used.

        By default built-in kinds merge by the API's schema, and other kinds by the shape of their JSON.
        Go: WithTypeConverters.
        """
        self._type_converters += type_converters
        return self

    def with_return_managed_fields(self) -> Self:
        """Return objects with their managedFields. Go: WithReturnManagedFields."""
        self._return_managed_fields = True
        return self

    def build(self) -> client.WithWatch:
        """Return the client. Go: Build.

        Raises RuntimeError on a second call, ValueError for contradictory settings.
        """
        if self._is_built:
            raise RuntimeError("Build() must not be called multiple times when creating a ClientBuilder")
        if self._object_tracker is not None and self._type_converters:
            raise ValueError("WithObjectTracker and WithTypeConverters are incompatible")
        user_scheme = self._scheme or SCHEME
        with_status = {
            *_in_tree_resources_with_status(),
            *(apiutil.gvk_for_object(each, user_scheme) for each in self._with_status_subresource),
        }
        scheme = GrowingScheme(user_scheme)
        upstream = self._object_tracker or self._new_tracker(scheme)
        tracker = VersionedTracker(upstream, scheme, with_status, manages_fields=self._object_tracker is None)
        given = {"object": self._objects, "list": self._lists, "runtime object": self._runtime_objects}
        for option, objects in given.items():
            for obj in objects:
                scheme.register(obj)
                try:
                    tracker.add(obj)
                except Exception as err:
                    raise ValueError(f"failed to add {option} {obj!r} to fake client: {err}") from err
        mapper = self._rest_mapper or meta.new_default_rest_mapper([])
        made: client.WithWatch = FakeClient(
            tracker, user_scheme, scheme, mapper, self._indexes, self._return_managed_fields
        )
        if self._interceptor_funcs is not None:
            made = interceptor.new_client(made, self._interceptor_funcs)
        self._is_built = True
        return made

    def _new_tracker(self, scheme: GrowingScheme) -> testing.ObjectTracker:
        converter = multi_type_converter(self._type_converters or [new_type_converter()])
        decoder = new_codec_factory(scheme).universal_deserializer()
        return testing.new_field_managed_object_tracker(scheme, decoder, converter)


@methods_take_context
class FakeClient:
    """A client of the objects in a tracker. Thread-safe. Go: fakeClient."""

    def __init__(
        self,
        tracker: VersionedTracker,
        user_scheme: Scheme,
        scheme: GrowingScheme,
        rest_mapper: meta.RESTMapper,
        indexes: Mapping[GroupVersionKind, Mapping[str, client.IndexerFunc]],
        return_managed_fields: bool,
    ) -> None:
        self._tracker = tracker
        self._user_scheme = user_scheme
        self._scheme = scheme
        self._rest_mapper = rest_mapper
        self._return_managed_fields = return_managed_fields
        # Held by every write from its first read to its store, and while an index is added.
        self._lock = threading.RLock()
        self._indexes = {gvk: dict(of_kind) for gvk, of_kind in indexes.items()}

    def scheme(self) -> Scheme:
        return self._user_scheme

    def rest_mapper(self) -> meta.RESTMapper:
        return self._rest_mapper

    def group_version_kind_for(self, obj: Example) -> GroupVersionKind:
        return apiutil.gvk_for_object(obj, self._user_scheme)

    def is_object_namespaced(self, obj: Example) -> bool:
        return apiutil.is_object_namespaced(obj, self._user_scheme, self._rest_mapper)

    # --- reading ---

    def get(self, ctx: Context, key: client.ObjectKey, obj: type[T] | T, *opts: client.GetOption) -> T:
        require_object(obj)
        gvk, gvr = self._kind_and_resource(obj)
        cls = obj if isinstance(obj, type) else type(obj)
        return self._result_for(cls, gvk, self._tracker.get(gvr, key.namespace, key.name))

    def _result_for(self, cls: type[T], gvk: GroupVersionKind, stored: Any) -> T:
        """Return a stored object as an instance of `cls`, without managedFields unless the builder enabled them."""
        document = stored.to_dict()
        api_version, kind = gvk.to_api_version_and_kind()
        document.pop("apiVersion", None)
        document.pop("kind", None)
        if issubclass(cls, metav1.PartialObjectMetadata):
            document = {"metadata": document.get("metadata") or {}}
        if issubclass(cls, _WITHOUT_CLASS):
            document = {"apiVersion": api_version, "kind": kind, **document}
        found = cls.from_dict(document)
        if not self._return_managed_fields:
            found.set_managed_fields(None)
        return found

    def watch(self, ctx: Context, obj: type[L] | L, *opts: client.ListOption) -> watch.Interface:
        _, gvr = self._item_kind_and_resource(obj)
        return self._tracker.watch(gvr, client.ListOptions().apply_options(opts).namespace)

    def list(self, ctx: Context, obj: type[L] | L, *opts: client.ListOption) -> L:
        require_list(obj)
        gvk, gvr = self._item_kind_and_resource(obj)
        cls = obj if isinstance(obj, type) else type(obj)
        item_class: Any = cls.ITEM
        options = client.ListOptions().apply_options(opts)
        stored = meta.extract_list(self._tracker.list(gvr, gvk, options.namespace))
        results = [self._result_for(item_class, gvk, each) for each in stored]
        items = self._filter_list(results, gvk, options.label_selector, options.field_selector)
        document: dict[str, Any] = {}
        if issubclass(cls, _WITHOUT_CLASS):
            list_kind = apiutil.gvk_for_object(obj, self._scheme)
            document["apiVersion"], document["kind"] = list_kind.to_api_version_and_kind()
        return meta.new_list(cls, document, items)

    def _filter_list(
        self, items: Sequence[Any], gvk: GroupVersionKind, ls: labels.Selector | None, fs: fields.Selector | None
    ) -> Sequence[Any]:
        if ls is not None:
            items = [item for item in items if ls.matches(item.get_labels())]
        return items if fs is None else self._filter_with_fields(items, gvk, fs)

    def _filter_with_fields(self, items: Sequence[Any], gvk: GroupVersionKind, fs: fields.Selector) -> Sequence[Any]:
        """Return the items that match a field selector. Raises ValueError for a field without an index."""
        if not requires_exact_match(fs):
            raise ValueError(f'field selector {fs} is not in one of the two supported forms "key==val" or "key=val"')
        with self._lock:
            indexes = dict(self._indexes.get(gvk) or {})
        for requirement in fs.requirements():
            if requirement.field not in indexes:
                raise ValueError(
                    f"List on GroupVersionKind {gvk} specifies selector on field {requirement.field}, but no index "
                    f"with name {requirement.field} has been registered for GroupVersionKind {gvk}"
                )
            index = indexes[requirement.field]
            items = [item for item in items if requirement.value in checked_values(index(item) or (), index)]
        return items

    # --- writing ---

    def create(self, ctx: Context, obj: client.Object, *opts: client.CreateOption) -> None:
        require_writable(obj)
        options = client.CreateOptions().apply_options(opts)
        gvk, gvr = self._kind_and_resource(obj)
        if _is_dry_run(options.dry_run):
            return
        new = obj.deep_copy()
        check_fields(new)
        new.set_deletion_timestamp(None)
        with self._lock:
            created = self._create_under_some_name(gvr, new, options.as_create_options())
            self._copy_managed_fields(gvr, created)
        self._take_over(obj, gvk, created)

    def _create_under_some_name(
        self, gvr: GroupVersionResource, new: client.Object, options: metav1.CreateOptions
    ) -> client.Object:
        """Create the object; a generated name is retried with other suffixes."""
        base = "" if new.get_name() else new.get_generate_name()[:_MAX_GENERATED_NAME_LENGTH]
        tries = _MAX_NAME_TRIES if base else 1
        while True:
            tries -= 1
            trial = new.deep_copy()
            if base:
                trial.set_name(f"{base}{rand.string(_RANDOM_LENGTH)}")
            try:
                self._tracker.create(gvr, trial, trial.get_namespace(), options)
            except apierrors.StatusError as err:
                if not tries or not apierrors.is_already_exists(err):
                    raise
            else:
                return trial

    def delete(self, ctx: Context, obj: client.Object, *opts: client.DeleteOption) -> None:
        options = client.DeleteOptions().apply_options(opts)
        _, gvr = self._kind_and_resource(obj)
        if _is_dry_run(options.dry_run):
            return
        with self._lock:
            wanted = options.preconditions.resource_version if options.preconditions is not None else None
            if wanted is not None:
                self._check_precondition(gvr, obj, wanted)
            self._delete_object(gvr, obj)

    def _check_precondition(self, gvr: GroupVersionResource, obj: client.Object, wanted: str) -> None:
        stored = meta.accessor(self._tracker.get(gvr, obj.get_namespace(), obj.get_name()))
        actual = stored.get_resource_version()
        if actual != wanted:
            raise apierrors.new_conflict(
                gvr.group_resource(),
                obj.get_name(),
                f"the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record "
                f"({actual}). The object might have been modified",
            )

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: client.DeleteAllOfOption) -> None:
        options = client.DeleteAllOfOptions().apply_options(opts)
        gvk, gvr = self._kind_and_resource(obj)
        if _is_dry_run(options.delete_options.dry_run):
            return
        self._scheme.register_kind(gvk.group_version().with_kind(f"{gvk.kind}List"), UnstructuredList)
        selector = options.list_options.label_selector
        with self._lock:
            for each in meta.extract_list(self._tracker.list(gvr, gvk, options.list_options.namespace)):
                if selector is None or selector.matches(each.get_labels()):
                    self._delete_object(gvr, each)

    def _delete_object(self, gvr: GroupVersionResource, obj: client.Object) -> None:
        """Delete an object, or only set its deletionTimestamp if it has finalizers."""
        namespace, name = obj.get_namespace(), obj.get_name()
        stored: Any = self._tracker.get(gvr, namespace, name)
        if not stored.get_finalizers():
            self._tracker.delete(gvr, namespace, name)
            return
        stored.set_deletion_timestamp(datetime.fromtimestamp(REAL_CLOCK.now(), UTC))
        self._tracker.writing(Write(deleting=True)).update(gvr, stored, namespace)

    def update(self, ctx: Context, obj: client.Object, *opts: client.UpdateOption) -> None:
        self.update_object(obj, client.UpdateOptions().apply_options(opts), is_status=False)

    def update_object(self, obj: client.Object, options: client.UpdateOptions, *, is_status: bool) -> None:
        """Replace an object, or its status. Go: update."""
        require_writable(obj)
        gvk, gvr = self._kind_and_resource(obj)
        if _is_dry_run(options.dry_run):
            return
        check_fields(obj)
        new, namespace = obj.deep_copy(), obj.get_namespace()
        writing = self._tracker.writing(Write(is_status=is_status))
        with self._lock:
            new.set_managed_fields(self._managed_fields_of(gvr, namespace, obj.get_name()))
            writing.update(gvr, new, namespace, options.as_update_options())
            assert writing.written is not None
            self._copy_managed_fields(gvr, writing.written)
        self._take_over(obj, gvk, writing.written)

    def _copy_managed_fields(self, gvr: GroupVersionResource, written: client.Object) -> None:
        """Copy the managedFields that the tracker computed into the written object."""
        if self._return_managed_fields and (
            found := self._managed_fields_of(gvr, written.get_namespace(), written.get_name())
        ):
            written.set_managed_fields(found)

    def _managed_fields_of(self, gvr: GroupVersionResource, namespace: str, name: str) -> Sequence[Any]:
        """Return the managedFields of the stored object, which an update keeps."""
        try:
            return meta.accessor(self._tracker.get(gvr, namespace, name)).get_managed_fields()
        except apierrors.StatusError:
            return ()  # The update will raise the error.

    def patch(self, ctx: Context, obj: client.Object, patch: client.Patch, *opts: client.PatchOption) -> None:
        self.patch_object(obj, patch, client.PatchOptions().apply_options(opts), is_status=False)

    def apply(self, ctx: Context, obj: client.ApplyConfiguration, *opts: client.ApplyOption) -> None:
        options = client.PatchOptions(raw=client.ApplyOptions().apply_options(opts).as_patch_options())
        require_writable(obj)
        gvk, applied = self.apply_object(obj, options, is_status=False)
        self._take_over(obj, gvk, applied)

    def apply_object(
        self, body: client.ApplyConfiguration, options: client.PatchOptions, *, is_status: bool
    ) -> tuple[GroupVersionKind, Unstructured]:
        """Apply a configuration, or only its status. Returns the kind and the resulting object."""
        document = body.to_dict()
        gvk = apiutil.gvk_for_object(body, self._scheme_that_knows(body))
        document["apiVersion"], document["kind"] = gvk.to_api_version_and_kind()
        configuration = Unstructured(document)
        self.patch_object(configuration, client.APPLY, options, is_status=is_status)
        return gvk, configuration

    def patch_object(
        self, obj: client.Object, patch: client.Patch, options: client.PatchOptions, *, is_status: bool
    ) -> None:
        """Patch an object, or only its status. Go: patch."""
        require_writable(obj)
        gvk, gvr = self._kind_and_resource(obj)
        sent = options.as_patch_options()
        if errors := validate_patch_options(sent, patch.type()):
            raise apierrors.new_invalid(GroupKind("meta.k8s.io", "PatchOptions"), "", errors)
        if _is_dry_run(sent.dry_run):
            return
        is_apply = patch.type() == PatchType.APPLY
        with self._lock:
            old = self._get_or_none(gvr, obj, is_apply)
            data = patch.data(_as_applied(obj, old) if is_apply else obj)
            action = testing.new_patch_action_with_options(
                gvr, obj.get_namespace(), obj.get_name(), PatchType(patch.type()), data, sent
            )
            if not is_apply:
                self._check_patch(action, old)
            writing = self._tracker.writing(Write(is_status=is_status, any_version=True))
            try:
                _, result = testing.object_reaction(writing)(action)
            except apierrors.StatusError as err:
                if not is_apply or not _was_deleted_by(err, old, obj):
                    raise
                result = _as_applied(obj, old)
            patched = result if is_apply else writing.written
            assert isinstance(patched, client.Object)
            self._copy_managed_fields(gvr, patched)
        original_gvk = obj.group_version_kind()
        self._take_over(obj, gvk, patched)
        if is_apply and not original_gvk.empty():
            obj.set_group_version_kind(original_gvk)  # An apply configuration keeps its kind.

    def _get_or_none(self, gvr: GroupVersionResource, obj: client.Object, is_apply: bool) -> Any:
        try:
            return self._tracker.get(gvr, obj.get_namespace(), obj.get_name())
        except apierrors.StatusError as err:
            if not apierrors.is_not_found(err) or not is_apply:
                raise
            return None

    def _check_patch(self, action: testing.Action, old: client.Object) -> None:
        """Apply the patch to a copy. Raises StatusError if it changes the deletionTimestamp."""
        _, patched = testing.object_reaction(cast(testing.ObjectTracker, _DryTracker(self._tracker)))(action)
        if not deletion_timestamp_equal(patched, old):
            raise ValueError("rejected patch, metadata.deletionTimestamp immutable")

    def _take_over(self, obj: client.Object, gvk: GroupVersionKind, stored: Any) -> None:
        """Copy the stored object into the caller's. As in Go, a typed object carries no kind afterwards."""
        self._scheme.convert(self._result_for(type(obj), gvk, stored), obj)

    # --- subresources ---

    def status(self) -> client.SubResourceClient:
        return self.sub_resource("status")

    def sub_resource(self, sub_resource: str) -> client.SubResourceClient:
        return _FakeSubResourceClient(self, sub_resource)

    # --- kinds ---

    def add_index(self, obj: Example, field: str, extract_value: client.IndexerFunc) -> None:
        """See add_index."""
        gvk = apiutil.gvk_for_object(obj, self._user_scheme)
        with self._lock:
            of_kind = self._indexes.setdefault(gvk, {})
            if field in of_kind:
                raise ValueError(f"index {field} already exists")
            of_kind[field] = extract_value

    def _scheme_that_knows(self, obj: Example) -> Scheme:
        self._scheme.register(obj)
        return self._scheme

    def _kind_and_resource(self, obj: Example) -> tuple[GroupVersionKind, GroupVersionResource]:
        """Return the kind, and the resource name derived from it."""
        gvk = apiutil.gvk_for_object(obj, self._scheme_that_knows(obj))
        gvr, _ = meta.unsafe_guess_kind_to_resource(gvk)
        return gvk, gvr

    def _item_kind_and_resource(self, obj: Example) -> tuple[GroupVersionKind, GroupVersionResource]:
        """Return the kind and the resource of a list's items."""
        list_kind = apiutil.gvk_for_object(obj, self._scheme_that_knows(obj))
        gvk = list_kind.group_version().with_kind(list_kind.kind.removesuffix("List"))
        self._scheme.register_kind(gvk, Unstructured)
        self._scheme.register_kind(gvk.group_version().with_kind(f"{gvk.kind}List"), UnstructuredList)
        gvr, _ = meta.unsafe_guess_kind_to_resource(gvk)
        return gvk, gvr

    def __repr__(self) -> str:
        return f"<FakeClient over {self._tracker!r}>"


class _DryTracker:
    """A tracker for a dry run of a patch; it stores nothing."""

    def __init__(self, tracker: VersionedTracker) -> None:
        self._tracker = tracker

    def get(
        self, gvr: GroupVersionResource, ns: str, name: str, opts: metav1.GetOptions | None = None
    ) -> RuntimeObject:
        return self._tracker.get(gvr, ns, name, opts)

    def patch(
        self, gvr: GroupVersionResource, patched_object: RuntimeObject, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None: ...


def _is_dry_run(dry_run: Sequence[str] | None) -> bool:
    return metav1.DRY_RUN_ALL in (dry_run or ())


def _as_applied(obj: client.Object, old: Any) -> client.Object:
    """Return the object that an apply sends. Its version is ignored on creation, its deletionTimestamp always."""
    applied = obj.deep_copy()
    if old is None:
        applied.set_resource_version("1")
    else:
        applied.set_deletion_timestamp(old.get_deletion_timestamp())
    return applied


def _was_deleted_by(err: apierrors.StatusError, old: Any, obj: client.Object) -> bool:
    """Report whether an apply has removed the last finalizer, so that the object no longer exists."""
    deleted = old is not None and old.get_deletion_timestamp() is not None
    return apierrors.is_not_found(err) and deleted and not obj.get_finalizers()


@methods_take_context
class _FakeSubResourceClient:
    """A client of one subresource. Go: fakeSubResourceClient."""

    def __init__(self, fake_client: FakeClient, sub_resource: str) -> None:
        self._client = fake_client
        self._sub_resource = sub_resource

    def get(self, ctx: Context, obj: client.Object, sub_resource: type[T] | T, *opts: client.SubResourceGetOption) -> T:
        if self._sub_resource != "scale":
            raise ValueError(f"fakeSubResourceClient does not support get for {self._sub_resource}")
        found = self._client.get(ctx, client.object_key_from_object(obj), obj)
        cls = sub_resource if isinstance(sub_resource, type) else type(sub_resource)
        if not issubclass(cls, autoscalingv1.Scale):
            raise apierrors.new_bad_request(f"expected Scale, got {cls.__name__}")
        return cls.from_dict(_extract_scale(found).to_dict())

    def create(
        self, ctx: Context, obj: client.Object, sub_resource: client.Object, *opts: client.SubResourceCreateOption
    ) -> None:
        match self._sub_resource:
            case "eviction":
                self._evict(ctx, obj, sub_resource)
            case "token":
                self._create_token(ctx, obj, sub_resource)
            case name:
                raise ValueError(f"fakeSubResourceWriter does not support create for {name}")

    def _evict(self, ctx: Context, obj: client.Object, eviction: client.Object) -> None:
        if not isinstance(eviction, (policyv1.Eviction, policyv1beta1.Eviction)):
            raise apierrors.new_bad_request(f"got invalid type {type(eviction).__name__}, expected Eviction")
        if not isinstance(obj, corev1.Pod):
            raise apierrors.new_not_found(GroupResource("", ""), "")
        self._client.delete(ctx, obj)

    def _create_token(self, ctx: Context, obj: client.Object, token_request: client.Object) -> None:
        if not isinstance(token_request, authenticationv1.TokenRequest):
            raise apierrors.new_bad_request(f"got invalid type {type(token_request).__name__}, expected TokenRequest")
        require_writable(token_request)
        if not isinstance(obj, corev1.ServiceAccount):
            raise apierrors.new_not_found(GroupResource("", ""), "")
        self._client.get(ctx, client.object_key_from_object(obj), obj)
        token_request.status = authenticationv1.TokenRequestStatus(
            token="fake-token", expiration_timestamp=datetime(6041, 1, 1, tzinfo=UTC)
        )

    def update(self, ctx: Context, obj: client.Object, *opts: client.SubResourceUpdateOption) -> None:
        options = client.SubResourceUpdateOptions().apply_options(opts)
        body = options.sub_resource_body
        if self._sub_resource != "scale":
            self._client.update_object(obj if body is None else body, options, is_status=True)
            return
        require_writable(obj)
        self._client.get(ctx, client.object_key_from_object(obj), obj)
        if body is None:
            raise apierrors.new_bad_request("missing SubResourceBody")
        if not isinstance(body, autoscalingv1.Scale):
            raise apierrors.new_bad_request(f"expected Scale, got {type(body).__name__}")
        scaled = copy.copy(obj)
        _scalable(scaled).spec.replicas = body.spec.replicas
        self._client.update_object(scaled, options, is_status=False)
        self._client.scheme().convert(scaled, obj)

    def patch(
        self, ctx: Context, obj: client.Object, patch: client.Patch, *opts: client.SubResourcePatchOption
    ) -> None:
        options = client.SubResourcePatchOptions().apply_options(opts)
        body = obj if options.sub_resource_body is None else options.sub_resource_body
        self._client.patch_object(body, patch, options, is_status=self._sub_resource == "status")

    def apply(self, ctx: Context, obj: client.ApplyConfiguration, *opts: client.SubResourceApplyOption) -> None:
        if self._sub_resource != "status":
            raise ValueError("fakeSubResourceClient currently only supports Apply for status subresource")
        options = client.SubResourceApplyOptions().apply_opts(opts)
        body = obj if options.sub_resource_body is None else options.sub_resource_body
        sent = client.PatchOptions(raw=options.as_patch_options())
        # As in Go, and unlike a real client, the configuration keeps its content.
        self._client.apply_object(body, sent, is_status=True)


def _scalable(obj: client.Object) -> Any:
    """Return the object if it has a scale. Custom resources have none here, even if their CRD declares one."""
    if not isinstance(obj, (appsv1.Deployment, appsv1.ReplicaSet, appsv1.StatefulSet, corev1.ReplicationController)):
        raise ValueError(f"unimplemented scale subresource for resource {type(obj).__name__}")
    return obj


def _extract_scale(obj: client.Object) -> autoscalingv1.Scale:
    scalable = _scalable(obj)
    selector = scalable.spec.selector
    if isinstance(obj, corev1.ReplicationController):
        text = str(labels.Set(selector))
    else:
        text = metav1.format_label_selector(selector) if selector is not None else ""
    metadata = metav1.ObjectMeta(
        namespace=obj.get_namespace(),
        name=obj.get_name(),
        uid=obj.get_uid(),
        resource_version=obj.get_resource_version(),
        creation_timestamp=obj.get_creation_timestamp(),
    )
    replicas = 1 if scalable.spec.replicas is None else scalable.spec.replicas
    return autoscalingv1.Scale(
        metadata=metadata,
        spec=autoscalingv1.ScaleSpec(replicas=replicas),
        status=autoscalingv1.ScaleStatus(replicas=scalable.status.replicas, selector=text),
    )


def _in_tree_resources_with_status() -> list[GroupVersionKind]:
    """Return the built-in kinds with a status subresource, as Go's fake lists them."""
    kinds = {
        ("", "v1"): "Namespace Node PersistentVolumeClaim PersistentVolume Pod ReplicationController Service",
        ("apps", "v1"): "Deployment DaemonSet ReplicaSet StatefulSet",
        ("autoscaling", "v1"): "HorizontalPodAutoscaler",
        ("batch", "v1"): "CronJob Job",
        ("certificates.k8s.io", "v1"): "CertificateSigningRequest",
        ("networking.k8s.io", "v1"): "Ingress NetworkPolicy",
        ("policy", "v1"): "PodDisruptionBudget",
        ("storage.k8s.io", "v1"): "VolumeAttachment",
        ("apiextensions.k8s.io", "v1"): "CustomResourceDefinition",
        ("flowcontrol.apiserver.k8s.io", "v1beta2"): "FlowSchema PriorityLevelConfiguration",
        ("flowcontrol.apiserver.k8s.io", "v1"): "FlowSchema PriorityLevelConfiguration",
    }
    return [
        GroupVersionKind(group, version, kind) for (group, version), names in kinds.items() for kind in names.split()
    ]


def add_index(c: client.Client, obj: Example, field: str, extract_value: Callable[[Any], Sequence[str]]) -> None:
    """Add an index to a fake client, as a program adds one to its cache. Go: fake.AddIndex.

    Raises TypeError for any other client, ValueError for a duplicate index.
    """
    if not isinstance(c, FakeClient):
        raise TypeError("add_index can only be used with a fake client")
    c.add_index(obj, field, extract_value)
