"""An HTTP server of the metrics, for programs without a manager. Beyond Go, whose programs write these few lines."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

from clientgo.golang.http import server as http
from clientgo.metrics.legacyregistry import handler

__all__ = ["MetricsServer", "serve"]

_SHUTDOWN_SECONDS = 10.0


class MetricsServer:
    """A running server, made by `serve`. Use it in a `with` statement, or call `stop`. Thread-safe."""

    def __init__(self, address: str, handlers: Mapping[str, http.HandlerLike]) -> None:
        mux = http.ServeMux()
        mux.handle("/metrics", handler())
        for path, each in handlers.items():
            mux.handle(path, each)
        listener = http.listen(address)
        host, port = listener.getsockname()[:2]
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._server = http.Server(mux, name="metrics")
        self._thread = threading.Thread(target=self._server.serve, args=(listener,), name="metrics-server", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The listening address "host:port", with the port that the system chose for port 0."""
        return self._address

    def stop(self) -> None:
        """Stop the server and join its thread. Blocks up to ten seconds for the current requests. Idempotent."""
        with suppress(TimeoutError):  # It has closed the connections of those requests.
            self._server.shutdown(_SHUTDOWN_SECONDS)
        self._thread.join()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<MetricsServer {self._address}>"


def serve(address: str, handlers: Mapping[str, http.HandlerLike] | None = None) -> MetricsServer:
    """Serve the metrics at /metrics and `handlers` at their paths, in a thread `metrics-server`.

    `address` is "host:port"; ":8080" listens on all interfaces, and port 0 lets the system choose. Returns once the
    server listens. Raises OSError if it cannot, and ValueError if `handlers` has the path /metrics.
    """
    handlers = handlers or {}
    if "/metrics" in handlers:
        raise ValueError("overriding builtin /metrics endpoint is not allowed")
    return MetricsServer(address, handlers)
