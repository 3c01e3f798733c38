"""Go's net/http as far as client-go stands on it: messages, a client and a transport that can be broken off.

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

Built on http.client and ssl of the standard library, and on urllib3 for TLS within TLS, by their public names alone.
Not on requests, nor on urllib3's pool: a request has to be broken off from any thread in milliseconds, also while it
connects or waits for its answer, and both hide the socket from whoever would do that.
"""

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
