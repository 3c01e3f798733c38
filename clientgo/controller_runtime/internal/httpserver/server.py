"""The HTTP servers of a manager. Mirrors pkg/internal/httpserver/server.go. Their limits are in golang.http.server."""

from __future__ import annotations

import ssl

from clientgo.context import Context
from clientgo.golang.http.server import HandlerLike, Server

__all__ = ["new"]


def new(ctx: Context, handler: HandlerLike, name: str = "http", tls: ssl.SSLContext | None = None) -> Server:
    """Return a server whose requests derive their contexts from `ctx`. Go: httpserver.New."""
    return Server(handler, ctx, name, tls)
