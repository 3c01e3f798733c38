"""rest.Request: building URLs, sending with retries and limits, and what errors say."""

from __future__ import annotations

import gzip
import json
import threading
import traceback
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer, status
from patience import PATIENCE

from clientgo import context, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.kubernetes.scheme import CODECS
from clientgo.rest.request import parse_media_type
from clientgo.rest.warnings import parse_warning_headers
from clientgo.tools.metrics import metrics
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


def client_for(host: str, **settings: Any) -> rest.RESTClient:
    settings = {"qps": -1, "api_path": "/api", "group_version": GroupVersion("", "v1"), **settings}
    return rest.rest_client_for(rest.Config(host=host, **settings))


def pod(name: str = "web", **metadata: Any) -> bytes:
    return json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, **metadata}}).encode()


# --- building ---


def test_url_has_prefix_namespace_resource_name_subresource_and_sorted_parameters():
    request = client_for("https://host:6443/proxy").get().namespace("ns").resource("pods").name("a").sub_resource("log")
    request.param("z", "1 2").param("a", "x").timeout(484)
    assert request.url() == ("https://host:6443/proxy/api/v1/namespaces/ns/pods/a/log?a=x&timeout=8m4s&z=1+2")


def test_versioned_params_leave_out_zero_values_and_keep_set_pointers():
    options = metav1.ListOptions(
        limit=500, resource_version="0", watch=False, timeout_seconds=0, send_initial_events=False
    )
    request = client_for("h:1").get().resource("pods").versioned_params(options)
    query = request.url().partition("?")[2]
    assert query == "limit=500&resourceVersion=0&sendInitialEvents=false&timeoutSeconds=0"


def test_abs_path_and_request_uri_replace_the_path_below_the_base():
    client = client_for("http://h/base")
    assert client.get().abs_path("/healthz/").url() == "http://h/base/healthz/"
    assert client.get().abs_path("apis", "apps", "v1").url() == "http://h/base/apis/apps/v1"
    assert client.get().param("a", "b").request_uri("/apis/x?c=d&c=e").url() == "http://h/base/apis/x?c=d&c=e"
    assert client.get().request_uri("/apis/x?c=&d").url() == "http://h/base/apis/x?c=&d=", "a parameter may be empty"
    url = client.get().request_uri("/x?a=1;b=2&c=%zz&d=%4&e=%41").url()
    assert url == "http://h/base/x?e=A", "Go drops parameters that it cannot read"


def test_paths_are_escaped_once():
    client = client_for("http://h/a%20b")
    assert client.get().resource("pods").name("ü ?#[]!*'()$&+,:;=@~").url() == (
        "http://h/a%20b/api/v1/pods/%C3%BC%20%3F%23%5B%5D%21%2A%27%28%29$&+,:;=@~"
    )
    assert client.get().request_uri("/c%20d/%7Be%7D?x=%20&x=%2B").url() == "http://h/a%20b/c%20d/%7Be%7D?x=+&x=%2B"


# Go: TestURLTemplate, with the braces as they are.
@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/api/v1/namespaces/ns/r1/name1", "/api/v1/namespaces/{namespace}/r1/{name}"),
        ("/apis/g1/v1/namespaces/ns/r1/name1", "/apis/g1/v1/namespaces/{namespace}/r1/{name}"),
        ("/api/v1/namespaces/ns/r1", "/api/v1/namespaces/{namespace}/r1"),
        ("/apis/g1/v1/namespaces/ns/r1", "/apis/g1/v1/namespaces/{namespace}/r1"),
        ("/api/v1/r1/name1", "/api/v1/r1/{name}"),
        ("/apis/g1/v1/r1/name1", "/apis/g1/v1/r1/{name}"),
        ("/apis/n/n/n/n/n/n/finalize", "/apis/n/n/n/{namespace}/n/{name}/finalize"),
        ("/apis/n/n/n/n/n/n/status", "/apis/n/n/n/{namespace}/n/{name}/status"),
        ("/apis/n/n/n/n/n/n", "/apis/n/n/n/{namespace}/n/{name}"),
        ("/apis/n/n/n/n/n/finalize", "/apis/n/n/n/{namespace}/n/finalize"),
        ("/apis/n/n/n/n/n", "/apis/n/n/n/{namespace}/n"),
        ("/apis/n/n/n/n/finalize", "/apis/n/n/n/{name}/finalize"),
        ("/apis/n/n/n/n/status", "/apis/n/n/n/{name}/status"),
        ("/apis/n/n/n/n", "/apis/n/n/n/{name}"),
        ("/apis/n/n/n", "/apis/n/n/n"),
        ("/apis/n/n/n/n/n/n/n/n/finalize", "/apis/n/n/n/{namespace}/n/{name}/n/n/finalize"),
        ("/other/v1/namespaces/ns/r1", "/{prefix}"),
        ("/healthz", "/healthz"),
    ],
)
@pytest.mark.parametrize("base", ["", "/some/base/url/path", "/api"])
def test_metrics_get_urls_with_placeholders(path, template, base):
    expected = f"http://h{base}{template}?p={{value}}" if "prefix" not in template else f"http://h{template}"
    request = client_for(f"http://u:p@h{base}").get().abs_path(path).param("p", "v")
    assert request._final_url_template() == expected


