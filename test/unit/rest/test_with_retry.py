"""Retries: the conditions, the delays, and closing the previous response. Go: rest/with_retry_test.go."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer, status

from clientgo import context, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.rest.urlbackoff import NoBackoff, URLBackoff
from clientgo.tools.metrics import metrics
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()
POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"}}'
BUSY = status(429, "TooManyRequests", "slow down", Retry_After="3")


class SleptClock(FakeClock):
    """A clock whose sleepers wake at once; `slept` says for how long they meant to sleep."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.slept: list[float] = []

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        self.slept.append(round(timeout or 0.0, 6))
        self.step(timeout or 0.0)
        return False


def client_for(host: str, **settings: Any) -> tuple[rest.RESTClient, SleptClock]:
    config = rest.Config(host=host, qps=-1, api_path="/api", group_version=GroupVersion("", "v1"), **settings)
    client = rest.rest_client_for(config)
    client.clock = clock = SleptClock()
    return client, clock


def answering(*answers: Answer) -> Callable[[Received], Answer]:
    """Return the answers in turn, and then the last one repeatedly."""
    rest_of_them: Iterator[Answer] = iter(answers[:-1])
    return lambda request: next(rest_of_them, answers[-1])


# --- whether ---


@pytest.mark.parametrize("call", ["do", "do_raw", "stream"])
def test_a_stream_is_never_sent_twice(call):
    """It has been read: the second time the server would get nothing, or the rest. Go: TestRequestDoRawWithRetry"""
    with ScriptedServer(lambda request: BUSY) as server:
        client, _ = client_for(server.url, max_silence=0.5)
        request = client.post().namespace("d").resource("pods").set_header("Content-Length", str(len(POD)))
        request.body(io.BytesIO(POD))
        with pytest.raises(errors.StatusError, match="slow down|has asked us to try again later"):
            result = getattr(request, call)(CTX)
            result.raw()
    assert [received.body for received in server.requests] == [POD]


@pytest.mark.parametrize(
    ("code", "header", "again"),
    [
        (429, "1", True),
        (500, "1", True),
        (503, "1", True),
        (599, "0", True),
        (429, None, False),
        (503, None, False),
        (429, "soon", False),
        (429, "Fri, 31 Dec 1999 23:59:59 GMT", False),
        (429, "1.5", False),
        (400, "1", False),
        (409, "1", False),
        (499, "1", False),
    ],
)
@pytest.mark.parametrize("call", ["do", "stream", "watch"])
def test_an_answer_asks_for_another_attempt_by_code_and_header(code, header, again, call):
    """Go: checkWait."""
    headers = {} if header is None else {"Retry-After": header}
    with ScriptedServer(lambda request: status(code, "x", "x", **headers)) as server:
        client, _ = client_for(server.url)
        request = client.get().resource("pods").max_retries(2)
        with pytest.raises(errors.StatusError):
            getattr(request, call)(CTX).raw()
    assert len(server.requests) == (3 if again else 1)


@pytest.mark.parametrize("verb", ["post", "put", "patch", "delete"])
def test_what_may_have_changed_something_does_not_go_out_again_after_a_reset(verb):
    with ScriptedServer(lambda request: Answer(hang_up=True)) as server:
        client, clock = client_for(server.url)
        build = getattr(client, verb)
        request = build("application/merge-patch+json") if verb == "patch" else build()
        request.namespace("d").resource("pods")
        with pytest.raises(rest.URLError, match="EOF"):
            (request if verb == "post" else request.name("web")).body(POD).do(CTX).raise_for_error()
    assert len(server.requests) == 1
    assert clock.slept == []


