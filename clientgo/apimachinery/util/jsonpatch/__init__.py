"""JSON patches (RFC 6902) on JSON values."""

from clientgo.apimachinery.util.jsonpatch.create import InvalidDocumentError, Operation, create_patch
from clientgo.apimachinery.util.jsonpatch.patch import (
    AccumulatedCopySizeError,
    FailedTestError,
    PatchError,
    apply,
    in_order_of_go,
)

__all__ = [
    "AccumulatedCopySizeError",
    "FailedTestError",
    "InvalidDocumentError",
    "Operation",
    "PatchError",
    "apply",
    "create_patch",
    "in_order_of_go",
]
