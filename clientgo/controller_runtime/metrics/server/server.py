"""The metrics server. Mirrors pkg/metrics/server/server.go.

With `secure_serving` and no certificate files the server makes a self-signed certificate for localhost: the connection
is encrypted, but clients cannot authenticate the server. This needs the extra `certificates`.
"""

from __future__ import annotations

import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from clientgo import rest
from clientgo.context import Context
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.internal import httpserver
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.metrics.registry import AVAILABLE, REGISTRY
from clientgo.golang.functions import check_options
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.http import server as http
from clientgo.golang.tls import load_key_pair
from clientgo.klog import Logger

__all__ = ["DEFAULT_BIND_ADDRESS", "Filter", "FilterProvider", "Options", "Server", "metrics_handler", "new_server"]

DEFAULT_BIND_ADDRESS = ":8080"
"""The default address of the metrics server. Go: server.DefaultBindAddress."""

_LOG = RUNTIME_LOG.with_name("metrics")
_METRICS_ENDPOINT = "/metrics"
_SHUTDOWN_TIMEOUT = 60.0
_NOT_INSTALLED = "metrics are not collected: install prometheus-client, pip install 'clientgo[metrics]'\n"

Filter: TypeAlias = Callable[[Logger, http.HandlerLike], http.HandlerLike]
"""A function that wraps a handler, for example with authentication. Go: server.Filter."""

FilterProvider: TypeAlias = Callable[[rest.Config, HTTPClient], Filter]
"""A function that makes the filter."""


