"""Rotated files are counted, and a new client certificate ends the connections that have the old one."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from httpscript import Answer, ScriptedServer

from clientgo import context, features, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.features.testing import set_feature_during_test
from clientgo.tools.metrics import metrics
from clientgo.transport import cert_rotation
from clientgo.transport.cert_rotation import ContextSource
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


class Reloads:
    """The counted reloads."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str]] = []

    def increment(self, result: str, reason: str, /) -> None:
        self.results.append((result, reason))


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> Reloads:
    found = Reloads()
    monkeypatch.setattr(metrics, "TRANSPORT_CA_RELOADS", found)
    return found


def test_each_check_of_an_authority_is_counted(
    authority: Authority, stranger: Authority, tmp_path: Path, reloads: Reloads
) -> None:
    """Go: TestCARotationMetricsEmitted"""
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(authority.data)
    clock = FakeClock(0.0)
    source = ContextSource(transport.Config(tls=transport.TLSConfig(ca_file=str(ca_file))), clock)

    def check() -> None:
        clock.step(cert_rotation.CERT_CALLBACK_REFRESH_DURATION)
        source.context()

    source.context()
    assert reloads.results == []
    check()
    ca_file.write_bytes(stranger.data)
    check()
    source.context()
    ca_file.write_bytes(b"half a certif")
    check()
    ca_file.write_bytes(b"")
    check()
    ca_file.unlink()
    check()
    assert reloads.results == [
        ("success", "unchanged"),
        ("success", "updated"),
        ("failure", "ca_parse_error"),
        ("failure", "empty"),
        ("failure", "read_error"),
    ]


def test_an_authority_from_data_and_a_client_certificate_are_not_counted(
    authority: Authority, tmp_path: Path, reloads: Reloads
) -> None:
    pair = authority.issue("client-data")
    tls = transport.TLSConfig(ca_data=authority.data, cert_file=str(pair.cert), key_file=str(pair.key))
    clock = FakeClock(0.0)
    source = ContextSource(transport.Config(tls=tls), clock)
    source.context()
    clock.step(2.0)
    source.context()
    assert reloads.results == []


def test_without_the_feature_gate_an_authority_is_read_once(
    authority: Authority, stranger: Authority, tmp_path: Path, reloads: Reloads
) -> None:
    """Go: TestCARotationConnectionBehavior_Disabled, TestTLSTransportCacheCARotationDisabled"""
    with set_feature_during_test(features.CLIENTS_ALLOW_CA_ROTATION, False):
        check_that_an_authority_is_read_once(authority, stranger, tmp_path, reloads)


def check_that_an_authority_is_read_once(
    authority: Authority, stranger: Authority, tmp_path: Path, reloads: Reloads
) -> None:
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(authority.data)
    pair = authority.issue("client-a")
    tls = transport.TLSConfig(ca_file=str(ca_file), cert_file=str(pair.cert), key_file=str(pair.key))
    clock = FakeClock(0.0)
    source = ContextSource(transport.Config(tls=tls), clock)
    first = source.context()
    assert not tls.reload_ca_files
    ca_file.write_bytes(stranger.data)
    clock.step(2.0)
    assert source.context() is first
    other = authority.issue("client-b")
    pair.cert.write_bytes(other.cert.read_bytes())
    pair.key.write_bytes(other.key.read_bytes())
    clock.step(2.0)
    assert source.context().get_ca_certs() == first.get_ca_certs()
    assert source.context() is not first
    assert reloads.results == []


def test_a_new_client_certificate_ends_a_watch_that_has_the_old_one(authority: Authority, tmp_path: Path) -> None:
    server_pair, one, two = (authority.issue(name, "IP:127.0.0.1") for name in ("server", "one", "two"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server_pair.cert, server_pair.key)
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def write(name: str) -> None:
        pair = {"one": one, "two": two}[name]
        cert.write_bytes(pair.cert.read_bytes())
        key.write_bytes(pair.key.read_bytes())

    def answer(request: object) -> Answer:
        def chunks() -> Iterator[bytes]:
            yield b'{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1"}}\n'
            server.closing.wait()

        is_watch = "watch=true" in getattr(request, "target", "")
        return Answer(chunks=chunks()) if is_watch else Answer(200, b'{"kind":"Pod","apiVersion":"v1"}')

    write("one")
    clock = FakeClock(0.0)
    with ScriptedServer(answer, tls) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cert_rotation, "RealClock", lambda: clock)
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), api_path="/api", qps=-1)
        config.ca_data, config.cert_file, config.key_file = authority.data, str(cert), str(key)
        client = rest.rest_client_for(config)
        watch = client.get().resource("pods").param("watch", "true").watch(CTX)
        events = watch.result_chan()
        assert events.receive(30.0)[1]
        ended = threading.Event()
        reader = threading.Thread(target=lambda: (list(events), ended.set()), name="watch-reader")
        reader.start()

        client.get().resource("pods").do(CTX).raise_for_error()
        clock.step(2.0)
        client.get().resource("pods").do(CTX).raise_for_error()
        assert not ended.is_set(), "the same certificate ends nothing"

        write("two")
        clock.step(2.0)
        client.get().resource("pods").do(CTX).raise_for_error()
        assert ended.wait(30.0), "the watch goes on with the old certificate"
        reader.join()
        watch.stop()
        client.client.close_idle_connections()
