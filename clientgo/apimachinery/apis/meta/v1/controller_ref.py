"""The owner reference with `controller: true`, which names the controlling object.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/controller_ref.go.
"""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.meta import Object
from clientgo.apimachinery.apis.meta.v1.types import OwnerReference
from clientgo.apimachinery.runtime.schema import GroupVersionKind


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Report whether the object with the uid of `owner` controls `obj`. Go: metav1.IsControlledBy."""
    ref = get_controller_of_no_copy(obj)
    return ref is not None and ref.uid == owner.get_uid()


def get_controller_of(controllee: Object) -> OwnerReference | None:
    """Return the reference to the controlling owner, as a copy, or None. Go: metav1.GetControllerOf."""
    ref = get_controller_of_no_copy(controllee)
    return None if ref is None else ref.deep_copy()


def get_controller_of_no_copy(controllee: Object) -> OwnerReference | None:
    """Return the reference to the controlling owner without a copy: do not change it.

    Go: metav1.GetControllerOfNoCopy.
    """
    return next((ref for ref in controllee.get_owner_references() if ref.controller), None)


def new_controller_ref(owner: Object, gvk: GroupVersionKind) -> OwnerReference:
    """Return a reference that makes `owner` the controller. Go: metav1.NewControllerRef."""
    return OwnerReference(
        api_version=str(gvk.group_version()),
        kind=gvk.kind,
        name=owner.get_name(),
        uid=owner.get_uid(),
        block_owner_deletion=True,
        controller=True,
    )
