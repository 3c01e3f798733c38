"""An object tracker, which replaces the server for fake clients. Mirrors testing/fixture.go.

Differences from Go: Variadic arguments are optional arguments here. A watch buffers any number of events; Go panics at
the 101st unread one. A tracker with `history=True` keeps an event log for each resource, like a server: objects have
the resourceVersion of their last change, a deletion has one too, and a watch from a resourceVersion receives exactly
the events after it. Without history, as in Go, a watch from a version receives the objects that changed since as ADDED
events, without the deletions in between.
"""

from __future__ import annotations

import json
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.converter import (
    check_fields,
    decode_as_go,
    decode_written_as_go,
    drop_zero_values,
    to_go_document,
)
from clientgo.apimachinery.runtime.error import new_missing_kind_err
from clientgo.apimachinery.runtime.interfaces import API_VERSION_INTERNAL, Decoder, ObjectCreater, ObjectTyper
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource, parse_group_version
from clientgo.apimachinery.types import NamespacedName, PatchType
from clientgo.apimachinery.util import jsonmergepatch, jsonpatch, strategicpatch, yaml
from clientgo.apimachinery.util.json import marshal, unmarshal, unmarshal_literals
from clientgo.apimachinery.util.managedfields import TypeConverter
from clientgo.apimachinery.util.mergepatch import ErrBadJSONDoc
from clientgo.apimachinery.watch import RaceFreeFakeWatcher
from clientgo.applyconfigurations import new_type_converter
from clientgo.golang.json import UnmarshalTypeError, syntax_error, without_literals
from clientgo.golang.strconv import parse_int
from clientgo.testing import actions
from clientgo.testing.actions import Action
from clientgo.testing.field_managed_tracker import FieldManagedObjectTracker

if TYPE_CHECKING:
    from clientgo import rest
    from clientgo.testing.fake import ProxyReactionFunc, ReactionFunc, WatchReactionFunc

T = TypeVar("T", bound=Object)

__all__ = [
    "ObjectScheme",
    "ObjectTracker",
    "SimpleProxyReactor",
    "SimpleReactor",
    "SimpleWatchReactor",
    "TypeConverter",
    "default_watch_reactor",
    "new_field_managed_object_tracker",
    "new_object_tracker",
    "object_reaction",
]


