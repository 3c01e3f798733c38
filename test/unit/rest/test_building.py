"""Building requests and reading responses, without retries. Go: rest/request_test.go."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer
from roundtrips import Turns, answer, client_of

from clientgo import context, klog, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.negotiate import NegotiateError
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.rest.request import _ThrottledLogger, _truncate_body
from clientgo.rest.urlbackoff import URLBackoff
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


def request_of(base: str = "http://h", **settings: Any) -> rest.Request:
    client, _ = client_of(Turns(answer()), base, **{"api_path": "/", "group_version": GroupVersion("", ""), **settings})
    return client.get()


@pytest.mark.parametrize(
    ("settings", "accept"),
    [
        ({}, "application/json, */*"),
        ({"content_type": "application/other"}, "application/other, */*"),
        ({"content_type": "application/json", "accept_content_types": "a/b;q=1,c/d"}, "a/b;q=1,c/d"),
    ],
)
def test_what_is_accepted_is_what_the_config_says_or_what_is_sent_and_anything(settings, accept):
    """Go: TestNewRequestSetsAccept"""
    assert request_of(**settings).parts().headers["Accept"] == accept


def test_headers_are_replaced_and_may_have_several_values():
    """Go: TestRequestSetsHeaders"""
    client, _ = client_of(turns := Turns(answer()))
    client.get().set_header("Accept", "a/b").set_header("X", "1").set_header("X", "2", "3").do(CTX)
    sent = turns.requests[0].headers
    assert (sent["Accept"], sent.getlist("X")) == ("a/b", ["2", "3"])


def test_after_a_mistake_nothing_is_changed_any_more():
    """Go: TestRequestWithErrorWontChange"""
    request = request_of().name("..")
    before, err = request.parts(), request.error()
    changed = request.param("foo", "bar").abs_path("/abs").prefix("test").suffix("testing").namespace("new")
    changed = changed.resource("foos").name("bars").sub_resource("x").body(b"foo").timeout(1.0).request_uri("/u")
    assert changed is request
    assert (request.parts(), request.error()) == (before, err)


@pytest.mark.parametrize(
    ("base", "prefix", "path", "url"),
    [
        ("http://h/", "", "", "/"),
        ("http://h", "", "/", "/"),
        ("http://h", "", "/api", "/api"),
        ("http://h", "", "/api/", "/api/"),
        ("http://h", "/api/foo/123", "/bar/foo", "/bar/foo"),
        ("http://h/p1", "", "", "/p1"),
        ("http://h/p1", "", "/", "/p1/"),
        ("http://h/p1", "/api/r1", "/apis", "/p1/apis"),
        ("http://h/p1/api/p2", "", "/", "/p1/api/p2/"),
        ("http://h/p1/api/p2", "/r1", "/api/", "/p1/api/p2/api/"),
    ],
)
def test_an_absolute_path_takes_the_place_of_all_but_the_base_and_keeps_its_slash(base, prefix, path, url):
    """Go: TestAbsPath, TestRequestAbsPathPreservesTrailingSlash, TestRequestPreservesBaseTrailingSlash"""
    assert request_of(base).prefix(prefix).abs_path(path).url() == f"http://h{url}"


def test_several_segments_are_joined():
    """Go: TestRequestAbsPathJoins"""
    assert request_of().abs_path("foo/bar", "baz").url() == "http://h/foo/bar/baz"


def test_a_path_has_one_order_whatever_the_order_of_the_calls():
    """Go: TestRequestSetsNamespace, TestRequestOrdersNamespaceInPath, TestRequestOrdersSubResource"""
    request = request_of().suffix("test").sub_resource("a", "b").name("bar").resource("baz").namespace("foo")
    assert request.url() == "http://h/namespaces/foo/baz/bar/a/b/test"
    assert request_of().namespace("foo").url() == "http://h/namespaces/foo"


@pytest.mark.parametrize("setter", ["name", "namespace", "resource", "sub_resource"])
def test_what_is_set_twice_or_would_leave_its_segment_is_a_mistake(setter):
    """Go: TestRequestSetTwiceError, TestInvalidSegments"""
    request = request_of()
    getattr(request, setter)("bar")
    assert request.error() is None
    assert "already set" in str(getattr(request, setter)("baz").error())
    for segment in (".", "..", "test/segment", "test%2bsegment"):
        assert "invalid" in str(getattr(request_of(), setter)(segment).error())


def test_parameters_are_added_up_and_escaped():
    """Go: TestRequestParam, TestUnacceptableParamNames"""
    request = request_of().param("foo", "a").param("foo", "b c").param("bar", "1&2").param("timeout", "42")
    assert request.url() == "http://h/?bar=1%262&foo=a&foo=b+c&timeout=42"


def test_options_become_parameters_beside_those_there_are():
    """Go: TestRequestVersionedParams, TestRequestVersionedParamsFromListOptions"""
    request = request_of().param("foo", "a").versioned_params(corev1.PodLogOptions(follow=True, container="bar"))
    assert request.parts().params == {"foo": ["a"], "container": ["bar"], "follow": ["true"]}
    request = request_of().versioned_params(metav1.ListOptions(resource_version="1"))
    request.versioned_params(metav1.ListOptions(resource_version="2", timeout_seconds=10))
    assert request.parts().params == {"resourceVersion": ["1", "2"], "timeoutSeconds": ["10"]}


def test_options_that_cannot_be_encoded_are_a_mistake():
    """Go: TestRequestVersionedParamsWithInvalidScheme"""

    class Unknowing:
        def encode_parameters(self, obj: object, to: GroupVersion) -> dict[str, list[str]]:
            raise ValueError("no kind is registered")

    request = request_of().versioned_params(corev1.PodExecOptions(stdout=True), Unknowing())  # type: ignore[arg-type]
    assert str(request.error()) == "no kind is registered"


@pytest.mark.parametrize("base", ["http://h", "http://h/context"])
def test_a_uri_takes_the_place_of_path_and_parameters(base):
    """Go: TestRequestURI, TestRequestURIContext"""
    request = request_of(base).param("foo", "a").param("bar", "b").prefix("other")
    request.request_uri("/test?foo=b&a=b&c=1&c=2")
    assert request.url() == f"{base}/test?a=b&c=1&c=2&foo=b"
    assert request.parts().params == {"a": ["b"], "foo": ["b"], "c": ["1", "2"]}


class Odd(runtime.Object):
    """Of no kind."""


@pytest.mark.parametrize("body", [["test"], 7, "/no/such/file"])
def test_what_is_no_body_is_a_mistake(body):
    """Go: TestRequestBody"""
    client, _ = client_of(turns := Turns(answer()))
    request = client.post().namespace("d").resource("pods").body(body)
    assert request.error() is not None
    assert request.do(CTX).error() is request.error()
    assert turns.requests == []


def test_a_body_is_bytes_an_object_a_file_to_read_or_the_path_of_one(tmp_path: Path):
    """Go: TestBody, TestDoRequestNewWay, TestDoRequestNewWayReader, TestDoRequestNewWayObj, TestDoRequestNewWayFile"""
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="foo"))
    sent = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"foo"}}\n'
    (tmp_path / "body").write_bytes(sent)
    service = {"kind": "Service", "apiVersion": "v1", "spec": {"ports": [{"port": 12345, "targetPort": 12345}]}}
    for body in (sent, pod, io.BytesIO(sent), str(tmp_path / "body")):
        client, _ = client_of(turns := Turns(answer(200, service)))
        request = client.post().prefix("foo", "bar").suffix("baz").timeout(1.0).body(body)
        found = request.do(CTX).into(corev1.Service)
        assert found.spec.ports[0].target_port == 12345
        (received,) = turns.requests
        assert (received.method, received.url) == ("POST", "http://h/api/v1/foo/bar/baz?timeout=1s")
        assert (received.body if isinstance(received.body, bytes) else received.body.read()) == sent
        assert received.headers.get("Content-Type") == ("application/json" if body is pod else None)


def test_nothing_is_no_body():
    """Go: TestBody, TestRequestDo"""
    client, _ = client_of(turns := Turns(answer()))
    client.get().body(None).do(CTX).raise_for_error()
    assert not turns.requests[0].body


@pytest.mark.parametrize("call", ["into", "get", "raw"])
def test_a_result_with_an_error_gives_nothing_else(call):
    """Go: TestResultIntoWithErrReturnsErr"""
    failure = ValueError("boom")
    result = rest.Result(err=failure)
    with pytest.raises(ValueError, match="boom") as raised:
        result.into(corev1.Pod) if call == "into" else getattr(result, call)()
    assert raised.value is failure


@pytest.mark.parametrize("body", [b"", None])
def test_a_body_without_length_fills_no_object(body):
    """Go: TestResultIntoWithNoBodyReturnsErr"""
    client, _ = client_of(Turns(answer(200, body or b"", Content_Type="application/json")))
    with pytest.raises(ValueError, match="0-length response with status code: 200 and content type: application/json"):
        client.get().do(CTX).into(corev1.Pod)


@pytest.mark.parametrize(
    ("response", "is_wanted"),
    [
        (answer(199), lambda err: err is not None),
        (answer(500), errors.is_internal_error),
        (answer(422), errors.is_invalid),
        (answer(409), errors.is_conflict),
        (answer(404), errors.is_not_found),
        (answer(403), errors.is_forbidden),
        (answer(401), errors.is_unauthorized),
        (answer(401, b"aaaaa", Content_Type="application/json"), errors.is_unauthorized),
        (answer(401, b"aaaaa", Content_Type="text/any"), errors.is_unauthorized),
    ],
)
def test_the_code_of_an_answer_says_what_its_error_is(response, is_wanted):
    """Go: TestTransformResponse"""
    client, _ = client_of(Turns(response))
    err = client.get().resource("pods").do(CTX).error()
    assert is_wanted(err)
    assert "aaaaa" not in str(err)
    assert isinstance(err, errors.StatusError)
    assert err.status().code == response.status_code


@pytest.mark.parametrize(
    ("content_type", "sent", "used"),
    [
        # What the answer says it is, and what the client asks for where it says nothing.
        ("application/json", "application/protobuf", "application/protobuf"),
        ("text/any", "", "text/any"),
        ("application/json", "text/other; charset=x", "text/other"),
    ],
)
def test_the_decoder_is_the_one_for_the_answers_type(content_type, sent, used):
    """Go: TestTransformResponseNegotiate"""
    asked: list[str] = []

    class Negotiator:
        def encoder(self, content_type: str, params: object) -> Any:
            raise NotImplementedError("nothing is sent")

        def decoder(self, content_type: str, params: object) -> Any:
            asked.append(content_type)
            raise NegotiateError(content_type)

    headers = {"Content_Type": sent} if sent else {}
    client, _ = client_of(Turns(answer(404, b"aaaaa", **headers)), content_type=content_type)
    client.content = dataclasses.replace(client.content, negotiator=Negotiator())  # type: ignore[arg-type]
    result = client.get().resource("pods").do(CTX)
    assert asked == [used]
    # Without a decoder there is the code alone, as an error of a success there is the missing decoder.
    assert errors.is_not_found(result.error())


@pytest.mark.parametrize(
    ("verb", "code", "body", "is_wanted", "reported"),
    [
        ("POST", 409, b"", errors.is_already_exists, 409),
        ("PUT", 409, b"", errors.is_conflict, 409),
        ("GET", 404, b"", errors.is_not_found, 404),
        ("GET", 400, b"", errors.is_bad_request, 400),
        # A Status takes the place of what the code says, one that says Success does not.
        (
            "GET",
            400,
            {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404},
            errors.is_not_found,
            404,
        ),
        (
            "GET",
            400,
            {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 404},
            errors.is_bad_request,
            400,
        ),
        ("GET", 400, {}, errors.is_bad_request, 400),
        # Its version may be missing, its kind may not.
        ("GET", 400, {"kind": "Status", "status": "Failure", "code": 404}, errors.is_not_found, 404),
        ("GET", 400, {"status": "Failure", "code": 404}, errors.is_bad_request, 400),
    ],
)
def test_an_answer_that_is_no_object_becomes_an_error_of_its_code(verb, code, body, is_wanted, reported):
    """Go: TestTransformUnstructuredError"""
    client, _ = client_of(Turns(answer(code, body)))
    request = client.verb(verb).namespace("d").resource("foo").name("bar")
    err = request.do(CTX).error()
    assert is_wanted(err)
    assert isinstance(err, errors.StatusError)
    assert err.status().code == reported


def test_the_result_reports_whether_the_object_was_created():
    """Go: TestWasCreated"""
    client, _ = client_of(Turns(answer(201, {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}})))
    result = client.put().namespace("d").resource("services").name("s").body(b"{}").do(CTX)
    assert (result.was_created(), result.into(corev1.Service).metadata.name) == (True, "s")


@pytest.mark.parametrize(("content_type", "known"), [("application/json", True), ("foobar", False), ("", True)])
def test_a_watch_is_decoded_as_what_it_says_it_is(content_type, known):
    """Go: TestWatchUnknownContentType, TestWatchNonDefaultContentType"""
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "first"}}
    events = b"".join(
        json.dumps({"type": kind, "object": pod}).encode() + b"\n" for kind in ("ADDED", "MODIFIED", "DELETED")
    )
    client, _ = client_of(Turns(answer(200, events, Content_Type=content_type)))
    request = client.get().prefix("path/to/watch/thing")
    if not known:
        with pytest.raises(NegotiateError):
            request.watch(CTX)
        return
    got = [(str(event.type), event.object.metadata.name) for event in request.watch(CTX, corev1.Pod).result_chan()]
    assert got == [("ADDED", "first"), ("MODIFIED", "first"), ("DELETED", "first")]


@pytest.mark.parametrize(
    ("verb", "namespace", "name", "message"),
    [
        *[(verb, None, "", "") for verb in ("GET", "PUT", "DELETE", "POST")],
        *[(verb, "", "", "") for verb in ("GET", "PUT", "DELETE")],
        *[(verb, "", "n", "when a resource name is provided") for verb in ("GET", "PUT", "DELETE")],
        ("POST", "", "", "during creation"),
        ("POST", "", "n", "during creation"),
        *[(verb, "d", "n", "") for verb in ("GET", "PUT", "DELETE", "POST", "PATCH")],
        ("PATCH", "", "n", ""),
    ],
)
def test_an_empty_namespace_is_refused_where_one_is_needed(verb, namespace, name, message):
    """
    Go: TestRequestPreflightCheck/no namespace set
    Go: TestRequestPreflightCheck/empty resource name and namespace
    Go: TestRequestPreflightCheck/resource name with empty namespace
    Go: TestRequestPreflightCheck/post empty resource name and namespace
    Go: TestRequestPreflightCheck/working requests
    """
    client, _ = client_of(turns := Turns(answer()))
    request = client.verb(verb).resource("pods")
    if namespace is not None:
        request.namespace(namespace)
    if name:
        request.name(name)
    err = request.do(CTX).error()
    assert (err is None, len(turns.requests)) == (not message, 0 if message else 1)
    assert message in str(err)


@pytest.fixture
def default_warnings() -> Iterator[None]:
    """Restore the default handler of warnings after the test."""
    yield
    rest.set_default_warning_handler_with_context(rest.WarningLogger())


class RecordingHandler:
    """A handler of both forms."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_warning_header(self, code: int, agent: str, text: str) -> None:
        self.texts.append(text)

    def handle_warning_header_with_context(self, ctx: context.Context, code: int, agent: str, text: str) -> None:
        self.texts.append(f"{text} with context")


