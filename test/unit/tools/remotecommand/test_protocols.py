"""The versions of the protocol on fake streams, and the executor with a fall-back."""

from __future__ import annotations

import io
import queue
import socket
import threading
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import context, klog
from clientgo.apimachinery.util import httpstream
from clientgo.apimachinery.util.httpstream import spdy
from clientgo.apimachinery.util.httpstream.spdy import framer
from clientgo.golang.goroutine import go
from clientgo.golang.http import Header
from clientgo.golang.net import SocketConn
from clientgo.tools import remotecommand
from clientgo.tools.remotecommand import StreamOptions
from clientgo.tools.remotecommand.errorstream import watch_error_stream
from clientgo.tools.remotecommand.session import Session
from clientgo.tools.remotecommand.v2 import ErrorDecoderV2, StreamProtocolV2
from clientgo.tools.remotecommand.v4 import ErrorDecoderV4
from clientgo.tools.remotecommand.versions import handler_of
from clientgo.util.exec import CodeExitError


class FakeStream:
    def __init__(self, *pieces: bytes | Exception) -> None:
        self._pieces = list(pieces)
        self.written: list[bytes] = []

    def read(self, size: int = -1) -> bytes:
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, Exception):
            raise piece
        return piece

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None: ...

    def reset(self) -> None: ...

    def headers(self) -> Header:
        return Header()

    def identifier(self) -> int:
        return 0


class FakeCreator:
    """Creates streams until the type that fails."""

    def __init__(self, fails: str = "") -> None:
        self._fails = fails
        self.created: list[str] = []

    def create_stream(self, headers: Header) -> FakeStream:
        kind = headers["streamType"]
        self.created.append(kind)
        if kind == self._fails:
            raise OSError(f"no {kind}")
        return FakeStream()


def options(*, tty: bool = False) -> StreamOptions:
    return StreamOptions(stdin=io.BytesIO(), stdout=io.BytesIO(), stderr=io.BytesIO(), tty=tty)


def stream(handler: Any, creator: Any, ready: Any = lambda: None) -> None:
    session = Session(klog.background())
    try:
        handler.stream(creator, ready, session)
    finally:
        session.end()
        session.join()


@pytest.mark.parametrize(
    "fails",
    [
        pytest.param("stdin", id="stdin error"),
        pytest.param("stdout", id="stdout error"),
        pytest.param("stderr", id="stderr error"),
        pytest.param("error", id="error stream error"),
    ],
)
def test_a_stream_that_cannot_be_created_is_the_error(fails):
    """Go: TestV2CreateStreams"""
    ready = []
    with pytest.raises(OSError, match=f"no {fails}"):
        stream(StreamProtocolV2(options()), FakeCreator(fails), lambda: ready.append(1))
    assert ready == []


@pytest.mark.parametrize(
    ("tty", "wanted"),
    [
        pytest.param(False, ["error", "stdin", "stdout", "stderr"], id="no errors"),
        pytest.param(True, ["error", "stdin", "stdout"], id="no errors, stderr & tty set, don't expect stderr"),
    ],
)
def test_a_terminal_has_no_stream_of_errors(tty, wanted):
    """Go: TestV2CreateStreams"""
    creator, ready = FakeCreator(), []
    stream(StreamProtocolV2(options(tty=tty)), creator, lambda: ready.append(list(creator.created)))
    assert ready == [wanted]


@pytest.mark.parametrize(
    ("pieces", "wanted"),
    [
        pytest.param(
            (b"some", OSError("no")), "error reading from error stream: no", id="error reading from stream"
        ),
        pytest.param((b"an ", b"error"), "error executing remote command: an error", id="stream returns an error"),
        pytest.param((), None, id="typed error"),
    ],
)
def test_the_error_stream_is_read_to_its_end(pieces, wanted):
    """Go: TestV2ErrorStreamReading"""
    session = Session(klog.background())
    found = watch_error_stream(session, FakeStream(*pieces), ErrorDecoderV2())()
    session.join()
    assert (str(found) if found is not None else None) == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("{}", "error stream protocol error: unknown error"),
        ("{", 'error stream protocol error: unexpected end of JSON input in "{"'),
        ("[]", 'error stream protocol error: no JSON object in "[]"'),
        ('{"status": "Success" }', None),
        (
            '{"status": ["Success"]}',
            "error stream protocol error: json: cannot unmarshal array into Go struct field Status.status of type "
            'string in "{\\"status\\": [\\"Success\\"]}"',
        ),
        (
            '{"status": "Failure", "reason": 7}',
            "error stream protocol error: json: cannot unmarshal number into Go struct field Status.reason of type "
            'v1.StatusReason in "{\\"status\\": \\"Failure\\", \\"reason\\": 7}"',
        ),
        ("[" * 5000 + "]" * 5000, f'error stream protocol error: no JSON object in "{"[" * 5000}{"]" * 5000}"'),
        ('{"status": "Failure", "message": "foobar" }', "foobar"),
        ('{"status": "Failure", "reason": "NonZeroExitCode"}', "error stream protocol error: details must be set"),
        (
            '{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "foo"}] } }',
            "error stream protocol error: no ExitCode cause given",
        ),
        (
            '{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode"}] } }',
            'error stream protocol error: invalid exit code value ""',
        ),
        (
            '{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", '
            '"message": "256"}] } }',
            'error stream protocol error: invalid exit code value "256"',
        ),
        (
            '{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", '
            '"message": "42"}] } }',
            "command terminated with exit code 42",
        ),
    ],
)
def test_the_end_of_a_command_is_a_status(message, wanted):
    """Go: TestV4ErrorDecoder"""
    found = ErrorDecoderV4().decode(message.encode())
    assert (str(found) if found is not None else None) == wanted
    assert isinstance(found, CodeExitError) == (wanted is not None and wanted.startswith("command"))


