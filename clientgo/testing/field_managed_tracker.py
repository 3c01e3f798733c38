"""An object tracker with field ownership. Mirrors managedFieldObjectTracker of testing/fixture.go.

It is a separate module, since it only uses the interface ObjectTracker of the tracker that it wraps.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.converter import drop_empty_values
from clientgo.apimachinery.runtime.error import new_not_registered_err_for_kind, new_not_registered_err_for_target
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util import managedfields
from clientgo.apimachinery.util.managedfields import TypeConverter
from clientgo.utils.clock import REAL_CLOCK

if TYPE_CHECKING:
    from clientgo.testing.fixture import ObjectTracker

__all__ = ["FieldManagedObjectTracker", "kind_of_resource"]

T = TypeVar("T", Object, Object | None)

# The owner of fields that a write without a field manager sets.
_UNKNOWN_MANAGER = "unknown"


class FieldManagedObjectTracker:
    """A tracker that maintains metadata.managedFields and implements server-side apply."""

    def __init__(self, tracker: ObjectTracker, scheme: Scheme, type_converter: TypeConverter) -> None:
        self._tracker = tracker
        self._scheme = scheme
        self._type_converter = type_converter
        self.add = tracker.add
        self.get = tracker.get
        self.list = tracker.list
        self.delete = tracker.delete
        self.watch = tracker.watch

    def create(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.CreateOptions | None = None) -> None:
        gvk = kind_of_resource(self._scheme, gvr)
        obj = obj.deep_copy()
        obj.set_group_version_kind(gvk)
        live = self._get_or_none(gvr, ns, meta.accessor(obj).get_name())
        manager = opts.field_manager if opts is not None else ""
        self._tracker.create(gvr, self._updated(gvk, live, obj, manager), ns, opts)

    def update(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.UpdateOptions | None = None) -> None:
        gvk = kind_of_resource(self._scheme, gvr)
        live = self._tracker.get(gvr, ns, meta.accessor(obj).get_name())
        manager = opts.field_manager if opts is not None else ""
        self._tracker.update(gvr, self._updated(gvk, live, obj, manager), ns, opts)

    def patch(
        self, gvr: GroupVersionResource, patched_object: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        gvk = kind_of_resource(self._scheme, gvr)
        live = self._tracker.get(gvr, ns, meta.accessor(patched_object).get_name())
        self._require_kind_of(live, patched_object, gvk)
        manager = opts.field_manager if opts is not None else ""
        self._tracker.patch(gvr, self._updated(gvk, live, patched_object, manager), ns, opts)

    def apply(
        self, gvr: GroupVersionResource, apply_configuration: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        gvk = kind_of_resource(self._scheme, gvr)
        options = opts if opts is not None else metav1.PatchOptions()
        live = self._get_or_none(gvr, ns, meta.accessor(apply_configuration).get_name())
        merged = self._applied(gvk, live, apply_configuration, options)
        if live is None:
            self._tracker.create(gvr, merged, ns, metav1.CreateOptions(field_manager=options.field_manager))
        else:
            self._tracker.update(gvr, merged, ns, metav1.UpdateOptions(field_manager=options.field_manager))

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Return True, so that reflectors list before they watch."""
        return True

    def _get_or_none(self, gvr: GroupVersionResource, ns: str, name: str) -> Object | None:
        try:
            return self._tracker.get(gvr, ns, name)
        except apierrors.StatusError as err:
            if not apierrors.is_not_found(err):
                raise
            return None

    def _require_kind_of(self, live: Object, patched: Object, gvk: GroupVersionKind) -> None:
        """Raise ValueError for a patched object of another kind, which Go cannot convert to the resource's version."""
        kind = _own_kind(patched)
        if kind == _own_kind(live):
            return
        version = gvk.group_version()
        cause = new_not_registered_err_for_kind(self._scheme.name(), kind)
        if kind.group_version() != version and self._scheme.recognizes(kind):
            cause = new_not_registered_err_for_target(self._scheme.name(), self._scheme.class_for(kind), version)
        accessor = meta.accessor(patched)
        shown = f"{accessor.get_namespace()}/{accessor.get_name()}; {kind}"
        raise ValueError(f"failed to convert new object ({shown}) to proper version ({version}): {cause}")

    def _updated(self, gvk: GroupVersionKind, live: Object | None, obj: Object, manager: str) -> Object:
        """Return `obj` with the fields that differ from `live` owned by `manager`.

        An object with a uid but without managedFields gets none: ownership starts with its first apply.
        """
        old, old_managed = _without_managed_fields(_as_struct(live))
        new, new_managed = _without_managed_fields(obj)
        written, _ = _without_managed_fields(_as_struct(obj))
        entries = managedfields.live_or_new(new_managed, old_managed)
        if not managedfields.Managers(entries).sets and live is not None and meta.accessor(live).get_uid():
            return _with_managed_fields(type(obj), new, [])
        api_version, _ = gvk.to_api_version_and_kind()
        node, writer = self._type_converter(gvk), managedfields.Writer(manager or _UNKNOWN_MANAGER, api_version)
        managed = managedfields.updated(node, old, written, entries, writer, _now())
        return _with_managed_fields(type(obj), new, managed)

    def _applied(
        self, gvk: GroupVersionKind, live: Object | None, configuration: Object, options: metav1.PatchOptions
    ) -> Object:
        """Return `live` with the configuration applied. Raises StatusError (Conflict) for a conflict without force."""
        old, old_managed = _without_managed_fields(_as_struct(live))
        config, config_managed = _without_managed_fields(configuration)
        if config_managed is not None:
            raise apierrors.new_bad_request("metadata.managedFields must be nil")
        api_version, _ = gvk.to_api_version_and_kind()
        node = self._type_converter(gvk)
        if wrong := managedfields.problems(node, config):
            text = wrong[0] if len(wrong) == 1 else "\n  ".join(["errors:", *wrong])
            name = "/".join(str((config.get("metadata") or {}).get(key) or "") for key in ("namespace", "name"))
            kind = f"{api_version}, Kind={gvk.kind}" if gvk.group else f"/{api_version}, Kind={gvk.kind}"
            raise ValueError(f"failed to create typed patch object ({name}; {kind}): {text}")
        writer = managedfields.Writer(options.field_manager or _UNKNOWN_MANAGER, api_version)
        force = bool(options.force)
        try:
            merged, managed = managedfields.applied(
                node, old, config, old_managed, writer, _now(), force=force, created=live is None
            )
        except managedfields.ConflictError as err:
            causes = [
                metav1.StatusCause(type=metav1.CauseType.FIELD_MANAGER_CONFLICT, message=text, field=path)
                for path, text in err.causes
            ]
            raise apierrors.new_apply_conflict(causes, str(err)) from err
        return _as_struct(_with_managed_fields(type(live or self._scheme.new(gvk)), merged, managed))

    def __repr__(self) -> str:
        return f"<field-managed {self._tracker!r}>"


