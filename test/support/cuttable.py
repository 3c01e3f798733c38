"""A TCP proxy whose network can be taken away: connections stay open and nothing comes through."""

from __future__ import annotations

import contextlib
import socket
import threading

from patience import PATIENCE

_CHUNK = 65536


class CuttableProxy:
    """Forwards connections on a loopback port to `target`; `cut` makes it swallow everything, as a dead network does.

    A context manager; leaving it closes all connections and joins its threads.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Guards _sockets and _threads.
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = [self._listener]
        self._threads: list[threading.Thread] = []
        self._cut = False

    @property
    def url(self) -> str:
        """The http URL of the proxy."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Forward no more data in either direction."""
        self._cut = True

    def __enter__(self) -> CuttableProxy:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            sockets, threads = list(self._sockets), list(self._threads)
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), thread

    def _start(self, fn: object, *args: socket.socket) -> None:
        thread = threading.Thread(target=fn, args=args, name="proxy", daemon=True)  # type: ignore[arg-type]
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                with self._lock:
                    self._sockets += [client, server]
                self._start(self._pump, client, server)
                self._start(self._pump, server, client)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                if not self._cut:
                    sink.sendall(data)
        with contextlib.suppress(OSError):
            if not self._cut:
                sink.shutdown(socket.SHUT_WR)