def test_names_that_stand_in_the_path_anyway_are_not_taken_for_it():
    request = client_for("http://h").get().namespace("v1").resource("pods").name("api")
    assert request._final_url_template() == "http://h/api/v1/namespaces/{namespace}/pods/{name}"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda r: r.resource("pods").resource("x"), 'resource already set to "pods", cannot change to "x"'),
        (lambda r: r.name(""), "resource name may not be empty"),
        (lambda r: r.name("a/b"), "invalid resource name \"a/b\": [may not contain '/']"),
        (lambda r: r.namespace(".."), "invalid namespace \"..\": [may not be '..']"),
        (lambda r: r.namespace("a").namespace("b"), 'namespace already set to "a", cannot change to "b"'),
        (lambda r: r.name("a").name("b"), 'resource name already set to "a", cannot change to "b"'),
        (lambda r: r.sub_resource("a%").name("x"), "invalid subresource \"a%\": [may not contain '%']"),
        (lambda r: r.body(7), "unknown type used for body: int"),
    ],
)
def test_mistakes_are_kept_and_nothing_is_sent(build, message):
    request = build(client_for("http://127.0.0.1:1").get())
    assert str(request.error()) == message
    with pytest.raises((ValueError, TypeError), match=r".*"):
        request.do(CTX).raw()


