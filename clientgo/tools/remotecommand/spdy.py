"""Commands over SPDY, for servers without WebSockets. Mirrors tools/remotecommand/spdy.go.

Needs no extra. Redirects are not followed, so new_spdy_executor_reject_redirects is the same as
new_spdy_executor_for_transports. A connection that is lost before the status of the command has arrived is an error, as
over a WebSocket; Go returns success.
"""

from __future__ import annotations

from clientgo import klog, rest
from clientgo.apimachinery.util import httpstream
from clientgo.apimachinery.util.remotecommand import (
    STREAM_PROTOCOL_V1_NAME,
    STREAM_PROTOCOL_V2_NAME,
    STREAM_PROTOCOL_V3_NAME,
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V5_NAME,
)
from clientgo.context import Context, background
from clientgo.golang.http import Request, RoundTripper
from clientgo.tools.remotecommand.remotecommand import Executor, StreamOptions
from clientgo.tools.remotecommand.session import Session
from clientgo.tools.remotecommand.versions import handler_of
from clientgo.transport import spdy

__all__ = [
    "new_spdy_executor",
    "new_spdy_executor_for_protocols",
    "new_spdy_executor_for_transports",
    "new_spdy_executor_reject_redirects",
]


class _SPDYStreamExecutor:
    """Runs commands over SPDY connections. Go: spdyStreamExecutor."""

    def __init__(
        self, transport: RoundTripper, upgrader: spdy.Upgrader, method: str, url: str, protocols: tuple[str, ...]
    ) -> None:
        self._transport = transport
        self._upgrader = upgrader
        self._method = method
        self._url = url
        self._protocols = protocols

    def stream(self, options: StreamOptions) -> None:
        """Deprecated: use `stream_with_context`. Go: spdyStreamExecutor.Stream."""
        self.stream_with_context(background(), options)

    def stream_with_context(self, ctx: Context, options: StreamOptions) -> None:
        """See Executor. Go: spdyStreamExecutor.StreamWithContext."""
        request = Request(method=self._method, url=self._url, ctx=ctx)
        conn, protocol = spdy.negotiate(self._upgrader, self._transport, request, *self._protocols)
        logger = klog.from_context(ctx)
        session = Session(logger)

        def abort() -> None:
            session.end()
            conn.close()

        forget = ctx.add_done_callback(abort)
        try:
            handler_of(protocol, options, logger).stream(conn, lambda: None, session)
        except Exception:
            ended = ctx.err()
            if ended is not None:
                raise ended from None
            raise
        finally:
            forget()
            session.end()
            conn.close()
            session.join()
            _join(conn)
        ended = ctx.err()
        if ended is not None:
            raise ended

    def __repr__(self) -> str:
        return f"<SPDYExecutor {self._method}>"


def _join(conn: httpstream.Connection) -> None:
    """Wait for the threads of our connections; a user's may have none."""
    join = getattr(conn, "join", None)
    if join is not None:
        join()


def new_spdy_executor(config: rest.Config, method: str, url: str) -> Executor:
    """Return an executor over SPDY. Raises ValueError, OSError for an invalid config. Go: NewSPDYExecutor."""
    wrapper, upgrade_round_tripper = spdy.round_tripper_for(config)
    return new_spdy_executor_for_transports(wrapper, upgrade_round_tripper, method, url)


def new_spdy_executor_reject_redirects(
    transport: RoundTripper, upgrader: spdy.Upgrader, method: str, url: str
) -> Executor:
    """Return an executor that fails at a redirect. Go: NewSPDYExecutorRejectRedirects."""
    return new_spdy_executor_for_transports(transport, upgrader, method, url)


def new_spdy_executor_for_transports(
    transport: RoundTripper, upgrader: spdy.Upgrader, method: str, url: str
) -> Executor:
    """Return an executor that sends its request with `transport`. Go: NewSPDYExecutorForTransports."""
    return new_spdy_executor_for_protocols(
        transport,
        upgrader,
        method,
        url,
        STREAM_PROTOCOL_V5_NAME,
        STREAM_PROTOCOL_V4_NAME,
        STREAM_PROTOCOL_V3_NAME,
        STREAM_PROTOCOL_V2_NAME,
        STREAM_PROTOCOL_V1_NAME,
    )


def new_spdy_executor_for_protocols(
    transport: RoundTripper, upgrader: spdy.Upgrader, method: str, url: str, *protocols: str
) -> Executor:
    """Return an executor that offers these versions, the preferred one first. Go: NewSPDYExecutorForProtocols."""
    return _SPDYStreamExecutor(transport, upgrader, method, url, protocols)
