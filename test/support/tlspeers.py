"""TLS between two sockets of the test's own."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from typing import Any

from clientgo.golang.tls import load_key_pair


def server_context(certificate: str, key: str) -> ssl.SSLContext:
    """Return a server's context with the certificate, in PEM."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_key_pair(context, certificate, key)
    return context


def connect(server: ssl.SSLContext, client: ssl.SSLContext, name: str | None) -> Any:
    """Return the certificate that the client gets. Raises ssl.SSLError if the client does not trust it."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with ours, contextlib.suppress(OSError):
            server.wrap_socket(ours, server_side=True).close()

    thread = threading.Thread(target=serve, name="server")
    thread.start()
    try:
        with theirs, client.wrap_socket(theirs, server_hostname=name) as secure:
            found = secure.getpeercert()
            # With TLS 1.3 the server refuses a client only now.
            secure.recv(1)
            return found
    finally:
        thread.join()
