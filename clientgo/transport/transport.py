"""The construction of a round tripper from a transport config. Mirrors transport/transport.go."""

from __future__ import annotations

from clientgo.context import Context
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.transport.cache import TLS_CACHE
from clientgo.transport.cert_rotation import tls_config_for
from clientgo.transport.config import Config, WrapperFunc
from clientgo.transport.round_trippers import http_wrappers_for_config

__all__ = ["context_canceller", "new", "tls_config_for", "wrappers"]


def new(config: Config) -> RoundTripper:
    """Return a round tripper with the config's security and authentication. Go: New.

    Configs with equal security share a transport, and thus connections; their credentials in headers may differ. Two
    holders of functions are equal only if they are the same object; a config with `proxy` has its own transport.
    Raises ValueError for a contradictory config, OSError for an unreadable file.
    """
    tls = config.tls
    if config.transport is not None and (
        config.has_ca() or config.has_cert_auth() or config.has_cert_callback() or tls.insecure
    ):
        raise ValueError("using a custom transport with TLS certificate options or the insecure flag is not allowed")
    base = config.transport if config.transport is not None else TLS_CACHE.get(config)
    return http_wrappers_for_config(config, base)


def wrappers(*fns: WrapperFunc | None) -> WrapperFunc | None:
    """Return a wrapper that applies the given ones in order and ignores None. Go: Wrappers."""
    present = [fn for fn in fns if fn is not None]
    if not present:
        return None
    if len(present) == 1:
        return present[0]

    def wrap(rt: RoundTripper) -> RoundTripper:
        for fn in present:
            rt = fn(rt)
        return rt

    return wrap


def context_canceller(ctx: Context, err: Exception) -> WrapperFunc:
    """Return a wrapper that rejects new requests with `err` once the context is done. Go: ContextCanceller."""
    return lambda rt: _ContextCanceller(ctx, err, rt)


class _ContextCanceller:
    def __init__(self, ctx: Context, err: Exception, rt: RoundTripper) -> None:
        self._ctx = ctx
        self._err = err
        self._rt = rt

    def round_trip(self, request: Request) -> Response:
        if self._ctx.done().is_set():
            raise self._err
        return self._rt.round_trip(request)

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._rt
