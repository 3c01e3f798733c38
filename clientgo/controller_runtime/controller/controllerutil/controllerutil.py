"""Owner references, finalizers, and create-or-update. Mirrors pkg/controller/controllerutil.

    def mutate() -> None:
        deployment.spec.replicas = guestbook.spec.size

    result = create_or_update(ctx, client, deployment, mutate)

The functions for owner references and finalizers change only the object in memory, which the caller then writes.
`create_or_update` and `create_or_patch` write it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from clientgo.apimachinery.api import equality
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.converter import to_go_document
from clientgo.apimachinery.runtime.documents import copied_document_of, refill
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.object import require_writable
from clientgo.golang.functions import call_checked
from clientgo.klog.exceptions import operational_error


@dataclass(eq=False)
@operational_error
class AlreadyOwnedError(Exception):
    """Raised for an object that has another controller already. Go: controllerutil.AlreadyOwnedError."""

    object: client.Object
    owner: metav1.OwnerReference

    def __str__(self) -> str:
        return (
            f"Object {self.object.get_namespace()}/{self.object.get_name()} is already owned by another "
            f"{self.owner.kind} controller {self.owner.name}"
        )


# A function that changes an owner reference. Go: controllerutil.OwnerReferenceOption.
OwnerReferenceOption: TypeAlias = Callable[[metav1.OwnerReference], None]


def with_block_owner_deletion(block_owner_deletion: bool) -> OwnerReferenceOption:
    """Return an option that sets blockOwnerDeletion: a foreground deletion keeps the owner until this object is gone.

    Go: controllerutil.WithBlockOwnerDeletion.
    """

    def apply(reference: metav1.OwnerReference) -> None:
        reference.block_owner_deletion = block_owner_deletion

    return apply


def set_controller_reference(
    owner: client.Object, controlled: client.Object, scheme: Scheme, *opts: OwnerReferenceOption
) -> None:
    """Make `owner` the controller of `controlled`, so that the garbage collector deletes them together. Idempotent.

    The caller writes the object. Raises AlreadyOwnedError if another controller exists, ValueError if the owner is in
    another namespace, and the errors of gvk_for_object. Go: SetControllerReference.
    """
    _validate_owner(owner, controlled)
    reference = _new_reference(owner, scheme)
    reference.block_owner_deletion = True
    reference.controller = True
    for opt in opts:
        opt(reference)
    existing = metav1.get_controller_of(controlled)
    if existing is not None and not _refer_same_object(existing, reference):
        raise AlreadyOwnedError(controlled, existing)
    _upsert_owner_ref(reference, controlled)


def set_owner_reference(
    owner: client.Object, object: client.Object, scheme: Scheme, *opts: OwnerReferenceOption
) -> None:
    """Add `owner` to the owners of `object`, or replace its entry, without making it the controller.

    Raises ValueError if the owner is in another namespace. Go: SetOwnerReference.
    """
    _validate_owner(owner, object)
    reference = _new_reference(owner, scheme)
    for opt in opts:
        opt(reference)
    _upsert_owner_ref(reference, object)


def remove_owner_reference(owner: client.Object, object: client.Object, scheme: Scheme) -> None:
    """Remove `owner` from the owners of `object`. Raises ValueError if it is not among them.

    Go: RemoveOwnerReference.
    """
    owners = object.get_owner_references()
    if not owners:
        raise ValueError(f"{_type_name(object)} does not have any owner references")
    index = _index_owner_ref(owners, _new_reference(owner, scheme))
    if index < 0:
        raise ValueError(f"{_type_name(object)} does not have an owner reference for {_type_name(owner)}")
    del owners[index]
    object.set_owner_references(owners)


def has_controller_reference(object: client.Object) -> bool:
    """Report whether the object has a controller. Go: HasControllerReference."""
    return any(owner.controller for owner in object.get_owner_references())


def has_owner_reference(owner_refs: Sequence[metav1.OwnerReference], obj: client.Object, scheme: Scheme) -> bool:
    """Report whether `obj` is among the owners, by group, kind and name. Go: HasOwnerReference."""
    return _index_owner_ref(owner_refs, _new_reference(obj, scheme)) >= 0


def remove_controller_reference(owner: client.Object, object: client.Object, scheme: Scheme) -> None:
    """Remove `owner` from the owners of `object`. Raises ValueError if it is not the controller.

    Go: RemoveControllerReference.
    """
    if not has_controller_reference(object):
        raise ValueError(f"{_type_name(object)} does not have a owner reference with controller equals true")
    owners = object.get_owner_references()
    index = _index_owner_ref(owners, _new_reference(owner, scheme))
    if index < 0:
        raise ValueError(f"{_type_name(object)} does not have an controller reference for {_type_name(owner)}")
    if not owners[index].controller:
        raise ValueError(f"{_type_name(owner)} owner is not the controller reference for {_type_name(object)}")
    del owners[index]
    object.set_owner_references(owners)


def _new_reference(owner: client.Object, scheme: Scheme) -> metav1.OwnerReference:
    api_version, kind = apiutil.gvk_for_object(owner, scheme).to_api_version_and_kind()
    return metav1.OwnerReference(api_version=api_version, kind=kind, name=owner.get_name(), uid=owner.get_uid())


def _upsert_owner_ref(reference: metav1.OwnerReference, object: client.Object) -> None:
    owners = object.get_owner_references()
    index = _index_owner_ref(owners, reference)
    if index < 0:
        owners.append(reference)
    else:
        owners[index] = reference
    object.set_owner_references(owners)


def _index_owner_ref(owners: Sequence[metav1.OwnerReference], reference: metav1.OwnerReference) -> int:
    return next((index for index, owner in enumerate(owners) if _refer_same_object(owner, reference)), -1)


def _validate_owner(owner: client.Object, object: client.Object) -> None:
    """Raise ValueError for an owner that the garbage collector would not find."""
    owner_namespace, namespace = owner.get_namespace(), object.get_namespace()
    if not owner_namespace or owner_namespace == namespace:
        return
    if not namespace:
        raise ValueError(
            f"cluster-scoped resource must not have a namespace-scoped owner, owner's namespace {owner_namespace}"
        )
    raise ValueError(
        "cross-namespace owner references are disallowed, "
        f"owner's namespace {owner_namespace}, obj's namespace {namespace}"
    )


def _refer_same_object(a: metav1.OwnerReference, b: metav1.OwnerReference) -> bool:
    """Report whether both references have the same group, kind and name. Ignores version and uid."""
    try:
        same_group = parse_group_version(a.api_version).group == parse_group_version(b.api_version).group
    except ValueError:
        return False
    return same_group and (a.kind, a.name) == (b.kind, b.name)


def _type_name(obj: client.Object) -> str:
    return type(obj).__name__


class OperationResult(StrEnum):
    """The effect of an operation; it completes "Deployment default/foo has been ...".

    Go: controllerutil.OperationResult.
    """

    NONE = "unchanged"
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"
    UPDATED_STATUS_ONLY = "updatedStatusOnly"


# A function that sets the desired state in an object that it holds. Go: controllerutil.MutateFn.
MutateFn: TypeAlias = Callable[[], None]

_RESULT_ATTRIBUTE: Final = "operation_result"


def create_or_update(ctx: Context, c: client.Client, obj: client.Object, f: MutateFn | None) -> OperationResult:
    """Create `obj`, or update the stored object if `f` changes it. Go: CreateOrUpdate.

    `obj` names kind, namespace and name. The function first reads the stored object into `obj`, then calls `f`, which
    changes `obj`. Raises ValueError if `f` changes the name or the namespace, and the errors of `f` and of the client.
    It does not write the status. If `f` clears a field for which the server has a default, every call writes an update.
    """
    require_writable(obj)
    key = client.object_key_from_object(obj)
    if not _fill(ctx, c, key, obj):
        _mutate(f, key, obj)
        c.create(ctx, obj)
        return OperationResult.CREATED
    existing = obj.deep_copy()
    _mutate(f, key, obj)
    if equality.SEMANTIC.deep_equal(existing, obj):
        return OperationResult.NONE
    c.update(ctx, obj)
    return OperationResult.UPDATED


def create_or_patch(ctx: Context, c: client.Client, obj: client.Object, f: MutateFn | None) -> OperationResult:
    """Create `obj`, or patch the stored object and its status if `f` changes them. Go: CreateOrPatch.

    It does not write the status on creation. If the second patch fails, the error's attribute `operation_result` holds
    the result of the first.
    """
    require_writable(obj)
    key = client.object_key_from_object(obj)
    if not _fill(ctx, c, key, obj):
        _mutate(f, key, obj)
        c.create(ctx, obj)
        return OperationResult.CREATED
    original = obj.deep_copy()
    patch = client.merge_from(original)
    before, status_before = _split_status(original)
    _mutate(f, key, obj)
    after, status_after = _split_status(obj)
    wanted = copied_document_of(obj).get("status")

    result = OperationResult.NONE
    if before != after:
        c.patch(ctx, obj, patch)
        result = OperationResult.UPDATED
    if status_before == status_after:
        return result
    if result == OperationResult.UPDATED:
        # The response to the patch has the old status.
        _set_status(obj, wanted)
    try:
        c.status().patch(ctx, obj, patch)
    except Exception as err:
        setattr(err, _RESULT_ATTRIBUTE, result)
        raise
    if result == OperationResult.UPDATED:
        return OperationResult.UPDATED_STATUS
    return OperationResult.UPDATED_STATUS_ONLY


def _fill(ctx: Context, c: client.Client, key: client.ObjectKey, obj: client.Object) -> bool:
    """Copy the stored object into `obj`. Returns False if there is none."""
    try:
        found = c.get(ctx, key, obj)
    except apierrors.StatusError as err:
        if not apierrors.is_not_found(err):
            raise
        return False
    refill(obj, copied_document_of(found))
    return True


def _split_status(obj: client.Object) -> tuple[dict[str, Any], Any]:
    """Return the document without its status, as Go's converter makes it, and the status or None."""
    document = to_go_document(obj) if type(obj).GROUP_VERSION_KIND is not None else obj.to_dict()
    status = document.pop("status", None)
    return document, status


