"""Configuration of API clients, and clients created from it. Mirrors rest/config.go.

Differs: `str` and `repr` hide credentials field by field. The methods that Go keeps in rest/transport.go are here too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from clientgo import features, klog
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.interfaces import NegotiatedSerializer
from clientgo.apimachinery.runtime.negotiate import new_client_negotiator
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import CodecFactory, new_codec_factory, with_serializer
from clientgo.golang import http
from clientgo.golang.functions import check_options
from clientgo.golang.io import read_file
from clientgo.klog.exceptions import operational_error
from clientgo.pkg import version
from clientgo.rest.client import ClientContentConfig, RESTClient, new_rest_client
from clientgo.rest.plugin import AuthProviderConfigPersister, get_auth_provider
from clientgo.rest.url_utils import default_server_url_for
from clientgo.rest.warnings import WarningHandler, WarningHandlerWithContext, _WarningLoggerNopContext
from clientgo.transport.config import Config as TransportConfig
from clientgo.transport.config import DialHolder, TLSConfig, WrapperFunc
from clientgo.transport.config import ImpersonationConfig as TransportImpersonationConfig
from clientgo.transport.transport import tls_config_for, wrappers
from clientgo.util import flowcontrol

if TYPE_CHECKING:
    import socket

    from clientgo.tools.clientcmd.api import AuthProviderConfig, ExecConfig

DEFAULT_QPS = 5.0
DEFAULT_BURST = 10

_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"

_REDACTED = "--- REDACTED ---"
_TRUNCATED = "--- TRUNCATED ---"


@operational_error
class ErrNotInCluster(Exception):
    """Raised if the process does not run in a pod, or its service account token is not mounted."""

    def __init__(self) -> None:
        super().__init__(
            "unable to load in-cluster configuration, "
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
        )


@dataclass(kw_only=True)
class ImpersonationConfig:
    """The user, groups and extra fields to impersonate."""

    user_name: str = ""
    uid: str = ""
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


# The text shown in place of a field's value, if the field is set.
_HIDDEN = {
    "password": _REDACTED,
    "bearer_token": _REDACTED,
    "key_data": _REDACTED,
    "cert_data": _TRUNCATED,
    "auth_config_persister": f"rest.AuthProviderConfigPersister({_REDACTED})",
}


def _shown(name: str, value: Any) -> str:
    return _HIDDEN.get(name) or repr(http.redacted_url(value) if name == "host" else value)


class _Redacted:
    """A base class whose `str` and `repr` show all set fields except credentials."""

    def __str__(self) -> str:
        shown = ((f.name, getattr(self, f.name)) for f in fields(self) if f.repr)  # type: ignore[arg-type]
        parts = (f"{name}={_shown(name, value)}" for name, value in shown if value)
        return f"{type(self).__name__}({', '.join(parts)})"

    def __repr__(self) -> str:
        return str(self)


@dataclass(kw_only=True, repr=False)
class TLSClientConfig(_Redacted):
    """The settings of TLS. Data takes precedence over the file of the same name; all are PEM."""

    insecure: bool = False
    """Skip the verification of the server's certificate. For testing only."""
    server_name: str = ""
    """Name for the verification of the certificate and for SNI, in place of the host name."""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""
    next_protos: list[str] = field(default_factory=list)
    """Accepted for compatibility; this port uses only HTTP/1.1."""

    # Stated although dataclass(repr=False) on a subclass inherits them, since they are part of the API.
    __str__ = _Redacted.__str__
    __repr__ = _Redacted.__repr__


@dataclass(kw_only=True)
class ContentConfig:
    """Content types for reading and writing objects.

    If neither of the first two fields is set, typed clients of built-in kinds ask for protobuf: it needs half the bytes
    on the wire, and objects that stay encoded and are read in place, which suits informers. Writing to such an object,
    or reading all of it, costs more than with JSON. `content_type` application/json selects JSON for everything. With
    application/vnd.kubernetes.protobuf, request bodies are protobuf too. Other clients (dynamic, metadata, discovery)
    always use JSON.
    """

    accept_content_types: str = ""
    """Value of the Accept header, such as "application/vnd.kubernetes.protobuf,application/json"; "" for
    `content_type`.
    """
    content_type: str = ""
    """Content type of request bodies and the default of the Accept header; "" for the client's default."""
    group_version: GroupVersion | None = None
    negotiated_serializer: NegotiatedSerializer | None = None


