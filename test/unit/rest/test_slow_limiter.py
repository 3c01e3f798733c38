"""A client that its own rate limit makes slow logs the remedy, once."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.rest import request as request_module
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()
REMEDY = "raise qps and burst in its rest.Config"


class SlowBucket:
    """A rate limiter of the user's that delays each request."""

    def __init__(self, clock: FakeClock, delay: float) -> None:
        self._clock, self._delay = clock, delay

    def wait(self, ctx: context.Context) -> None:
        self._clock.step(self._delay)


class Unhashable(SlowBucket):
    __hash__ = None  # type: ignore[assignment]


class SleptClock(FakeClock):
    """A clock whose sleepers wake at once, when their time is over."""

    def wait(self, cond: Any, timeout: float | None = None) -> bool:
        self.step(timeout or 0.0)
        return False


@pytest.fixture
def clock(monkeypatch: Any) -> SleptClock:
    clock = SleptClock(1000.0)
    # The process has one of them, and it logs one line in ten seconds of all tests.
    monkeypatch.setattr(request_module, "GLOBAL_THROTTLED_LOGGER", request_module._ThrottledLogger(clock))
    return clock


def send(clock: FakeClock, limiter: Any, requests: int, pause: float = 0.0) -> None:
    """Let requests of two clients with one limiter, as those of a clientset, pass the limiter."""
    for resource in ("pods", "nodes"):
        config = rest.Config(host="https://server", group_version=GroupVersion("", "v1"), rate_limiter=limiter)
        client = rest.rest_client_for(config)
        client.clock = clock
        for _ in range(requests):
            client.get().resource(resource).try_throttle_with_info(CTX)
            clock.step(pause)


def bucket(clock: Any, qps: float, burst: int) -> flowcontrol.RateLimiter:
    return flowcontrol.new_token_bucket_rate_limiter_with_clock(qps, burst, clock)


def remedies(caplog: Any, text: str = REMEDY) -> list[str]:
    return [record.getMessage() for record in caplog.records if text in record.getMessage()]


@pytest.mark.parametrize(
    ("qps", "burst", "requests"),
    [(0.5, 1, 3), (5.0, 10, 40)],
    ids=["one request waits for seconds", "many requests wait for a moment each"],
)
def test_a_client_slowed_down_by_its_rate_limit_logs_qps_and_burst_once(caplog, clock, qps, burst, requests):
    with caplog.at_level("INFO"):
        send(clock, bucket(clock, qps, burst), requests)
    [line] = remedies(caplog)
    assert f"qps={qps:g}" in line.partition('limit"')[2]
    assert f"burst={burst}" in line.partition('limit"')[2]


def test_each_rate_limiter_has_a_line_of_its_own(caplog, clock):
    with caplog.at_level("INFO"):
        send(clock, bucket(clock, 0.5, 1), 3)
        send(clock, bucket(clock, 0.5, 1), 3)
    assert len(remedies(caplog)) == 2


def test_short_waits_now_and_then_are_not_logged(caplog, clock):
    """Less than ten seconds of waiting in a minute, for an hour."""
    with caplog.at_level("INFO"):
        send(clock, SlowBucket(clock, 0.9), 300, pause=6.0)
    assert not remedies(caplog, "delays its requests")


def test_a_rate_limiter_of_the_users_own_is_named(caplog, clock):
    with caplog.at_level("INFO"):
        send(clock, SlowBucket(clock, 2.0), 2)
    [line] = remedies(caplog, "set a faster rate_limiter")
    assert 'rateLimiter="SlowBucket"' in line


def test_a_rate_limiter_that_is_not_hashable_fails_no_request(caplog, clock):
    with caplog.at_level("INFO"):
        send(clock, Unhashable(clock, 2.0), 2)
    assert clock.now() == 1008.0
    assert not remedies(caplog, "delays its requests")