def _set_status(obj: client.Object, status: Any) -> None:
    document = copied_document_of(obj)
    document.pop("status", None)
    if status is not None:
        document["status"] = status
    refill(obj, document)


def _mutate(f: MutateFn | None, key: client.ObjectKey, obj: client.Object) -> None:
    """Call `f`. Raises ValueError if it has changed the object's name or namespace."""
    if f is None:
        return
    call_checked(f)
    if client.object_key_from_object(obj) != key:
        raise ValueError("MutateFn cannot mutate object name and/or object namespace")


def add_finalizer(o: client.Object, finalizer: str) -> bool:
    """Add the finalizer. Returns False if the object has it already. The caller writes the object. Go: AddFinalizer."""
    finalizers = o.get_finalizers()
    if finalizer in finalizers:
        return False
    o.set_finalizers([*finalizers, finalizer])
    return True


def remove_finalizer(o: client.Object, finalizer: str) -> bool:
    """Remove the finalizer. Returns False if the object does not have it. The caller writes the object.

    Go: RemoveFinalizer.
    """
    finalizers = o.get_finalizers()
    left = [each for each in finalizers if each != finalizer]
    if len(left) == len(finalizers):
        return False
    o.set_finalizers(left)
    return True


def contains_finalizer(o: client.Object, finalizer: str) -> bool:
    """Report whether the object has the finalizer. Go: ContainsFinalizer."""
    return finalizer in o.get_finalizers()
