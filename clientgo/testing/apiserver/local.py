"""A way to a server of the same process without sockets: a round tripper that calls it.

    with synctest.bubble(), Server(listen=False) as server:
        config = rest.Config(host=server.url, bearer_token=server.token, transport=LocalTransport(server))

A client on such a config goes through all of its own stack and all of the server's, only not through HTTP's bytes; it
works in virtual time, where nothing may wait for a socket.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from clientgo.golang import http
from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.store.local_watch import LocalStream
from clientgo.testing.apiserver.store.storage import Event
from clientgo.testing.apiserver.wire.http import MAX_BODY, Request


class LocalTransport:
    """A RoundTripper: give it to a rest.Config as its `transport`. Thread-safe; blocks only in the bodies of watches.

    `delay()` returns the seconds, on the server's clock, until a watch delivers an event. With a delay a cache does not
    show a write immediately, as with a busy server. `seen(event)` is called when a client takes an event of a watch.
    """

    def __init__(
        self,
        server: Server,
        *,
        delay: Callable[[], float] = lambda: 0.0,
        seen: Callable[[Event], object] = lambda event: None,
    ) -> None:
        self._server = server
        self._delay = delay
        self._seen = seen

    def __repr__(self) -> str:
        return f"<LocalTransport to {self._server!r}>"

    def round_trip(self, request: http.Request) -> http.Response:
        """Return the server's answer. Raises the context's error."""
        if (done := request.ctx.err()) is not None:
            raise done
        stream = LocalStream(self._delay, self._seen)
        parts = urlsplit(request.url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        headers = {name.lower(): request.headers[name] for name in request.headers}
        asked = Request(request.method, target, headers, stream)
        if request.body is not None:
            asked.body = request.body if isinstance(request.body, bytes) else request.body.read()
        answer = self._server.handle(asked, len(asked.body) > MAX_BODY)
        header = http.Header()
        if answer.content_type:
            header["Content-Type"] = answer.content_type
        for name, given in answer.headers.items():
            for value in (given,) if isinstance(given, str) else given:
                header.add(name, value)
        if not answer.stream:
            return http.Response(status_code=answer.status, headers=header, body=http.BytesBody(answer.body))
        body = _Cancellable(stream, request)
        return http.Response(status_code=answer.status, headers=header, body=body)


class _Cancellable:
    """The body of a watch that ends with its request's context."""

    def __init__(self, stream: LocalStream, request: http.Request) -> None:
        self._stream = stream
        self._ctx = request.ctx
        self.read, self.read_some = stream.read, stream.read_some
        self.limit_silence, self.abort = stream.limit_silence, stream.abort
        self._forget = request.ctx.add_done_callback(self._cancelled)

    def _cancelled(self) -> None:
        self._stream.break_off(self._ctx.err() or ConnectionAbortedError("use of closed network connection"))

    def close(self) -> None:
        self._forget()
        self._stream.close()
