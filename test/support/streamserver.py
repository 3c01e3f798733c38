"""A WebSocket server with a script, by the synchronous server of the package `websockets`: another one than ours."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

V5 = "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
SUCCESS = {"metadata": {}, "status": "Success"}


def exit_status(code: int) -> dict[str, Any]:
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {"status": "Failure", "reason": "NonZeroExitCode", "message": "it failed", "details": {"causes": causes}}


def say(conn: ServerConnection, channel: int, data: bytes) -> None:
    conn.send(bytes((channel,)) + data)


def finish(conn: ServerConnection, status: dict[str, Any]) -> None:
    say(conn, ERROR, json.dumps(status).encode())


def read_stdin(conn: ServerConnection) -> Iterator[bytes]:
    """Yield what comes on the standard input until its end."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            message = conn.recv()
            assert isinstance(message, bytes)
            if message == bytes((CLOSE, STDIN)):
                return
            if message[0] == STDIN:
                yield message[1:]


@contextlib.contextmanager
def stream_server(
    script: Callable[[ServerConnection], None], *, subprotocols: Sequence[str] = (V5,), **options: Any
) -> Iterator[str]:
    """Run `script` for each connection, and yield the URL."""
    failures: list[BaseException] = []

    def handle(conn: ServerConnection) -> None:
        try:
            script(conn)
        except ConnectionClosed:
            pass
        except BaseException as err:
            failures.append(err)

    silent = logging.Logger("websockets", logging.CRITICAL + 1)
    options = {"compression": None, "ping_interval": None, "max_size": None, "logger": silent, **options}
    with serve(handle, "127.0.0.1", 0, subprotocols=list(subprotocols) or None, **options) as server:
        thread = threading.Thread(target=server.serve_forever, name="stream-server", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}/"
        finally:
            server.shutdown()
            thread.join()
    assert failures == []
