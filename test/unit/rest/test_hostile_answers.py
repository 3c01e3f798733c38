"""Responses of a hostile server: each fails with a documented error, in bounded time and memory."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer
from patience import PATIENCE

from clientgo import context, dynamic, klog, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.interfaces import EventDecoder
from clientgo.apimachinery.runtime.negotiate import NegotiateError
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.watch import EventType
from clientgo.golang import http
from clientgo.golang.json import UnmarshalTypeError
from clientgo.kubernetes.scheme import CODECS, SCHEME
from clientgo.rest.request import parse_media_type
from clientgo.rest.watch import Decoder
from clientgo.rest.watch.decoder import MAX_EVENT
from clientgo.rest.watch.frames import FrameDecoder
from clientgo.tools import cache

CTX = context.background()
PODS = GroupVersionResource("", "v1", "pods")
PIECE = b"x" * 65536
MEBIBYTE = 1 << 20


def config(server: ScriptedServer) -> rest.Config:
    return rest.Config(host=server.url, qps=-1)


def always(body: bytes, status: int = 200) -> Callable[[Received], Answer]:
    return lambda request: Answer(status, body)


MALFORMED = {
    "deep": b"[" * 100_000,
    "deep in an object": b'{"groups":' * 100_000,
    "no UTF-8": b'{"\xff\xfe',
    "UTF-16": json.dumps({"major": "1"}).encode("utf-16"),
    "UTF-32 without a whole character": b"\0\0\0{\0\0",
    "not a number": b'{"minor": NaN}',
    "no object": b"[1]",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_discovery_is_a_value_error(body: bytes) -> None:
    with ScriptedServer(always(body)) as server:
        client = kubernetes.new_for_config(config(server)).discovery()
        for ask in (client.server_version, client.server_groups, client.openapi_v3().paths):
            with pytest.raises(ValueError) as caught:
                ask()
            assert not isinstance(caught.value, UnicodeError), "its text names a codec and not the document"


def test_invalid_utf8_in_a_document_is_replaced_as_in_go() -> None:
    with ScriptedServer(always(b'{"major":"1","gitVersion":"v\xff"}')) as server:
        assert kubernetes.new_for_config(config(server)).discovery().server_version().git_version == "v\ufffd"


@pytest.mark.parametrize("item", [1, None, "kind", [], [["kind"]]])
def test_a_dynamic_list_with_an_item_that_is_no_object(item: Any) -> None:
    body = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [item]}).encode()
    with ScriptedServer(always(body)) as server:
        pods = dynamic.new_for_config(config(server)).resource(PODS).namespace("default")
        with pytest.raises(UnmarshalTypeError, match="json: cannot unmarshal"):
            pods.list(CTX, metav1.ListOptions())


BROKEN_STATUS = {
    "status": ["Failure"],
    "code": "500",
    "details": "text",
    "message": 5,
    "reason": {},
}
DETAILS = {"details": {"causes": [1]}, "code": 2**40}


@pytest.mark.parametrize(("field", "value"), [*BROKEN_STATUS.items(), *DETAILS.items()])
def test_an_unreadable_status_leaves_the_error_of_the_code(field: str, value: Any) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409}
    with ScriptedServer(always(json.dumps({**status, field: value}).encode(), 503)) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        with pytest.raises(errors.StatusError) as caught:
            pods.get(CTX, "a", metav1.GetOptions())
        # Whatever a caller asks about the error has an answer.
        assert caught.value.status().code == 503
        assert not errors.is_conflict(caught.value)
        assert errors.suggests_client_delay(caught.value)[1] is False
        assert repr(caught.value)


@pytest.mark.parametrize(("field", "value"), BROKEN_STATUS.items())
def test_an_error_event_with_an_unreadable_status_is_an_internal_error(field: str, value: Any) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Gone", "code": 410, field: value}
    line = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
    kind, obj = Decoder(http.BytesBody([line]), JSONSerializer(SCHEME, strip=True)).decode()

    err = errors.from_object(obj)

    assert kind == EventType.ERROR
    assert isinstance(err, errors.StatusError) and errors.is_internal_error(err)
    assert str(err).startswith("Internal error occurred: unable to decode a Status: json: cannot unmarshal")


@pytest.mark.parametrize("read", ["do", "do_raw"])
def test_only_the_start_of_an_endless_failure_is_read(read: str) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += len(PIECE)
            yield PIECE

    with ScriptedServer(lambda request: Answer(500, chunks=endless())) as server:
        client = kubernetes.new_for_config(config(server)).core_v1().rest_client()
        request = client.get().abs_path("/api/v1/pods")
        with pytest.raises(errors.StatusError) as caught:
            request.do(CTX).into(metav1.Status) if read == "do" else request.do_raw(CTX)
    assert caught.value.status().code == 500
    assert sent < 64 * MEBIBYTE


def test_a_body_that_would_fill_the_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clientgo.golang.http.body._MAX_BODY", MEBIBYTE)
    with ScriptedServer(lambda request: Answer(chunks=(PIECE for _ in range(1 << 30)))) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        with pytest.raises(RuntimeError, match="http: response body of more than 1048576 bytes"):
            pods.list(CTX, metav1.ListOptions())


BROKEN = {
    "cut": Answer(200, b"{", claimed_length=100),
    "no gzip": Answer(200, b"{}", {"Content-Type": "application/json", "Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("timeout", [0.0, PATIENCE])
@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN.keys())
def test_a_short_body_that_breaks_off_is_the_error_with_and_without_a_timeout(answer: Answer, timeout: float) -> None:
    """The rest of a short body is read so that its connection can be reused; that fails again, in other words."""
    with ScriptedServer(lambda request: answer) as server:
        pods = kubernetes.new_for_config(rest.Config(host=server.url, timeout=timeout)).core_v1().pods("default")
        with pytest.raises(RuntimeError, match="Original error: (unexpected EOF|gzip: )"):
            pods.get(CTX, "web", metav1.GetOptions())


def test_the_parameters_of_a_media_type_take_linear_time() -> None:
    assert parse_media_type("Application/JSON" + ";a=b" * MEBIBYTE) == ("application/json", {})
    assert parse_media_type("text/html" + ';a="\\"' * MEBIBYTE) == ("text/html", {})
    assert parse_media_type("text/html; Charset*=utf-8''x%20y; b=c") == ("text/html", {"charset": "x y", "b": "c"})


# ---- watch streams


def test_a_watch_line_without_an_end_is_an_error() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        yield b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}\n'
        while True:
            read += len(PIECE)
            yield PIECE

    decoder = Decoder(http.BytesBody(endless()), JSONSerializer(SCHEME, strip=True))
    assert decoder.decode()[0] == EventType.ADDED
    with pytest.raises(ValueError, match=r"longer than maximum allowed size \(after resourceVersion 7\)"):
        decoder.decode()
    assert read <= MAX_EVENT + 2 * len(PIECE)


def seconds_for(size: int) -> float:
    """Return the CPU seconds for a frame of this size that arrives byte by byte and is no event."""
    info = CODECS.serializer_info("application/vnd.kubernetes.protobuf")
    assert info is not None and isinstance(info.serializer, EventDecoder)
    frame = size.to_bytes(4, "big") + bytes(size)
    decoder = FrameDecoder(http.BytesBody([frame[at : at + 1] for at in range(len(frame))]), info.serializer)
    start = time.process_time()
    lines = decoder.read_lines()
    assert lines == [bytes(size)]
    return time.process_time() - start


def test_a_frame_in_single_bytes_takes_linear_time() -> None:
    small, large = min(seconds_for(40_000) for _ in range(3)), min(seconds_for(640_000) for _ in range(3))
    assert large < 64 * small, "16 times the bytes take 16 times as long, and 256 times if each byte copies the frame"


# ---- log lines and errors


@pytest.mark.parametrize("code", [*range(300, 600, 37), 403, 404, 415, 422, 500, 999])
@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/html; charset=utf-8", ""])
def test_an_error_without_a_body_has_a_text(code: int, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    with ScriptedServer(lambda request: Answer(code, b"", headers)) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        with pytest.raises(errors.StatusError) as caught:
            pods.get(CTX, "a", metav1.GetOptions())
        assert re.match("[a-z]", str(caught.value)), "not only the request in parentheses"


LIST = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[%s]}'
UNREADABLE: dict[str, Answer] = {
    "a login page": Answer(body=b"<html>", headers={"Content-Type": "text/html"}),
    "no body": Answer(),
    "JSON that ends early": Answer(body=LIST[:30]),
    "two documents": Answer(body=LIST % b"" * 2),
    "NaN": Answer(body=LIST % b'{"spec":{"priority":NaN}}'),
    "infinity": Answer(body=LIST % b'{"spec":{"priority":-Infinity}}'),
    "an integer without end": Answer(body=LIST % (b'{"spec":{"priority":%s}}' % (b"9" * 5000))),
    "a wrong type": Answer(body=b'{"kind":"PodList","apiVersion":"v1","metadata":[]}'),
    "an unknown kind": Answer(body=b'{"kind":"Cart","apiVersion":"shop/v1"}'),
    "a wrong version": Answer(body=b'{"kind":"PodList","apiVersion":"a/b/c"}'),
    "no object": Answer(body=b"[]"),
    "too deep": Answer(body=b'{"a":' * 20_000),
    "protobuf without its prefix": Answer(body=b"x", headers={"Content-Type": "application/vnd.kubernetes.protobuf"}),
    "protobuf that ends early": Answer(
        body=b"k8s\0\x0a\xff\xff", headers={"Content-Type": "application/vnd.kubernetes.protobuf"}
    ),
    "a length that is too long": Answer(body=LIST % b"", claimed_length=5000, hang_up=True),
    "no gzip": Answer(body=LIST % b"", headers={"Content-Type": "application/json", "Content-Encoding": "gzip"}),
    "a wrong chunk": Answer(
        raw=b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"
    ),
    "no HTTP": Answer(raw=b"SSH-2.0-OpenSSH\r\n"),
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_list_costs_an_informer_one_line_of_log_for_each_attempt(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedServer(lambda request: answer) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        source = cache.ListWatch(list_with_context_func=lambda ctx, options: pods.list(ctx, options))
        reflector = cache.new_named_reflector(
            "attacked", source, corev1.Pod(), cache.new_store(cache.meta_namespace_key_func), 0.0
        )
        with pytest.raises(Exception, match=".") as caught:
            reflector.list_and_watch_with_context(CTX)
        cache.default_watch_error_handler(CTX, reflector, caught.value)
    [*_, last] = caplog.records
    assert last.getMessage().startswith('"Failed to watch" err="failed to list *v1.Pod: ')
    assert not [
        record for record in caplog.records if "Traceback" in record.getMessage() or "\n" in record.getMessage()
    ]


def test_the_bug_of_a_users_list_function_still_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def broken(ctx: context.Context, options: metav1.ListOptions) -> corev1.PodList:
        raise ValueError("bad")

    reflector = cache.new_named_reflector(
        "attacked",
        cache.ListWatch(list_with_context_func=broken),
        corev1.Pod(),
        cache.new_store(cache.meta_namespace_key_func),
        0.0,
    )
    with pytest.raises(Exception, match="bad") as caught:
        reflector.list_and_watch_with_context(CTX)
    cache.default_watch_error_handler(CTX, reflector, caught.value)
    assert "Traceback" in caplog.text


def test_a_watch_answered_by_a_login_page_is_one_line_of_log(caplog: pytest.LogCaptureFixture) -> None:
    page = Answer(body=b"<html>", headers={"Content-Type": "text/html"})
    with ScriptedServer(lambda request: page) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        with pytest.raises(NegotiateError) as caught:
            pods.watch(CTX, metav1.ListOptions())
        klog.background().error(caught.value, "Failed to watch")
    assert "Traceback" not in caplog.text
    assert "no stream serializers registered for text/html" in caplog.text


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"Infinity", "invalid character 'I' looking for beginning of value"),
        (b"-Infinity", "invalid character 'I' in numeric literal"),
    ],
)
def test_no_object_contains_what_is_no_number_in_json(constant: bytes, text: str) -> None:
    body = LIST % (b'{"metadata":{"name":"a"},"spec":{"priority":%s}}' % constant)
    with ScriptedServer(always(body)) as server:
        with pytest.raises(ValueError, match=text):
            kubernetes.new_for_config(config(server)).core_v1().pods("default").list(CTX, metav1.ListOptions())
        with pytest.raises(ValueError, match=text):
            dynamic.new_for_config(config(server)).resource(PODS).namespace("default").list(CTX, metav1.ListOptions())
    line = b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","spec":{"priority":%s}}}\n' % constant
    with pytest.raises(ValueError, match="invalid JSON: "):
        Decoder(http.BytesBody([line]), JSONSerializer(SCHEME, strip=True)).decode()


def test_the_warnings_of_one_response_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    warnings = b"".join(b'Warning: 299 - "warning %d"\r\n' % number for number in range(20_000))
    for headers in (warnings, b'Warning: 299 - "%s"\r\n' % (b"x" * MEBIBYTE)):
        caplog.clear()
        with ScriptedServer(lambda request, raw=head + headers + b"\r\n{}": Answer(raw=raw)) as server:
            kubernetes.new_for_config(config(server)).core_v1().rest_client().get().do(CTX)
        assert sum(len(record.getMessage()) for record in caplog.records) < 256 * 1024


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b'{"kind":"%s","apiVersion":"v1"}' % (b"K" * 2 * MEBIBYTE)),
        Answer(
            403,
            b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"%s"}'
            % (b"m" * 2 * MEBIBYTE),
        ),
    ],
    ids=["an unknown kind", "a status"],
)
def test_a_long_error_does_not_fill_the_log(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedServer(lambda request: answer) as server:
        pods = kubernetes.new_for_config(config(server)).core_v1().pods("default")
        with pytest.raises(Exception, match=".") as caught:
            pods.list(CTX, metav1.ListOptions())
    klog.background().error(caught.value, "Failed")
    klog.background().info("Failed", err=caught.value)
    for record in caplog.records:
        assert len(record.getMessage()) < 20_000
        assert "more characters)" in record.getMessage()
    assert caplog.records
