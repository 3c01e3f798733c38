"""Redirects. Replaces redirectBehavior of Go's http.Client.

Difference: the transport follows redirects, below the round trippers that add credentials, so that these are never sent
to another server; Go's client-go would add them again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from clientgo.golang.http.message import Request, Response
from clientgo.golang.http.proxy import PORTS

__all__ = ["MAX_REQUESTS", "redirected"]

# Go: "stopped after 10 redirects".
MAX_REQUESTS: Final = 10

_AS_GET: Final = (301, 302, 303)
_AS_IT_IS: Final = (307, 308)

_OF_THE_BODY: Final = ("Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type")
_CREDENTIALS: Final = (
    *("Authorization", "Cookie", "Cookie2", "Proxy-Authenticate", "Proxy-Authorization", "Www-Authenticate"),
)

# The characters that a URL may contain.
_IN_URLS: Final = "!#$%&'()*+,/:;=?@[]~"


def redirected(request: Request, response: Response) -> Request | None:
    """Return the request for a redirect, or None if the response is not one."""
    location = response.headers.get("Location", "")
    if not location or response.status_code not in _AS_GET + _AS_IT_IS:
        return None
    again = replace(request.clone(), url=urljoin(request.url, quote(location, safe=_IN_URLS, encoding="latin-1")))
    if response.status_code in _AS_GET:
        again.method = request.method if request.method in ("GET", "HEAD") else "GET"
        again.body = None
        _drop(again, _OF_THE_BODY)
    elif request.body is not None and not isinstance(request.body, bytes):
        return None  # a stream that has already been sent
    if _origin(again.url) != _origin(request.url):
        _drop(again, _CREDENTIALS)
    return again


def _drop(request: Request, names: tuple[str, ...]) -> None:
    for name in names:
        request.headers.discard(name)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)
