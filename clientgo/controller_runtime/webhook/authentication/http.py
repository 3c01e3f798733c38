"""Token reviews over HTTP. Mirrors pkg/webhook/authentication/http.go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.controller_runtime.internal.reviewbody import parse
from clientgo.controller_runtime.webhook.authentication.response import errored
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import RequestBodyTooLarge, ResponseWriter
from clientgo.klog.exceptions import operational_error

if TYPE_CHECKING:
    from clientgo.controller_runtime.webhook.authentication.webhook import Request, Response, Webhook

__all__ = ["serve"]

# The maximum size of a review in bytes. Tokens are short.
_MAX_REQUEST_SIZE = 1024 * 1024
_VERSIONS = ("authentication.k8s.io/v1", "authentication.k8s.io/v1beta1")


@operational_error
class _BadRequest(Exception):
    """Raised for a request that is not a token review."""


def serve(webhook: Webhook, resp: ResponseWriter, req: HTTPRequest) -> None:
    """Read a review, call the handler, and respond in the review's version."""
    ctx = req.context()
    if webhook.with_context_func is not None:
        ctx = webhook.with_context_func(ctx, req)
    try:
        request, version = _review(req)
    except _BadRequest as err:
        webhook.logger().error(err, "bad request")
        _write(resp, errored(err), _VERSIONS[0])
        return
    _write(resp, webhook.handle(ctx, request), version)


def _review(req: HTTPRequest) -> tuple[Request, str]:
    from clientgo.controller_runtime.webhook.authentication.webhook import Request

    try:
        body = req.read_body(_MAX_REQUEST_SIZE)
    except RequestBodyTooLarge:
        raise _BadRequest(f"request entity is too large; limit is {_MAX_REQUEST_SIZE} bytes") from None
    except OSError as err:
        raise _BadRequest(str(err)) from err
    if not body:
        raise _BadRequest("request body is empty")
    content_type = req.headers.get("Content-Type", "")
    if content_type != "application/json":
        raise _BadRequest(f"contentType={content_type}, expected application/json")
    try:
        document = parse(body)
        version = document.get("apiVersion", _VERSIONS[0])
        if version not in _VERSIONS or document.get("kind", "TokenReview") != "TokenReview":
            raise ValueError(f'no kind "{document.get("kind")}" is registered for version "{version}"')
        request = Request.from_dict(document)
        check_fields(request)
        token = request.spec.token
    except (ValueError, TypeError, RecursionError) as err:
        raise _BadRequest(str(err)) from err
    if not token:
        raise _BadRequest("token is empty")
    return request, str(version)


def _write(resp: ResponseWriter, response: Response, version: str) -> None:
    review = {**response.to_dict(), "apiVersion": version, "kind": "TokenReview"}
    resp.header()["Content-Type"] = "application/json"
    resp.write(json.dumps(review) + "\n")
