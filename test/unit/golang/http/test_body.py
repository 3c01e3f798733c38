"""Answers that break off: in the middle of their headers, of their body, of their gzip stream."""

from __future__ import annotations

import gzip

import pytest
from httpscript import Answer, ScriptedServer
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.golang import http
from clientgo.golang.http.body import ChunkedReader
from clientgo.golang.http.transport import Transport

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-More: 1\r\nContent-Length: 2\r\n\r\n"
TEXT = b"".join(b"line %d\n" % number for number in range(2000))


def get(server: ScriptedServer) -> http.Response:
    transport = Transport()
    response = http.Client(transport).do(http.Request(method="GET", url=server.url))
    transport.close_idle_connections()
    return response


def read_in_pieces(body: http.Body) -> bytes:
    pieces = []
    while piece := body.read_some():
        pieces.append(piece)
    body.close()
    return b"".join(pieces)


READERS = [pytest.param(lambda body: body.read(), id="at once"), pytest.param(read_in_pieces, id="in pieces")]


# --- headers ---


# At the ends of lines too: http.client takes the end of the connection for the end of the headers.
@pytest.mark.parametrize("length", range(len(HEAD)))
def test_headers_that_break_off_are_no_answer(length):
    with (
        ScriptedServer(lambda request: Answer(raw=HEAD[:length])) as server,
        pytest.raises(http.URLError) as caught,
    ):
        get(server)
    if HEAD.index(b"\r\n") < length:
        assert isinstance(caught.value.err, ErrUnexpectedEOF)
        assert str(caught.value) == f'Get "{server.url}": unexpected EOF'


def test_headers_that_are_whole_are_an_answer():
    with ScriptedServer(lambda request: Answer(raw=HEAD + b"{}")) as server:
        response = get(server)
        assert response.headers["X-More"] == "1"
        assert response.body.read() == b"{}"


# --- lengths ---


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(body=TEXT, claimed_length=len(TEXT) + 1, hang_up=True), id="length"),
        pytest.param(Answer(chunks=[TEXT], hang_up=True), id="no last chunk"),
        pytest.param(
            Answer(raw=HEAD.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked") + b"9\r\nhalf"), id="chunk"
        ),
    ],
)
def test_a_body_shorter_than_it_says_is_an_error(answer, read):
    with ScriptedServer(lambda request: answer) as server:
        response = get(server)
        with pytest.raises(ErrUnexpectedEOF):
            read(response.body)
        response.close()


# What is read ahead with an answer, and more than that.
@pytest.mark.parametrize("size", [5, 100_000])
def test_what_follows_an_answer_is_not_taken_for_the_next_one(size):
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (size, b"x" * size)
    answers = iter([Answer(body=b"{}" + forged, claimed_length=2, keep_open=True), Answer(body=b"[]")])
    with ScriptedServer(lambda request: next(answers)) as server:
        transport = Transport()
        client = http.Client(transport)
        for expected in (b"{}", b"[]"):
            assert client.do(http.Request(method="GET", url=server.url)).body.read() == expected
        transport.close_idle_connections()


# --- the chunked transfer coding ---


def chunks_of(pieces: list[bytes]) -> ChunkedReader:
    arriving = (piece for piece in pieces if piece)
    return ChunkedReader(lambda size: next(arriving, b""))


def read_chunked(pieces: list[bytes]) -> bytes:
    reader = chunks_of(pieces)
    return b"".join(iter(reader.read_some, b""))


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(1, 9), max_size=40))
def test_chunks_do_not_depend_on_how_the_bytes_arrive(chunks, cuts):
    wire = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\nTrailer: x\r\n\r\n"
    pieces = []
    for cut in cuts:
        pieces.append(wire[:cut])
        wire = wire[cut:]
    reader = chunks_of([*pieces, wire])
    assert b"".join(iter(reader.read_some, b"")) == b"".join(chunks)
    assert reader.ends_cleanly


