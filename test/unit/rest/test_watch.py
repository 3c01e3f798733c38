"""The watch stream: framing, errors, dead connections, and stopping at once."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fasttime import fast_time
from httpscript import Answer, Received, ScriptedServer, status
from hypothesis import given
from hypothesis import strategies as st

from clientgo import context, gentype, klog, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang.http import BytesBody
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest.request import watch_silence
from clientgo.rest.watch import Decoder, new_encoder
from clientgo.rest.watch.decoder import SILENCE_AFTER_BOOKMARK
from clientgo.rest.watch.stream_watcher import BatchedStreamWatcher
from clientgo.utils.clock.clock import REAL_CLOCK

CTX = context.background()
SERIALIZER = JSONSerializer(SCHEME, strip=True)


def line(kind: str, name: str, version: int, **more: Any) -> bytes:
    metadata = {"name": name, "resourceVersion": str(version), **more}
    return (
        json.dumps({"type": kind, "object": {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}}).encode() + b"\n"
    )


def pods(server: ScriptedServer, **settings: Any) -> gentype.ClientWithList[corev1.Pod, corev1.PodList]:
    config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1, **settings)
    return gentype.ClientWithList("pods", rest.rest_client_for(config), "", corev1.Pod, corev1.PodList)


def decode_all(*pieces: bytes) -> tuple[list[tuple[str, str]], Exception]:
    """Return what the decoder yields for a body in these pieces, and its last error."""
    decoder = Decoder(BytesBody(pieces), SERIALIZER)
    found: list[tuple[str, str]] = []
    while True:
        try:
            event_type, obj = decoder.decode()
        except Exception as err:
            return found, err
        found.append((str(event_type), obj.metadata.name if isinstance(obj, corev1.Pod) else obj.message))


# --- the decoder ---


@given(st.lists(st.integers(1, 200), max_size=20), st.lists(st.integers(0, 99), min_size=1, max_size=8))
def test_events_do_not_depend_on_how_the_bytes_arrive(cuts, names):
    """Go: TestDecoder, TestEmptyDecoder, TestJSONFrameReader, TestJSONFrameReaderShortBuffer"""
    body = b"".join(line("ADDED", f"pöd-{name}", name) for name in names)
    pieces, rest_of_body = [], body
    for cut in cuts:
        pieces.append(rest_of_body[:cut])
        rest_of_body = rest_of_body[cut:]
    events, end = decode_all(*pieces, rest_of_body)
    assert events == [("ADDED", f"pöd-{name}") for name in names]
    assert isinstance(end, EOFError)
    assert not isinstance(end, ErrUnexpectedEOF)


def test_a_last_event_without_newline_counts_and_half_an_event_is_an_unexpected_end():
    complete, half = line("ADDED", "a", 1), line("ADDED", "b", 2)
    events, end = decode_all(complete, half.rstrip())
    assert [name for _, name in events] == ["a", "b"]
    assert not isinstance(end, ErrUnexpectedEOF)
    events, end = decode_all(complete, half[:20])
    assert [name for _, name in events] == ["a"]
    assert isinstance(end, ErrUnexpectedEOF)


def test_events_before_garbage_are_delivered_and_the_error_names_the_last_version():
    events, end = decode_all(line("ADDED", "a", 41) + line("MODIFIED", "a", 42) + b"{oops}\n" + line("ADDED", "b", 43))
    assert [name for _, name in events] == ["a", "a"]
    assert "invalid JSON" in str(end)
    assert "(after resourceVersion 42)" in str(end)


def test_a_stray_byte_spoils_its_line_only_and_no_text():
    before, spoilt = line("ADDED", "a", 41), line("ADDED", "b?", 42).replace(b"?", b"\xff")
    events, end = decode_all(before + spoilt + b"\xff\n" + line("ADDED", "c", 43))
    assert [name for _, name in events] == ["a", "b\ufffd"]
    assert "invalid JSON" in str(end)
    assert "(after resourceVersion 42)" in str(end)


def test_half_a_character_at_the_end_is_an_unexpected_end():
    text = line("ADDED", "?", 1).replace(b"?", "ö".encode())
    events, end = decode_all(text[: text.index("ö".encode()) + 1])
    assert events == []
    assert isinstance(end, ErrUnexpectedEOF)


def test_space_around_an_event_is_nothing():
    added = line("ADDED", "a", 1).strip()
    events, end = decode_all(b" \t" + added + b" \r\n\r\n  " + added)
    assert events == [("ADDED", "a")] * 2
    assert isinstance(end, EOFError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"type":"SPLIT","object":{"kind":"Pod","apiVersion":"v1"}}\n', "got invalid watch event type: SPLIT"),
        (b"[]\n", "unable to decode to metav1.WatchEvent"),
        (b'{"type":"ADDED"}\n', "unable to decode to metav1.WatchEvent"),
        (b'{"type":"ADDED","object":{"apiVersion":"v1"}}\n', "unable to decode watch event: Object 'Kind' is missing"),
        (b'{"type":"ADDED","object":{"kind":"Nope","apiVersion":"v1"}}\n', 'no kind "Nope" is registered'),
        (b"{} {}\n", "more than one JSON value in a line"),
    ],
)
def test_what_is_no_event(text, message):
    events, end = decode_all(text)
    assert events == []
    assert message in str(end)


def test_an_error_event_holds_a_status():
    text = (
        b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"old","code":410}}\n'
    )
    events, _ = decode_all(text)
    assert events == [("ERROR", "old")]


def test_a_bookmark_shows_that_silence_means_a_dead_connection():
    timeouts: list[float | None] = []

    class Body(BytesBody):
        def limit_silence(self, seconds: float) -> None:
            timeouts.append(seconds)

    end_of_list = {"annotations": {"k8s.io/initial-events-end": "true"}}
    decoder = Decoder(
        Body([line("BOOKMARK", "", 1, **end_of_list), line("BOOKMARK", "", 2), line("BOOKMARK", "", 3)]), SERIALIZER
    )
    decoder.decode()
    assert timeouts == []
    decoder.decode()
    decoder.decode()
    assert timeouts == [SILENCE_AFTER_BOOKMARK]


@pytest.mark.parametrize("value", ["false", ""])
def test_a_bookmark_that_does_not_end_the_initial_objects_counts_at_once(value: str):
    timeouts: list[float | None] = []

    class Body(BytesBody):
        def limit_silence(self, seconds: float) -> None:
            timeouts.append(seconds)

    annotations = {"k8s.io/initial-events-end": value}
    Decoder(Body([line("BOOKMARK", "", 1, annotations=annotations)]), SERIALIZER).decode()
    assert timeouts == [SILENCE_AFTER_BOOKMARK]


def test_the_encoder_writes_what_the_decoder_reads():
    """Go: TestEncodeDecodeRoundTrip"""
    out = io.BytesIO()
    new_encoder(out, JSONSerializer(SCHEME)).encode(
        Event(EventType.ADDED, corev1.Pod(metadata=metav1.ObjectMeta(name="a")))
    )
    assert decode_all(out.getvalue())[0] == [("ADDED", "a")]


# --- over HTTP ---


def test_a_watch_leaves_its_connection_to_the_next_request_when_the_server_ended_it():
    """Go: TestWatch/no retry"""
    with ScriptedServer(lambda request: Answer(chunks=[line("ADDED", "a", 1), line("DELETED", "a", 2)])) as server:
        client = pods(server)
        options = metav1.ListOptions(resource_version="7", timeout_seconds=484, allow_watch_bookmarks=True)
        watcher = client.watch(CTX, options)
        events = [(event.type, event.object.metadata.name) for event in watcher.result_chan()]
        assert events == [("ADDED", "a"), ("DELETED", "a")]
        assert not options.watch, "the caller's options are not changed"
        client.watch(CTX).stop()
        assert [request.connection for request in server.requests] == [1, 1]
    assert server.requests[0].target == (
        "/api/v1/pods?allowWatchBookmarks=true&resourceVersion=7&timeout=8m4s&timeoutSeconds=484&watch=true"
    )


def endless(server_closing: threading.Event, *lines: bytes) -> Iterator[bytes]:
    yield from lines
    server_closing.wait()


def test_stop_ends_a_blocked_read_at_once():
    """Go: TestDecoder_SourceClose"""
    with ScriptedServer(lambda request: Answer(chunks=endless(server.closing, line("ADDED", "a", 1)))) as server:
        watcher = pods(server).watch(CTX)
        assert watcher.result_chan().receive(10)[1]
        before = REAL_CLOCK.now()
        watcher.stop()
        assert REAL_CLOCK.since(before) < 1.0
        assert watcher.result_chan().receive(1) == (None, False)
        watcher.stop()
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("watch ")]


def test_stop_ends_an_unread_watch():
    flood = [line("ADDED", f"pod-{n}", n) for n in range(3000)]
    with ScriptedServer(lambda request: Answer(chunks=endless(server.closing, b"".join(flood)))) as server:
        watcher = pods(server).watch(CTX)
        watcher.stop()
        assert watcher.result_chan().receive(1) == (None, False)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("watch ")]


def test_cancelling_the_context_ends_the_watch():
    with ScriptedServer(lambda request: Answer(chunks=endless(server.closing, line("ADDED", "a", 1)))) as server:
        ctx, cancel = context.with_cancel(CTX)
        watcher = pods(server).watch(ctx)
        assert watcher.result_chan().receive(10)[1]
        cancel()
        assert watcher.result_chan().receive(10) == (None, False)
        watcher.stop()


def test_a_reader_that_is_slower_than_the_server_loses_nothing():
    flood = b"".join(line("ADDED", f"pod-{n}", n) for n in range(5000))
    with ScriptedServer(lambda request: Answer(chunks=[flood])) as server:
        names = [event.object.metadata.name for event in pods(server).watch(CTX).result_chan()]
    assert names == [f"pod-{n}" for n in range(5000)]


def test_a_broken_stream_just_ends():
    with ScriptedServer(lambda request: Answer(chunks=[line("ADDED", "a", 1), b'{"ty'], hang_up=True)) as server:
        events = list(pods(server).watch(CTX).result_chan())
    assert [event.type for event in events] == ["ADDED"]


@pytest.mark.parametrize(
    ("err", "is_reported"),
    [
        (ConnectionResetError(104, "connection reset by peer"), False),
        (OSError("use of closed network connection"), False),
        (TimeoutError("i/o timeout"), False),
        (EOFError("EOF"), False),
        (ErrUnexpectedEOF(), False),
        (ValueError("invalid JSON"), True),
    ],
)
def test_a_connection_that_is_lost_ends_the_watch_without_an_error_event(err, is_reported):
    """Go: TestStreamWatcherError"""

    class Source:
        def read_lines(self) -> list[str]:
            raise err

        def decode_line(self, line: str) -> Event:
            raise AssertionError("no line came")

        def close(self) -> None: ...

        def release(self) -> None: ...

    reporter = errors.new_client_error_reporter(500, "GET", "ClientWatchDecoding")
    watcher = BatchedStreamWatcher(Source(), reporter, klog.background(), "pods")
    assert [event.type for event in watcher.result_chan()] == [EventType.ERROR] * is_reported
    watcher.stop()


def test_garbage_on_the_stream_is_an_error_event():
    with ScriptedServer(lambda request: Answer(chunks=[line("ADDED", "a", 5), b"}{\n"])) as server:
        events = list(pods(server).watch(CTX).result_chan())
    failure = events[-1]
    assert failure.type == "ERROR"
    assert failure.object.code == 500
    assert "unable to decode an event from the watch stream: invalid JSON" in failure.object.message
    assert "after resourceVersion 5" in failure.object.message
    assert errors.has_status_cause(errors.from_object(failure.object), "ClientWatchDecoding")


def test_garbage_is_the_last_that_comes_and_ends_the_connection():
    """The decoder trusts no data after it, and the server's connection closes without a call of stop."""
    closed = threading.Event()

    class Source:
        def __init__(self) -> None:
            self._arrived = ["good", "bad", "good"]

        def read_lines(self) -> list[str]:
            if not self._arrived:
                closed.wait()
                raise EOFError("EOF")
            lines, self._arrived = self._arrived, []
            return lines

        def decode_line(self, line: str) -> Event:
            if line == "bad":
                raise ValueError("no event")
            return Event(EventType.ADDED, line)

        def close(self) -> None:
            closed.set()

        def release(self) -> None: ...

    reporter = errors.new_client_error_reporter(500, "GET", "ClientWatchDecoding")
    watcher = BatchedStreamWatcher(Source(), reporter, klog.background(), "pods")
    try:
        assert [event.type for event in watcher.result_chan()] == [EventType.ADDED, EventType.ERROR]
        assert closed.is_set()
    finally:
        watcher.stop()


