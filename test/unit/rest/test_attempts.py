"""One attempt after the other, for each way to send a request. Go: the retry tables of rest/request_test.go."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from roundtrips import Turns, answer, client_of, status_of

from clientgo import context, klog, rest
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors
from clientgo.golang import http
from clientgo.rest.with_retry import NEVER_RETRY_ERROR, IsRetryableErrorFunc, new_with_retry
from clientgo.tools.metrics import metrics

CTX = context.background()
AGAIN = answer(500, Retry_After="1")


def good(request: http.Request) -> http.Response:
    """Return a success with a fresh body."""
    return answer(200, {})


def send(call: str, request: rest.Request, ctx: context.Context = CTX) -> Exception | None:
    """Send it this way; why that failed."""
    try:
        result = getattr(request, call)(ctx)
        if call == "do":
            result.raise_for_error()
        elif call == "watch":
            result.stop()
    except Exception as err:
        return err
    return None


CALLS = pytest.mark.parametrize("call", ["do", "do_raw", "stream", "watch"])
RESET = ConnectionResetError(104, "connection reset by peer")


@pytest.mark.parametrize(
    ("turn", "do", "watches"),
    [
        pytest.param(answer(429, Retry_After="1"), True, True, id="server returns {429, Retry-After}"),
        pytest.param(answer(503, Retry_After="1"), True, True, id="server returns {503, Retry-After}"),
        pytest.param(answer(503), False, False, id="server returns 5xx, but no Retry-After"),
        pytest.param(answer(429), False, False, id="server returns 429 but no Retry-After"),
        pytest.param(RESET, True, True, id="server returns connection reset error"),
        pytest.param(EOFError("EOF"), True, True, id="server returns EOF error"),
        pytest.param(EOFError("unexpected EOF"), True, True, id="server returns unexpected EOF error"),
        pytest.param(BrokenPipeError(32, "broken pipe"), True, True, id="server returns broken connection error"),
        pytest.param(
            ConnectionRefusedError(111, "connection refused"),
            False,
            False,
            id="server returns connection refused error",
        ),
        pytest.param(TimeoutError("deadline exceeded"), False, True, id="server returns net.Timeout() == true error"),
        pytest.param(answer(200, b"{}"), False, False, id="server returns OK, never retry"),
        pytest.param(answer(304, Retry_After="1"), False, False, id="server returns {3xx, Retry-After}"),
    ],
)
@CALLS
def test_what_is_worth_another_attempt(turn, do, watches, call):
    """A stream goes out again for answers alone. Go: TestRetryableConditions"""
    client, _ = client_of(turns := Turns(turn))
    send(call, client.get().resource("pods").max_retries(2))
    is_answer = isinstance(turn, http.Response)
    again = {"watch": watches, "stream": do and is_answer}.get(call, do)
    assert len(turns.requests) == (3 if again else 1)


@pytest.mark.parametrize(("retries", "attempts", "failed"), [(0, 1, True), (1, 2, True), (4, 5, True), (5, 6, False)])
@CALLS
def test_there_are_as_many_attempts_as_are_allowed_and_one_more(retries, attempts, failed, call):
    """
    Go: TestRequestMaxRetries/no retrying should fail
    Go: TestRequestMaxRetries/1 max-retry should exactly work
    Go: TestRequestMaxRetries/5 max-retry should work
    Go: TestRequestStream/max retries 2, server always returns a response with Retry-After header
    Go: TestRequestStream/max retries 2, server returns success on the final attempt
    Go: TestRequestDoWithRetry, TestRequestDoRawWithRetry, TestRequestStreamWithRetry, TestRequestWatchWithRetry
    Go: TestWatch/with retries
    """
    client, clock = client_of(turns := Turns(*[AGAIN] * 5, good))
    err = send(call, client.get().resource("pods").max_retries(retries))
    assert len(turns.requests) == attempts
    assert clock.slept == [1.0] * (attempts - 1)
    assert errors.is_internal_error(err) is failed
    assert (err is None) is not failed


@pytest.mark.parametrize(
    ("verb", "turn", "body", "attempts"),
    [
        pytest.param(
            "GET", AGAIN, None, 2, id="server returns retry-after response, no request body, retry goes ahead"
        ),
        pytest.param(
            "PUT", AGAIN, b"x", 2, id="server returns retry-after response, bytes request body, retry goes ahead"
        ),
        pytest.param(
            "PUT",
            AGAIN,
            io.BytesIO(b"x"),
            1,
            id="server returns retry-after response, opaque request body, retry aborted",
        ),
        pytest.param("GET", RESET, None, 2, id="server returns retryable err, no request body, retry goes ahead"),
        pytest.param("GET", RESET, b"x", 2, id="server returns retryable err, bytes request body, retry goes ahead"),
        pytest.param(
            "GET", RESET, io.BytesIO(b"x"), 1, id="server returns retryable err, opaque request body, retry aborted"
        ),
    ],
)
@CALLS
def test_a_body_goes_out_again_unless_it_is_read_as_it_is_sent(verb, turn, body, attempts, call):
    """
    Go: TestRequestWithRetry
    Go: TestRequestStream/max retries 1, server returns a retry-after response, non-bytes request, no retry
    """
    if call == "stream" and isinstance(turn, Exception):
        attempts = 1  # Go: TestRequestStream/server returns EOF after attempt 1, retry aborted
    client, _ = client_of(turns := Turns(turn, good))
    request = client.verb(verb).namespace("d").resource("pods").name("a").max_retries(1)
    send(call, request.body(body))
    assert len(turns.requests) == attempts
    if isinstance(body, bytes):
        assert [sent.body for sent in turns.requests] == [b"x"] * attempts


@pytest.mark.parametrize(
    ("turn", "attempts", "is_wanted"),
    [
        pytest.param(OSError("err"), 1, lambda err: "err" in str(err), id="error is not retryable"),
        pytest.param(
            answer(403, status_of(403, "Forbidden", "secrets is forbidden")),
            1,
            lambda err: errors.is_forbidden(err) and str(err) == "secrets is forbidden",
            id="server returns forbidden with json content",
        ),
        pytest.param(answer(403), 1, errors.is_forbidden, id="server returns forbidden without content"),
        pytest.param(answer(401), 1, errors.is_unauthorized, id="server returns unauthorized"),
        pytest.param(answer(401, status_of(0, "Unauthorized")), 1, errors.is_unauthorized, id="and says so"),
        pytest.param(
            AGAIN,
            3,
            errors.is_internal_error,
            id="max retries 2, server always returns a response with Retry-After header",
        ),
    ],
)
def test_a_watch_that_is_refused_raises(turn, attempts, is_wanted):
    """Go: TestRequestWatch"""
    client, _ = client_of(turns := Turns(turn))
    err = send("watch", client.get().resource("pods").max_retries(2))
    assert len(turns.requests) == attempts
    assert is_wanted(err), err


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(EOFError("EOF"), id="max retries 2, server always returns EOF error"),
        pytest.param(RESET, id="server returns connection reset by peer"),
        pytest.param(TimeoutError("i/o timeout"), id="server does not respond"),
    ],
)
def test_a_watch_whose_connection_is_lost_each_time_has_just_ended(turn):
    """
    Go: TestRequestWatch/server returns EOF error
    Go: TestRequestWatch/server returns can't write HTTP request on broken connection error
    Go: TestRequestWatch/server returns connection reset by peer
    Go: TestRequestWatch/max retries 2, server always returns EOF error
    """
    client, _ = client_of(turns := Turns(turn))
    ended: watch.Interface = client.get().resource("pods").max_retries(2).watch(CTX)
    assert list(ended.result_chan()) == []
    assert len(turns.requests) == 3


@CALLS
def test_a_request_that_could_not_be_built_is_not_sent(call):
    """
    Go: TestRequestError
    Go: TestRequestWatch/Request has error
    Go: TestRequestStream/request has error
    """
    client, _ = client_of(turns := Turns(good))
    err = send(call, client.get().name("a/b"))
    assert 'invalid resource name "a/b"' in str(err)
    assert turns.requests == []


def test_a_stream_whose_answer_does_not_come_fails_with_that():
    """Go: TestRequestStream/server returns an error"""
    client, _ = client_of(turns := Turns(OSError("err")))
    err = send("stream", client.get().resource("pods"))
    assert isinstance(err, rest.URLError)
    assert str(err) == 'Get "http://h/api/v1/pods": err'
    assert len(turns.requests) == 1


# --- in which order, with what of limiter, backoff and metrics ---


class Order:
    """A backoff and a rate limiter that write down when they are asked."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def calculate_backoff_with_context(self, ctx: context.Context, url: str) -> float:
        self.calls.append("calculate")
        return 0.5

    def sleep_with_context(self, ctx: context.Context, d: float) -> None:
        self.calls.append(f"sleep {d:g}")

    def update_backoff_with_context(self, ctx: context.Context, url: str, err: BaseException | None, code: int) -> None:
        self.calls.append(f"update {code}")

    def wait(self, ctx: context.Context) -> None:
        self.calls.append("limiter")