@dataclass(kw_only=True, repr=False)
class Config(ContentConfig, TLSClientConfig):
    """The configuration of a client. Go: rest.Config.

    Fields that Go embeds are inherited: `config.ca_file` is `Config.TLSClientConfig.CAFile`, `config.group_version` is
    `Config.ContentConfig.GroupVersion`.
    """

    # A URL, host or host:port. A path in the URL comes before the path of every request.
    host: str = ""
    api_path: str = ""
    username: str = ""
    password: str = ""
    bearer_token: str = ""
    # Reread every minute and after a 401. Its content takes precedence over `bearer_token`.
    bearer_token_file: str = ""
    impersonate: ImpersonationConfig = field(default_factory=ImpersonationConfig)
    auth_provider: AuthProviderConfig | None = None
    auth_config_persister: AuthProviderConfigPersister | None = None
    exec_provider: ExecConfig | None = None
    user_agent: str = ""
    disable_compression: bool = False
    # Excludes the TLS fields; `wrap_transport` adds behaviour to the transport made from them.
    transport: http.RoundTripper | None = None
    wrap_transport: WrapperFunc | None = None
    # Average requests per second: 0 means DEFAULT_QPS, a negative number no limit.
    qps: float = 0.0
    # Size of a burst of requests: 0 means DEFAULT_BURST.
    burst: int = 0
    # Replaces `qps` and `burst`.
    rate_limiter: flowcontrol.RateLimiter | None = None
    warning_handler: WarningHandler | None = None
    # Takes precedence over `warning_handler`. Without both, the default handler is used.
    warning_handler_with_context: WarningHandlerWithContext | None = None
    # Timeout of requests and watches in seconds; 0 for none.
    timeout: float = 0.0
    # Seconds of silence after which a connection counts as dead, also while it is being established; 0 for the limits
    # of
    # rest/request.py. Does not apply to streams such as logs. A healthy watch may be silent for a minute. Beyond Go.
    max_silence: float = 0.0
    # Opens the connection to (host, port).
    dial: Callable[[str, int], socket.socket] | None = None
    # Maps the URL of a request to the URL of its proxy, or None. Without it the environment selects the proxy.
    proxy: Callable[[str], str | None] | None = None

    __str__ = _Redacted.__str__
    __repr__ = _Redacted.__repr__

    def transport_config(self) -> TransportConfig:
        """Return the transport's configuration. Raises ValueError, OSError. Go: TransportConfig.

        An exec provider runs at the first request, not here.
        """
        conf = TransportConfig(
            user_agent=self.user_agent,
            transport=self.transport,
            wrap_transport=self.wrap_transport,
            disable_compression=self.disable_compression,
            tls=self._transport_tls(),
            username=self.username,
            password=self.password,
            bearer_token=self.bearer_token,
            bearer_token_file=self.bearer_token_file,
            impersonate=TransportImpersonationConfig(
                user_name=self.impersonate.user_name,
                uid=self.impersonate.uid,
                groups=self.impersonate.groups,
                extra=self.impersonate.extra,
            ),
            dial_holder=DialHolder(self.dial) if self.dial is not None else None,
            proxy=self.proxy,
        )
        if self.exec_provider is not None and self.auth_provider is not None:
            raise ValueError("execProvider and authProvider cannot be used in combination")
        if self.exec_provider is not None:
            self._add_exec_provider(conf, self.exec_provider)
        if self.auth_provider is not None:
            provider = get_auth_provider(self.host, self.auth_provider, self.auth_config_persister)
            conf.wrap(provider.wrap_transport)
        return conf

    def _transport_tls(self) -> TLSConfig:
        return TLSConfig(
            insecure=self.insecure,
            server_name=self.server_name,
            ca_file=self.ca_file,
            ca_data=self.ca_data,
            cert_file=self.cert_file,
            cert_data=self.cert_data,
            key_file=self.key_file,
            key_data=self.key_data,
            next_protos=self.next_protos,
        )

    def _add_exec_provider(self, conf: TransportConfig, provider: ExecConfig) -> None:
        from clientgo.plugin.pkg.client.auth.exec import get_authenticator
        from clientgo.rest.exec import config_to_exec_cluster

        cluster = config_to_exec_cluster(self) if provider.provide_cluster_info else None
        get_authenticator(provider, cluster).update_transport_config(conf)

    def wrap(self, fn: WrapperFunc) -> None:
        """Add a wrapper around the existing ones. Go: Wrap."""
        self.wrap_transport = wrappers(self.wrap_transport, fn)


