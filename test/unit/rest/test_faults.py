"""One fault of the network or the server each: what a single call makes of it, and how often it tries again."""

from __future__ import annotations

import json
import ssl
import threading
import traceback
from collections.abc import Iterator

import pytest
from certificates import Authority
from fasttime import fast_time
from faultyproxy import ANSWERS, KINDS, REFUSALS, SPOILT, WATCH_ANSWERS, Fault, FaultyProxy
from httpscript import Answer, Received, ScriptedServer

from clientgo import context, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.utils.clock import REAL_CLOCK

CTX = context.background()
TOKEN = "very-secret"
# Real seconds until a silent connection counts as dead; on a busy machine one that is not may be silent for half of it.
SILENCE = 1.0
PODS = json.dumps(
    {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
        "items": [{"metadata": {"name": f"pod-{number}"}} for number in range(300)],
    }
).encode()
# Where the faults begin that are not there from the first byte on: behind the headers.
MIDST = 400


def event(number: int) -> bytes:
    metadata = {"name": f"pod-{number}", "resourceVersion": str(number)}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}
    return json.dumps({"type": "ADDED", "object": pod}).encode() + b"\n"


def answer(request: Received) -> Answer:
    """Respond with Pods. Unless the path has "whole", the response stops after two and a half of them."""
    if "watch" in request.target:
        return Answer(chunks=events("whole" not in request.target))
    if "chunked" in request.target:
        return Answer(chunks=[PODS[:1000], PODS[1000:]])
    return Answer(body=PODS)


def events(and_a_half: bool) -> Iterator[bytes]:
    yield from (event(1), event(2))
    if and_a_half:
        yield event(3)[:60]
    over.wait()


over = threading.Event()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    over.clear()
    with ScriptedServer(answer) as server:
        yield server
        over.set()


class Behind:
    """A client of the server behind a proxy with this script."""

    def __init__(self, server: ScriptedServer, *script: Fault, ca_data: bytes = b"") -> None:
        self.proxy = FaultyProxy(("127.0.0.1", server.port), script, opaque=bool(ca_data))
        config = rest.Config(host=self.proxy.url, qps=-1, bearer_token=TOKEN, max_silence=SILENCE, ca_data=ca_data)
        config.api_path, config.group_version = "/api", GroupVersion("", "v1")
        self.client = rest.rest_client_for(config)

    def __enter__(self) -> Behind:
        self.proxy.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.client.close()
        self.proxy.__exit__(*exc_info)

    def request(self, verb: str = "GET") -> rest.Request:
        return self.client.verb(verb).namespace("d").resource("pods")


def all_messages(err: BaseException) -> str:
    """Return everything that a user may see of an exception and its causes."""
    return "".join(traceback.format_exception(err)) + repr(err)


BROKEN_BODY = "unexpected error when reading response body. Please retry. Original error: "
CUT = (RuntimeError, BROKEN_BODY + "unexpected EOF", 200)
SILENT = (RuntimeError, BROKEN_BODY + "read: i/o timeout", 200)
# Which of the two it is depends on whether the request was sent before the connection was reset.
RESET = (rest.URLError, ("connection reset by peer", "EOF"), None)

# Of each fault: the exception of a list, what it says, and the code it names, None where there was no answer.
FAILURES = {
    "close": CUT,
    "reset": (RuntimeError, BROKEN_BODY + "read: connection reset by peer", 200),
    "mid line": CUT,
    "garbage": CUT,
    "crumbs": CUT,
    "drop": CUT,
    "half open": SILENT,
    "short headers": (rest.URLError, "unexpected EOF", None),
    "long length": CUT,
    "short length": (ValueError, "couldn't get version/kind; json parse error: ", 200),
    "short gzip": CUT,
    "refuse": RESET,
    "down": RESET,
    "500": (
        errors.StatusError,
        'an error on the server ("") has prevented the request from succeeding (get pods)',
        500,
    ),
    "500 status": (errors.StatusError, "etcdserver: leader changed", 500),
    "502": (errors.StatusError, 'an error on the server ("<html>bad gateway</html>") has prevented the request', 502),
    "503": (errors.StatusError, "the server is currently unable to handle the request (get pods)", 503),
    "503 retry": (errors.StatusError, "shutting down", 503),
    "504": (errors.StatusError, "the server was unable to return a response in the time allotted", 504),
    "504 status": (errors.StatusError, "request did not complete within the allotted timeout", 504),
    "429": (errors.StatusError, "too many requests", 429),
    "429 retry": (errors.StatusError, "too many requests", 429),
    "410": (errors.StatusError, "too old resource version", 410),
    "html": (ValueError, "serializer for text/html doesn't exist", 200),
    "nothing": (ValueError, "0-length response with status code: 200 and content type: application/json", 200),
}


def test_every_fault_is_here():
    assert set(FAILURES) == set(KINDS) - {"delay", "late 410"} - set(WATCH_ANSWERS)