class ObjectTracker(Protocol):
    """A store of objects by resource, namespace and name, with watches. Thread-safe. Go: testing.ObjectTracker.

    It copies objects on input and output. It raises StatusErrors like a server. It has no defaulting, validation or
    conversion.
    """

    def add(self, obj: Object) -> None:
        """Add an object, or each item of a list, under the resource derived from its kind."""
        ...

    def get(self, gvr: GroupVersionResource, ns: str, name: str, opts: metav1.GetOptions | None = None) -> Object:
        """Return the object with this name and exactly this namespace. Raises NotFound."""
        ...

    def create(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.CreateOptions | None = None) -> None:
        """Add a new object. Raises AlreadyExists, and BadRequest if its namespace differs from `ns`."""
        ...

    def update(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.UpdateOptions | None = None) -> None:
        """Replace an object without comparing its resourceVersion. Raises NotFound."""
        ...

    def patch(
        self, gvr: GroupVersionResource, patched_object: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        """Replace an object by its patched form. Raises NotFound."""
        ...

    def apply(
        self, gvr: GroupVersionResource, apply_configuration: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        """Merge a configuration into an object. Field ownership depends on the tracker."""
        ...

    def list(
        self, gvr: GroupVersionResource, gvk: GroupVersionKind, ns: str, opts: metav1.ListOptions | None = None
    ) -> Object:
        """Return the objects of a namespace, or of all for "", as a list of kind `gvk`List. Ignores selectors."""
        ...

    def delete(self, gvr: GroupVersionResource, ns: str, name: str, opts: metav1.DeleteOptions | None = None) -> None:
        """Remove an object. Raises NotFound. Ignores finalizers."""
        ...

    def watch(self, gvr: GroupVersionResource, ns: str, opts: metav1.ListOptions | None = None) -> watch.Interface:
        """Watch a namespace, or all for "", from now on, or from the resourceVersion in `opts`."""
        ...


class ObjectScheme(ObjectCreater, ObjectTyper, Protocol):
    """The parts of a Scheme that a tracker needs. Go: testing.ObjectScheme."""


def object_reaction(tracker: ObjectTracker) -> ReactionFunc:
    """Return a reaction that serves get, list, create, update, delete and all patches from `tracker`.

    It treats subresources as the object itself. With a field-managed tracker, an apply respects field ownership.
    Go: ObjectReaction.
    """
    reactor = _ObjectTrackerReact(tracker)
    handlers: dict[type[Any], Callable[[Any], Object | None]] = {
        actions.ListActionImpl: reactor.list,
        actions.GetActionImpl: reactor.get,
        actions.CreateActionImpl: reactor.create,
        actions.UpdateActionImpl: reactor.update,
        actions.DeleteActionImpl: reactor.delete,
        actions.PatchActionImpl: reactor.patch_or_apply,
    }

    def react(action: Action) -> tuple[bool, Object | None]:
        handler = handlers.get(type(action))
        if handler is None:
            return False, None
        return True, handler(action)

    return react


class _ObjectTrackerReact:
    """A reaction that calls a tracker."""

    def __init__(self, tracker: ObjectTracker) -> None:
        self._tracker = tracker

    def list(self, action: actions.ListActionImpl) -> Object:
        return self._tracker.list(action.resource, action.kind, action.namespace, action.list_options)

    def get(self, action: actions.GetActionImpl) -> Object:
        return self._tracker.get(action.resource, action.namespace, action.name, action.get_options)

    def create(self, action: actions.CreateActionImpl) -> Object:
        obj, gvr, ns = action.object, action.resource, action.namespace
        name = meta.accessor(obj).get_name()
        if not action.subresource:
            self._tracker.create(gvr, obj, ns, action.create_options)
        elif type(self._tracker.get(gvr, ns, name)) is type(obj):
            options = metav1.UpdateOptions(
                dry_run=action.create_options.dry_run,
                field_manager=action.create_options.field_manager,
                field_validation=action.create_options.field_validation,
            )
            self._tracker.update(gvr, obj, ns, options)
        else:
            # An Eviction or a Binding is not a new state of the pod: return it and keep the pod.
            return _as_object(obj)
        return self._tracker.get(gvr, ns, name)

    def update(self, action: actions.UpdateActionImpl) -> Object:
        name = meta.accessor(action.object).get_name()
        self._tracker.update(action.resource, action.object, action.namespace, action.update_options)
        return self._tracker.get(action.resource, action.namespace, name)

    def delete(self, action: actions.DeleteActionImpl) -> None:
        self._tracker.delete(action.resource, action.namespace, action.name, action.delete_options)

    def patch_or_apply(self, action: actions.PatchActionImpl) -> Object:
        return self.apply(action) if action.patch_type == PatchType.APPLY else self.patch(action)

    def apply(self, action: actions.PatchActionImpl) -> Object:
        configuration = _configuration(action.patch)
        configuration.set_name(action.name)
        self._tracker.apply(action.resource, configuration, action.namespace, action.patch_options)
        return self._tracker.get(action.resource, action.namespace, action.name)

    def patch(self, action: actions.PatchActionImpl) -> Object:
        obj = self._tracker.get(action.resource, action.namespace, action.name)
        patched = _patched(obj, action.patch_type, action.patch)
        self._tracker.patch(action.resource, patched, action.namespace, action.patch_options)
        return patched


def _as_object(obj: Any) -> Object:
    assert isinstance(obj, Object)
    return obj


def _configuration(patch: bytes) -> Unstructured:
    """Return an apply patch as an object. Raises ValueError if it is not a YAML mapping."""
    document = yaml.unmarshal(patch)
    if document is None:
        document = {}
    if not isinstance(document, dict):
        err = UnmarshalTypeError(document, "map[string]interface {}")
        raise ValueError(f"error unmarshaling JSON: while decoding JSON: {err}")
    _check_type_and_metadata(document)
    return Unstructured.from_dict(document)


def _check_type_and_metadata(document: dict[str, Any]) -> None:
    """Raise UnmarshalTypeError for an object without a class whose kind or metadata has the wrong type."""
    for key in ("apiVersion", "kind"):
        name = document.get(key)
        if name is not None and not isinstance(name, str):
            raise UnmarshalTypeError(name, "string", "Unstructured", key)
    metadata = document.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise UnmarshalTypeError(metadata, "v1.ObjectMeta", "Unstructured", "metadata")


def _patched(obj: Object, patch_type: PatchType, patch: bytes) -> Object:
    """Return a new object of the same class, decoded as Go decodes it.

    Go patches what it encodes, which has more fields than the object's document: `status: {}`, `containers: null`.
    They decide whether a patch applies, and how it merges. Raises ValueError if the patch is malformed, does not apply,
    or changes the object's type.
    """
    if isinstance(obj, Unstructured):
        return _patched_document(obj, obj.to_dict(), patch_type, patch)
    patched = _patched_document(obj, to_go_document(obj, nulls=True), patch_type, patch)
    drop_zero_values(patched, _written(obj, patch_type, patch))
    return patched


def _written(obj: Object, patch_type: PatchType, patch: bytes) -> Any:
    """Return a document with the fields that the object or the patch has, zero values too."""
    try:
        return _merged(obj, obj.to_dict(), patch_type, patch)
    except ValueError:  # the patch applies only to what Go encodes
        return obj.to_dict()


def _patched_document(obj: Object, document: dict[str, Any], patch_type: PatchType, patch: bytes) -> Object:
    merged = _merged(obj, document, patch_type, patch)
    if isinstance(obj, Unstructured):
        return _decoded_document(type(obj), without_literals(merged))
    if patch_type == PatchType.STRATEGIC_MERGE:
        return decode_written_as_go(type(obj), merged)
    # Of several errors Go reports one by the order of its document, and it shows numbers as they are there.
    steps = _operations(patch) if patch_type == PatchType.JSON else ()
    return decode_as_go(type(obj), jsonpatch.in_order_of_go(merged, steps))


def _merged(obj: Object, document: dict[str, Any], patch_type: PatchType, patch: bytes) -> Any:
    """Return the patched document. Its numbers from JSON and merge patches may be NumberLiterals."""
    if patch_type == PatchType.JSON:
        return jsonpatch.apply(document, _operations(patch))
    if patch_type == PatchType.MERGE:
        try:
            changes = unmarshal_literals(patch)
        except ValueError:
            raise jsonmergepatch.BadJSONPatchError from None
        return jsonmergepatch.merge_patch(document, changes)
    if patch_type == PatchType.STRATEGIC_MERGE:
        # Not the function that rejects unstructured objects at once: patches that touch no lists or maps of theirs
        # work.
        schema = strategicpatch.new_patch_meta_from_struct(type(obj))
        changes = _strategic_changes(patch)
        try:
            return strategicpatch.strategic_merge_map_patch_using_lookup_patch_meta(document, changes, schema)
        except (AttributeError, TypeError, KeyError, IndexError) as err:
            raise ValueError(f"the patch does not have the shape of {type(obj).__name__}: {err}") from err
    raise ValueError(f"PatchType {patch_type} is not supported")


def _operations(patch: bytes) -> list[Any]:
    """Return the operations of a JSON patch; null means none. Raises ValueError with Go's text for malformed ones."""
    try:
        steps = unmarshal_literals(patch)
    except json.JSONDecodeError as err:
        raise ValueError(syntax_error(err)) from None
    if steps is None:
        return []
    if not isinstance(steps, list):
        raise UnmarshalTypeError(steps, "jsonpatch.Patch")
    for step in steps:
        if step is not None and not isinstance(step, dict):
            raise UnmarshalTypeError(step, "jsonpatch.Operation")
    return steps


def _strategic_changes(patch: bytes) -> dict[str, Any]:
    try:
        changes = unmarshal(patch)
    except ValueError:
        raise ErrBadJSONDoc from None
    if changes is not None and not isinstance(changes, dict):
        raise ErrBadJSONDoc
    return changes or {}


def _decoded_document(cls: type[T], document: Any) -> T:
    """Return an object without declared fields as Go's decoder makes it. Raises ValueError with Go's text."""
    if not isinstance(document, dict):
        raise UnmarshalTypeError(document, "map[string]interface {}")
    if not document.get("kind") or not _is_group_version(document.get("apiVersion")):
        raise new_missing_kind_err(marshal(document))
    _check_type_and_metadata(document)
    return cls.from_dict(document)


def _is_group_version(api_version: Any) -> bool:
    """Report whether the text is a group version. In Go an object with another text has no kind either."""
    try:
        parse_group_version(api_version if isinstance(api_version, str) else "")
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _VersionedObject:
    """An object with the version from the tracker; without history the object itself does not contain it."""

    resource_version: int
    object: Object


# The version of an unchanged resource; 0 has a special meaning in requests.
_FIRST_VERSION = 1


@dataclass
class _Resource:
    """The state of one resource.

    Invariants: `version` is the version of the latest change; with history, `events` are sorted by version.
    """

    version: int = _FIRST_VERSION
    objects: dict[NamespacedName, _VersionedObject] = field(default_factory=dict)
    # By namespace; "" is for all.
    watchers: dict[str, list[RaceFreeFakeWatcher]] = field(default_factory=dict)
    # The event log of a tracker with history: (version, namespace, event).
    events: list[tuple[int, str, watch.Event]] = field(default_factory=list)


def _new_watcher() -> RaceFreeFakeWatcher:
    """Return a fake watch with an unbounded buffer."""
    return RaceFreeFakeWatcher(channel_size=sys.maxsize)


class _Tracker:
    def __init__(self, scheme: ObjectScheme, decoder: Decoder, history: bool) -> None:
        self._scheme = scheme
        self._decoder = decoder
        self._history = history
        # Guards all attributes below, and the order of events in watches.
        self._lock = threading.Lock()
        self._resources: dict[GroupVersionResource, _Resource] = {}

    def list(
        self, gvr: GroupVersionResource, gvk: GroupVersionKind, ns: str, opts: metav1.ListOptions | None = None
    ) -> Object:
        list_gvk = GroupVersionKind(gvk.group, gvk.version or API_VERSION_INTERNAL, gvk.kind + "List")
        result = self._scheme.new(list_gvk)
        if not meta.is_list_type(result):
            raise TypeError(f'"{list_gvk.kind}" is not a list type')
        with self._lock:
            resource = self._resources.get(gvr) or _Resource()
            meta.list_accessor(result).set_resource_version(str(resource.version))
            meta.set_list(result, [stored.object for stored in _in_namespace(resource.objects.values(), ns)])
        return result

    def watch(self, gvr: GroupVersionResource, ns: str, opts: metav1.ListOptions | None = None) -> watch.Interface:
        since = _since(opts)
        with self._lock:
            resource = self._resources.setdefault(gvr, _Resource())
            watcher = _new_watcher()
            resource.watchers.setdefault(ns, []).append(watcher)
            if since is None:
                return watcher
            if self._history and since > 0:
                self._replay(resource, since, ns, watcher)
                return watcher
            for stored in _in_namespace(resource.objects.values(), ns):
                if since < stored.resource_version:
                    watcher.add(stored.object.deep_copy())
        return watcher

    def get(self, gvr: GroupVersionResource, ns: str, name: str, opts: metav1.GetOptions | None = None) -> Object:
        with self._lock:
            resource = self._resources.get(gvr)
            stored = resource.objects.get(NamespacedName(ns, name)) if resource is not None else None
        if stored is None:
            raise apierrors.new_not_found(gvr.group_resource(), name)
        if isinstance(stored.object, metav1.Status) and stored.object.status != metav1.STATUS_SUCCESS:
            raise apierrors.StatusError(stored.object.deep_copy())
        return stored.object.deep_copy()

    def add(self, obj: Object) -> None:
        if meta.is_list_type(obj):
            for item in self._items(obj):
                self.add(item)
            return
        namespace = meta.accessor(obj).get_namespace()
        for gvk in self._kinds(obj):
            # A guess: use `create` for an object with an unusual resource name.
            gvr, _ = meta.unsafe_guess_kind_to_resource(gvk)
            if gvr.version == API_VERSION_INTERNAL:
                gvr = GroupVersionResource(gvr.group, "", gvr.resource)
            self._add(gvr, obj, namespace, replace_existing=False)

    def create(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.CreateOptions | None = None) -> None:
        self._add(gvr, obj, ns, replace_existing=False)

    def update(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.UpdateOptions | None = None) -> None:
        self._add(gvr, obj, ns, replace_existing=True)

    def patch(
        self, gvr: GroupVersionResource, patched_object: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        self._add(gvr, patched_object, ns, replace_existing=True)

    def apply(
        self, gvr: GroupVersionResource, apply_configuration: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        """Merge the configuration by a strategic merge patch without field ownership, as older fake clients did."""
        obj = self.get(gvr, ns, meta.accessor(apply_configuration).get_name())
        configuration = json.dumps(apply_configuration.to_dict()).encode()
        self._add(gvr, _patched(obj, PatchType.STRATEGIC_MERGE, configuration), ns, replace_existing=True)

    def delete(self, gvr: GroupVersionResource, ns: str, name: str, opts: metav1.DeleteOptions | None = None) -> None:
        with self._lock:
            resource = self._resources.get(gvr)
            stored = resource.objects.pop(NamespacedName(ns, name), None) if resource is not None else None
            if resource is None or stored is None:
                raise apierrors.new_not_found(gvr.group_resource(), name)
            last = stored.object
            if self._history:
                resource.version += 1
                last = _with_version(last.deep_copy(), resource.version)
            self._announce(resource, ns, watch.EventType.DELETED, last)

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Return True, so that reflectors list before they watch."""
        return True

    def _items(self, obj: Object) -> Sequence[Object]:
        if isinstance(obj, metav1.List):
            # A list of any objects: its items are raw documents with kinds.
            return [self._decoder.decode_document(item) for item in obj.to_dict().get("items") or ()]
        return meta.extract_list(obj)

    def _kinds(self, obj: Object) -> Sequence[GroupVersionKind]:
        kinds, _ = self._scheme.object_kinds(obj)
        if isinstance(obj, metav1.PartialObjectMetadata) and obj.api_version:
            return [obj.group_version_kind()]
        if not kinds:
            raise ValueError(f"no registered kinds for {obj!r}")
        return kinds

    def _add(self, gvr: GroupVersionResource, obj: Object, ns: str, *, replace_existing: bool) -> None:
        obj = obj.deep_copy()
        check_fields(obj)
        accessor = meta.accessor(obj)
        if ns and not accessor.get_namespace():
            accessor.set_namespace(ns)
        namespace, name = accessor.get_namespace(), accessor.get_name()
        if namespace != ns:
            raise apierrors.new_bad_request(
                f'request namespace does not match object namespace, request: "{ns}" object: "{namespace}"'
            )
        key = NamespacedName(namespace, name)
        with self._lock:
            resource = self._resources.setdefault(gvr, _Resource())
            exists = key in resource.objects
            if exists and not replace_existing:
                raise apierrors.new_already_exists(gvr.group_resource(), name)
            if not exists and replace_existing:
                raise apierrors.new_not_found(gvr.group_resource(), name)
            resource.version += 1
            if self._history:
                _with_version(obj, resource.version)
            resource.objects[key] = _VersionedObject(resource.version, obj)
            self._announce(resource, ns, watch.EventType.MODIFIED if exists else watch.EventType.ADDED, obj)

    def _announce(self, resource: _Resource, ns: str, event_type: str, obj: Object) -> None:
        """Log an event and send a separate copy to each matching watch."""
        if self._history:
            resource.events.append((resource.version, ns, watch.Event(event_type, obj)))
        for namespace in (ns, "") if ns else ("",):
            watchers = resource.watchers.get(namespace)
            if not watchers:
                continue
            watchers[:] = [watcher for watcher in watchers if not watcher.is_stopped()]
            for watcher in watchers:
                watcher.action(event_type, obj.deep_copy())

    def _replay(self, resource: _Resource, since: int, ns: str, watcher: RaceFreeFakeWatcher) -> None:
        first = bisect_right(resource.events, since, key=lambda logged: logged[0])
        for _, namespace, event in resource.events[first:]:
            if ns in ("", namespace):
                watcher.action(event.type, event.object.deep_copy())

    def __repr__(self) -> str:
        count = sum(len(resource.objects) for resource in list(self._resources.values()))
        return f"<ObjectTracker {count} objects of {len(self._resources)} resources>"

    def _check(self) -> None:
        with self._lock:
            for resource in self._resources.values():
                versions = [stored.resource_version for stored in resource.objects.values()]
                assert len(set(versions)) == len(versions), self
                assert all(_FIRST_VERSION < version <= resource.version for version in versions), self
                logged = [version for version, _, _ in resource.events]
                assert logged == sorted(set(logged)), self
                assert not self._history or resource.version == _FIRST_VERSION + len(logged), self


def new_object_tracker(scheme: ObjectScheme, decoder: Decoder, *, history: bool = False) -> ObjectTracker:
    """Return a tracker of objects whose kinds `scheme` has. Go: testing.NewObjectTracker.

    `decoder` decodes the raw items of lists that are added. The module's docstring explains `history`.
    """
    return _Tracker(scheme, decoder, history)


def _since(opts: metav1.ListOptions | None) -> int | None:
    """Return the version after which a watch starts; None for now, 0 for all existing objects."""
    if opts is None:
        return None
    text = opts.resource_version
    if not text:
        return 0
    try:
        return parse_int(text)
    except ValueError as err:
        raise ValueError(f'invalid ResourceVersion "{text}" in ListOptions, must be int64: {err}') from err


def _with_version(obj: Object, version: int) -> Object:
    meta.accessor(obj).set_resource_version(str(version))
    return obj


def new_field_managed_object_tracker(
    scheme: Scheme, decoder: Decoder, type_converter: TypeConverter | None = None, *, history: bool = False
) -> ObjectTracker:
    """Return a tracker with managedFields and server-side apply. Go: testing.NewFieldManagedObjectTracker.

    Without `type_converter`, built-in kinds merge by the API's schema, and other kinds by the shape of their JSON.
    """
    tracker = new_object_tracker(scheme, decoder, history=history)
    return FieldManagedObjectTracker(tracker, scheme, type_converter or new_type_converter())


def _in_namespace(stored: Iterable[_VersionedObject], ns: str) -> list[_VersionedObject]:
    """Return the objects of the namespace, or all for "", sorted by namespace and name."""
    found = []
    for versioned in stored:
        accessor = meta.accessor(versioned.object)
        if ns in ("", accessor.get_namespace()):
            found.append(((accessor.get_namespace(), accessor.get_name()), versioned))
    found.sort(key=lambda pair: pair[0])
    return [versioned for _, versioned in found]


def default_watch_reactor(
    watch_interface: watch.Interface | None, err: BaseException | None = None
) -> WatchReactionFunc:
    """Return a reaction that responds to every watch with `watch_interface` or raises `err`.

    Go: DefaultWatchReactor.
    """

    def react(action: Action) -> tuple[bool, watch.Interface | None]:
        if err is not None:
            raise err
        return True, watch_interface

    return react


@dataclass
class SimpleReactor:
    """A reaction to one verb and resource; "*" matches any. Go: testing.SimpleReactor."""

    verb: str
    resource: str
    reaction: ReactionFunc

    def handles(self, action: Action) -> bool:
        """Report whether verb and resource match."""
        return self.verb in ("*", action.get_verb()) and _resource_covers(self.resource, action)

    def react(self, action: Action) -> tuple[bool, Object | None]:
        """Return the result of the reaction."""
        return self.reaction(action)


@dataclass
class SimpleWatchReactor:
    """A reaction to watches of one resource; "*" matches any. Go: testing.SimpleWatchReactor."""

    resource: str
    reaction: WatchReactionFunc

    def handles(self, action: Action) -> bool:
        """Report whether the resource matches."""
        return _resource_covers(self.resource, action)

    def react(self, action: Action) -> tuple[bool, watch.Interface | None]:
        """Return the result of the reaction."""
        return self.reaction(action)


@dataclass
class SimpleProxyReactor:
    """A reaction to reads of one resource through the API server; "*" matches any. Go: testing.SimpleProxyReactor."""

    resource: str
    reaction: ProxyReactionFunc

    def handles(self, action: Action) -> bool:
        """Report whether the resource matches."""
        return _resource_covers(self.resource, action)

    def react(self, action: Action) -> tuple[bool, rest.ResponseWrapper | None]:
        """Return the result of the reaction."""
        return self.reaction(action)


def _resource_covers(resource: str, action: Action) -> bool:
    """Report whether a pattern such as "*", "pods" or "pods/status" matches. "pods" also matches its subresources."""
    if resource in ("*", action.get_resource().resource):
        return True
    top, slash, sub = resource.partition("/")
    return bool(slash) and top == action.get_resource().resource and sub == action.get_subresource()
