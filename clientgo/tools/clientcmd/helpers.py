"""Parsers of timeouts and proxy URLs. Mirrors tools/clientcmd/helpers.go."""

from __future__ import annotations

import contextlib
from urllib.parse import urlsplit

from clientgo.golang.duration import parse_duration
from clientgo.golang.http import redacted_url
from clientgo.golang.strconv import parse_int, quote
from clientgo.klog.exceptions import as_operational


def parse_timeout(duration: str) -> float:
    """Parse a whole number of seconds or a text such as 1m30s into seconds. Raises ValueError. Go: ParseTimeout.

    >>> parse_timeout("30"), parse_timeout("1m30s"), parse_timeout("-1")
    (30.0, 90.0, -1.0)
    """
    with contextlib.suppress(ValueError):
        return float(parse_int(duration))
    try:
        return parse_duration(duration)
    except ValueError:
        raise ValueError(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
            "corresponding time unit (e.g. 1s | 2m | 3h)"
        ) from None


def parse_proxy_url(proxy_url: str) -> str:
    """Return the URL if its scheme is valid for a proxy. Raises ValueError.

    >>> parse_proxy_url("ftp://proxy")
    Traceback (most recent call last):
    ValueError: unsupported scheme "ftp", must be http, https, or socks5
    """
    try:
        parts = urlsplit(proxy_url)
        scheme, _ = parts.scheme, parts.port  # raises for an invalid port
    except ValueError:
        raise ValueError(f"could not parse: {redacted_url(proxy_url)}") from None
    if proxy_url.startswith(":"):
        raise ValueError(f"could not parse: {redacted_url(proxy_url)}")
    if scheme not in ("http", "https", "socks5"):
        raise ValueError(f"unsupported scheme {quote(scheme)}, must be http, https, or socks5")
    return proxy_url


def file_error(operation: str, path: str, err: OSError) -> OSError:
    """Return an error of the same class with Go's text: "open PATH: no such file or directory"."""
    return as_operational(type(err)(f"{operation} {path}: {(err.strerror or str(err)).lower()}"))