@pytest.mark.parametrize(
    ("setter", "given", "of_request", "of_client", "default"),
    [
        # Go: TestRequestWarningHandler/no-context
        ("warning_handler", True, ["old"], [], []),
        # Go: TestRequestWarningHandler/with-context
        ("warning_handler_with_context", True, ["old with context"], [], []),
        # Go: TestRequestWarningHandler/nil-no-context
        ("warning_handler", False, [], [], ["old with context"]),
        # Go: TestRequestWarningHandler/nil-with-context
        ("warning_handler_with_context", False, [], [], ["old with context"]),
    ],
)
def test_a_requests_handler_of_warnings_comes_before_the_clients(
    default_warnings, setter, given, of_request, of_client, default
):
    handlers = [RecordingHandler() for _ in range(3)]
    rest.set_default_warning_handler_with_context(handlers[2])
    client, _ = client_of(Turns(answer(200, {}, Warning='299 - "old"')), warning_handler_with_context=handlers[1])
    request = client.get()
    assert getattr(request, setter)(handlers[0] if given else None) is request
    request.do(CTX).raise_for_error()
    assert [handler.texts for handler in handlers] == [of_request, of_client, default]


# --- what is logged ---


@pytest.fixture
def verbosity():
    """Return a function that sets -v until the end of the test."""
    before = klog.verbosity()
    yield klog.set_verbosity
    klog.set_verbosity(before)


