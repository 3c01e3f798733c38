"""The transports that clients with equal settings share, with their connections. Mirrors transport/cache.go.

The cache refers to a transport only weakly: when the last client is released, Python collects the transport, which
closes its idle connections.

Differences: the transport of a config without settings (Go: http.DefaultTransport) is collected too. The proxies and
authorities that the environment names are part of the key, so that a later client uses the current ones.
`disable_compression` is respected without TLS too. The key has the identities of the functions' holders and does not
keep them alive. A collection may happen in any thread, also in one that has a lock; therefore the cache only notes it,
and removes the entry and reports it when the next transport is requested.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from clientgo.golang.http import Request, Response
from clientgo.golang.http import proxy as httpproxy
from clientgo.golang.http.transport import Transport
from clientgo.transport.cert_rotation import ContextSource, loaded_tls, require_readable
from clientgo.transport.config import Config, TLSConfig

if TYPE_CHECKING:
    from clientgo.util.connrotation import ConnectionTracker

__all__ = ["TLS_CACHE", "ClockCheckingTransport", "TLSTransportCache", "TransportKey", "tls_config_key"]


class Environment(NamedTuple):
    """The variables of the environment that a new transport depends on."""

    proxy: httpproxy.Config = httpproxy.Config()
    # The file and the folder of the system's authorities, for OpenSSL.
    ssl_cert_file: str = ""
    ssl_cert_dir: str = ""


# An environment without these variables.
_NO_ENVIRONMENT = Environment()


def _environment() -> Environment:
    read = os.environ.get
    return Environment(httpproxy.from_environment(), read("SSL_CERT_FILE", ""), read("SSL_CERT_DIR", ""))


class TransportKey(NamedTuple):
    """The settings that distinguish transports. `repr` hides the private key. Go: tlsCacheKey."""

    insecure: bool = False
    ca_data: bytes = b""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    next_protos: tuple[str, ...] = ()
    disable_compression: bool = False
    # The identities of the holders, 0 for none.
    get_cert: int = 0
    dial: int = 0
    environment: Environment = _NO_ENVIRONMENT

    def __repr__(self) -> str:
        key = "<redacted>" if self.key_data else "<none>"
        return (
            f"insecure:{self.insecure}, ca_data:{self.ca_data!r}, ca_file:{self.ca_file}, "
            f"cert_data:{self.cert_data!r}, key_data:{key}, server_name:{self.server_name}, "
            f"disable_compression:{self.disable_compression}, get_cert:{self.get_cert:#x}, dial:{self.dial:#x}"
        )


def tls_config_key(config: Config, tls: TLSConfig | None = None) -> TransportKey | None:
    """Return the key of the config's transport; None if it cannot be shared. Raises OSError. Go: tlsConfigKey.

    `tls` is the result of `loaded_tls(config)`; None loads it. A config with a function that selects the proxy has no
    key, since functions cannot be compared.
    """
    if tls is None:
        tls = loaded_tls(config)
    if config.proxy is not None:
        return None
    return TransportKey(
        insecure=tls.insecure,
        ca_data=tls.ca_data,
        ca_file=tls.ca_file if tls.reload_ca_files else "",
        cert_data=tls.cert_data,
        key_data=tls.key_data,
        cert_file=tls.cert_file if tls.reload_tls_files else "",
        key_file=tls.key_file if tls.reload_tls_files else "",
        server_name=tls.server_name,
        next_protos=tuple(tls.next_protos),
        disable_compression=config.disable_compression,
        get_cert=id(tls.get_cert_holder) if tls.get_cert_holder is not None else 0,
        dial=id(config.dial_holder) if config.dial_holder is not None else 0,
        environment=_environment(),
    )


class _Collected(NamedTuple):
    """A transport that Python has collected."""

    # None for a transport that was not in the cache.
    key: TransportKey | None
    ref: weakref.ref[Transport]
    rotates_certificates: bool


class TLSTransportCache:
    """A cache of transports by their settings. Thread-safe. Go: tlsTransportCache."""

    def __init__(self) -> None:
        # Guards the next two dictionaries. Held while a transport is created, so that each key has one transport.
        self._lock = threading.Lock()
        self._transports: dict[TransportKey, weakref.ref[Transport]] = {}
        # The transports while the feature gate ClientsAllowTLSCacheGC is off: they remain for ever.
        self._strong_transports: dict[TransportKey, Transport] = {}
        # The transports without settings, by the environment. Go does not count them as entries either.
        self._defaults: weakref.WeakValueDictionary[Environment, Transport] = weakref.WeakValueDictionary()
        # The collections that `_report_collected` has not seen. The collector appends to it, in any thread.
        self._collected: deque[_Collected] = deque()

    def get(self, config: Config) -> Transport:
        """Return the transport for the config. Blocks while another thread creates one.

        Raises ValueError for a contradictory config, OSError for an unreadable file.
        """
        from clientgo.tools.metrics import metrics  # Few programs import this module without sending a request.

        tls = loaded_tls(config)
        key = tls_config_key(config, tls)
        if key is None:
            metrics.TRANSPORT_CREATE_CALLS.increment("uncacheable")
            return self._create(config, tls, None)
        with self._lock:
            self._report_collected()
            try:
                found, result = self._find(key)
                metrics.TRANSPORT_CREATE_CALLS.increment(result)
                if found is not None:
                    require_readable(config.tls)
                    return found
                return self._create(config, tls, key)
            finally:
                metrics.TRANSPORT_CACHE_ENTRIES.observe(self._count())

    def _find(self, key: TransportKey) -> tuple[Transport | None, str]:
        """Return the cached transport or None, and the result that the metric counts."""
        if _is_default(key):
            return None, "miss"
        if not _collects():
            kept = self._strong_transports.get(key)
            return kept, "miss" if kept is None else "hit"
        ref = self._transports.get(key)
        if ref is None:
            return None, "miss"
        found = ref()
        return found, "miss-gc" if found is None else "hit"

    def _count(self) -> int:
        """Return the number of entries. One dictionary is empty, unless a test changed the feature gate."""
        return len(self._transports) + len(self._strong_transports)

    def _create(self, config: Config, tls: TLSConfig, key: TransportKey | None) -> Transport:
        """Return a new transport for the key, or the one without settings."""
        if key is not None and _is_default(key):
            return self._default(key.environment)
        transport = _new_transport(config, tls)
        rotates_certificates = tls.reload_tls_files
        if not _collects():
            if key is not None:
                self._strong_transports[key] = transport
            return transport
        if key is None and not rotates_certificates:
            return transport
        ref = weakref.ref(transport)
        finalizer = weakref.finalize(transport, self._collected.append, _Collected(key, ref, rotates_certificates))
        finalizer.atexit = False
        if key is not None:
            self._transports[key] = ref
        return transport

    def _default(self, environment: Environment) -> Transport:
        transport = self._defaults.get(environment)
        if transport is None:
            transport = self._defaults[environment] = _new_transport(Config(), TLSConfig())
        return transport

    def _report_collected(self) -> None:
        """Remove the entries of collected transports and report them. The caller has the lock."""
        from clientgo.tools.metrics import metrics

        while self._collected:
            gone = self._collected.popleft()
            if gone.rotates_certificates:
                metrics.TRANSPORT_CERT_ROTATION_GC_CALLS.increment()
            if gone.key is None:
                continue
            if self._transports.get(gone.key) is not gone.ref:
                metrics.TRANSPORT_CACHE_GC_CALLS.increment("skipped")
                continue
            del self._transports[gone.key]
            metrics.TRANSPORT_CACHE_GC_CALLS.increment("deleted")
            metrics.TRANSPORT_CACHE_ENTRIES.observe(self._count())

    def __len__(self) -> int:
        """Return the number of cached transports."""
        with self._lock:
            self._report_collected()
            return self._count()

    def __repr__(self) -> str:
        return f"<TLSTransportCache, {len(self)} transports>"


def _is_default(key: TransportKey) -> bool:
    """Report whether the key is that of a config without settings."""
    return key == TransportKey(environment=key.environment)


def _collects() -> bool:
    """Report whether released transports are collected."""
    from clientgo import features

    return features.feature_gates().enabled(features.CLIENTS_ALLOW_TLS_CACHE_GC)


def _new_transport(config: Config, tls: TLSConfig) -> Transport:
    # The transport outlives the caller's config, and other clients share it: it keeps nothing else of this config.
    settings = Config(
        tls=tls, dial_holder=config.dial_holder, proxy=config.proxy, disable_compression=config.disable_compression
    )
    tracker: ConnectionTracker | None = None
    if tls.reload_tls_files:
        from clientgo.util.connrotation import new_connection_tracker  # Few programs need it.

        tracker = new_connection_tracker()
    source = ContextSource(settings, on_rotation=tracker.close_all if tracker is not None else None)
    if settings.has_ca() or settings.has_cert_auth():
        source.context()  # an invalid certificate is an error of the configuration, not of the first request
    return ClockCheckingTransport(
        ssl_context=source.context,
        server_name=tls.server_name,
        proxy=config.proxy,
        dial=config.dial_holder.dial if config.dial_holder is not None else None,
        on_connect=tracker.track if tracker is not None else None,
        disable_compression=config.disable_compression,
    )


class ClockCheckingTransport(Transport):
    """A transport that logs once if a server rejects credentials because of a clock. Thread-safe. Beyond Go."""

    def __init__(self, *, now: Callable[[], float] = time.time, **settings: Any) -> None:
        """Initialize the transport. `now` returns the seconds since 1970; Transport lists the other settings."""
        super().__init__(**settings)
        self._now = now
        # Guards the next attribute, so that requests that fail at once log one line. Held while it is logged.
        self._report_lock = threading.Lock()
        self._is_reported = False

    def round_trip(self, request: Request) -> Response:
        """See Transport."""
        response = super().round_trip(request)
        if response.status_code == 401 and not self._is_reported:
            from clientgo.transport.clock_skew import report_clock_skew

            with self._report_lock:
                self._is_reported = self._is_reported or report_clock_skew(request, response, self._now())
        return response


# The transports of this process. Go: tlsCache.
TLS_CACHE = TLSTransportCache()
