"""The construction of a round tripper from a transport config. Mirrors transport/transport.go.

Difference: there is no process-wide cache of transports; a client's round tripper, which all its API groups share,
keeps the connections.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo.context import Context
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.golang.http.transport import Transport
from clientgo.transport.cert_rotation import ContextSource, set_reloads, tls_config_for
from clientgo.transport.config import Config, WrapperFunc
from clientgo.transport.round_trippers import http_wrappers_for_config

if TYPE_CHECKING:
    from clientgo.util.connrotation import ConnectionTracker

__all__ = ["ClockCheckingTransport", "context_canceller", "new", "tls_config_for", "wrappers"]


def new(config: Config) -> RoundTripper:
    """Return a round tripper with the config's security and authentication. Go: New.

    Raises ValueError for a contradictory config, OSError for an unreadable file.
    """
    tls = config.tls
    if config.transport is not None and (
        config.has_ca() or config.has_cert_auth() or config.has_cert_callback() or tls.insecure
    ):
        raise ValueError("using a custom transport with TLS certificate options or the insecure flag is not allowed")
    base = config.transport if config.transport is not None else _new_transport(config)
    return http_wrappers_for_config(config, base)


def _new_transport(config: Config) -> Transport:
    set_reloads(config.tls)
    tracker: ConnectionTracker | None = None
    if config.tls.reload_tls_files:
        from clientgo.util.connrotation import new_connection_tracker  # Few programs need it.

        tracker = new_connection_tracker()
    source = ContextSource(config, on_rotation=tracker.close_all if tracker is not None else None)
    if config.has_ca() or config.has_cert_auth():
        source.context()  # an invalid certificate is an error of the configuration, not of the first request
    return ClockCheckingTransport(
        ssl_context=source.context,
        server_name=config.tls.server_name,
        proxy=config.proxy,
        dial=config.dial_holder.dial if config.dial_holder is not None else None,
        on_connect=tracker.track if tracker is not None else None,
        disable_compression=config.disable_compression,
    )


class ClockCheckingTransport(Transport):
    """A transport that logs once if a server rejects credentials because of a clock. Thread-safe. Beyond Go."""

    def __init__(self, *, now: Callable[[], float] = time.time, **settings: Any) -> None:
        """Initialize the transport. `now` returns the seconds since 1970; Transport lists the other settings."""
        super().__init__(**settings)
        self._now = now
        # Guards the next attribute, so that requests that fail at once log one line. Held while it is logged.
        self._report_lock = threading.Lock()
        self._is_reported = False

    def round_trip(self, request: Request) -> Response:
        """See Transport."""
        response = super().round_trip(request)
        if response.status_code == 401 and not self._is_reported:
            from clientgo.transport.clock_skew import report_clock_skew

            with self._report_lock:
                self._is_reported = self._is_reported or report_clock_skew(request, response, self._now())
        return response


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
