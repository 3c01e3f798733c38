"""Commands over a WebSocket as Go's client and Go's server code exchanged them: our client sends and reads the same.

The file has the frames between client-go's executor and apimachinery's wsstream, the server code of kubelet and API
server. `ReplayServer` plays the server's part and records the client's.
"""

from __future__ import annotations

import base64
import hashlib
import io
import socket
import threading
from typing import Any

import pytest
from goldenfile import cases
from patience import PATIENCE

from clientgo import context
from clientgo.rest import Config
from clientgo.tools import remotecommand
from clientgo.tools.remotecommand import StreamOptions, TerminalSize
from clientgo.util.exec import CodeExitError

_CLOSE = 8
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def decoded(text: str | None) -> bytes:
    return base64.b64decode(text or "")


class ReplayServer:
    """A server of one connection. It sends the recorded bytes when the client's recorded frames have arrived."""

    def __init__(self, case: dict[str, Any]) -> None:
        self._case = case
        self.frames: list[list[Any]] = []
        self.request = ""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/api/v1/namespaces/default/pods/p/exec"
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
            self.request = head.decode()
            key = next(line for line in self.request.split("\r\n") if line.lower().startswith("sec-websocket-key:"))
            digest = hashlib.sha1(key.partition(":")[2].strip().encode() + _GUID).digest()
            accept = f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}"
            connection.sendall("\r\n".join([*self._case["response"], accept, "", ""]).encode())
            for part in self._case["exchange"]:
                if "server" in part:
                    connection.sendall(decoded(part["server"]))
                for _ in part.get("client", ()):
                    frame = _read_frame(file)
                    if frame is None:
                        return
                    self.frames.append(frame)


def _read_frame(file: Any) -> list[Any] | None:
    """Return the opcode and the payload of a masked frame; None at the end."""
    start = file.read(2)
    if len(start) < 2:
        return None
    assert start[0] & 0xF0 == 0x80, "in one piece, without extensions"
    assert start[1] & 0x80, "a client masks its frames"
    size = start[1] & 0x7F
    if size > 125:
        size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
    mask, payload = file.read(4), file.read(size)
    return [start[0] & 0x0F, bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))]


class Sizes:
    """A queue of terminal sizes that stays open until `closed`."""

    def __init__(self, sizes: list[list[int]]) -> None:
        self._left = [TerminalSize(width=width, height=height) for width, height in sizes]
        self.closed = threading.Event()

    def next(self) -> TerminalSize | None:
        if self._left:
            return self._left.pop(0)
        self.closed.wait(PATIENCE)
        return None


@pytest.mark.parametrize("case", cases("remotecommand/exec_streams.jsonl"))
def test_our_client_in_place_of_gos(case: dict[str, Any]) -> None:
    output, errors, sizes = io.BytesIO(), io.BytesIO(), Sizes(case["sizes"])
    options = StreamOptions(
        stdin=io.BytesIO(decoded(case["stdin"])) if case["stdin"] is not None else None,
        stdout=output,
        stderr=errors if case["has_stderr"] else None,
        tty=case["tty"],
        terminal_size_queue=sizes if case["sizes"] else None,
    )
    server = ReplayServer(case)
    failure = ""
    try:
        executor = remotecommand.new_web_socket_executor_for_protocols(
            Config(host=server.url), "GET", server.url, case["protocol"]
        )
        executor.stream_with_context(context.background(), options)
    except CodeExitError as err:
        failure = str(err)
        assert err.exit_status() == 42
    except Exception as err:
        failure = str(err)
    finally:
        sizes.closed.set()
        server.join()

    assert failure == (case["error"] or "")
    assert output.getvalue() == decoded(case["stdout"])
    assert errors.getvalue() == decoded(case["stderr"])
    assert f"Sec-WebSocket-Protocol: {case['protocol']}" in server.request
    recorded = [[opcode, decoded(payload)] for part in case["exchange"] for opcode, payload in part.get("client", ())]
    # The status ends the command: whether the answer to the server's closing frame still goes out is a race.
    assert server.frames in (recorded, [frame for frame in recorded if frame[0] != _CLOSE])
