"""Credentials while the program runs: they follow their rotation, and appear nowhere but in the requests."""

from __future__ import annotations

import json
import threading
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from httpscript import Answer, ScriptedServer, status
from virtualserver import Call, Reply, VirtualServer, document, event, failure, pod, pod_informer, pod_list

from clientgo import context, klog, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.testing import synctest
from clientgo.tools.clientcmd import api
from clientgo.transport import token_source

CTX = context.background()
SECRET = "s3cr3t-t0k3n"


# --- rotation ---


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What every reading of a token file gave."""
    seen: list[str] = []
    read = token_source._FileTokenSource.token

    def counted(self: token_source._FileTokenSource) -> token_source.Token:
        try:
            token = read(self)
        except Exception as err:
            seen.append(type(err).__name__)
            raise
        seen.append(token.access_token)
        return token

    monkeypatch.setattr(token_source._FileTokenSource, "token", counted)
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
    """As while the kubelet replaces the file; a rotation that went wrong must not make the client anonymous."""
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
            assert reads, "it was tried"
            assert set(reads) <= {"OSError", "ValueError"}
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


# --- secrecy ---


def everything_about(err: BaseException | None) -> Iterator[str]:
    """All texts of an error and of those behind it."""
    seen: list[BaseException] = []
    while err is not None and err not in seen:
        seen.append(err)
        yield from (str(err), repr(err), repr(err.args), *getattr(err, "__notes__", ()))
        yield from traceback.format_exception(err)
        err = err.__cause__ or err.__context__


def with_token(url: str, _: Path) -> rest.Config:
    return rest.Config(host=url, bearer_token=SECRET)


def with_token_file(url: str, folder: Path) -> rest.Config:
    (folder / "token").write_text(SECRET)
    return rest.Config(host=url, bearer_token_file=str(folder / "token"))


def with_password(url: str, _: Path) -> rest.Config:
    return rest.Config(host=url, username="user", password=SECRET)


def with_password_in_url(url: str, _: Path) -> rest.Config:
    return rest.Config(host=url.replace("://", f"://user:{SECRET}@"))


def with_exec(url: str, folder: Path) -> rest.Config:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": SECRET}}
    program = folder / "plugin.sh"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    program.chmod(0o700)
    config = rest.Config(host=url)
    config.exec_provider = api.ExecConfig(
        command=str(program), api_version="client.authentication.k8s.io/v1", interactive_mode="Never"
    )
    return config


def with_newline(url: str, _: Path) -> rest.Config:
    return rest.Config(host=url, bearer_token=f"{SECRET}\n{SECRET}")


def with_newline_in_file(url: str, folder: Path) -> rest.Config:
    (folder / "token").write_text(f"{SECRET}\r\nX-Evil: {SECRET}")
    return rest.Config(host=url, bearer_token_file=str(folder / "token"))


def with_foreign_letters(url: str, _: Path) -> rest.Config:
    return rest.Config(host=url, bearer_token=f"{SECRET}\u20ac{SECRET}")


CONFIGS = [
    with_token,
    with_token_file,
    with_password,
    with_password_in_url,
    with_exec,
    with_newline,
    with_newline_in_file,
    with_foreign_letters,
]

ANSWERS: dict[str, Callable[[], Answer]] = {
    "200": lambda: Answer(200, json.dumps(pod_list("1", "a")).encode()),
    "401": lambda: status(401, "Unauthorized", "no"),
    "429": lambda: status(429, "TooManyRequests", "busy"),
    "500": lambda: Answer(500, b"not even JSON"),
    "hang up": lambda: Answer(hang_up=True),
    "half a body": lambda: Answer(200, b'{"kind":', claimed_length=100, hang_up=True),
    "redirect": lambda: Answer(302, b"", {"Location": "http://127.0.0.1:1/"}),
}


@pytest.fixture
def verbose(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The log at the highest verbosity."""
    before = klog.verbosity()
    caplog.set_level(0, logger="clientgo")
    klog.set_verbosity(10)
    yield caplog
    klog.set_verbosity(before)


@pytest.mark.parametrize("configure", CONFIGS, ids=lambda configure: configure.__name__)
@pytest.mark.parametrize("answer", ANSWERS)
def test_no_credential_in_any_log_line_exception_or_repr(
    answer: str, configure: Callable[[str, Path], rest.Config], tmp_path: Path, verbose: pytest.LogCaptureFixture
) -> None:
    texts: list[str] = []
    with ScriptedServer(lambda request: ANSWERS[answer]()) as server:
        config = configure(server.url, tmp_path)
        config.group_version = GroupVersion("", "v1")
        config.qps = -1
        client = rest.rest_client_for(config)
        for call in (lambda request: request.do(CTX).raw(), lambda request: request.watch(CTX).stop()):
            request = client.get().resource("pods").max_retries(0)
            try:
                call(request)
            except Exception as err:
                texts += everything_about(err)
            texts.append(repr(request))
        texts += [str(config), repr(config), repr(client), repr(client.client), repr(client.client.transport)]
        texts += [str(config.transport_config()), repr(config.transport_config())]
        client.close()
    texts.append(verbose.text)
    assert len(verbose.text) > 100, "it was logged at all"
    for text in texts:
        assert SECRET not in text
        assert b64encode(f"user:{SECRET}".encode()).decode() not in text


def test_nobody_listening_tells_no_credential_either(tmp_path: Path, verbose: pytest.LogCaptureFixture) -> None:
    for number, configure in enumerate(CONFIGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        config = configure("http://127.0.0.1:1", folder)
        config.group_version = GroupVersion("", "v1")
        with pytest.raises(Exception) as caught:
            rest.rest_client_for(config).get().resource("pods").do(CTX).raw()
        assert SECRET not in "".join(everything_about(caught.value))
    assert SECRET not in verbose.text
