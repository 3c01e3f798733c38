"""The log line and the response of a check that fails with an exception whose text is unclear."""

from __future__ import annotations

import re
from email.message import Message
from typing import Any

import pytest

from clientgo.controller_runtime import healthz
from clientgo.golang.http.server import Request, ResponseWriter


def failing(req: Any) -> None:
    raise KeyError("ready")


def unready(req: Any) -> None:
    raise AssertionError


def drained(req: Any) -> bool:
    """Report a state as in other frameworks, where the result counts."""
    return False


def get(handler: healthz.Handler, path: str) -> tuple[int, str]:
    resp = ResponseWriter()
    handler.serve_http(resp, Request("GET", path, Message()))
    return resp.status, resp.body.decode()


def test_the_log_line_has_the_reason_and_the_response_does_not(caplog: pytest.LogCaptureFixture) -> None:
    status, text = get(healthz.Handler({"cache": failing, "alive": healthz.ping}), "/")
    assert status == 500
    assert text == "[+]alive ok\n[-]cache failed: reason withheld\nhealthz check failed\n"
    (line,) = caplog.messages
    assert "KeyError: 'ready'" in line and "cache" in line
    assert re.search(r"KeyError: 'ready' at test_healthz.py:\d+ in failing", line)


def test_the_response_of_one_check_names_the_type_of_an_unclear_error() -> None:
    handler = healthz.Handler({"cache": failing, "leader": unready})
    assert get(handler, "/cache") == (500, "internal server error: KeyError: 'ready'\n")
    assert get(handler, "/leader") == (500, "internal server error: AssertionError\n")


def test_a_check_that_returns_false_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    handler = healthz.Handler({"pool": drained, "queue": lambda req: True, "alive": healthz.ping})
    assert get(handler, "/")[0] == 500
    status, text = get(handler, "/pool")
    assert status == 500
    assert text.endswith(".drained returned False: raise an exception with the reason\n")
    assert get(handler, "/queue") == (200, "ok")
    assert "drained returned False" in caplog.text
