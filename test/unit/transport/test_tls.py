"""TLS with real certificates: verified by default, refused with a message that says why."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from certificates import Authority, Pair
from cryptography import x509
from httpscript import Answer, ScriptedServer

from clientgo import context, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.transport.cert_rotation import ContextSource
from clientgo.transport.tls import build_context, check_certificate, validity
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


def test_a_connection_changes_no_setting_of_its_context(authority: Authority, server_pair: Pair) -> None:
    """Threads share a context, and OpenSSL does not lock the settings that a new connection copies."""

    class Fixed(ssl.SSLContext):
        def set_alpn_protocols(self, protocols: Iterable[str]) -> None:
            raise AssertionError(f"{protocols} set for a connection")

    fixed = Fixed(ssl.PROTOCOL_TLS_CLIENT)
    fixed.load_verify_locations(cadata=authority.data.decode())
    transport = http.Transport(ssl_context=lambda: fixed)
    with serving(server_pair) as server:
        http.Client(transport).do(http.Request(method="GET", url=server.url)).body.read()
        transport.close_idle_connections()
        assert len(server.requests) == 1


def test_clients_offer_the_one_protocol_that_they_speak(authority: Authority, server_pair: Pair) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(server_pair.cert, server_pair.key)
    server.set_alpn_protocols(["h2", "http/1.1"])
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = build_context(authority.data, None, insecure=False)
    ours = client.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (ours, theirs, ours):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()
    assert ours.selected_alpn_protocol() == "http/1.1"


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


def test_an_authority_of_the_system_is_enough(authority, server_pair, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", authority.path)
    with serving(server_pair) as server:
        assert get(server)


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
        pytest.raises(
            rest.URLError,
            match="tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time",
        ),
    ):
        get(server, ca_data=authority.data)


def test_a_certificate_for_another_host_is_refused(authority):
    other = authority.issue("other", "DNS:other.example.com")
    with (
        serving(other) as server,
        pytest.raises(
            rest.URLError,
            match="verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any",
        ),
    ):
        get(server, ca_data=authority.data)


def test_a_common_name_is_no_name(authority):
    old = authority.issue("old", common_name="127.0.0.1")
    reason = "x509: certificate relies on legacy Common Name field, use SANs instead"
    with serving(old) as server, pytest.raises(rest.URLError, match=reason):
        get(server, ca_data=authority.data)


def test_a_server_name_is_checked_in_place_of_the_host(authority):
    other = authority.issue("named", "DNS:other.example.com")
    with serving(other) as server:
        assert get(server, ca_data=authority.data, server_name="other.example.com")
        with pytest.raises(rest.URLError, match="valid for other.example.com, not third.example.com"):
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
    """The CA file is looked at again at most each second.

    Go: TestCheckCAFileAndRotate/no change
    Go: TestCheckCAFileAndRotate/CA changed
    Go: TestCheckCAFileAndRotate/CA changed to invalid
    """
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(stranger.data)
    config = transport.Config(tls=transport.TLSConfig(ca_file=str(ca_file)))
    clock = FakeClock(0.0)
    source = ContextSource(config, clock)
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


# --- files that are empty, half written or half broken ---


@pytest.mark.parametrize("empty", ["cert", "key"])
def test_an_empty_certificate_is_an_error_and_not_an_anonymous_client(authority, server_pair, tmp_path: Path, empty):
    client = authority.issue("client-for-empty")
    files = {"cert": client.cert.read_bytes(), "key": client.key.read_bytes(), empty: b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with (
        serving(server_pair) as server,
        pytest.raises(ValueError, match="tls: failed to find any PEM data in (certificate|key) input"),
    ):
        get(server, ca_data=authority.data, cert_file=str(tmp_path / "cert"), key_file=str(tmp_path / "key"))


def test_one_authority_that_can_be_read_is_enough(authority, server_pair):
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    with serving(server_pair) as server:
        assert get(server, ca_data=broken + b"# a remark\n" + authority.data + broken + authority.data)


def test_an_authority_of_blanks_is_no_authority():
    with pytest.raises(ValueError, match="unable to load root certificates: unable to parse bytes as PEM block"):
        rest.http_client_for(rest.Config(host="https://h", ca_data=b" \n"))


def test_an_empty_authority_file_trusts_no_certificate(server_pair, tmp_path: Path):
    """Go: TestRootCertPoolEmptyData"""
    (tmp_path / "ca.crt").write_bytes(b"")
    with serving(server_pair) as server, pytest.raises(rest.URLError, match="failed to verify certificate"):
        get(server, ca_file=str(tmp_path / "ca.crt"))


class Rotated:
    """A client's files, which the test changes while the client runs."""

    def __init__(self, folder: Path, authority: Authority, name: str) -> None:
        self.ca, self.cert, self.key = folder / "ca.crt", folder / "tls.crt", folder / "tls.key"
        self.write(authority, name)
        self.clock = FakeClock(0.0)
        files = transport.TLSConfig(ca_file=str(self.ca), cert_file=str(self.cert), key_file=str(self.key))
        self.source = ContextSource(transport.Config(tls=files), self.clock)

    def write(self, authority: Authority, name: str) -> None:
        pair = authority.issue(name)
        self.ca.write_bytes(authority.data)
        self.cert.write_bytes(pair.cert.read_bytes())
        self.key.write_bytes(pair.key.read_bytes())

    def later(self) -> ssl.SSLContext:
        self.clock.step(1.5)
        return self.source.context()


