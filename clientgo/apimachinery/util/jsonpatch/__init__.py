"""JSON patches (RFC 6902) on JSON values."""

from clientgo.apimachinery.util.jsonpatch.create import InvalidDocumentError, Operation, create_patch
from clientgo.apimachinery.util.jsonpatch.patch import AccumulatedCopySizeError, FailedTestError, PatchError, apply

__all__ = [
    "AccumulatedCopySizeError",
    "FailedTestError",
    "InvalidDocumentError",
    "Operation",
    "PatchError",
    "apply",
    "create_patch",
]
