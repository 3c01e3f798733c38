"""Proxies on loopback for tests: HTTP with CONNECT, over TLS or not, and SOCKS5. All lead to one server.

with HTTPProxy(server.port) as proxy:
    ... proxy.url ... proxy.asked ...
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from typing import Any

from patience import PATIENCE


class _Proxy:
    """Accepts connections, lets a subclass find out what is asked for, and pipes bytes to `port` on loopback."""

    scheme = ""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._target = port
        self._tls = tls
        # Guards the rest.
        self._lock = threading.Lock()
        self.asked: list[str] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> Any:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            _shut_down(sock)
        for thread in list(self._threads):
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def _start(self, target: Any, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, name="test-proxy", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _keep(self, sock: socket.socket) -> socket.socket:
        with self._lock:
            self._sockets.append(sock)
        return sock

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._start(self._serve, self._keep(self._listener.accept()[0]))

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError), raw:
            sock = raw if self._tls is None else self._keep(self._tls.wrap_socket(raw, server_side=True))
            with sock, self._keep(socket.create_connection(("127.0.0.1", self._target))) as target:
                if self.negotiate(sock, target):
                    self._start(_pipe, target, sock)
                    _pipe(sock, target)

    def negotiate(self, sock: socket.socket, target: socket.socket) -> bool:
        """Answer the client; whether its bytes shall be passed on from now on."""
        raise NotImplementedError

    def note(self, asked: str) -> None:
        with self._lock:
            self.asked.append(asked)


def _pipe(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(65536):
            target.sendall(data)
    _shut_down(source)
    _shut_down(target)


def _shut_down(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class HTTPProxy(_Proxy):
    """Notes "METHOD target authorization" of each connection's first request."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None, refuse: bytes = b"") -> None:
        super().__init__(port, tls)
        self.scheme = "http" if tls is None else "https"
        self._refuse = refuse

    def negotiate(self, sock: socket.socket, target: socket.socket) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = sock.recv(1)
            if not byte:
                return False
            head += byte
        lines = head.decode().split("\r\n")
        credentials = [line.partition(": ")[2] for line in lines if line.lower().startswith("proxy-authorization:")]
        self.note(" ".join([*lines[0].split(" ")[:2], *credentials]))
        if self._refuse:
            sock.sendall(self._refuse)
            return False
        if lines[0].startswith("CONNECT "):
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            target.sendall(head)
        return True


class SOCKSProxy(_Proxy):
    """Notes "host:port" of each connection; with a user it wants that name and password."""

    scheme = "socks5"

    def __init__(self, port: int, user: tuple[bytes, bytes] | None = None, reply: int = 0) -> None:
        super().__init__(port)
        self._user = user
        self._reply = reply

    def negotiate(self, sock: socket.socket, target: socket.socket) -> bool:
        stream = sock.makefile("rb", buffering=0)
        methods = stream.read(stream.read(2)[1])
        wanted = 2 if self._user else 0
        if wanted not in methods:
            sock.sendall(b"\x05\xff")
            return False
        sock.sendall(bytes([5, wanted]))
        if self._user:
            name = stream.read(stream.read(2)[1])
            password = stream.read(stream.read(1)[0])
            right = (name, password) == self._user
            sock.sendall(b"\x01\x00" if right else b"\x01\x01")
            if not right:
                return False
        request = stream.read(4)
        if len(request) < 4:
            return False
        kind = request[3]
        address = stream.read({1: 4, 4: 16}.get(kind) or stream.read(1)[0])
        host = (
            address.decode() if kind == 3 else socket.inet_ntop({1: socket.AF_INET, 4: socket.AF_INET6}[kind], address)
        )
        self.note(f"{host}:{int.from_bytes(stream.read(2), 'big')}")
        # Bound to a name: its length is part of the reply.
        sock.sendall(bytes([5, self._reply, 0, 3, 4]) + b"here" + b"\x00\x01")
        return self._reply == 0
