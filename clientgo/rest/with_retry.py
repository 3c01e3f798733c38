"""The decision whether to retry a request. Mirrors rest/with_retry.go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clientgo import klog
from clientgo.context import Context
from clientgo.golang.duration import format_duration
from clientgo.golang.http import Header, Response, URLError, describe, redacted_url
from clientgo.golang.http import Request as HTTPRequest
from clientgo.golang.strconv import parse_int
from clientgo.klog.exceptions import operational_error

if TYPE_CHECKING:
    from clientgo.rest.request import Request

# Priority and fairness sets this header to the UID of the flow schema.
_FLOW_SCHEMA_HEADER = "X-Kubernetes-PF-FlowSchema-UID"

# The unread rest of a body up to this size is skipped, so that the connection can be reused.
_MAX_BODY_SLURP_SIZE = 2 << 10


# Seconds of a wait that is logged at the default level.
_LONG_WAIT = 10.0


class IsRetryableErrorFunc:
    """A function that reports whether a request's error permits a retry."""

    def __init__(self, fn: Callable[[HTTPRequest, BaseException], bool]) -> None:
        self._fn = fn

    def is_error_retryable(self, request: HTTPRequest, err: BaseException) -> bool:
        """Report whether to retry after `err`."""
        return self._fn(request, err)


NEVER_RETRY_ERROR = IsRetryableErrorFunc(lambda request, err: False)


class WithRetry(Protocol):
    """The retry state of one call; used by one thread."""

    def is_next_retry(
        self,
        ctx: Context,
        rest_req: Request,
        http_req: HTTPRequest,
        response: Response | None,
        err: BaseException | None,
        f: IsRetryableErrorFunc,
    ) -> bool:
        """Count the attempt, and report whether to make another one.

        There is none if the attempts are exhausted, the body cannot be sent twice, the error is not retryable, or the
        response is not a 429 or 5xx with a Retry-After header.
        """
        ...

    def before(self, ctx: Context, request: Request) -> None:
        """Wait before an attempt, as the server and the backoff demand. Raises the context's error."""
        ...

    def after(self, ctx: Context, request: Request, response: Response | None, err: BaseException | None) -> None:
        """Record the result of an attempt."""
        ...

    def wrap_previous_error(self, final_err: Exception) -> Exception:
        """Return the final error, with the error of an earlier attempt if there was one."""
        ...


@dataclass(kw_only=True)
class RetryAfter:
    """Parameters of the next attempt."""

    # Seconds the server asked for.
    wait: float = 0.0
    attempt: int = 0
    reason: str = ""


@operational_error
class PreviousAttemptError(Exception):
    """Raised at the end of a call with retries, with the error of an earlier attempt. `__cause__` is the final error.
    """

    def __init__(self, current: BaseException, previous: BaseException) -> None:
        self.current = current
        self.previous = previous
        super().__init__(f"{describe(current)} - error from a previous attempt: {describe(previous)}")
        self.__cause__ = current


