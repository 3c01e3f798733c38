"""Serving HTTP: what shutting down waits for. Go: http.Server.Shutdown."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator

import pytest
from patience import PATIENCE

from clientgo.golang import http
from clientgo.golang.http.server import ListenError, Request, ResponseWriter, Server, listen
from clientgo.golang.http.transport import Transport


class Serving:
    """A server whose one handler waits for the test."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.server = Server(self._handle, name="shutdown")
        listener = listen("127.0.0.1:0")
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.answers: list[object] = []
        self._threads = [
            threading.Thread(target=self.server.serve, args=(listener,), name="serve"),
            threading.Thread(target=self._get, name="get"),
        ]
        for thread in self._threads:
            thread.start()
        assert self.asked.wait(PATIENCE)

    def _handle(self, resp: ResponseWriter, req: Request) -> None:
        self.asked.set()
        self.go_on.wait(PATIENCE)
        resp.write("done")

    def _get(self) -> None:
        transport = Transport()
        try:
            self.answers.append(http.Client(transport).do(http.Request(method="GET", url=self.url)).body.read())
        except Exception as err:
            self.answers.append(err)
        transport.close_idle_connections()

    def join(self) -> None:
        self.go_on.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def serving() -> Iterator[Serving]:
    made = Serving()
    yield made
    made.join()


def test_shutting_down_waits_for_a_request_that_is_served(serving: Serving) -> None:
    done = threading.Event()

    def shutdown() -> None:
        serving.server.shutdown()
        done.set()

    thread = threading.Thread(target=shutdown, name="shutdown")
    thread.start()
    assert not done.wait(0.05)
    serving.go_on.set()
    thread.join()
    serving.join()
    assert serving.answers == [b"done"]


def test_a_request_that_takes_too_long_is_cut_off(serving: Serving) -> None:
    with pytest.raises(TimeoutError, match="context deadline exceeded"):
        serving.server.shutdown(0.0)
    serving.join()
    assert isinstance(serving.answers[0], Exception)


def test_an_address_in_use_is_named_once_in_words() -> None:
    """Go: net.Listen"""
    with listen("127.0.0.1:0") as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ListenError) as raised:
            listen(address)
    assert str(raised.value) == f"listen tcp {address}: bind: address already in use"
    assert raised.value.errno == errno.EADDRINUSE


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("8080", "listen tcp: address 8080: missing port in address"),
        (":http", "listen tcp: address :http: unknown port"),
        (":65536", "listen tcp: address 65536: invalid port"),
    ],
)
def test_a_malformed_address_is_named(address: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        listen(address)


def test_a_host_without_an_address_is_named() -> None:
    with pytest.raises(ListenError, match="^listen tcp: lookup no-such-host.invalid: no such host$"):
        listen("no-such-host.invalid:0")


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(1)], ids=lambda error: type(error).__name__)
def test_a_handler_that_raises_is_logged_and_answered(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    """Go: http: panic serving; sys.exit would end the thread of the connection without a message."""

    def fail(resp: ResponseWriter, req: Request) -> None:
        raise error

    server, listener = Server(fail, name="failing"), listen("127.0.0.1:0")
    thread = threading.Thread(target=server.serve, args=(listener,), name="serve")
    thread.start()
    transport = Transport()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    answer = http.Client(transport).do(http.Request(method="GET", url=url))
    assert (answer.status_code, answer.body.read()) == (500, b"internal server error\n")
    transport.close_idle_connections()
    server.shutdown()
    thread.join()
    first = caplog.messages[0].splitlines()[0]
    assert first.startswith(f'"http: panic serving" err="{type(error).__name__}: ') and 'path="/x"' in first
