"""Requests through proxies: http, https and socks5, with passwords, refusals and watches that stop at once."""

from __future__ import annotations

import ssl
import traceback
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer
from proxies import HTTPProxy, SOCKSProxy

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion

CTX = context.background()
POD = b'{"kind":"Pod","apiVersion":"v1"}'


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def tls(authority: Authority) -> ssl.SSLContext:
    pair = authority.issue("server", "DNS:api.example", "IP:127.0.0.1")
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pair.cert, pair.key)
    return made


def client_for(host: str, proxy: str, **settings: Any) -> rest.RESTClient:
    config = rest.Config(host=host, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1, **settings)
    config.proxy = lambda url: proxy
    return rest.rest_client_for(config)


def get(client: rest.RESTClient) -> bytes:
    try:
        return client.get().resource("pods").max_retries(0).do(CTX).raw()
    finally:
        client.client.close_idle_connections()


def with_password(url: str) -> str:
    return url.replace("://", "://user:p%40ss@")


def test_plain_requests_are_forwarded():
    with ScriptedServer(lambda request: Answer(200, POD)) as server, HTTPProxy(server.port) as proxy:
        assert get(client_for("http://api.example:8080", with_password(proxy.url))) == POD
        assert proxy.asked == ["GET http://api.example:8080/api/v1/pods Basic dXNlcjpwQHNz"]
        assert server.requests[0].headers["Host"] == "api.example:8080"


def test_encrypted_requests_are_tunnelled_and_the_server_is_verified(authority, tls):
    with ScriptedServer(lambda request: Answer(200, POD), tls) as server, HTTPProxy(server.port) as proxy:
        assert get(client_for("https://api.example", proxy.url, ca_data=authority.data)) == POD
        assert proxy.asked == ["CONNECT api.example:443"]
        with pytest.raises(rest.URLError, match="x509: certificate is valid for api.example, not other.example"):
            get(client_for("https://other.example", proxy.url, ca_data=authority.data))


def test_a_proxy_over_tls_is_verified_with_the_clusters_authority(authority, tls):
    with ScriptedServer(lambda request: Answer(200, POD), tls) as server, HTTPProxy(server.port, tls) as proxy:
        assert get(client_for("https://api.example", proxy.url, ca_data=authority.data)) == POD
        with pytest.raises(rest.URLError, match="failed to verify certificate"):
            get(client_for("https://api.example", proxy.url))


@pytest.mark.parametrize("host", ["api.example", "10.1.2.3", "[fd00::1]"])
def test_socks_proxies_look_names_up_themselves(host):
    with ScriptedServer(lambda request: Answer(200, POD)) as server, SOCKSProxy(server.port) as proxy:
        assert get(client_for(f"http://{host}:8080", proxy.url)) == POD
        assert proxy.asked == [f"{host.strip('[]')}:8080"]


def test_socks_with_tls_and_a_password(authority, tls):
    with (
        ScriptedServer(lambda request: Answer(200, POD), tls) as server,
        SOCKSProxy(server.port, user=(b"user", b"p@ss")) as proxy,
    ):
        assert get(client_for("https://api.example:6443", with_password(proxy.url), ca_data=authority.data)) == POD
        assert proxy.asked == ["api.example:6443"]
        where = rf"socks connect tcp 127.0.0.1:{proxy.port}->api.example:6443: "
        with pytest.raises(rest.URLError, match=where + "no acceptable authentication methods"):
            get(client_for("https://api.example:6443", proxy.url))
        wrong = proxy.url.replace("://", "://user:wrong@")
        with pytest.raises(rest.URLError, match=where + "username/password authentication failed"):
            get(client_for("https://api.example:6443", wrong))


def test_a_socks_proxy_says_why_it_does_not_connect():
    with (
        ScriptedServer(lambda request: Answer()) as server,
        SOCKSProxy(server.port, reply=4) as proxy,
        pytest.raises(rest.URLError, match="->api.example:80: host unreachable"),
    ):
        get(client_for("http://api.example", proxy.url))


def test_a_watch_through_any_proxy_stops_at_once():
    def answer(request: Received) -> Answer:
        def chunks():  # type: ignore[no-untyped-def]
            yield b'{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1"}}\n'
            server.closing.wait()

        return Answer(chunks=chunks())

    with ScriptedServer(answer) as server, HTTPProxy(server.port) as http, SOCKSProxy(server.port) as socks:
        for proxy in (http, socks):
            watcher = client_for("http://api.example", proxy.url).get().resource("pods").watch(CTX)
            assert watcher.result_chan().receive(10)[1]
            watcher.stop()
            assert watcher.result_chan().receive(1) == (None, False)


def test_errors_name_the_proxy_and_never_its_password(tmp_path: Path):
    password = "".join(["sen", "tinel"])
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with ScriptedServer(lambda request: Answer()) as server, HTTPProxy(server.port, refuse=refusal) as proxy:
        for scheme, url, message in (
            ("http", "http://127.0.0.1:1", r"proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused"),
            ("https", "https://127.0.0.1:1", r"proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused"),
            ("https", "socks5://127.0.0.1:1", r"socks connect tcp 127.0.0.1:1->api.example:443: dial tcp"),
            ("https", proxy.url, "407 Proxy Authentication Required"),
        ):
            client = client_for(f"{scheme}://api.example", url.replace("://", f"://user:{password}@"))
            with pytest.raises(rest.URLError, match=message) as caught:
                get(client)
            assert password not in "".join(traceback.format_exception(caught.value))
            assert password not in repr(caught.value)


def test_the_environment_is_asked_by_gos_rules(monkeypatch: pytest.MonkeyPatch):
    """A cluster on the own machine, as kind makes one, is reached directly whatever HTTP_PROXY says."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with ScriptedServer(lambda request: Answer(200, POD)) as server:
        config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
        assert get(rest.rest_client_for(config)) == POD
        config.host = "http://api.example"
        with pytest.raises(rest.URLError, match="proxyconnect tcp: dial tcp 127.0.0.1:1"):
            get(rest.rest_client_for(config))