@pytest.mark.parametrize("verb", ["get", "put", "delete"])
def test_what_has_a_name_and_an_empty_namespace_does_not_go_out(verb):
    """No server listens, so that a request would fail with another error. Go: requestPreflightCheck."""
    client, _ = client_for("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="an empty namespace may not be set when a resource name is provided"):
        getattr(client, verb)().namespace("").resource("pods").name("web").do(CTX).raise_for_error()


def test_an_empty_namespace_may_mean_all_of_them():
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client, _ = client_for(server.url)
        client.get().namespace("").resource("pods").do(CTX).raise_for_error()
        client.delete().namespace("").resource("pods").do(CTX).raise_for_error()
    assert [request.target for request in server.requests] == ["/api/v1/pods"] * 2


# --- after how long ---


class Fixed:
    """A backoff of always the same length."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.slept: list[float] = []
        self.updates: list[tuple[str, str, int]] = []

    def update_backoff_with_context(self, ctx: context.Context, url: str, err: BaseException | None, code: int) -> None:
        self.updates.append((url.partition("?")[0].rpartition("/")[2], type(err).__name__, code))

    def calculate_backoff_with_context(self, ctx: context.Context, url: str) -> float:
        return self.seconds

    def sleep_with_context(self, ctx: context.Context, d: float) -> None:
        self.slept.append(d)


@pytest.mark.parametrize(("backoff", "slept"), [(1.0, [1.0, 3.0]), (3.0, [3.0, 3.0]), (5.0, [5.0, 5.0])])
@pytest.mark.parametrize("call", ["do", "stream"])
def test_the_longer_one_of_retry_after_and_the_backoff_counts(backoff, slept, call):
    """
    Go: TestRequestDoWithWrapPreviousError/success after one retry, Retry-After: N > BackoffManager.CalculateBackoff
    Go: TestRequestDoWithWrapPreviousError/success after one retry, Retry-After: N < BackoffManager.CalculateBackoff
    """
    manager = Fixed(backoff)
    with ScriptedServer(answering(BUSY, Answer(200, POD))) as server:
        client, _ = client_for(server.url)
        request = client.get().resource("pods").back_off_with_context(manager)
        result = getattr(request, call)(CTX)
        result.raw() if call == "do" else result.close()
    assert manager.slept == slept
    assert manager.updates == [("pods", "NoneType", 429), ("pods", "NoneType", 200)]


def test_the_backoff_gets_an_error_without_a_code():
    """Go: TestBackoffLifecycle"""
    manager = Fixed(0.0)
    with ScriptedServer(answering(Answer(hang_up=True), Answer(200, POD))) as server:
        client, _ = client_for(server.url)
        client.get().resource("pods").back_off_with_context(manager).do(CTX).raise_for_error()
    assert manager.updates == [("pods", "URLError", 0), ("pods", "NoneType", 200)]
    assert manager.slept == [0.0, 1.0]


# --- Go: TestURLBackoffFunctionality, TestURLBackoffFunctionalityCollisions ---


def url_backoff() -> URLBackoff:
    return URLBackoff(flowcontrol.new_fake_back_off(1.0, 10.0, FakeClock(0.0)))


@pytest.mark.parametrize("code", [429, 500, 503, 599])
def test_an_overloaded_server_is_left_alone_for_longer_each_time(code):
    manager = url_backoff()
    waits = []
    for _ in range(6):
        manager.update_backoff("http://h:1/a", None, code)
        waits.append(manager.calculate_backoff("http://h:1/b?c"))
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert manager.calculate_backoff("http://h:2/a") == 0.0


@pytest.mark.parametrize(("err", "code"), [(None, 200), (None, 302), (None, 404), (None, 499), (OSError("x"), 0)])
def test_any_other_answer_and_any_error_ends_the_backoff(err, code):
    manager = url_backoff()
    manager.update_backoff("http://h:1/a", None, 429)
    manager.update_backoff("http://h:1/b", err, code)
    assert manager.calculate_backoff("http://h:1/a") == 0.0


def test_no_backoff_waits_only_in_an_explicit_sleep():
    """Go: TestNoBackoff"""
    clock = SleptClock()
    manager = NoBackoff(clock)
    manager.update_backoff_with_context(CTX, "http://h/a", None, 500)
    manager.update_backoff("http://h/a", None, 500)
    assert manager.calculate_backoff_with_context(CTX, "http://h/a") == manager.calculate_backoff("http://h/a") == 0.0
    manager.sleep_with_context(CTX, 2.0)
    manager.sleep(3.0)
    manager.sleep(0.0)
    assert clock.slept == [2.0, 3.0]


def test_a_backoff_of_urls_sleeps_as_long_as_it_is_asked_to():
    clock = SleptClock()
    manager = URLBackoff(flowcontrol.new_fake_back_off(1.0, 10.0, clock))
    manager.sleep_with_context(CTX, 2.0)
    manager.sleep(3.0)
    manager.sleep(0.0)
    assert clock.slept == [2.0, 3.0]


def test_a_backoff_of_urls_takes_a_request_with_a_context_as_one_without():
    manager = url_backoff()
    manager.update_backoff_with_context(CTX, "http://h:1/a", None, 429)
    assert manager.calculate_backoff_with_context(CTX, "http://h:1/b") == 1.0


def test_a_manager_without_contexts_is_asked_as_one_with_them():
    """Go: TestBackoffManagerNopContext"""
    calls: list[tuple[object, ...]] = []

    class Plain:
        def update_backoff(self, url: str, err: BaseException | None, code: int) -> None:
            calls.append(("update", url, err, code))

        def calculate_backoff(self, url: str) -> float:
            calls.append(("calculate", url))
            return 7.0

        def sleep(self, d: float) -> None:
            calls.append(("sleep", d))

    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client, _ = client_for(server.url)
        client.get().resource("pods").back_off(Plain()).do(CTX).raise_for_error()
        url = f"{server.url}/api/v1/pods"
    assert calls == [("calculate", url), ("sleep", 7.0), ("update", url, None, 200)]


def test_a_backoff_that_is_switched_off_never_waits():
    manager = url_backoff()
    manager.disable()
    manager.update_backoff("http://h:1/a", None, 429)
    assert manager.calculate_backoff("http://h:1/a") == 0.0


# --- what becomes of the answer before ---


@pytest.mark.parametrize(("size", "connections"), [(2048, [1, 1]), (2049, [1, 2])])
def test_a_small_answer_is_read_for_the_sake_of_its_connection(size, connections):
    """Go: TestCheckRetryClosesBody, BenchmarkCheckRetryClosesBody"""
    busy = Answer(429, b"x" * size, {"Retry-After": "1"})
    with ScriptedServer(answering(busy, Answer(200, POD))) as server:
        client, _ = client_for(server.url)
        client.get().resource("pods").do(CTX).raise_for_error()
        client.client.close_idle_connections()
    assert [request.connection for request in server.requests] == connections


@pytest.mark.parametrize("status", ["Success", "", "Unknown"])
def test_only_a_status_that_says_failure_takes_the_place_of_an_error(status):
    """A proxy may answer 500 with whatever object it likes. Go: TestTransformUnstructuredError"""
    document = {"kind": "Status", "apiVersion": "v1", "status": status, "message": "all is well", "code": 200}
    answer = Answer(500, json.dumps(document).encode())
    with ScriptedServer(lambda request: answer) as server:
        client, _ = client_for(server.url)
        err = client.get().resource("pods").name("web").do(CTX).error()
    assert isinstance(err, errors.StatusError)
    assert errors.is_internal_error(err)
    assert str(err) == 'an error on the server ("unknown") has prevented the request from succeeding (get pods web)'


def test_a_status_that_says_failure_is_the_error():
    with ScriptedServer(lambda request: status(500, "InternalError", "it broke")) as server:
        client, _ = client_for(server.url)
        err = client.get().resource("pods").name("web").do(CTX).error()
    assert str(err) == "it broke"


# --- what is said about it ---


class Recording:
    """Stands for any metric."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = []

    def observe(self, ctx: context.Context, *values: object) -> None:
        self.seen.append(values)

    increment = increment_retry = observe


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, Recording]:
    names = ("REQUEST_RESULT", "REQUEST_RETRY", "REQUEST_LATENCY", "RATE_LIMITER_LATENCY")
    recordings = {name: Recording() for name in names}
    for name, recording in recordings.items():
        monkeypatch.setattr(metrics, name, recording)
    return recordings


