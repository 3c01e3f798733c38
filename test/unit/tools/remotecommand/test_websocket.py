"""Commands over a WebSocket, against a scripted server: streams, exit codes, and connections that fail."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import random
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from patience import PATIENCE
from streamserver import (
    CLOSE,
    ERROR,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
    SUCCESS,
    V5,
    exit_status,
    finish,
    read_stdin,
    say,
    stream_server,
)
from websockets.sync.server import ServerConnection

from clientgo import context, klog
from clientgo.apimachinery.util import httpstream
from clientgo.golang.goroutine import go
from clientgo.golang.http import Header
from clientgo.golang.stop import Signal
from clientgo.golang.time import now
from clientgo.rest import Config
from clientgo.tools import remotecommand
from clientgo.tools.remotecommand import StreamOptions, TerminalSize
from clientgo.tools.remotecommand import websocket as module
from clientgo.tools.remotecommand.v2 import StreamProtocolV2
from clientgo.tools.remotecommand.v3 import StreamProtocolV3
from clientgo.tools.remotecommand.v4 import StreamProtocolV4
from clientgo.tools.remotecommand.v5 import StreamProtocolV5
from clientgo.tools.remotecommand.versions import handler_of
from clientgo.transport.websocket.conn import Conn
from clientgo.util.exec import CodeExitError


def run(
    url: str, options: StreamOptions, *, ctx: context.Context | None = None, protocols: tuple[str, ...] = (V5,)
) -> Any:
    executor = remotecommand.new_web_socket_executor_for_protocols(Config(host=url), "GET", url, *protocols)
    executor.stream_with_context(ctx or context.background(), options)
    return executor


def copier(channel: int, status: dict[str, Any]) -> Callable[[ServerConnection], None]:
    def script(conn: ServerConnection) -> None:
        for data in read_stdin(conn):
            say(conn, channel, data)
        finish(conn, status)

    return script


def test_input_comes_back_as_output_whatever_bytes_it_has():
    """Go: TestWebSocketClient_LoopbackStdinToStdout"""
    sent = random.Random(1).randbytes(1 << 20)
    output = io.BytesIO()
    with stream_server(copier(STDOUT, SUCCESS)) as url:
        executor = run(url, StreamOptions(stdin=io.BytesIO(sent), stdout=output))
    assert output.getvalue() == sent
    assert executor.negotiated == V5


@pytest.mark.parametrize("size", [1, 1023, 32 << 10, 200_000])
def test_a_message_may_have_any_size_and_any_number_of_fragments(size):
    """Go: TestWebSocketClient_DifferentBufferSizes"""
    sent = random.Random(size).randbytes(size)
    output = io.BytesIO()

    def script(conn: ServerConnection) -> None:
        whole = bytes((STDOUT,)) + sent
        # A message in fragments, the first one empty.
        conn.send([b"", *(whole[start : start + 5000] for start in range(0, len(whole), 5000))])
        conn.send(bytes((STDOUT,)) + sent)
        finish(conn, SUCCESS)

    with stream_server(script) as url:
        run(url, StreamOptions(stdout=output))
    assert output.getvalue() == sent * 2


def test_a_pipe_is_read_until_its_other_end_closes():
    """Go: TestWebSocketClient_LoopbackStdinAsPipe"""
    read_end, write_end = os.pipe()
    output = io.BytesIO()

    def write() -> None:
        with open(write_end, "wb") as pipe:
            for number in range(100):
                pipe.write(b"%d\n" % number)
                pipe.flush()

    writer = go(write, "test-writer")
    with stream_server(copier(STDOUT, SUCCESS)) as url, open(read_end, "rb") as pipe:
        run(url, StreamOptions(stdin=pipe, stdout=output))
    writer.result()
    assert output.getvalue() == b"".join(b"%d\n" % number for number in range(100))


def test_standard_error_has_its_own_stream():
    """Go: TestWebSocketClient_LoopbackStdinToStderr"""
    output, errors = io.BytesIO(), io.BytesIO()
    with stream_server(copier(STDERR, SUCCESS)) as url:
        run(url, StreamOptions(stdin=io.BytesIO(b"bad"), stdout=output, stderr=errors))
    assert (output.getvalue(), errors.getvalue()) == (b"", b"bad")


def test_both_outputs_arrive_complete_when_they_alternate():
    """Go: TestWebSocketClient_MultipleReadChannels"""
    output, errors = io.BytesIO(), io.BytesIO()

    def script(conn: ServerConnection) -> None:
        for data in read_stdin(conn):
            say(conn, STDOUT, data)
            say(conn, STDERR, data)
        finish(conn, SUCCESS)

    sent = random.Random(3).randbytes(300_000)
    with stream_server(script) as url:
        run(url, StreamOptions(stdin=io.BytesIO(sent), stdout=output, stderr=errors))
    assert output.getvalue() == errors.getvalue() == sent


@pytest.mark.parametrize("code", [1, 42, 255])
def test_an_exit_code_is_an_error_with_this_code(code):
    """Go: TestWebSocketClient_ErrorStream"""
    errors = io.BytesIO()
    with stream_server(copier(STDERR, exit_status(code))) as url, pytest.raises(CodeExitError) as caught:
        run(url, StreamOptions(stdin=io.BytesIO(b"seen"), stderr=errors))
    assert (caught.value.exit_status(), str(caught.value)) == (code, f"command terminated with exit code {code}")
    assert errors.getvalue() == b"seen"


class Sizes:
    """Sizes of a terminal; the end comes when the test says so."""

    def __init__(self, *sizes: TerminalSize) -> None:
        self._sizes = list(sizes)
        self.ended = threading.Event()

    def next(self) -> TerminalSize | None:
        if self._sizes:
            return self._sizes.pop(0)
        self.ended.wait(PATIENCE)
        return None


def test_sizes_of_the_terminal_and_input_share_the_connection():
    """Go: TestWebSocketClient_MultipleWriteChannels"""
    seen: dict[int, bytes] = {STDIN: b"", RESIZE: b""}
    sizes = Sizes(TerminalSize(80, 24), TerminalSize(200, 50))

    def script(conn: ServerConnection) -> None:
        closed = False
        while not closed or seen[RESIZE].count(b"\n") < 2:
            message = conn.recv()
            if message[0] == CLOSE:
                closed = True
            else:
                seen[message[0]] += message[1:]
        sizes.ended.set()
        finish(conn, SUCCESS)

    with stream_server(script) as url:
        options = StreamOptions(stdin=io.BytesIO(b"typed"), stdout=io.BytesIO(), tty=True, terminal_size_queue=sizes)
        run(url, options)
    assert seen == {STDIN: b"typed", RESIZE: b'{"Width":80,"Height":24}\n{"Width":200,"Height":50}\n'}


def test_in_a_terminal_there_is_no_stream_of_errors():
    messages = []

    def script(conn: ServerConnection) -> None:
        say(conn, STDERR, b"to nowhere")  # an unknown stream is discarded
        say(conn, STDOUT, b"shown")
        messages.append(conn.subprotocol)
        finish(conn, SUCCESS)

    output, errors = io.BytesIO(), io.BytesIO()
    with stream_server(script) as url:
        run(url, StreamOptions(stdout=output, stderr=errors, tty=True))
    assert (output.getvalue(), errors.getvalue(), messages) == (b"shown", b"", [V5])


def test_each_version_of_the_protocol_has_its_handler():
    """Go: TestWebSocketClient_ProtocolVersions"""
    logger = klog.background()
    handlers = [type(handler_of(f"v{number}.channel.k8s.io", StreamOptions(), logger)) for number in range(2, 6)]
    assert handlers == [StreamProtocolV2, StreamProtocolV3, StreamProtocolV4, StreamProtocolV5]
    first = type(handler_of("channel.k8s.io", StreamOptions(), logger))
    assert type(handler_of("", StreamOptions(), logger)) is first


@pytest.mark.parametrize("version", [V5, "v4.channel.k8s.io"])
def test_the_server_chooses_among_the_offered_versions(version):
    output = io.BytesIO()

    def script(conn: ServerConnection) -> None:
        say(conn, STDOUT, str(conn.subprotocol).encode())
        finish(conn, SUCCESS)

    with stream_server(script, subprotocols=[version]) as url:
        run(url, StreamOptions(stdout=output), protocols=(V5, "v4.channel.k8s.io"))
    assert output.getvalue() == version.encode()


def test_before_version_4_the_error_is_a_text():
    def script(conn: ServerConnection) -> None:
        say(conn, ERROR, b"no such file")

    with stream_server(script, subprotocols=["v3.channel.k8s.io"]) as url, pytest.raises(RuntimeError) as caught:
        run(url, StreamOptions(stdout=io.BytesIO()), protocols=("v3.channel.k8s.io",))
    assert str(caught.value) == "error executing remote command: no such file"


def test_version_1_ends_with_its_outputs():
    output = io.BytesIO()
    with (
        stream_server(lambda conn: say(conn, STDOUT, b"old"), subprotocols=["channel.k8s.io"]) as url
    ):
        run(url, StreamOptions(stdout=output), protocols=("channel.k8s.io",))
    assert output.getvalue() == b"old"


def test_version_1_reports_an_error_as_a_text():
    def script(conn: ServerConnection) -> None:
        say(conn, ERROR, b"not here")

    with stream_server(script, subprotocols=["channel.k8s.io"]) as url, pytest.raises(RuntimeError) as caught:
        run(url, StreamOptions(), protocols=("channel.k8s.io",))
    assert str(caught.value) == "Error executing remote command: not here"


def test_a_server_without_the_version_refuses_the_upgrade():
    """Go: TestWebSocketClient_BadHandshake"""
    with stream_server(lambda conn: None, subprotocols=["other"]) as url, pytest.raises(Exception) as caught:
        run(url, StreamOptions(stdout=io.BytesIO()))
    assert httpstream.is_upgrade_failure(caught.value)
    assert "bad handshake" in str(caught.value)


@pytest.mark.parametrize("first", [b"", b"\x8a\x00"], ids=["no pong at all", "no other pong after one"])
def test_a_peer_that_answers_no_ping_is_given_up(first):
    """Go: TestWebSocketClient_HeartbeatTimeout"""
    stop = Signal()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server = go(lambda: _shake_hands_and_be_silent(listener, stop, first), "test-silent-server")
        executor: Any = remotecommand.new_web_socket_executor(Config(host=url), "GET", url)
        executor.heartbeat_period, executor.heartbeat_deadline = 0.01, 0.2
        with pytest.raises(OSError, match="error reading from error stream: next reader: read: i/o timeout"):
            executor.stream_with_context(context.background(), StreamOptions(stdout=io.BytesIO()))
        stop.set()
        server.result()


def _shake_hands_and_be_silent(listener: socket.socket, stop: Signal, first: bytes) -> None:
    from clientgo.transport.websocket.handshake import ServerHandshake

    sock, _ = listener.accept()
    with sock:
        protocol = ServerHandshake(V5)
        events: list[Any] = []
        while not events:
            protocol.receive_data(sock.recv(65536))
            events = protocol.events_received()
        protocol.send_response(protocol.accept(events[0]))
        sock.sendall(b"".join(protocol.data_to_send()) + first)
        stop.wait(PATIENCE)


def test_pongs_keep_a_silent_command_alive(monkeypatch: pytest.MonkeyPatch):
    """Go: TestWebSocketClient_HeartbeatSucceeds"""
    output, started = io.BytesIO(), now()
    deadlines: list[float] = []
    moved_often = Signal()
    set_read_deadline = Conn.set_read_deadline

    def record(conn: Conn, when: float) -> None:
        deadlines.append(when)
        set_read_deadline(conn, when)
        if len(deadlines) > 5:
            moved_often.set()

    def script(conn: ServerConnection) -> None:
        while not moved_often.is_set():
            # `recv` answers the pings.
            with contextlib.suppress(TimeoutError):
                conn.recv(timeout=0.05)
        say(conn, STDOUT, b"late")
        finish(conn, SUCCESS)

    monkeypatch.setattr(Conn, "set_read_deadline", record)
    with stream_server(script) as url:
        executor: Any = remotecommand.new_web_socket_executor(Config(host=url), "GET", url)
        executor.heartbeat_period, executor.heartbeat_deadline = 0.01, PATIENCE
        executor.stream_with_context(context.background(), StreamOptions(stdout=output))
    assert output.getvalue() == b"late"
    assert deadlines[0] >= started + PATIENCE and deadlines == sorted(set(deadlines))


def test_a_text_message_ends_the_connection():
    """Go: TestWebSocketClient_TextMessageTypeError"""
    wanted = "unexpected message type: 1"
    with stream_server(lambda conn: conn.send("text")) as url, pytest.raises(OSError, match=wanted):
        run(url, StreamOptions(stdout=io.BytesIO()))


def test_an_empty_message_has_no_stream_and_ends_the_connection():
    """Go: TestWebSocketClient_EmptyMessageHandled"""
    wanted = "read stream id: unexpected EOF"
    with stream_server(lambda conn: conn.send(b"")) as url, pytest.raises(OSError, match=wanted):
        run(url, StreamOptions(stdout=io.BytesIO()))


def test_an_invalid_config_is_an_error_of_the_constructor():
    """Go: TestWebSocketClient_ExecutorErrors"""
    with pytest.raises(ValueError, match="error creating websocket transports: "):
        remotecommand.new_web_socket_executor(Config(host="x", username="a", bearer_token="b"), "GET", "http://x")


def test_streams_know_their_number_and_fail_after_their_end():
    """Go: TestWebSocketClient_StreamsAndExpectedErrors"""
    sent = []

    class Conn:
        def write_message(self, kind: int, data: bytes) -> None:
            sent.append(data)

    creator = module._WSStreamCreator(klog.background(), Conn())  # type: ignore[arg-type]
    stream = creator.create_stream(Header({"streamType": "stdin"}))
    assert (stream.identifier(), stream.headers()) == (0, {"streamType": "stdin"})
    stream.write(b"abc")
    stream.reset()
    assert sent == [b"\x00abc", b"\xff\x00"]
    assert stream.read() == b""
    with pytest.raises(ConnectionError, match=r"Close\(\) on already closed stream 0"):
        stream.close()
    with pytest.raises(ConnectionError, match="write on closed stream 0"):
        stream.write(b"not written")
    with pytest.raises(ValueError, match="unknown stream type: UNKNOWN"):
        creator.create_stream(Header({"streamType": "UNKNOWN"}))
    with pytest.raises(ValueError, match="duplicate stream for type stdin"):
        creator.create_stream(Header({"streamType": "stdin"}))


def test_no_stream_can_be_created_after_the_end():
    """Go: TestLateStreamCreation"""
    creator = module._WSStreamCreator(klog.background(), None)  # type: ignore[arg-type]
    creator.close_all_stream_readers(None)
    with pytest.raises(ConnectionError, match="closed all streams"):
        creator.create_stream(Header({"streamType": "stdin"}))


# ---- what Go's tests do not have


def test_the_end_of_the_context_ends_the_command_and_every_thread():
    ctx, cancel = context.with_cancel(context.background())
    read_end, write_end = os.pipe()

    def script(conn: ServerConnection) -> None:
        say(conn, STDOUT, b"running")
        cancel()
        for _ in read_stdin(conn):
            pass

    before = set(threading.enumerate())
    with stream_server(script) as url, open(read_end, "rb") as pipe, open(write_end, "wb"):
        with pytest.raises(context.Canceled):
            run(url, StreamOptions(stdin=pipe, stdout=io.BytesIO(), stderr=io.BytesIO()), ctx=ctx)
        assert not [each for each in set(threading.enumerate()) - before if each.name.startswith("remotecommand")]


def test_a_context_that_has_ended_sends_nothing():
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with pytest.raises(context.Canceled):
        run("http://127.0.0.1:1/", StreamOptions(stdout=io.BytesIO()), ctx=ctx)


def test_the_end_of_the_command_ends_a_read_of_the_terminal():
    """The input is a pipe in which nothing ever comes; Go's goroutine would stay blocked in it."""
    read_end, write_end = os.pipe()
    before = set(threading.enumerate())
    script = lambda conn: finish(conn, exit_status(3))  # noqa: E731
    with stream_server(script) as url, open(read_end, "rb") as pipe, open(write_end, "wb"):
        with pytest.raises(CodeExitError):
            run(url, StreamOptions(stdin=pipe, stdout=io.BytesIO()))
        assert not [each for each in set(threading.enumerate()) - before if each.name.startswith("remotecommand")]


