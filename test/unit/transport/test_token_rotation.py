"""A whole informer while its token file is rotated: it reads the file seldom, and at once where it must."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from virtualserver import Call, Reply, VirtualServer, document, event, failure, pod, pod_informer, pod_list

from clientgo.testing import synctest
from clientgo.transport import token_source


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the tokens that were read from the file; "" for each read that gave none."""
    seen: list[str] = []
    read = token_source.read_file

    def counted(path: str) -> bytes:
        data = b""
        try:
            data = read(path)
        finally:
            seen.append(data.decode().strip())
        return data

    monkeypatch.setattr(token_source, "read_file", counted)
    return seen


class Guarded:
    """A virtual server that knows one token, and an informer with a token file."""

    def __init__(self, bubble: synctest.Bubble, path: Path) -> None:
        self.path = path
        self.accepted = "old"
        self.refused = 0
        path.write_text("old\n")
        self.server = VirtualServer(bubble, self._answer)
        self.informer = pod_informer(self.server, bearer_token_file=str(path))

    def rotate(self) -> None:
        self.path.write_text("new\n")
        self.accepted = "new"

    def _answer(self, call: Call) -> Reply:
        if call.headers["Authorization"] != f"Bearer {self.accepted}":
            self.refused += 1
            return failure(401, "Unauthorized")
        if call.verb == "list":
            return document(200, pod_list("1", self.accepted))
        initial = {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}
        lines = [event("ADDED", pod(self.accepted, "1")), event("BOOKMARK", pod("", "1") | {"metadata": initial})]
        # The watch ends soon, so that there are many requests.
        return Reply(pieces=[*((0.0, line) for line in lines), (5.0, event("MODIFIED", pod(self.accepted, "2")))])


@pytest.fixture
def guarded(tmp_path: Path) -> Callable[[synctest.Bubble], Guarded]:
    return lambda bubble: Guarded(bubble, tmp_path / "token")


def run(informer: Any, during: Callable[[], None]) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=informer.run, args=(stop,), name="informer")
    thread.start()
    try:
        during()
    finally:
        stop.set()
        thread.join()


def test_a_token_that_is_accepted_is_read_at_most_each_minute(guarded: Any, reads: list[str]) -> None:
    """To be exact each 50 seconds, ten before the minute is over, as by client-go."""
    with synctest.bubble() as bubble:
        under_test = guarded(bubble)

        def ten_minutes() -> None:
            reads.clear()
            bubble.sleep(600.0)

        run(under_test.informer, ten_minutes)
        assert len(under_test.server.calls) > 100
        assert 10 <= len(reads) <= 12


def test_a_token_that_is_refused_is_read_at_once(guarded: Any, reads: list[str]) -> None:
    with synctest.bubble() as bubble:
        under_test = guarded(bubble)

        def rotation() -> None:
            bubble.sleep(7.0)
            reads.clear()
            under_test.rotate()
            bubble.sleep(10.0)

        run(under_test.informer, rotation)
        assert under_test.refused == 1, "the one that told that the token is old"
        assert reads == ["new"]
        assert "new" in under_test.informer.get_store().list_keys()


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a blank file", "a folder"])
def test_without_a_new_token_the_old_one_is_kept(left: str, guarded: Any, reads: list[str]) -> None:
    """The kubelet may be replacing the file. A failed rotation must not make the client anonymous."""
    with synctest.bubble() as bubble:
        under_test = guarded(bubble)

        def rotation() -> None:
            bubble.sleep(7.0)
            under_test.path.unlink()
            if left == "a folder":
                under_test.path.mkdir()
            elif left != "nothing":
                under_test.path.write_text(" \n" if left == "a blank file" else "")
            reads.clear()
            bubble.sleep(120.0)
            assert under_test.refused == 0
            assert {*reads} == {""}, "it was tried"
            if left == "a folder":
                under_test.path.rmdir()
            under_test.rotate()
            bubble.sleep(10.0)

        run(under_test.informer, rotation)
        assert "new" in under_test.informer.get_store().list_keys()


def test_a_server_that_refuses_every_token_is_asked_no_more_often_than_any_that_fails(
    guarded: Any, reads: list[str]
) -> None:
    with synctest.bubble() as bubble:
        under_test = guarded(bubble)
        under_test.accepted = "another"
        run(under_test.informer, lambda: bubble.sleep(4.0))
        # A stream and a list a pass; two or three passes.
        assert 4 <= under_test.refused <= 6
        assert len(reads) <= 1 + under_test.refused
