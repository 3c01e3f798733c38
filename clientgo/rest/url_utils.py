"""Computation of an API's URL from a host and a version. Mirrors rest/url_utils.go. URLs are strings here."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang.http import redacted_url
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import as_operational

if TYPE_CHECKING:
    from clientgo.rest.config import Config


def default_server_url(host: str, api_path: str, group_version: GroupVersion, default_tls: bool) -> tuple[str, str]:
    """Return the base URL for a URL or host:port, and the path of the API below it. Raises ValueError.

    The path of the base URL is a prefix of all requests, for a proxy that serves the API server at another path.
    Go: DefaultServerURL.
    """
    if not host:
        raise as_operational(ValueError("host must be a URL or a host:port pair"))
    parts = _parse(host)
    if parts is None:
        parts = _parse(("https://" if default_tls else "http://") + host)
        if parts is None:
            raise as_operational(ValueError(f'parse "{redacted_url(host)}": invalid host'))
        if parts.path not in ("", "/"):
            text = f'host must be a URL or a host:port pair: "{redacted_url(host)}"'
            raise as_operational(ValueError(text))
    return parts.geturl(), default_versioned_api_path(api_path, group_version)


def _parse(text: str) -> SplitResult | None:
    """Return the parts of an absolute URL, None for anything else."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.netloc and not re.search(r"\s", parts.netloc) else None


def default_versioned_api_path(api_path: str, group_version: GroupVersion) -> str:
    """Return the path of an API version: /api/v1, /apis/apps/v1. Go: DefaultVersionedAPIPath."""
    return join_path("/", api_path, group_version.group, group_version.version)


def default_server_url_for(config: Config) -> tuple[str, str]:
    """Return the base URL and path for a config; certificates in it imply https. Raises ValueError.

    Go: DefaultServerUrlFor.
    """
    default_tls = bool(config.ca_file or config.ca_data or config.cert_file or config.cert_data or config.insecure)
    group_version = config.group_version or GroupVersion("", "")
    return default_server_url(config.host or "localhost", config.api_path, group_version, default_tls)


def join_path(*segments: str) -> str:
    """Join segments and clean the path; no segments result in "". Go: path.Join."""
    joined = "/".join(segment for segment in segments if segment)
    if not joined:
        return ""
    return re.sub("^/+", "/", posixpath.normpath(joined))


def join_below(*segments: str) -> str:
    """Join and clean segments; `..` cannot lead above the path that they are appended to.

    >>> join_below("/api", "../../../x")
    '/x'
    """
    joined = join_path(*segments)
    if not joined:
        return ""
    cleaned = re.sub("^/+", "/", posixpath.normpath(f"/{joined}"))
    return cleaned if joined.startswith("/") else cleaned[1:]


_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_uri(uri: str) -> None:
    """Raise ValueError, with Go's text, for a URI that Go does not parse. Go: url.Parse."""
    reason = _fault_of(uri)
    if reason:
        raise ValueError(f"parse {quote(uri)}: {reason}")


def _fault_of(uri: str) -> str:
    if _CONTROL.search(uri):
        return "net/url: invalid control character in URL"
    path, _, fragment = uri.partition("#")
    path = path.partition("?")[0]
    if path.startswith(":"):
        return "missing protocol scheme"
    if not _SCHEME.match(path) and ":" in path.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    bad = _BAD_ESCAPE.search(path) or _BAD_ESCAPE.search(fragment)
    return f"invalid URL escape {quote(bad.group())}" if bad else ""
