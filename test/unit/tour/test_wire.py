"""The wire between a controller and its server, and the fault that cuts it."""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Callable

import pytest

from clientgo import tour
from clientgo.golang import http
from clientgo.testing import synctest
from clientgo.tour.wire import Wire
from clientgo.utils.clock import REAL_CLOCK


class Server:
    """A server that answers every request."""

    def round_trip(self, request: http.Request) -> http.Response:
        return http.Response(status_code=200, headers=http.Header({}), body=http.BytesBody(b"{}"))


def ask(wire: Wire, method: str = "GET") -> int:
    request = http.Request(method=method, url="http://server/api", headers=http.Header({}), body=None)
    return wire.round_trip(request).status_code


def test_a_cut_without_an_open_connection_refuses_the_next_request_to_read():
    wire = Wire(Server())
    wire.cut_this_or_next()
    assert ask(wire, "PUT") == 200
    with pytest.raises(ConnectionRefusedError):
        ask(wire)
    assert ask(wire) == 200


def test_a_repair_ends_a_cut_that_has_broken_nothing_yet():
    wire = Wire(Server())
    wire.cut_this_or_next()
    wire.reconnect()
    assert ask(wire) == 200


@pytest.mark.parametrize("at", [2, 12, 30])
def test_a_cut_ends_the_request_that_is_under_way_at_any_hop(at):
    """At hop 2 the list is under way, and no connection of a watch is open."""
    scenario = tour.SCENARIOS["list-and-watch"]
    plain = tour.execute(scenario, limit=at + 1)
    trace = tour.execute(scenario, decisions=[tour.Decision(at, "fault", "cut")], limit=at + 12)
    assert [point.hop.kind for point in trace.points[: at + 1]] == [point.hop.kind for point in plain.points]
    after = {point.hop.kind for point in trace.points[at + 1 :] if point.hop.station == "reflector"}
    assert after & {"ended", "failed"}, after


# ---- the wire alone


class Stream:
    """The body of a watch: pieces that arrive at once, then silence until it is aborted."""

    def __init__(self, *pieces: bytes, ends: bool = False) -> None:
        self._pieces = [*pieces]
        self._ends = ends
        self._changed = threading.Condition()
        self.calls: list[object] = []
        self.is_aborted = False

    def read_some(self) -> bytes:
        with self._changed:
            while not self._pieces and not self.is_aborted and not self._ends:
                self._changed.wait()
            if self.is_aborted:
                raise ConnectionAbortedError("aborted")
            return self._pieces.pop(0) if self._pieces else b""

    def read(self) -> bytes:
        raise NotImplementedError

    def limit_silence(self, seconds: float) -> None:
        self.calls.append(seconds)

    def abort(self) -> None:
        with self._changed:
            self.calls.append("abort")
            self.is_aborted = True
            self._changed.notify_all()

    def close(self) -> None:
        self.calls.append("close")


class Streams:
    """A server that answers each request with one of these bodies."""

    def __init__(self, *bodies: Stream) -> None:
        self._bodies = [*bodies]

    def round_trip(self, request: http.Request) -> http.Response:
        return http.Response(status_code=200, headers=http.Header({}), body=self._bodies.pop(0))


def request(method: str = "GET", limit: float | None = None) -> http.Request:
    made = http.Request(method=method, url="http://server/api", headers=http.Header({}), body=None)
    made.read_timeout = limit
    return made


def at(seconds: float, action: Callable[[], object]) -> threading.Thread:
    """Do something in that many seconds, in a thread."""

    def run() -> None:
        REAL_CLOCK.sleep(seconds)
        action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_a_refused_connection_and_a_cut_one_have_the_errors_of_the_system() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream()))
        body = wire.round_trip(request()).body
        wire.cut()
        with pytest.raises(ConnectionResetError) as cut:
            body.read_some()
        wire.down()
        with pytest.raises(ConnectionRefusedError) as refused:
            wire.round_trip(request())
    assert (cut.value.errno, refused.value.errno) == (errno.ECONNRESET, errno.ECONNREFUSED)
    assert "reset by peer" in str(cut.value) and "refused" in str(refused.value)


def test_the_state_is_one_word_that_the_repr_has_with_the_number_of_streams() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream(), Stream(), Stream()))
        states = [repr(wire)]
        bodies = [wire.round_trip(request()).body for _ in range(2)]
        states.append(repr(wire))
        for change in (
            *(lambda: wire.slow(1.0), lambda: wire.slow(0.0), lambda: wire.lag(1.0), lambda: wire.lag(0.0)),
            *(lambda: wire.refuse(1, 500, "X", frozenset({"PUT"})), lambda: wire.round_trip(request("PUT"))),
            *(wire.freeze, wire.down, wire.up, bodies[0].close),
        ):
            change()
            states.append(repr(wire))
    words = ["up, 0", "up, 2", "slow, 2", "up, 2", "slow, 2", "up, 2", "refusing, 2", "up, 2"]
    words += ["up, 0", "down, 0", "up, 0", "up, 0"]
    assert states == [f"<Wire {each} streams>" for each in words]


def test_a_body_that_is_closed_is_cut_no_more() -> None:
    with synctest.bubble():
        streams = [Stream(b"a"), Stream(b"b")]
        wire = Wire(Streams(*streams))
        first, second = (wire.round_trip(request()).body for _ in streams)
        first.close()
        wire.cut()
        with pytest.raises(ConnectionResetError):
            second.read_some()
    assert streams[0].calls == ["abort", "close"] and streams[1].calls == ["abort"]