def rest_client_for(config: Config) -> RESTClient:
    """Return a client for the API version of the config. Raises ValueError, OSError. Go: RESTClientFor."""
    _require_group_version(config)
    default_server_url_for(config)  # Report a wrong host before anything is created.
    return rest_client_for_config_and_client(config, _http_client_for(config))


def rest_client_for_config_and_client(config: Config, http_client: http.Client | None) -> RESTClient:
    """Return a client that uses a shared HTTP client. Go: RESTClientForConfigAndClient."""
    _require_group_version(config)
    return _new_client(config, http_client)


def unversioned_rest_client_for(config: Config) -> RESTClient:
    """Return a client without an API version, for discovery and similar. Go: UnversionedRESTClientFor."""
    default_server_url_for(config)
    return unversioned_rest_client_for_config_and_client(config, _http_client_for(config))


def unversioned_rest_client_for_config_and_client(config: Config, http_client: http.Client | None) -> RESTClient:
    """Return a client without an API version that uses a shared HTTP client.

    Go: UnversionedRESTClientForConfigAndClient.
    """
    return _new_client(config, http_client)


def _http_client_for(config: Config) -> http.Client:
    from clientgo.rest.transport import http_client_for

    return http_client_for(config)


def _require_group_version(config: Config) -> None:
    if config.group_version is None:
        raise ValueError("GroupVersion is required when initializing a RESTClient")


def _meta_codecs() -> NegotiatedSerializer:
    """Return codecs for clients that name the expected classes: they know only Status and similar kinds."""
    scheme = Scheme("meta")
    metav1.add_to_group_version(scheme, metav1.UNVERSIONED)
    return CodecFactory(scheme).without_conversion()


# The serializer of a config without one (Go rejects such a config).
_DEFAULT_SERIALIZER = _meta_codecs()


def _new_client(config: Config, http_client: http.Client | None) -> RESTClient:
    base_url, versioned_api_path = default_server_url_for(config)
    # Option kinds of a client without a version go out as meta.k8s.io/v1.
    group_version = config.group_version or metav1.SCHEME_GROUP_VERSION
    serializer = config.negotiated_serializer or _DEFAULT_SERIALIZER
    content = ClientContentConfig(
        accept_content_types=config.accept_content_types,
        content_type=config.content_type,
        group_version=group_version,
        negotiator=new_client_negotiator(serializer, group_version),
    )
    client = new_rest_client(base_url, versioned_api_path, content, _rate_limiter(config), http_client)
    if config.warning_handler_with_context is not None:
        client.warning_handler = config.warning_handler_with_context
    elif config.warning_handler is not None:
        client.warning_handler = _WarningLoggerNopContext(config.warning_handler)
    return client


def _rate_limiter(config: Config) -> flowcontrol.RateLimiter | None:
    if config.rate_limiter is not None:
        return config.rate_limiter
    qps = config.qps or DEFAULT_QPS
    return flowcontrol.new_token_bucket_rate_limiter(qps, config.burst or DEFAULT_BURST) if qps > 0 else None


def set_kubernetes_defaults(config: Config) -> None:
    """Set the user agent if it is empty. Go: SetKubernetesDefaults."""
    config.user_agent = config.user_agent or default_kubernetes_user_agent()


def default_kubernetes_user_agent() -> str:
    """Return "program/version (os/arch) kubernetes/commit". Go: DefaultKubernetesUserAgent."""
    info = version.get()
    command = os.path.basename(sys.argv[0].rstrip("/")) if sys.argv and sys.argv[0] else "unknown"
    release = info.git_version.split("-", 1)[0] or "unknown"
    system, machine = _platform()
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    commit = info.git_commit[:7] or "unknown"
    return f"{command}/{release} ({system}/{arch}) kubernetes/{commit}"


def _platform() -> tuple[str, str]:
    """Return the names of the operating system and the machine."""
    if hasattr(os, "uname"):
        found = os.uname()
        return found.sysname.lower(), found.machine.lower()
    import platform  # imported here, since it is slow and only needed without uname

    return platform.system().lower(), platform.machine().lower()


