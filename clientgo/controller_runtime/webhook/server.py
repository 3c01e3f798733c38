"""The webhook server, which the API server calls. Mirrors pkg/webhook/server.go.

It always uses TLS, and reloads the certificate and key when their files change. Difference: it supports HTTP/1.1 only,
since the standard library has no HTTP/2; the API server accepts both.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from clientgo.context import Context
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.internal import httpserver
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.webhook.internal import metrics
from clientgo.golang.functions import check_options
from clientgo.golang.http import server as http
from clientgo.golang.http.server import HandlerLike, Request, ServeMux, listen
from clientgo.klog.exceptions import operational

__all__ = ["DEFAULT_PORT", "DefaultServer", "Options", "Server", "new_server"]

DEFAULT_PORT = 9443
"""The default port of webhook servers. Go: webhook.DefaultPort."""

_LOG = RUNTIME_LOG.with_name("webhook")
_PROBE_TIMEOUT = 10.0


class Server(Protocol):
    """A webhook server, which is a runnable of a manager. Go: webhook.Server."""

    def need_leader_election(self) -> bool:
        """Report whether the server waits for the election. Go: NeedLeaderElection."""
        ...

    def register(self, path: str, hook: HandlerLike) -> None:
        """Serve `hook` at `path`. Go: Register."""
        ...

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` is done. Blocks. Go: Start."""
        ...

    def started_checker(self) -> Callable[[Request], None]:
        """Return a health check that succeeds once the server accepts connections. Go: StartedChecker."""
        ...

    def webhook_mux(self) -> ServeMux:
        """Return the multiplexer of the webhooks' paths. Go: WebhookMux."""
        ...


@dataclass(kw_only=True)
class Options:
    """The options of a webhook server. Go: webhook.Options."""

    host: str = ""
    """The address to listen at; "" selects all."""
    port: int = 0
    """The port to listen at; 0 selects DEFAULT_PORT."""
    cert_dir: str = ""
    """The folder of certificate and key; "" selects <temporary directory>/k8s-webhook-server/serving-certs."""
    cert_name: str = ""
    """The file name of the certificate; "" selects tls.crt."""
    key_name: str = ""
    """The file name of the key; "" selects tls.key."""
    client_ca_name: str = ""
    """The file name of the certificate authorities that clients must have certificates from; "" accepts all clients."""
    tls_opts: Sequence[Callable[[ssl.SSLContext], object]] = ()
    """Functions that change the TLS settings, in order. One that sets `sni_callback` must provide the certificates."""
    webhook_mux: ServeMux | None = None
    """The multiplexer for webhooks; None selects a new one."""
    # Not in Go.
    listener: socket.socket | None = field(default=None, repr=False)
    """A listening socket that replaces host and port."""


def new_server(o: Options | None = None) -> DefaultServer:
    """Return a server with these options; missing ones get their defaults. Go: NewServer."""
    return DefaultServer(o or Options())


class DefaultServer:
    """The webhook server. Call `start` once; the other methods are thread-safe. Go: webhook.DefaultServer."""

    def __init__(self, options: Options) -> None:
        check_options(options, Options, "the options of a webhook server")
        self.options = _with_defaults(options)
        # Guards _paths and _address.
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        # The address that it serves, once started.
        self._address: tuple[str, int] | None = None

    def __repr__(self) -> str:
        return f"<DefaultServer {sorted(self._paths)}>"

    def need_leader_election(self) -> bool:
        """Return False: every replica serves. Go: NeedLeaderElection."""
        return False

    def register(self, path: str, hook: HandlerLike) -> None:
        """Serve `hook` at `path`, and count and time its requests. Raises ValueError if the path is taken (Go panics).

        Go: Register.
        """
        with self._lock:
            if path in self._paths:
                raise ValueError(f"can't register duplicate path: {path}")
            self._paths.add(path)
            self.webhook_mux().handle(path, metrics.instrumented_hook(path, hook))
        _LOG.info("Registering webhook", path=path)

    def webhook_mux(self) -> ServeMux:
        """Return the multiplexer of the webhooks' paths. Go: WebhookMux."""
        assert self.options.webhook_mux is not None
        return self.options.webhook_mux

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` is done. Blocks until all its threads have ended. Go: Start.

        Raises OSError for a missing certificate or an unavailable port, ssl.SSLError for an invalid certificate, and
        ValueError for an empty file of client authorities.
        """
        _LOG.info("Starting webhook server")
        configured = partial(self._configured, self._client_authorities())
        context = configured()
        watcher = self._watcher(context, configured)
        listener = self.options.listener or listen(_address(self.options.host, self.options.port))
        with self._lock:
            self._address = listener.getsockname()[:2]
        server = httpserver.new(ctx, self.webhook_mux(), "webhook-server", context)
        threads = [threading.Thread(target=self._shut_down, args=(ctx, server), name="webhook-shutdown", daemon=True)]
        if watcher is not None:
            threads.append(threading.Thread(target=watcher.start, args=(ctx,), name="webhook-certwatcher", daemon=True))
        for thread in threads:
            thread.start()
        _LOG.info("Serving webhook server", host=self.options.host, port=self.options.port)
        server.serve(listener)
        for thread in threads:
            thread.join()

    @staticmethod
    def _shut_down(ctx: Context, server: http.Server) -> None:
        ctx.done().wait()
        _LOG.info("Shutting down webhook server with timeout of 1 minute")
        try:
            server.shutdown(60.0)
        except Exception as err:
            _LOG.error(err, "error shutting down the HTTP server")

    def _client_authorities(self) -> str:
        """Return the file of client authorities, which is read once, as in Go; "" without one."""
        name = self.options.client_ca_name
        # The ssl module accepts ASCII only; a PEM file has other characters only in comments.
        with operational(OSError):
            return (Path(self.options.cert_dir) / name).read_text(encoding="ascii", errors="ignore") if name else ""

    def _configured(self, client_authorities: str) -> ssl.SSLContext:
        """Return a context with all settings but the certificate of the files."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for change in self.options.tls_opts:
            change(context)
        if self.options.client_ca_name:
            context.load_verify_locations(cadata=client_authorities)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _watcher(
        self, context: ssl.SSLContext, configured: Callable[[], ssl.SSLContext]
    ) -> certwatcher.CertWatcher | None:
        """Let `context` present the certificate of the files. Returns None if `context` has its own certificates."""
        options = self.options
        if context.sni_callback is not None:
            return None
        watcher = certwatcher.new(Path(options.cert_dir) / options.cert_name, Path(options.cert_dir) / options.key_name)
        certwatcher.follow(watcher, context, configured)
        return watcher

    def started_checker(self) -> Callable[[Request], None]:
        """Return a health check that opens a TLS connection to the server without sending a request.

        Go: StartedChecker.
        """

        def check(req: Request) -> None:
            with self._lock:
                address = self._address
            if address is None:
                raise RuntimeError("webhook server has not been started yet")
            # The check needs only a connection, so it does not verify the certificate.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            try:
                host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])
                with socket.create_connection((host, address[1]), timeout=_PROBE_TIMEOUT) as connection:
                    context.wrap_socket(connection).close()
            except OSError as err:
                raise RuntimeError(f"webhook server is not reachable: {err}") from err

        return check


def _with_defaults(options: Options) -> Options:
    options.port = options.port or DEFAULT_PORT
    options.cert_dir = options.cert_dir or os.path.join(tempfile.gettempdir(), "k8s-webhook-server", "serving-certs")
    options.cert_name = options.cert_name or "tls.crt"
    options.key_name = options.key_name or "tls.key"
    options.webhook_mux = options.webhook_mux or ServeMux()
    return options


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
