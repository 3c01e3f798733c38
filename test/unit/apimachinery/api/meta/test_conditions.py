"""Conditions of a status: added, brought up to date, found, removed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1

BEFORE, AFTER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def condition(type: str, status: str = "", at: datetime | None = None, **more: object) -> metav1.Condition:
    made = metav1.Condition(type=type, status=status, last_transition_time=at)
    for name, value in more.items():
        setattr(made, name, value)
    return made


FULL = {"reason": "reason", "message": "message"}


@pytest.mark.parametrize(
    ("second", "given", "changed", "time"),
    [
        pytest.param(None, condition("second", "True", BEFORE, **FULL), True, BEFORE, id="should-add"),
        pytest.param(
            condition("second", "False"),
            condition("second", "True", BEFORE, **FULL),
            True,
            BEFORE,
            id="use-supplied-time",
        ),
        pytest.param(
            condition("second", "True", BEFORE),
            condition("second", "True", AFTER, **FULL, observed_generation=3),
            True,
            BEFORE,
            id="update-fields",
        ),
        pytest.param(
            condition("second", "True", BEFORE), condition("second", "True", AFTER), False, BEFORE, id="nothing changes"
        ),
    ],
)
def test_a_condition_is_added_or_brought_up_to_date(
    second: metav1.Condition | None, given: metav1.Condition, changed: bool, time: datetime
) -> None:
    """Go: TestSetStatusCondition."""
    conditions = [condition("first"), *([second] if second else []), condition("third")]
    assert meta.set_status_condition(conditions, given) is changed
    assert [each.type for each in conditions] == (
        ["first", "second", "third"] if second else ["first", "third", "second"]
    )
    found = meta.find_status_condition(conditions, "second")
    assert found is not None and found.last_transition_time == time
    for name in ("status", "reason", "message", "observed_generation"):
        assert getattr(found, name) == getattr(given, name)


@pytest.mark.parametrize(
    ("types", "removed", "left"),
    [
        pytest.param(["first", "second", "third"], "second", ["first", "third"], id="present"),
        pytest.param(["first", "second", "third"], "fourth", ["first", "second", "third"], id="not-present"),
        pytest.param([], "Foo", [], id="empty_conditions"),
    ],
)
def test_a_condition_is_removed(types: list[str], removed: str, left: list[str]) -> None:
    """Go: TestRemoveStatusCondition."""
    conditions = [condition(each) for each in types]
    assert meta.remove_status_condition(conditions, removed) is (types != left)
    assert [each.type for each in conditions] == left


def test_a_condition_is_found_by_its_type() -> None:
    """Go: TestFindStatusCondition."""
    conditions = [condition("first"), condition("second", "True")]
    found = meta.find_status_condition(conditions, "second")
    assert found is not None and found.status == "True" and meta.find_status_condition(conditions, "third") is None


@pytest.mark.parametrize(
    ("status", "asked", "equal"),
    [
        pytest.param("Unknown", "True", False, id="doesnt-match-true"),
        pytest.param("True", "True", True, id="does-match-true"),
        pytest.param("False", "False", True, id="does-match-false"),
    ],
)
def test_a_status_is_compared(status: str, asked: str, equal: bool) -> None:
    """Go: TestIsStatusConditionPresentAndEqual."""
    conditions = [condition("first", status)]
    assert meta.is_status_condition_present_and_equal(conditions, "first", asked) is equal
    assert not meta.is_status_condition_present_and_equal(conditions, "second", asked)
    assert meta.is_status_condition_true(conditions, "first") is (status == "True")
    assert meta.is_status_condition_false(conditions, "first") is (status == "False")