def test_a_refusal_counts_requests_of_its_methods_and_is_a_status() -> None:
    with synctest.bubble():
        wire = Wire(Server())
        wire.refuse(2, 429, "TooManyRequests", frozenset({"GET"}), retry_after=7)
        wire.refuse(1, 500, "InternalError", frozenset({"PUT"}))
        answers = [wire.round_trip(request(method)) for method in ("GET", "PUT", "POST", "GET", "GET", "PUT")]
        bodies = [answer.body.read() for answer in answers]
    assert [answer.status_code for answer in answers] == [429, 500, 200, 429, 200, 200]
    assert [answer.headers.get("Retry-After") for answer in answers] == ["7", None, None, "7", None, None]
    assert {answers[at].headers["Content-Type"] for at in (0, 1, 3)} == {"application/json"}
    assert json.loads(bodies[0]) == {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": "TooManyRequests",
        "code": 429,
        "message": "the tour refused this request: TooManyRequests",
    }


def test_a_repair_ends_every_fault() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream(b"a"), Stream(b"b")))
        wire.refuse(3, 500, "X", frozenset({"GET"}))
        wire.slow(5.0)
        wire.lag(5.0)
        wire.down()
        wire.reconnect()
        began = REAL_CLOCK.now()
        body = wire.round_trip(request()).body
        assert (body.read_some(), wire.state(), REAL_CLOCK.now() - began) == (b"a", "up", 0.0)
        body.abort()


def test_an_answer_of_a_slow_server_comes_late_and_a_refusal_too() -> None:
    with synctest.bubble():
        wire = Wire(Server())
        wire.slow(2.0)
        began = REAL_CLOCK.now()
        assert ask(wire) == 200
        wire.refuse(1, 500, "X", frozenset({"GET"}))
        assert ask(wire) == 500
        assert REAL_CLOCK.now() - began == pytest.approx(4.0)


def test_a_lag_delays_each_event_of_streams_open_and_new_until_it_ends() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream(b"a", b"b", b"c", ends=True), Stream(b"d")))
        body = wire.round_trip(request()).body
        wire.lag(2.5)
        began, times = REAL_CLOCK.now(), []
        for _ in range(2):
            body.read_some()
            times.append(REAL_CLOCK.now() - began)
        # A shorter lag counts for the event under way.
        ending = at(1.0, lambda: wire.lag(0.0))
        assert body.read_some() == b"c"
        times.append(REAL_CLOCK.now() - began)
        ending.join()
        assert times == pytest.approx([2.5, 5.0, 6.0])
        wire.lag(1.0)
        new = wire.round_trip(request()).body
        began = REAL_CLOCK.now()
        assert new.read_some() == b"d" and REAL_CLOCK.now() - began == pytest.approx(1.0)
        # The end of a stream is no event.
        assert body.read_some() == b"" and REAL_CLOCK.now() - began == pytest.approx(1.0)
        for each in (body, new):
            each.abort()


def test_a_cut_ends_the_wait_of_a_lag_and_of_a_frozen_stream() -> None:
    for fault in ("lag", "freeze"):
        with synctest.bubble():
            wire = Wire(Streams(Stream(b"a")))
            body = wire.round_trip(request()).body
            if fault == "lag":
                wire.lag(1000.0)
            cutting = at(1.0, wire.cut if fault == "lag" else body.cut)
            if fault == "freeze":
                wire.freeze()
            began = REAL_CLOCK.now()
            with pytest.raises(ConnectionResetError):
                body.read_some()
            assert REAL_CLOCK.now() - began == pytest.approx(1.0)
            cutting.join()


@pytest.mark.parametrize("limits", [(None, 30.0), (10.0, 30.0), (50.0, 30.0), (10.0, None)])
def test_a_frozen_stream_is_silent_until_its_shortest_limit(limits: tuple[float | None, float | None]) -> None:
    with synctest.bubble():
        stream = Stream(b"a")
        wire = Wire(Streams(stream))
        body = wire.round_trip(request(limit=limits[0])).body
        if limits[1] is not None:
            body.limit_silence(limits[1])
        wire.freeze()
        began = REAL_CLOCK.now()
        with pytest.raises(TimeoutError, match="i/o timeout"):
            body.read_some()
        assert REAL_CLOCK.now() - began == pytest.approx(min(each for each in limits if each is not None))
        body.abort()
    assert stream.calls == [*([] if limits[1] is None else [limits[1]]), "abort"]


def test_a_frozen_stream_without_a_limit_ends_with_its_abort() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream(b"a")))
        body = wire.round_trip(request()).body
        wire.freeze()
        began, aborting = REAL_CLOCK.now(), at(500.0, body.abort)
        assert body.read_some() == b"a" and REAL_CLOCK.now() - began == pytest.approx(500.0)
        with pytest.raises(ConnectionAbortedError):
            body.read_some()
        aborting.join()


def test_the_rest_of_a_body_is_read_to_its_end() -> None:
    with synctest.bubble():
        wire = Wire(Streams(Stream(b"a", b"bc", b"d", ends=True)))
        body = wire.round_trip(request()).body
        assert body.read_some() == b"a" and body.read() == b"bcd" and body.read() == b""


def test_an_answer_that_is_whole_is_no_stream() -> None:
    wire = Wire(Server())
    response = wire.round_trip(request())
    assert isinstance(response.body, http.BytesBody) and repr(wire) == "<Wire up, 0 streams>"
    wire.cut()
    assert response.body.read() == b"{}"
