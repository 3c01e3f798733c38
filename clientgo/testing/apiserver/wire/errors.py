"""Errors of the API server: Status objects as exceptions, and field errors that make an Invalid Status.

The texts are those of apimachinery's api/errors and util/validation/field. Every way in which a request can fail ends
in an ApiError; the HTTP front end turns it into a response.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text


@operational_error
class ApiError(Exception):
    """A Failure Status with its HTTP code. `details` None leaves the field out, {} shows it empty."""

    def __init__(
        self,
        code: int,
        reason: str | None,
        message: str,
        details: Json | None = None,
        *,
        headers: dict[str, str] | None = None,
        metadata: Json | None = None,
        pretty: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = headers or {}
        self.metadata = metadata or {}
        self.pretty = pretty

    def status(self) -> Json:
        out: Json = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata, "status": "Failure"}
        out["message"] = self.message
        if self.reason is not None:
            out["reason"] = self.reason
        if self.details is not None:
            out["details"] = self.details
        out["code"] = self.code
        return out


class PlainError(Exception):
    """An answer in plain text, as paths outside the API give it."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def resource_text(group: str, resource: str) -> str:
    return f"{resource}.{group}" if group else resource


def _details(name: str, group: str, kind: str, **more: Any) -> Json:
    out: Json = {}
    if name:
        out["name"] = name
    if group:
        out["group"] = group
    if kind:
        out["kind"] = kind
    out.update(more)
    return out


def not_found(group: str, resource: str, name: str) -> ApiError:
    message = f'{resource_text(group, resource)} "{name}" not found'
    return ApiError(404, "NotFound", message, _details(name, group, resource))


def resource_not_found() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def page_not_found() -> PlainError:
    return PlainError(404, "404 page not found\n")


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def already_exists(group: str, resource: str, name: str) -> ApiError:
    message = f'{resource_text(group, resource)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(name, group, resource))


def generate_name_conflict(group: str, resource: str, name: str) -> ApiError:
    text = "already exists, the server was not able to generate a unique name for the object"
    details = _details(name, group, resource, retryAfterSeconds=1)
    message = f'{resource_text(group, resource)} "{name}" {text}'
    return ApiError(409, "AlreadyExists", message, details, headers={"Retry-After": "1"})


def conflict(group: str, resource: str, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource_text(group, resource)} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(name, group, resource))


def apply_conflict(message: str, causes: list[tuple[str, str]]) -> ApiError:
    """Return the 409 of an apply that would take fields from other managers.

    Each cause is a pair of field and message.
    """
    shown_causes = [{"reason": "FieldManagerConflict", "message": text, "field": field} for field, text in causes]
    return ApiError(409, "Conflict", message, {"causes": shown_causes})


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def forbidden(group: str, resource: str, name: str, why: str, **details: Any) -> ApiError:
    head = resource_text(group, resource) + (f' "{name}"' if name else "")
    return ApiError(403, "Forbidden", f"{head} is forbidden: {why}", _details(name, group, resource, **details))


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def unsupported_media_type(accepted: str) -> ApiError:
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return ApiError(415, "UnsupportedMediaType", message)


def internal_text(message: str) -> ApiError:
    """Return a 500 without a reason, as kube-apiserver sends for errors that are no API status."""
    return ApiError(500, None, message)


def internal_error(text: str) -> ApiError:
    """Return apimachinery's InternalError: 500, with the text as its cause."""
    return ApiError(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})


def service_unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def resource_version_too_large(requested: int, current: int) -> ApiError:
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return ApiError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {requested}, current: {current}",
        {"causes": causes, "retryAfterSeconds": 1},
        headers={"Retry-After": "1"},
    )