LONG, LONGER = "a" * 2000, "a" * 20000


@pytest.mark.parametrize(
    ("body", "level", "shown"),
    [
        ("small", 10, "small"),
        ("small", 8, "small"),
        (LONG, 8, f"{'a' * 1024} [truncated 976 chars]"),
        (LONG, 9, LONG),
        (LONGER, 9, f"{'a' * 10240} [truncated 9760 chars]"),
        (LONGER, 10, LONGER),
        (LONGER, 11, LONGER),
    ],
)
def test_a_body_is_logged_up_to_a_length(verbosity, body, level, shown):
    """Go: TestTruncateBody"""
    verbosity(level)
    assert _truncate_body(klog.background(), body) == shown


@pytest.mark.parametrize(
    ("level", "body", "lines"),
    [
        pytest.param(7, b"ping", [], id="no-output"),
        pytest.param(8, b"ping", ['"Request Body" body="ping"', '"Response Body" body="pong"'], id="output"),
        pytest.param(
            8,
            b"a" * 2000,
            [f'"Request Body" body="{"a" * 1024} [truncated 976 chars]"', '"Response Body" body="pong"'],
            id="truncate",
        ),
        pytest.param(
            8,
            b"k8s\0" + b"a" * 20,
            [
                '"Request Body" body=<\n'
                "\t00000000  6b 38 73 00 61 61 61 61  61 61 61 61 61 61 61 61  |k8s.aaaaaaaaaaaa|\n"
                "\t00000010  61 61 61 61 61 61 61 61                           |aaaaaaaa|\n >",
                '"Response Body" body="pong"',
            ],
            id="protobuf",
        ),
    ],
)
def test_bodies_are_logged_from_verbosity_8_on(verbosity, caplog, level, body, lines):
    """Go: TestRequestLogging"""
    client, _ = client_of(Turns(answer(200, b"pong", Content_Type="text/plain")))
    verbosity(level)
    with caplog.at_level(logging.DEBUG):
        client.post().body(body).do(CTX).raise_for_error()
    assert [record.getMessage() for record in caplog.records if "Body" in record.getMessage()] == lines


