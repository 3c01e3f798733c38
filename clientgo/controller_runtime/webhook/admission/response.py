"""The usual answers of admission webhooks. Mirrors pkg/webhook/admission/response.go."""

from __future__ import annotations

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.jsonpatch import InvalidDocumentError, Operation, create_patch
from clientgo.controller_runtime.webhook.admission.webhook import Response

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
    """It may be. Go: Allowed."""
    return validation_response(True, message)


def denied(message: str) -> Response:
    """It may not be: 403. Go: Denied."""
    return validation_response(False, message)


def patched(reason: str, *patches: Operation) -> Response:
    """It may be, changed so. Go: Patched."""
    response = allowed(reason)
    response.patches = list(patches)
    return response


def errored(code: int, err: object) -> Response:
    """It could not be decided: an HTTP code, and what went wrong. Go: Errored."""
    return Response(allowed=False, result=metav1.Status(code=code, message=str(err)))


def validation_response(allowed: bool, message: str) -> Response:
    """Allowed with 200 or denied with 403. Go: ValidationResponse."""
    status = metav1.Status(code=200) if allowed else metav1.Status(code=403, reason=metav1.StatusReason.FORBIDDEN)
    if message:
        status.message = message
    return Response(allowed=allowed, result=status)


def patch_response_from_raw(original: bytes, current: bytes) -> Response:
    """Allowed, changed from `original` to `current`; both are JSON. Go: PatchResponseFromRaw."""
    try:
        patches = create_patch(original, current)
    except InvalidDocumentError as err:
        return errored(500, err)
    response = Response(allowed=True, patches=patches)
    if patches:
        response.patch_type = admissionv1.PatchType.JSON_PATCH
    return response


def validation_response_from_status(allowed: bool, status: metav1.Status) -> Response:
    """An answer that says what an API error says. Go: validationResponseFromStatus."""
    return Response(allowed=allowed, result=status.deep_copy())
