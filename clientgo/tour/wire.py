"""The wire between a client and an API server, with the failures of real networks."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

from clientgo.golang import http
from clientgo.utils.clock import REAL_CLOCK, RESOLUTION

__all__ = ["Wire"]


@dataclass
class _Refusal:
    """A number of requests that get a failure as their answer."""

    left: int
    code: int
    reason: str
    methods: frozenset[str]
    retry_after: int


class Wire:
    """A round tripper in front of another. Thread-safe."""

    def __init__(self, server: http.RoundTripper) -> None:
        self._server = server
        # Guards all fields below; notified when the wire is repaired.
        self._changed = threading.Condition()
        self._bodies: list[_Body] = []
        self._refusals: list[_Refusal] = []
        self._is_down = False
        self._refuses_next = False
        self._delay = 0.0
        self._lag = 0.0

    def round_trip(self, request: http.Request) -> http.Response:
        """See http.RoundTripper."""
        with self._changed:
            refuses = self._is_down or (self._refuses_next and request.method == "GET")
            if refuses:
                self._refuses_next = False
                raise ConnectionRefusedError(111, "connection refused")
            refusal = next((each for each in self._refusals if each.left and request.method in each.methods), None)
            if refusal is not None:
                refusal.left -= 1
            delay = self._delay
        if delay:
            REAL_CLOCK.sleep(delay)
        if refusal is not None:
            return _failure(refusal)
        response = self._server.round_trip(request)
        if isinstance(response.body, http.BytesBody):
            return response
        response.body = body = _Body(response.body, request, self._forget)
        with self._changed:
            self._bodies.append(body)
            lag = self._lag
        body.lag(lag)
        return response

    def _forget(self, body: _Body) -> None:
        with self._changed:
            self._bodies = [other for other in self._bodies if other is not body]

    def cut(self) -> None:
        """Close every open connection with an error."""
        with self._changed:
            bodies, self._bodies = self._bodies, []
        for body in bodies:
            body.cut()

    def cut_this_or_next(self) -> None:
        """Close every open connection with an error. If none is open, refuse that of the next request to read.

        Go's client asks again by itself when a request that only reads is reset, so a reset would change nothing.
        """
        with self._changed:
            self._refuses_next = not self._bodies
        self.cut()

    def freeze(self) -> None:
        """Keep every open connection without any further data: half-open."""
        with self._changed:
            bodies, self._bodies = self._bodies, []
        for body in bodies:
            body.freeze()

    def down(self) -> None:
        """Close every open connection with an error, and refuse new ones."""
        with self._changed:
            self._is_down = True
        self.cut()

    def up(self) -> None:
        """Accept connections again."""
        with self._changed:
            self._is_down = False

    def reconnect(self) -> None:
        """End every fault; broken connections stay broken."""
        self.lag(0.0)
        with self._changed:
            self._is_down = False
            self._refuses_next = False
            self._delay = 0.0
            self._refusals = []

    def slow(self, seconds: float) -> None:
        """Delay each answer from now on by `seconds`."""
        with self._changed:
            self._delay = seconds

    def lag(self, seconds: float) -> None:
        """Delay each watch event from now on by `seconds`, one after the other."""
        with self._changed:
            self._lag = seconds
            bodies = [*self._bodies]
        for body in bodies:
            body.lag(seconds)

    def refuse(self, times: int, code: int, reason: str, methods: frozenset[str], retry_after: int = 0) -> None:
        """Answer the next `times` requests of these methods with a failure."""
        with self._changed:
            self._refusals.append(_Refusal(times, code, reason, methods, retry_after))

    def state(self) -> str:
        """Return the state as one word. Takes no lock."""
        if self._is_down:
            return "down"
        if any(refusal.left for refusal in list(self._refusals)):
            return "refusing"
        return "slow" if self._delay or self._lag else "up"

    def __repr__(self) -> str:
        return f"<Wire {self.state()}, {len(self._bodies)} streams>"


def _failure(refusal: _Refusal) -> http.Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": refusal.reason,
        "code": refusal.code,
        "message": f"the tour refused this request: {refusal.reason}",
    }
    headers = http.Header({"Content-Type": "application/json"})
    if refusal.retry_after:
        headers["Retry-After"] = str(refusal.retry_after)
    return http.Response(status_code=refusal.code, headers=headers, body=http.BytesBody(json.dumps(status).encode()))


class _Body:
    """The body of a watch until `cut` or `freeze`. See http.Body."""

    def __init__(self, body: http.Body, request: http.Request, forget: object) -> None:
        self._body = body
        self._forget = forget
        self._limit = request.read_timeout
        # Guards the next; told when the connection breaks.
        self._changed = threading.Condition()
        self._is_cut = False
        self._is_frozen = False
        self._is_closed = False
        self._lag = 0.0

    def read(self) -> bytes:
        return b"".join(iter(self.read_some, b""))

    def read_some(self) -> bytes:
        began = REAL_CLOCK.now()
        try:
            data = self._body.read_some()
        except OSError:
            if not self._is_cut:
                raise
            data = b""
        self._wait_for_the_lag(data)
        with self._changed:
            while self._is_frozen and not self._is_cut and not self._is_closed:
                left = None if self._limit is None else began + self._limit - REAL_CLOCK.now()
                if left is not None and left <= 0:
                    raise TimeoutError("read: i/o timeout")
                REAL_CLOCK.wait(self._changed, left)
        if self._is_cut:
            raise ConnectionResetError(104, "connection reset by peer")
        return data

    def _wait_for_the_lag(self, data: bytes) -> None:
        arrived = REAL_CLOCK.now()
        with self._changed:
            while data and not self._is_cut and not self._is_closed:
                left = arrived + self._lag - REAL_CLOCK.now()
                if left <= RESOLUTION:
                    return
                REAL_CLOCK.wait(self._changed, left)

    def lag(self, seconds: float) -> None:
        with self._changed:
            self._lag = seconds
            self._changed.notify_all()

    def limit_silence(self, seconds: float) -> None:
        self._limit = seconds if self._limit is None else min(seconds, self._limit)
        self._body.limit_silence(seconds)

    def cut(self) -> None:
        with self._changed:
            self._is_cut = True
            self._changed.notify_all()
        self._body.abort()

    def freeze(self) -> None:
        with self._changed:
            self._is_frozen = True

    def abort(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._body.abort()

    def close(self) -> None:
        self.abort()
        self._body.close()
        if callable(self._forget):
            self._forget(self)