def test_the_body_that_is_read_as_it_is_sent_is_not_logged(verbosity, caplog):
    """Go: TestRequestLogging/io-reader"""
    client, _ = client_of(turns := Turns(answer(200, b"pong", Content_Type="text/plain")))
    verbosity(8)
    with caplog.at_level(logging.DEBUG):
        client.post().body(io.BytesIO(b"ping")).do(CTX).raise_for_error()
    assert [record.getMessage() for record in caplog.records if "Body" in record.getMessage()] == [
        '"Response Body" body="pong"'
    ]
    assert turns.requests[0].body is not None


def test_warnings_of_code_299_are_logged(verbosity, caplog):
    """Go: TestRequestLogging/warnings"""
    warnings = '299 request-test "warning 1", 299 request-test-2 "warning 2", 300 request-test-3 "ignore code 300"'
    client, _ = client_of(Turns(answer(200, b"pong", Warning=warnings)))
    with caplog.at_level(logging.DEBUG):
        client.post().do(CTX).raise_for_error()
    assert [record.getMessage() for record in caplog.records] == ['"Warning: warning 1"', '"Warning: warning 2"']


def test_that_requests_wait_is_logged_only_so_often(caplog):
    """One line in ten seconds, however many requests wait. Go: TestThrottledLogger"""
    clock = FakeClock(1000.0)
    throttled = _ThrottledLogger(clock)
    with caplog.at_level(logging.INFO):
        for _ in range(100):
            for _ in range(10):
                throttled.info(klog.background(), "Waited")
            clock.step(1.0)
    assert len(caplog.records) == 10