@CALLS
def test_the_steps_of_an_attempt_have_one_order(call, monkeypatch):
    """A watch is not throttled at first; each later attempt is.

    Go: TestRequestDoWithRetryInvokeOrder, TestRequestStreamWithRetryInvokeOrder, TestRequestWatchWithRetryInvokeOrder
    Go: TestRequestDoRetryWithRateLimiterBackoffAndMetrics, TestRequestStreamRetryWithRateLimiterBackoffAndMetrics
    Go: TestRequestWatchRetryWithRateLimiterBackoffAndMetrics, TestBackoffLifecycle
    """
    calls: list[str] = []
    order = Order(calls)

    class Counted:
        def __init__(self, name: str) -> None:
            self.name = name

        def increment(self, ctx: context.Context, code: str, method: str, host: str) -> None:
            calls.append(f"{self.name} {code}")

        increment_retry = increment

    monkeypatch.setattr(metrics, "REQUEST_RESULT", Counted("result"))
    monkeypatch.setattr(metrics, "REQUEST_RETRY", Counted("retry"))

    def sent(response: http.Response) -> Callable[[http.Request], http.Response]:
        def turn(request: http.Request) -> http.Response:
            calls.append("sent")
            return response

        return turn

    client, _ = client_of(Turns(sent(AGAIN), sent(answer(200, {}))), rate_limiter=order)
    assert send(call, client.get().resource("pods").back_off_with_context(order)) is None
    first = [] if call == "watch" else ["limiter"]
    assert calls == [
        *first,
        *("calculate", "sleep 0.5", "sent", "result 500", "update 500"),
        *("calculate", "sleep 1", "limiter", "sent", "result 200", "retry 200", "update 200"),
    ]


