"""A small HTTP server for tests whose answers are functions of the request.

    with ScriptedServer(lambda request: Answer(200, b"{}")) as server:
        ... server.url ... server.requests ...

Answers may stream chunks, hold the connection open until the test lets go, or break it off. It binds to loopback and
takes TLS contexts. Every request is served in a thread of its own; leaving the `with` block closes all connections.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from patience import PATIENCE

from clientgo.golang.http import Header


@dataclass
class Received:
    """A request as it came."""

    method: str
    target: str
    headers: Header
    body: bytes
    # Numbers the connections, so that a test can see whether one was used again.
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """A response to send."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    # Sent chunk by chunk instead of `body`; a generator may wait for the test in between.
    chunks: Iterable[bytes] | None = None
    # Say so many bytes are coming, whatever comes.
    claimed_length: int | None = None
    # Serve another request over the connection even after that.
    keep_open: bool = False
    # Sent as it is in place of everything else; the connection is closed behind it.
    raw: bytes | None = None
    # Close the connection without saying anything, or after what was sent, without the last chunk.
    hang_up: bool = False


def status(code: int, reason: str, message: str, **headers: str) -> Answer:
    """Return a Status, as an API server sends it for an error."""
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    sent = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
    return Answer(code, json.dumps(document).encode(), sent)


class ScriptedServer:
    """See the module."""

    def __init__(
        self, answer: Callable[[Received], Answer], tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> None:
        self._answer = answer
        self._tls = tls
        self._host = host
        # Guards the three lists.
        self._lock = threading.Lock()
        self.requests: list[Received] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=64)
        self.port: int = self._listener.getsockname()[1]
        # Set when the test is over; streams that wait for it then end.
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def open_connections(self) -> int:
        with self._lock:
            return sum(sock.fileno() >= 0 for sock in self._sockets)

    def __enter__(self) -> ScriptedServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, name="scripted-server", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        number = 0
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                number += 1
                with self._lock:
                    self._sockets.append(sock)
                self._start(self._serve, sock, number)

    def _serve(self, sock: socket.socket, number: int) -> None:
        try:
            with contextlib.suppress(OSError, ValueError):
                if self._tls is not None:
                    with self._lock:
                        self._sockets.remove(sock)
                    sock = self._tls.wrap_socket(sock, server_side=True)
                    with self._lock:
                        self._sockets.append(sock)
                with sock.makefile("rb") as stream:
                    while (request := _read_request(stream, number)) is not None:
                        with self._lock:
                            self.requests.append(request)
                        if not _send(sock, self._answer(request)):
                            return
        finally:
            sock.close()


def _read_request(stream: Any, number: int) -> Received | None:
    line = stream.readline()
    if not line:
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers = Header()
    while (header := stream.readline().strip()) != b"":
        name, _, value = header.decode("latin-1").partition(":")
        headers.add(name, value.strip())
    return Received(method, target, headers, stream.read(int(headers.get("Content-Length", "0"))), number)


def _send(sock: socket.socket, answer: Answer) -> bool:
    """Send the answer; whether the connection may serve another request."""
    if answer.raw is not None:
        sock.sendall(answer.raw)
        return False
    if answer.hang_up and answer.chunks is None and not answer.body:
        return False
    headers = dict(answer.headers)
    if answer.chunks is not None:
        headers["Transfer-Encoding"] = "chunked"
    else:
        length = answer.claimed_length if answer.claimed_length is not None else len(answer.body)
        headers["Content-Length"] = str(length)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    sock.sendall(f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode("latin-1"))
    if answer.chunks is None:
        sock.sendall(answer.body)
        return answer.keep_open or (not answer.hang_up and answer.claimed_length is None)
    for chunk in answer.chunks:
        sock.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
    if answer.hang_up:
        return False
    sock.sendall(b"0\r\n\r\n")
    return True


@contextlib.contextmanager
def serving(answer: Callable[[Received], Answer], tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """Start a ScriptedServer and yield it."""
    with ScriptedServer(answer, tls) as server:
        yield server
