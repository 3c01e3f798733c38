"""TLS with real certificates: verified by default, refused with a message that says why."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from certificates import Authority, Pair
from httpscript import Answer, ScriptedServer

from clientgo import context, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def server_pair(authority: Authority) -> Pair:
    return authority.issue("server", "IP:127.0.0.1", "DNS:api.example.com")


def serving(pair: Pair, client_ca: str | None = None) -> ScriptedServer:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.cert, pair.key)
    if client_ca is not None:
        tls.verify_mode = ssl.CERT_REQUIRED
        tls.load_verify_locations(client_ca)
    return ScriptedServer(lambda request: Answer(200, b'{"kind":"Pod","apiVersion":"v1"}'), tls)


def get(server: ScriptedServer, **settings: object) -> bytes:
    config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
    for name, value in settings.items():
        setattr(config, name, value)
    client = rest.rest_client_for(config)
    try:
        return client.get().resource("pods").max_retries(0).do(CTX).raw()
    finally:
        client.client.close_idle_connections()


def test_a_custom_authority_is_enough(authority, server_pair):
    with serving(server_pair) as server:
        assert get(server, ca_file=authority.path)
        assert get(server, ca_data=authority.data)


def test_an_unknown_authority_is_refused_by_default(server_pair):
    with (
        serving(server_pair) as server,
        pytest.raises(
            rest.URLError, match=r"tls: failed to verify certificate: (unable to get local issuer|self-signed)"
        ),
    ):
        get(server)


def test_another_authority_is_refused(stranger, server_pair):
    with serving(server_pair) as server, pytest.raises(rest.URLError, match="failed to verify certificate"):
        get(server, ca_data=stranger.data)


def test_insecure_asks_nothing_and_excludes_an_authority(authority, server_pair):
    with serving(server_pair) as server:
        assert get(server, insecure=True)
        with pytest.raises(ValueError, match="root certificates file with the insecure flag is not allowed"):
            get(server, insecure=True, ca_file=authority.path)


def test_an_expired_certificate_is_refused(authority):
    expired = authority.issue("expired", "IP:127.0.0.1", days=-1)
    with (
        serving(expired) as server,
        pytest.raises(rest.URLError, match="tls: failed to verify certificate: certificate has expired"),
    ):
        get(server, ca_data=authority.data)


def test_a_certificate_for_another_host_is_refused(authority):
    other = authority.issue("other", "DNS:other.example.com")
    with (
        serving(other) as server,
        pytest.raises(rest.URLError, match=r"failed to verify certificate: .*certificate is not valid for '127.0.0.1'"),
    ):
        get(server, ca_data=authority.data)


def test_a_common_name_is_no_name(authority):
    old = authority.issue("old", common_name="127.0.0.1")
    with serving(old) as server, pytest.raises(rest.URLError, match=r"certificate is not valid for '127.0.0.1'"):
        get(server, ca_data=authority.data)


def test_a_server_name_is_checked_in_place_of_the_host(authority):
    other = authority.issue("named", "DNS:other.example.com")
    with serving(other) as server:
        assert get(server, ca_data=authority.data, server_name="other.example.com")
        with pytest.raises(rest.URLError, match=r"is not valid for 'third.example.com'"):
            get(server, ca_data=authority.data, server_name="third.example.com")


def test_a_client_certificate_is_sent(authority, server_pair):
    client = authority.issue("client")
    with serving(server_pair, client_ca=authority.path) as server:
        assert get(server, ca_data=authority.data, cert_file=str(client.cert), key_file=str(client.key))
        assert get(server, ca_data=authority.data, cert_data=client.cert.read_bytes(), key_data=client.key.read_bytes())
        # The server may hang up before its reason arrives.
        with pytest.raises(rest.URLError, match=r"certificate required|connection reset|broken pipe|(?i:eof)"):
            get(server, ca_data=authority.data)


def test_a_key_of_another_certificate_is_an_error_of_the_configuration(authority, server_pair):
    client, other = authority.issue("client-a"), authority.issue("client-b")
    with serving(server_pair) as server, pytest.raises(ValueError, match="private key does not match public key"):
        get(server, ca_data=authority.data, cert_file=str(client.cert), key_file=str(other.key))


@pytest.mark.parametrize(
    ("ca", "message"),
    [
        (b"hello", "unable to load root certificates: unable to parse bytes as PEM block"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "failed to parse certificate"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no valid certificate authority data seen"),
    ],
)
def test_a_broken_authority_is_an_error_of_the_configuration(ca, message):
    with pytest.raises(ValueError, match=message):
        rest.http_client_for(rest.Config(host="https://h", ca_data=ca))


def test_rotated_files_are_used_by_new_connections(authority, stranger, tmp_path: Path):
    """The CA file is looked at again at most each second."""
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(stranger.data)
    config = transport.Config(tls=transport.TLSConfig(ca_file=str(ca_file)))
    clock = FakeClock(0.0)
    from clientgo.transport.transport import _ContextSource

    source = _ContextSource(config, clock)
    first = source.context()
    ca_file.write_bytes(authority.data)
    assert source.context() is first, "not looked at again within a second"
    clock.step(1.5)
    second = source.context()
    assert second is not first
    clock.step(1.5)
    assert source.context() is second, "the same content needs no new context"
    ca_file.write_bytes(b"half a certif")
    clock.step(1.5)
    assert source.context() is second, "what cannot be used is left alone"


def test_a_watch_over_tls_stops_at_once(authority, server_pair):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server_pair.cert, server_pair.key)

    def answer(request: object) -> Answer:
        def chunks():  # type: ignore[no-untyped-def]
            yield b'{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1"}}\n'
            server.closing.wait()

        return Answer(chunks=chunks())

    with ScriptedServer(answer, tls) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), api_path="/api")
        config.ca_data = authority.data
        watcher = rest.rest_client_for(config).get().resource("pods").watch(CTX)
        assert watcher.result_chan().receive(10)[1]
        watcher.stop()
        assert watcher.result_chan().receive(1) == (None, False)
