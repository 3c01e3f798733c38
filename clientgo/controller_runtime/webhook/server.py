"""The server that the API server asks about objects. Mirrors pkg/webhook/server.go.

TLS always; the certificate and its key are files, and are read again when they change. Differs: HTTP/1.1 only, since
the standard library speaks no HTTP/2; the API server takes either.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from clientgo.context import Context
from clientgo.controller_runtime import certwatcher
from clientgo.controller_runtime.internal import httpserver
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.webhook.internal import metrics
from clientgo.golang.http import server as http
from clientgo.golang.http.server import HandlerLike, Request, ServeMux, listen

__all__ = ["DEFAULT_PORT", "DefaultServer", "Options", "Server", "new_server"]

DEFAULT_PORT = 9443
"""Where webhook servers listen unless told otherwise. Go: webhook.DefaultPort."""

_LOG = RUNTIME_LOG.with_name("webhook")
_PROBE_TIMEOUT = 10.0


class Server(Protocol):
    """Serves webhooks. Go: webhook.Server. A runnable of a manager."""

    def need_leader_election(self) -> bool:
        """Whether it waits for the election. Go: NeedLeaderElection."""
        ...

    def register(self, path: str, hook: HandlerLike) -> None:
        """Serve `hook` at `path`, from now on or from the start on. Go: Register."""
        ...

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` is done. Blocks. Go: Start."""
        ...

    def started_checker(self) -> Callable[[Request], None]:
        """A health check: whether the server answers. Go: StartedChecker."""
        ...

    def webhook_mux(self) -> ServeMux:
        """Where the webhooks are. Go: WebhookMux."""
        ...


@dataclass(kw_only=True)
class Options:
    """How a webhook server serves. Go: webhook.Options."""

    host: str = ""
    """The address to listen on; all when empty."""
    port: int = 0
    """The port; DEFAULT_PORT when 0."""
    cert_dir: str = ""
    """Where certificate and key are; `k8s-webhook-server/serving-certs` among the temporary files when empty."""
    cert_name: str = ""
    """The certificate's file; tls.crt when empty."""
    key_name: str = ""
    """The key's file; tls.key when empty."""
    client_ca_name: str = ""
    """The file with the authorities whose certificates clients must have; any client is served when empty."""
    tls_opts: Sequence[Callable[[ssl.SSLContext], object]] = ()
    """Change the TLS settings, in turn. One that sets `sni_callback` brings certificates of its own."""
    webhook_mux: ServeMux | None = None
    """Where to register webhooks; a new one when None."""
    # Beyond Go.
    listener: socket.socket | None = field(default=None, repr=False)
    """A socket that listens already, in the place of host and port."""


def new_server(o: Options | None = None) -> DefaultServer:
    """A server with the options, and the defaults for the others. Go: NewServer."""
    return DefaultServer(o or Options())


class DefaultServer:
    """The webhook server. Go: webhook.DefaultServer. `start` is called once; the rest from any thread."""

    def __init__(self, options: Options) -> None:
        self.options = _with_defaults(options)
        # Guards _paths and _address.
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        # Where it answers, once it does.
        self._address: tuple[str, int] | None = None

    def __repr__(self) -> str:
        return f"<DefaultServer {sorted(self._paths)}>"

    def need_leader_election(self) -> bool:
        """Every replica serves. Go: NeedLeaderElection."""
        return False

    def register(self, path: str, hook: HandlerLike) -> None:
        """Serve `hook` at `path`, counted and timed. Raises ValueError for a path that is taken (Go panics).

        Go: Register.
        """
        with self._lock:
            if path in self._paths:
                raise ValueError(f"can't register duplicate path: {path}")
            self._paths.add(path)
            self.webhook_mux().handle(path, metrics.instrumented_hook(path, hook))
        _LOG.info("Registering webhook", path=path)

    def webhook_mux(self) -> ServeMux:
        """Where the webhooks are. Go: WebhookMux."""
        assert self.options.webhook_mux is not None
        return self.options.webhook_mux

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` is done. Blocks; its threads have ended when it returns.

        Raises OSError without certificate or port, ssl.SSLError for one that is none. Go: Start.
        """
        _LOG.info("Starting webhook server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for change in self.options.tls_opts:
            change(context)
        watcher = self._watcher(context)
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

    def _watcher(self, context: ssl.SSLContext) -> certwatcher.CertWatcher | None:
        """Let `context` have the certificate and know the authorities; None when it brings certificates of its own."""
        options = self.options
        if options.client_ca_name:
            context.load_verify_locations(Path(options.cert_dir) / options.client_ca_name)
            context.verify_mode = ssl.CERT_REQUIRED
        if context.sni_callback is not None:
            return None
        watcher = certwatcher.new(Path(options.cert_dir) / options.cert_name, Path(options.cert_dir) / options.key_name)
        # Connections that are open keep the certificate they began with.
        watcher.register_callback(lambda _: context.load_cert_chain(watcher.cert_path, watcher.key_path))
        return watcher

    def started_checker(self) -> Callable[[Request], None]:
        """A health check that connects as a client does, without asking anything. Go: StartedChecker."""

        def check(req: Request) -> None:
            with self._lock:
                address = self._address
            if address is None:
                raise RuntimeError("webhook server has not been started yet")
            # Whether it answers is the question, not who it is.
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
