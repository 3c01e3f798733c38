"""Stopping informers over real sockets: at once from wherever they are, without a thread or a socket left behind.

That nothing is left is checked after every test, in conftest.py.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer, status
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo import context, features, informers, kubernetes, rest
from clientgo.features.testing import set_feature_during_test
from clientgo.tools import cache
from clientgo.utils.clock import REAL_CLOCK

# What a stop may take, in seconds.
AT_ONCE = 0.1


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def listed(kind: str = "Pod", *names: str) -> bytes:
    items = [{"metadata": {"name": name, "namespace": "ns", "resourceVersion": "1"}} for name in names]
    body = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}
    return json.dumps(body).encode()


LIST = listed("Pod", "a")
KINDS = {"pods": "Pod", "nodes": "Node", "secrets": "Secret", "configmaps": "ConfigMap", "services": "Service"}


def kind_of(request: Received) -> str:
    return KINDS[urlsplit(request.target).path.rpartition("/")[2]]


def is_watch(request: Received) -> bool:
    return "watch=true" in request.target


class Phase:
    """A server that holds an informer up somewhere, and says when it does."""

    def __init__(self, hold: Callable[[Phase, Received], Answer], tls: ssl.SSLContext | None = None) -> None:
        self.reached = threading.Event()
        self.server = ScriptedServer(lambda request: hold(self, request), tls)

    def forever(self, *first: bytes) -> Iterator[bytes]:
        """Yield these chunks, and then block until the end of the test."""
        yield from first
        self.reached.set()
        self.server.closing.wait()

    def silence(self) -> Answer:
        """Send no response until the end of the test."""
        self.reached.set()
        self.server.closing.wait()
        return Answer(hang_up=True)


def no_headers_to_a_list(phase: Phase, request: Received) -> Answer:
    return phase.silence()


def in_the_middle_of_a_list(phase: Phase, request: Received) -> Answer:
    return Answer(chunks=phase.forever(b'{"kind":"PodList",'))


def no_headers_to_a_watch(phase: Phase, request: Received) -> Answer:
    return phase.silence() if is_watch(request) else Answer(200, listed())


def in_a_silent_watch(phase: Phase, request: Received) -> Answer:
    return Answer(chunks=phase.forever()) if is_watch(request) else Answer(200, listed())


def in_the_middle_of_an_event(phase: Phase, request: Received) -> Answer:
    return Answer(chunks=phase.forever(b'{"type":"AD')) if is_watch(request) else Answer(200, listed())


def while_it_backs_off(phase: Phase, request: Received) -> Answer:
    phase.reached.set()
    return status(500, "InternalError", "broken")


def while_the_server_asked_it_to_wait(phase: Phase, request: Received) -> Answer:
    phase.reached.set()
    return status(429, "TooManyRequests", "busy", Retry_After="1000")


PHASES = [
    no_headers_to_a_list,
    in_the_middle_of_a_list,
    no_headers_to_a_watch,
    in_a_silent_watch,
    in_the_middle_of_an_event,
    while_it_backs_off,
    while_the_server_asked_it_to_wait,
]


def new_factory(url: str) -> informers.SharedInformerFactory:
    config = rest.Config(host=url, insecure=url.startswith("https"))
    return informers.new_shared_informer_factory(kubernetes.new_for_config(config), 0.0)


@contextmanager
def running(url: str, count: int = 1, handlers: int = 0) -> Iterator[Callable[[], float]]:
    """Yield a factory with informers of so many resources, each with so many handlers.

    The function stops it and says how many seconds that took.
    """
    factory = new_factory(url)
    core = factory.core().v1()
    for each in [core.pods(), core.nodes(), core.secrets(), core.config_maps(), core.services()][:count]:
        for _ in range(handlers):
            each.informer().add_event_handler(cache.ResourceEventHandlerFuncs())
        each.informer()
    stop = threading.Event()

    def stop_it() -> float:
        began = REAL_CLOCK.now()
        stop.set()
        factory.shutdown()
        return REAL_CLOCK.since(began)

    factory.start(stop)
    try:
        yield stop_it
    finally:
        stop_it()


def best_of_three(attempt: Callable[[], float]) -> float:
    """Return the shortest of three runs, since the computer may be busy."""
    return min(attempt() for _ in range(3))


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    pair = Authority(tmp_path_factory.mktemp("ca")).issue("server", "IP:127.0.0.1")
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(pair.cert, pair.key)
    return server_side


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("hold", PHASES, ids=lambda hold: hold.__name__)
def test_a_stop_takes_no_time_wherever_the_informer_is(
    hold: Callable[[Phase, Received], Answer], scheme: str, tls: ssl.SSLContext
) -> None:
    def attempt() -> float:
        phase = Phase(hold, tls if scheme == "https" else None)
        with phase.server, running(phase.server.url) as stop:
            assert phase.reached.wait(PATIENCE)
            return stop()

    assert best_of_three(attempt) < AT_ONCE


def test_a_stop_takes_no_time_while_it_connects() -> None:
    def attempt() -> float:
        with deaf_listener() as port, running(f"http://127.0.0.1:{port}") as stop:
            eventually(lambda: is_connecting_to(port))
            return stop()

    assert best_of_three(attempt) < AT_ONCE


def test_a_stop_takes_no_time_in_the_tls_handshake() -> None:
    def attempt() -> float:
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            running(f"https://127.0.0.1:{listener.getsockname()[1]}") as stop,
            listener.accept()[0] as connection,
        ):
            assert connection.recv(1), "the client's hello"
            return stop()

    assert best_of_three(attempt) < AT_ONCE


@contextmanager
def deaf_listener() -> Iterator[int]:
    """Yield a port whose accept queue is full, so that the next connection waits."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        yield listener.getsockname()[1]