def test_a_peer_that_disappears_is_an_error_not_success():
    def script(conn: ServerConnection) -> None:
        say(conn, STDOUT, b"half")
        conn.socket.shutdown(socket.SHUT_RDWR)

    output = io.BytesIO()
    wanted = r"next reader: websocket: close 1006 \(abnormal closure\): unexpected EOF"
    with stream_server(script) as url, pytest.raises(OSError, match=wanted):
        run(url, StreamOptions(stdout=output))
    assert output.getvalue() == b"half"


def test_a_close_with_another_code_is_an_error():
    def script(conn: ServerConnection) -> None:
        conn.close(1011, "broken")

    wanted = r"next reader: websocket: close 1011 \(internal server error\): broken"
    with stream_server(script) as url, pytest.raises(OSError, match=wanted):
        run(url, StreamOptions(stdout=io.BytesIO()))


class SlowWriter:
    """An output that takes nothing until the test says so."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        assert self.may_go_on.wait(PATIENCE)
        self.digest.update(data)
        self.size += len(data)


def test_an_output_that_is_not_read_stops_the_server_within_bounded_memory():
    written = [0]
    total = 64 << 20
    piece = random.Random(5).randbytes(32 << 10)
    output = SlowWriter()

    def script(conn: ServerConnection) -> None:
        for _ in range(total // len(piece)):
            say(conn, STDOUT, piece)
            written[0] += len(piece)
        finish(conn, SUCCESS)

    with stream_server(script) as url:
        call = go(lambda: run(url, StreamOptions(stdout=output)), "test-run")
        # The server fills the sockets' buffers and our 64 KiB, then it has to wait.
        last = -1
        while last != written[0]:
            last = written[0]
            call.join(0.5)
        assert 0 < written[0] < 24 << 20
        output.may_go_on.set()
        call.result()
    expected = hashlib.sha256()
    for _ in range(total // len(piece)):
        expected.update(piece)
    assert (output.size, output.digest.digest()) == (total, expected.digest())


def test_a_failing_output_does_not_block_the_other_streams():
    class Full:
        def write(self, data: bytes) -> None:
            raise OSError("no space left on device")

    errors = io.BytesIO()

    def script(conn: ServerConnection) -> None:
        for _ in range(100):
            say(conn, STDOUT, b"x" * 10_000)
        say(conn, STDERR, b"warning")
        finish(conn, exit_status(9))

    with stream_server(script) as url, pytest.raises(CodeExitError) as caught:
        run(url, StreamOptions(stdout=Full(), stderr=errors))
    assert (caught.value.code, errors.getvalue()) == (9, b"warning")


def test_a_text_file_is_no_input():
    with (
        stream_server(lambda conn: finish(conn, SUCCESS)) as url,
        pytest.raises(TypeError, match="stdin must be a binary file"),
    ):
        run(url, StreamOptions(stdin=io.StringIO("text"), stdout=io.BytesIO()))


def test_a_message_without_end_is_refused():
    def script(conn: ServerConnection) -> None:
        def endless() -> Any:
            while True:
                yield b"\x01" + bytes(1 << 20)

        conn.send(endless())

    with stream_server(script) as url, pytest.raises(OSError, match="websocket: read limit exceeded"):
        run(url, StreamOptions(stdout=SlowReader()))


class SlowReader:
    def write(self, data: bytes) -> None: ...