def test_no_event_comes_after_a_stop_although_one_was_being_decoded():
    class Source:
        def read_lines(self) -> list[str]:
            return ["event"]

        def decode_line(self, line: str) -> Event:
            watcher.stop()
            return Event(EventType.ADDED, line)

        def close(self) -> None: ...

        def release(self) -> None: ...

    reporter = errors.new_client_error_reporter(500, "GET", "ClientWatchDecoding")
    watcher = BatchedStreamWatcher(Source(), reporter, klog.background(), "pods")
    assert list(watcher.result_chan()) == []


def test_a_refused_watch_raises_the_servers_status():
    refuse = status(410, "Expired", "too old resource version: 1 (2)")
    with (
        ScriptedServer(lambda request: refuse) as server,
        pytest.raises(errors.StatusError, match="too old resource version") as caught,
    ):
        pods(server).watch(CTX)
    assert errors.is_resource_expired(caught.value)


def test_a_connection_that_breaks_before_the_answer_gives_an_ended_watch():
    """Go: a probable EOF of the watch call is an empty watch, so that the reflector goes on from its version."""
    with ScriptedServer(lambda request: Answer(hang_up=True)) as server:
        client = pods(server)
        client.get_client()  # the retries of a lost connection are limited below
        watcher = client.get_client().get().resource("pods").param("watch", "true").max_retries(0).watch(CTX)
        assert list(watcher.result_chan()) == []


