"""Answers that break off: in the middle of their headers, of their body, of their gzip stream."""

from __future__ import annotations

import gzip

import pytest
from httpscript import Answer, ScriptedServer

from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.transport import http
from clientgo.transport.connection import Transport

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
