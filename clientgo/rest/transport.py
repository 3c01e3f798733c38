"""HTTP clients and transports for a config. Mirrors rest/transport.go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo import transport
from clientgo.golang import http

if TYPE_CHECKING:
    import ssl

    from clientgo.rest.config import Config


def http_client_for(config: Config) -> http.Client:
    """An HTTP client with the config's security and authentication. Go: HTTPClientFor. Raises ValueError, OSError."""
    return http.Client(transport_for(config), config.timeout, config.max_silence)


def tls_config_for(config: Config) -> ssl.SSLContext | None:
    """The TLS context of the config, None when it asks for nothing special. Go: TLSConfigFor."""
    return transport.tls_config_for(config.transport_config())


def transport_for(config: Config) -> http.RoundTripper:
    """A round tripper with the config's security and authentication. Go: TransportFor."""
    return transport.new(config.transport_config())


def http_wrappers_for_config(config: Config, rt: http.RoundTripper) -> http.RoundTripper:
    """Lay the config's authentication over another round tripper. Go: HTTPWrappersForConfig."""
    return transport.http_wrappers_for_config(config.transport_config(), rt)
