"""Rounds of the thread that sends watch events, one at a time: bookmarks, ends, and clients that go or are slow."""

from __future__ import annotations

import heapq
import socket
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.testing.apiserver.store import watch as watching
from clientgo.testing.apiserver.store.storage import Event, Stored
from clientgo.testing.apiserver.store.watch import Pump, Watcher
from clientgo.testing.apiserver.wire.http import LAST_CHUNK, chunk
from clientgo.utils.clock.testing import FakeClock

START = 1000.0


class Bench:
    """A pump without a thread, and one watcher on a pair of sockets."""

    def __init__(self) -> None:
        self.clock = FakeClock(START)
        store: Any = SimpleNamespace(version=5)
        self.store = store
        self.pump = Pump(store, self.clock)
        self.resumed: list[Any] = []
        self.pump._server = SimpleNamespace(resume=self.resumed.append)  # type: ignore[assignment]
        self.closed: list[socket.socket] = []
        self.clients: list[socket.socket] = []
        self.owns: list[socket.socket] = []

    def watcher(
        self, seconds: float = 1000.0, *, bookmarks: bool = False, chunked: bool = True, after: int = 0,
        lines: Iterable[bytes] = (), keep: bool = True, line: Any = None, attach: bool = True,
    ) -> Watcher:  # fmt: skip
        own, client = socket.socketpair()
        client.setblocking(False)
        self.clients.append(client)
        self.owns.append(own)
        connection = SimpleNamespace(sock=own, buffer=bytearray(), close=lambda: self.closed.append(own))
        view: Any = SimpleNamespace(
            bucket="/pods", blocks=False, key=len(self.clients), after=after, media="m",
            bookmark=lambda version: b"bookmark %d\n" % version, line=line or (lambda event: b"event %d\n" % event.rv),
        )  # fmt: skip
        made = Watcher(connection, view, iter(lines), START + seconds, bookmarks, chunked=chunked, keep=keep)
        if attach:
            self.pump.attach(made)
            self.pump._round()
            self.received(len(self.clients) - 1)
        return made

    def received(self, number: int = 0) -> bytes:
        """Return what has arrived at a client, or b"end" when the other side has closed."""
        try:
            return self.clients[number].recv(1 << 20) or b"end"
        except BlockingIOError:
            return b""

    def later(self, seconds: float) -> bytes:
        """Advance the clock, run a round and return what the first client receives."""
        self.clock.step(seconds)
        self.pump._wake()
        self.pump._round()
        return self.received()

    def event(self, version: int) -> None:
        self.store.version = version
        self.pump.offer("/pods", Event("ADDED", None, Stored("n/a", {}, version)))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.pump.stop()
    for one in (*made.clients, *made.owns):
        one.close()


def test_bookmarks_come_every_minute_and_before_the_end(bench: Bench) -> None:
    bench.watcher(130, bookmarks=True)
    found = {second: data for second in range(1, 131) if (data := bench.later(1))}
    assert found == {**dict.fromkeys((60, 120, 128), chunk(b"bookmark 5\n")), 130: LAST_CHUNK}


def test_a_short_watch_has_one_bookmark_before_its_end(bench: Bench) -> None:
    bench.watcher(10, bookmarks=True)
    assert {second: data for second in range(1, 11) if (data := bench.later(1))} == {
        8: chunk(b"bookmark 5\n"),
        10: LAST_CHUNK,
    }


@pytest.mark.parametrize("seconds", [1, 2])
def test_a_watch_shorter_than_the_pause_before_its_end_has_no_bookmark(bench: Bench, seconds: int) -> None:
    bench.watcher(seconds, bookmarks=True)
    found = [bench.later(0.5) for _ in range(2 * seconds)]
    assert [data for data in found if data] == [LAST_CHUNK]


def test_a_watch_without_bookmarks_gets_none(bench: Bench) -> None:
    bench.watcher(130)
    assert {second: data for second in range(10, 131, 10) if (data := bench.later(10))} == {130: LAST_CHUNK}


