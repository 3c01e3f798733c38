"""SPDY streams between two ends of a socket pair, and the frames of kubectl."""

from __future__ import annotations

import contextlib
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.util.httpstream import UpgradeFailureError, spdy
from clientgo.apimachinery.util.httpstream.httpstream import status_in
from clientgo.apimachinery.util.httpstream.spdy import framer
from clientgo.apimachinery.util.httpstream.spdy.connection import ErrReset, ErrWriteClosedStream, SpdyConnection
from clientgo.golang.goroutine import go
from clientgo.golang.http import BytesBody, Header, Request, Response
from clientgo.golang.net import ErrClosed, SocketConn


@contextlib.contextmanager
def connected(
    handler: Callable[[Any, Any], None], *, client_pings: float = 0.0
) -> Iterator[tuple[SpdyConnection, SpdyConnection]]:
    one, other = socket.socketpair()
    client = spdy.new_client_connection_with_pings(SocketConn(one), client_pings)
    server = spdy.new_server_connection(SocketConn(other), handler)
    try:
        yield client, server
    finally:
        client.close()
        server.close()
        client.join()
        server.join()


class Accepted:
    """A handler that keeps the streams, and sends back what `echo` streams get."""

    def __init__(self) -> None:
        self.streams: list[Any] = []
        self.arrived = threading.Semaphore(0)
        self.threads: list[Any] = []

    def __call__(self, stream: Any, reply_sent: Any) -> None:
        if stream.headers().get("kind") == "refused":
            raise ValueError("not this one")
        self.streams.append(stream)
        if stream.headers().get("kind") == "echo":
            self.threads.append(go(lambda: self._echo(stream), "test-echo"))
        self.arrived.release()

    @staticmethod
    def _echo(stream: Any) -> None:
        while data := stream.read():
            stream.write(data)
        stream.close()

    def next(self) -> Any:
        assert self.arrived.acquire(timeout=PATIENCE)
        return self.streams[-1]