class Server(Protocol):
    """A server of metrics. Go: server.Server."""

    def add_extra_handler(self, path: str, handler: http.HandlerLike) -> None:
        """Serve another path. Call it before `start`. Raises ValueError if the path is taken."""
        ...

    def need_leader_election(self) -> bool:
        """Return False: every replica serves its metrics."""
        ...

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` ends. Blocks. Raises OSError."""
        ...


@dataclass(kw_only=True)
class Options:
    """The options of the metrics server. Go: server.Options."""

    secure_serving: bool = False
    """Serve over TLS."""
    bind_address: str = ""
    """The address "host:port"; "" selects ":8080", "0" disables the server."""
    extra_handlers: Mapping[str, http.HandlerLike] = field(default_factory=dict)
    """Further handlers by path."""
    filter_provider: FilterProvider | None = None
    """Makes a wrapper for all handlers."""
    cert_dir: str = ""
    """The folder of the certificate; "" selects <temporary directory>/k8s-metrics-server/serving-certs."""
    cert_name: str = ""
    """The file name of the certificate; "" selects tls.crt."""
    key_name: str = ""
    """The file name of the key; "" selects tls.key."""
    tls_opts: Iterable[Callable[[ssl.SSLContext], None]] = ()
    """Functions that change the TLS settings. One of them may load a certificate."""
    listen_config: Callable[[str], socket.socket] | None = None
    """A function that opens the listening socket for the address."""


def new_server(o: Options, config: rest.Config, http_client: HTTPClient) -> Server | None:
    """Return the server, or None for the address "0". Raises ValueError for an extra handler at /metrics.

    Go: server.NewServer.
    """
    check_options(o, Options, "the options of a metrics server")
    o = _with_defaults(o)
    if o.bind_address == "0":
        return None
    if _METRICS_ENDPOINT in o.extra_handlers:
        raise ValueError(f"overriding builtin {_METRICS_ENDPOINT} endpoint is not allowed")
    metrics_filter = None
    if o.filter_provider is not None:
        try:
            metrics_filter = o.filter_provider(config, http_client)
        except Exception as err:
            raise ValueError(f"filter provider failed to create filter for the metrics server: {err}") from err
    return _DefaultServer(o, metrics_filter)


def _with_defaults(o: Options) -> Options:
    return replace(
        o,
        bind_address=o.bind_address or DEFAULT_BIND_ADDRESS,
        cert_dir=o.cert_dir or str(Path(tempfile.gettempdir()) / "k8s-metrics-server" / "serving-certs"),
        cert_name=o.cert_name or "tls.crt",
        key_name=o.key_name or "tls.key",
        extra_handlers=dict(o.extra_handlers),
    )


class _DefaultServer:
    def __init__(self, options: Options, metrics_filter: Filter | None) -> None:
        self._options = options
        self._filter = metrics_filter
        # Guards the attributes below.
        self._lock = threading.Lock()
        self._handlers = dict(options.extra_handlers)
        self._bind_addr = ""

    def need_leader_election(self) -> bool:
        return False

    def add_extra_handler(self, path: str, handler: http.HandlerLike) -> None:
        with self._lock:
            if path == _METRICS_ENDPOINT:
                raise ValueError(f"overriding builtin {_METRICS_ENDPOINT} endpoint is not allowed")
            if path in self._handlers:
                raise ValueError(
                    f'can\'t register extra handler by duplicate path "{path}" on metrics http server'
                )
            self._handlers[path] = handler

    def get_bind_addr(self) -> str:
        """Return the listening address "host:port", once started."""
        with self._lock:
            return self._bind_addr

    def start(self, ctx: Context) -> None:
        _LOG.info("Starting metrics server")
        tls, watcher = self._tls() if self._options.secure_serving else (None, None)
        mux = self._mux()
        listen = self._options.listen_config or http.listen
        try:
            listener = listen(self._options.bind_address)
        except http.ListenError as err:
            text = f"failed to start metrics server: failed to create listener: {err}"
            raise http.ListenError(err.errno, text) from None
        except OSError as err:
            raise OSError(f"failed to start metrics server: failed to create listener: {err}") from err
        host, port = listener.getsockname()[:2]
        with self._lock:
            self._bind_addr = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        secure = self._options.secure_serving
        _LOG.info("Serving metrics server", bindAddress=self._options.bind_address, secure=secure)
        server = httpserver.new(ctx, mux, "metrics", tls)

        def shut_down() -> None:
            ctx.done().wait()
            _LOG.info("Shutting down metrics server with timeout of 1 minute")
            try:
                server.shutdown(_SHUTDOWN_TIMEOUT)
            except Exception as err:
                _LOG.error(err, "error shutting down the HTTP server")

        threads = [threading.Thread(target=shut_down, name="metrics-shutdown", daemon=True)]
        if watcher is not None:
            threads.append(threading.Thread(target=watcher.start, args=(ctx,), name="metrics-certwatcher", daemon=True))
        for thread in threads:
            thread.start()
        server.serve(listener)
        for thread in threads:
            thread.join()

    def _mux(self) -> http.ServeMux:
        mux = http.ServeMux()
        with self._lock:
            handlers: dict[str, http.HandlerLike] = {_METRICS_ENDPOINT: metrics_handler(), **self._handlers}
        for path, handler in handlers.items():
            if self._filter is not None:
                handler = self._filter(_LOG.with_values(path=path), handler)
            mux.handle(path, handler)
        return mux

    def _tls(self) -> tuple[ssl.SSLContext, certwatcher.CertWatcher | None]:
        """Return the TLS settings, and the watcher of the certificate files or None."""
        tls = self._configured()
        cert, key = (Path(self._options.cert_dir) / name for name in (self._options.cert_name, self._options.key_name))
        if tls.has_certificate or tls.sni_callback is not None:
            return tls, None
        if not (cert.exists() and key.exists()):
            # Imported here, since it needs an extra, which a server with certificate files does not.
            from clientgo.util.cert import generate_self_signed_cert_key

            certificate, private_key = generate_self_signed_cert_key("localhost", ["127.0.0.1"])
            load_key_pair(tls, certificate.decode(), private_key.decode())
            return tls, None
        watcher = certwatcher.new(cert, key)
        certwatcher.follow(watcher, tls, self._configured)
        return tls, watcher

    def _configured(self) -> _Settings:
        tls = _Settings(ssl.PROTOCOL_TLS_SERVER)
        for change in self._options.tls_opts:
            change(tls)
        return tls


class _Settings(ssl.SSLContext):
    """An SSL context that remembers whether it has a certificate, which OpenSSL does not expose."""

    has_certificate = False

    def load_cert_chain(self, *args: Any, **kwargs: Any) -> None:
        super().load_cert_chain(*args, **kwargs)
        self.has_certificate = True


def metrics_handler() -> Callable[[http.ResponseWriter, http.Request], None]:
    """Return a handler that serves `REGISTRY` in the Prometheus text format.

    Without prometheus_client the handler responds with installation instructions.
    """
    if not AVAILABLE:
        return lambda resp, req: http.error(resp, _NOT_INSTALLED.strip(), 501)
    # Here: the module needs prometheus_client.
    from clientgo.metrics.exposition import handler_for

    return handler_for(REGISTRY)
