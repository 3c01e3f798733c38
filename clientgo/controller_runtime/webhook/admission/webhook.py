"""What an admission webhook gets, answers, and how it is called. Mirrors pkg/webhook/admission/webhook.go.

A handler is an object with `handle(ctx, request)`, or just such a function. What it raises is a bug: it is logged and
answered with 500, as Go answers a panic, unless `recover_panic` is False; then the server's thread gets it.
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
    """What is to be admitted. Go: admission.Request."""


class Response(admissionv1.AdmissionResponse):
    """Whether it is, and how it is to be changed. Go: admission.Response.

    `patches` are the changes, which `complete` makes into the one patch that the server understands.
    """

    __slots__ = ("patches",)

    patches: list[Operation]

    def __init__(self, *, patches: list[Operation] | None = None, **fields: Any) -> None:
        super().__init__(**fields)
        self.patches = [] if patches is None else patches

    def with_warnings(self, *warnings: str) -> Response:
        """This answer with more for the user to read; it is changed. Go: WithWarnings."""
        if warnings:
            self.warnings = [*self.warnings, *warnings]
        return self

    def complete(self, req: Request) -> None:
        """Fill in what the server needs: the request's uid, a code, and the patches as one. Go: Complete.

        Raises TypeError or ValueError for a value in a patch that is no JSON.
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
    """Decides about requests. Go: admission.Handler. Called by several threads at once."""

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Whether the request is admitted. It may block; the API server has a timeout of ten seconds by default."""
        ...


class HandlerFunc:
    """A function as a Handler. Go: admission.HandlerFunc. Needed only where it must be an object."""

    def __init__(self, function: Callable[[Context, Request], Response]) -> None:
        self._function = function

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Call the function."""
        return self._function(ctx, req)


HandlerOf: TypeAlias = Handler | Callable[[Context, Request], Response]
"""What is taken wherever Go takes an admission.Handler."""

LogConstructor: TypeAlias = Callable[[Logger, "Request | None"], Logger]
"""Makes the logger for a request, or for none, of the base logger."""


def to_function(handler: HandlerOf) -> Callable[[Context, Request], Response]:
    """What to call. Raises TypeError for what is no handler."""
    method = getattr(handler, "handle", None)
    if method is not None:
        return method  # type: ignore[no-any-return]
    if callable(handler):
        return handler
    raise TypeError(f"a handler has a method handle(ctx, req), or is a function: {handler!r}")


@dataclass(kw_only=True)
class Webhook:
    """One path of a webhook server that answers admission reviews. Go: admission.Webhook."""

    handler: HandlerOf
    """Decides."""
    recover_panic: bool | None = None
    """Whether a bug in the handler becomes an answer with code 500. None means True."""
    with_context_func: Callable[[Context, HTTPRequest], Context] | None = None
    """Makes the handler's context of the server's, before anything else is done with a request."""
    log_constructor: LogConstructor | None = None
    """Makes the logger that the handler's context carries; `default_log_constructor` when None."""

    def with_recover_panic(self, recover_panic: bool) -> Webhook:
        """Set `recover_panic`. Go: WithRecoverPanic."""
        self.recover_panic = recover_panic
        return self

    def serve_http(self, resp: ResponseWriter, req: HTTPRequest) -> None:
        """Answer one admission review; see http.py. Go: ServeHTTP."""
        from clientgo.controller_runtime.webhook.admission.http import serve  # it needs the class

        serve(self, resp, req)

    def handle(self, ctx: Context, req: Request) -> Response:
        """Ask the handler, and complete its answer. Blocks as the handler does. Go: Handle."""
        logger = self.logger(req)
        try:
            response = to_function(self.handler)(into_context(ctx, logger), req)
        except Exception as err:
            if self.recover_panic is False:
                logger.info(f"Observed a panic: {err}")
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
        """The logger for a request, or for none."""
        return (self.log_constructor or default_log_constructor)(_LOG, req)


def _errored(code: int, message: str) -> Response:
    return Response(allowed=False, result=metav1.Status(code=code, message=message))


def default_log_constructor(base: Logger, req: Request | None) -> Logger:
    """`base` with the object, resource, user and id of the request. Go: DefaultLogConstructor."""
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
    """How a webhook runs in a server of one's own. Go: admission.StandaloneOptions."""

    logger: Logger | None = None
    """Where it logs; the base logger of webhooks when None."""
    metrics_path: str = ""
    """Under which name requests are counted; they are not when empty."""


def standalone_webhook(hook: Webhook, opts: StandaloneOptions) -> HandlerLike:
    """The webhook as a handler for any HTTP server. Go: StandaloneWebhook."""
    if opts.logger is not None and hook.log_constructor is None:
        base = opts.logger
        hook.log_constructor = lambda _, req: default_log_constructor(base, req)
    if not opts.metrics_path:
        return hook
    return metrics.instrumented_hook(opts.metrics_path, hook)


class _RequestKey:
    """The key of the request in a context."""


def request_from_context(ctx: Context) -> Request:
    """The request whose object is being defaulted or validated.

    Raises LookupError when there is none. Go: RequestFromContext.
    """
    found = ctx.value(_RequestKey)
    if not isinstance(found, Request):
        raise LookupError("admission.Request not found in context")
    return found


def new_context_with_request(ctx: Context, req: Request) -> Context:
    """A context that carries the request. Go: NewContextWithRequest."""
    return with_value(ctx, _RequestKey, req)
