"""What a token review webhook gets, answers, and how it is called. Mirrors pkg/webhook/authentication/webhook.go.

A handler is an object with `handle(ctx, request)`, or just such a function.
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

__all__ = ["Handler", "HandlerFunc", "Request", "Response", "Webhook"]

_LOG = LOG.with_name("authentication")


class Request(authenticationv1.TokenReview):
    """Whose token is it?. Go: authentication.Request."""


class Response(authenticationv1.TokenReview):
    """Whose it is, in the status. Go: authentication.Response."""

    def complete(self, req: Request) -> None:
        """Fill in which review is answered. Go: Complete."""
        self.set_uid(req.get_uid())


class Handler(Protocol):
    """Knows tokens. Go: authentication.Handler. Called by several threads at once."""

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Whose the token is."""
        ...


class HandlerFunc:
    """A function as a Handler. Go: authentication.HandlerFunc. Needed only where it must be an object."""

    def __init__(self, function: Callable[[Context, Request], Response]) -> None:
        self._function = function

    def handle(self, ctx: Context, req: Request, /) -> Response:
        """Call the function."""
        return self._function(ctx, req)


HandlerOf: TypeAlias = Handler | Callable[[Context, Request], Response]


@dataclass(kw_only=True)
class Webhook:
    """One path of a webhook server that answers token reviews. Go: authentication.Webhook."""

    handler: HandlerOf
    """Decides."""
    with_context_func: Callable[[Context, HTTPRequest], Context] | None = None
    """Makes the handler's context of the server's, before anything else is done with a request."""

    def serve_http(self, resp: ResponseWriter, req: HTTPRequest) -> None:
        """Answer one token review; see http.py. Go: ServeHTTP."""
        from clientgo.controller_runtime.webhook.authentication.http import serve  # it needs the class

        serve(self, resp, req)

    def handle(self, ctx: Context, req: Request) -> Response:
        """Ask the handler, and complete its answer. Go: Handle."""
        function = self.handler if callable(self.handler) else self.handler.handle
        response = function(into_context(ctx, self.logger()), req)
        response.complete(req)
        return response

    def logger(self) -> Logger:
        """Where it logs; tokens never."""
        return _LOG