def test_an_empty_namespace_is_refused_where_one_must_be_meant():
    client = client_for("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="an empty namespace may not be set during creation"):
        client.post().namespace("").resource("pods").do(CTX).raw()
    with pytest.raises(ValueError, match="an empty namespace may not be set when a resource name is provided"):
        client.get().namespace("").resource("pods").name("x").do(CTX).raw()


def test_body_is_written_with_kind_and_read_without():
    with ScriptedServer(lambda request: Answer(201, request.body)) as server:
        result = (
            client_for(server.url)
            .post()
            .namespace("d")
            .resource("pods")
            .body(corev1.Pod(metadata=metav1.ObjectMeta(name="a")))
            .do(CTX)
        )
        created = result.into(corev1.Pod)
    sent = server.requests[0]
    assert sent.json == {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}
    assert sent.body.endswith(b"\n")
    assert sent.headers["Content-Type"] == "application/json"
    assert sent.headers["Accept"] == "application/json, */*"
    assert result.was_created()
    assert created.to_dict() == {"metadata": {"name": "a"}}


def test_delete_options_go_out_in_the_version_of_the_client():
    with ScriptedServer(
        lambda request: Answer(200, b'{"kind":"Status","apiVersion":"v1","status":"Success"}')
    ) as server:
        client = client_for(server.url, api_path="/apis", group_version=GroupVersion("apps", "v1"))
        client.delete().namespace("d").resource("deployments").name("a").body(metav1.DeleteOptions()).do(
            CTX
        ).raise_for_error()
    assert server.requests[0].json == {"kind": "DeleteOptions", "apiVersion": "apps/v1"}


def test_an_answer_of_another_kind_is_an_error_and_a_success_status_is_none():
    bodies = iter(
        [
            b'{"kind":"Status","apiVersion":"v1","status":"Success"}',
            b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":500}',
        ]
    )
    with ScriptedServer(lambda request: Answer(200, next(bodies))) as server:
        request = client_for(server.url).get().resource("pods")
        assert request.do(CTX).into(corev1.Pod) == corev1.Pod()
        with pytest.raises(errors.StatusError, match="no"):
            request.do(CTX).into(corev1.Pod)


def test_into_refuses_an_empty_body():
    with (
        ScriptedServer(lambda request: Answer(200, b"")) as server,
        pytest.raises(ValueError, match="0-length response with status code: 200 and content type: application/json"),
    ):
        client_for(server.url).get().resource("pods").do(CTX).into(corev1.Pod)


# --- headers ---


def test_user_agent_compression_and_impersonation():
    compressed = gzip.compress(pod())
    with ScriptedServer(
        lambda request: Answer(200, compressed, {"Content-Type": "application/json", "Content-Encoding": "gzip"})
    ) as server:
        impersonate = rest.ImpersonationConfig(user_name="u", groups=["g1", "g2"], extra={"Example.com/a": ["1", "2"]})
        client = client_for(server.url, user_agent="me/1", impersonate=impersonate, username="n", password="p")
        assert client.get().resource("pods").name("web").do(CTX).into(corev1.Pod).metadata.name == "web"
    headers = server.requests[0].headers
    assert headers["Accept-Encoding"] == "gzip"
    assert headers["User-Agent"] == "me/1"
    assert headers["Authorization"] == "Basic bjpw"
    assert headers["Impersonate-User"] == "u"
    assert headers.getlist("Impersonate-Group") == ["g1", "g2"]
    assert headers.getlist("Impersonate-Extra-Example.com%2Fa") == ["1", "2"]


def test_warnings_reach_the_handler():
    warnings: list[tuple[int, str, str]] = []

    class Handler:
        def handle_warning_header(self, code: int, agent: str, text: str) -> None:
            warnings.append((code, agent, text))

    headers = {"Content-Type": "application/json", "Warning": '299 - "v1 is \\"old\\"", 299 kube "b, c"'}
    with ScriptedServer(lambda request: Answer(200, pod(), headers)) as server:
        result = client_for(server.url, warning_handler=Handler()).get().resource("pods").do(CTX)
    assert warnings == [(299, "-", 'v1 is "old"'), (299, "kube", "b, c")]
    assert len(result.warnings()) == 2


def test_media_types():
    assert parse_media_type("application/json") == ("application/json", {})
    assert parse_media_type('Application/JSON; Charset="utf-8";v=v2') == (
        "application/json",
        {"charset": "utf-8", "v": "v2"},
    )


@pytest.mark.parametrize(("length", "known"), [(4096, {"charset"}), (4097, set())])
def test_the_parameters_of_a_media_type_without_end_are_ignored(length, known):
    """Their parsing takes quadratic time. A server would otherwise keep a client busy with one header."""
    media_type, params = parse_media_type("Application/JSON ;charset=".ljust(length, "u"))
    assert (media_type, params.keys()) == ("application/json", known)


# Go: TestParseWarningHeader, TestParseWarningHeaders
@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ("", []),
        ("A B", []),
        ('1 - "text"', []),
        ('A - "text"', []),
        (r'  299 - "text"  "Tue, 15 Nov 1994 08:12:31 GMT ', []),
        (r'  299 - "text"  "Tue, 15 Nov 1994 08:12:31 GMT" other', []),
        ('299 agent\x00name "text"', []),
        ('299 agent name "text"', []),
        ('1000 - "text"', []),
        ('-01 - "text"', []),
        ('299  "text"', []),
        ('299 - ""', [""]),
        ('001 - "text"', ["text"]),
        ('999 - "text"', ["text"]),
        ('299 agent\xc5name "text"', []),
        ('299 - "text\x00"', []),
        ('299 - "text\xc5"', []),
        ('299 - "text\xc2\x85"', []),
        (r'299 - "text\"\\\a\b\c"', ['text"\\abc']),
        ('299 - "=?iso-8859-1?q?this=20is=20some=20text?="', ["this is some text"]),
        ('299 - "=?UTF-8?B?8J+Qjg==?= And =?UTF-8?B?8J+Qjg==?="', ["🐎 And 🐎"]),
        ('299 - "=?UTF-9?Q?a: =F0=9F=90=8E?="', ["=?UTF-9?Q?a: =F0=9F=90=8E?="]),
        ('  299 - "text"  "Tue, 15 Nov 1994 08:12:31 GMT" , ', ["text"]),
        ('  299 - "text"  ,remainder text,second remainder', ["text"]),
        ('299 - "1", 299 - "unquoted', ["1"]),
        (' 299 - "1" ,  299 - "2" ', ["1", "2"]),
        ('299 - "veraltet: für v2 siehe 文档"'.encode().decode("latin-1"), ["veraltet: für v2 siehe 文档"]),
    ],
)
def test_warnings_are_read_as_go_reads_them(header, texts):
    """The header comes with a character for each byte, as http.client gives it."""
    assert [warning.text for warning in parse_warning_headers([header])] == texts