@pytest.mark.parametrize(("after", "shown"), [(0, 9), (9, 9), (12, 12)])
def test_a_bookmark_has_the_latest_version_that_was_seen(bench: Bench, after: int, shown: int) -> None:
    bench.watcher(1000, bookmarks=True, chunked=False, after=after)
    bench.store.version = 9
    assert bench.later(1) == b""
    assert bench.later(60) == b"bookmark %d\n" % shown


def test_a_watch_whose_initial_state_is_not_sent_gets_no_bookmark_yet(bench: Bench) -> None:
    pauses = 40 * watching._MOST_PASSED_OVER
    watcher = bench.watcher(1000, bookmarks=True, chunked=False, lines=iter([b""] * pauses))
    assert watcher.source is not None
    assert bench.later(60) == b""
    watcher.source = None
    assert bench.later(59) == b""
    assert bench.later(1) == b"bookmark 5\n"


def test_events_of_a_round_arrive_in_one_chunk(bench: Bench) -> None:
    bench.watcher()
    bench.event(6)
    bench.event(7)
    assert bench.later(0) == chunk(b"event 6\nevent 7\n")
    bench.event(8)
    assert bench.later(0) == chunk(b"event 8\n")


def test_a_view_without_the_object_sends_nothing(bench: Bench) -> None:
    bench.watcher(line=lambda event: b"")
    bench.event(6)
    assert bench.later(0) == b""
    assert bench.pump._added == 0