def test_many_threads_may_send_the_same_request_and_each_has_its_own_attempts():
    """Go: TestRequestConcurrencyWithRetry"""
    from queueobjects import in_threads, join

    client, _ = client_of(turns := Turns(AGAIN))
    request = client.post().namespace("d").resource("pods").max_retries(9)
    join(in_threads([lambda: send("do", request)] * 20))
    assert len(turns.requests) == 20 * 10


# --- what is said about earlier attempts ---


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        # Go: TestRequestDoWithWrapPreviousError/server always returns retry-after response
        ([AGAIN], 'an error on the server ("") has prevented the request from succeeding (get pods)'),
        # Go: TestRequestDoWithWrapPreviousError/server always returns retryable error
        ([EOFError("EOF")], 'Get "http://h/api/v1/pods": EOF'),
        # Go: TestRequestDoWithWrapPreviousError/server returns success on the final retry
        ([EOFError("EOF"), AGAIN, good], ""),
        # Go: TestRequestDoWithWrapPreviousError/success after one retry
        ([AGAIN, good], ""),
        # Go: TestRequestDoWithWrapPreviousError/success at first attempt
        ([good], ""),
        # Go: TestRequestDoWithWrapPreviousError/success after a series of retry-after from the server
        ([AGAIN, AGAIN, good], ""),
        # Go: TestRequestDoWithWrapPreviousError/success after a series of retryable errors
        ([EOFError("EOF"), EOFError("EOF"), good], ""),
        # Go: TestRequestDoWithWrapPreviousError/request errors out with a non retryable error
        ([OSError("no")], 'Get "http://h/api/v1/pods": no'),
        # Go: TestRequestDoWithWrapPreviousError/interleaved retry-after responses with retryable errors
        ([AGAIN, EOFError("EOF"), AGAIN, good], ""),
        # Go: TestRequestDoWithWrapPreviousError/request errors out with a retryable error, followed by a non-retryable one  # noqa: E501
        ([EOFError("EOF"), OSError("no")], 'Get "http://h/api/v1/pods": no - error from a previous attempt: EOF'),
        # Go: TestRequestDoWithWrapPreviousError/use the most recent error
        (
            [EOFError("EOF"), EOFError("unexpected EOF"), OSError("no")],
            'Get "http://h/api/v1/pods": no - error from a previous attempt: unexpected EOF',
        ),
    ],
)
@pytest.mark.parametrize("call", ["do", "do_raw", "watch"])
def test_the_last_error_includes_the_one_before(turns, text, call):
    """Go: TestRequestWatchWithWrapPreviousError"""
    client, _ = client_of(Turns(*turns))
    err = send(call, client.get().resource("pods").max_retries(3))
    has_just_ended = call == "watch" and isinstance(turns[-1], EOFError)
    assert ("" if err is None else str(err)) == ("" if has_just_ended else text)


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        # Go: TestRequestDoWithWrapPreviousError/request times out after retries, but no previous error
        (AGAIN, "context canceled"),
        # Go: TestRequestDoWithWrapPreviousError/request times out after retries, and we have a relevant previous error
        (EOFError("EOF"), "context canceled - error from a previous attempt: EOF"),
    ],
)
def test_giving_up_between_attempts_reports_the_last_error(turn, text):
    ctx, cancel = context.with_cancel(CTX)

    class Cancelling(Order):
        def sleep_with_context(self, ctx: context.Context, d: float) -> None:
            if "update 500" in self.calls or "update 0" in self.calls:
                cancel()

    client, _ = client_of(turns := Turns(turn))
    request = client.get().resource("pods").back_off_with_context(Cancelling([]))
    err = send("do", request.throttle(None), ctx)
    assert str(err).endswith(text)
    assert len(turns.requests) <= 2