@pytest.mark.parametrize("kind", FAILURES)
def test_a_list_fails_with_an_exception_that_names_the_request_and_no_token(server, kind):
    expected, text, code = FAILURES[kind]
    with Behind(server, Fault(kind, MIDST if kind in SPOILT else 0)) as behind:
        with pytest.raises(expected) as caught:
            behind.request().max_retries(0).do(CTX).into(corev1.PodList)
        messages = all_messages(caught.value)
        texts = text if isinstance(text, tuple) else (text,)
        assert any(text in str(caught.value) for text in texts)
        assert "[Errno" not in str(caught.value)
        assert TOKEN not in messages
        path = "/api/v1/namespaces/d/pods"
        named = f"GET {path}: {code}" if code is not None else f'Get "{behind.proxy.url}{path}": '
        assert named in messages
        assert len(behind.proxy.log) == 1


@pytest.mark.parametrize(
    "kind", ["close", "mid line", "half open", "drop", "long length", "short length", "short gzip"]
)
def test_half_a_body_in_chunks_is_an_error_too(server, kind):
    with Behind(server, Fault(kind, MIDST)) as behind, pytest.raises(RuntimeError, match=BROKEN_BODY):
        behind.request().param("chunked", "1").max_retries(0).do(CTX).into(corev1.PodList)


def test_a_slow_answer_is_an_answer(server):
    with Behind(server, Fault("delay", MIDST)) as behind:
        # The connection closes in the midst of it otherwise.
        assert len(behind.request().do(CTX).raw()) == len(PODS)


# --- trying again ---

# What breaks before there is an answer, and answers that say when to come again.
REPEATED = {"close": 1.0, "reset": 1.0, "short headers": 1.0, "refuse": 1.0, "503 retry": 1.0, "429 retry": 2.0}


@pytest.mark.parametrize("kind", REPEATED)
def test_a_list_is_tried_again_after_the_pause_that_is_due(server, kind):
    with fast_time(20), Behind(server, Fault(kind), Fault(kind)) as behind:
        pods = behind.request().do(CTX).into(corev1.PodList)
        times = [seen.at for seen in behind.proxy.log]
    assert len(pods.items) == 300
    assert len(times) == 3
    assert min(times[1] - times[0], times[2] - times[1]) >= REPEATED[kind] * 0.98


@pytest.mark.parametrize("kind", [kind for kind in FAILURES if kind not in REPEATED and kind != "down"])
def test_any_other_fault_is_for_the_caller_to_know_at_once(server, kind):
    with fast_time(20), Behind(server, Fault(kind, MIDST if kind in SPOILT else 0)) as behind:
        with pytest.raises(Exception, match=r"."):
            behind.request().do(CTX).into(corev1.PodList)
        assert len(behind.proxy.log) == 1


@pytest.mark.parametrize("kind", [*REFUSALS, *ANSWERS, "close", "reset", "short headers"])
def test_what_changes_something_is_repeated_only_if_the_answer_says_so(server, kind):
    with fast_time(20), Behind(server, Fault(kind)) as behind:
        result = behind.request("DELETE").name("a").do(CTX)
        asked_to = kind in ("503 retry", "429 retry")
        assert len(behind.proxy.log) == (2 if asked_to else 1)
        if kind not in ("html", "nothing"):  # which are no errors where no object is wanted
            assert (result.error() is None) == asked_to


def test_a_server_that_is_down_is_not_waited_for(server):
    with Behind(server, Fault("down")) as behind:
        with pytest.raises(rest.URLError, match=r"connection reset by peer|EOF"):
            behind.request().max_retries(0).do(CTX).raise_for_error()
        with pytest.raises(rest.URLError, match=r"connect: connection refused") as caught:
            behind.request().do(CTX).raise_for_error()
        assert isinstance(caught.value.err, ConnectionRefusedError)


# --- watches ---

# As many bytes of a watch's answer end in the third event: headers and chunks need 101, and it has 60.
HALF_AN_EVENT = 101 + len(event(1)) + len(event(2)) + 30

# About what a server says before its first answer.
TLS_HANDSHAKE = 1500

# How many of the two events come, and the ERROR event behind them if there is one.
ENDS = {
    "close": (2, ""),
    "reset": (2, ""),
    "mid line": (2, ""),
    "garbage": (2, "unable to decode an event from the watch stream: "),
    "half open": (2, ""),
    "short headers": (0, ""),
    "long length": (0, ""),
    "short length": (0, "malformed chunked encoding"),
    "short gzip": (0, ""),
    "refuse": (0, ""),
    "down": (0, ""),
    "nothing": (0, ""),
    "410 event": (0, "too old resource version"),
}


@pytest.mark.parametrize("kind", ENDS)
def test_a_watch_that_breaks_ends_with_what_was_whole(server, kind):
    number, error = ENDS[kind]
    after = HALF_AN_EVENT if kind in SPOILT else 0
    with Behind(server, Fault(kind, after)) as behind:
        watcher = behind.request().param("watch", "true").max_retries(0).watch(CTX, corev1.Pod)
        received = list(watcher.result_chan())
        watcher.stop()
    names = [found.object.metadata.name for found in received if found.type == "ADDED"]
    assert names == ["pod-1", "pod-2"][:number]
    failures = [found.object.message for found in received if found.type == "ERROR"]
    assert len(failures) == bool(error)
    assert all(error in message for message in failures)


