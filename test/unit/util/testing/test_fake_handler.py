"""A handler that records a request, and what it reports about one. Go: util/testing/fake_handler_test.go."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clientgo.golang.http.server import Server, listen
from clientgo.util.testing import FakeHandler


class Report:
    """The reports of a handler."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.lines: list[str] = []

    def errorf(self, format: str, /, *args: Any) -> None:
        self.errors.append(format % args)

    def logf(self, format: str, /, *args: Any) -> None:
        self.lines.append(format % args)


@contextmanager
def serving(handler: FakeHandler) -> Iterator[Any]:
    listener = listen("127.0.0.1:0")
    port = listener.getsockname()[1]
    server = Server(handler, name="fake-handler")
    thread = threading.Thread(target=server.serve, args=(listener,), name="fake-handler")
    thread.start()

    def send(method: str, path: str, body: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    try:
        yield send
    finally:
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("sent", "expected", "error"),
    [
        # Go: TestFakeHandlerPath
        (("GET", "/foo/bar", "somebody"), ("/foo/bar", "GET", "somebody"), ""),
        # Go: TestFakeHandlerPathNoBody
        (("GET", "/foo/bar", None), ("/foo/bar", "GET", None), ""),
        # Go: TestFakeHandlerWrongPath
        (("GET", "/foo/baz", None), ("/foo/bar", "GET", None), "Unexpected request path"),
        # Go: TestFakeHandlerWrongMethod
        (("PUT", "/foo/bar", None), ("/foo/bar", "GET", None), "Unexpected method: 'PUT', expected: 'GET'"),
        # Go: TestFakeHandlerWrongBody
        (("GET", "/foo/bar", "somebody"), ("/foo/bar", "GET", "otherbody"), "Received body:\nsomebody\n"),
        # Go: TestFakeHandlerNilBody
        (("GET", "/foo/bar", None), ("/foo/bar", "GET", "somebody"), "Received body:\n\n"),
        (("GET", "/foo?b=2&a=1&a=", None), ("/foo?a=1&a=&b=2", "GET", None), ""),
        (("GET", "/foo?a=1", None), ("/foo?a=2", "GET", None), "Unexpected query"),
        (("GET", "/a%20b", None), ("/a%20b", "GET", None), ""),
        (("GET", "/a", None), ("//[", "GET", None), "Couldn't parse //[ as a URL."),
    ],
)
def test_a_request_is_compared_with_the_expected_one(sent: Any, expected: Any, error: str) -> None:
    handler, report = FakeHandler(status_code=201, response_body="{}"), Report()
    with serving(handler) as send:
        assert send(*sent) == (201, "{}")
        handler.validate_request(report, *expected)
    assert len(report.errors) == bool(error), report.errors
    assert "".join(report.errors).startswith(error)
    assert report.lines == []


def test_requests_are_counted_and_only_the_last_one_is_compared() -> None:
    log = Report()
    handler, report = FakeHandler(status_code=200, t=log), Report()
    with serving(handler) as send:
        send("POST", "/first", "one")
        handler.set_response_body("later")
        assert send("POST", "/second", "two") == (200, "later")
        assert handler.validate_request_count(report, 2)
        assert not handler.validate_request_count(report, 1)
        handler.validate_request(report, "/second", "POST", "two")
        assert send("GET", "/third")[0] == 500, "a request after the validation"
    expected = "call, but got 2. Only the last call is recorded and checked."
    assert report.errors == [f"Expected 1 {expected}"]
    assert report.lines == [f"Expected 1 {expected}"]
    assert log.lines == ["request body: one", "request body: two"]


def test_a_handler_without_a_request_reports_that() -> None:
    report = Report()
    FakeHandler().validate_request(report, "/path", "GET")
    assert report.errors == ["Unexpected nil request received for /path"]


def test_skipped_requests_are_answered_and_not_recorded() -> None:
    handler, report = FakeHandler(status_code=200, response_body="{}"), Report()
    handler.skip_request_fn = lambda verb, url: (verb, url.path, url.query) == ("GET", "/skipped", "a=1")
    with serving(handler) as send:
        send("GET", "/recorded")
        assert send("GET", "/skipped?a=1") == (200, "{}")
        handler.validate_request(report, "/recorded", "GET")
        assert send("GET", "/skipped?a=1")[0] == 200, "also after the validation"
        assert handler.validate_request_count(report, 1)
    assert (report.errors, report.lines) == ([], [])
