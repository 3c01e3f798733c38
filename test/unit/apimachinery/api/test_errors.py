"""The properties of an API error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.validation import field

PODS = GroupResource("", "pods")


@pytest.mark.parametrize(
    ("err", "delay"),
    [
        # Only this reason asks for a delay, which may be 0.
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


def wrapped(err: Exception | None) -> Exception | None:
    """Return an exception with the error as the cause of its cause."""
    for text in ("inner", "outer"):
        outer = RuntimeError(text)
        outer.__cause__ = err
        err = outer
    return err


def status_error(reason: str = "", code: int = 0, **details: Any) -> errors.StatusError:
    status = metav1.Status(reason=reason, code=code)
    if details:
        status.details = metav1.StatusDetails(**details)
    return errors.StatusError(status)


def test_each_constructor_makes_an_error_of_its_own_reason_alone() -> None:
    """Go: TestErrorNew."""
    made = {
        errors.is_already_exists: errors.new_already_exists(PODS, "1"),
        errors.is_conflict: errors.new_conflict(PODS, "2", "message"),
        errors.is_not_found: errors.new_not_found(PODS, "3"),
        errors.is_invalid: errors.new_invalid(GroupKind("", "Test"), "2", []),
        errors.is_bad_request: errors.new_bad_request("reason"),
        errors.is_forbidden: errors.new_forbidden(PODS, "2", "reason"),
        errors.is_unauthorized: errors.new_unauthorized("reason"),
        errors.is_server_timeout: errors.new_server_timeout(PODS, "reason", 0),
        errors.is_method_not_supported: errors.new_method_not_supported(PODS, "delete"),
        errors.is_too_many_requests: errors.new_too_many_requests("reason", 1),
        errors.is_gone: errors.new_gone("reason"),
        errors.is_resource_expired: errors.new_resource_expired("reason"),
        errors.is_service_unavailable: errors.new_service_unavailable("reason"),
        errors.is_timeout: errors.new_timeout_error("reason", 1),
        errors.is_internal_error: errors.new_internal_error("reason"),
        errors.is_request_entity_too_large_error: errors.new_request_entity_too_large_error("reason"),
    }
    for predicate, err in made.items():
        assert [each for each in made if each(err)] == [predicate], err
    taken = errors.new_generate_name_conflict(PODS, "3", 1)
    assert errors.is_already_exists(taken) and errors.suggests_client_delay(taken) == (1, True)


@pytest.mark.parametrize(
    ("code", "seconds", "delay"), [(429, 10, (10, True)), (500, 10, (10, True)), (429, 0, (0, False))]
)
def test_an_answer_without_a_status_asks_for_the_delay_of_its_header(
    code: int, seconds: int, delay: tuple[int, bool]
) -> None:
    """Go: TestErrorNew."""
    err = errors.new_generic_server_response(code, "GET", PODS, "test", "doing something", seconds, True)
    assert errors.suggests_client_delay(err) == delay


PATH = field.new_path("field[0].name")


@pytest.mark.parametrize(
    ("broken", "cause", "text"),
    [
        (field.duplicate(PATH, "bar"), "FieldValueDuplicate", ': field[0].name: Duplicate value: "bar"'),
        (field.invalid(PATH, "bar", "why"), "FieldValueInvalid", ': field[0].name: Invalid value: "bar": why'),
        (field.not_found(PATH, "bar"), "FieldValueNotFound", ': field[0].name: Not found: "bar"'),
        (field.not_supported(PATH, "bar", []), "FieldValueNotSupported", ': field[0].name: Unsupported value: "bar"'),
        (field.required(PATH, ""), "FieldValueRequired", ": field[0].name: Required value"),
        (None, "", ""),
    ],
)
def test_each_broken_rule_is_a_cause_with_its_field(broken: field.Error | None, cause: str, text: str) -> None:
    """Go: TestNewInvalid."""
    status = errors.new_invalid(GroupKind("", "Kind"), "name", [broken] if broken else []).status()
    assert (status.code, status.reason, status.message) == (422, "Invalid", f'Kind "name" is invalid{text}')
    assert status.details is not None and (status.details.kind, status.details.name) == ("Kind", "name")
    causes = [(each.type, each.field, each.message) for each in status.details.causes]
    assert causes == ([(cause, "field[0].name", broken.error_body())] if broken else [])


@pytest.mark.parametrize(
    ("err", "reason"),
    [
        pytest.param(status_error("Unauthorized"), "Unauthorized", id="Direct match"),
        pytest.param(ValueError("x"), "", id="No match"),
        pytest.param(wrapped(status_error("AlreadyExists")), "AlreadyExists", id="Nested match"),
        pytest.param(wrapped(ValueError("x")), "", id="Nested, no match"),
        pytest.param(None, "", id="Nil"),
    ],
)
def test_the_reason_is_found_among_the_causes(err: Exception | None, reason: str) -> None:
    """Go: TestReasonForErrorSupportsWrappedErrors, TestReasonForError."""
    assert errors.reason_for_error(err) == reason


def test_an_object_that_is_no_status_is_shown_by_its_error() -> None:
    """Go: TestFromObject."""
    assert str(errors.from_object(metav1.Status(message="foobar"))) == "foobar"
    other = errors.from_object(metav1.APIGroup(name="g"))
    assert str(other).startswith("unexpected object: ") and not isinstance(other, errors.StatusError)


@pytest.mark.parametrize(
    ("predicate", "reason", "code"),
    [
        pytest.param(
            errors.is_request_entity_too_large_error, "RequestEntityTooLarge", 413, id="IsRequestEntityTooLarge"
        ),
        pytest.param(errors.is_too_many_requests, "TooManyRequests", 429, id="TooManyRequests"),
    ],
)
def test_two_predicates_take_the_code_whatever_the_reason(
    predicate: Callable[[Exception | None], bool], reason: str, code: int
) -> None:
    """Go: TestIsErrorTypesByReasonAndCode, TestIsTooManyRequestsSupportsWrappedErrors,
    TestIsRequestEntityTooLargeErrorSupportsWrappedErrors.
    """
    for err in (status_error(reason), status_error(code=code), status_error("NewFangled", code)):
        assert predicate(err) and predicate(wrapped(err))
    assert predicate(status_error("Forbidden", code))
    for other in (status_error(), status_error(code=404), wrapped(status_error(code=404)), None):
        assert not predicate(other)


@pytest.mark.parametrize(
    ("predicate", "reason", "code", "other"),
    [
        pytest.param(errors.is_forbidden, "Forbidden", 403, "NotFound", id="Forbidden"),
        pytest.param(errors.is_not_found, "NotFound", 404, "Forbidden", id="NotFound"),
        pytest.param(errors.is_conflict, "Conflict", 409, "AlreadyExists", id="Conflict"),
        pytest.param(errors.is_gone, "Gone", 410, "Expired", id="Gone"),
        pytest.param(errors.is_internal_error, "InternalError", 500, "ServerTimeout", id="InternalError"),
    ],
)
def test_the_code_decides_where_the_reason_is_unknown(
    predicate: Callable[[Exception], bool], reason: str, code: int, other: str
) -> None:
    """Go: TestIsErrorTypesByReasonAndCode."""
    assert predicate(status_error(reason)) and predicate(status_error("", code))
    assert not predicate(status_error(other, code))


@pytest.mark.parametrize(
    ("predicate", "err"),
    [
        pytest.param(
            errors.is_unexpected_server_error,
            status_error(causes=[metav1.StatusCause(type="UnexpectedServerResponse")]),
            id="TestIsUnexpectedServerError",
        ),
        pytest.param(
            errors.is_unexpected_object_error, errors.UnexpectedObjectError(None), id="TestIsUnexpectedObjectError"
        ),
        pytest.param(
            lambda err: errors.suggests_client_delay(err)[1],
            status_error("ServerTimeout", name="x"),
            id="TestSuggestsClientDelaySupportsWrapping",
        ),
    ],
)
def test_what_an_error_is_is_found_among_its_causes(
    predicate: Callable[[Exception | None], bool], err: Exception
) -> None:
    """Go: TestIsUnexpectedServerError, TestIsUnexpectedObjectError, TestSuggestsClientDelaySupportsWrapping."""
    assert predicate(err) and predicate(wrapped(err))
    assert not any(map(predicate, (None, ValueError("x"), wrapped(ValueError("x")), status_error())))


def test_a_cause_is_found_by_its_type_at_any_depth() -> None:
    """Go: TestStatusCauseSupportsWrappedErrors."""
    err = status_error(causes=[metav1.StatusCause(type="Other"), metav1.StatusCause(type="Some", message="this")])
    for each in (err, wrapped(err)):
        cause = errors.status_cause(each, "Some")
        assert cause is not None and cause.message == "this" and errors.has_status_cause(each, "Some")
    for none in (None, ValueError("boom"), status_error("Conflict")):
        assert errors.status_cause(none, "Some") is None
    assert errors.status_cause(err, "Missing") is None and not errors.has_status_cause(err, "Missing")


def test_reasons_that_few_programs_ask_for() -> None:
    timeout = errors.new_server_timeout_for_kind(GroupKind("apps", "Deployment"), "get", 3)
    assert (timeout.err_status.code, errors.suggests_client_delay(timeout)) == (500, (3, True))
    assert timeout.err_status.details.to_dict() == {
        "name": "get",
        "group": "apps",
        "kind": "Deployment",
        "retryAfterSeconds": 3,
    }

    def answered(code: int, reason: str = "") -> errors.StatusError:
        return errors.StatusError(metav1.Status(code=code, reason=reason))

    assert errors.is_not_acceptable(answered(406)) and errors.is_not_acceptable(answered(0, "NotAcceptable"))
    assert errors.is_unsupported_media_type(answered(415))
    assert not errors.is_not_acceptable(answered(415)) and not errors.is_unsupported_media_type(answered(406))
    assert errors.is_store_read_error(answered(500, "StorageReadError"))
    assert not errors.is_store_read_error(answered(500))
    text, [shown] = answered(500, "StorageReadError").debug_error()
    assert text == "server response object: %s"
    assert json.loads(shown) == {"reason": "StorageReadError", "code": 500}
    assert "\n  " in shown