def test_a_silent_connection_counts_as_dead_only_after_the_servers_own_timeout():
    assert watch_silence(484) == 514
    assert watch_silence(None) > 3600


def silence_allowed(server: ScriptedServer, options: metav1.ListOptions) -> float | None:
    """Return the timeout of an open watch's connection."""
    dialed: list[socket.socket] = []

    def dial(host: str, port: int) -> socket.socket:
        dialed.append(socket.create_connection((host, port)))
        return dialed[-1]

    watcher = pods(server, dial=dial).watch(CTX, options)
    [connection] = dialed
    allowed = connection.gettimeout()
    watcher.stop()
    return allowed


def test_a_watch_that_is_opened_may_be_silent_for_longer_than_its_answer_took():
    with ScriptedServer(lambda request: Answer(chunks=endless(server.closing))) as server:
        assert silence_allowed(server, metav1.ListOptions(timeout_seconds=484)) == 514


@pytest.mark.parametrize(("timeout", "limit"), [(484, SILENCE_AFTER_BOOKMARK), (10, 40.0)])
def test_a_stream_of_the_initial_objects_comes_from_a_server_that_sends_bookmarks(timeout, limit):
    with ScriptedServer(lambda request: Answer(chunks=endless(server.closing))) as server:
        options = metav1.ListOptions(timeout_seconds=timeout, send_initial_events=True)
        assert silence_allowed(server, options) == limit


def test_an_answer_that_does_not_come_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("clientgo.rest.request.WATCH_ANSWER_SILENCE", 0.05)

    def answer(request: Received) -> Answer:
        if len(server.requests) == 1:
            server.closing.wait()
        return Answer(chunks=endless(server.closing, line("ADDED", "a", 1)))

    with ScriptedServer(answer) as server, fast_time(100.0):
        watcher = pods(server).watch(CTX)
        assert watcher.result_chan().receive(10)[1]
        watcher.stop()
    assert len(server.requests) == 2


@pytest.mark.parametrize("kind", ["ADDED", "BOOKMARK"])  # a bookmark makes the limit lower, never higher
def test_a_silent_connection_ends_the_watch(kind):
    def answer(request: Received) -> Answer:
        return Answer(chunks=endless(server.closing, line(kind, "a", 1)))

    with ScriptedServer(answer) as server:
        events = list(pods(server, max_silence=0.1).watch(CTX).result_chan())
    assert [event.type for event in events] == [kind]
