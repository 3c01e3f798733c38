"""Constructors and predicates of the errors in an API server's responses.

Mirrors k8s.io/apimachinery/pkg/api/errors/errors.go. Clients raise `StatusError`. The `is_*` functions accept any
exception and follow its causes (`raise X from err`), as Go's errors.As does. Messages are exactly Go's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from clientgo.apimachinery.apis.meta.v1.types import (
    STATUS_FAILURE,
    CauseType,
    ListMeta,
    Status,
    StatusCause,
    StatusDetails,
    StatusReason,
)
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource
from clientgo.apimachinery.util.errors.chain import chain
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error

if TYPE_CHECKING:
    from clientgo.apimachinery.util.validation.field import Error as FieldError

_UNKNOWN: Final = ""
_STATUS_KINDS: Final = (("v1", "Status"), ("meta.k8s.io/v1", "Status"))


@operational_error
class StatusError(Exception):
    """An exception with a metav1.Status; str() is the status' message. Go: errors.StatusError."""

    def __init__(self, err_status: Status) -> None:
        super().__init__(err_status)
        self.err_status = err_status

    def __str__(self) -> str:
        return self.err_status.message

    def __repr__(self) -> str:
        status = self.err_status
        return f"<StatusError {status.code} {status.reason or 'Unknown'}: {status.message}>"

    def status(self) -> Status:
        """Return the status, not copied. Go: StatusError.Status."""
        return self.err_status

    def debug_error(self) -> tuple[str, list[Any]]:
        """Return a format string and its arguments that show the whole status in a log. Go: StatusError.DebugError."""
        return "server response object: %s", [json.dumps(self.err_status.to_dict(), indent=2)]


@runtime_checkable
class APIStatus(Protocol):
    """An error with a Status. Go: errors.APIStatus."""

    def status(self) -> Status:
        """Return the status, not copied."""
        ...


_KNOWN_REASONS: Final = frozenset(
    {
        StatusReason.UNAUTHORIZED,
        StatusReason.FORBIDDEN,
        StatusReason.NOT_FOUND,
        StatusReason.ALREADY_EXISTS,
        StatusReason.CONFLICT,
        StatusReason.GONE,
        StatusReason.INVALID,
        StatusReason.SERVER_TIMEOUT,
        StatusReason.STORE_READ_ERROR,
        StatusReason.TIMEOUT,
        StatusReason.TOO_MANY_REQUESTS,
        StatusReason.BAD_REQUEST,
        StatusReason.METHOD_NOT_ALLOWED,
        StatusReason.NOT_ACCEPTABLE,
        StatusReason.REQUEST_ENTITY_TOO_LARGE,
        StatusReason.UNSUPPORTED_MEDIA_TYPE,
        StatusReason.INTERNAL_ERROR,
        StatusReason.EXPIRED,
        StatusReason.SERVICE_UNAVAILABLE,
    }
)


def has_status_cause(err: BaseException | None, name: str) -> bool:
    """Report whether the error's status has this cause. Go: errors.HasStatusCause."""
    return status_cause(err, name) is not None


def status_cause(err: BaseException | None, name: str) -> StatusCause | None:
    """Return the first cause of this type in the error's status, or None. Go: errors.StatusCause (with a second
    result).
    """
    status = _status_of(err)
    if status is None or status.details is None:
        return None
    return next((cause for cause in status.details.causes if cause.type == name), None)


@operational_error
class UnexpectedObjectError(Exception):
    """Raised for an object where a Status was expected. Go: errors.UnexpectedObjectError."""

    def __init__(self, object: Any) -> None:
        super().__init__(object)
        self.object = object

    def __str__(self) -> str:
        return f"unexpected object: {self.object}"


def from_object(obj: Any) -> StatusError | UnexpectedObjectError:
    """Return the exception for an object that a server sent in place of a result. Go: errors.FromObject.

    A Status with fields of wrong types, which Go fails to decode, is an internal error that names the first such field.
    """
    if isinstance(obj, Unstructured) and (obj.get_api_version(), obj.get_kind()) in _STATUS_KINDS:
        obj = Status.from_dict(obj.to_dict())
    if not isinstance(obj, Status):
        return UnexpectedObjectError(obj)
    # Imported here, since few programs meet such a server.
    from clientgo.apimachinery.runtime.converter import check_fields

    try:
        check_fields(obj)
    except ValueError as err:
        return new_internal_error(f"unable to decode a Status: {err}")
    return StatusError(obj)


def _failure(code: int, reason: str, message: str, details: StatusDetails | None = None) -> StatusError:
    # Every Status on the wire has empty metadata.
    return StatusError(
        Status(
            metadata=ListMeta(), status=STATUS_FAILURE, message=message, reason=reason, details=details, code=int(code)
        )
    )


