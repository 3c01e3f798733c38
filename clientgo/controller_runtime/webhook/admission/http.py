"""Admission reviews over HTTP. Mirrors pkg/webhook/admission/http.go.

The HTTP status is always 200; the API server reads errors from the review in the body.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.runtime.converter import decode_as_go
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.controller_runtime.internal.reviewbody import parse
from clientgo.controller_runtime.webhook.admission.response import errored
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import RequestBodyTooLarge, ResponseWriter
from clientgo.klog.exceptions import operational_error

if TYPE_CHECKING:
    from clientgo.controller_runtime.webhook.admission.webhook import Request, Response, Webhook

__all__ = ["MAX_REQUEST_SIZE", "serve"]

MAX_REQUEST_SIZE = 7 * 1024 * 1024
"""The maximum size of a review in bytes: it contains at most two objects of up to three million bytes."""

_DEFAULT = GroupVersionKind("admission.k8s.io", "v1", "AdmissionReview")


@operational_error
class _BadRequest(Exception):
    """Raised for a request that is not an admission review."""

    def __init__(self, code: int, log: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.log = log


def serve(webhook: Webhook, resp: ResponseWriter, req: HTTPRequest) -> None:
    """Read a review, call the handler, and respond in the review's version."""
    ctx = req.context()
    if webhook.with_context_func is not None:
        ctx = webhook.with_context_func(ctx, req)
    try:
        request, kind = _review(req)
    except _BadRequest as err:
        webhook.logger(None).error(err, err.log)
        _write(webhook, resp, errored(err.code, err), None)
        return
    webhook.logger(request).v(5).info("received request")
    _write(webhook, resp, webhook.handle(ctx, request), kind)


def _review(req: HTTPRequest) -> tuple[Request, GroupVersionKind]:
    try:
        body = req.read_body(MAX_REQUEST_SIZE)
    except RequestBodyTooLarge:
        text = f"request entity is too large; limit is {MAX_REQUEST_SIZE} bytes"
        raise _BadRequest(413, "unable to read the body from the incoming request; limit reached", text) from None
    except OSError as err:
        raise _BadRequest(400, "unable to read the body from the incoming request", str(err)) from err
    if not body:
        raise _BadRequest(400, "bad request", "request body is empty")
    content_type = req.headers.get("Content-Type", "")
    if content_type != "application/json":
        text = f"contentType={content_type}, expected application/json"
        raise _BadRequest(400, "unable to process a request with unknown content type", text)
    return _decoded(body)


def _decoded(body: bytes) -> tuple[Request, GroupVersionKind]:
    from clientgo.controller_runtime.webhook.admission.webhook import Request

    try:
        document = parse(body)
        kind = _kind_of(document)
        review = decode_as_go(admissionv1.AdmissionReview, {"request": document.get("request")})
        request = Request() if review.request is None else Request.from_dict(review.request.to_dict())
        return request, kind
    except (ValueError, TypeError, RecursionError) as err:
        raise _BadRequest(400, "unable to decode the request", str(err)) from err


def _kind_of(document: dict[str, Any]) -> GroupVersionKind:
    """Return the review's kind as it states it, as Go does; the default is v1."""
    version = document.get("apiVersion") or _DEFAULT.group_version().identifier()
    return parse_group_version(version).with_kind(document.get("kind") or _DEFAULT.kind)


def _write(webhook: Webhook, resp: ResponseWriter, response: Response, kind: GroupVersionKind | None) -> None:
    review: dict[str, Any] = {}
    if kind is not None:
        review = {"kind": kind.kind, "apiVersion": kind.group_version().identifier()}
    resp.header()["Content-Type"] = "application/json"
    # Go writes these two fields in every response, even without a request that provides a uid.
    document = {"uid": response.uid, "allowed": response.allowed, **response.to_dict()}
    resp.write(json.dumps({**review, "response": document}) + "\n")
    result = response.result
    webhook.logger(None).v(5).info(
        "wrote response",
        code=result.code if result is not None else 0,
        reason=result.reason if result is not None else "",
        requestID=response.uid,
        allowed=response.allowed,
    )