def test_a_watch_whose_history_is_forgotten_ends_with_an_error_event(server):
    with Behind(server, Fault("late 410")) as behind:
        watcher = behind.request().param("watch", "true").param("whole", "1").watch(CTX, corev1.Pod)
        *received, last = watcher.result_chan()
        watcher.stop()
    assert [found.object.metadata.name for found in received] in (["pod-1"], ["pod-1", "pod-2"])
    assert last.type == "ERROR"
    assert errors.is_resource_expired(errors.from_object(last.object))


@pytest.mark.parametrize("kind", [kind for kind in ANSWERS if kind not in ("html", "nothing")])
def test_a_refused_watch_raises_the_servers_error(server, kind):
    expected, text, code = FAILURES[kind]
    with Behind(server, Fault(kind)) as behind, pytest.raises(expected) as caught:
        behind.request().param("watch", "true").max_retries(0).watch(CTX, corev1.Pod)
    assert text in str(caught.value)
    messages = all_messages(caught.value)
    assert f"GET /api/v1/namespaces/d/pods?watch=true: {code}" in messages
    assert TOKEN not in messages


def test_a_watch_answered_with_html_says_so(server):
    with (
        Behind(server, Fault("html")) as behind,
        pytest.raises(Exception, match="no stream serializers registered for text/html"),
    ):
        behind.request().param("watch", "true").watch(CTX, corev1.Pod)


@pytest.mark.parametrize("kind", REPEATED)
def test_a_watch_is_tried_again_after_the_pause_that_is_due(server, kind):
    with fast_time(20), Behind(server, Fault(kind), Fault(kind)) as behind:
        watcher = behind.request().param("watch", "true").watch(CTX, corev1.Pod)
        assert watcher.result_chan().receive(10)[1]
        watcher.stop()
        times = [seen.at for seen in behind.proxy.log]
    assert len(times) == 3
    assert min(times[1] - times[0], times[2] - times[1]) >= REPEATED[kind] * 0.98


# --- encrypted ---


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def encrypted(authority: Authority) -> Iterator[ScriptedServer]:
    pair = authority.issue("server", "IP:127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.cert, pair.key)
    over.clear()
    with ScriptedServer(answer, tls) as server:
        yield server
        over.set()


# Before the handshake, in it, and in the body.
@pytest.mark.parametrize("after", [0, 300, 6000])
@pytest.mark.parametrize("kind", ["close", "reset", "mid line", "garbage", "crumbs", "drop", "half open"])
def test_what_is_encrypted_fails_as_loudly(encrypted, authority, kind, after):
    with Behind(encrypted, Fault(kind, after), ca_data=authority.data) as behind:
        with pytest.raises((rest.URLError, RuntimeError)) as caught:
            behind.request().max_retries(0).do(CTX).into(corev1.PodList)
        messages = all_messages(caught.value)
        assert "/api/v1/namespaces/d/pods" in messages
        assert TOKEN not in messages
        assert len(behind.request().do(CTX).into(corev1.PodList).items) == 300


@pytest.mark.parametrize("after", [0, 300])
def test_a_list_whose_handshake_breaks_off_is_tried_again(encrypted, authority, after):
    with fast_time(20), Behind(encrypted, Fault("close", after), ca_data=authority.data) as behind:
        assert len(behind.request().do(CTX).into(corev1.PodList).items) == 300
        times = [seen.at for seen in behind.proxy.log]
    assert len(times) == 2
    assert times[1] - times[0] >= 0.98


@pytest.mark.parametrize("kind", ["close", "reset", "mid line", "drop", "half open"])
def test_an_encrypted_watch_that_breaks_just_ends(encrypted, authority, kind):
    # TLS says goodbye before it closes; networks and proxies that die do not.
    with Behind(encrypted, Fault(kind, TLS_HANDSHAKE + HALF_AN_EVENT), ca_data=authority.data) as behind:
        watcher = behind.request().param("watch", "true").watch(CTX, corev1.Pod)
        received = list(watcher.result_chan())
        watcher.stop()
    assert [found.type for found in received] in ([], ["ADDED"], ["ADDED", "ADDED"])


# --- silence ---


def test_a_silent_server_is_given_up_after_the_silence_the_config_allows(server):
    with Behind(server, Fault("half open")) as behind:
        began = REAL_CLOCK.now()
        with pytest.raises(rest.URLError, match=r"read: i/o timeout"):
            behind.request().do(CTX).raise_for_error()
        assert SILENCE * 0.98 <= REAL_CLOCK.since(began) < SILENCE + 10


def test_no_stream_is_given_up_for_its_silence(server):
    with Behind(server) as behind:
        body = behind.request().param("watch", "true").stream(CTX)
        assert body.read_some()
        threading.Timer(SILENCE * 1.5, over.set).start()
        while body.read_some():
            pass
        body.close()


def test_anonymous_and_copied_configs_allow_the_same_silence():
    config = rest.Config(host="h", max_silence=5.0)
    assert rest.anonymous_client_config(config).max_silence == 5.0
    assert rest.copy_config(config).max_silence == 5.0
