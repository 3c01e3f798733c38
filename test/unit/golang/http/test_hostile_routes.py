"""Redirects, proxies and settings that could send credentials elsewhere or show them, on real sockets."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from httpscript import Answer, Received, ScriptedServer
from proxies import HTTPProxy, SOCKSProxy

from clientgo import context, klog, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang.http import redacted_url
from clientgo.golang.http.route import route_to
from clientgo.tools.clientcmd.helpers import parse_proxy_url

CTX = context.background()
POD = b'{"kind":"Pod","apiVersion":"v1"}'
# Assembled, so that a traceback does not show it in a line of this file.
SECRET = "".join(["sen", "tinel"])
BASIC = base64.b64encode(f"user:{SECRET}".encode()).decode()


def get(host: str, **settings: Any) -> bytes:
    config = rest.Config(host=host, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
    for name, value in settings.items():
        setattr(config, name, value)
    client = rest.rest_client_for(config)
    try:
        return client.get().resource("pods").max_retries(0).do(CTX).raw()
    finally:
        client.client.close_idle_connections()


def shown(requests: list[Received]) -> str:
    """Return everything that the requests contain."""
    return "\n".join(
        f"{each.method} {each.target} {list(each.headers.items())} {each.body.decode()}" for each in requests
    )


CREDENTIALS = ["token", "token_file", "basic", "url", "header"]


def credentials(kind: str, folder: Path) -> dict[str, Any]:
    if kind == "token_file":
        (folder / "token").write_text(SECRET)
        return {"bearer_token_file": str(folder / "token")}
    if kind == "basic":
        return {"username": "user", "password": SECRET}
    if kind == "header":
        return {"wrap_transport": lambda rt: _Adding(rt)}
    return {"bearer_token": SECRET} if kind == "token" else {}


class _Adding:
    """A user's own round tripper that adds a header."""

    def __init__(self, rt: Any) -> None:
        self._rt = rt

    def round_trip(self, request: Any) -> Any:
        request = request.clone()
        request.headers["Authorization"] = f"Custom {SECRET}"
        request.headers["Cookie"] = SECRET
        return self._rt.round_trip(request)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", CREDENTIALS)
def test_no_credential_reaches_the_target_of_a_redirect(kind: str, code: int, tmp_path: Path) -> None:
    with ScriptedServer(lambda request: Answer(200, POD)) as other:
        answer = Answer(code, b"", {"Location": f"{other.url}/stolen"})
        with ScriptedServer(lambda request: answer) as server:
            host = server.url.replace("://", f"://user:{SECRET}@") if kind == "url" else server.url
            assert get(host, **credentials(kind, tmp_path)) == POD
            sent = shown(server.requests)
    assert SECRET in sent or BASIC in sent, "the first server gets the credential"
    assert [each.target for each in other.requests] == ["/stolen"]
    got = shown(other.requests)
    assert SECRET not in got
    assert BASIC not in got
    assert "uthorization" not in got


@pytest.mark.parametrize("kind", ["token", "basic", "header"])
def test_a_redirect_back_does_not_bring_the_credential_back(kind: str, tmp_path: Path) -> None:
    """Go: since 1.24 (CVE-2024-45336). The other server chooses the path, and must not act with the credential."""
    back: list[Answer] = []
    with ScriptedServer(lambda request: back[0]) as other:
        first = iter([Answer(302, b"", {"Location": f"{other.url}/there"}), Answer(200, POD)])
        with ScriptedServer(lambda request: next(first)) as server:
            back.append(Answer(302, b"", {"Location": f"{server.url}/api/v1/secrets"}))
            assert get(server.url, **credentials(kind, tmp_path)) == POD
            assert [SECRET in shown([each]) or BASIC in shown([each]) for each in server.requests] == [True, False]


def test_a_redirect_within_a_server_keeps_the_credential(tmp_path: Path) -> None:
    answers = iter([Answer(302, b"", {"Location": "/moved"}), Answer(200, POD)])
    with ScriptedServer(lambda request: next(answers)) as server:
        assert get(server.url, bearer_token=SECRET) == POD
        assert [each.headers["Authorization"] for each in server.requests] == [f"Bearer {SECRET}"] * 2


@pytest.mark.parametrize("location", ["{url}", "//user:pw@127.0.0.1:{port}/again", "/api/v1/pods"])
def test_a_loop_of_redirects_ends(location: str) -> None:
    with ScriptedServer(lambda request: answer) as server:
        answer = Answer(302, b"", {"Location": location.format(url=server.url, port=server.port)})
        with pytest.raises(rest.URLError, match="stopped after 10 redirects"):
            get(server.url, bearer_token=SECRET)
        assert len(server.requests) == 10


def test_a_proxy_is_authenticated_and_the_server_does_not_get_its_password() -> None:
    """A redirect from a proxied http URL to an unproxied one does not carry Proxy-Authorization along."""
    with ScriptedServer(lambda request: Answer(200, POD)) as other:
        answer = Answer(302, b"", {"Location": f"{other.url}/direct"})
        with ScriptedServer(lambda request: answer) as server, HTTPProxy(server.port) as proxy:
            through = proxy.url.replace("://", f"://user:{SECRET}@")
            assert get("http://api.example", proxy=lambda url: through if "api.example" in url else None) == POD
            assert proxy.asked == [f"GET http://api.example/api/v1/pods Basic {BASIC}"]
    got = shown(other.requests)
    assert BASIC not in got
    assert "roxy-" not in got


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    klog.set_verbosity(10)
    yield caplog
    klog.set_verbosity(0)


