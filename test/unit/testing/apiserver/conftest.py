"""Fixtures that several of these tests need."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

import pytest
from patience import PATIENCE

from clientgo.testing.apiserver import Environment


def _send(env: Environment, data: bytes) -> bytes:
    answer = b""
    address = ("127.0.0.1", int(env.url.rpartition(":")[2]))
    # It may answer, and hang up, before it has read all.
    with socket.create_connection(address, timeout=PATIENCE) as sock, contextlib.suppress(ConnectionError):
        with contextlib.suppress(OSError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
        while part := sock.recv(65536):
            answer += part
    return answer


@pytest.fixture(scope="session")
def send() -> Callable[[Environment, bytes], bytes]:
    """Return a function that sends raw bytes, closes its side and returns the server's response."""
    return _send
