"""Connections that one thread reads while others write and close, and pipes with a bound."""

from __future__ import annotations

import socket
import threading
from time import thread_time

import pytest
from patience import PATIENCE

from clientgo.golang.goroutine import go
from clientgo.golang.net import ErrClosed, Outbox, SocketConn, join_host_port
from clientgo.golang.pipe import ErrClosedPipe, Pipe
from clientgo.golang.time import now


def pair() -> tuple[SocketConn, SocketConn]:
    one, other = socket.socketpair()
    return SocketConn(one), SocketConn(other)


def test_bytes_that_were_read_before_come_first():
    one, other = socket.socketpair()
    conn, peer = SocketConn(one, b"early"), SocketConn(other)
    peer.write(b"late")
    assert [conn.read(3), conn.read(), conn.read()] == [b"ear", b"ly", b"late"]
    peer.close()
    assert conn.read() == b""
    conn.close()


def test_a_close_wakes_a_read_and_a_write_of_other_threads():
    conn, peer = pair()
    reader = go(conn.read, "test-reader")
    writer = go(lambda: conn.write(bytes(64 << 20)), "test-writer")
    assert peer.read(1) == b"\0"
    conn.close()
    conn.close()
    for call in (reader, writer):
        with pytest.raises(ErrClosed):
            call.result()
    with pytest.raises(ErrClosed):
        conn.read()
    assert conn.is_closed
    peer.close()


def test_a_deadline_ends_a_read_and_a_write():
    conn, peer = pair()
    conn.set_read_deadline(now() + 0.02)
    with pytest.raises(TimeoutError, match="read: i/o timeout"):
        conn.read()
    conn.set_read_deadline(None)
    conn.set_write_deadline(now() + 0.02)
    with pytest.raises(TimeoutError, match="write: i/o timeout"):
        conn.write(bytes(64 << 20))
    peer.write(b"x")
    assert conn.read() == b"x"
    conn.close()
    peer.close()


def test_the_end_of_one_direction_leaves_the_other_one_open():
    conn, peer = pair()
    conn.close_write()
    assert peer.read() == b""
    peer.write(b"answer")
    assert conn.read() == b"answer"
    conn.close()
    peer.close()


def test_a_reply_does_not_wait_for_a_writer_that_is_stuck():
    conn, peer = pair()
    outbox = Outbox(conn)
    large = bytes(8 << 20)

    def write() -> None:
        outbox.add(large)
        outbox.flush()

    writer = go(write, "test-writer")
    assert peer.read(1) == b"\0"
    outbox.add(b"reply")
    outbox.flush(wait=False)  # the writer sends it
    received = 1
    while received < len(large) + 5:
        received += len(peer.read())
    writer.result()
    conn.close()
    with pytest.raises(ErrClosed):
        write()
    with pytest.raises(ErrClosed):  # from then on, each one fails
        outbox.add(b"x")
    peer.close()


def test_the_last_bytes_wait_for_a_writer_but_not_for_a_peer_that_does_not_read():
    conn, peer = pair()
    outbox = Outbox(conn)
    large = bytes(8 << 20)

    def write() -> None:
        outbox.add(large)
        outbox.flush()

    writer = go(write, "test-writer")
    assert peer.read(1) == b"\0"
    outbox.add(b"last")
    outbox.finish(0.001)
    assert repr(outbox) == "<Outbox 1 pending>"
    reader = go(lambda: [len(peer.read()) for _ in iter(lambda: writer.done.is_set(), True)], "test-reader")
    outbox.finish(PATIENCE)
    writer.result()
    peer.set_read_deadline(now() + PATIENCE)
    conn.close()
    received = 1 + sum(reader.result())
    while data := peer.read():
        received += len(data)
    assert received == len(large) + len(b"last")
    outbox.add(b"too late")
    outbox.finish(PATIENCE)  # the connection has ended: no error
    peer.close()


def test_a_later_byte_that_is_lost_is_no_error_of_an_earlier_writer():
    conn, peer = pair()
    outbox = Outbox(conn)
    end = outbox.add(b"mine")
    outbox.flush()
    last = outbox.add(b"goodbye")
    conn.close()
    with pytest.raises(ErrClosed):
        outbox.flush()
    outbox.flush(end)
    with pytest.raises(ErrClosed):
        outbox.flush(last)
    assert peer.read() == b"mine"
    peer.close()


def test_replies_that_wait_for_a_stuck_writer_are_added_in_constant_time():
    """A peer that sends pings and reads nothing would cost minutes."""
    conn, peer = pair()
    outbox = Outbox(conn)

    def write() -> None:
        outbox.add(bytes(8 << 20))
        outbox.flush()

    writer = go(write, "test-writer")
    assert peer.read(1) == b"\0"
    started = thread_time()
    for _ in range(30_000):
        outbox.add(b"pong")
        outbox.flush(wait=False)
    assert thread_time() - started < 2
    conn.close()
    with pytest.raises(ErrClosed):
        writer.result()
    peer.close()


def test_bytes_of_many_writers_are_not_mixed():
    conn, peer = pair()
    outbox = Outbox(conn)

    def write(letter: bytes) -> None:
        for _ in range(200):
            outbox.add(letter * 10)
            outbox.flush()

    writers = [go(lambda letter=letter: write(letter), "test-writer") for letter in (b"a", b"b", b"c")]  # type: ignore[misc]
    received = b""
    while len(received) < 6000:
        received += peer.read()
    for writer in writers:
        writer.result()
    pieces = [received[start : start + 10] for start in range(0, 6000, 10)]
    assert sorted(pieces) == sorted([letter * 10 for letter in (b"a", b"b", b"c")] * 200)
    conn.close()
    peer.close()


def test_a_port_stands_outside_of_the_brackets_of_an_address():
    assert [join_host_port("::1", 80), join_host_port("127.0.0.1", "90")] == ["[::1]:80", "127.0.0.1:90"]


def test_a_pipe_stores_no_more_than_its_capacity():
    pipe = Pipe(10)
    pipe.write(b"12345678")
    pipe.write(b"9abcdefg")  # begins below the limit
    blocked = threading.Event()

    def write() -> None:
        blocked.set()
        pipe.write(b"last")
        pipe.close_write()

    writer = go(write, "test-writer")
    assert blocked.wait(PATIENCE)
    assert len(pipe) == 16
    assert [pipe.read(3), pipe.read(100), pipe.read(), pipe.read(), pipe.read()] == [
        b"123", b"45678", b"9abcdefg", b"last", b"",
    ]
    writer.result()


def test_the_reader_gets_the_writers_error_after_the_bytes():
    pipe = Pipe(10)
    pipe.write(b"x")
    pipe.close_write(OSError("broken"))
    pipe.close_write()
    assert pipe.read() == b"x"
    with pytest.raises(OSError, match="broken"):
        pipe.read()
    with pytest.raises(ErrClosedPipe):
        pipe.write(b"y")


def test_the_end_of_the_reader_frees_a_blocked_writer():
    pipe = Pipe(1)
    pipe.write(b"x")
    writer = go(lambda: pipe.write(b"y"), "test-writer")
    pipe.close_read()
    with pytest.raises(ErrClosedPipe):
        writer.result()
    assert (pipe.read(), len(pipe)) == (b"", 0)