def too_large(why: str) -> ApiError:
    """Return the error for a request with too many bytes or operations. Go: NewRequestEntityTooLargeError."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {why}", {})


# ---- field errors


MAX_FIELD_ERRORS = 20_000


class TooManyFieldErrors(Exception):
    """Raised in place of one more FieldError within `few_field_errors`."""


class _Collected(threading.local):
    """The field errors that this thread has made within `few_field_errors`; None outside of it."""

    errors: list[FieldError] | None = None


_collected = _Collected()


def few_field_errors(check: Callable[[], list[FieldError]]) -> list[FieldError]:
    """Return the errors that `check` finds. It ends early after `MAX_FIELD_ERRORS`, more than any answer shows.

    Only for checks that report each error that they make. Go validates the whole object, which is slow in Python: an
    object of 3 MB may have more than a million errors.
    """
    before, _collected.errors = _collected.errors, []
    try:
        return check()
    except TooManyFieldErrors:
        found = _collected.errors
    finally:
        _collected.errors = before
    return [*found, FieldError("FieldValueInvalid", found[-1].field, "and more errors in the object")]


class FieldError:
    """One problem with one field: reason, field path and text, as field.Error prints them."""

    __slots__ = ("body", "field", "reason")

    def __init__(self, reason: str, field: str, body: str) -> None:
        self.reason = reason
        self.field = field
        self.body = body
        found = _collected.errors
        if found is not None:
            found.append(self)
            if len(found) >= MAX_FIELD_ERRORS:
                raise TooManyFieldErrors

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"

    def __repr__(self) -> str:
        return f"<FieldError {self}>"

    def cause(self) -> Json:
        return {"reason": self.reason, "message": self.body, "field": self.field}


def shown(value: Any) -> str:
    """Return an invalid value as Go's field.Error prints it: strings quoted, other values as JSON."""
    return quote(value) if isinstance(value, str) else dumps_text(value)


def field_invalid(field: str, value: Any, detail: str) -> FieldError:
    body = f"Invalid value: {shown(value)}"
    return FieldError("FieldValueInvalid", field, f"{body}: {detail}" if detail else body)


def field_type_invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueTypeInvalid", field, f"Invalid value: {shown(value)}: {detail}")


def field_required(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, f"Required value: {detail}" if detail else "Required value")


def field_forbidden(field: str, detail: str) -> FieldError:
    return FieldError("FieldValueForbidden", field, f"Forbidden: {detail}")


def field_not_supported(field: str, value: Any, supported: list[str]) -> FieldError:
    choices = ", ".join(dumps_text(item) for item in supported)
    return FieldError(
        "FieldValueNotSupported", field, f"Unsupported value: {shown(value)}: supported values: {choices}"
    )


def field_duplicate(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueDuplicate", field, f"Duplicate value: {shown(value)}")


def field_too_long(field: str, limit: int) -> FieldError:
    unit = "byte" if limit == 1 else "bytes"
    return FieldError("FieldValueTooLong", field, f"Too long: may not be more than {limit} {unit}")


def field_too_many(field: str, actual: int, limit: int) -> FieldError:
    unit = "item" if limit == 1 else "items"
    return FieldError("FieldValueTooMany", field, f"Too many: {actual}: must have at most {limit} {unit}")


def field_not_found(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueNotFound", field, f"Not found: {shown(value)}")


# Code points of the errors in one response. Kubernetes has no limit; there, 1 MB of invalid finalizers results in a
# response of 100 MB.
_MAX_ERROR_TEXT = 1 << 20


def invalid(group: str, kind: str, name: str, errors: list[FieldError]) -> ApiError:
    """Return the 422 for field errors.

    Beyond `_MAX_ERROR_TEXT` it counts the other errors, as the last cause.
    """
    errors = _bounded(errors)
    head = resource_text(group, kind)
    details = _details(name, group, kind, causes=[error.cause() for error in errors])
    return ApiError(422, "Invalid", f'{head} "{name}" is invalid: {aggregate(errors)}', details)


def aggregate(errors: list[FieldError]) -> str:
    """Return the text of field errors, with equal texts once, within bounds. Go: field.ErrorList.ToAggregate."""
    texts = list(dict.fromkeys(str(error) for error in _bounded(errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _bounded(errors: list[FieldError]) -> list[FieldError]:
    left = _MAX_ERROR_TEXT
    for i, error in enumerate(errors):
        left -= len(error.body) + len(error.field)
        if left < 0 and i > 0:
            more = FieldError("FieldValueInvalid", error.field, f"and {len(errors) - i} more errors in the object")
            return [*errors[:i], more]
    return errors


def unprocessable() -> ApiError:
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})