def test_the_most_detailed_log_shows_no_password_of_a_proxy_or_url(log: pytest.LogCaptureFixture) -> None:
    with ScriptedServer(lambda request: Answer(200, POD)) as server, HTTPProxy(server.port) as proxy:
        through = proxy.url.replace("://", f"://user:{SECRET}@")
        host = f"http://someone:{SECRET}@api.example"
        assert get(host, proxy=lambda url: through) == POD
    with HTTPProxy(server.port, refuse=b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n") as proxy:
        through = proxy.url.replace("://", f"://user:{SECRET}@")
        with pytest.raises(rest.URLError) as caught:
            get("https://api.example", proxy=lambda url: through)
    assert len(log.records) > 3
    everything = log.text + "".join(traceback.format_exception(caught.value)) + repr(log.records)
    assert SECRET not in everything
    assert BASIC not in everything


# Passwords with characters that a URL must escape.
MISTAKES = [
    f"user:{SECRET}/x@h",
    f"user:x/{SECRET}@h",
    f"user:a#{SECRET}@h:1",
    f"user:a?{SECRET}@h",
    f"user:{SECRET}@h:x",
]


@pytest.mark.parametrize("rest_of_url", [*MISTAKES, f"user:{SECRET}@[::1", f"user:{SECRET}@h:99999"])
@pytest.mark.parametrize("scheme", ["http://", "https://", "socks5://"])
def test_an_invalid_url_of_a_proxy_is_rejected_without_its_password(scheme: str, rest_of_url: str) -> None:
    url = scheme + rest_of_url
    with pytest.raises(ValueError, match=r"could not parse: .*\*\*\*@") as caught:
        parse_proxy_url(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(rest.URLError, match="proxyconnect tcp: invalid") as refused:
        get("http://api.example", proxy=lambda request_url: url)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("rest_of_url", MISTAKES)
def test_an_invalid_url_of_a_server_is_rejected_without_its_password(rest_of_url: str) -> None:
    with pytest.raises(ValueError, match=r"\*\*\*@") as caught:
        get(f"https://{rest_of_url}")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://h:443/apis?fieldSelector=metadata.name=a@b",
        "https://[::1]:443/a@b",
        "https://h/a:b@c",
        "https://h:443#x@y",
        "h:443/a@b",
        "https://user@h/",
    ],
)
def test_a_url_without_a_password_is_shown_as_it_is(url: str) -> None:
    assert redacted_url(url) == url


def _answering(replies: list[bytes]) -> tuple[socket.socket, threading.Thread]:
    """Return a listener that sends one reply after each message of its first client, then closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection = listener.accept()[0]
        with connection, contextlib.suppress(OSError):  # the client hangs up at the first mistake
            for reply in replies:
                if not connection.recv(4096):
                    return
                for i in range(len(reply)):
                    connection.sendall(reply[i : i + 1])

    thread = threading.Thread(target=serve, name="test-socks")
    thread.start()
    return listener, thread


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([b"\x04\x00"], "unexpected protocol version 4"),
        ([b"\x05\x01"], "no acceptable authentication methods"),
        ([b"\x05"], "unexpected EOF"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "unexpected protocol version 72"),
        ([b"\x05\x02", b"\x01\x01"], "username/password authentication failed"),
        ([b"\x05\x02", b"\x05\x00"], "invalid username/password version"),
        ([b"\x05\x00", b"\x05\x05\x00\x01" + bytes(6)], "connection refused"),
        ([b"\x05\x00", b"\x05\x63\x00\x01" + bytes(6)], "unknown code: 99"),
        ([b"\x05\x00", b"\x05\x00\x07\x01" + bytes(6)], "non-zero reserved field"),
        ([b"\x05\x00", b"\x05\x00\x00\x09" + bytes(6)], "unknown address type 9"),
        ([b"\x05\x00", b"\x05\x00\x00\x03\xff" + b"x" * 10], "unexpected EOF"),
        ([b"\x05\x00", b"\x04\x00\x00\x01" + bytes(6)], "unexpected protocol version 4"),
    ],
)
def test_a_hostile_socks_proxy_is_an_error(replies: list[bytes], message: str) -> None:
    listener, thread = _answering(replies)
    with listener:
        url = f"socks5://user:{SECRET}@127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(rest.URLError, match=message) as caught:
            get("http://api.example", proxy=lambda request_url: url)
        thread.join()
    assert "socks connect tcp 127.0.0.1:" in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("host", "message"),
    [("a" * 256, "FQDN too long"), ("\u00fc" * 64 + ".example", "invalid host name"), ("a..b", None)],
)
def test_a_name_that_socks_cannot_carry_is_an_error(host: str, message: str | None) -> None:
    with ScriptedServer(lambda request: Answer(200, POD)) as server, SOCKSProxy(server.port) as proxy:
        if message is None:
            assert get(f"http://{host}:80", proxy=lambda url: proxy.url) == POD
            return
        with pytest.raises(rest.URLError, match=message):
            get(f"http://{host}:80", proxy=lambda url: proxy.url)


def test_routes_show_no_password() -> None:
    route = route_to(urlsplit("https://h"), f"http://user:{SECRET}@p:1")
    assert SECRET not in repr(route)
    assert (route.port, route.proxy is not None and route.proxy.port) == (443, 1)
