"""What a program may ask of an API error."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.validation import field

PODS = GroupResource("", "pods")


@pytest.mark.parametrize(
    ("err", "delay"),
    [
        # This reason alone asks for a delay, be it one of no length.
        (errors.new_server_timeout(PODS, "get", 0), (0, True)),
        (errors.new_server_timeout(PODS, "get", 5), (5, True)),
        (errors.new_timeout_error("too slow", 0), (0, False)),
        (errors.new_timeout_error("too slow", 5), (5, True)),
        (errors.new_too_many_requests("slow down", 0), (0, False)),
        (errors.new_too_many_requests("slow down", 5), (5, True)),
        (errors.new_not_found(PODS, "web"), (0, False)),
        (errors.new_unauthorized("who are you"), (0, False)),
        (OSError("x"), (0, False)),
        (None, (0, False)),
    ],
)
def test_which_errors_ask_for_a_delay(err, delay):
    """Go: SuggestsClientDelay."""
    assert errors.suggests_client_delay(err) == delay


@pytest.mark.parametrize(
    ("code", "reason", "too_large"),
    [(413, "", True), (413, "BadRequest", True), (500, "RequestEntityTooLarge", True), (400, "BadRequest", False)],
)
def test_a_body_is_too_large_by_the_code_or_by_the_reason(code: int, reason: str, too_large: bool) -> None:
    """Go: IsRequestEntityTooLargeError."""
    err = errors.StatusError(metav1.Status(status="Failure", code=code, reason=reason))
    assert errors.is_request_entity_too_large_error(err) is too_large


def test_an_error_of_the_client_is_a_status_that_says_so() -> None:
    """Go: ErrorReporter.AsObject: the answer was unexpected, and the reporter's reason."""
    status = errors.new_client_error_reporter(500, "GET", "ClientWatchDecoding").as_object(OSError("no json"))
    assert (status.code, status.status, status.reason) == (500, "Failure", "InternalError")
    assert status.details is not None
    causes = [(cause.type, cause.message) for cause in status.details.causes]
    assert causes == [("UnexpectedServerResponse", "no json"), ("ClientWatchDecoding", "no json")]


def test_the_broken_rules_may_be_any_list() -> None:
    broken = [field.invalid(field.new_path("spec").child("size"), -1, "must not be negative")]
    err, same = (errors.new_invalid(GroupKind("g", "Foo"), "a", errs) for errs in (broken, field.ErrorList(broken)))
    assert str(err) == str(same) == 'Foo.g "a" is invalid: spec.size: Invalid value: -1: must not be negative'
