"""Backoff for overloaded servers. Mirrors rest/urlbackoff.go. URLs are strings, durations seconds."""

from __future__ import annotations

from typing import Protocol, cast, runtime_checkable
from urllib.parse import urlsplit

from clientgo import context, klog
from clientgo.context import Context
from clientgo.util import flowcontrol
from clientgo.utils.clock.clock import REAL_CLOCK, WithDelayedExecution

_SERVER_IS_OVERLOADED = frozenset({429})
_MAX_RESPONSE_CODE = 499


@runtime_checkable
class BackoffManager(Protocol):
    """A backoff between the requests to a server. Deprecated: its sleep cannot be cancelled."""

    def update_backoff(self, actual_url: str, err: BaseException | None, response_code: int, /) -> None: ...

    def calculate_backoff(self, actual_url: str, /) -> float: ...

    def sleep(self, d: float, /) -> None: ...


@runtime_checkable
class BackoffManagerWithContext(Protocol):
    """A backoff between the requests to a server."""

    def update_backoff_with_context(
        self, ctx: Context, actual_url: str, err: BaseException | None, response_code: int, /
    ) -> None:
        """Record the result of a request; `response_code` is 0 if there was an error instead."""
        ...

    def calculate_backoff_with_context(self, ctx: Context, actual_url: str, /) -> float:
        """Return the seconds to wait before the next request."""
        ...

    def sleep_with_context(self, ctx: Context, d: float, /) -> None:
        """Block for `d` seconds or until the context is done."""
        ...


class URLBackoff:
    """A backoff that doubles the delay for each host that responds with 429 or 5xx, and resets it after a success."""

    def __init__(self, backoff: flowcontrol.Backoff) -> None:
        self.backoff = backoff

    def disable(self) -> None:
        """Disable all delays. Go: Disable."""
        self.backoff = flowcontrol.new_back_off(0.0, 0.0)

    def update_backoff(self, actual_url: str, err: BaseException | None, response_code: int) -> None:
        self.update_backoff_with_context(context.background(), actual_url, err, response_code)

    def update_backoff_with_context(
        self, ctx: Context, actual_url: str, err: BaseException | None, response_code: int
    ) -> None:
        if response_code > _MAX_RESPONSE_CODE or response_code in _SERVER_IS_OVERLOADED:
            self.backoff.next(_base_url_key(actual_url), self.backoff.clock.now())
            return
        if response_code >= 300 or err is not None:
            klog.from_context(ctx).v(4).info("Client is returning errors", code=response_code, err=err)
        self.backoff.reset(_base_url_key(actual_url))

    def calculate_backoff(self, actual_url: str) -> float:
        return self.backoff.get(_base_url_key(actual_url))

    def calculate_backoff_with_context(self, ctx: Context, actual_url: str) -> float:
        return self.calculate_backoff(actual_url)

    def sleep(self, d: float) -> None:
        self.sleep_with_context(context.background(), d)

    def sleep_with_context(self, ctx: Context, d: float) -> None:
        if d > 0:
            context.sleep(ctx, d, cast(WithDelayedExecution, self.backoff.clock))


def _base_url_key(url: str) -> str:
    return urlsplit(url).netloc


class NoBackoff:
    """A backoff without delays of its own, which sleeps when a server asks for it."""

    def __init__(self, clock: WithDelayedExecution | None = None) -> None:
        self._clock = clock or REAL_CLOCK

    def update_backoff(self, actual_url: str, err: BaseException | None, response_code: int) -> None: ...

    def update_backoff_with_context(
        self, ctx: Context, actual_url: str, err: BaseException | None, response_code: int
    ) -> None: ...

    def calculate_backoff(self, actual_url: str) -> float:
        return 0.0

    def calculate_backoff_with_context(self, ctx: Context, actual_url: str) -> float:
        return 0.0

    def sleep(self, d: float) -> None:
        self.sleep_with_context(context.background(), d)

    def sleep_with_context(self, ctx: Context, d: float) -> None:
        if d > 0:
            context.sleep(ctx, d, self._clock)


class _BackoffManagerNopContext:
    """An adapter from BackoffManager to BackoffManagerWithContext."""

    def __init__(self, manager: BackoffManager) -> None:
        self._manager = manager

    def update_backoff_with_context(
        self, ctx: Context, actual_url: str, err: BaseException | None, response_code: int
    ) -> None:
        self._manager.update_backoff(actual_url, err, response_code)

    def calculate_backoff_with_context(self, ctx: Context, actual_url: str) -> float:
        return self._manager.calculate_backoff(actual_url)

    def sleep_with_context(self, ctx: Context, d: float) -> None:
        self._manager.sleep(d)
