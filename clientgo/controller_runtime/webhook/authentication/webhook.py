"""Token review webhooks: requests, responses and handlers. Mirrors pkg/webhook/authentication/webhook.go.

A handler is an object with `handle(ctx, request)`, or such a function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from clientgo.api.authentication import v1 as authenticationv1
from clientgo.context import Context
from clientgo.controller_runtime.log.log import LOG, into_context
from clientgo.golang.http.server import Request as HTTPRequest
from clientgo.golang.http.server import ResponseWriter
from clientgo.klog import Logger
from clientgo.tools.cache.event_handler_name import name_for_function

__all__ = ["Handler", "HandlerFunc", "Request", "Response", "Webhook"]

_LOG = LOG.with_name("authentication")


class Request(authenticationv1.TokenReview):
    """A token review with the token to authenticate. Go: authentication.Request."""


class Response(authenticationv1.TokenReview):
    """A token review with the result in its status. Go: authentication.Response."""

    def complete(self, req: Request) -> None:
        """Copy the request's identity into the response. Go: Complete."""
        self.set_uid(req.get_uid())


class Handler(Protocol):
    """A handler of token reviews. Several threads call it concurrently. Go: authentication.Handler."""

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Authenticate the request's token."""
        ...


class HandlerFunc:
    """A function as a Handler, for code that needs an object. Go: authentication.HandlerFunc."""

    def __init__(self, function: Callable[[Context, Request], Response]) -> None:
        self._function = function

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Call the function."""
        return self._function(ctx, req)


HandlerOf: TypeAlias = Handler | Callable[[Context, Request], Response]


@dataclass(kw_only=True)
class Webhook:
    """A path of a webhook server that serves token reviews. Go: authentication.Webhook."""

    handler: HandlerOf
    """The handler of the requests."""
    with_context_func: Callable[[Context, HTTPRequest], Context] | None = None
    """Derives the handler's context from the server's, as the first step of a request."""

    def serve_http(self, resp: ResponseWriter, req: HTTPRequest) -> None:
        """Serve one token review; see http.py. Go: ServeHTTP."""
        from clientgo.controller_runtime.webhook.authentication.http import serve  # it needs the class

        serve(self, resp, req)

    def handle(self, ctx: Context, req: Request) -> Response:
        """Call the handler and complete its response. Go: Handle."""
        function = self.handler if callable(self.handler) else self.handler.handle
        response: object = function(into_context(ctx, self.logger()), req)
        if not isinstance(response, Response):
            name = name_for_function(function)
            raise TypeError(f"a handler returns a Response; {name} returned {response!r}")
        response.complete(req)
        return response

    def logger(self) -> Logger:
        """Return the webhook's logger. It never logs tokens."""
        return _LOG
