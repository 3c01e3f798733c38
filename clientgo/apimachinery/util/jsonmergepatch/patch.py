"""JSON merge patches (RFC 7386): creation from two or three documents, and application.

Mirrors k8s.io/apimachinery/pkg/util/jsonmergepatch/patch.go, and the two functions that Kubernetes uses of the Go
library gopkg.in/evanphx/json-patch.v4.

Difference: integers are compared and kept exactly; Go converts them to float64.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.json import TooDeepError, limited_by_stack, marshal, unmarshal
from clientgo.apimachinery.util.mergepatch import (
    ErrBadJSONDoc,
    PreconditionFunc,
    has_conflicts,
    new_err_conflict,
    new_err_precondition_failed,
)


class BadJSONDocError(ValueError):
    """Raised for a document that a merge patch does not support. Go: jsonpatch.ErrBadJSONDoc."""

    def __init__(self) -> None:
        super().__init__("Invalid JSON Document")


class BadJSONPatchError(ValueError):
    """Raised for a patch that is neither an object nor an array. Go: jsonpatch.ErrBadJSONPatch."""

    def __init__(self) -> None:
        super().__init__("Invalid JSON Patch")


def create_merge_patch(original: Any, modified: Any) -> Any:
    """Return the patch that turns `original` into `modified`; all three are JSON values.

    None counts as an empty object. Two arrays of objects result in an array of patches. Raises BadJSONDocError for
    other values, and for arrays of different lengths. Go: jsonpatch.CreateMergePatch.

    >>> create_merge_patch({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 2, "d": 4}})
    {'b': {'d': 4}, 'a': None}
    """
    if isinstance(original, list) != isinstance(modified, list):
        raise ValueError("Mismatched JSON Documents")
    if not isinstance(original, list):
        return _diff(_object(original), _object(modified))
    if len(original) != len(modified):
        raise BadJSONDocError
    return [_diff(_object(before), _object(after)) for before, after in zip(original, modified)]


def _object(document: Any) -> dict[str, Any]:
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise BadJSONDocError
    return document


def _diff(original: dict[str, Any], modified: dict[str, Any]) -> dict[str, Any]:
    """Return the patch between two objects. Not recursive. Go: jsonpatch.getDiff."""
    patch: dict[str, Any] = {}
    unfinished = [(original, modified, patch)]
    # The patches of inner objects, outer ones first: where they are.
    inner: list[tuple[dict[str, Any], str]] = []
    while unfinished:
        before, after, out = unfinished.pop()
        for key, value in after.items():
            old = before.get(key)
            if isinstance(old, dict) and isinstance(value, dict):
                out[key] = {}
                inner.append((out, key))
                unfinished.append((old, value, out[key]))
            elif key not in before or not _matches(old, value):
                out[key] = copy_json(value)
        out.update({key: None for key in before if key not in after})
    for out, key in reversed(inner):
        if not out[key]:
            del out[key]
    return patch


def _matches(a: Any, b: Any) -> bool:
    """Report whether two JSON values are equal; 1 and 1.0 are, 1 and true are not. Go: jsonpatch.matchesValue."""
    unfinished = [(a, b)]
    while unfinished:
        one, other = unfinished.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            unfinished += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            unfinished += zip(one, other)
        elif isinstance(one, bool) != isinstance(other, bool) or one != other:
            return False
    return True


@limited_by_stack
def merge_patch(original: Any, patch: Any) -> Any:
    """Return `original` with the patch applied; neither is changed. Go: jsonpatch.MergePatch.

    None in the patch removes a key. Objects that the patch adds, also in a new list, omit such keys; an array keeps its
    own None elements. Raises BadJSONDocError when `original` is None, and BadJSONPatchError for a patch that is neither
    an object nor an array.

    >>> merge_patch({"a": 1, "b": {"c": 2}}, {"a": None, "b": {"d": 3}})
    {'b': {'c': 2, 'd': 3}}
    >>> merge_patch({}, {"list": [{"a": 1, "b": None}, None]})
    {'list': [{'a': 1}, None]}
    """
    if original is None:
        raise BadJSONDocError
    if not isinstance(patch, (dict, list)):
        raise BadJSONPatchError
    if isinstance(original, dict) and isinstance(patch, dict):
        return copy_json(_merge_docs(original, patch))
    return copy_json(_without_nulls(patch))


def _merge_docs(doc: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = dict(doc)
    for key, value in patch.items():
        current = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif not isinstance(current, dict):
            merged[key] = _without_nulls(value)
        elif isinstance(value, dict):
            merged[key] = _merge_docs(current, value)
        else:
            merged[key] = value  # As in Go, an array in place of an object keeps the nulls of its items.
    return merged


def _without_nulls(value: Any) -> Any:
    """Return the value without the null keys of its objects, at any depth. Go: jsonpatch.pruneNulls."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


@limited_by_stack
def create_three_way_json_merge_patch(
    original: bytes | str, modified: bytes | str, current: bytes | str, *fns: PreconditionFunc
) -> bytes:
    """Return a patch of `current` with the changes from `original` to `modified`; it keeps the changes of other
    clients.

    Raises ErrBadJSONDoc, or ErrPreconditionFailed if a precondition rejects the patch.
    Go: jsonmergepatch.CreateThreeWayJSONMergePatch.
    """
    before, wanted, now = (_read(document) for document in (original, modified, current))
    additions = _keep_or_delete_null_in_obj(_diff(now, wanted), keep=False)
    deletions = _keep_or_delete_null_in_obj(_diff(before, wanted), keep=True)
    if has_conflicts(additions, deletions):
        raise new_err_conflict(marshal(additions), marshal(deletions))
    patch = copy_json(_merge_docs(deletions, additions))
    for fn in fns:
        if not fn(patch):
            raise new_err_precondition_failed(patch)
    return marshal(patch).encode()


def _read(document: bytes | str) -> dict[str, Any]:
    try:
        value = unmarshal(document or "{}")
    except TooDeepError:
        raise
    except ValueError:
        raise ErrBadJSONDoc from None
    if not isinstance(value, (dict, type(None))):
        raise ErrBadJSONDoc
    return value or {}


def _keep_or_delete_null_in_obj(m: dict[str, Any], keep: bool) -> dict[str, Any]:
    """Return only the removals of a patch, or everything except them. Go: jsonmergepatch.keepOrDeleteNullInObj."""
    filtered: dict[str, Any] = {}
    for key, value in m.items():
        if isinstance(value, dict):
            inner = _keep_or_delete_null_in_obj(value, keep)
            if inner or (not keep and not value):
                filtered[key] = inner
        elif (value is None) == keep:
            filtered[key] = value
    return filtered
