"""The API server's HTTP: its requests, its limit of a body, compressed responses, and a port for plain HTTP and TLS.

The connections are those of golang/http/server_connection.py. A watch takes its connection over: the pump owns the
socket until the watch ends.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
from collections.abc import Callable
from typing import Any

from clientgo.golang.http.server_connection import ConnectionServer, RequestBodyTooLarge
from clientgo.golang.http.server_request import LAST_CHUNK, Malformed, Response, chunk, head
from clientgo.golang.http.server_request import Request as HTTPRequest

__all__ = [
    "LAST_CHUNK",
    "MAX_BODY",
    "HttpServer",
    "Malformed",
    "Request",
    "Response",
    "chunk",
    "head",
]

MAX_BODY = 3 * 1024 * 1024
# The body of a refused request that is discarded to keep the connection. Go: maxPostHandlerReadBytes.
_MAX_DISCARDED = 256 * 1024
GZIP_THRESHOLD = 128 * 1024
_MAX_PORT = 65535


class Request(HTTPRequest):
    """A request to the API server, and the state of its handling."""

    __slots__ = ("body", "info", "speaks_cbor", "user", "warnings")

    def __init__(
        self,
        method: str,
        target: str,
        headers: dict[str, str],
        connection: Any = None,
        *,
        minor: int = 1,
        repeated: dict[str, list[str]] | None = None,
    ) -> None:
        """Initialize a request. The response on `connection` may become a stream. Raises Malformed."""
        super().__init__(method, target, headers, connection, minor=minor, repeated=repeated)
        self.body = b""
        # Whether the server understands CBOR: its gate CBORServingAndStorage.
        self.speaks_cbor = False
        # Set when the request is admitted: its user, and its resource request, None for other paths.
        self.user: Any = None
        self.info: Any = None
        # Warnings for the client, which go into the response's headers.
        self.warnings: list[str] = []

    def flag(self, name: str) -> bool:
        """Return a boolean of the query as Kubernetes reads it: all but 0 and false is true, an empty value too.

        Only the first value counts; a parameter that is absent is false. Go: Convert_Slice_string_To_bool.
        """
        values = self.params.get(name)
        return values is not None and values[0] != "0" and values[0].casefold() != "false"


Handler = Callable[[Request, bool], Response]
"""Returns the response to a request. The flag reports that its body exceeds the limit and was not read."""
Admit = Callable[[Request], Response | None]
"""Returns the response to a refused request. The bodies of these are not read."""


class HttpServer(ConnectionServer):
    """The API server's port, for plain HTTP and TLS. `start` accepts; `stop` joins every thread."""

    request_type = Request

    def __init__(
        self,
        host: str,
        port: int,
        handler: Handler,
        tls: Callable[[], ssl.SSLContext],
        admit: Admit = lambda request: None,
    ) -> None:
        """Bind the port. `tls` returns the TLS context; the first TLS client causes the call."""
        if not 0 <= port <= _MAX_PORT:
            # Python would leave the socket open.
            raise ValueError(f"port must be from 0 to {_MAX_PORT}, not {port}")
        listener = socket.create_server((host, port), family=_family(host), backlog=512)
        super().__init__(listener, self._respond, "apiserver", tls=tls, tls_only=False, idle_seconds=None)
        self._handle = handler
        self._admit = admit

    def _respond(self, request: Request) -> Response:
        request.connection.check_body(request)
        refused = self._admit(request)
        if refused is not None:
            if not request.header("expect"):
                with contextlib.suppress(RequestBodyTooLarge):
                    request.connection.read_body(request, _MAX_DISCARDED)
            return refused
        is_too_large = False
        try:
            request.body = request.connection.read_body(request, MAX_BODY)
        except RequestBodyTooLarge:
            is_too_large = True
        response = self._handle(request, is_too_large)
        if len(response.body) > GZIP_THRESHOLD and "gzip" in request.header("accept-encoding"):
            response.body = gzip.compress(response.body, 1)
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Vary"] = "Accept-Encoding"
        return response


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