@pytest.mark.parametrize(
    "wire",
    [
        b"zz\r\nabc",
        b"-1\r\n\r\n",
        b"+1\r\na\r\n",
        b"1_0\r\n" + b"x" * 16 + b"\r\n",
        b"0x1\r\na\r\n",
        b"\r\n",
        b"f" * 17 + b"\r\n",
        b"x" * 5000,
        b"0\r\n" + b"A: b\r\n" * 1000,
    ],
)
def test_a_malformed_chunk_is_an_error(wire):
    with pytest.raises(ValueError, match="http: "):
        read_chunked([wire])


def test_what_came_before_a_malformed_chunk_is_given_out():
    reader = chunks_of([b"3\r\nabc\r\n2\r\nde\r\noops\r\n"])
    assert reader.read_some() == b"abcde"
    for _ in range(2):
        with pytest.raises(ValueError, match="http: invalid byte in chunk length"):
            reader.read_some()


def test_a_stream_that_ends_without_the_last_chunk_ended_too_early():
    with pytest.raises(ErrUnexpectedEOF):
        read_chunked([b"3\r\nabc\r\n"])


@pytest.mark.parametrize("wire", [b"1\r\naXX0\r\n\r\n", b"1\r\na\n\n0\r\n\r\n", b"1\r\na0\r\n\r\n"])
def test_a_chunk_ends_where_it_says(wire):
    for pieces in ([wire], [wire[:5], wire[5:]], [bytes([byte]) for byte in wire]):
        with pytest.raises(ValueError, match="malformed chunked encoding"):
            read_chunked(pieces)


def test_what_follows_the_last_chunk_leaves_its_connection_useless():
    reader = chunks_of([b"1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"])
    assert [reader.read_some(), reader.read_some()] == [b"a", b""]
    assert not reader.ends_cleanly


# --- gzip ---


def packed(body: bytes, chunked: bool) -> Answer:
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    if not chunked:
        return Answer(body=body, headers=headers)
    return Answer(chunks=[body[start : start + 100] for start in range(0, len(body), 100)], headers=headers)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("split", [None, 5000])
def test_gzip_is_asked_for_and_unpacked(read, chunked, split):
    # What is packed in two parts is still one body.
    body = gzip.compress(TEXT) if split is None else gzip.compress(TEXT[:split]) + gzip.compress(TEXT[split:])
    with ScriptedServer(lambda request: packed(body, chunked)) as server:
        response = get(server)
        assert read(response.body) == TEXT
        response.close()
    assert server.requests[0].headers["Accept-Encoding"] == "gzip"


# In the header, right behind it, in the middle, and where only the checksum is missing.
@pytest.mark.parametrize("length", [5, 10, 2000, -8, -1])
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("chunked", [True, False])
def test_gzip_that_breaks_off_is_an_error_though_http_finds_the_body_whole(length, read, chunked):
    body = gzip.compress(TEXT)[:length]
    with ScriptedServer(lambda request: packed(body, chunked)) as server:
        response = get(server)
        with pytest.raises(ErrUnexpectedEOF):
            read(response.body)
        response.close()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("position", [0, 500, -8])
def test_gzip_that_was_damaged_is_an_error(read, position):
    body = bytearray(gzip.compress(TEXT))
    body[position] ^= 0xFF
    with ScriptedServer(lambda request: packed(bytes(body), False)) as server:
        response = get(server)
        with pytest.raises(ValueError, match="gzip: "):
            read(response.body)
        response.close()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("answer", [Answer(body=TEXT), Answer(chunks=[TEXT])], ids=["length", "chunked"])
def test_a_body_that_was_read_to_its_end_leaves_its_connection_to_the_next_request(answer, read):
    transport = Transport()
    with ScriptedServer(lambda request: answer) as server:
        for _ in range(2):
            response = http.Client(transport).do(http.Request(method="GET", url=server.url))
            assert read(response.body) == TEXT
            response.body.close()
        assert len({request.connection for request in server.requests}) == 1
        transport.close_idle_connections()
