"""Ownership: a controller adopts objects that its selector matches, and releases those that it no longer matches.

Does what Kubernetes' ControllerRefManager does. Thus `kubectl delete --cascade=orphan` leaves objects for a new owner,
and a pod whose label changes is left alone, and replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context

Owner = appsv1.Deployment | appsv1.ReplicaSet | appsv1.StatefulSet | appsv1.DaemonSet | batchv1.Job
# Kinds that adopt. A CronJob takes no Job that it did not create.
ADOPTING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"})
R = TypeVar("R", bound=ResourceObject)


def selects(owner: Owner, obj: ResourceObject) -> bool:
    """Report whether the object's labels match the owner's selector. A selector that is absent matches nothing."""
    if owner.spec.selector is None:
        return False
    return metav1.label_selector_as_selector(owner.spec.selector).matches(labels.Set(obj.get_labels()))


class _Dependents(Protocol[R]):
    def update(self, ctx: Context, obj: R, /) -> R: ...


class _Owners(Protocol):
    def get(self, ctx: Context, name: str, /) -> Owner: ...


def adopt_and_release(
    ctx: Context,
    objects: Iterable[R],
    owner: Owner,
    kind: GroupVersionKind,
    dependents: _Dependents[R],
    owners: _Owners,
) -> list[R]:
    """Return the objects that the owner controls, after it adopted and released some.

    `dependents` and `owners` are the clients of both kinds: the owner is read again before the first adoption. Raises
    StatusError, and RuntimeError if the owner is being deleted. Go: BaseControllerRefManager.ClaimObject.
    """
    is_ending = owner.get_deletion_timestamp() is not None
    may_adopt = False
    mine = []
    for obj in objects:
        is_selected = selects(owner, obj)
        if metav1.is_controlled_by(obj, owner):
            if is_selected:
                mine.append(obj)
            elif not is_ending:
                _write_unless_gone(ctx, dependents, _released(obj, owner))
        elif is_selected and not is_ending and _is_orphan(obj):
            if not may_adopt:
                _check_may_adopt(owner, owners.get(ctx, owner.get_name()))
                may_adopt = True
            adopted = _write_unless_gone(ctx, dependents, _adopted(obj, owner, kind))
            if adopted is not None:
                mine.append(adopted)
    return mine


def _is_orphan(obj: ResourceObject) -> bool:
    return metav1.get_controller_of(obj) is None and obj.get_deletion_timestamp() is None


def _adopted(obj: R, owner: Owner, kind: GroupVersionKind) -> R:
    """Return a copy that `owner` controls."""
    mine = obj.deep_copy()
    mine.set_owner_references([*obj.get_owner_references(), metav1.new_controller_ref(owner, kind)])
    return mine


def _released(obj: R, owner: Owner) -> R:
    """Return a copy that `owner` does not control."""
    free = obj.deep_copy()
    free.set_owner_references([one for one in obj.get_owner_references() if one.uid != owner.get_uid()])
    return free


def _write_unless_gone(ctx: Context, dependents: _Dependents[R], obj: R) -> R | None:
    try:
        return dependents.update(ctx, obj)
    except errors.StatusError as err:
        if errors.is_not_found(err):
            return None
        raise


def _check_may_adopt(owner: Owner, now: Owner) -> None:
    """Raise RuntimeError if the owner has been replaced, or is being deleted.

    An owner that is deleted with the policy Orphan is marked before its dependents lose it. Without this check it
    would adopt them again, and they would be deleted with it. Go: controller.RecheckDeletionTimestamp.
    """
    namespace, name = owner.get_namespace(), owner.get_name()
    if now.get_uid() != owner.get_uid():
        raise RuntimeError(
            f"original {namespace}/{name} is gone: got uid {now.get_uid()}, wanted {owner.get_uid()}"
        )
    if now.get_deletion_timestamp() is not None:
        raise RuntimeError(f"{namespace}/{name} has just been deleted at {now.get_deletion_timestamp()}")
