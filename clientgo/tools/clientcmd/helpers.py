"""Reading timeouts and proxy URLs. Mirrors tools/clientcmd/helpers.go."""

from __future__ import annotations

from urllib.parse import urlsplit

from clientgo.apimachinery.apis.meta.v1.duration import parse_duration
from clientgo.apimachinery.util.strconv import quote
from clientgo.transport.http import redacted_url


def parse_timeout(duration: str) -> float:
    """Seconds, from a whole number of seconds or a text such as 1m30s (Go: ParseTimeout). Raises ValueError."""
    if duration.isdecimal():
        return float(int(duration))
    try:
        return parse_duration(duration)
    except ValueError:
        raise ValueError(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
            "corresponding time unit (e.g. 1s | 2m | 3h)"
        ) from None


def parse_proxy_url(proxy_url: str) -> str:
    """The URL, if its scheme can be that of a proxy. Raises ValueError."""
    try:
        scheme = urlsplit(proxy_url).scheme
    except ValueError:
        raise ValueError(f"could not parse: {redacted_url(proxy_url)}") from None
    if proxy_url.startswith(":"):
        raise ValueError(f"could not parse: {redacted_url(proxy_url)}")
    if scheme not in ("http", "https", "socks5"):
        raise ValueError(f"unsupported scheme {quote(scheme)}, must be http, https, or socks5")
    return proxy_url


def file_error(operation: str, path: str, err: OSError) -> OSError:
    """The same kind of error with Go's text: "open PATH: no such file or directory"."""
    return type(err)(f"{operation} {path}: {(err.strerror or str(err)).lower()}")
