"""An object tracker that checks and increments resource versions. Mirrors pkg/client/fake/versioned_tracker.go.

Differences: Go examines the call stack to find out which operation writes; here `writing` receives it as an argument. A
failed write does not change the caller's object; Go may have overwritten its status.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from clientgo import testing
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.converter import check_fields, decode_written_as_go, to_go_document
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util.managedfields import validate_managed_fields
from clientgo.apimachinery.util.validation.field import ErrorList, new_path, required
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.object import Object as ClientObject
from clientgo.golang.strconv import parse_uint, quote

# The version of initial objects without one. The large number is easy to recognize and leaves room: lower versions
# belong to objects that the client created.
TRACKER_ADD_RESOURCE_VERSION: Final = "999"


@dataclass(frozen=True, kw_only=True)
class Write:
    """The changes that a write may make."""

    # Changes the status only.
    is_status: bool = False
    # Deletes the object, so its deletionTimestamp may change.
    deleting: bool = False
    # Uses the stored resourceVersion if the object has none, for any kind.
    any_version: bool = False


class VersionedTracker:
    """An ObjectTracker on top of another one. Writes need the client's lock; other methods are as thread-safe as
    `upstream`.

    It takes ownership of the objects that it receives. Go: versionedTracker.
    """

    def __init__(
        self,
        upstream: testing.ObjectTracker,
        scheme: Scheme,
        with_status_subresource: set[GroupVersionKind],
        manages_fields: bool = False,
    ) -> None:
        """Initialize the tracker. `manages_fields` states whether `upstream` manages fields.

        If it does, it would silently drop managedFields that it cannot read.
        """
        self._upstream = upstream
        self._manages_fields = manages_fields
        self._scheme = scheme
        self._with_status_subresource = with_status_subresource
        self.get = upstream.get
        self.list = upstream.list
        self.delete = upstream.delete
        self.watch = upstream.watch

    def add(self, obj: Object) -> None:
        """Add an object, or the items of a list.

        Sets the resourceVersion of the caller's object to 999 if it is empty, unless the object is frozen. Raises
        ValueError for an object with a deletionTimestamp but without finalizers.
        """
        if meta.is_list_type(obj):
            for item in meta.extract_list(obj):
                self.add(item)
            return
        check_fields(obj)
        accessor = meta.accessor(obj)
        if accessor.get_deletion_timestamp() is not None and not accessor.get_finalizers():
            raise ValueError(
                f"refusing to create obj {accessor.get_name()} with metadata.deletionTimestamp but no finalizers"
            )
        if not accessor.get_resource_version():
            if obj.frozen:
                obj = obj.deep_copy()
                accessor = meta.accessor(obj)
            accessor.set_resource_version(TRACKER_ADD_RESOURCE_VERSION)
        stored = as_stored(self._scheme, obj.deep_copy())
        if self._manages_fields:
            try:
                validate_managed_fields([entry.to_dict() for entry in accessor.get_managed_fields()])
            except ValueError as err:
                raise ValueError(f"invalid managedFields on {type(stored).__name__}: {err}") from err
        self._upstream.add(stored)

    def create(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.CreateOptions | None = None) -> None:
        accessor = meta.accessor(obj)
        if not accessor.get_name():
            raise _name_is_required(apiutil.gvk_for_object(obj, self._scheme))
        if accessor.get_resource_version():
            raise apierrors.new_bad_request("resourceVersion can not be set for Create requests")
        accessor.set_resource_version("1")
        self._upstream.create(gvr, as_stored(self._scheme, obj), ns, opts)

    def update(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.UpdateOptions | None = None) -> None:
        self.writing(Write()).update(gvr, obj, ns, opts)

    def patch(
        self, gvr: GroupVersionResource, patched_object: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        self.writing(Write()).patch(gvr, patched_object, ns, opts)

    def apply(
        self, gvr: GroupVersionResource, apply_configuration: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        self.writing(Write()).apply(gvr, apply_configuration, ns, opts)

    def writing(self, write: Write) -> Writing:
        """Return a tracker for one write of this kind."""
        return Writing(self, self._upstream, self._scheme, self._with_status_subresource, write)

    def __repr__(self) -> str:
        return f"<VersionedTracker over {self._upstream!r}>"


class Writing:
    """A tracker for one write. Afterwards `written` is the stored object, or the last stored one if the write deleted
    it.
    """

    def __init__(
        self,
        tracker: VersionedTracker,
        upstream: testing.ObjectTracker,
        scheme: Scheme,
        with_status_subresource: set[GroupVersionKind],
        write: Write,
    ) -> None:
        self._tracker = tracker
        self._upstream = upstream
        self._scheme = scheme
        self._with_status_subresource = with_status_subresource
        self._write = write
        self.written: ClientObject | None = None
        self.add = tracker.add
        self.get = tracker.get
        self.list = tracker.list
        self.create = tracker.create
        self.delete = tracker.delete

    def watch(self, gvr: GroupVersionResource, ns: str, opts: metav1.ListOptions | None = None) -> watch.Interface:
        return self._tracker.watch(gvr, ns, opts)

    def update(self, gvr: GroupVersionResource, obj: Object, ns: str, opts: metav1.UpdateOptions | None = None) -> None:
        options = opts or metav1.UpdateOptions()
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        new, needs_create = self._update_object(gvr, gvk, obj, ns, allows_create_on_update(gvk))
        if needs_create:
            self._create(gvr, new, ns, options.field_manager)
        elif new is not None:
            if isinstance(new, Unstructured):
                new.set_group_version_kind(gvk)
            self._upstream.update(gvr, new, ns, options)

    def patch(
        self, gvr: GroupVersionResource, patched_object: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        options = opts or metav1.PatchOptions()
        gvk = apiutil.gvk_for_object(patched_object, self._scheme)
        new, needs_create = self._update_object(gvr, gvk, patched_object, ns, allows_create_on_update(gvk))
        if needs_create:
            self._create(gvr, new, ns, options.field_manager)
        elif new is not None:
            self._upstream.patch(gvr, new, ns, options)

    def apply(
        self, gvr: GroupVersionResource, apply_configuration: Object, ns: str, opts: metav1.PatchOptions | None = None
    ) -> None:
        gvk = apiutil.gvk_for_object(apply_configuration, self._scheme)
        new, needs_create = self._update_object(gvr, gvk, apply_configuration, ns, True)
        if new is None:
            return
        if needs_create:
            self._check_created_by_apply(gvr, gvk, new)
        elif not isinstance(new, Unstructured):
            # As in Go the configuration has been a struct: it omits false and 0 in optional fields and has null in
            # required ones.
            new = type(new).from_dict(to_go_document(new))
            new.set_group_version_kind(gvk)
        if self._write.is_status:
            # The object comes from the tracker, which may omit its kind.
            new.set_group_version_kind(gvk)
        self._upstream.apply(gvr, new, ns, opts)

    def _create(self, gvr: GroupVersionResource, obj: ClientObject | None, ns: str, field_manager: str) -> None:
        assert obj is not None
        self._tracker.create(gvr, obj, ns, metav1.CreateOptions(field_manager=field_manager))
        self.written = obj

    def _check_created_by_apply(self, gvr: GroupVersionResource, gvk: GroupVersionKind, obj: ClientObject) -> None:
        if uid := obj.get_uid():
            text = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise apierrors.new_conflict(gvr.group_resource(), obj.get_name(), text)
        if gvk in self._with_status_subresource and isinstance(obj, Unstructured):
            obj.object.pop("status", None)

    def _update_object(
        self, gvr: GroupVersionResource, gvk: GroupVersionKind, obj: Object, ns: str, allow_create_on_update: bool
    ) -> tuple[ClientObject | None, bool]:
        """Return the object to store and whether it is new, or None if the write deleted it. Go: updateObject."""
        assert isinstance(obj, ClientObject)
        name = obj.get_name()
        if not name:
            raise _name_is_required(gvk)
        try:
            old: Any = self._tracker.get(gvr, ns, name)
        except apierrors.StatusError as err:
            if apierrors.is_not_found(err) and allow_create_on_update:
                return obj, True
            raise
        new = self._restore_protected_fields(gvr, gvk, obj, old)
        self._check_version(gvr, gvk, new, old)
        if not self._write.deleting and not deletion_timestamp_equal(new, old):
            raise ValueError(f"error: Unable to edit {name}: metadata.deletionTimestamp field is immutable")
        self.written = new
        if new.get_deletion_timestamp() is not None and not new.get_finalizers():
            self._tracker.delete(gvr, new.get_namespace(), name)
            return None, False
        self.written = as_stored(self._scheme, new)
        return self.written, False

    def _restore_protected_fields(
        self, gvr: GroupVersionResource, gvk: GroupVersionKind, obj: ClientObject, old: ClientObject
    ) -> ClientObject:
        """Return the object without the changes that this write may not make: to the status, or to everything else."""
        if gvk not in self._with_status_subresource:
            if self._write.is_status:
                raise apierrors.new_not_found(gvr.group_resource(), obj.get_name())
            return obj
        if not self._write.is_status:
            return _with_status_of(obj, old)
        new = type(obj).from_dict(_with_status_of(old, obj).to_dict())
        new.set_resource_version(obj.get_resource_version())
        new.set_managed_fields(obj.get_managed_fields())
        if isinstance(obj, Unstructured) and isinstance(old, Unstructured):
            # In Go both are the same map from here on, so such a write never has a conflict.
            old.set_resource_version(obj.get_resource_version())
        return new

    def _check_version(
        self, gvr: GroupVersionResource, gvk: GroupVersionKind, new: ClientObject, old: ClientObject
    ) -> None:
        """Set the next version in `new`. Raises StatusError (Conflict) if its version differs from the stored one."""
        version = old.get_resource_version()
        if not new.get_resource_version() and (self._write.any_version or allows_unconditional_update(gvk)):
            new.set_resource_version(version)
        if new.get_resource_version() != version:
            raise apierrors.new_conflict(gvr.group_resource(), new.get_name(), "object was modified")
        new.set_resource_version(_next_version(version))


def as_stored(scheme: Scheme, obj: Object) -> Any:
    """Return the object as a tracker stores it: decoded into the kind's class if the scheme has one.

    Raises ValueError with Go's text for a value of the wrong type. Decoding into a class drops unknown fields, as a Go
    struct does. Go: convertFromUnstructuredIfNecessary.
    """
    cls = type(obj)
    if isinstance(obj, (Unstructured, metav1.PartialObjectMetadata)):
        gvk = obj.group_version_kind()
        if isinstance(obj, metav1.PartialObjectMetadata) or not scheme.recognizes(gvk):
            return obj
        cls = scheme.class_for(gvk)
        if issubclass(cls, Unstructured):
            return obj
    return decode_written_as_go(cls, obj.to_dict())


def _with_status_of(obj: ClientObject, other: ClientObject) -> ClientObject:
    """Return a copy of `obj` with the status of `other`. As in Go, a missing status becomes null in an unstructured
    object.
    """
    document, status = obj.to_dict(), other.to_dict().get("status")
    document["status"] = status
    if status is None and not isinstance(obj, Unstructured):
        del document["status"]
    return type(obj).from_dict(document)


def deletion_timestamp_equal(new: Any, old: Any) -> bool:
    """Report whether both objects have equal deletionTimestamps (in whole seconds), or both have none.

    Go: deletionTimestampEqual.
    """
    new_time: datetime | None = new.get_deletion_timestamp()
    old_time: datetime | None = old.get_deletion_timestamp()
    if new_time is None or old_time is None:
        return new_time is old_time
    return abs(new_time - old_time) < timedelta(seconds=1)


def _next_version(version: str) -> str:
    """Return the version after `version`. Raises ValueError if it is not an unsigned 64-bit number."""
    try:
        number = parse_uint(version or "0")
    except ValueError as err:
        raise ValueError(f"can not convert resourceVersion {quote(version)} to int: {err}") from err
    return str((number + 1) % (1 << 64))  # Go's counter wraps around.


def _name_is_required(gvk: GroupVersionKind) -> apierrors.StatusError:
    errors = ErrorList([required(new_path("metadata.name"), "name is required")])
    return apierrors.new_invalid(gvk.group_kind(), "", errors)


# Kinds by group, as Go's fake client lists them; some of its group names are wrong.
_UNCONDITIONAL_UPDATE: Final = {
    "apps": {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
    "autoscaling": {"HorizontalPodAutoscaler"},
    "batch": {"CronJob", "Job"},
    "certificates": {"Certificates"},
    "flowcontrol": {"FlowSchema", "PriorityLevelConfiguration"},
    "networking": {"Ingress", "IngressClass", "NetworkPolicy"},
    "policy": {"PodSecurityPolicy"},
    "rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
    "scheduling": {"PriorityClass"},
    "settings": {"PodPreset"},
    "storage": {"StorageClass"},
    "": {
        *("ConfigMap", "Endpoint", "EndpointSlice", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume"),
        *("PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service"),
        "ServiceAccount",
    },
}

_CREATE_ON_UPDATE: Final = {
    "coordination": {"Lease"},
    "node": {"RuntimeClass"},
    "rbac": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
    "": {"Endpoint", "Event", "LimitRange", "Service"},
}


def allows_unconditional_update(gvk: GroupVersionKind) -> bool:
    """Report whether an update needs no resourceVersion. Go: allowsUnconditionalUpdate."""
    return gvk.kind in _UNCONDITIONAL_UPDATE.get(gvk.group, ())


def allows_create_on_update(gvk: GroupVersionKind) -> bool:
    """Report whether an update creates a missing object. Go: allowsCreateOnUpdate."""
    return gvk.kind in _CREATE_ON_UPDATE.get(gvk.group, ())
