"""An HTTP handler that records one request and responds as the test says. Mirrors util/testing/fake_handler.go.

    handler = FakeHandler(status_code=200, response_body="{}")
    server = http.Server(handler)
    ...
    handler.validate_request(report, "/api/v1/pods?limit=5", "GET")

Difference: a request after a validation raises AssertionError in the server's thread; the client receives a 500 and the
log has the exception. In Go the panic ends the process or the connection.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Final, Protocol
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from clientgo.golang.http.server import Request, RequestBodyTooLarge, ResponseWriter

__all__ = ["FakeHandler", "LogInterface", "TestInterface"]

# The handler keeps the body; this bounds its memory.
_MAX_BODY: Final = 64 << 20


class LogInterface(Protocol):
    """A receiver of log lines. `args` are formatted into `format` with %. Go: testing.LogInterface."""

    def logf(self, format: str, /, *args: Any) -> None:
        """Log a line. Go: Logf."""
        ...


class TestInterface(LogInterface, Protocol):
    """A receiver of log lines and failures. Go: testing.TestInterface."""

    __test__: ClassVar[bool] = False  # not a test, although the name begins like one

    def errorf(self, format: str, /, *args: Any) -> None:
        """Report a failure; the test continues. Go: Errorf."""
        ...


class FakeHandler:
    """A handler for one request; the last one is recorded. Thread-safe. Go: testing.FakeHandler."""

    def __init__(
        self,
        *,
        status_code: int = 0,
        response_body: str = "",
        t: LogInterface | None = None,
        skip_request_fn: Callable[[str, SplitResult], bool] | None = None,
    ) -> None:
        """Initialize a handler. It logs bodies to `t`.

        Requests for whose method and URL `skip_request_fn` returns True get the same response and are not recorded.
        """
        self.request_received: Request | None = None
        self.request_body = ""
        self.status_code = status_code
        self.response_body = response_body
        self.t = t
        self.skip_request_fn = skip_request_fn
        # Guards the attributes above and below.
        self._lock = threading.Lock()
        self._request_count = 0
        self._has_been_checked = False

    def set_response_body(self, response_body: str) -> None:
        """Set the body of later responses. Go: SetResponseBody."""
        with self._lock:
            self.response_body = response_body

    def serve_http(self, response: ResponseWriter, request: Request) -> None:
        """Respond, and record the request. Raises AssertionError after a validation. Go: ServeHTTP."""
        with self._lock:
            url = SplitResult("", "", request.path, request.raw_query, "")
            is_skipped = self.skip_request_fn is not None and self.skip_request_fn(request.method, url)
            if not is_skipped:
                self._request_count += 1
                if self._has_been_checked:
                    raise AssertionError("got request after having been validated")
                self.request_received = request
            response.header()["Content-Type"] = "application/json"
            response.write_header(self.status_code)
            response.write(self.response_body)
            if not is_skipped:
                self._read_body(request)

    def _read_body(self, request: Request) -> None:
        try:
            self.request_body = request.read_body(_MAX_BODY).decode("utf-8", "replace")
        except (OSError, RequestBodyTooLarge) as err:
            if self.t is not None:
                self.t.logf("Received read error: %s", err)
        if self.t is not None:
            self.t.logf("request body: %s", self.request_body)

    def validate_request_count(self, t: TestInterface, count: int) -> bool:
        """Report whether `count` requests arrived, and a failure to `t` otherwise. Go: ValidateRequestCount."""
        with self._lock:
            self._has_been_checked = True
            if self._request_count == count:
                return True
            t.errorf(
                "Expected %d call, but got %d. Only the last call is recorded and checked.", count, self._request_count
            )
            return False

    def validate_request(
        self, t: TestInterface, expected_path: str, expected_method: str, body: str | None = None
    ) -> None:
        """Report to `t` how the last request differs from the expected one. `expected_path` may have a query.

        None accepts every body. Go: ValidateRequest.
        """
        with self._lock:
            if self._request_count != 1:
                t.logf("Expected 1 call, but got %s. Only the last call is recorded and checked.", self._request_count)
            self._has_been_checked = True
            received = self.request_received
            if received is None:
                t.errorf("Unexpected nil request received for %s", expected_path)
                return
            try:
                expected = urlsplit(expected_path)
            except ValueError:
                t.errorf("Couldn't parse %s as a URL.", expected_path)
                return
            path, query = unquote(expected.path), parse_qs(expected.query, keep_blank_values=True)
            shown = f"{received.method} {received.path}?{received.raw_query}"
            if received.path != path:
                t.errorf(
                    "Unexpected request path for request %s, received: %r, expected: %r", shown, received.path, path
                )
            if received.query() != query:
                t.errorf("Unexpected query for request %s, received: %r, expected: %r", shown, received.query(), query)
            if received.method != expected_method:
                t.errorf("Unexpected method: %r, expected: %r", received.method, expected_method)
            if body is not None and body != self.request_body:
                t.errorf("Received body:\n%s\n Doesn't match expected body:\n%s", self.request_body, body)