# --- connections ---


def test_a_connection_on_which_a_request_hung_is_not_used_again():
    """
    Go: TestHTTP1DoNotReuseRequestAfterTimeout/HTTP1
    Go: TestReconnectBrokenTCPInFlight_HTTP1
    """

    def reply(request: Received) -> Answer:
        if request.target.startswith("/hang"):
            server.closing.wait()
        return Answer(200, str(request.connection).encode())

    with ScriptedServer(reply) as server:
        config = rest.Config(host=server.url, qps=-1, group_version=GroupVersion("", "v1"))
        client = rest.rest_client_for(config)

        def number() -> bytes:
            return client.get().abs_path("/foo").do_raw(CTX)

        assert [number(), number()] == [b"1", b"1"]
        with pytest.raises(Exception, match="deadline exceeded"):
            client.get().abs_path("/hang").timeout(0.2).do_raw(CTX)
        assert number() == b"2"
        client.client.close_idle_connections()


def test_threads_that_share_a_client_get_their_own_answers():
    """Go: TestTransportConcurrency/HTTP1"""
    from queueobjects import in_threads, join

    with ScriptedServer(lambda request: Answer(200, request.target.partition("echo=")[2].encode())) as server:
        client = rest.rest_client_for(rest.Config(host=server.url, qps=-1, group_version=GroupVersion("", "v1")))
        wrong: list[bytes] = []

        def ask(worker: int) -> None:
            for i in range(10):
                text = f"request-{worker}-{i}"
                got = client.get().param("echo", text).do_raw(CTX)
                if got != text.encode():
                    wrong.append(got)

        join(in_threads([lambda worker=worker: ask(worker) for worker in range(4)]))
        assert wrong == []
        assert len(server.requests) == 40
        client.client.close_idle_connections()


