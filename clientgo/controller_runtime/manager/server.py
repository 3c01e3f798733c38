"""An HTTP server as a runnable. Mirrors pkg/manager/server.go."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass

from clientgo.context import Context
from clientgo.controller_runtime.log.log import from_context
from clientgo.golang.http import server as http

__all__ = ["Server"]


@dataclass(kw_only=True)
class Server:
    """A runnable that serves HTTP. It starts in the first group of the manager. Go: manager.Server."""

    name: str = ""
    """The server's name in the log."""
    server: http.Server
    listener: socket.socket | None = None
    """The listening socket; None selects the server's own address."""
    only_serve_when_leader: bool = False
    """Start only when the manager is elected."""
    shutdown_timeout: float | None = None
    """Seconds that requests have to finish; None waits without limit."""

    def start(self, ctx: Context) -> None:
        """Serve until `ctx` ends. Blocks until all its threads have ended. Raises OSError."""
        pairs = {"name": self.name} if self.name else {}
        log = from_context(ctx).with_values(**pairs, addr=self._addr())

        def shut_down() -> None:
            ctx.done().wait()
            log.info("shutting down server")
            try:
                self.server.shutdown(self.shutdown_timeout)
            except Exception as err:
                log.error(err, "error shutting down server")

        waiter = threading.Thread(target=shut_down, name=f"server-{self.name}-shutdown", daemon=True)
        waiter.start()
        log.info("starting server")
        if self.listener is None:
            self.server.listen_and_serve()
        else:
            self.server.serve(self.listener)
        waiter.join()

    def need_leader_election(self) -> bool:
        """Report whether the server waits for the election."""
        return self.only_serve_when_leader

    def _addr(self) -> str:
        if self.listener is None:
            return self.server.addr
        host, port = self.listener.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