@pytest.mark.parametrize("broken", ["ca", "cert", "key"])
@pytest.mark.parametrize("content", [b"", b"half a certif", None])
def test_while_a_rotation_is_half_done_the_old_certificates_stay_in_use(authority, tmp_path, caplog, broken, content):
    """
    Go: TestCheckCAFileAndRotate/file error
    Go: TestCheckCAFileAndRotate/empty file content
    """
    files = Rotated(tmp_path, authority, "rotated-a")
    first = files.source.context()
    path: Path = getattr(files, broken)
    path.unlink() if content is None else path.write_bytes(content)
    assert files.later() is first
    assert files.later() is first
    logged = [record for record in caplog.records if "Failed to reload certificates" in record.getMessage()]
    assert len(logged) == 1, "said once, not each second"
    files.write(authority, "rotated-b")
    assert files.later() is not first


def test_a_key_that_does_not_fit_yet_waits_for_its_certificate(authority, tmp_path):
    files = Rotated(tmp_path, authority, "fitting-a")
    first = files.source.context()
    files.key.write_bytes(authority.issue("fitting-b").key.read_bytes())
    assert files.later() is first


def test_a_key_never_reaches_the_disk(authority, monkeypatch: pytest.MonkeyPatch):
    """The ssl module reads files only; where the system has files in memory nothing else is used."""
    if not hasattr(os, "memfd_create"):
        pytest.skip("no files in memory here")
    monkeypatch.setattr(tempfile, "TemporaryDirectory", None)
    pair = authority.issue("in-memory")
    check_certificate(transport.Certificate(pair.cert.read_bytes(), pair.key.read_bytes()))
    monkeypatch.undo()
    monkeypatch.delattr(os, "memfd_create")
    check_certificate(transport.Certificate(pair.cert.read_bytes(), pair.key.read_bytes()))


def test_a_certificate_that_does_not_fit_its_key_is_found_before_it_is_used(authority):
    one, other = authority.issue("fits-a"), authority.issue("fits-b")
    with pytest.raises(ValueError, match="tls: failed to load the client certificate: private key does not match"):
        check_certificate(transport.Certificate(one.cert.read_bytes(), other.key.read_bytes()))
    with pytest.raises(ValueError, match="tls: failed to load the client certificate"):
        check_certificate(transport.Certificate(b"no certificate", one.key.read_bytes()))


def test_rotated_client_certificates_are_shown_by_new_connections(authority, server_pair, tmp_path):
    """Go: TestCARotationConnectionBehavior"""
    files = Rotated(tmp_path, authority, "shown-a")
    shown: list[object] = []
    with serving(server_pair, client_ca=authority.path) as server:
        config = rest.Config(host=server.url, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1)
        config.ca_file, config.cert_file, config.key_file = str(files.ca), str(files.cert), str(files.key)
        client = rest.rest_client_for(config)
        bottom = client.client.transport
        assert isinstance(bottom, transport.Transport)
        bottom._ssl_context = files.source.context
        for name in ("shown-a", "shown-b"):
            files.write(authority, name)
            files.clock.step(1.5)
            client.get().resource("pods").do(CTX).raise_for_error()
            shown.append(server.requests[-1].connection)
        client.client.close_idle_connections()
    assert shown == [1, 2]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors as Linux shows them")
def test_no_socket_is_left_of_a_connection_reset_before_the_handshake(authority):
    def dial(host: str, port: int) -> socket.socket:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            sock = socket.create_connection(listener.getsockname())
            peer, _ = listener.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        return sock

    config = rest.Config(host="https://h", group_version=GroupVersion("", "v1"), ca_data=authority.data, dial=dial)
    client = rest.rest_client_for(config)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(rest.URLError, match="reset by peer") as caught:
        client.get().resource("pods").max_retries(0).do(CTX).raise_for_error()
    # The exception keeps every object alive that was not closed.
    assert len(os.listdir("/proc/self/fd")) == before, caught.value


def test_an_authority_that_arrives_later_is_used(authority, tmp_path, caplog):
    """Until then the client trusts no server, and logs no error.

    Go: TestEmptyCAFileRotationLifecycle
    Go: TestCheckCAFileAndRotate/initially empty CA file updated to valid CA
    """
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(b"")
    clock = FakeClock(0.0)
    source = ContextSource(transport.Config(tls=transport.TLSConfig(ca_file=str(ca_file))), clock)
    first = source.context()
    assert first.get_ca_certs() == []
    clock.step(1.5)
    assert source.context() is first
    ca_file.write_bytes(authority.data)
    clock.step(1.5)
    assert len(source.context().get_ca_certs()) == 1
    assert not caplog.records


@pytest.mark.parametrize("days", [1, 365, 40 * 365])
def test_the_validity_of_a_certificate_is_that_of_openssl(authority: Authority, days: int) -> None:
    """A date from 2050 on has a year of four digits."""
    data = authority.issue(f"valid-{days}", "DNS:" + "a" * 60, days=days).cert.read_bytes()
    certificate = x509.load_pem_x509_certificate(data)
    expected = certificate.not_valid_before_utc.timestamp(), certificate.not_valid_after_utc.timestamp()
    assert validity(b"# text\n" + data + authority.data) == expected


@pytest.mark.parametrize("data", [b"", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"])
def test_without_a_certificate_there_is_no_validity(data: bytes) -> None:
    with pytest.raises(ValueError, match="certificate"):
        validity(data)