def retry(limit: int = 2) -> tuple[Any, rest.Request, http.Request]:
    client, _ = client_of(Turns(good))
    return new_with_retry(limit), client.get().resource("pods"), http.Request(method="GET", url="http://h/")


ALWAYS = IsRetryableErrorFunc(lambda request, err: True)


@pytest.mark.parametrize(
    ("limit", "response", "err", "again", "reason"),
    [
        pytest.param(2, None, None, False, "", id="bad input, response and err are nil"),
        pytest.param(0, None, EOFError("EOF"), False, "", id="zero maximum retry"),
        pytest.param(
            2,
            None,
            EOFError("EOF"),
            True,
            "retries: 1, retry-after: 1s - retry-reason: due to retryable error, error: EOF",
            id="server returned a retryable error",
        ),
        pytest.param(
            1,
            answer(429, Retry_After="2", X_Kubernetes_PF_FlowSchema_UID="u"),
            None,
            True,
            'retries: 1, retry-after: 2s - retry-reason: due to server-side throttling, FlowSchema UID: "u"',
            id="server returned a retryable HTTP 429 response",
        ),
        pytest.param(
            1,
            answer(500, Retry_After="3"),
            None,
            True,
            "retries: 1, retry-after: 3s - retry-reason: 500",
            id="server returned a retryable HTTP 5xx response",
        ),
        pytest.param(
            1, answer(500), None, False, "", id="server returned a non response without without a Retry-After header"
        ),
        pytest.param(
            1,
            answer(429, Retry_After="9"),
            EOFError("EOF"),
            True,
            "retries: 1, retry-after: 1s - retry-reason: due to retryable error, error: EOF",
            id="both response and err are set, err takes precedence",
        ),
    ],
)
def test_why_there_is_another_attempt(limit, response, err, again, reason):
    """Go: TestIsNextRetry"""
    state, request, sent = retry(limit)
    assert state.is_next_retry(CTX, request, sent, response, err, ALWAYS) is again
    assert (state._retry_after.reason if state._retry_after else "") == reason


def test_attempts_are_used_up():
    """Go: TestIsNextRetry/all retries are exhausted"""
    state, request, sent = retry(4)
    assert [state.is_next_retry(CTX, request, sent, AGAIN, None, NEVER_RETRY_ERROR) for _ in range(6)] == (
        [True] * 4 + [False] * 2
    )


@pytest.mark.parametrize(
    ("previous", "current", "text"),
    [
        pytest.param(None, "now", "now", id="previous error is nil"),
        pytest.param(OSError("now"), "now", "now", id="both current and previous errors represent the same error"),
        pytest.param(
            OSError("before"),
            "now",
            "now - error from a previous attempt: before",
            id="current and previous errors are not same",
        ),
        pytest.param(
            rest.URLError("Get", "http://h/", OSError("before")),
            "now",
            "now - error from a previous attempt: before",
            id="previous error should be unwrapped if it is url.Error",
        ),
    ],
)
def test_an_error_with_the_one_before(previous, current, text):
    """
    Go: TestWrapPreviousError
    Go: TestWrapPreviousError/previous error should not be unwrapped if it is not url.Error
    """
    state, request, sent = retry()
    if previous is not None:
        state.is_next_retry(CTX, request, sent, None, previous, ALWAYS)
        state.is_next_retry(CTX, request, sent, AGAIN, None, ALWAYS)
    final = OSError(current)
    wrapped = state.wrap_previous_error(final)
    assert str(wrapped) == text
    assert wrapped is final or wrapped.__cause__ is final