def is_connecting_to(port: int) -> bool:
    """Report whether a process waits for a connection to that port, in state 2 (SYN_SENT)."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return any(row[2].endswith(f":{port:04X}") and row[3] == "02" for row in rows)


def test_many_threads_may_stop_a_watch() -> None:
    def attempt() -> float:
        phase = Phase(in_a_silent_watch)
        with phase.server:
            client = kubernetes.new_for_config(rest.Config(host=phase.server.url))
            watcher = client.core_v1().pods("").watch(context.background())
            assert phase.reached.wait(PATIENCE)
            began = REAL_CLOCK.now()
            for thread in [in_thread(watcher.stop) for _ in range(4)]:
                thread.result()
            took = REAL_CLOCK.since(began)
            assert watcher.result_chan().receive(0) == (None, False)
            return took

    assert best_of_three(attempt) < AT_ONCE


def test_a_handler_may_stop_its_informer() -> None:
    """It is called on a thread of the informer, which the stop must not wait for."""

    def attempt() -> float:
        stopped_at: list[float] = []
        phase = Phase(lambda phase, request: Answer(chunks=phase.forever()) if is_watch(request) else Answer(200, LIST))
        stop = threading.Event()

        def on_add(obj: Any) -> None:
            assert phase.reached.wait(PATIENCE)
            stopped_at.append(REAL_CLOCK.now())
            stop.set()

        with phase.server:
            factory = new_factory(phase.server.url)
            factory.core().v1().pods().informer().add_event_handler(cache.ResourceEventHandlerFuncs(add_func=on_add))
            factory.start(stop)
            factory.shutdown()
            return REAL_CLOCK.since(stopped_at[0])

    assert best_of_three(attempt) < AT_ONCE


@pytest.mark.parametrize("handlers", [0, 1, 3])
@pytest.mark.parametrize("count", [1, 5])
def test_so_many_informers_have_so_many_threads_and_sockets(count: int, handlers: int) -> None:
    """Four threads an informer, two of them only wait for its end, and one a handler; a socket a watch.

    And one for all that waits for the stop event, which cannot call back.
    """
    before = set(threading.enumerate())
    expected = Counter(dict.fromkeys(("informer", "processor", "closer", "reflector"), count))
    expected["handler"] += handlers * count
    watcher = Counter(stop=1)

    def own_threads() -> Counter[str]:
        kinds = Counter(kind_of_thread(thread) for thread in set(threading.enumerate()) - before)
        # The threads of the server, and the one thread of all timers.
        del kinds["scripted"], kinds["clock"]
        return kinds

    def answer(request: Received) -> Answer:
        return Answer(chunks=until_closing()) if is_watch(request) else Answer(200, listed(kind_of(request)))

    def until_closing() -> Iterator[bytes]:
        server.closing.wait()
        yield from ()

    with ScriptedServer(answer) as server, running(server.url, count, handlers) as stop:
        eventually(lambda: sum(map(is_watch, server.requests)) == count)
        eventually(lambda: own_threads() == expected + watcher)
        watching = {request.connection for request in server.requests if is_watch(request)}
        assert len(watching) == count
        stop()
        # The watcher has called back, and ends in its own time.
        assert own_threads() <= watcher


def kind_of_thread(thread: threading.Thread) -> str:
    first, *_, last = thread.name.replace("-", " ").split()
    return last if last in ("processor", "closer") else first