def _details(resource: GroupResource, name: str = "", retry_after_seconds: int = 0) -> StatusDetails:
    return StatusDetails(
        name=name, group=resource.group, kind=resource.resource, retry_after_seconds=retry_after_seconds
    )


def new_not_found(qualified_resource: GroupResource, name: str) -> StatusError:
    """Return a 404 error: the object does not exist. Go: errors.NewNotFound."""
    message = f"{qualified_resource} {quote(name)} not found"
    return _failure(HTTPStatus.NOT_FOUND, StatusReason.NOT_FOUND, message, _details(qualified_resource, name))


def new_already_exists(qualified_resource: GroupResource, name: str) -> StatusError:
    """Return a 409 error: the object already exists. Go: errors.NewAlreadyExists."""
    message = f"{qualified_resource} {quote(name)} already exists"
    return _failure(HTTPStatus.CONFLICT, StatusReason.ALREADY_EXISTS, message, _details(qualified_resource, name))


def new_generate_name_conflict(qualified_resource: GroupResource, name: str, retry_after_seconds: int) -> StatusError:
    """Return a 409 error: the generated name is taken. Go: errors.NewGenerateNameConflict."""
    message = (
        f"{qualified_resource} {quote(name)} already exists, "
        "the server was not able to generate a unique name for the object"
    )
    details = _details(qualified_resource, name, retry_after_seconds)
    return _failure(HTTPStatus.CONFLICT, StatusReason.ALREADY_EXISTS, message, details)


def new_unauthorized(reason: str) -> StatusError:
    """Return a 401 error: the client is not authenticated. Go: errors.NewUnauthorized."""
    return _failure(HTTPStatus.UNAUTHORIZED, StatusReason.UNAUTHORIZED, reason or "not authorized")


def new_forbidden(qualified_resource: GroupResource, name: str, err: object) -> StatusError:
    """Return a 403 error: the user lacks the permission; `err` is the reason. Go: errors.NewForbidden."""
    if qualified_resource.empty():
        message = f"forbidden: {err}"
    elif not name:
        message = f"{qualified_resource} is forbidden: {err}"
    else:
        message = f"{qualified_resource} {quote(name)} is forbidden: {err}"
    return _failure(HTTPStatus.FORBIDDEN, StatusReason.FORBIDDEN, message, _details(qualified_resource, name))


def new_conflict(qualified_resource: GroupResource, name: str, err: object) -> StatusError:
    """Return a 409 error: the object has changed since it was read; `err` is the reason. Go: errors.NewConflict."""
    message = f"Operation cannot be fulfilled on {qualified_resource} {quote(name)}: {err}"
    return _failure(HTTPStatus.CONFLICT, StatusReason.CONFLICT, message, _details(qualified_resource, name))


def new_apply_conflict(causes: Iterable[StatusCause], message: str) -> StatusError:
    """Return a 409 error: other field managers own fields of the apply. Go: errors.NewApplyConflict."""
    details = StatusDetails(causes=list(causes))
    return _failure(HTTPStatus.CONFLICT, StatusReason.CONFLICT, message, details)


def new_gone(message: str) -> StatusError:
    """Return a 410 error. Deprecated in Go: use new_resource_expired. Go: errors.NewGone."""
    return _failure(HTTPStatus.GONE, StatusReason.GONE, message)


def new_resource_expired(message: str) -> StatusError:
    """Return a 410 error: the resource version or continue token is too old. Go: errors.NewResourceExpired."""
    return _failure(HTTPStatus.GONE, StatusReason.EXPIRED, message)


def new_invalid(qualified_kind: GroupKind, name: str, errs: Iterable[FieldError]) -> StatusError:
    """Return a 422 error: the object is invalid. Each field error becomes a cause. Go: errors.NewInvalid."""
    from clientgo.apimachinery.util.validation.field import ErrorList  # Imported here, since only servers need it.

    errs = ErrorList(errs)
    causes = [StatusCause(type=str(err.type), message=err.error_body(), field=err.field) for err in errs]
    details = StatusDetails(name=name, group=qualified_kind.group, kind=qualified_kind.kind, causes=causes)
    message = f"{qualified_kind} {quote(name)} is invalid"
    if aggregate := errs.to_aggregate():
        message = f"{message}: {aggregate}"
    return _failure(HTTPStatus.UNPROCESSABLE_ENTITY, StatusReason.INVALID, message, details)