def test_the_dictionary_is_the_one_of_the_specification():
    assert (len(framer.DICTIONARY), zlib.adler32(framer.DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_data_comes_back_on_its_stream():
    accepted = Accepted()
    with connected(accepted) as (client, _):
        streams = [client.create_stream(Header({"kind": "echo", "number": str(n)})) for n in range(5)]
        assert [stream.identifier() for stream in streams] == [1, 3, 5, 7, 9]
        for number, stream in enumerate(streams):
            stream.write(bytes((number,)) * 100_000)
            stream.close()
        for number, stream in enumerate(streams):
            found = b""
            while data := stream.read():
                found += data
            assert found == bytes((number,)) * 100_000
        assert [stream.headers()["number"] for stream in accepted.streams] == list("01234")
    for thread in accepted.threads:
        thread.result()


def test_headers_keep_their_values_and_compare_without_case():
    accepted = Accepted()
    headers = Header([("streamType", "data"), ("port", "80"), ("many", "a"), ("many", "b")])
    with connected(accepted) as (client, _):
        for _ in range(3):  # the compression goes through all of them
            client.create_stream(headers)
        assert [each.headers().getlist("Many") for each in accepted.streams] == [["a", "b"]] * 3
        assert accepted.next().headers()["StreamType"] == "data"


def test_a_refused_stream_is_an_error_of_its_creation():
    with connected(Accepted()) as (client, _):
        with pytest.raises(ErrReset):
            client.create_stream(Header({"kind": "refused"}))
        assert client.create_stream(Header({"kind": "kept"})).identifier() == 3


def test_a_stream_that_was_accepted_is_returned_even_if_the_connection_has_ended_since():
    """The server of a short command has replied, sent everything and closed before the client's thread continues."""
    reply = framer.Encoder().syn_reply(1, Header()) + framer.Encoder.data(1, b"all", True)
    client = spdy.new_client_connection(HeldConn(reply))
    stream = client.create_stream(Header())
    assert client.close_chan().is_set()
    assert (stream.read(), stream.read()) == (b"all", b"")
    client.join()


class HeldConn:
    """A connection that ends after `data`, which arrives after the first write. A write returns after the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._written, self._closed = threading.Event(), threading.Event()

    def read(self, size: int = 0) -> bytes:
        assert self._written.wait(PATIENCE)
        data, self._data = self._data, b""
        return data

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._written.set()
        assert self._closed.wait(PATIENCE)

    def close(self) -> None:
        self._closed.set()

    def local_addr(self) -> str:
        return "local"

    def remote_addr(self) -> str:
        return "remote"


def test_a_stream_without_a_reply_is_an_error_after_the_end_of_the_connection():
    one, other = socket.socketpair()
    client = spdy.new_client_connection(SocketConn(one))
    created = go(lambda: client.create_stream(Header()), "test-create")
    assert other.recv(1)
    other.close()
    with pytest.raises((ErrClosed, ConnectionError)):
        created.result()
    client.close()
    client.join()


def test_each_side_closes_its_own_direction():
    accepted = Accepted()
    with connected(accepted) as (client, _):
        ours = client.create_stream(Header())
        theirs = accepted.next()
        ours.write(b"question")
        ours.close()
        ours.close()
        with pytest.raises(ErrWriteClosedStream):
            ours.write(b"more")
        assert (theirs.read(), theirs.read()) == (b"question", b"")
        theirs.write(b"answer")
        theirs.close()
        assert (ours.read(), ours.read()) == (b"answer", b"")


def test_a_reset_ends_both_directions_after_what_has_arrived():
    accepted = Accepted()
    with connected(accepted) as (client, _):
        ours = client.create_stream(Header())
        theirs = accepted.next()
        theirs.write(b"last words")
        theirs.reset()
        assert theirs.read() == b""
        assert (ours.read(), ours.read()) == (b"last words", b"")
        with pytest.raises(ErrReset):
            ours.write(b"too late")


def test_a_full_stream_stops_its_writer_within_bounded_memory():
    accepted = Accepted()
    with connected(accepted) as (client, _):
        ours = client.create_stream(Header())
        theirs = accepted.next()
        total = 16 << 20
        written = [0]

        def write() -> None:
            for _ in range(total // 65536):
                ours.write(bytes(65536))
                written[0] += 65536
            ours.close()

        writer = go(write, "test-writer")
        last = -1
        while last != written[0]:
            last = written[0]
            writer.join(0.3)
        assert 1 << 20 <= written[0] < 8 << 20
        assert len(theirs.incoming) <= (1 << 20) + (64 << 10)
        read = 0
        while data := theirs.read():
            read += len(data)
        writer.result()
        assert read == total


def test_pings_are_answered_while_the_peer_only_reads():
    accepted = Accepted()
    one, other = socket.socketpair()
    with other:
        client = spdy.new_client_connection_with_pings(SocketConn(one), 0.01)
        decoder, numbers = framer.Decoder(), []
        while len(numbers) < 3:
            for frame in decoder.feed(other.recv(4096)):
                assert isinstance(frame, framer.Ping)
                numbers.append(frame.number)
        assert numbers == [1, 3, 5]
        # The server's own pings have even numbers.
        other.sendall(framer.Encoder.ping(8))
        found: list[Any] = []
        while framer.Ping(8) not in found:
            found += decoder.feed(other.recv(4096))
        client.close()
        client.join()
    assert accepted.streams == []


def test_a_peer_that_disappears_ends_reads_and_creations():
    accepted = Accepted()
    with connected(accepted) as (client, server):
        stream = client.create_stream(Header())
        reader = go(stream.read, "test-reader")
        server.close()
        assert reader.result() == b""
        assert client.close_chan().wait(PATIENCE)
        with pytest.raises(ErrClosed):
            client.create_stream(Header())
        with pytest.raises(OSError):
            stream.write(b"x")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 700_000, id="another protocol"),
        pytest.param(bytes.fromhex("8002000100000004") + b"abcd", id="another version"),
        pytest.param(bytes.fromhex("8003000100000010") + b"0" * 16, id="headers that are not compressed"),
        pytest.param(bytes.fromhex("8003000100ffffff"), id="a control frame that is too large"),
        pytest.param(bytes.fromhex("80030006000000020000"), id="a ping that is too short"),
    ],
)
def test_bytes_that_are_not_spdy_end_the_connection(data):
    one, other = socket.socketpair()
    with other:
        conn = spdy.new_server_connection(SocketConn(one), spdy_handler)
        with contextlib.suppress(ConnectionError):
            other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        assert conn.close_chan().wait(PATIENCE)
        conn.join()


def spdy_handler(stream: Any, reply_sent: Any) -> None: ...


def test_headers_of_a_bomb_are_refused():
    """Few bytes that decompress to many."""
    compressor = zlib.compressobj(9, zdict=framer.DICTIONARY)
    block = compressor.compress(bytes(32 << 20)) + compressor.flush(zlib.Z_SYNC_FLUSH)
    assert len(block) < 64 << 10
    payload = bytes(10) + block
    frame = bytes.fromhex("80030001") + len(payload).to_bytes(4, "big") + payload
    with pytest.raises(ValueError, match="headers too large"):
        list(framer.Decoder().feed(frame))


@pytest.mark.parametrize("headers", [{"a": "\0" * 300}, {f"name-{i}": "" for i in range(300)}, {"a": "x" * 20_000}])
def test_a_stream_has_few_and_short_headers(headers):
    """A kilobyte would be twenty megabytes of short values, for each of thousands of streams."""
    frame = framer.Encoder().syn_stream(1, Header(headers))
    with pytest.raises(ValueError, match="spdy: (too many headers|headers too large)"):
        list(framer.Decoder().feed(frame))


def test_a_client_discards_the_data_of_streams_that_the_server_opens():
    with connected(Accepted()) as (client, server):
        theirs = server.create_stream(Header())
        theirs.write(bytes(16 << 20))
        ours = client.create_stream(Header())  # the reading thread is not blocked
        assert [len(each.incoming) for each in client._streams.values()] == [0, 0]
        ours.reset()


REFUSAL = b'{"kind":"Status","status":"Failure","code":403,"message":"no \xff"}'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (REFUSAL, "no \ufffd"),
        (REFUSAL.replace(b"Status", b"Statute", 1), None),
        (b"[" * 5000, None),
        (b"[" * 5000 + b"]" * 5000, None),
        (b'{"kind":"Status","message":[1]}', None),
        (b'{"kind":"Status","message":"m","details":{"causes":[{"field":5}]}}', None),
        (b'{"kind":"Status","message":"m","code":1e400}', None),
        (b'{"kind":"Status","message":"m","code":' + b"9" * 5000 + b"}", None),
    ],
)
def test_a_refusal_that_is_no_status_is_shown_as_its_text(body, message):
    """A Status with a wrongly typed field raised another error when it was printed."""
    status = status_in(body)
    assert (None if status is None else status.message) == message
    response = Response(status_code=403, reason="Forbidden", body=BytesBody(body))
    with pytest.raises(UpgradeFailureError if status is None else StatusError) as caught:
        spdy.new_round_tripper(None).new_connection(response)
    assert str(caught.value)


def test_a_stream_with_a_used_number_is_refused():
    accepted = Accepted()
    one, other = socket.socketpair()
    with other:
        server = spdy.new_server_connection(SocketConn(one), accepted)
        encoder, decoder = framer.Encoder(), framer.Decoder()
        other.sendall(b"".join(encoder.syn_stream(number, Header()) for number in (5, 3, 8)))
        found: list[Any] = []
        while len(found) < 3:
            found += decoder.feed(other.recv(4096))
        assert found == [
            framer.SynReply(5, Header()),
            framer.Reset(3, framer.PROTOCOL_ERROR),
            framer.Reset(8, framer.PROTOCOL_ERROR),
        ]
        server.close()
        server.join()


def test_an_idle_connection_closes():
    with connected(Accepted()) as (client, server):
        server.set_idle_timeout(0.05)
        stream = client.create_stream(Header())  # a frame, from which on the time counts
        assert server.close_chan().wait(PATIENCE)
        assert stream.read() == b""


names = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1)
values = st.text(st.characters(min_codepoint=33, max_codepoint=126))
frames = st.one_of(
    st.builds(framer.SynStream, st.integers(1, 99), st.dictionaries(names, values, max_size=4).map(Header)),
    st.builds(framer.Data, st.integers(1, 99), st.binary(max_size=200), st.booleans()),
    st.builds(framer.Ping, st.integers(1, 2**31)),
)


def encoded(encoder: framer.Encoder, frame: framer.Frame) -> bytes:
    if isinstance(frame, framer.SynStream):
        return encoder.syn_stream(frame.stream_id, frame.headers)
    if isinstance(frame, framer.Data):
        return encoder.data(frame.stream_id, frame.data, frame.fin)
    assert isinstance(frame, framer.Ping)
    return encoder.ping(frame.number)


@given(st.lists(frames, max_size=8), st.integers(1, 40))
def test_frames_survive_any_split_of_their_bytes(sent, size):
    encoder, decoder = framer.Encoder(), framer.Decoder()
    data = b"".join(encoded(encoder, frame) for frame in sent)
    found: list[Any] = []
    for start in range(0, len(data), size):
        found += decoder.feed(data[start : start + size])
    # Data comes in pieces; only the last one of a frame has the end.
    for frame in sent:
        if isinstance(frame, framer.Data):
            whole = b""
            while True:
                piece = found.pop(0)
                assert piece.stream_id == frame.stream_id
                whole += piece.data
                if len(whole) == len(frame.data):
                    break
                assert not piece.fin
            assert (whole, piece.fin) == (frame.data, frame.fin)
        else:
            assert found.pop(0) == frame
    assert found == []


def test_the_end_of_a_connection_is_a_frame_with_the_last_stream() -> None:
    assert [*framer.Decoder().feed(framer.Encoder.go_away(7))] == [framer.GoAway(7)]


def test_a_client_connection_without_a_period_sends_no_pings() -> None:
    one, other = socket.socketpair()
    with one, other:
        connection = spdy.new_client_connection(SocketConn(one))
        other.sendall(framer.Encoder.ping(2))
        found: list[framer.Frame] = []
        decoder = framer.Decoder()
        while not found:
            found += decoder.feed(other.recv(1 << 16))
        connection.close()
        connection.join()
    assert found == [framer.Ping(2)], "the answer to the server's ping, and no ping of its own"


def test_round_trippers_take_a_tls_context_and_a_proxy() -> None:
    asked: list[str] = []

    def proxier(url: str) -> str | None:
        asked.append(url)
        raise ValueError("no proxy for this")

    request = Request(method="POST", url="http://127.0.0.1:1/exec")
    with pytest.raises(OSError):
        spdy.new_round_tripper(None).round_trip(request)
    with pytest.raises(ValueError, match="no proxy for this"):
        spdy.new_round_tripper_with_proxy(None, proxier).round_trip(request)
    assert len(asked) == 1 and "127.0.0.1:1" in asked[0]


def test_a_reset_after_the_reply_leaves_what_was_sent_before():
    """A server that fails at once: its reply, its message and the resets arrive together."""
    one, other = socket.socketpair()
    conn = spdy.new_client_connection(SocketConn(one))
    encoder = framer.Encoder()
    with other:
        call = go(lambda: conn.create_stream(Header({"kind": "any"})), "test-create")
        assert other.recv(1 << 16)
        other.sendall(
            encoder.syn_reply(1, Header()) + encoder.data(1, b"why", False) + encoder.reset(1, framer.CANCEL)
        )
        stream = call.result()
        assert [stream.read(), stream.read()] == [b"why", b""]
        with pytest.raises(ErrReset):
            stream.write(b"x")
        conn.close()
        assert other.recv(1 << 16) == framer.Encoder.go_away(0)
        conn.join()


def test_a_go_away_is_answered_and_ends_the_connection():
    one, other = socket.socketpair()
    conn = spdy.new_client_connection(SocketConn(one))
    with other:
        other.sendall(framer.Encoder.go_away(0))
        conn.join()
        assert conn.close_chan().is_set()
        assert other.recv(1 << 16) == framer.Encoder.go_away(0)
        assert other.recv(1) == b""
        conn.close()


def test_a_server_names_the_last_stream_that_it_accepted():
    one, other = socket.socketpair()
    conn = spdy.new_server_connection(SocketConn(other), Accepted())
    encoder = framer.Encoder()
    with one:
        one.sendall(encoder.syn_stream(1, Header()) + encoder.syn_stream(3, Header()))
        decoder, frames = framer.Decoder(), []
        while len(frames) < 2:
            frames += list(decoder.feed(one.recv(1 << 16)))
        conn.close()
        while data := one.recv(1 << 16):
            frames += list(decoder.feed(data))
        conn.join()
    assert frames[-1] == framer.GoAway(3)