class _WithRetry:
    def __init__(self, max_retries: int) -> None:
        self._max_retries = max_retries
        self._attempts = 0
        # The parameters of the next attempt, from the last one; None before the first and right after each attempt.
        self._retry_after: RetryAfter | None = None
        # The two most recent errors.
        self._previous_err: BaseException | None = None
        self._current_err: BaseException | None = None

    def is_next_retry(
        self,
        ctx: Context,
        rest_req: Request,
        http_req: HTTPRequest,
        response: Response | None,
        err: BaseException | None,
        f: IsRetryableErrorFunc,
    ) -> bool:
        try:
            return self._is_next_retry(rest_req, http_req, response, err, f)
        finally:
            self._track_previous_error(err)

    def _is_next_retry(
        self,
        rest_req: Request,
        http_req: HTTPRequest,
        response: Response | None,
        err: BaseException | None,
        f: IsRetryableErrorFunc,
    ) -> bool:
        if response is None and err is None:
            return False
        if rest_req.has_stream_body():
            return False
        self._attempts += 1
        self._retry_after = RetryAfter(attempt=self._attempts)
        if self._attempts > self._max_retries:
            return False
        if err is not None:
            if not f.is_error_retryable(http_req, err):
                return False
            response = _RETRY_AFTER_ONE_SECOND
        assert response is not None
        seconds = _check_wait(response)
        if seconds is None:
            return False
        self._retry_after.wait = float(seconds)
        self._retry_after.reason = _get_retry_reason(self._attempts, seconds, response, err)
        return True

    def before(self, ctx: Context, request: Request) -> None:
        failure = ctx.err()
        if failure is not None:
            self._track_previous_error(failure)
            raise failure
        url = request.url()
        backoff = request.backoff_manager()
        delay = backoff.calculate_backoff_with_context(ctx, url)
        if self._retry_after is None:
            backoff.sleep_with_context(ctx, delay)
            return
        if self._retry_after.wait >= _LONG_WAIT:
            self._log_long_wait(ctx, redacted_url(url))
        backoff.sleep_with_context(ctx, max(delay, self._retry_after.wait))
        # Every attempt passes the client's own rate limiter, not only the first.
        try:
            request.try_throttle_with_info(ctx, self._retry_after.reason)
        except Exception:
            self._track_previous_error(ctx.err())
            raise
        klog.from_context(ctx).v(4).info(
            "Got a Retry-After response",
            delay=f"{self._retry_after.wait:g}s",
            attempt=self._retry_after.attempt,
            url=redacted_url(url),
        )

    def _log_long_wait(self, ctx: Context, url: str) -> None:
        """Log a wait that looks like a hang. Go logs it only afterwards, and not at the default level."""
        assert self._retry_after is not None
        klog.from_context(ctx).info(
            "The server asks for a long wait before the next attempt (Retry-After)",
            delay=format_duration(self._retry_after.wait),
            attempt=self._retry_after.attempt,
            url=url,
        )

    def after(self, ctx: Context, request: Request, response: Response | None, err: BaseException | None) -> None:
        is_retry = self._retry_after is not None
        self._retry_after = None
        request.count_attempt(ctx, response, is_retry)
        code = response.status_code if response is not None and err is None else 0
        request.backoff_manager().update_backoff_with_context(ctx, request.url(), err, code)

    def wrap_previous_error(self, final_err: Exception) -> Exception:
        previous = self._previous_err
        if previous is None or str(previous) == str(final_err):
            return final_err
        # The final error already contains the URL.
        return PreviousAttemptError(final_err, previous.err if isinstance(previous, URLError) else previous)

    def _track_previous_error(self, err: BaseException | None) -> None:
        if self._current_err is not None:
            self._previous_err = self._current_err
        self._current_err = err


def new_with_retry(max_retries: int) -> WithRetry:
    """Return a retry state for at most `max_retries` attempts after the first."""
    return _WithRetry(max_retries)


# The response that represents a retryable error.
_RETRY_AFTER_ONE_SECOND = Response(status_code=500, headers=Header({"Retry-After": "1"}))


def _check_wait(response: Response) -> int | None:
    if response.status_code != 429 and response.status_code < 500:
        return None
    return retry_after_seconds(response)


def retry_after_seconds(response: Response) -> int | None:
    """Return the seconds in the Retry-After header; None if it is missing or not a number."""
    try:
        return parse_int(response.headers.get("Retry-After", ""))
    except ValueError:
        return None


def _get_retry_reason(retries: int, seconds: int, response: Response, err: BaseException | None) -> str:
    message = f"retries: {retries}, retry-after: {seconds}s - retry-reason: "
    if response.status_code == 429:
        uid = response.headers.get(_FLOW_SCHEMA_HEADER, "")
        return f'{message}due to server-side throttling, FlowSchema UID: "{uid}"'
    if err is not None:
        return f"{message}due to retryable error, error: {describe(err)}"
    return f"{message}{response.status_code}"


def read_and_close_response_body(response: Response | None) -> None:
    """Release the response; reuse its connection if little is left to read."""
    if response is None:
        return
    try:
        # The request has its outcome. No failure here, also not that of an earlier read again, may replace it.
        with contextlib.suppress(Exception):
            length = int(response.headers.get("Content-Length", "-1"))
            if 0 <= length <= _MAX_BODY_SLURP_SIZE:
                response.body.read()
    finally:
        response.close()