def kind_of_resource(scheme: Scheme, gvr: GroupVersionResource) -> GroupVersionKind:
    """Return the kind of a resource, derived from the names of the scheme's kinds. Raises NoResourceMatchError.

    Searches the scheme at each call, since it may have new kinds.
    """
    mapper = meta.new_default_rest_mapper([gvr.group_version()])
    for kind in scheme.known_types(gvr.group_version()):
        mapper.add(gvr.group_version().with_kind(kind), meta.REST_SCOPE_NAMESPACE)
    return mapper.kind_for(gvr)


def _own_kind(obj: Object) -> GroupVersionKind:
    """Return the kind of the object's class, or the kind that an object without a class states."""
    kind = type(obj).GROUP_VERSION_KIND
    return obj.group_version_kind() if kind is None or isinstance(obj, metav1.PartialObjectMetadata) else kind


def _as_struct(obj: T) -> T:
    """Return a copy of an object without the empty values that a Go struct does not write: they have no owner."""
    if obj is None or isinstance(obj, Unstructured):
        return obj
    copied = obj.deep_copy()
    drop_empty_values(copied)
    return copied


def _without_managed_fields(obj: Object | None) -> tuple[dict[str, Any], Any]:
    """Return the document without managedFields, and its managedFields."""
    if obj is None:
        return {}, None
    document = obj.to_dict()
    managed = (document.get("metadata") or {}).pop("managedFields", None)
    return document, managed


def _with_managed_fields(cls: type[Object], document: dict[str, Any], managed: list[dict[str, Any]]) -> Object:
    if document.get("metadata") is None:
        document["metadata"] = {}
    if managed:
        document["metadata"]["managedFields"] = managed
    return cls.from_dict(document)


def _now() -> str:
    return datetime.fromtimestamp(int(REAL_CLOCK.now()), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
