"""Forwarded ports as Go's client and Go's server code served them: our client sends and reads the same.

The file has the frames between client-go's forwarder and the port-forward handler of kubelet, over SPDY and through the
API server's tunnel inside a WebSocket. `ReplayServer` plays the server's part and collects the client's frames, which
it decodes by itself.
"""

from __future__ import annotations

import base64
import hashlib
import io
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from goldenfile import cases
from patience import PATIENCE
from threadtools import eventually

from clientgo.apimachinery.util.httpstream import Dialer
from clientgo.apimachinery.util.httpstream.spdy.framer import DICTIONARY
from clientgo.golang.goroutine import go
from clientgo.golang.stop import Signal
from clientgo.rest import Config
from clientgo.tools import portforward
from clientgo.transport import spdy

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PATH = "/api/v1/namespaces/default/pods/web/portforward"
_NOT_COMPARED = ("host:", "user-agent:", "sec-websocket-key:", "accept")


def decoded(text: str) -> bytes:
    return base64.b64decode(text)


class FrameReader:
    """An iterator over the client's frames, as lists like those of the file."""

    def __init__(self, file: Any, in_web_socket: bool) -> None:
        self._file, self._in_web_socket = file, in_web_socket
        self._rest = b""
        self._headers = zlib.decompressobj(zdict=DICTIONARY)

    def __iter__(self) -> Iterator[list[Any]]:
        while (head := self._take(8)) is not None:
            first, second = struct.unpack(">II", head)
            payload = self._take(second & 0xFFFFFF)
            assert payload is not None
            if not first >> 31:
                yield ["data", first, payload, bool(second >> 24)]
                continue
            assert first >> 16 == 0x8003
            number, kind = struct.unpack_from(">I", payload)[0], first & 0xFFFF
            if kind == 1:
                assert payload[4:10] == b"\0" * 6
                yield ["syn", number, self._texts(payload[10:])]
            elif kind == 3:
                yield ["reset", number, struct.unpack_from(">I", payload, 4)[0]]
            else:
                yield [{6: "ping", 7: "goaway"}[kind], number]
        if self._in_web_socket and self._rest == b"closed":
            yield ["close"]

    def _texts(self, compressed: bytes) -> dict[str, str]:
        block = io.BytesIO(self._headers.decompress(compressed))
        texts = [
            block.read(int.from_bytes(block.read(4), "big")).decode()
            for _ in range(2 * int.from_bytes(block.read(4), "big"))
        ]
        return dict(zip(texts[::2], texts[1::2], strict=True))

    def _take(self, size: int) -> bytes | None:
        """Return this many bytes; None at the end."""
        if not self._in_web_socket:
            data = self._file.read(size)
            return data if len(data) == size else None
        while len(self._rest) < size:
            start = self._file.read(2)
            if len(start) < 2:
                return None
            assert start[1] & 0x80, "a client masks its frames"
            length = start[1] & 0x7F
            if length > 125:
                length = int.from_bytes(self._file.read(2 if length == 126 else 8), "big")
            mask, masked = self._file.read(4), self._file.read(length)
            if start[0] & 0x0F == 8:
                assert not self._rest
                self._rest = b"closed"
                return None
            keys = (mask * (length // 4 + 1))[:length]
            self._rest += (int.from_bytes(masked, "big") ^ int.from_bytes(keys, "big")).to_bytes(length, "big")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class Sent:
    """The client's frames. How its data is cut into frames depends on the local socket, so it is joined."""

    def __init__(self) -> None:
        self.streams: dict[int, dict[str, Any]] = {}
        self.opened: list[int] = []
        self.ends: list[list[Any]] = []

    def add(self, frame: list[Any]) -> None:
        kind, number = frame[0], frame[1] if len(frame) > 1 else 0
        if kind == "syn":
            self.opened.append(number)
            self.streams[number] = {"headers": frame[2], "data": b"", "fin": False, "reset": None}
        elif kind == "data":
            stream = self.streams[number]
            assert not stream["fin"]
            stream["data"] += frame[2]
            stream["fin"] = frame[3]
        elif kind == "reset":
            self.streams[number]["reset"] = frame[2]
        elif kind != "ping":
            self.ends.append(frame)

    def includes(self, other: Sent) -> bool:
        """Report whether all of `other` has been sent."""
        return all(
            number in self.streams
            and len(self.streams[number]["data"]) >= len(stream["data"])
            and self.streams[number]["fin"] >= stream["fin"]
            and (self.streams[number]["reset"] is not None) >= (stream["reset"] is not None)
            for number, stream in other.streams.items()
        ) and len(self.ends) >= len(other.ends)


class ReplayServer:
    """A server of one connection. It sends the recorded bytes when the client's recorded frames have arrived."""

    def __init__(self, case: dict[str, Any]) -> None:
        self._case = case
        self.sent = Sent()
        self.request: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, name="replay-server")
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        connection.settimeout(PATIENCE)
        with connection, connection.makefile("rb") as file:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += file.readline()
            self.request = head.decode().split("\r\n")[:-2]
            response = list(self._case["response"])
            for line in self.request:
                if line.lower().startswith("sec-websocket-key:"):
                    digest = hashlib.sha1(line.partition(":")[2].strip().encode() + _GUID).digest()
                    response.append(f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}")
            connection.sendall("\r\n".join([*response, "", ""]).encode())
            frames = iter(FrameReader(file, self._case["via"] == "websocket"))
            recorded = Sent()
            for part in self._case["exchange"]:
                for frame in part.get("client", ()):
                    recorded.add(as_sent(frame))
                if "server" in part or "end" in part:
                    while not self.sent.includes(recorded):
                        self.sent.add(next(frames))
                    if "end" in part:
                        return
                    connection.sendall(decoded(part["server"]))
            for frame in frames:
                self.sent.add(frame)


def as_sent(frame: list[Any]) -> list[Any]:
    return [frame[0], frame[1], decoded(frame[2]), frame[3]] if frame[0] == "data" else frame


def dialer_of(via: str, url: str) -> Dialer:
    config = Config(host=url)
    if via == "websocket":
        return portforward.new_spdy_over_websocket_dialer(url + _PATH, config)
    transport, upgrader = spdy.round_tripper_for(config)
    return spdy.new_dialer(upgrader, transport, "POST", url + _PATH)


class LocalProgram:
    """Acts on the local ports as the recorded program did."""

    def __init__(self, forwarder: portforward.PortForwarder) -> None:
        self._ports = {port.remote: port.local for port in forwarder.get_ports()}
        self._connections: dict[str, socket.socket] = {}
        self._open: set[str] = set()

    def wait_for_ends(self) -> None:
        """Wait until the forwarder has handled the ends of connections, as the recorded program did."""

        def has_handled() -> bool:
            threads = [thread.name for thread in threading.enumerate()]
            return sum(name.startswith("portforward-connection") for name in threads) == len(self._open)

        eventually(has_handled, "the end of ended connections")

    def act(self, word: str, connection: str, *rest: Any) -> None:
        if word == "connect":
            self._connections[connection] = socket.create_connection(("127.0.0.1", self._ports[rest[0]]), PATIENCE)
            self._open.add(connection)
            return
        sock = self._connections[connection]
        if word == "send":
            sock.sendall(decoded(rest[0]))
        elif word == "receive":
            wanted, seen = decoded(rest[0]), bytearray()
            while len(seen) < len(wanted):
                piece = sock.recv(len(wanted) - len(seen))
                assert piece, bytes(seen)
                seen += piece
            assert seen == wanted
        elif word == "shut":
            sock.shutdown(socket.SHUT_WR)
        elif word == "close":
            sock.close()
            self._open.remove(connection)
        else:
            assert word == "end"
            assert sock.recv(1) == b""
            self._open.remove(connection)

    def close(self) -> None:
        for sock in self._connections.values():
            sock.close()


@pytest.mark.parametrize("case", cases("portforward/port_forward_streams.jsonl"))
def test_our_forwarder_in_place_of_gos(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    server = ReplayServer(case)
    stop, ready, out, failure = threading.Event(), Signal(), io.StringIO(), None
    forwarder = portforward.new_on_addresses(
        dialer_of(case["via"], server.url), ["127.0.0.1"], [f":{port}" for port in case["ports"]], stop, ready, out, out
    )
    running = go(forwarder.forward_ports, "test-forward")
    assert ready.wait(PATIENCE)
    program = LocalProgram(forwarder)
    try:
        for step in case["script"]:
            if step[0] == "stop":
                program.wait_for_ends()
                stop.set()
                running.join(PATIENCE)
            elif step[0] == "lost":
                with pytest.raises(portforward.ErrLostConnectionToPod) as caught:
                    running.result()
                failure = str(caught.value)
            else:
                program.act(*step)
    finally:
        stop.set()
        running.join(PATIENCE)
        program.close()
        server.join()

    assert failure == case["error"]
    printed = out.getvalue()
    for number, port in enumerate(forwarder.get_ports()):
        printed = printed.replace(str(port.local), f"$LOCAL{number}")
    assert printed == case["printed"]
    for message in case["handled"]:
        # Go's text begins with the ports, which are fields of our log record.
        assert message.partition(f"-> {case['ports'][0]}: ")[2] in caplog.text
    assert ("Error" in caplog.text or "error" in caplog.text) == bool(case["handled"]), caplog.text

    recorded = Sent()
    for part in case["exchange"]:
        for frame in part.get("client", ()):
            recorded.add(as_sent(frame))
    assert server.sent.opened == recorded.opened
    assert server.sent.streams == recorded.streams
    assert server.sent.ends == recorded.ends
    assert {line.lower() for line in server.request if not line.lower().startswith(_NOT_COMPARED)} == {
        line.lower() for line in case["request"] if not line.lower().startswith(_NOT_COMPARED)
    }
    assert not [thread for thread in threading.enumerate() if thread.name.startswith(("portforward", "spdy"))]
