"""Logs of containers, at once or followed. Mirrors pods/log of the apiserver and GetContainerLogs of the kubelet."""

from __future__ import annotations

import contextlib
import threading

from clientgo.golang.net import SocketConn
from clientgo.testing.apiserver.streams.runtime import LogReader
from clientgo.testing.apiserver.wire.http import LAST_CHUNK, Request, Response, chunk, head

__all__ = ["answer", "follow"]


def answer(reader: LogReader, limit: int | None) -> Response:
    """Return the lines that a log has now, at most `limit` bytes."""
    body = b""
    while (lines := reader.read()) and (limit is None or len(body) < limit):
        body += lines
    return Response(200, body[:limit], "text/plain")


def follow(request: Request, reader: LogReader, limit: int | None) -> Response:
    """Send the lines as they come, until the container or the client ends. Blocks. Takes the connection over."""
    connection = request.connection
    conn = SocketConn(connection.sock, bytes(connection.buffer))
    watcher = threading.Thread(target=_watch, args=(conn, reader), name="apiserver-log-client", daemon=True)
    try:
        conn.write(head(200, {"Content-Type": "text/plain", "Transfer-Encoding": "chunked", "Connection": "close"}))
        watcher.start()
        left = limit
        while True:
            while lines := reader.read():
                conn.write(chunk(lines[:left]))
                if left is not None:
                    left -= min(left, len(lines))
                    if not left:
                        break
            if left == 0 or not reader.wait():
                break
        conn.write(LAST_CHUNK)
    except OSError:
        pass  # the client has gone
    finally:
        reader.close()
        conn.close()
        if watcher.ident is not None:
            watcher.join()
        connection.close()
    return Response(200, stream=True)


def _watch(conn: SocketConn, reader: LogReader) -> None:
    """Wait for the client's end: a log without new lines would never learn of it."""
    with contextlib.suppress(OSError):
        while conn.read():
            pass
    reader.close()
