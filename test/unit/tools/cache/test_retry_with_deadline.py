"""The retry budget of a watch. Go: retry_with_deadline_test.go."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.api import errors as apierrors
from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting

INTERNAL = apierrors.new_internal_error(Exception("etcdserver: no leader"))
OTHER = Exception("some other error")


@pytest.mark.parametrize(
    ("duration", "steps"),
    [
        # Go: TestRetryWithDeadline/Never retry when duration is zero
        pytest.param(0.0, [(1, None, False), (0, INTERNAL, False), (1, OTHER, False)], id="never with no duration"),
        # Go: TestRetryWithDeadline/Retry when internal error happens only within duration
        pytest.param(1.0, [(1, INTERNAL, True), (1, INTERNAL, True), (1, INTERNAL, False)], id="within the duration"),
        # Go: TestRetryWithDeadline/Don't retry when other error happens
        pytest.param(1.0, [(1, OTHER, False)], id="not other errors"),
        # Go: TestRetryWithDeadline/Ignore other errors for retries
        pytest.param(1.0, [(1, INTERNAL, True), (0, OTHER, True), (1, INTERNAL, True)], id="other errors in between"),
    ],
)
def test_it_retries_within_its_budget(duration: float, steps: list[tuple[float, Exception | None, bool]]) -> None:
    """Go: TestRetryWithDeadline"""
    clock = clocktesting.new_fake_clock(1000.0)
    retry = cache.new_retry_with_deadline(duration, 30.0, apierrors.is_internal_error, clock)
    for seconds, err, expected in steps:
        clock.step(seconds)
        retry.after(err)
        assert retry.should_retry() is expected


def test_a_quiet_time_gives_a_new_budget() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    retry = cache.new_retry_with_deadline(1.0, 30.0, apierrors.is_internal_error, clock)
    retry.after(INTERNAL)
    clock.step(30.0)
    retry.after(INTERNAL)
    assert retry.should_retry()
