"""The answers to requests during which the server itself fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.testing.apiserver.server import Server
from clientgo.testing.apiserver.store.storage import Unwritten
from clientgo.testing.apiserver.wire.http import Request


@pytest.mark.parametrize(
    ("error", "message", "cause", "logged"),
    [
        (ValueError("what"), "Internal Server Error", "ValueError", '"Request failed" err="ValueError: what"'),
        (Unwritten("disk full"), "Internal error occurred: the change could not be written to disk",
         "Internal error occurred: the change could not be written to disk", '"Could not write" err="'),
    ],
    ids=["an error", "a full disk"],
)  # fmt: skip
def test_a_failure_is_answered_with_a_status_and_logged(
    error: Exception, message: str, cause: str, logged: str, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def fails(*_: Any) -> Any:
        raise error

    server = Server(listen=False)
    try:
        monkeypatch.setattr(server._index, "handle", fails)
        request = Request("GET", "/api", {"authorization": f"Bearer {server.token}"})
        response = server.handle(request, False)
    finally:
        server.stop()

    status = json.loads(response.body)
    assert (response.status, status["code"], status["reason"]) == (500, 500, "InternalError")
    assert (status["message"], status["details"]["causes"]) == (message, [{"message": cause}])
    text = capfd.readouterr().err + caplog.text
    assert logged in text and 'method="GET" path="/api"' in text
