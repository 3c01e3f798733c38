"""Preconditions on patches, and conflicts between changes.

Mirrors k8s.io/apimachinery/pkg/util/mergepatch/util.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

PreconditionFunc: TypeAlias = Callable[[Any], bool]
"""A predicate that accepts or rejects a patch, given as a JSON value. Go: mergepatch.PreconditionFunc."""


def require_key_unchanged(key: str) -> PreconditionFunc:
    """Return a precondition that rejects patches of the key. Go: mergepatch.RequireKeyUnchanged."""
    return lambda patch: not isinstance(patch, dict) or key not in patch


def require_metadata_key_unchanged(key: str) -> PreconditionFunc:
    """Return a precondition that rejects patches of the metadata's key. Go: mergepatch.RequireMetadataKeyUnchanged."""

    def precondition(patch: Any) -> bool:
        metadata = patch.get("metadata") if isinstance(patch, dict) else None
        return not isinstance(metadata, dict) or key not in metadata

    return precondition


def has_conflicts(left: Any, right: Any) -> bool:
    """Report whether two JSON merge patches set different values at the same path. Go: mergepatch.HasConflicts."""
    if isinstance(left, dict) and isinstance(right, dict):
        return any(key in right and has_conflicts(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) != len(right) or any(has_conflicts(mine, theirs) for mine, theirs in zip(left, right))
    return type(left) is not type(right) or bool(left != right)
