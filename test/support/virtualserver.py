"""An HTTP server in virtual time, below the whole real client: a round tripper whose answers take their time.

To be used inside a synctest bubble. What stays silent for longer than the client allows ends in the client's timeout,
as a socket's would; what a client aborts ends at once.

    server = VirtualServer(bubble, lambda request: Reply(pieces=[(60.0, bookmark("7")), SILENCE]))
    config = rest.Config(host="http://virtual", transport=server, ...)
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from clientgo import kubernetes
from clientgo.golang.http import Header, Request, Response
from clientgo.informers.core.v1.pod import new_pod_informer
from clientgo.rest import Config
from clientgo.testing.synctest import Bubble
from clientgo.tools import cache
from clientgo.utils.clock import REAL_CLOCK

Piece = tuple[float, bytes]
"""Seconds after the piece before, and what comes then."""

SILENCE: Piece = (float("inf"), b"")
"""Nothing ever comes, and the connection stays open."""


@dataclass(kw_only=True)
class Reply:
    """A response of the server."""

    status: int = 200
    # Before the headers come.
    delay: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    # After the last one the body is over.
    pieces: Iterable[Piece] = ()


def document(status: int, body: dict[str, Any], **headers: str) -> Reply:
    """Return a reply that is sent at once and complete."""
    return Reply(status=status, headers=headers, pieces=[(0.0, json.dumps(body).encode())])


def failure(status: int, reason: str, **headers: str) -> Reply:
    """Return an error Status."""
    about = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status}
    return document(status, about | {"message": reason}, **headers)


def pod(name: str, version: str) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "resourceVersion": version}}


def pod_list(version: str, *names: str) -> dict[str, Any]:
    metadata = {"resourceVersion": version}
    return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": [pod(name, "1") for name in names]}


def event(kind: str, obj: dict[str, Any]) -> bytes:
    """Return a line of a watch."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


@dataclass(frozen=True)
class Call:
    """A request that came."""

    at: float
    verb: str
    query: dict[str, list[str]]
    headers: Header


class VirtualServer:
    """A RoundTripper. Give it to a rest.Config as its `transport`."""

    def __init__(self, bubble: Bubble, answer: Callable[[Call], Reply]) -> None:
        self._bubble = bubble
        self._answer = answer
        self.calls: list[Call] = []
        self.open_bodies = 0

    def round_trip(self, request: Request) -> Response:
        if (done := request.ctx.err()) is not None:
            raise done
        query = parse_qs(urlsplit(request.url).query)
        call = Call(self._bubble.elapsed, "watch" if "watch" in query else "list", query, request.headers)
        self.calls.append(call)
        reply = self._answer(call)
        body = _Body(request, reply, self._closed)
        self.open_bodies += 1
        try:
            body.read_headers()
        except BaseException:
            body.close()
            raise
        headers = Header({"Content-Type": "application/json", **reply.headers})
        return Response(status_code=reply.status, headers=headers, body=body)

    def _closed(self) -> None:
        self.open_bodies -= 1


class _Body:
    """A body that returns each chunk at its time."""

    def __init__(self, request: Request, reply: Reply, on_close: Callable[[], None]) -> None:
        self._request = request
        self._header_delay = reply.delay
        self._pieces = deque(reply.pieces)
        self._limit = request.read_timeout
        self._on_close = on_close
        # Guards _aborted and _closed, and is notified of them.
        self._changed = threading.Condition()
        self._aborted = False
        self._closed = False
        self._forget = request.ctx.add_done_callback(self.abort)

    def read(self) -> bytes:
        return b"".join(iter(self.read_some, b""))

    def read_headers(self) -> None:
        limits = [limit for limit in (self._request.header_timeout, self._limit) if limit is not None]
        self._await(self._header_delay, min(limits, default=None))

    def read_some(self) -> bytes:
        if not self._pieces:
            return b""
        delay, data = self._pieces.popleft()
        # A read that is under way keeps the limit it began with, as that of a socket does.
        self._await(delay, self._limit)
        return data

    def _await(self, delay: float, limit: float | None) -> None:
        if limit is None or delay <= limit:
            self._wait(delay)
            return
        self._wait(limit)
        raise TimeoutError("read: i/o timeout")

    def _wait(self, seconds: float) -> None:
        deadline = REAL_CLOCK.now() + seconds
        with self._changed:
            while not self._aborted and (remaining := deadline - REAL_CLOCK.now()) > 0:
                REAL_CLOCK.wait(self._changed, remaining if remaining < float("inf") else None)
        if (done := self._request.ctx.err()) is not None:
            raise done
        if self._aborted:
            raise ConnectionAbortedError("use of closed network connection")

    def limit_silence(self, seconds: float) -> None:
        self._limit = seconds if self._limit is None else min(seconds, self._limit)

    def abort(self) -> None:
        with self._changed:
            self._aborted = True
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            first, self._closed = not self._closed, True
        if first:
            self._forget()
            self._on_close()


def pod_informer(server: VirtualServer, **more: Any) -> cache.SharedIndexInformer:
    """Return an informer of the server's pods, through the whole stack of a real one; `more` goes into its rest.Config.
    """
    client = kubernetes.new_for_config(Config(host="http://virtual", transport=server, **more))
    return new_pod_informer(client, "", 0.0, {})
