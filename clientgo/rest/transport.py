"""HTTP clients and transports for a config. Mirrors rest/transport.go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo import transport
from clientgo.golang import http
from clientgo.rest.url_utils import default_server_url_for

if TYPE_CHECKING:
    import ssl

    from clientgo.rest.config import Config


def http_client_for(config: Config) -> http.Client:
    """Return an HTTP client with the config's TLS and authentication. Go: HTTPClientFor.

    Raises ValueError, also for a host that is no URL, which in Go the constructor of the first client reports. Raises
    OSError.
    """
    default_server_url_for(config)
    return http.Client(transport_for(config), config.timeout, config.max_silence)


def tls_config_for(config: Config) -> ssl.SSLContext | None:
    """Return the TLS context of the config; None if it needs no special one. Go: TLSConfigFor."""
    return transport.tls_config_for(config.transport_config())


def transport_for(config: Config) -> http.RoundTripper:
    """Return a round tripper with the config's TLS and authentication. Go: TransportFor."""
    return transport.new(config.transport_config())


def http_wrappers_for_config(config: Config, rt: http.RoundTripper) -> http.RoundTripper:
    """Wrap another round tripper with the config's authentication. Go: HTTPWrappersForConfig."""
    return transport.http_wrappers_for_config(config.transport_config(), rt)
