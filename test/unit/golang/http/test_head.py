"""The head of a response: as many headers as there are, bounded in bytes, and nothing that is none."""

from __future__ import annotations

import io

import pytest
from httpscript import Answer, ScriptedServer
from hypothesis import given
from hypothesis import strategies as st

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang.http.head import MAX_HEAD_BYTES, Head, read_head
from clientgo.golang.io import ErrUnexpectedEOF

POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}'


def head_of(text: bytes, limit: int = MAX_HEAD_BYTES) -> Head:
    return read_head(io.BytesIO(text), limit)


# --- how much there may be ---


def test_the_answer_to_a_write_is_not_lost_for_its_110_warnings():
    """http.client stops at 100 headers: the object was made, and the caller told that it was not."""
    lines = b"".join(b'Warning: 299 - "field %d is old"\r\n' % number for number in range(110))
    head = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % len(POD)
    with ScriptedServer(lambda request: Answer(raw=head + lines + b"\r\n" + POD)) as server:
        config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"))
        request = rest.rest_client_for(config).post().namespace("default").resource("pods").body(POD)
        request.warning_handler(rest.NoWarnings())
        result = request.do(context.background()).raise_for_error()
    assert result.was_created()
    assert [warning.text for warning in result.warnings()] == [f"field {number} is old" for number in range(110)]


def test_a_long_header_is_no_mistake_either():
    """http.client stops at lines of 64 KiB."""
    assert head_of(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n").headers["X-Long"] == "x" * 200_000


@pytest.mark.parametrize("unit", [b"X: y\r\n", b"X" * 100])
def test_what_never_ends_is_given_up_after_so_many_bytes(unit):
    """Go: Transport.MaxResponseHeaderBytes."""
    text = b"HTTP/1.1 200 OK\r\n" + unit * 100
    with pytest.raises(ValueError, match="net/http: server response headers exceeded 500 bytes; aborted"):
        head_of(text, 500)


def test_the_limit_counts_the_whole_head_and_the_informational_ones_before_it():
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    assert head_of(data, len(data)).status == 204
    with pytest.raises(ValueError, match="exceeded"):
        head_of(data, len(data) - 1)


# --- what it says ---


def test_a_head_is_taken_apart():
    text = b"HTTP/1.0 404 Not  Found\r\nX-A:1\r\nx-a:\t2 \r\nX-B : b\r\nFolded: one\r\n  two\r\n\tthree\r\n\r\nrest"
    stream = io.BytesIO(text)
    head = read_head(stream)
    assert (head.version, head.status, head.reason) == ((1, 0), 404, "Not  Found")
    assert head.headers.getlist("X-A") == ["1", "2"]
    assert head.headers["Folded"] == "one two three"
    assert stream.read() == b"rest"


def test_lines_may_end_in_a_newline_alone_and_the_reason_may_be_missing():
    head = head_of(b"HTTP/1.1 200\nX-A: 1\n\n")
    assert (head.status, head.reason, head.headers["X-A"]) == (200, "", "1")


@pytest.mark.parametrize("code", [100, 102, 103, 199])
def test_informational_answers_are_not_the_answer(code):
    """http.client knows only 100 of them, and takes early hints (103) for the answer."""
    text = b"HTTP/1.1 %d x\r\nLink: early\r\n\r\n" % code
    head = head_of(text * 3 + b"HTTP/1.1 200 OK\r\n\r\n")
    assert (head.status, list(head.headers)) == (200, [])


def test_switching_protocols_is_an_answer():
    assert head_of(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\n\r\n").status == 101


# --- what is none ---


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"SSH-2.0-OpenSSH", 'malformed HTTP response "SSH-2.0-OpenSSH"'),
        (b"\x15\x03\x01\x00\x02", r'malformed HTTP response "\x15\x03\x01\x00\x02"'),
        (b"HTTP/1.1 2000 OK", 'malformed HTTP status code "2000"'),
        (b"HTTP/1.1 -20 OK", 'malformed HTTP status code "-20"'),
        (b"HTTP/1.1 abc OK", 'malformed HTTP status code "abc"'),
        (b"HTTP/x 200 OK", 'malformed HTTP version "HTTP/x"'),
        (b"HTTP/1.1 200 OK\r\nno colon", "malformed MIME header line: no colon"),
        (b"HTTP/1.1 200 OK\r\n starts with space: 1", "malformed MIME header line:  starts with space: 1"),
        (b"HTTP/1.1 200 OK\r\n: no name", "malformed MIME header line: : no name"),
        (b"HTTP/1.1 200 OK\r\nX-A: a\x00b", r"malformed MIME header line: X-A: a\x00b"),
        (b"HTTP/1.1 200 OK\r\nX-A: a\rX-B: b", r"malformed MIME header line: X-A: a\rX-B: b"),
    ],
)
def test_what_is_no_head_is_said(line, reason):
    with pytest.raises(ValueError, match="net/http: HTTP/1.x transport connection broken: ") as caught:
        head_of(line + b"\r\n\r\n")
    assert str(caught.value).endswith(reason)


def test_nothing_is_a_clean_end_and_a_part_is_none():
    with pytest.raises(EOFError) as caught:
        head_of(b"")
    assert not isinstance(caught.value, ErrUnexpectedEOF)
    for part in (b"H", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX: y\r\n", b"HTTP/1.1 100 x\r\n\r\n"):
        with pytest.raises(ErrUnexpectedEOF):
            head_of(part)


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_at_all_bring_another_error(data, after_status_line):
    text = b"HTTP/1.1 200 OK\r\n" + data if after_status_line else data
    try:
        head = head_of(text)
    except (EOFError, ValueError):
        return
    assert 101 <= head.status <= 999