def new_bad_request(reason: str) -> StatusError:
    """Return a 400 error: the request is malformed. Go: errors.NewBadRequest."""
    return _failure(HTTPStatus.BAD_REQUEST, StatusReason.BAD_REQUEST, reason)


def new_too_many_requests(message: str, retry_after_seconds: int) -> StatusError:
    """Return a 429 error: the client should retry after this number of seconds. Go: errors.NewTooManyRequests."""
    details = StatusDetails(retry_after_seconds=retry_after_seconds)
    return _failure(HTTPStatus.TOO_MANY_REQUESTS, StatusReason.TOO_MANY_REQUESTS, message, details)


def new_service_unavailable(reason: str) -> StatusError:
    """Return a 503 error. Go: errors.NewServiceUnavailable."""
    return _failure(HTTPStatus.SERVICE_UNAVAILABLE, StatusReason.SERVICE_UNAVAILABLE, reason)


def new_method_not_supported(qualified_resource: GroupResource, action: str) -> StatusError:
    """Return a 405 error: the resource does not support the verb. Go: errors.NewMethodNotSupported."""
    message = f"{action} is not supported on resources of kind {quote(str(qualified_resource))}"
    details = _details(qualified_resource)
    return _failure(HTTPStatus.METHOD_NOT_ALLOWED, StatusReason.METHOD_NOT_ALLOWED, message, details)


def new_server_timeout(qualified_resource: GroupResource, operation: str, retry_after_seconds: int) -> StatusError:
    """Return a 500 error: the operation did not complete in time, and the client should retry.

    Go: errors.NewServerTimeout.
    """
    message = (
        f"The {operation} operation against {qualified_resource} could not be completed at this time, please try again."
    )
    details = _details(qualified_resource, operation, retry_after_seconds)
    return _failure(HTTPStatus.INTERNAL_SERVER_ERROR, StatusReason.SERVER_TIMEOUT, message, details)


def new_server_timeout_for_kind(qualified_kind: GroupKind, operation: str, retry_after_seconds: int) -> StatusError:
    """Return a 500 error for a kind, as `new_server_timeout` does. Go: errors.NewServerTimeoutForKind."""
    return new_server_timeout(GroupResource(qualified_kind.group, qualified_kind.kind), operation, retry_after_seconds)


def new_internal_error(err: object) -> StatusError:
    """Return a 500 error: the server failed internally. Go: errors.NewInternalError."""
    details = StatusDetails(causes=[StatusCause(message=str(err))])
    message = f"Internal error occurred: {err}"
    return _failure(HTTPStatus.INTERNAL_SERVER_ERROR, StatusReason.INTERNAL_ERROR, message, details)


def new_timeout_error(message: str, retry_after_seconds: int) -> StatusError:
    """Return a 504 error: the request took too long. Go: errors.NewTimeoutError."""
    details = StatusDetails(retry_after_seconds=retry_after_seconds)
    return _failure(HTTPStatus.GATEWAY_TIMEOUT, StatusReason.TIMEOUT, f"Timeout: {message}", details)


def new_too_many_requests_error(message: str) -> StatusError:
    """Return a 429 error without a delay. Go: errors.NewTooManyRequestsError."""
    reason = StatusReason.TOO_MANY_REQUESTS
    return _failure(HTTPStatus.TOO_MANY_REQUESTS, reason, f"Too many requests: {message}")


def new_request_entity_too_large_error(message: str) -> StatusError:
    """Return a 413 error: the request's body is too large. Go: errors.NewRequestEntityTooLargeError."""
    reason = StatusReason.REQUEST_ENTITY_TOO_LARGE
    return _failure(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason, f"Request entity too large: {message}")


