"""The bottom round tripper: which headers it sends, which connections it uses again, and what it gives up on."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from typing import Any

import pytest
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer, status
from patience import PATIENCE
from threadtools import eventually

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.tools.metrics import metrics
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()
POD = b'{"kind":"Pod","apiVersion":"v1"}'


def client_for(host: str, **settings: Any) -> rest.RESTClient:
    settings = {"qps": -1, "api_path": "/api", "group_version": GroupVersion("", "v1"), **settings}
    return rest.rest_client_for(rest.Config(host=host, **settings))


# --- headers ---


def as_sent(value: str) -> str:
    """Return a text as the scripted server sees it, which decodes each byte as one character."""
    return value.encode().decode("latin-1")


def test_headers_go_out_in_utf8():
    """http.client would send latin-1, or raise; the server expects what Go sends."""
    impersonate = rest.ImpersonationConfig(user_name="jürgen", groups=["группа"], extra={"a/b ü%": ["x", "y"]})
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client = client_for(server.url, impersonate=impersonate, user_agent="контроллер/1")
        client.get().resource("pods").do(CTX).raise_for_error()
    headers = server.requests[0].headers
    assert headers["Impersonate-User"] == as_sent("jürgen")
    assert headers["Impersonate-Group"] == as_sent("группа")
    assert headers["User-Agent"] == as_sent("контроллер/1")
    assert headers.getlist("Impersonate-Extra-a%2Fb%20%C3%BC%25") == ["x", "y"]


@pytest.mark.parametrize("value", ["secret\n", "sec\rret", "secret\r\nX-Evil: 1", "secret\x00", "secret\x7f"])
def test_a_header_that_cannot_be_sent_is_an_error_without_its_value(value):
    request = client_for("http://127.0.0.1:1").get().resource("pods").max_retries(0)
    with pytest.raises(rest.URLError, match='net/http: invalid header field value for "X-Token"') as caught:
        request.set_header("X-Token", value).do(CTX).raise_for_error()
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize("name", ["X Bad", "", "X:Y", "X\n", "Ümlaut"])
def test_a_header_name_that_cannot_be_sent_is_an_error(name):
    request = client_for("http://127.0.0.1:1").get().resource("pods").max_retries(0)
    with pytest.raises(rest.URLError, match="net/http: invalid header field name"):
        request.set_header(name, "x").do(CTX).raise_for_error()


def test_user_and_password_of_the_url_win_over_other_credentials():
    """In Go too, http.Client sets them before any round tripper runs."""
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        host = server.url.replace("://", "://user:p%40ss@")
        client_for(host, bearer_token="other").get().resource("pods").do(CTX).raise_for_error()
    request = server.requests[0]
    assert request.headers["Authorization"] == "Basic dXNlcjpwQHNz"
    assert request.headers["Host"] == f"127.0.0.1:{server.port}"


def test_a_verb_that_is_not_set_is_get():
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client_for(server.url).verb("").resource("pods").do(CTX).raise_for_error()
    assert server.requests[0].method == "GET"


# --- connections ---


def closing_second_request() -> Any:
    """Return a server that closes each connection without a response at its second request."""
    seen: set[int] = set()

    def answer(request: Received) -> Answer:
        if request.connection in seen:
            return Answer(hang_up=True)
        seen.add(request.connection)
        return Answer(200, POD)

    return answer


def test_a_read_over_a_kept_connection_that_is_dead_goes_over_another_one_at_once():
    """Not a retry: a server may close what was idle, and the time in between cannot be seen. Go: shouldRetryRequest."""
    with ScriptedServer(closing_second_request()) as server:
        client = client_for(server.url)
        for _ in range(3):
            client.get().resource("pods").max_retries(0).do(CTX).raise_for_error()
        client.client.close_idle_connections()
    assert [request.connection for request in server.requests] == [1, 1, 2, 2, 3]


def test_a_write_over_a_kept_connection_that_is_dead_is_an_error():
    """It could have been done; unless the caller says that twice is as good as once."""
    with ScriptedServer(closing_second_request()) as server:
        client = client_for(server.url)
        client.get().resource("pods").do(CTX).raise_for_error()
        with pytest.raises(rest.URLError, match='Post "http.*EOF'):
            client.post().resource("pods").body(POD).do(CTX).raise_for_error()
        client.get().resource("pods").do(CTX).raise_for_error()
        client.post().resource("pods").set_header("Idempotency-Key", "1").body(POD).do(CTX).raise_for_error()
        client.client.close_idle_connections()


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (Answer(raw=b"garbage\r\n\r\n"), 'malformed HTTP response "garbage"'),
        (Answer(raw=b"HTTP/1.1 200 OK\r\nX: "), "unexpected EOF"),
        (Answer(chunks=iter(lambda: b"", b"never")), "i/o timeout"),
    ],
)
def test_a_kept_connection_that_answers_wrongly_or_not_at_all_is_no_dead_one(second, reason):
    """The server may have executed a request to which it sent an invalid response."""
    gone = threading.Event()

    def answer(request: Received) -> Answer:
        if len(server.requests) == 2 and second.chunks is not None:
            gone.wait(PATIENCE)
        return second if len(server.requests) == 2 else Answer(200, POD)

    transport = http.Transport()
    with ScriptedServer(answer) as server:
        client = http.Client(transport)
        client.do(http.Request(method="GET", url=server.url)).body.read()
        with pytest.raises(http.URLError, match=reason):
            client.do(http.Request(method="GET", url=server.url, read_timeout=0.2))
        gone.set()
        transport.close_idle_connections()
        assert len(server.requests) == 2


def test_many_requests_at_once_leave_no_warning_in_the_log(caplog):
    """The pool closes the connections beyond its limit. That is not an error."""
    everybody = threading.Barrier(30)

    def answer(request: Received) -> Answer:
        everybody.wait(PATIENCE)
        return Answer(200, POD)

    with ScriptedServer(answer) as server, caplog.at_level(logging.WARNING):
        client = client_for(server.url)
        failures: list[BaseException | None] = []

        def call() -> None:
            failures.append(client.get().resource("pods").do(CTX).error())

        threads = [threading.Thread(target=call) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        client.client.close_idle_connections()
    assert failures == [None] * 30
    assert caplog.records == []


def test_connections_that_were_idle_for_long_are_not_used_again():
    """Go: IdleConnTimeout, 90 s. A load balancer may have forgotten them without a word."""
    clock = FakeClock(0.0)
    transport = http.Transport(clock=clock)
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        for idle in (0.0, 89.0, 90.0, 1.0):
            clock.step(idle)
            http.Client(transport).do(http.Request(method="GET", url=server.url)).body.read()
        transport.close_idle_connections()
    assert [request.connection for request in server.requests] == [1, 1, 2, 2]


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_hosts():
    try:
        server = ScriptedServer(lambda request: Answer(200, POD), host="::1")
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with server:
        client_for(server.url).get().resource("pods").do(CTX).raise_for_error()
    assert server.requests[0].headers["Host"] == f"[::1]:{server.port}"
    with pytest.raises(rest.URLError, match=r"dial tcp \[::1\]:1: connect: connection refused"):
        client_for("http://[::1]:1").get().resource("pods").do(CTX).raise_for_error()


def test_lookups_are_measured(monkeypatch):
    measured: list[tuple[str, float]] = []

    class Metric:
        def observe(self, ctx: context.Context, host: str, latency: float) -> None:
            measured.append((host, latency))

    monkeypatch.setattr(metrics, "RESOLVER_LATENCY", Metric())
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client_for(f"http://localhost:{server.port}").get().resource("pods").do(CTX).raise_for_error()
    [(host, latency)] = measured
    assert host == "localhost"
    assert latency >= 0


def test_redirects_end_somewhere():
    """Go: defaultCheckRedirect, which counts the requests that went out."""
    with ScriptedServer(lambda request: Answer(302, b"", {"Location": "/again"})) as server:
        with pytest.raises(rest.URLError, match=f'Get "{server.url}/api/v1/pods": stopped after 10 redirects'):
            client_for(server.url).get().resource("pods").do(CTX).raise_for_error()
        assert len(server.requests) == 10


def test_credentials_do_not_follow_a_redirect_to_another_host():
    with ScriptedServer(lambda request: Answer(200, POD)) as other:
        target = f"http://localhost:{other.port}/x"
        with ScriptedServer(lambda request: Answer(307, b"", {"Location": target})) as server:
            client_for(server.url, bearer_token="t").post().resource("pods").body(POD).do(CTX).raise_for_error()
    assert (other.requests[0].method, other.requests[0].body) == ("POST", POD)
    assert "Authorization" not in other.requests[0].headers


# --- the client's timeout ---


def test_the_clients_timeout_ends_a_watch_too():
    """Go: http.Client.Timeout, which counts the reading of the body."""

    def answer(request: Received) -> Answer:
        def chunks():  # type: ignore[no-untyped-def]
            yield b'{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1"}}\n'
            server.closing.wait()

        return Answer(chunks=chunks())

    with ScriptedServer(answer) as server:
        watcher = client_for(server.url, timeout=2.0).get().resource("pods").watch(CTX)
        assert watcher.result_chan().receive(10)[1]
        assert watcher.result_chan().receive(10) == (None, False)
        body = client_for(server.url, timeout=2.0).get().resource("pods").sub_resource("log").stream(CTX)
        assert body.read_some()
        with pytest.raises(context.DeadlineExceeded):
            body.read_some()
        body.close()


def test_the_timer_of_a_finished_request_is_gone():
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        before = threading.active_count()
        client = client_for(server.url, timeout=3600.0)
        for _ in range(5):
            client.get().resource("pods").do(CTX).raise_for_error()
            client.get().resource("pods").sub_resource("log").stream(CTX).close()
        client.client.close_idle_connections()
        # One thread serves all timers of a clock, and the server has its own for each connection.
        served = {request.connection for request in server.requests}
        assert threading.active_count() <= before + len(served) + 1


def test_representations_hold_no_header_and_no_password():
    request = http.Request(method="GET", url="https://u:secret@h/x", headers=http.Header({"Authorization": "secret"}))
    assert repr(request) == "<Request GET https://u:***@h/x>"
    assert "secret" not in repr(http.Response(status_code=200, request=request))


def test_a_retry_after_beyond_all_bounds_waits_until_the_context_ends():
    answer = status(429, "TooManyRequests", "x", Retry_After="9223372036854775807")
    ctx, cancel = context.with_timeout(CTX, 0.1)
    with ScriptedServer(lambda request: answer) as server:
        limiter = flowcontrol.new_fake_always_rate_limiter()
        # The context may end while the request is under way, or just before it.
        with pytest.raises((rest.URLError, context.DeadlineExceeded), match="context deadline exceeded"):
            client_for(server.url, rate_limiter=limiter).get().resource("pods").do(ctx).raise_for_error()
    cancel()


# --- TLS contexts that change ---


def test_with_a_new_context_no_connection_of_the_old_one_is_used_or_kept(tmp_path):
    """A client must not use a client certificate after its rotation. Go: connRotation."""
    authority = Authority(tmp_path)
    pair = authority.issue("server", "IP:127.0.0.1")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pair.cert, pair.key)
    old, new = authority.trust(), authority.trust()
    context_now = [old]
    transport = http.Transport(ssl_context=lambda: context_now[0])
    client = http.Client(transport)
    with ScriptedServer(lambda request: Answer(200, POD), serving) as server:
        request = http.Request(method="GET", url=server.url)
        idle, in_use = client.do(request), client.do(request)
        assert idle.body.read() == POD
        context_now[0] = new
        assert client.do(request).body.read() == POD
        eventually(lambda: server.open_connections == 2)
        assert in_use.body.read() == POD
        eventually(lambda: server.open_connections == 1)
        assert client.do(request).body.read() == POD
        transport.close_idle_connections()
    assert [request.connection for request in server.requests] == [1, 2, 3, 3]
