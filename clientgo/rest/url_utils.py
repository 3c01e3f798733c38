"""From a host and a version to the URL of an API. Mirrors rest/url_utils.go. URLs are strings here."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang.http import redacted_url

if TYPE_CHECKING:
    from clientgo.rest.config import Config


def default_server_url(host: str, api_path: str, group_version: GroupVersion, default_tls: bool) -> tuple[str, str]:
    """(base URL, path of the API below it) for a URL or host:port. Go: DefaultServerURL. Raises ValueError.

    The path of the base URL is a prefix of all requests, for a proxy that has moved the API server.
    """
    if not host:
        raise ValueError("host must be a URL or a host:port pair")
    parts = _parse(host)
    if parts is None:
        parts = _parse(("https://" if default_tls else "http://") + host)
        if parts is None:
            raise ValueError(f'parse "{redacted_url(host)}": invalid host')
        if parts.path not in ("", "/"):
            raise ValueError(f'host must be a URL or a host:port pair: "{redacted_url(host)}"')
    return parts.geturl(), default_versioned_api_path(api_path, group_version)


def _parse(text: str) -> SplitResult | None:
    """The parts of an absolute URL, None for anything else."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.netloc and not re.search(r"\s", parts.netloc) else None


def default_versioned_api_path(api_path: str, group_version: GroupVersion) -> str:
    """Where the API of a version stands: /api/v1, /apis/apps/v1. Go: DefaultVersionedAPIPath."""
    return join_path("/", api_path, group_version.group, group_version.version)


def default_server_url_for(config: Config) -> tuple[str, str]:
    """default_server_url for a config; certificates in it mean https. Go: DefaultServerUrlFor. Raises ValueError."""
    default_tls = bool(config.ca_file or config.ca_data or config.cert_file or config.cert_data or config.insecure)
    group_version = config.group_version or GroupVersion("", "")
    return default_server_url(config.host or "localhost", config.api_path, group_version, default_tls)


def join_path(*segments: str) -> str:
    """Join and clean, "" for nothing. Go: path.Join."""
    joined = "/".join(segment for segment in segments if segment)
    if not joined:
        return ""
    return re.sub("^/+", "/", posixpath.normpath(joined))