def in_cluster_config(service_account: str = _SERVICE_ACCOUNT) -> Config:
    """Return the config for a pod's service account. Rereads its token after rotation. Go: InClusterConfig.

    `service_account` is the directory that Kubernetes mounts. Raises ErrNotInCluster, or OSError for an unreadable
    token.
    """
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise ErrNotInCluster
    token_file, ca_file = f"{service_account}/token", f"{service_account}/ca.crt"
    token = read_file(token_file).decode("utf-8", "surrogateescape")
    config = Config(
        host=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        bearer_token=token,
        bearer_token_file=token_file,
    )
    try:
        _require_certificates(ca_file)
    except (OSError, ValueError) as err:
        klog.errorf("Expected to load root CA config from %s, but got err: %s", ca_file, err)
    else:
        config.ca_file = ca_file
    return config


def _require_certificates(ca_file: str) -> None:
    """Raise OSError for an unreadable file, and ValueError for a file without certificates. Go: certutil.NewPool."""
    if not data_from_slice_or_file(b"", ca_file):
        raise ValueError(
            f"error creating pool from {ca_file}: data does not contain any valid RSA or ECDSA certificates"
        )
    tls_config_for(TransportConfig(tls=TLSConfig(ca_file=ca_file)))


def is_config_transport_tls(config: Config) -> bool:
    """Report whether requests are encrypted. Go: IsConfigTransportTLS."""
    try:
        base_url, _ = default_server_url_for(config)
    except ValueError:
        return False
    return base_url.startswith("https://")


def load_tls_files(c: Config) -> None:
    """Read the certificate files into the data fields. Go: LoadTLSFiles. Raises OSError."""
    c.ca_data = data_from_slice_or_file(c.ca_data, c.ca_file)
    c.cert_data = data_from_slice_or_file(c.cert_data, c.cert_file)
    c.key_data = data_from_slice_or_file(c.key_data, c.key_file)


def data_from_slice_or_file(data: bytes, path: str) -> bytes:
    """Return the data, or the content of the file if there is no data. Raises OSError."""
    if data or not path:
        return data
    return read_file(path)


def add_user_agent(config: Config, user_agent: str) -> Config:
    """Set the user agent to the default plus `user_agent` and return the config. Go: AddUserAgent."""
    config.user_agent = f"{default_kubernetes_user_agent()}/{user_agent}"
    return config


_ANONYMOUS_FIELDS = (
    *(f.name for f in fields(ContentConfig)),
    *("host", "api_path", "insecure", "server_name", "ca_file", "ca_data", "next_protos", "rate_limiter"),
    *("warning_handler", "warning_handler_with_context", "user_agent", "disable_compression", "qps", "burst"),
    *("timeout", "max_silence", "dial", "proxy"),
)


def anonymous_client_config(config: Config) -> Config:
    """Return a copy without credentials and custom transports. Go: AnonymousClientConfig."""
    known_safe: dict[str, Any] = {name: getattr(config, name) for name in _ANONYMOUS_FIELDS}
    return Config(**known_safe)


def copy_config(config: Config) -> Config:
    """Return a copy whose fields can be assigned without changing the original. Go: CopyConfig."""
    if not isinstance(config, Config):
        got = config.__name__ if isinstance(config, type) else type(config).__name__
        raise TypeError(f'a rest.Config is required, as from clientcmd.build_config_from_flags("", path); got {got}')
    check_options(config, Config, "a rest.Config")
    copied = replace(config, impersonate=replace(config.impersonate))
    provider = config.exec_provider
    if provider is not None:
        copied.exec_provider = provider.deep_copy()
    return copied


def codec_factory_for_generated_client(scheme: Scheme, codecs: CodecFactory) -> CodecFactory:
    """Return the codecs of a generated client: with CBOR, if its feature gate is enabled.

    Go: CodecFactoryForGeneratedClient.
    """
    if not features.feature_gates().enabled(features.CLIENTS_ALLOW_CBOR):
        return codecs
    from clientgo.apimachinery.runtime.serializer import cbor  # Imported here: it needs the extra `cbor`.

    return new_codec_factory(scheme, with_serializer(cbor.new_serializer_info))