_GENERIC_RESPONSES: Final = {
    409: (StatusReason.CONFLICT, "the server reported a conflict"),
    404: (StatusReason.NOT_FOUND, "the server could not find the requested resource"),
    400: (StatusReason.BAD_REQUEST, "the server rejected our request for an unknown reason"),
    401: (StatusReason.UNAUTHORIZED, "the server has asked for the client to provide credentials"),
    405: (StatusReason.METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource"),
    422: (StatusReason.INVALID, "the server rejected our request due to an error in our request"),
    503: (StatusReason.SERVICE_UNAVAILABLE, "the server is currently unable to handle the request"),
    504: (
        StatusReason.TIMEOUT,
        "the server was unable to return a response in the time allotted, but may still be processing the request",
    ),
    429: (
        StatusReason.TOO_MANY_REQUESTS,
        "the server has received too many requests and has asked us to try again later",
    ),
}


def _generic_reason_and_message(code: int, verb: str, server_message: str) -> tuple[str, str]:
    if code == 409 and verb == "POST":
        return StatusReason.ALREADY_EXISTS, _GENERIC_RESPONSES[409][1]
    if code in _GENERIC_RESPONSES:
        return _GENERIC_RESPONSES[code]
    if code == 403:
        return StatusReason.FORBIDDEN, server_message
    if code == 415:
        return StatusReason.UNSUPPORTED_MEDIA_TYPE, server_message
    if code == 406:
        unhelpful = server_message in ("", "unknown")
        plain = "the server was unable to respond with a content type that the client supports"
        return StatusReason.NOT_ACCEPTABLE, plain if unhelpful else server_message
    if code >= 500:
        message = f"an error on the server ({quote(server_message)}) has prevented the request from succeeding"
        return StatusReason.INTERNAL_ERROR, message
    return _UNKNOWN, f"the server responded with the status code {code} but did not return more information"


def _int32(number: int) -> int:
    """Return the number as Go converts it to an int32: without its higher bits."""
    return (number + 2**31) % 2**32 - 2**31


def new_generic_server_response(
    code: int,
    verb: str,
    qualified_resource: GroupResource,
    name: str,
    server_message: str,
    retry_after_seconds: int,
    is_unexpected_response: bool,
) -> StatusError:
    """Return the error for a response whose body is not a Status. Go: errors.NewGenericServerResponse."""
    reason, message = _generic_reason_and_message(code, verb, server_message)
    if not qualified_resource.empty():
        target = f"{qualified_resource} {name}" if name else str(qualified_resource)
        message = f"{message} ({verb.lower()} {target})"
    causes = [StatusCause(type=CauseType.UNEXPECTED_SERVER_RESPONSE, message=server_message)]
    details = StatusDetails(
        name=name,
        group=qualified_resource.group,
        kind=qualified_resource.resource,
        causes=causes if is_unexpected_response else [],
        retry_after_seconds=_int32(retry_after_seconds),
    )
    return _failure(code, reason, message, details)


def is_not_found(err: BaseException | None) -> bool:
    """Report whether the error is a 404: the object does not exist. Go: errors.IsNotFound."""
    return _is(err, StatusReason.NOT_FOUND, 404)


def is_already_exists(err: BaseException | None) -> bool:
    """Report whether the error states that the object already exists. Go: errors.IsAlreadyExists."""
    return reason_for_error(err) == StatusReason.ALREADY_EXISTS


def is_conflict(err: BaseException | None) -> bool:
    """Report whether the error is a 409: the object has changed since it was read. Go: errors.IsConflict."""
    return _is(err, StatusReason.CONFLICT, 409)


def is_invalid(err: BaseException | None) -> bool:
    """Report whether the error is a 422: the object is invalid. Go: errors.IsInvalid."""
    return _is(err, StatusReason.INVALID, 422)


def is_gone(err: BaseException | None) -> bool:
    """Report whether the error is a 410: the resource no longer exists. Go: errors.IsGone."""
    return _is(err, StatusReason.GONE, 410)


def is_resource_expired(err: BaseException | None) -> bool:
    """Report whether the resource version or continue token is too old. Go: errors.IsResourceExpired."""
    return reason_for_error(err) == StatusReason.EXPIRED


def is_not_acceptable(err: BaseException | None) -> bool:
    """Report whether the error is a 406: the server supports none of the accepted content types.

    Go: errors.IsNotAcceptable.
    """
    return _is(err, StatusReason.NOT_ACCEPTABLE, 406)


def is_unsupported_media_type(err: BaseException | None) -> bool:
    """Report whether the error is a 415: the server does not support the body's content type.

    Go: errors.IsUnsupportedMediaType.
    """
    return _is(err, StatusReason.UNSUPPORTED_MEDIA_TYPE, 415)


def is_method_not_supported(err: BaseException | None) -> bool:
    """Report whether the error is a 405: the resource does not support the verb. Go: errors.IsMethodNotSupported."""
    return _is(err, StatusReason.METHOD_NOT_ALLOWED, 405)


def is_service_unavailable(err: BaseException | None) -> bool:
    """Report whether the error is a 503: the server is unavailable. Go: errors.IsServiceUnavailable."""
    return _is(err, StatusReason.SERVICE_UNAVAILABLE, 503)


def is_bad_request(err: BaseException | None) -> bool:
    """Report whether the error is a 400: the request is malformed. Go: errors.IsBadRequest."""
    return _is(err, StatusReason.BAD_REQUEST, 400)


def is_unauthorized(err: BaseException | None) -> bool:
    """Report whether the error is a 401: the client is not authenticated. Go: errors.IsUnauthorized."""
    return _is(err, StatusReason.UNAUTHORIZED, 401)


def is_forbidden(err: BaseException | None) -> bool:
    """Report whether the error is a 403: the user lacks the permission. Go: errors.IsForbidden."""
    return _is(err, StatusReason.FORBIDDEN, 403)


def is_timeout(err: BaseException | None) -> bool:
    """Report whether the error is a 504: the request took too long. Go: errors.IsTimeout."""
    return _is(err, StatusReason.TIMEOUT, 504)


def is_server_timeout(err: BaseException | None) -> bool:
    """Report whether the server did not complete the operation in time and the client should retry.

    Go: errors.IsServerTimeout.
    """
    return reason_for_error(err) == StatusReason.SERVER_TIMEOUT


def is_internal_error(err: BaseException | None) -> bool:
    """Report whether the error is a 500: the server failed internally. Go: errors.IsInternalError."""
    return _is(err, StatusReason.INTERNAL_ERROR, 500)


def is_too_many_requests(err: BaseException | None) -> bool:
    """Report whether the reason or the code (429) asks the client to slow down. Go: errors.IsTooManyRequests."""
    reason, code = _reason_and_code_for_error(err)
    return reason == StatusReason.TOO_MANY_REQUESTS or code == 429


def is_request_entity_too_large_error(err: BaseException | None) -> bool:
    """Report whether the reason or the code (413) states that the body is too large.

    Go: IsRequestEntityTooLargeError.
    """
    reason, code = _reason_and_code_for_error(err)
    return reason == StatusReason.REQUEST_ENTITY_TOO_LARGE or code == 413


def is_unexpected_server_error(err: BaseException | None) -> bool:
    """Report whether the response did not come from the API server, but perhaps from a proxy.

    Go: errors.IsUnexpectedServerError.
    """
    return has_status_cause(err, CauseType.UNEXPECTED_SERVER_RESPONSE)


def is_unexpected_object_error(err: BaseException | None) -> bool:
    """Report whether an object arrived where a Status was expected. Go: errors.IsUnexpectedObjectError."""
    return any(isinstance(each, UnexpectedObjectError) for each in chain(err))


def is_store_read_error(err: BaseException | None) -> bool:
    """Report whether the server could not read the object from its storage. Go: errors.IsStoreReadError."""
    return reason_for_error(err) == StatusReason.STORE_READ_ERROR


def suggests_client_delay(err: BaseException | None) -> tuple[int, bool]:
    """Return the delay in seconds that the server asks for, and whether it asks for one.

    Go: errors.SuggestsClientDelay.
    """
    status = _status_of(err)
    if status is None or status.details is None:
        return 0, False
    seconds = status.details.retry_after_seconds
    if status.reason == StatusReason.SERVER_TIMEOUT or seconds > 0:
        return seconds, True
    return 0, False


def reason_for_error(err: BaseException | None) -> str:
    """Return the status' reason; "" (unknown) for other errors. Go: errors.ReasonForError."""
    return _reason_and_code_for_error(err)[0]


def _reason_and_code_for_error(err: BaseException | None) -> tuple[str, int]:
    status = _status_of(err)
    return (_UNKNOWN, 0) if status is None else (status.reason, status.code)


def _is(err: BaseException | None, reason: str, code: int) -> bool:
    """Report whether the error has this reason, or this code together with an unknown reason."""
    found_reason, found_code = _reason_and_code_for_error(err)
    return found_reason == reason or (found_code == code and found_reason not in _KNOWN_REASONS)


def _status_of(err: BaseException | None) -> Status | None:
    """Return the status of the first error of the chain that has one."""
    for each in chain(err):
        if isinstance(each, StatusError):
            return each.err_status
        # Exceptions of other libraries may have a numeric `status`.
        if isinstance(each, APIStatus) and callable(each.status):
            return each.status()
    return None


class ErrorReporter:
    """A converter of the client's own errors into Status objects, as watches report them. Go: errors.ErrorReporter."""

    def __init__(self, code: int, verb: str, reason: str) -> None:
        self._code = code
        self._verb = verb
        self._reason = reason

    def as_object(self, err: BaseException) -> Status:
        """Return the error as a Status with a cause of this reporter's reason. Go: ErrorReporter.AsObject."""
        status = new_generic_server_response(self._code, self._verb, GroupResource(), "", str(err), 0, True).err_status
        assert status.details is not None
        status.details.causes.append(StatusCause(type=self._reason or "ClientError", message=str(err)))
        return status


def new_client_error_reporter(code: int, verb: str, reason: str) -> ErrorReporter:
    """Return a reporter of errors in the responses of a client. Go: errors.NewClientErrorReporter."""
    return ErrorReporter(code, verb, reason)
