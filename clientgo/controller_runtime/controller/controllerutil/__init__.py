"""Owner references, finalizers, and create-or-update. Mirrors pkg/controller/controllerutil."""

from clientgo.controller_runtime.controller.controllerutil.controllerutil import (
    AlreadyOwnedError,
    MutateFn,
    OperationResult,
    OwnerReferenceOption,
    add_finalizer,
    contains_finalizer,
    create_or_patch,
    create_or_update,
    has_controller_reference,
    has_owner_reference,
    remove_controller_reference,
    remove_finalizer,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
    with_block_owner_deletion,
)

__all__ = [
    "AlreadyOwnedError",
    "MutateFn",
    "OperationResult",
    "OwnerReferenceOption",
    "add_finalizer",
    "contains_finalizer",
    "create_or_patch",
    "create_or_update",
    "has_controller_reference",
    "has_owner_reference",
    "remove_controller_reference",
    "remove_finalizer",
    "remove_owner_reference",
    "set_controller_reference",
    "set_owner_reference",
    "with_block_owner_deletion",
]