def test_each_attempt_is_counted_and_each_but_the_first_as_a_retry(measured):
    """Go: TestRequestDoRetryWithRateLimiterBackoffAndMetrics"""
    with ScriptedServer(answering(Answer(hang_up=True), BUSY, Answer(200, POD))) as server:
        client, _ = client_for(server.url)
        client.get().resource("pods").do(CTX).raise_for_error()
        host = server.url.removeprefix("http://")
    assert measured["REQUEST_RESULT"].seen == [
        ("<error>", "GET", host),
        ("429", "GET", host),
        ("200", "GET", host),
    ]
    assert measured["REQUEST_RETRY"].seen == measured["REQUEST_RESULT"].seen[1:]
    # One latency of the call with its pauses: a second after the lost connection, and three that the server wants.
    assert measured["REQUEST_LATENCY"].seen == [("GET", f"{server.url}/api/v1/pods", 4.0)]


def test_resources_are_in_small_letters_where_they_are_said(measured, caplog):
    """The path is in lower case, and the same resource must not count as two. Go: finalURLTemplate, URL."""

    class SlowLimiter:
        def __init__(self, clock: SleptClock) -> None:
            self.clock = clock

        def wait(self, ctx: context.Context) -> None:
            self.clock.step(2.0)

    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        client, clock = client_for(server.url)
        request = client.get().namespace("d").resource("PODS").name("Web").throttle(SlowLimiter(clock))
        with caplog.at_level("INFO"):
            request.do(CTX).raise_for_error()
        url = f"{server.url}/api/v1/namespaces/d/pods/Web"
    template = f"{server.url}/api/v1/namespaces/{{namespace}}/pods/{{name}}"
    assert server.requests[0].target == "/api/v1/namespaces/d/pods/Web"
    assert measured["RATE_LIMITER_LATENCY"].seen == [("GET", template, 2.0)]
    assert [values[1] for values in measured["REQUEST_LATENCY"].seen] == [template]
    assert url in caplog.text
    assert "PODS" not in caplog.text


