"""The errors of patches.

Mirrors k8s.io/apimachinery/pkg/util/mergepatch/errors.go. Every class is a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clientgo.golang.fmt import go_value


class MergePatchError(ValueError):
    """The base class of the errors in this module."""

    MESSAGE = ""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(self.MESSAGE if message is None else message)


class ErrBadJSONDoc(MergePatchError):
    """The error of a document that is no JSON object. Go: mergepatch.ErrBadJSONDoc."""

    MESSAGE = "invalid JSON document"


class ErrNoListOfLists(MergePatchError):
    """The error of a list that contains a list. Go: mergepatch.ErrNoListOfLists."""

    MESSAGE = "lists of lists are not supported"


class ErrBadPatchFormatForPrimitiveList(MergePatchError):
    """The error of a patch that is invalid for a list of plain values.

    Go: mergepatch.ErrBadPatchFormatForPrimitiveList.
    """

    MESSAGE = "invalid patch format of primitive list"


class ErrBadPatchFormatForRetainKeys(MergePatchError):
    """The error of an invalid $retainKeys directive. Go: mergepatch.ErrBadPatchFormatForRetainKeys."""

    MESSAGE = "invalid patch format of retainKeys"


class ErrBadPatchFormatForSetElementOrderList(MergePatchError):
    """The error of an invalid $setElementOrder directive. Go: mergepatch.ErrBadPatchFormatForSetElementOrderList."""

    MESSAGE = "invalid patch format of setElementOrder list"


class ErrUnsupportedStrategicMergePatchFormat(MergePatchError):
    """The error of a kind without strategic merge patches. Go: mergepatch.ErrUnsupportedStrategicMergePatchFormat."""

    MESSAGE = "strategic merge patch format is not supported"


class ErrPreconditionFailed(MergePatchError):
    """Raised when a precondition rejects the patch. Go: mergepatch.ErrPreconditionFailed."""


class ErrConflict(MergePatchError):
    """Raised when the patch would revert another client's change. Go: mergepatch.ErrConflict."""


def err_no_merge_key(m: Mapping[str, Any], k: str) -> MergePatchError:
    """Return the error for a list element without its merge key. Go: mergepatch.ErrNoMergeKey."""
    return MergePatchError(f"map: {go_value(m)} does not contain declared merge key: {k}")


def err_bad_arg_type(expected: type, actual: Any) -> MergePatchError:
    """Return the error for an argument of another type. Go: mergepatch.ErrBadArgType."""
    return MergePatchError(f"expected a {_GO_TYPES[expected]}, but received a {_GO_TYPES[type(actual)]}")


_GO_TYPES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "%!s(<nil>)",
}


def err_bad_patch_type(t: Any, m: Mapping[str, Any]) -> MergePatchError:
    """Return the error for an unknown $patch directive. Go: mergepatch.ErrBadPatchType."""
    return MergePatchError(f"unknown patch type: {_as_text(t)} in map: {go_value(m)}")


def _as_text(value: Any) -> str:
    """Return the text of Go's %s, which marks a value that is no text."""
    if value is None:
        return "%!s(<nil>)"
    return f"%!s({_GO_TYPES[type(value)]}={go_value(value)})" if isinstance(value, (int, float)) else go_value(value)


def is_precondition_failed(err: BaseException | None) -> bool:
    """Report whether the error says that a precondition failed. Go: mergepatch.IsPreconditionFailed."""
    return isinstance(err, ErrPreconditionFailed)


def new_err_precondition_failed(target: Mapping[str, Any]) -> ErrPreconditionFailed:
    """Return the error for a patch that breaks a precondition. Go: mergepatch.NewErrPreconditionFailed."""
    return ErrPreconditionFailed(f"precondition failed for: {go_value(target)}")


def new_err_conflict(patch: str, current: str) -> ErrConflict:
    """Return the error for a conflict between patches. Go: mergepatch.NewErrConflict."""
    return ErrConflict(f"patch:\n{patch}\nconflicts with changes made from original to current:\n{current}\n")


def is_conflict(err: BaseException | None) -> bool:
    """Report whether the error says that patches conflict. Go: mergepatch.IsConflict."""
    return isinstance(err, ErrConflict)
