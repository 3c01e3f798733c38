"""Errors and preconditions of patches (k8s.io/apimachinery/pkg/util/mergepatch)."""

from clientgo.apimachinery.util.mergepatch.errors import (
    ErrBadJSONDoc,
    ErrBadPatchFormatForPrimitiveList,
    ErrBadPatchFormatForRetainKeys,
    ErrBadPatchFormatForSetElementOrderList,
    ErrConflict,
    ErrNoListOfLists,
    ErrPreconditionFailed,
    ErrUnsupportedStrategicMergePatchFormat,
    MergePatchError,
    err_bad_arg_type,
    err_bad_patch_type,
    err_no_merge_key,
    is_conflict,
    is_precondition_failed,
    new_err_conflict,
    new_err_precondition_failed,
)
from clientgo.apimachinery.util.mergepatch.util import (
    PreconditionFunc,
    has_conflicts,
    require_key_unchanged,
    require_metadata_key_unchanged,
)

__all__ = [
    "ErrBadJSONDoc",
    "ErrBadPatchFormatForPrimitiveList",
    "ErrBadPatchFormatForRetainKeys",
    "ErrBadPatchFormatForSetElementOrderList",
    "ErrConflict",
    "ErrNoListOfLists",
    "ErrPreconditionFailed",
    "ErrUnsupportedStrategicMergePatchFormat",
    "MergePatchError",
    "PreconditionFunc",
    "err_bad_arg_type",
    "err_bad_patch_type",
    "err_no_merge_key",
    "has_conflicts",
    "is_conflict",
    "is_precondition_failed",
    "new_err_conflict",
    "new_err_precondition_failed",
    "require_key_unchanged",
    "require_metadata_key_unchanged",
]
