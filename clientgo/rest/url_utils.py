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
    parts, _ = _parse(host)
    if parts is None or not (parts.scheme and parts.netloc):
        url = ("https://" if default_tls else "http://") + host
        parts, fault = _parse(url)
        if parts is None:
            raise as_operational(ValueError(f"parse {quote(redacted_url(url))}: {fault}"))
        if parts.path not in ("", "/"):
            text = f"host must be a URL or a host:port pair: {quote(redacted_url(host))}"
            raise as_operational(ValueError(text))
    return parts.geturl(), default_versioned_api_path(api_path, group_version)


def _parse(text: str) -> tuple[SplitResult | None, str]:
    """Return the parts of a URL, or None and the reason why it is none."""
    fault = _fault_of(text)
    if fault:
        return None, fault
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:  # Go takes the last part of ::1 for a port.
        return None, "invalid host"
    return parts, ""


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
BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_uri(uri: str) -> None:
    """Raise ValueError, with Go's text, for a URI that Go does not parse. Go: url.Parse."""
    reason = _fault_of(uri)
    if reason:
        raise ValueError(f"parse {quote(uri)}: {reason}")


def _fault_of(uri: str) -> str:
    if _CONTROL.search(uri):
        return "net/url: invalid control character in URL"
    rest, _, fragment = uri.partition("#")
    rest = rest.partition("?")[0]
    if rest.startswith(":"):
        return "missing protocol scheme"
    scheme = _SCHEME.match(rest)
    if not scheme and ":" in rest.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    if scheme:
        rest = rest[scheme.end() :]
        if rest and not rest.startswith("/"):
            return ""  # Opaque, as in mailto:user
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        fault = _fault_of_authority(authority)
        if fault:
            return fault
        rest = slash + path
    bad = BAD_ESCAPE.search(rest) or BAD_ESCAPE.search(fragment)
    return f"invalid URL escape {quote(bad.group())}" if bad else ""


_USER = re.compile("[-A-Za-z0-9._:~!$&'()*+,;=%@]*")
_PORT = re.compile("(?::[0-9]*)?", re.ASCII)
# An escape that a host may not have, or a character of ASCII that it may not have.
_BAD_IN_HOST = re.compile("%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}|[ \\\\^`{|}/?#@]")


def _fault_of_authority(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        return "net/url: invalid userinfo"
    bad = BAD_ESCAPE.search(user)
    if bad:
        return f"invalid URL escape {quote(bad.group())}"
    end = host.rfind("]")
    if host.startswith("[") and end < 0:
        return "missing ']' in host"
    port = host[end + 1 :] if host.startswith("[") else host[host.rfind(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port):
        return f"invalid port {quote(port)} after host"
    bad = _BAD_IN_HOST.search(host)
    if not bad:
        return ""
    text = quote(bad.group())
    return f"invalid URL escape {text}" if text.startswith('"%') else f"invalid character {text} in host name"
