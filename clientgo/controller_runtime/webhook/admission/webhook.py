"""Admission webhooks: requests, responses and handlers. Mirrors pkg/webhook/admission/webhook.go.

A handler is an object with `handle(ctx, request)`, or such a function. An exception is a bug: the webhook logs it and
responds with 500, as Go does for a panic. With `recover_panic=False` the server's thread raises it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.jsonpatch import Operation
from clientgo.context import Context, with_value
from clientgo.controller_runtime.internal.panics import describe_panic
from clientgo.controller_runtime.log.log import LOG, into_context
from clientgo.controller_runtime.webhook.admission.metrics import WEBHOOK_PANICS
from clientgo.controller_runtime.webhook.internal import metrics
from clientgo.golang.http.server import HandlerLike, ResponseWriter
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.klog import Logger
from clientgo.tools.cache.event_handler_name import name_for_function

__all__ = [
    "Handler",
    "HandlerFunc",
    "HandlerLike",
    "LogConstructor",
    "Request",
    "Response",
    "StandaloneOptions",
    "Webhook",
    "default_log_constructor",
    "new_context_with_request",
    "request_from_context",
    "standalone_webhook",
]

_UNABLE_TO_ENCODE = "unable to encode response"
_LOG = LOG.with_name("admission")


class Request(admissionv1.AdmissionRequest):
    """The request of an admission review. Go: admission.Request."""


class Response(admissionv1.AdmissionResponse):
    """The response of an admission review. Go: admission.Response.

    `complete` combines the operations in `patches` into the single patch that the server understands.
    """

    __slots__ = ("patches",)

    patches: list[Operation]

    def __init__(self, *, patches: list[Operation] | None = None, **fields: Any) -> None:
        super().__init__(**fields)
        self.patches = [] if patches is None else patches

    def with_warnings(self, *warnings: str) -> Response:
        """Add warnings to this response and return it. Go: WithWarnings."""
        if warnings:
            self.warnings = [*self.warnings, *warnings]
        return self

    def complete(self, req: Request) -> None:
        """Set the fields that the server needs: the request's uid, a code, and the combined patch. Go: Complete.

        Raises TypeError or ValueError for a patch value that is not JSON.
        """
        self.uid = req.uid
        result = self.result or metav1.Status()
        if not result.code:
            result.code = 200
        self.result = result
        if not self.patches:
            return
        self.patch = json.dumps([step.to_dict() for step in self.patches], allow_nan=False).encode()
        self.patch_type = admissionv1.PatchType.JSON_PATCH


class Handler(Protocol):
    """A handler of admission requests. Several threads call it concurrently. Go: admission.Handler."""

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Return whether the request is allowed. May block; the API server's default timeout is ten seconds."""
        ...