# --- Retry-After that no server means ---


@pytest.mark.parametrize("code", [429, 500, 503])
@pytest.mark.parametrize("header", ["300", "301", "1000000000000000000", "9223372036854775807"])
def test_a_long_wait_is_waited_and_logged(header, code, caplog):
    caplog.set_level(logging.INFO)
    busy = status(code, "TooManyRequests", "slow down", Retry_After=header)
    with ScriptedServer(answering(busy, Answer(200, POD))) as server:
        client, clock = client_for(server.url)
        client.get().resource("pods").name("web").do(CTX).raise_for_error()
    assert clock.slept == [float(header)]
    [line] = [record.getMessage() for record in caplog.records if "Retry-After" in record.getMessage()]
    assert "attempt=1" in line
    assert header != "300" or 'delay="5m0s"' in line
    assert "/api/v1/pods/web" in line


@pytest.mark.parametrize("header", ["-5", "0", "9", "soon", "Wed, 21 Oct 2037 07:28:00 GMT", "1e3", "1" * 5000, ""])
def test_a_short_or_unreadable_wait_is_not_logged(header, caplog):
    caplog.set_level(logging.INFO)
    with ScriptedServer(answering(status(429, "x", "y", Retry_After=header), Answer(200, POD))) as server:
        client, clock = client_for(server.url)
        client.get().resource("pods").name("web").do(CTX)
    assert max(clock.slept, default=0.0) <= 9.0
    assert not [record for record in caplog.records if "Retry-After" in record.getMessage()]