@pytest.mark.parametrize(
    ("err", "code", "logged"), [(None, 299, 0), (None, 300, 1), (OSError("x"), 0, 1), (None, 429, 0)]
)
def test_the_backoff_is_notified_of_failed_answers(err, code, logged, verbosity, caplog):
    verbosity(4)
    with caplog.at_level("DEBUG"):
        URLBackoff(flowcontrol.new_back_off(1.0, 10.0)).update_backoff("http://h:1/a", err, code)
    assert ["Client is returning errors" in record.getMessage() for record in caplog.records] == [True] * logged


@pytest.mark.parametrize("base", ["/k8s/clusters/c1", "/k8s/clusters/c1/", "/k8s%2Fclusters/c1", "//k8s//clusters/c1"])
@pytest.mark.parametrize(
    "change",
    [
        lambda request, path: request.abs_path(path),
        lambda request, path: request.abs_path("..", path),
        lambda request, path: request.abs_path("/api", "..", "..", path),
        lambda request, path: request.prefix(path),
        lambda request, path: request.abs_path("/").prefix("..", path),
        lambda request, path: request.suffix("..", path),
        lambda request, path: request.suffix("a", "../..", path),
        lambda request, path: request.request_uri(path),
        lambda request, path: request.request_uri(path.replace("/", "%2F")),
        lambda request, path: request.request_uri(path.replace(".", "%2e")),
    ],
)
@pytest.mark.parametrize("path", ["../../c2/api", "/../../c2/api", "x/../../../c2/api", "/..//../c2/api"])
def test_no_path_leads_above_the_base_path(base, change, path):
    """A proxy's path names the cluster, and its permissions are those of that cluster. Go lets `..` through."""
    assert change(request_of(f"http://h{base}"), path).url() == "http://h/k8s/clusters/c1/c2/api"


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("/a%zz", r'parse "/a%zz": invalid URL escape "%zz"'),
        ("/a%2", r'parse "/a%2": invalid URL escape "%2"'),
        ("/a%", r'parse "/a%": invalid URL escape "%"'),
        ("/a\n", r'parse "/a\n": net/url: invalid control character in URL'),
        ("/\x7f", r'parse "/\x7f": net/url: invalid control character in URL'),
        (":/a", r'parse ":/a": missing protocol scheme'),
        ("1a:b/c", r'parse "1a:b/c": first path segment in URL cannot contain colon'),
    ],
)
def test_a_uri_that_go_does_not_parse_is_refused(uri, reason):
    assert str(request_of().request_uri(uri).error()) == reason


@pytest.mark.parametrize("uri", ["/a%2Fb?x=%zz", "/a:b", "a/b:c", "/?a=:"])
def test_a_uri_that_go_parses_is_taken(uri):
    assert request_of().request_uri(uri).error() is None


def test_the_error_of_a_result_leaves_it_unchanged():
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
    client, _ = client_of(Turns(answer(404, json.dumps(status).encode())), group_version=GroupVersion("", "v1"))
    result = client.get().abs_path("/a").do(CTX)
    before = vars(result).copy()
    assert result.error() is not None and str(result.error()) == str(result.error())
    assert vars(result) == before
