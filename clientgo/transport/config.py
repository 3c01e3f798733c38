"""The configuration of a transport: TLS, credentials, impersonation, proxy. Mirrors transport/config.go.

Differs: `repr` hides every credential, since programs may log the config.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clientgo.golang.http import RoundTripper

if TYPE_CHECKING:
    import socket

# Wraps a round tripper in another one. Go: transport.WrapperFunc.
WrapperFunc = Callable[[RoundTripper], RoundTripper]


@dataclass(frozen=True)
class Certificate:
    """A client certificate with its key, both PEM."""

    cert: bytes
    key: bytes = field(repr=False)


@dataclass
class GetCertHolder:
    """A holder of a function that returns the current client certificate or None. Called before each request; must be
    fast.
    """

    get_cert: Callable[[], Certificate | None]


@dataclass
class DialHolder:
    """A holder of a function that opens a TCP connection to (host, port). The transport adds TLS to it."""

    dial: Callable[[str, int], socket.socket]


@dataclass(kw_only=True)
class ImpersonationConfig:
    """The user, groups and extra fields to impersonate."""

    user_name: str = ""
    uid: str = ""
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


@dataclass(kw_only=True)
class TLSConfig:
    """Certificates and options of TLS. Data overrides the file of the same name; all are PEM."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    reload_tls_files: bool = False
    """True if certificate and key, or the CA, come only from files, which may change. Set by `tls_config_for`."""
    reload_ca_files: bool = False
    insecure: bool = False
    server_name: str = ""
    ca_data: bytes = field(default=b"", repr=False)
    cert_data: bytes = field(default=b"", repr=False)
    key_data: bytes = field(default=b"", repr=False)
    next_protos: list[str] = field(default_factory=list)
    """Accepted for parity; this transport speaks HTTP/1.1 only."""
    get_cert_holder: GetCertHolder | None = None


@dataclass(kw_only=True)
class Config:
    """The configuration of a round tripper."""

    user_agent: str = ""
    tls: TLSConfig = field(default_factory=TLSConfig)
    username: str = ""
    password: str = field(default="", repr=False)
    bearer_token: str = field(default="", repr=False)
    # Reread each minute and after a 401; the latest content overrides `bearer_token`.
    bearer_token_file: str = ""
    impersonate: ImpersonationConfig = field(default_factory=ImpersonationConfig)
    disable_compression: bool = False
    transport: RoundTripper | None = None
    wrap_transport: WrapperFunc | None = None
    dial_holder: DialHolder | None = None
    # A function from a request's URL to the URL of its proxy, or None. By default the environment decides.
    proxy: Callable[[str], str | None] | None = None

    def has_ca(self) -> bool:
        """Report whether a certificate authority is set. Go: HasCA."""
        return bool(self.tls.ca_data or self.tls.ca_file)

    def has_basic_auth(self) -> bool:
        """Report whether a user name for basic authentication is set. Go: HasBasicAuth."""
        return bool(self.username)

    def has_token_auth(self) -> bool:
        """Report whether a bearer token, or a file with one, is set. Go: HasTokenAuth."""
        return bool(self.bearer_token or self.bearer_token_file)

    def has_cert_auth(self) -> bool:
        """Report whether a client certificate and its key are set. Go: HasCertAuth."""
        return bool((self.tls.cert_data or self.tls.cert_file) and (self.tls.key_data or self.tls.key_file))

    def has_cert_callback(self) -> bool:
        """Report whether a callback supplies client certificates. Go: HasCertCallback."""
        return self.tls.get_cert_holder is not None

    def wrap(self, fn: WrapperFunc) -> None:
        """Add a wrapper around the existing ones. Go: Wrap."""
        from clientgo.transport.transport import wrappers

        self.wrap_transport = wrappers(self.wrap_transport, fn)
