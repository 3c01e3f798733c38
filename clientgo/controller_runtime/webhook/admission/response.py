"""Constructors of admission responses. Mirrors pkg/webhook/admission/response.go."""

from __future__ import annotations

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.jsonpatch import InvalidDocumentError, Operation, create_patch
from clientgo.controller_runtime.webhook.admission.webhook import Response
from clientgo.klog.exceptions import full_text

__all__ = [
    "allowed",
    "denied",
    "errored",
    "patch_response_from_raw",
    "patched",
    "validation_response",
    "validation_response_from_status",
]


def allowed(message: str) -> Response:
    """Return a response that allows the request. Go: Allowed."""
    return validation_response(True, message)


def denied(message: str) -> Response:
    """Return a response that denies the request with 403. Go: Denied."""
    return validation_response(False, message)


def patched(reason: str, *patches: Operation) -> Response:
    """Return a response that allows the request with patches. Go: Patched."""
    response = allowed(reason)
    response.patches = list(patches)
    return response


def errored(code: int, err: object) -> Response:
    """Return a response that denies the request with this HTTP code and error. Go: Errored."""
    return Response(allowed=False, result=metav1.Status(code=code, message=full_text(err)))


def validation_response(allowed: bool, message: str) -> Response:
    """Return a response that allows the request with 200 or denies it with 403. Go: ValidationResponse."""
    status = metav1.Status(code=200) if allowed else metav1.Status(code=403, reason=metav1.StatusReason.FORBIDDEN)
    if message:
        status.message = message
    return Response(allowed=allowed, result=status)


def patch_response_from_raw(original: bytes, current: bytes) -> Response:
    """Return a response that allows the request with the patch from `original` to `current`, both in JSON.

    Go: PatchResponseFromRaw.
    """
    try:
        patches = create_patch(original, current)
    except InvalidDocumentError as err:
        return errored(500, err)
    response = Response(allowed=True, patches=patches)
    if patches:
        response.patch_type = admissionv1.PatchType.JSON_PATCH
    return response


def validation_response_from_status(allowed: bool, status: metav1.Status) -> Response:
    """Return a response with the status of an API error. Go: validationResponseFromStatus."""
    return Response(allowed=allowed, result=status.deep_copy())
