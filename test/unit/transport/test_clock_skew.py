"""A 401 that a clock explains costs one log line, which names the difference and never the token. Beyond Go."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from httpscript import Answer, ScriptedServer

from clientgo import context, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.transport.cache import ClockCheckingTransport

CTX = context.background()
Warnings = Callable[[], list[str]]

# 2026-03-01T12:00:00Z.
NOW = 1772366400.0
HOUR = 3600.0
SIGNATURE = "".join(["sen", "tinel"])


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(**claims: Any) -> str:
    return ".".join([encoded(b'{"alg":"RS256"}'), encoded(json.dumps(claims).encode()), SIGNATURE])


def attempt(server: ScriptedServer, now: float = NOW, **settings: Any) -> rest.RESTClient:
    """Send a request that fails, with the local clock at `now`, and return its client."""
    config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1, **settings)
    config.transport = ClockCheckingTransport(now=lambda: now)
    client = rest.rest_client_for(config)
    again(client)
    return client


def again(client: rest.RESTClient) -> None:
    with pytest.raises(errors.StatusError) as caught:
        client.get().resource("pods").max_retries(0).do(CTX).raw()
    assert errors.is_unauthorized(caught.value) or errors.is_forbidden(caught.value)
    client.client.close_idle_connections()


def rejecting(date: float | str | None, code: int = 401) -> ScriptedServer:
    headers = {"Content-Type": "application/json"}
    if date is not None:
        headers["Date"] = date if isinstance(date, str) else formatdate(date, usegmt=True)
    return ScriptedServer(lambda request: Answer(code, b"{}", headers))


@pytest.mark.parametrize(
    ("offset", "skew"),
    [
        (-90.0, "this machine's clock is 1m30s ahead of the server's clock"),
        (60.0, "this machine's clock is 1m0s behind the server's clock"),
        (26 * HOUR, "this machine's clock is 26h0m0s behind the server's clock"),
    ],
)
@pytest.mark.parametrize("token", ["opaque", jwt(nbf=NOW - 1, exp=NOW + HOUR)])
def test_a_different_clock_is_named_once(offset: float, skew: str, token: str, warnings: Warnings) -> None:
    with rejecting(NOW + offset) as server:
        client = attempt(server, bearer_token=token)
        again(client)

    (line,) = warnings()
    assert f'skew="{skew}"' in line
    assert "this machine's clock differs from the server's: set the clock that is wrong" in line
    assert 'clock="2026-03-01T12:00:00Z"' in line
    assert ('tokenExpiry="2026-03-01T13:00:00Z"' in line) == ("." in token)
    assert token not in line
    assert SIGNATURE not in line


@pytest.mark.parametrize(
    "date", [NOW + 2, None, "yesterday", "Sun, 99 Mar 2026 12:00:00 GMT", "Mon, 01 Jan 99999999999"]
)
def test_an_expired_token_is_named(date: float | str | None, warnings: Warnings) -> None:
    with rejecting(date) as server:
        attempt(server, bearer_token=jwt(nbf=NOW - 2 * HOUR, exp=NOW - HOUR))

    (line,) = warnings()
    assert "the server rejected the bearer token (401), which has expired: renew it" in line
    assert f'expiredSince="{"1h0m2s" if date == NOW + 2 else "1h0m0s"}"' in line
    assert 'tokenExpiry="2026-03-01T11:00:00Z"' in line


@pytest.mark.parametrize("date", [NOW, None])
def test_a_token_of_the_future_is_named(date: float | None, warnings: Warnings) -> None:
    with rejecting(date) as server:
        attempt(server, bearer_token=jwt(nbf=NOW + 600, exp=NOW + HOUR))

    (line,) = warnings()
    assert "which is not yet valid: the clock of the token's issuer is ahead" in line
    assert 'skew="10m0s"' in line
    assert 'tokenNotBefore="2026-03-01T12:10:00Z"' in line


def test_the_clock_of_a_client_without_a_token_is_named(warnings: Warnings) -> None:
    """A client certificate that is not yet valid for the server is a 401 too."""
    with rejecting(NOW - HOUR) as server:
        attempt(server)
    (line,) = warnings()
    assert "1h0m0s ahead of the server's clock" in line


@pytest.mark.parametrize(
    "token",
    [
        "opaque",
        jwt(),
        jwt(exp=NOW + HOUR, nbf=NOW),
        jwt(exp=True, nbf="x"),
        jwt(exp=float("nan"), nbf=float("inf")),
        jwt(exp=-1, nbf=1e300),
        f"a.{encoded(b'[1]')}.c",
        f"a.{encoded(b'[' * 100_000)}.c",
        f"a.{encoded(bytes([255]))}.c",
        "a.%%%.c",
        "a.b",
        "..",
    ],
)
def test_a_token_that_no_clock_explains_is_not_named(token: str, warnings: Warnings) -> None:
    with rejecting(NOW + 59) as server:
        attempt(server, bearer_token=token, now=NOW + 59)
    assert warnings() == []


def test_another_rejection_is_not_explained(warnings: Warnings) -> None:
    with rejecting(NOW + HOUR, 403) as server:
        attempt(server, bearer_token=jwt(exp=NOW - HOUR))
    assert warnings() == []


def test_every_client_checks_clocks(warnings: Warnings) -> None:
    """The transport that a config makes uses the machine's clock."""
    with rejecting(1.0) as server:
        config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
        config.bearer_token = "opaque"
        again(rest.rest_client_for(config))
    (line,) = warnings()
    assert 'serverClock="1970-01-01T00:00:01Z"' in line
