"""JSON merge patches (RFC 7386): made of two or three documents, and applied.

Mirrors k8s.io/apimachinery/pkg/util/jsonmergepatch/patch.go, and the two functions of the Go library it stands on.
"""

from __future__ import annotations

import json
from typing import Any

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.json import marshal
from clientgo.apimachinery.util.mergepatch import (
    ErrBadJSONDoc,
    PreconditionFunc,
    has_conflicts,
    new_err_conflict,
    new_err_precondition_failed,
)


def create_merge_patch(original: Any, modified: Any) -> dict[str, Any]:
    """The patch that makes `original` into `modified`; all three are JSON values.

    >>> create_merge_patch({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 2, "d": 4}})
    {'b': {'d': 4}, 'a': None}
    """
    patch: dict[str, Any] = {}
    for key, value in modified.items():
        if key not in original:
            patch[key] = copy_json(value)
            continue
        before = original[key]
        if isinstance(before, dict) and isinstance(value, dict):
            if inner := create_merge_patch(before, value):
                patch[key] = inner
        elif type(before) is not type(value) or before != value:
            patch[key] = copy_json(value)
    patch.update({key: None for key in original if key not in modified})
    return patch


def merge_patch(original: Any, patch: Any) -> Any:
    """`original` with the patch applied; neither is changed. None in the patch removes a key.

    >>> merge_patch({"a": 1, "b": {"c": 2}}, {"a": None, "b": {"d": 3}})
    {'b': {'c': 2, 'd': 3}}
    """
    if not isinstance(patch, dict):
        return copy_json(patch)
    result = dict(original) if isinstance(original, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return copy_json(result)


def create_three_way_json_merge_patch(
    original: bytes | str, modified: bytes | str, current: bytes | str, *fns: PreconditionFunc
) -> bytes:
    """A patch that brings what changed from `original` to `modified` into `current`; what others set stays.

    Raises ErrBadJSONDoc, or ErrPreconditionFailed when a precondition refuses the patch.
    Go: jsonmergepatch.CreateThreeWayJSONMergePatch.
    """
    before, wanted, now = (_read(document) for document in (original, modified, current))
    additions = _keep_or_delete_null_in_obj(create_merge_patch(now, wanted), keep=False)
    deletions = _keep_or_delete_null_in_obj(create_merge_patch(before, wanted), keep=True)
    if has_conflicts(additions, deletions):
        raise new_err_conflict(marshal(additions), marshal(deletions))
    patch = _join(deletions, additions)
    for fn in fns:
        if not fn(patch):
            raise new_err_precondition_failed(patch)
    return marshal(patch).encode()


def _read(document: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(document or "{}")
    except ValueError:
        raise ErrBadJSONDoc from None
    if not isinstance(value, dict):
        raise ErrBadJSONDoc
    return value


def _keep_or_delete_null_in_obj(m: dict[str, Any], keep: bool) -> dict[str, Any]:
    """Only the removals of a patch, or all but them. Go: jsonmergepatch.keepOrDeleteNullInObj."""
    filtered: dict[str, Any] = {}
    for key, value in m.items():
        if isinstance(value, dict):
            inner = _keep_or_delete_null_in_obj(value, keep)
            if inner or (not keep and not value):
                filtered[key] = inner
        elif (value is None) == keep:
            filtered[key] = value
    return filtered


def _join(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    joined = dict(left)
    for key, value in right.items():
        both = isinstance(value, dict) and isinstance(joined.get(key), dict)
        joined[key] = _join(joined[key], value) if both else value
    return joined
