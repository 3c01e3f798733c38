"""A TCP proxy that spoils what a server says: cuts, resets, garbage, refusals, errors and crumbs, as a seed decides."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from typing import Self

_CHUNK = 65536
_PATIENCE = 30.0
# With what an accepted connection may be met; "honest", after `calm`, only forwards.
FAULTS = (
    "honest",
    "close",
    "reset",
    "garbage",
    "stall",
    "crumbs",
    "refuse",
    "unavailable",
    "too many",
    "gone",
    "html",
)
_ANSWERS = {
    "unavailable": ("503 Service Unavailable", "", ""),
    "too many": ("429 Too Many Requests", "Retry-After: 0\r\n", ""),
    "gone": (
        "410 Gone",
        "Content-Type: application/json\r\n",
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","code":410}',
    ),
    "html": (
        "200 OK",
        "Content-Type: text/html\r\n",
        "<html>Please log in to the hotel's network</html>",
    ),
}


class FaultyProxy:
    """Forwards connections on a loopback port to `target`, each with a fault that `seed` decides, until `calm`.

    A context manager; leaving it closes all connections and joins its threads. `script` tells afterwards which faults
    were met, in order.
    """

    def __init__(self, target: tuple[str, int], seed: int) -> None:
        self._target = target
        self._random = random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Guards _sockets and _threads.
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._calm = threading.Event()
        self.script: list[tuple[str, int]] = []

    @property
    def url(self) -> str:
        """The http URL of the proxy."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def calm(self) -> None:
        """Connections from now on are forwarded as they are, and all open ones end."""
        self._calm.set()
        self._end_all()

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._calm.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._end_all()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(_PATIENCE)
            assert not thread.is_alive(), thread

    def _end_all(self) -> None:
        with self._lock:
            for sock in self._sockets:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def _start(self, fn: object, *args: object) -> None:
        thread = threading.Thread(target=fn, args=args, name="faulty proxy", daemon=True)  # type: ignore[arg-type]
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                fault, after = "honest", 0
                if not self._calm.is_set():
                    # Mostly in the middle of something, sometimes before the first byte.
                    fault, after = (
                        self._random.choice(FAULTS),
                        int(self._random.expovariate(1 / 3000)),
                    )
                    self.script.append((fault, after))
                self._start(self._serve, client, fault, after)

    def _serve(self, client: socket.socket, fault: str, after: int) -> None:
        with client:
            if fault == "refuse":
                _reset_at_close(client)
                return
            if fault in _ANSWERS:
                with contextlib.suppress(OSError):
                    client.recv(_CHUNK)
                    status, headers, body = _ANSWERS[fault]
                    text = (
                        f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
                    )
                    client.sendall(text.encode())
                return
            with contextlib.suppress(OSError), socket.create_connection(self._target) as server:
                with self._lock:
                    self._sockets += [client, server]
                try:
                    upward = threading.Thread(target=_pump, args=(client, server), name="faulty proxy", daemon=True)
                    upward.start()
                    try:
                        self._downward(server, client, fault, after)
                    finally:
                        with contextlib.suppress(OSError):
                            server.shutdown(socket.SHUT_RDWR)
                        with contextlib.suppress(OSError):
                            # What ends a reset connection is the close, once nobody reads from it any more.
                            client.shutdown(socket.SHUT_RD if fault == "reset" else socket.SHUT_RDWR)
                        upward.join(_PATIENCE)
                finally:
                    with self._lock:
                        self._sockets.remove(client)
                        self._sockets.remove(server)

    def _downward(self, server: socket.socket, client: socket.socket, fault: str, after: int) -> None:
        left = after
        while data := server.recv(_CHUNK):
            if fault == "honest":
                client.sendall(data)
                continue
            if fault == "crumbs":
                for start in range(0, min(len(data), left), 97):
                    client.sendall(data[start : min(start + 97, left)])
                    time.sleep(0.0002)
            else:
                client.sendall(data[:left])
            if len(data) < left:
                left -= len(data)
                continue
            if fault == "reset":
                _reset_at_close(client)
            elif fault == "garbage":
                client.sendall(b'\x00\xff{"type":"MODIFIED"\r\n\r\nHTTP/1.1 200 OK\r\n')
            elif fault == "stall":
                self._calm.wait(0.2)
            return


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _reset_at_close(sock: socket.socket) -> None:
    """Let the socket end with RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
