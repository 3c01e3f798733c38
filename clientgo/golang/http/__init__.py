"""The parts of Go's net/http that client-go uses: messages, a client and a transport with abortable requests.

message      requests, responses, bodies, round trippers
client       http.Client: the overall timeout, and errors that say which request they are about
transport    http.Transport, the bottom round tripper, in the order of a request's way:
  route        where it goes, and through which proxy
  proxy        which proxy the environment asks for
  pool         connections that wait for their next request
  dial         new ones: TCP, SOCKS and HTTP proxies, TLS
  socks        asking a SOCKS proxy
  exchange     breaking a request off from another thread
  header       names and values, and how they go out
  connection   one request and its response over a connection, by http.client
  head         status line and headers of the response
  body         what follows them: chunks and gzip taken apart as they come
  redirect     which response asks for another request
  failures     errors in Go's words

server       the other side: handlers, a multiplexer and a server, for webhooks and metrics
server_connection   the connections of every server: threads, limits, TLS and the stop
server_request      requests and responses of a server, and the parser of their bytes

It builds on public names of the standard library's http.client and ssl, and of urllib3 for TLS within TLS. It does not
use requests or urllib3's pool: any thread must be able to abort a request within milliseconds, also during the connect
or before the response, and both libraries hide the socket that this requires.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.golang.http.client import Client, URLError, basic_auth, describe
    from clientgo.golang.http.header import Header
    from clientgo.golang.http.message import (
        Body,
        BytesBody,
        ClientTrace,
        Request,
        Response,
        RoundTripper,
        RoundTripperWrapper,
        redacted_url,
    )
    from clientgo.golang.http.transport import Transport
else:
    # A server needs no client.
    __getattr__, __dir__ = attach(
        __name__,
        {
            "client": ["Client", "URLError", "basic_auth", "describe"],
            "header": ["Header"],
            "message": [
                "Body",
                "BytesBody",
                "ClientTrace",
                "Request",
                "Response",
                "RoundTripper",
                "RoundTripperWrapper",
                "redacted_url",
            ],
            "transport": ["Transport"],
        },
    )

__all__ = [
    "Body",
    "BytesBody",
    "Client",
    "ClientTrace",
    "Header",
    "Request",
    "Response",
    "RoundTripper",
    "RoundTripperWrapper",
    "Transport",
    "URLError",
    "basic_auth",
    "describe",
    "redacted_url",
]