def test_a_protocol_that_the_server_invents_is_an_error():
    with pytest.raises(ValueError, match='^the server chose an unknown streaming protocol: "v9"$'):
        handler_of("v9", options(), klog.background())


STATUS = b'{"status": "Success"}'
LOST = "rror reading from error stream: the connection was lost before the server reported the end of the command"


@pytest.mark.parametrize("version", ["", "v2.", "v3.", "v4.", "v5."])
@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        pytest.param(lambda server, error: server.lose(), LOST, id="lost"),
        pytest.param(lambda server, error: server.conn.close(), None, id="closed in order, as after an attach"),
        pytest.param(lambda server, error: server.announce(), None, id="only announced"),
        pytest.param(lambda server, error: (error.close(), server.lose()), None, id="error stream closed, then lost"),
        pytest.param(lambda server, error: (error.reset(), server.lose()), None, id="error stream reset, then lost"),
    ],
)
def test_only_a_connection_that_is_lost_without_a_status_is_an_error(version, end, wanted):
    """Go returns success for all of these over SPDY."""
    output = io.BytesIO()
    with SPDYServer() as server:
        run, error, stdout = server.run(f"{version}channel.k8s.io", StreamOptions(stdout=output))
        assert (error.headers()["streamType"], stdout.headers()["streamType"]) == ("error", "stdout")
        stdout.write(b"half")
        end(server, error)
        if wanted is None:
            run.result()
        else:
            with pytest.raises(OSError, match=wanted):
                run.result()
    assert output.getvalue() == b"half"


def test_a_status_counts_even_if_the_connection_is_lost_right_after_it():
    with SPDYServer() as server:
        run, error, _ = server.run("v4.channel.k8s.io", StreamOptions(stdout=io.BytesIO()))
        error.write(STATUS)
        server.lose()
        run.result()


class SPDYServer:
    """A server's end of a SPDY connection whose other end is `client`."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._accepted: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.conn = spdy.new_server_connection(SocketConn(ours), lambda stream, sent: self._accepted.put(stream))
        self.client = spdy.new_client_connection(SocketConn(theirs))

    def run(self, protocol: str, options: StreamOptions) -> list[Any]:
        """Return the client's run of a command, and its two streams, after the client has got the replies."""
        handler, ready = handler_of(protocol, options, klog.background()), threading.Event()
        run = go(lambda: stream(handler, self.client, ready.set), "test-command")
        streams = [self._accepted.get(timeout=PATIENCE) for _ in range(2)]
        assert ready.wait(PATIENCE)
        return [run, *streams]

    def lose(self) -> None:
        """End the connection without a word."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def announce(self) -> None:
        """Announce the end of the connection, which the client then closes."""
        self.conn.send_quietly(framer.Encoder().go_away(3))

    def __enter__(self) -> SPDYServer:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self.client, self.conn):
            each.close()
            each.join()


class FakeExecutor:
    def __init__(self, failure: Exception | None = None) -> None:
        self._failure = failure
        self.calls: list[StreamOptions] = []

    def stream(self, options: StreamOptions) -> None:
        self.stream_with_context(context.background(), options)

    def stream_with_context(self, ctx: context.Context, options: StreamOptions) -> None:
        self.calls.append(options)
        if self._failure is not None:
            raise self._failure


REFUSED = httpstream.UpgradeFailureError(ValueError("websocket: bad handshake"))
EXITED = CodeExitError(err=RuntimeError("command terminated with exit code 7"), code=7)


@pytest.mark.parametrize(
    ("first", "second", "calls", "wanted"),
    [
        pytest.param(None, None, (1, 0), None, id="Go: TestFallbackClient_WebSocketPrimarySucceeds"),
        pytest.param(REFUSED, None, (1, 1), None, id="Go: TestFallbackClient_SPDYSecondarySucceeds"),
        pytest.param(REFUSED, OSError("lost"), (1, 1), "lost", id="Go: TestFallbackClient_PrimaryAndSecondaryFail"),
        pytest.param(REFUSED, EXITED, (1, 1), str(EXITED), id="Go: TestFallbackClient_SPDYSecondaryNonZeroExitCode"),
        pytest.param(EXITED, None, (1, 0), str(EXITED), id="an exit code is no reason for a second run"),
    ],
)
def test_the_second_executor_runs_only_after_a_refused_upgrade(first, second, calls, wanted):
    primary, secondary = FakeExecutor(first), FakeExecutor(second)
    executor = remotecommand.new_fallback_executor(primary, secondary, httpstream.is_upgrade_failure)
    given = StreamOptions(stdout=io.BytesIO())
    try:
        executor.stream(given)
        found = None
    except Exception as err:
        found = str(err)
    assert found == wanted
    assert (len(primary.calls), len(secondary.calls)) == calls
    assert all(each is given for each in (*primary.calls, *secondary.calls))
