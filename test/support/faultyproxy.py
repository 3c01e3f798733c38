"""A TCP proxy that spoils what an API server says, connection by connection, as a script tells it.

A script is a list of `Fault`s. Each connection takes the next one; when none is left, connections are forwarded as they
are. Nothing is ever repeated or made up: what gets through is what the server said, up to the point where it is spoilt.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import random
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qs, urlsplit

from patience import PATIENCE

from clientgo import context
from clientgo.utils.clock import REAL_CLOCK

_CHUNK = 65536
_CRUMB = 97
# How long a delayed answer keeps its client waiting, twice. Real seconds.
DELAY = 0.05
# The time without a listener, in seconds of the clock. Longer than the first pauses of any backoff.
DOWN = 3.0
# Bytes that get through before a connection ends on which an answer waits for a request that does not come.
_PATIENT_BYTES = 8000


@dataclass(frozen=True)
class Fault:
    """With what one connection is met.

    `after` says when: for what spoils bytes, how many of them get through before; for an answer that the proxy gives
    itself, how many requests are forwarded before.
    """

    kind: str
    after: int = 0


@dataclass
class Seen:
    """A request that reached the proxy, or a connection that was refused before it could bring one."""

    # Seconds of the clock. Taken before anything is answered, so that what follows a pause comes that much later.
    at: float
    # "list", "watch", "stream" (a watch that asks for the initial objects), or "" for none.
    what: str
    fault: str
    # It came over a connection that had served another one; when that breaks, a client may repeat it at once.
    reused: bool = False
    # An event, or the beginning of one, was let through in answer.
    brought_events: bool = False


def _document(code: int, reason: str, message: str) -> dict[str, object]:
    about = {"reason": reason, "message": message, "code": code}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", **about}


def _status(code: int, reason: str, message: str, *headers: str) -> bytes:
    body = json.dumps(_document(code, reason, message))
    return _answer(f"{code} {reason}", body, "Content-Type: application/json", *headers)


def _answer(status: str, body: str = "", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", body]
    return "\r\n".join(lines).encode()


def _event(kind: str, obj: dict[str, object]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


_TOO_OLD = "too old resource version"
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
# What the proxy says in the server's place.
ANSWERS = {
    "500": _answer("500 Internal Server Error"),
    "500 status": _status(500, "InternalError", "etcdserver: leader changed"),
    "502": _answer("502 Bad Gateway", "<html>bad gateway</html>", "Content-Type: text/html"),
    "503": _answer("503 Service Unavailable", "no endpoints available", "Content-Type: text/plain"),
    "503 retry": _status(503, "ServiceUnavailable", "shutting down", "Retry-After: 1"),
    "504": _answer("504 Gateway Timeout"),
    "504 status": _status(504, "Timeout", "request did not complete within the allotted timeout"),
    "429": _status(429, "TooManyRequests", "too many requests"),
    "429 retry": _status(429, "TooManyRequests", "too many requests", "Retry-After: 2"),
    "410": _status(410, "Expired", _TOO_OLD),
    "html": _answer("200 OK", "<html>Please log in to the hotel's network</html>", "Content-Type: text/html"),
    "nothing": _answer("200 OK", "", "Content-Type: application/json"),
}
# What it says to a watch only; a list then gets the first answer above of the same number.
_EXPIRED = _chunk(_event("ERROR", _document(410, "Expired", _TOO_OLD))) + _chunk(b"")
WATCH_ANSWERS = {"410 event": _STREAM + _EXPIRED}
REFUSALS = ("refuse", "down")
SPOILT = (
    "close",
    "reset",
    "mid line",
    "garbage",
    "crumbs",
    "delay",
    "drop",
    "half open",
    "short headers",
    "long length",
    "short length",
    "short gzip",
    "late 410",
)
KINDS = (*SPOILT, *REFUSALS, *ANSWERS, *WATCH_ANSWERS)
# What can be done to bytes that only their ends understand.
OPAQUE_KINDS = ("close", "reset", "mid line", "garbage", "crumbs", "delay", "drop", "half open", *REFUSALS)


def random_script(dice: random.Random, kinds: Sequence[str] = KINDS) -> list[Fault]:
    """Return a script in which a few series of one to three connections fail."""
    script: list[Fault] = []
    for _ in range(dice.randint(3, 5)):
        kind = dice.choice(kinds)
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            # Mostly in the middle of something, sometimes before the first byte.
            after = int(dice.expovariate(1 / 3000)) if kind in SPOILT else dice.randrange(2)
            script.append(Fault(kind, after))
    return script


def again_and_again(fault: Fault) -> Iterator[Fault]:
    """Return a script that never ends."""
    return itertools.repeat(fault)


class FaultyProxy:
    """Forwards connections on a loopback port to `target`, as `script` tells, until that is used up or `calm` called.

    A context manager; leaving it closes all connections and joins its threads. `log` has every request, in order; if
    the bytes are `opaque`, as those of TLS, every connection.
    """

    def __init__(self, target: tuple[str, int], script: Iterable[Fault], *, opaque: bool = False) -> None:
        self._target = target
        self.opaque = opaque
        self._script = iter(script)
        # Reserves the port while the proxy does not listen.
        self._reservation = _bound_socket(0)
        self._address = self._reservation.getsockname()
        self._listener = self._listen()
        # Guards the four below.
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._closed = False
        self.log: list[Seen] = []
        # Done when nothing is to be spoilt any more; ends all pauses.
        self._weather, self._end_weather = context.with_cancel(context.background())
        self._used_up = threading.Event()

    @property
    def url(self) -> str:
        """The URL of the proxy: https if it forwards what it does not understand."""
        return f"{'https' if self.opaque else 'http'}://127.0.0.1:{self._address[1]}"

    def wait_until_used_up(self, timeout: float) -> bool:
        """Wait until a connection has come for which the script had no fault left; False when time ran out."""
        return self._used_up.wait(timeout)

    def calm(self) -> None:
        """Forward new connections unchanged, and end all open ones."""
        self._end_weather()
        with self._lock:
            for sock in self._sockets:
                _shut_down(sock)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            _shut_down(self._listener)
        self.calm()
        for thread in list(self._threads):
            thread.join(PATIENCE)
            assert not thread.is_alive(), thread
        self._reservation.close()

    def _start(self, fn: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=fn, args=args, name="faulty proxy", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _listen(self) -> socket.socket:
        listener = _bound_socket(self._address[1])
        listener.listen(64)
        return listener

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                self._listener.close()
                return
            fault = self._next_fault()
            if fault is None or fault.kind not in REFUSALS:
                self._start(_Connection(self, client, fault).serve)
                continue
            self.note("", fault)
            if fault.kind == "down":
                self._listener.close()
            with client:
                _reset_at_close(client)
            if fault.kind == "down" and not self._listen_again():
                return

    def _next_fault(self) -> Fault | None:
        fault = None if self._weather.done().is_set() else next(self._script, None)
        if fault is None:
            self._used_up.set()
        return fault

    def _listen_again(self) -> bool:
        """Listen again after a while. Reports whether the proxy is still open."""
        context.sleep(self._weather, DOWN)
        with self._lock:
            if not self._closed:
                self._listener = self._listen()
            return not self._closed

    # ---- for the connections

    def pause(self, real_seconds: float) -> None:
        """Wait for so long, or until the proxy is calm."""
        self._weather.done().wait(real_seconds)

    def note(self, what: str, fault: Fault | None, reused: bool = False) -> Seen:
        seen = Seen(REAL_CLOCK.now(), what, fault.kind if fault is not None else "honest", reused)
        with self._lock:
            self.log.append(seen)
        return seen

    @contextlib.contextmanager
    def keeping(self, sock: socket.socket) -> Iterator[None]:
        """Let `calm` end the connection during the block, and close the socket after it."""
        with self._lock:
            self._sockets.add(sock)
        try:
            yield
        finally:
            with self._lock:
                self._sockets.discard(sock)
            sock.close()

    def connect(self) -> socket.socket:
        return socket.create_connection(self._target)


class _Connection:
    """One connection of a client: reads its requests, while a second thread brings the server's answers."""

    def __init__(self, proxy: FaultyProxy, client: socket.socket, fault: Fault | None) -> None:
        self._proxy = proxy
        self._client = client
        self._server: socket.socket | None = None
        self._fault = fault
        # The request that is being answered.
        self._seen = Seen(0.0, "", "")

    def serve(self) -> None:
        with self._proxy.keeping(self._client), contextlib.suppress(OSError):
            self._server = self._proxy.connect()
            with self._proxy.keeping(self._server):
                answering = threading.Thread(target=self._answer, name="faulty proxy", daemon=True)
                answering.start()
                try:
                    if self._proxy.opaque:
                        self._forward_bytes(self._server)
                    else:
                        self._forward_requests(self._server)
                finally:
                    _shut_down(self._server)
                    answering.join(PATIENCE)

    def _forward_requests(self, server: socket.socket) -> None:
        for number, head in enumerate(_request_heads(self._client)):
            what = _kind_of_request(head)
            answer = self._own_answer(what, number)
            is_spoilt = self._fault is not None and (self._fault.kind in SPOILT or answer is not None)
            self._seen = self._proxy.note(what, self._fault if is_spoilt else None, reused=number > 0)
            if answer is not None:
                self._client.sendall(answer)
                _shut_down(self._client)
                return
            server.sendall(head)

    def _forward_bytes(self, server: socket.socket) -> None:
        self._seen = self._proxy.note("", self._fault)
        while data := self._client.recv(_CHUNK):
            server.sendall(data)

    def _own_answer(self, what: str, number: int) -> bytes | None:
        """Return the proxy's own response to the request with this number on the connection, or None to forward it."""
        fault = self._fault
        if fault is None or fault.kind in SPOILT or number < fault.after:
            return None
        if fault.kind in WATCH_ANSWERS and what != "list":
            return WATCH_ANSWERS[fault.kind]
        return ANSWERS.get(fault.kind) or ANSWERS[fault.kind.split()[0]]

    # ---- the answers

    def _answer(self) -> None:
        assert self._server is not None
        try:
            with contextlib.suppress(OSError):
                self._spoil(self._server)
        finally:
            # The connection is reset by the close, after its reader has stopped.
            is_reset = self._fault is not None and self._fault.kind == "reset"
            _shut_down(self._client, socket.SHUT_RD if is_reset else socket.SHUT_RDWR)

    def _spoil(self, server: socket.socket) -> None:
        fault = self._fault
        if fault is None:
            self._let_through(server, None)
        elif fault.kind in _SPOILERS:
            _SPOILERS[fault.kind](self, server, fault.after)
        else:  # an answer of the proxy's own comes with a later request
            self._let_through(server, _PATIENT_BYTES)

    def _let_through(self, server: socket.socket, limit: int | None, crumb: int = _CHUNK) -> bytes:
        """Forward `limit` bytes, or all; what arrived together with the last one and did not get through."""
        left = limit
        while data := server.recv(_CHUNK):
            self._send(data[:left], crumb)
            if left is not None:
                if len(data) > left:
                    return data[left:]
                left -= len(data)
        return b""

    def _send(self, data: bytes, crumb: int = _CHUNK) -> None:
        if b'{"type":' in data:
            self._seen.brought_events = True
        for start in range(0, len(data), crumb):
            self._client.sendall(data[start : start + crumb])

    def _close(self, server: socket.socket, after: int) -> None:
        self._let_through(server, after)

    def _reset(self, server: socket.socket, after: int) -> None:
        self._let_through(server, after)
        _reset_at_close(self._client)

    def _mid_line(self, server: socket.socket, after: int) -> None:
        rest = self._let_through(server, after)
        self._send(rest[: (len(rest) + 1) // 2])

    def _garbage(self, server: socket.socket, after: int) -> None:
        self._let_through(server, after)
        self._send(b'\x00\xff{"kind":"Pod"\r\n\r\nHTTP/1.1 200 OK\r\n')

    def _crumbs(self, server: socket.socket, after: int) -> None:
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._let_through(server, after + 500, _CRUMB)

    def _delay(self, server: socket.socket, after: int) -> None:
        self._proxy.pause(DELAY)
        rest = self._let_through(server, after)
        self._proxy.pause(DELAY)
        self._send(rest)
        self._let_through(server, after)

    def _drop(self, server: socket.socket, after: int) -> None:
        swallowed = len(self._let_through(server, after))
        while swallowed < 1000 and (data := server.recv(_CHUNK)):
            swallowed += len(data)

    def _half_open(self, server: socket.socket, after: int) -> None:
        self._let_through(server, after)
        while server.recv(_CHUNK):  # until the client gives up
            pass

    def _short_headers(self, server: socket.socket, after: int) -> None:
        head, _ = _response_head(server)
        lines = head.splitlines(keepends=True)[:-1]
        self._send(b"".join(lines[: 1 + after % len(lines)]))

    def _long_length(self, server: socket.socket, after: int) -> None:
        head, body = _read_response(server)
        if body is None:
            self._send(head + b"ffff\r\n\n")
        else:
            self._send(_with_length(head, len(body) + 1 + after) + body)

    def _short_length(self, server: socket.socket, after: int) -> None:
        head, body = _read_response(server)
        if body is None:
            self._send(head + b"1\r\n\n\n")
        else:
            self._send(_with_length(head, len(body) - 1 - after % len(body)) + body)

    def _short_gzip(self, server: socket.socket, after: int) -> None:
        """Send a body that is complete for HTTP but ends in the middle of its gzip stream."""
        head, body = _read_response(server)
        packed = b"\n" * 2000 if body is None else body
        if b"Content-Encoding: gzip" not in head:
            packed = gzip.compress(packed)
            head = head.replace(b"\r\n", b"\r\nContent-Encoding: gzip\r\n", 1)
        packed = packed[: len(packed) - 1 - after % len(packed)]
        if body is None:
            self._send(head + (_chunk(packed) if packed else b"") + b"0\r\n\r\n")
        else:
            self._send(_with_length(head, len(packed)) + packed)

    def _late_410(self, server: socket.socket, after: int) -> None:
        """End a watch like a server that drops its history: with an ERROR event after complete events."""
        passed = 0
        while data := server.recv(_CHUNK):
            self._send(data)
            passed += len(data)
            if passed > after and data.endswith(b"}\n\r\n"):
                self._send(_EXPIRED)
                return


_SPOILERS: dict[str, Callable[[_Connection, socket.socket, int], None]] = {
    kind: getattr(_Connection, f"_{kind.replace(' ', '_')}") for kind in SPOILT
}


def _request_heads(sock: socket.socket) -> Iterator[bytes]:
    """Yield the heads of requests without a body, such as lists and watches."""
    buffered = b""
    while data := sock.recv(_CHUNK):
        buffered += data
        while (end := buffered.find(b"\r\n\r\n") + 4) >= 4:
            yield buffered[:end]
            buffered = buffered[end:]


def _kind_of_request(head: bytes) -> str:
    query = parse_qs(urlsplit(head.split(b" ", 2)[1].decode()).query)
    if "watch" not in query:
        return "list"
    return "stream" if "sendInitialEvents" in query else "watch"


def _response_head(server: socket.socket) -> tuple[bytes, bytes]:
    """Return the head of the next response, and the part of the body that arrived with it."""
    received = b""
    while b"\r\n\r\n" not in received:
        data = server.recv(_CHUNK)
        if not data:
            raise ConnectionError("the server is gone")
        received += data
    end = received.index(b"\r\n\r\n") + 4
    return received[:end], received[end:]


def _read_response(server: socket.socket) -> tuple[bytes, bytes | None]:
    """Return head and body of the next response; of a stream, which has no end, only the head."""
    head, body = _response_head(server)
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    if length is None:
        return head, None
    while len(body) < int(length[1]):
        data = server.recv(_CHUNK)
        if not data:
            raise ConnectionError("the server is gone")
        body += data
    return head, body


def _with_length(head: bytes, length: int) -> bytes:
    return re.sub(rb"(?i)content-length: *\d+", b"Content-Length: %d" % length, head)


def _bound_socket(port: int) -> socket.socket:
    sock = socket.socket()
    # Several sockets may be bound to the port; those that do not listen only keep it.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", port))
    return sock


def _shut_down(sock: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(how)


def _reset_at_close(sock: socket.socket) -> None:
    """Let the socket end with RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