def test_a_view_that_fails_ends_its_watches_only(bench: Bench, caplog: pytest.LogCaptureFixture,
                                                 capfd: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    def fails(event: Event) -> bytes:
        raise ValueError("no such form")

    broken = bench.watcher(line=fails)
    bench.watcher()
    bench.event(6)
    bench.later(0)

    assert bench.received(1) == chunk(b"event 6\n")
    assert bench.closed == [broken.connection.sock]
    assert repr(bench.pump) == "<Pump 1 watchers>"
    logged = capfd.readouterr().err + caplog.text
    assert '"Could not show an event" err="ValueError: no such form"' in logged and 'resource="/pods"' in logged


def test_an_initial_state_that_fails_ends_its_watch(bench: Bench, caplog: pytest.LogCaptureFixture,
                                                    capfd: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    def lines() -> Iterator[bytes]:
        yield b"x" * (1 << 18)
        raise ValueError("no such form")

    watcher = bench.watcher(lines=lines())
    while bench.later(0) not in (b"", b"end"):
        pass

    assert bench.closed == [watcher.connection.sock]
    assert repr(bench.pump) == "<Pump 0 watchers>"
    logged = capfd.readouterr().err + caplog.text
    assert '"Could not show the initial state" err="ValueError: no such form"' in logged


def test_what_a_client_sends_during_a_watch_is_kept(bench: Bench) -> None:
    watcher = bench.watcher()
    bench.clients[0].send(b"GET ")
    bench.pump._round()
    bench.clients[0].send(b"/api")
    bench.pump._round()
    assert bytes(watcher.connection.buffer) == b"GET /api"
    assert bench.closed == []


def test_a_client_that_sends_too_much_is_dropped(bench: Bench) -> None:
    watcher = bench.watcher()
    watcher.connection.buffer += b"x" * 65535
    bench.clients[0].send(b"a")
    bench.pump._round()
    assert bench.closed == []
    bench.clients[0].send(b"b")
    bench.pump._round()
    assert bench.closed == [watcher.connection.sock]


def test_a_client_that_goes_is_dropped(bench: Bench) -> None:
    watcher = bench.watcher()
    bench.clients[0].shutdown(socket.SHUT_RDWR)
    bench.pump._round()
    assert bench.closed == [watcher.connection.sock]
    assert bench.pump._interest == {} and bench.pump._views == {} and bench.pump._count == 0


def test_a_client_without_a_socket_does_not_count(bench: Bench) -> None:
    watcher = bench.watcher(attach=False)
    watcher.connection.sock.close()
    bench.pump.attach(watcher)
    bench.pump._round()
    assert bench.pump._interest == {} and repr(bench.pump) == "<Pump 0 watchers>"


def test_a_watcher_is_removed_once(bench: Bench) -> None:
    watcher = bench.watcher()
    assert bench.pump._remove(watcher) is True
    assert bench.pump._remove(watcher) is False
    assert bench.pump._count == 0


def test_what_is_sent_to_a_client_that_went_ends_the_watch(bench: Bench) -> None:
    watcher = bench.watcher()
    bench.clients[0].close()
    bench.event(6)
    bench.pump._dispatch({watcher})
    bench.pump._flush(watcher)
    assert bench.closed == [watcher.connection.sock]
    bench.pump._flush(watcher)  # a watcher that ended sends nothing
    assert len(bench.closed) == 1


@pytest.mark.parametrize("keep", [True, False])
def test_a_connection_goes_back_after_the_last_chunk_or_is_closed(bench: Bench, keep: bool) -> None:
    watcher = bench.watcher(5, keep=keep)
    assert bench.later(5) == LAST_CHUNK
    assert bench.resumed == ([watcher.connection] if keep else [])
    assert bench.closed == ([] if keep else [watcher.connection.sock])


def test_a_watch_without_chunks_ends_with_its_connection(bench: Bench) -> None:
    bench.watcher(5, keep=False, chunked=False)
    assert bench.later(5) == b""
    assert len(bench.closed) == 1


def test_a_client_has_a_minute_to_read_the_end(bench: Bench) -> None:
    watcher = bench.watcher(5)
    watcher.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    watcher.push(b"x" * (1 << 21))
    bench.clock.step(5)
    bench.pump._wake()
    bench.pump._round()
    assert watcher.closing and watcher.deadline == START + 65
    bench.clock.step(59)
    bench.pump._fire_timers(set())
    assert bench.closed == []
    bench.clock.step(1)
    bench.pump._fire_timers(set())
    assert bench.closed == [watcher.connection.sock]


def test_a_watch_is_finished_once(bench: Bench) -> None:
    watcher = bench.watcher()
    for _ in range(2):
        bench.pump._finish(watcher)
    assert list(watcher.out) == [LAST_CHUNK]


def test_all_watches_of_a_bucket_end_with_it(bench: Bench) -> None:
    for _ in range(2):
        bench.watcher()
    bench.pump.end_bucket("/other")
    bench.pump._round()
    assert bench.resumed == []
    bench.pump.end_bucket("/pods")
    bench.pump._round()
    assert len(bench.resumed) == 2 and [bench.received(n) for n in range(2)] == [LAST_CHUNK] * 2


def test_the_next_round_is_due_at_the_first_timer(bench: Bench) -> None:
    assert bench.pump._timeout() is None
    bench.watcher(9)
    assert bench.pump._timeout() == 9
    bench.clock.step(20)
    assert bench.pump._timeout() == 0
    bench.pump._timers = []
    bench.watcher(10_000)
    assert bench.pump._timeout() == 3600


@pytest.mark.parametrize(("dead", "left"), [(256, 258), (257, 1)])
def test_dead_timers_are_removed_when_there_are_many(bench: Bench, dead: int, left: int) -> None:
    last = bench.watcher(99)
    watcher = bench.watcher(5)
    gone: Any = SimpleNamespace(deadline=0.0)
    for number in range(dead):
        heapq.heappush(bench.pump._timers, (START + number, 1000 + number, gone))
    bench.pump._remove(watcher)
    assert len(bench.pump._timers) == left
    assert last in [timer[2] for timer in bench.pump._timers]


def test_the_largest_backlogs_are_dropped_until_the_rest_fits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_BACKLOG_IN_ALL", 100)
    watchers = [bench.watcher() for _ in range(3)]
    for watcher, size in zip(watchers, (40, 60, 70), strict=True):
        watcher.push(b"x" * size)
    bench.pump._bound_backlogs()
    assert bench.closed == [watchers[2].connection.sock]
    watchers[1].push(b"x")
    bench.pump._bound_backlogs()
    assert bench.closed == [watchers[2].connection.sock, watchers[1].connection.sock]
