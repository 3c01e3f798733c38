"""A round tripper that answers from a list, for tests of a client without sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from clientgo import rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.utils.clock.testing import FakeClock

Turn = http.Response | Exception | Callable[[http.Request], http.Response]


def answer(code: int = 200, body: bytes | dict[str, Any] = b"", **headers: str) -> http.Response:
    """Return a response. A dict is sent as JSON. Underscores in header names stand for hyphens."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if not isinstance(body, bytes):
        sent.setdefault("Content-Type", "application/json")
    return http.Response(status_code=code, headers=http.Header(sent), body=http.BytesBody(content))


def status_of(code: int, reason: str = "", message: str = "", status: str = "Failure") -> dict[str, Any]:
    """Return a Status as an API server sends it."""
    document = {"kind": "Status", "apiVersion": "v1", "status": status, "reason": reason, "message": message}
    return {**{key: value for key, value in document.items() if value}, "code": code}


class Turns:
    """Answers with each turn, and with the last one for ever. Thread-safe."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = [*turns]
        self._lock = threading.Lock()
        self.requests: list[http.Request] = []

    def round_trip(self, request: http.Request) -> http.Response:
        """See http.RoundTripper."""
        with self._lock:
            self.requests.append(request)
            turn = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        if isinstance(turn, Exception):
            raise turn
        return turn(request) if callable(turn) else turn


class SleptClock(FakeClock):
    """A clock whose sleepers wake at once; `slept` says for how long they meant to sleep."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.slept: list[float] = []

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        """See Clock.wait."""
        self.slept.append(round(timeout or 0.0, 6))
        self.step(timeout or 0.0)
        return False


def client_of(turns: Turns, host: str = "http://h", **settings: Any) -> tuple[rest.RESTClient, SleptClock]:
    """Return a client whose requests `turns` answers, and its clock."""
    settings = {"qps": -1, "api_path": "/api", "group_version": GroupVersion("", "v1"), **settings}
    client = rest.rest_client_for(rest.Config(host=host, transport=turns, **settings))
    client.clock = clock = SleptClock()
    return client, clock