@pytest.mark.parametrize("failure", [context.Canceled(), context.DeadlineExceeded()])
def test_a_context_error_includes_the_error_before_and_keeps_its_type(failure):
    """
    Go: TestWrapPreviousError/current error is context.Canceled
    Go: TestWrapPreviousError/current error is context.DeadlineExceeded
    Go: TestWrapPreviousError/current error is a wrapped context.Canceled
    Go: TestWrapPreviousError/current error is a wrapped context.DeadlineExceeded
    Go: TestWrapPreviousError/Before should track previous error
    """
    state, request, sent = retry()
    state.is_next_retry(CTX, request, sent, None, EOFError("EOF"), ALWAYS)

    ctx, cancel = context.with_cancel(CTX)
    cancel()
    with pytest.raises(context.Canceled):
        state.before(ctx, request)
    wrapped = state.wrap_previous_error(failure)
    assert str(wrapped) == f"{failure} - error from a previous attempt: EOF"
    assert wrapped.__cause__ is failure


class Body(http.BytesBody):
    """A body that knows whether it was closed."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


@pytest.mark.parametrize(
    ("code", "headers"),
    [
        (429, {"Retry-After": "1"}),
        (403, {}),
        (200, {"Content-Type": "application/unknown"}),
    ],
    ids=["retries", "refused", "a type without a decoder"],
)
@CALLS
def test_each_response_is_closed_so_that_its_connection_is_free(call, code, headers):
    """Except the body of a stream, which is the caller's."""
    bodies: list[Body] = []

    def respond(request: http.Request) -> http.Response:
        bodies.append(Body(b"no object"))
        return http.Response(status_code=code, headers=http.Header(headers), body=bodies[-1])

    client, _ = client_of(turns := Turns(respond))
    send(call, client.get().resource("pods").max_retries(1))
    assert len(turns.requests) == len(bodies) == (2 if code == 429 else 1)
    assert [body.closed > 0 for body in bodies] == [(call, code) != ("stream", 200)] * len(bodies)


@pytest.mark.parametrize(("timeout", "silence"), [(0.0, 90.0), (10.0, 90.0), (60.0, 90.0), (100.0, 130.0)])
def test_a_response_may_take_as_long_as_the_servers_timeout_and_a_little_more(timeout, silence):
    client, _ = client_of(turns := Turns(good))
    client.get().resource("pods").timeout(timeout).do(CTX).raise_for_error()
    assert [request.read_timeout for request in turns.requests] == [silence]


@pytest.mark.parametrize("seconds", [0, 7])
def test_an_error_says_when_the_server_wants_another_attempt(seconds):
    client, _ = client_of(Turns(answer(429, **({"Retry_After": str(seconds)} if seconds else {}))))
    err = client.get().resource("pods").max_retries(0).do(CTX).error()
    assert isinstance(err, errors.StatusError)
    assert err.status().details.retry_after_seconds == seconds


def test_nothing_is_sent_after_the_limiter_has_refused_a_retry():
    class Limiter:
        """A limiter that admits one request."""

        def __init__(self) -> None:
            self.admitted = 0

        def wait(self, ctx: context.Context) -> None:
            self.admitted += 1
            if self.admitted > 1:
                raise RuntimeError("no more")

    client, _ = client_of(turns := Turns(AGAIN))
    err = client.get().resource("pods").throttle(Limiter()).do(CTX).error()
    assert "client rate limiter Wait returned an error: no more" in str(err)
    assert len(turns.requests) == 1


@pytest.mark.parametrize("call", ["do", "watch"])
def test_a_request_that_could_not_be_built_is_logged_for_developers(call, caplog):
    client, _ = client_of(Turns(good))
    before = klog.verbosity()
    klog.set_verbosity(4)
    try:
        with caplog.at_level(1, logger="clientgo"):
            send(call, client.get().name("a/b"))
    finally:
        klog.set_verbosity(before)
    assert ('"Error in request"' in caplog.text) is (call == "do"), "as in Go"
