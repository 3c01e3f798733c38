"""Conditions in an object's status.

Mirrors k8s.io/apimachinery/pkg/api/meta/conditions.go. The lists may be plain ones or views such as
`obj.status.conditions`; the functions that change them write through.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence

from clientgo.apimachinery.apis.meta.v1.time import now
from clientgo.apimachinery.apis.meta.v1.types import Condition


def set_status_condition(conditions: MutableSequence[Condition] | None, new_condition: Condition) -> bool:
    """Add the condition, or update the existing one of its type. Returns True if anything changed.

    The transition time changes only with the status: to the new condition's time, or to now.
    Go: meta.SetStatusCondition.
    """
    if conditions is None:
        return False
    existing = find_status_condition(conditions, new_condition.type)
    moment = new_condition.last_transition_time or now()
    if existing is None:
        added = new_condition.deep_copy()
        added.last_transition_time = moment
        conditions.append(added)
        return True
    changes: dict[str, object] = {
        name: getattr(new_condition, name)
        for name in ("status", "reason", "message", "observed_generation")
        if getattr(existing, name) != getattr(new_condition, name)
    }
    if "status" in changes:
        changes["last_transition_time"] = moment
    for name, value in changes.items():
        setattr(existing, name, value)
    return bool(changes)


def remove_status_condition(conditions: MutableSequence[Condition] | None, condition_type: str) -> bool:
    """Remove the conditions of this type. Returns True if there were any. Go: meta.RemoveStatusCondition."""
    if not conditions:
        return False
    kept = [condition.deep_copy() for condition in conditions if condition.type != condition_type]
    if len(kept) == len(conditions):
        return False
    conditions[:] = kept
    return True


def find_status_condition(conditions: Iterable[Condition], condition_type: str) -> Condition | None:
    """Return the condition of this type, or None. Go: meta.FindStatusCondition."""
    return next((condition for condition in conditions if condition.type == condition_type), None)


def is_status_condition_true(conditions: Iterable[Condition], condition_type: str) -> bool:
    """Report whether the condition is True. Go: meta.IsStatusConditionTrue."""
    return is_status_condition_present_and_equal(conditions, condition_type, "True")


def is_status_condition_false(conditions: Iterable[Condition], condition_type: str) -> bool:
    """Report whether the condition is False. Go: meta.IsStatusConditionFalse."""
    return is_status_condition_present_and_equal(conditions, condition_type, "False")


def is_status_condition_present_and_equal(conditions: Iterable[Condition], condition_type: str, status: str) -> bool:
    """Report whether the condition has the status. Go: meta.IsStatusConditionPresentAndEqual."""
    condition = find_status_condition(conditions, condition_type)
    return condition is not None and condition.status == status