# --- retries ---


class SleptClock(FakeClock):
    """A clock whose sleepers wake at once; `slept` says for how long they meant to sleep."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.slept: list[float] = []

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        self.slept.append(round(timeout or 0.0, 6))
        self.step(timeout or 0.0)
        return False


def with_clock(client: rest.RESTClient) -> SleptClock:
    clock = SleptClock()
    client.clock = clock
    return clock


def test_retry_after_is_obeyed_up_to_ten_times():
    """Go: TestCheckRetryHandles429And5xx"""
    with ScriptedServer(lambda request: status(429, "TooManyRequests", "slow down", Retry_After="3")) as server:
        client = client_for(server.url)
        clock = with_clock(client)
        with pytest.raises(errors.StatusError) as caught:
            client.get().resource("pods").do(CTX).into(corev1.PodList)
    assert len(server.requests) == 11
    assert clock.slept == [3.0] * 10
    assert errors.is_too_many_requests(caught.value)
    assert str(caught.value) == "slow down"


def test_a_write_is_sent_again_only_when_the_server_asks_for_it():
    answers = iter([status(503, "ServiceUnavailable", "x", Retry_After="1"), Answer(200, pod())])
    with ScriptedServer(lambda request: next(answers)) as server:
        client = client_for(server.url)
        with_clock(client)
        client.put().namespace("d").resource("pods").name("web").body(pod()).do(CTX).raise_for_error()
    assert [request.body for request in server.requests] == [pod(), pod()]


def test_no_retry_without_the_header_and_none_with_max_retries_zero():
    with ScriptedServer(lambda request: status(500, "InternalError", "x")) as server:
        with pytest.raises(errors.StatusError):
            client_for(server.url).get().resource("pods").do(CTX).raw()
        assert len(server.requests) == 1
    with ScriptedServer(lambda request: status(429, "TooManyRequests", "x", Retry_After="1")) as server:
        with pytest.raises(errors.StatusError):
            client_for(server.url).get().resource("pods").max_retries(0).do(CTX).raw()
        assert len(server.requests) == 1


def test_a_lost_connection_is_tried_again_for_get_only():
    """Go: TestConnectionResetByPeerIsRetried"""
    answers = iter([Answer(hang_up=True), Answer(200, pod())])
    with ScriptedServer(lambda request: next(answers)) as server:
        client = client_for(server.url)
        clock = with_clock(client)
        assert client.get().resource("pods").name("web").do(CTX).into(corev1.Pod).metadata.name == "web"
        assert clock.slept == [1.0]
    with ScriptedServer(lambda request: Answer(hang_up=True)) as server:
        with pytest.raises(rest.URLError, match=r'Post "http://.*/api/v1/pods": EOF'):
            client_for(server.url).post().resource("pods").body(pod()).do(CTX).raise_for_error()
        assert len(server.requests) == 1


def test_the_final_error_includes_an_earlier_one():
    """Go: previous errors are wrapped when the last attempt ends in another way."""
    ctx, cancel = context.with_cancel(CTX)

    class CancellingClock(SleptClock):
        def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
            cancel()
            return False

    with ScriptedServer(lambda request: Answer(hang_up=True)) as server:
        client = client_for(server.url)
        client.clock = CancellingClock()
        with pytest.raises(Exception, match="context canceled - error from a previous attempt: EOF"):
            client.get().resource("pods").do(ctx).raise_for_error()


def test_every_attempt_passes_the_rate_limiter():
    class Counting:
        calls = 0

        def wait(self, ctx: context.Context) -> None:
            self.calls += 1

    limiter = Counting()
    answers = iter([status(429, "TooManyRequests", "x", Retry_After="1"), Answer(200, pod())])
    with ScriptedServer(lambda request: next(answers)) as server:
        client = client_for(server.url, rate_limiter=limiter)
        with_clock(client)
        client.get().resource("pods").do(CTX).raise_for_error()
    assert limiter.calls == 2


def test_default_rate_limit_and_none_for_negative_qps():
    limiter = rest.rest_client_for(rest.Config(host="h", group_version=GroupVersion("", "v1"))).get_rate_limiter()
    assert limiter is not None
    assert limiter.qps() == 5.0
    assert client_for("h").get_rate_limiter() is None


class AsyncLimiter:
    async def wait(self, ctx):
        raise AssertionError("never awaited")


class BlindLimiter:
    """Has no `wait`."""


@pytest.mark.parametrize(
    ("limiter", "error"),
    [
        (AsyncLimiter(), "wait of the rate limiter of a client is an async function: define it with def"),
        (BlindLimiter(), "the rate limiter of a client is <.*: an object with the methods wait is required"),
        (AsyncLimiter, "the rate limiter of a client is <class .*: an object of this class is required"),
        (5, "the rate limiter of a client is 5: an object with the methods wait is required"),
    ],
)
def test_a_rate_limiter_that_cannot_wait_is_refused_at_once(limiter, error):
    with pytest.raises(TypeError, match=error):
        client_for("h", rate_limiter=limiter)
    with pytest.raises(TypeError, match=error):
        client_for("h").get().throttle(limiter)


@pytest.mark.parametrize("kind", ["returns", "coroutine"])
def test_what_a_rate_limiter_returns_is_its_error(kind):
    """Go: RateLimiter.Wait returns an error."""

    class Limiter:
        def wait(self, ctx):
            return ValueError("no tokens left") if kind == "returns" else AsyncLimiter().wait(ctx)

    text = "no tokens left" if kind == "returns" else "AsyncLimiter.wait is an async function: define it with def"
    with pytest.raises(Exception, match=f"client rate limiter Wait returned an error: {text}"):
        client_for("h", rate_limiter=Limiter()).get().resource("pods").do(context.background()).raw()


def test_a_rate_limiter_that_gives_up_says_so():
    ctx, cancel = context.with_cancel(CTX)
    cancel()
    limiter = flowcontrol.new_fake_never_rate_limiter()
    limiter.stop()
    with pytest.raises(RuntimeError, match="client rate limiter Wait returned an error"):
        client_for("h", rate_limiter=flowcontrol.new_fake_never_rate_limiter()).get().resource("pods").do(ctx).raw()


# --- errors of the network ---


def test_connection_refused():
    with pytest.raises(rest.URLError) as caught:
        client_for("http://127.0.0.1:1").get().resource("pods").do(CTX).raw()
    assert str(caught.value) == (
        'Get "http://127.0.0.1:1/api/v1/pods": dial tcp 127.0.0.1:1: connect: connection refused'
    )
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


def test_an_unknown_host():
    with pytest.raises(rest.URLError, match=r"dial tcp: lookup no-such-host.invalid: no such host"):
        client_for("http://no-such-host.invalid:1").get().resource("pods").do(CTX).raw()


def about(err: BaseException) -> str:
    return "".join(traceback.format_exception_only(err))


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (status(404, "NotFound", "gone"), lambda r: r.do(CTX).raise_for_error()),
        (status(404, "NotFound", "gone"), lambda r: r.do(CTX).into(corev1.Pod)),
        (status(404, "NotFound", "gone"), lambda r: r.do_raw(CTX)),
        (status(404, "NotFound", "gone"), lambda r: r.watch(CTX)),
        (status(404, "NotFound", "gone"), lambda r: r.stream(CTX)),
        (Answer(404, b"no", {"Content-Type": "text/plain"}), lambda r: r.do(CTX).into(corev1.Pod)),
        (Answer(404, b"", {}), lambda r: r.do(CTX).get()),
        (Answer(404, b"{", claimed_length=9, hang_up=True), lambda r: r.do(CTX).get()),
        (Answer(404, b"{", claimed_length=9, hang_up=True), lambda r: r.do_raw(CTX)),
    ],
)
def test_every_exception_about_an_answer_names_method_path_and_code(answer, call):
    with ScriptedServer(lambda request: answer) as server:
        client = client_for(server.url)
        with pytest.raises(Exception, match=r".") as caught:
            call(client.get().namespace("d").resource("pods").name("web").param("x", "y"))
        client.client.close_idle_connections()
    text = about(caught.value)
    assert "GET /api/v1/namespaces/d/pods/web?x=y: 404" in text


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (Answer(200, b"{"), lambda r: r.do(CTX).get()),
        (Answer(200, b"{"), lambda r: r.do(CTX).into(corev1.Pod)),
        (Answer(200, b""), lambda r: r.do(CTX).into(corev1.Pod)),
        (Answer(200, b"x", {"Content-Type": "text/html"}), lambda r: r.do(CTX).get()),
        (Answer(200, b"x", {"Content-Type": "text/html"}), lambda r: r.watch(CTX)),
        (Answer(200, b'{"kind":"Status","status":"Failure","apiVersion":"v1"}'), lambda r: r.do(CTX).get()),
    ],
)
def test_so_does_one_about_what_a_success_holds(answer, call):
    with ScriptedServer(lambda request: answer) as server:
        client = client_for(server.url)
        with pytest.raises(Exception, match=r".") as caught:
            call(client.get().resource("pods").max_retries(0))
        client.client.close_idle_connections()
    assert "GET /api/v1/pods: 200" in about(caught.value)


def test_sizes_of_requests_and_answers_are_measured(monkeypatch):
    """Go: a request without a body counts with 0, an answer that never came does not count."""
    sizes: list[tuple[str, str, float]] = []

    class Sizes:
        def __init__(self, reason: str) -> None:
            self.reason = reason

        def observe(self, ctx: context.Context, verb: str, host: str, size: float) -> None:
            sizes.append((self.reason, verb, size))

    monkeypatch.setattr(metrics, "REQUEST_SIZE", Sizes("request"))
    monkeypatch.setattr(metrics, "RESPONSE_SIZE", Sizes("response"))
    with ScriptedServer(lambda request: Answer(200, b"12345")) as server:
        client = client_for(server.url)
        client.get().resource("pods").do(CTX)
        client.post().resource("pods").body(b"123").do_raw(CTX)
        client.client.close_idle_connections()
    client.get().resource("pods").do(CTX)
    assert sizes == [
        ("request", "GET", 0),
        ("response", "GET", 5),
        ("request", "POST", 3),
        ("response", "POST", 5),
        ("request", "GET", 0),
    ]


def test_a_body_that_is_cut_off_is_an_error(caplog):
    with (
        ScriptedServer(lambda request: Answer(200, b'{"kind":', claimed_length=100, hang_up=True)) as server,
        pytest.raises(
            RuntimeError,
            match=r"unexpected error when reading response body. Please retry. Original error: unexpected EOF",
        ),
    ):
        client_for(server.url).get().resource("pods").do(CTX).raw()
    assert '"Unexpected error when reading response body" err="unexpected EOF' in caplog.text


def test_no_credential_in_any_text():
    config = rest.Config(
        host="https://u:secret1@h",
        bearer_token="secret2",
        password="secret3",
        username="u",
        key_data=b"secret4",
        cert_data=b"secret5",
    )
    assert "secret" not in (str(config) + repr(config)).replace("secret1@h", "")
    err = http.URLError("Get", "https://u:secret1@h/x", OSError("boom"))
    assert "secret" not in str(err)


@pytest.mark.parametrize("state", ["connected", "reading"])
def test_cancelling_the_context_ends_a_blocked_request_at_once(state):
    """Go: TestDoContext"""
    arrived = threading.Event()
    ended = threading.Event()
    with ScriptedServer(lambda request: Answer(200, chunks=stream(request))) as server:

        def stream(request: Received) -> Any:
            if state == "connected":
                arrived.set()
                server.closing.wait()
            yield b'{"kind"'
            arrived.set()
            server.closing.wait()

        ctx, cancel = context.with_cancel(CTX)
        failures: list[BaseException] = []

        def call() -> None:
            try:
                client_for(server.url).get().resource("pods").do(ctx).raw()
            except Exception as err:
                failures.append(err)
            ended.set()

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        assert arrived.wait(PATIENCE)
        cancel()
        assert ended.wait(PATIENCE)
        thread.join()
    # A request that was given up is not tried again, whatever its connection went through.
    assert str(failures[0]).endswith("context canceled")
    assert "previous attempt" not in str(failures[0])
    assert len(server.requests) == 1


def test_a_timeout_ends_the_request_and_is_sent_to_the_server():
    """Go: TestRestClientTimeout"""
    with ScriptedServer(lambda request: Answer(200, chunks=hold(request))) as server:

        def hold(request: Received) -> Any:
            server.closing.wait()
            yield b""

        with pytest.raises(Exception, match="context deadline exceeded") as caught:
            client_for(server.url, timeout=0.5).get().resource("pods").do(CTX).raw()
    assert server.requests[0].target == "/api/v1/pods?timeout=500ms"
    assert any(isinstance(err, TimeoutError) for err in (caught.value, caught.value.__cause__))


def test_connections_are_used_again():
    """Go: TestReuseRequest/HTTP1"""
    with ScriptedServer(lambda request: Answer(200, pod())) as server:
        client = client_for(server.url)
        for _ in range(3):
            client.get().resource("pods").do(CTX).raise_for_error()
        assert {request.connection for request in server.requests} == {1}
        client.client.close_idle_connections()


def test_stream_gives_the_body_as_it_comes():
    """Go: TestStream"""
    with ScriptedServer(lambda request: Answer(200, chunks=[b"one\n", b"two\n"])) as server:
        body = client_for(server.url).get().namespace("d").resource("pods").name("a").sub_resource("log").stream(CTX)
        assert body.read() == b"one\ntwo\n"
        body.close()


def test_do_raw_raises_errors_made_of_code_and_text():
    with (
        ScriptedServer(lambda request: Answer(500, b"boom\n", {"Content-Type": "text/plain"})) as server,
        pytest.raises(
            errors.StatusError, match=r'an error on the server \("boom"\) has prevented the request from succeeding'
        ),
    ):
        client_for(server.url).get().resource("pods").do_raw(CTX)


class SlowLimiter:
    """A rate limiter that takes so many seconds of a clock."""

    def __init__(self, clock: SleptClock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds

    def wait(self, ctx: context.Context) -> None:
        self._clock.step(self._seconds)


@pytest.mark.parametrize(
    ("retry_info", "reason"), [("", "client-side throttling, not priority and fairness"), 2 * ("x",)]
)
def test_the_reason_of_a_long_wait_is_logged(retry_info, reason, caplog):
    client = client_for("h")
    clock = with_clock(client)
    with caplog.at_level(1, logger="clientgo"):
        client.get().resource("pods").throttle(SlowLimiter(clock, 2.0)).try_throttle_with_info(CTX, retry_info)
    [line] = {each.getMessage() for each in caplog.records if "Waited before sending request" in each.getMessage()}
    assert f'delay="2s" reason="{reason}" verb="GET" URL="http://h/api/v1/pods"' in line


@pytest.mark.parametrize(("seconds", "logged"), [(0.05, False), (0.051, True)])
def test_a_short_wait_for_the_limiter_is_not_logged(seconds, logged, caplog):
    client = client_for("h")
    clock = with_clock(client)
    with caplog.at_level(1, logger="clientgo"):
        client.get().resource("pods").throttle(SlowLimiter(clock, seconds)).try_throttle_with_info(CTX)
    assert ("Waited before sending request" in caplog.text) is logged


def test_a_request_and_a_result_show_themselves_without_credentials():
    client = client_for("http://user:secret@h")
    shown = repr(client.get().resource("pods").name("web"))
    assert shown.startswith("<Request GET http://") and shown.endswith("@h/api/v1/pods/web>")
    assert "secret" not in shown
    assert repr(rest.Result(body=b"123", status_code=200)) == "<Result 200, 3 bytes>"
    assert repr(rest.Result(err=ValueError("x"))) == "<Result 0, 0 bytes, ValueError('x')>"


# --- what each method of a Result returns, as in Go ---

_STATUS = '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"NotFound","code":404}'


def typed_result(body: str, content_type: str, code: int = 200) -> rest.Result:
    headers = {"Content-Type": content_type, "Warning": '299 - "w"'}
    with ScriptedServer(lambda request: Answer(code, body.encode(), headers)) as server:
        client = client_for(server.url, negotiated_serializer=CODECS.without_conversion())
        return client.get().resource("pods").name("n").max_retries(0).do(CTX)


@pytest.mark.parametrize("content_type", ["application/yaml", "Application/YAML; charset=utf-8"])
def test_an_object_in_yaml_is_decoded(content_type: str) -> None:
    result = typed_result("kind: Pod\napiVersion: v1\nmetadata: {name: p}\n", content_type, 201)
    assert isinstance(pod := result.get(), corev1.Pod) and pod.metadata.name == "p"
    assert result.into(corev1.Pod).metadata.name == "p"
    assert (result.status_code(), result.was_created(), len(result.warnings())) == (201, True, 1)


def test_a_status_in_yaml_is_the_error() -> None:
    result = typed_result("kind: Status\napiVersion: v1\nstatus: Failure\nmessage: m\n", "application/yaml", 404)
    assert str(result.error()) == "m" and result.status_code() == 404


@pytest.mark.parametrize(
    ("content_type", "problem"),
    [
        ("/", "no media type"),
        ("; charset=utf-8", "no media type"),
        ("application/", "expected token after slash"),
        ("application json", "expected slash after first token"),
        ("a/b/c", "unexpected content after media subtype"),
        ("application/json, text/plain", "unexpected content after media subtype"),
        ("application/json; =", "invalid media parameter"),
        ("application/json;charset", "invalid media parameter"),
        ('application/json;a="b', "invalid media parameter"),
        ("application/json;q=1;q=2", "duplicate parameter name"),
    ],
)
@pytest.mark.parametrize("code", [200, 404])
def test_an_invalid_content_type_is_an_internal_error(content_type: str, problem: str, code: int) -> None:
    """Go: transformResponse. The result has nothing but the error."""
    result = typed_result(_STATUS, content_type, code)
    assert str(result.error()) == f"Internal error occurred: mime: {problem}"
    assert errors.is_internal_error(result.error())
    assert (result.status_code(), result.content_type(), result.warnings()) == (0, "", [])
    with pytest.raises(errors.StatusError):
        result.raw()


def test_a_failure_in_an_unknown_encoding_has_nothing_but_its_error() -> None:
    """Go: transformUnstructuredResponseError."""
    result = typed_result(_STATUS, "application/xml", 404)
    assert errors.is_not_found(result.error()) and str(result.error()) != "m"
    assert (result.status_code(), result.warnings()) == (0, [])
    assert typed_result(_STATUS, "application/xml", 200).status_code() == 200


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"kind":"Status","status":"Failure"}', "Object 'apiVersion' is missing in '%s'"),
        ('{"kind":"Pod"}', "Object 'apiVersion' is missing in '%s'"),
        ('{"apiVersion":"v1","status":"Failure"}', "Object 'Kind' is missing in '%s'"),
        (
            '{"kind":"Status","apiVersion":"v1","status":"Failure","code":"x"}',
            "json: cannot unmarshal string into Go struct field Status.code of type int32",
        ),
    ],
)
def test_get_asks_for_kind_and_version_and_into_supplies_them(body: str, message: str) -> None:
    result = typed_result(body, "application/json")
    with pytest.raises(ValueError) as err:
        result.get()
    assert str(err.value) == (message % body if "%s" in message else message)
    if '"apiVersion"' not in body:
        into = typed_result('{"kind":"Status","status":"Success"}', "application/json").into(corev1.Pod)
        assert into == corev1.Pod()


def test_into_fills_an_object_of_a_kind_that_every_version_has() -> None:
    """Go: Result.Into."""
    status = metav1.Status(reason="Old")
    result = typed_result('{"kind":"Status","apiVersion":"v1","status":"Success","message":"done"}', "application/json")
    assert result.into(status) is status and (status.message, status.reason) == ("done", "")
    resources = metav1.APIResourceList()
    body = '{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[]}'
    assert typed_result(body, "application/json").into(resources) is resources
    assert resources.group_version == "apps/v1"


def test_a_retry_after_of_centuries_keeps_the_error() -> None:
    """Go converts the number to an int32."""
    with ScriptedServer(lambda request: Answer(404, b"gone", {"Retry-After": "99999999999"})) as server:
        err = client_for(server.url).get().resource("pods").max_retries(0).do(CTX).error()
    assert errors.is_not_found(err)
    assert isinstance(err, errors.StatusError) and err.status().details.retry_after_seconds == 1215752191
