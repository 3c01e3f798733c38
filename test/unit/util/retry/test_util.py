"""Retrying on errors and conflicts."""

from __future__ import annotations

import pytest

from clientgo import context
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.apimachinery.util import wait
from clientgo.testing import synctest
from clientgo.util import retry

CONFLICT = errors.new_conflict(GroupResource("", "test"), "other", "conflict")
BACKOFF = wait.Backoff(steps=3, duration=1.0, factor=2.0)


def test_retry_on_conflict():
    """Go: TestRetryOnConflict."""
    with synctest.bubble() as b:
        calls: list[float] = []

        def update() -> None:
            calls.append(b.elapsed)
            if len(calls) < 3:
                raise CONFLICT

        retry.retry_on_conflict(BACKOFF, update)
        assert calls == [0, pytest.approx(1), pytest.approx(3)]


def test_the_last_conflict_is_raised_when_the_tries_are_used_up():
    """Go: TestRetryOnConflict."""
    with synctest.bubble():
        calls: list[int] = []

        def update() -> None:
            calls.append(1)
            raise CONFLICT

        with pytest.raises(errors.StatusError) as caught:
            retry.retry_on_conflict(BACKOFF, update)
        assert caught.value is CONFLICT
        assert len(calls) == 3


def test_other_errors_are_raised_at_once():
    """Go: TestRetryOnConflict."""
    calls: list[int] = []

    def update() -> None:
        calls.append(1)
        raise errors.new_not_found(GroupResource("", "test"), "other")

    with pytest.raises(errors.StatusError, match="not found"):
        retry.retry_on_conflict(retry.DEFAULT_RETRY, update)
    assert calls == [1]


def test_on_error_asks_what_to_retry():
    with synctest.bubble():
        failures = [KeyError("a"), ValueError("b")]

        def fn() -> None:
            raise failures.pop(0)

        with pytest.raises(ValueError, match="b"):
            retry.on_error(retry.DEFAULT_BACKOFF, lambda err: isinstance(err, KeyError), fn)


@pytest.mark.parametrize("err", [context.Canceled(), context.DeadlineExceeded(), wait.ErrWaitTimeout()])
def test_a_function_that_was_interrupted_did_not_succeed(err):
    with pytest.raises(type(err)) as caught:
        retry.on_error(retry.DEFAULT_RETRY, errors.is_conflict, lambda: (_ for _ in ()).throw(err))
    assert caught.value is err


def test_a_backoff_without_steps_does_nothing_as_in_go():
    retry.on_error(wait.Backoff(), lambda err: True, lambda: pytest.fail("called"))


def test_the_recommended_backoffs_are_not_used_up():
    steps = retry.DEFAULT_RETRY.steps
    with synctest.bubble(), pytest.raises(errors.StatusError):
        retry.retry_on_conflict(retry.DEFAULT_RETRY, lambda: (_ for _ in ()).throw(CONFLICT))
    assert retry.DEFAULT_RETRY.steps == steps == 5