class HandlerFunc:
    """A function as a Handler, for code that needs an object. Go: admission.HandlerFunc."""

    def __init__(self, function: Callable[[Context, Request], Response]) -> None:
        self._function = function

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Call the function."""
        return self._function(ctx, req)


HandlerOf: TypeAlias = Handler | Callable[[Context, Request], Response]
"""The parameter type where Go has an admission.Handler: an object with `handle`, or a function."""

LogConstructor: TypeAlias = Callable[[Logger, "Request | None"], Logger]
"""A function that derives the logger of a request, or of no request, from the base logger."""


def to_function(handler: HandlerOf) -> Callable[[Context, Request], Response]:
    """Return the function to call for a request, which raises TypeError if the handler returns no Response.

    Raises TypeError if `handler` is not a handler.
    """
    function: Callable[[Context, Request], object] | None = getattr(handler, "handle", None)
    if function is None and callable(handler):
        function = handler
    if function is None:
        raise TypeError(f"a handler has a method handle(ctx, req), or is a function: {handler!r}")

    def respond(ctx: Context, req: Request) -> Response:
        response = function(ctx, req)
        if not isinstance(response, Response):
            name = name_for_function(function)
            raise TypeError(f"a handler returns a Response, like admission.allowed(''); {name} returned {response!r}")
        return response

    return respond


@dataclass(kw_only=True)
class Webhook:
    """A path of a webhook server that serves admission reviews. Go: admission.Webhook."""

    handler: HandlerOf
    """The handler of the requests."""
    recover_panic: bool | None = None
    """Respond with 500 to a bug in the handler. None is True."""
    with_context_func: Callable[[Context, HTTPRequest], Context] | None = None
    """Derives the handler's context from the server's, as the first step of a request."""
    log_constructor: LogConstructor | None = None
    """Makes the logger in the handler's context; None selects `default_log_constructor`."""

    def with_recover_panic(self, recover_panic: bool) -> Webhook:
        """Set `recover_panic`. Go: WithRecoverPanic."""
        self.recover_panic = recover_panic
        return self

    def serve_http(self, resp: ResponseWriter, req: HTTPRequest) -> None:
        """Serve one admission review; see http.py. Go: ServeHTTP."""
        from clientgo.controller_runtime.webhook.admission.http import serve  # it needs the class

        serve(self, resp, req)

    def handle(self, ctx: Context, req: Request) -> Response:
        """Call the handler and complete its response. Blocks as long as the handler. Go: Handle."""
        logger = self.logger(req)
        try:
            response = to_function(self.handler)(into_context(ctx, logger), req)
        except Exception as err:
            if self.recover_panic is False:
                logger.info(f"Observed a panic: {describe_panic(err)}")
                raise
            return self._recovered(ctx, req, err)
        try:
            response.complete(req)
        except (TypeError, ValueError) as err:
            logger.error(err, _UNABLE_TO_ENCODE)
            return _errored(500, _UNABLE_TO_ENCODE)
        return response

    def _recovered(self, ctx: Context, req: Request, err: Exception) -> Response:
        WEBHOOK_PANICS.inc()
        for handler in utilruntime.PANIC_HANDLERS:
            handler(ctx, err)
        response = _errored(500, f"panic: {describe_panic(err)} [recovered]")
        response.uid = req.uid
        return response

    def logger(self, req: Request | None) -> Logger:
        """Return the logger for a request, or for no request."""
        return (self.log_constructor or default_log_constructor)(_LOG, req)


def _errored(code: int, message: str) -> Response:
    return Response(allowed=False, result=metav1.Status(code=code, message=message))


def default_log_constructor(base: Logger, req: Request | None) -> Logger:
    """Return `base` with the request's object, resource, user and ID. Go: DefaultLogConstructor."""
    if req is None:
        return base
    return base.with_values(
        object=f"{req.namespace}/{req.name}",
        namespace=req.namespace,
        name=req.name,
        resource=f"{req.resource.group}/{req.resource.version}, Resource={req.resource.resource}",
        user=req.user_info.username,
        requestID=req.uid,
    )


@dataclass(kw_only=True)
class StandaloneOptions:
    """The options of a webhook in the user's own server. Go: admission.StandaloneOptions."""

    logger: Logger | None = None
    """The webhook's logger; None selects the base logger of webhooks."""
    metrics_path: str = ""
    """The label of the webhook's metrics; "" disables them."""


def standalone_webhook(hook: Webhook, opts: StandaloneOptions) -> HandlerLike:
    """Return the webhook as a handler for any HTTP server. Go: StandaloneWebhook."""
    if opts.logger is not None and hook.log_constructor is None:
        base = opts.logger
        hook.log_constructor = lambda _, req: default_log_constructor(base, req)
    if not opts.metrics_path:
        return hook
    return metrics.instrumented_hook(opts.metrics_path, hook)


class _RequestKey:
    """The key of the request in a context."""


def request_from_context(ctx: Context) -> Request:
    """Return the request of the defaulter or validator that runs with `ctx`. Raises LookupError without one.

    Go: RequestFromContext.
    """
    found = ctx.value(_RequestKey)
    if not isinstance(found, Request):
        raise LookupError("admission.Request not found in context")
    return found


def new_context_with_request(ctx: Context, req: Request) -> Context:
    """Return a context that contains the request. Go: NewContextWithRequest."""
    return with_value(ctx, _RequestKey, req)
