"""Rejected certificates: the error names the host and the certificate's names, or the time and the violated bound."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, Pair
from httpscript import Answer, ScriptedServer
from proxies import HTTPProxy, SOCKSProxy

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.golang.http.rejected import rejection

CTX = context.background()
POD = b'{"kind":"Pod","apiVersion":"v1"}'


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def issued(
    authority: Authority,
    folder: Path,
    *names: str,
    validity: tuple[float, float] = (-3600.0, 3600.0),
    subject: str = "s",
    is_authority: bool = False,
) -> Pair:
    """Return a certificate that is valid from and until so many seconds from now."""
    signer = serialization.load_pem_private_key(authority.pair.key.read_bytes(), None)
    issuer = x509.load_pem_x509_certificate(authority.data)
    key = ec.generate_private_key(ec.SECP256R1())
    start, end = (datetime.datetime.fromtimestamp(time.time() + each, datetime.UTC) for each in validity)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )
    if names:
        alternatives = [_alternative(each) for each in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    if is_authority:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    certificate = builder.sign(signer, hashes.SHA256())
    pair = Pair(folder / "server.crt", folder / "server.key")
    pair.cert.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return pair


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.RFC822Name(name) if "@" in name else x509.DNSName(name)


def context_of(pair: Pair) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pair.cert, pair.key)
    return made


@contextlib.contextmanager
def serving(tls: ssl.SSLContext, host: str = "127.0.0.1") -> Iterator[ScriptedServer]:
    with ScriptedServer(lambda request: Answer(200, POD), tls, host) as server:
        yield server
        assert server.requests == [], "a rejected server gets no request"


def error(host: str, authority: Authority, proxy: str = "", **settings: Any) -> str:
    config = rest.Config(host=host, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1, **settings)
    config.ca_data = authority.data
    config.bearer_token = "".join(["sen", "tinel"])
    config.proxy = lambda url: proxy or None
    with pytest.raises(rest.URLError) as caught:
        rest.rest_client_for(config).get().resource("pods").max_retries(0).do(CTX).raw()
    assert isinstance(caught.value.err, ssl.SSLCertVerificationError)
    return str(caught.value).partition("failed to verify certificate: ")[2]


@pytest.mark.parametrize(
    ("names", "host", "reason"),
    [
        (["a.example", "b.example"], "c.example", "x509: certificate is valid for a.example, b.example, not c.example"),
        (["*.a.example"], "x.y.a.example", "x509: certificate is valid for *.a.example, not x.y.a.example"),
        (["10.0.0.1", "a.example"], "10.0.0.2", "x509: certificate is valid for 10.0.0.1, not 10.0.0.2"),
        (["10.0.0.1"], "c.example", "x509: certificate is not valid for any names, but wanted to match c.example"),
        (["fd00::1", "::1"], "[fd00::2]", "x509: certificate is valid for fd00::1, ::1, not fd00::2"),
        (["m@a.example"], "c.example", "x509: certificate is not valid for any names, but wanted to match c.example"),
        ([f"n{i}.example" for i in range(99)], "c.example", "x509: certificate is valid for n0.example, n1.example, "),
        (
            [f"n{i}.example" for i in range(100)],
            "c.example",
            "x509: certificate is valid for 100 names, but none matched c.example",
        ),
        (
            [f"10.0.0.{i}" for i in range(100)],
            "10.1.0.1",
            "x509: certificate is valid for 100 IP SANs, but none matched 10.1.0.1",
        ),
        (
            ["a.example"],
            "10.1.0.1",
            "x509: cannot validate certificate for 10.1.0.1 because it doesn't contain any IP SANs",
        ),
        ([], "s", "x509: certificate relies on legacy Common Name field, use SANs instead"),
        ([], "t", "x509: certificate is not valid for any names, but wanted to match t"),
    ],
)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_name_mismatch_names_both_sides(
    authority: Authority, tmp_path: Path, names: list[str], host: str, reason: str, version: ssl.TLSVersion
) -> None:
    """Go: HostnameError."""
    tls = context_of(issued(authority, tmp_path, *names))
    tls.minimum_version = tls.maximum_version = version
    with serving(tls) as server, SOCKSProxy(server.port) as proxy:
        found = error(f"https://{host}", authority, proxy.url)
        assert found.startswith(reason)
        assert found == reason or len(names) == 99


@pytest.mark.parametrize("kind", ["direct", "http", "https", "socks5"])
def test_a_name_mismatch_is_named_on_every_way_to_a_server(authority: Authority, tmp_path: Path, kind: str) -> None:
    tls = context_of(issued(authority, tmp_path, "a.example", "127.0.0.2"))
    (tmp_path / "proxy").mkdir()
    proxy_tls = context_of(issued(authority, tmp_path / "proxy", "127.0.0.1"))
    with serving(tls) as server:
        if kind == "direct":
            assert error(server.url, authority) == "x509: certificate is valid for 127.0.0.2, not 127.0.0.1"
            return
        made: Any = (
            SOCKSProxy(server.port)
            if kind == "socks5"
            else HTTPProxy(server.port, proxy_tls if kind == "https" else None)
        )
        with made as proxy:
            found = error("https://c.example", authority, proxy.url)
            assert found == "x509: certificate is valid for a.example, not c.example"
            assert len(proxy.asked) == 2, "one connection verifies, and one reads the names"


def test_the_names_of_a_proxys_certificate_are_named(authority: Authority, tmp_path: Path) -> None:
    tls = context_of(issued(authority, tmp_path, "127.0.0.9"))
    with serving(tls) as server, HTTPProxy(server.port, tls) as proxy:
        found = error("https://127.0.0.9", authority, proxy.url)
        assert found == "x509: certificate is valid for 127.0.0.9, not 127.0.0.1"
        assert proxy.asked == []


def test_the_server_name_is_the_name_that_was_wanted(authority: Authority, tmp_path: Path) -> None:
    with serving(context_of(issued(authority, tmp_path, "a.example"))) as server:
        found = error(server.url, authority, server_name="b.example")
        assert found == "x509: certificate is valid for a.example, not b.example"


@pytest.mark.parametrize(
    ("validity", "word", "bound"), [((-7200.0, -3600.0), "after", -3600.0), ((3600.0, 7200.0), "before", 3600.0)]
)
def test_a_certificate_out_of_its_time_names_the_time_and_the_bound(
    authority: Authority, tmp_path: Path, validity: tuple[float, float], word: str, bound: float
) -> None:
    """Go: CertificateInvalidError, Expired."""
    with serving(context_of(issued(authority, tmp_path, "127.0.0.1", validity=validity))) as server:
        found = error(server.url, authority)
    pattern = rf"x509: certificate has expired or is not yet valid: current time (\S+) is {word} (\S+)"
    match = re.fullmatch(pattern, found)
    assert match is not None, found
    now, limit = (datetime.datetime.fromisoformat(each).timestamp() for each in match.groups())
    assert abs(now - time.time()) < 300
    assert abs(limit - (now + bound)) < 300


def test_an_expired_authority_is_distinguished_from_the_servers_certificate(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "leaf").mkdir()
    root = Authority(tmp_path / "root")
    expired = issued(root, tmp_path, validity=(-7200.0, -3600.0), subject="middle", is_authority=True)
    middle = Authority(tmp_path / "leaf")
    middle.pair = expired
    leaf = issued(middle, tmp_path / "leaf", "127.0.0.1")
    leaf.cert.write_bytes(leaf.cert.read_bytes() + expired.cert.read_bytes())
    with serving(context_of(leaf)) as server:
        found = error(server.url, root)
    assert found.startswith("x509: certificate has expired or is not yet valid: current time ")
    assert ": an authority's certificate in the chain: certificate has expired" in found


def test_a_server_that_accepts_no_second_connection_is_named_by_openssl(authority: Authority, tmp_path: Path) -> None:
    """The text then lacks only the certificate's names."""
    connections = iter([True, False])
    with serving(context_of(issued(authority, tmp_path, "a.example"))) as server:

        def dial(host: str, port: int) -> socket.socket:
            if not next(connections):
                raise ConnectionRefusedError(111, "Connection refused")
            return socket.create_connection((host, port))

        found = error(server.url, authority, dial=dial)
    assert "127.0.0.1" in found
    assert list(connections) == []


@pytest.mark.parametrize("ended", ["silence", "cancel"])
def test_a_silent_second_connection_ends(authority: Authority, tmp_path: Path, ended: str) -> None:
    ours, theirs = socket.socketpair()
    ctx, cancel = context.with_cancel(CTX)
    calls: list[int] = []

    def dial(host: str, port: int) -> socket.socket:
        calls.append(port)
        if len(calls) == 1:
            return socket.create_connection((host, port))
        if ended == "cancel":
            cancel()
        return ours

    transport = http.Transport(
        ssl_context=authority.trust, dial=dial, connect_timeout=0.2 if ended == "silence" else 60.0
    )
    with (
        serving(context_of(issued(authority, tmp_path, "a.example"))) as server,
        theirs,
        pytest.raises(http.URLError) as caught,
    ):
        http.Client(transport).do(http.Request(method="GET", url=server.url, ctx=ctx))
    cancel()
    assert len(calls) == 2
    assert ("127.0.0.1'" in str(caught.value)) == (ended == "silence")
    assert isinstance(caught.value.err, context.Canceled) == (ended == "cancel")


def test_a_certificate_that_no_authority_signed_costs_no_second_connection(
    authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other", "stranger")
    with serving(context_of(issued(stranger, tmp_path, "127.0.0.1"))) as server, SOCKSProxy(server.port) as proxy:
        assert "unable to get local issuer" in error("https://127.0.0.1", authority, proxy.url)
        assert len(proxy.asked) == 1


def test_a_name_cannot_control_the_terminal() -> None:
    err = ssl.SSLCertVerificationError(1, "x")
    err.verify_code, err.verify_message = 62, "Hostname mismatch"
    found = rejection(err, "c.example", lambda: {"subjectAltName": (("DNS", "a\x1b[2J\n.example"),)})
    assert str(found.strerror).endswith(r"valid for 'a\x1b[2J\n.example', not c.example")


@pytest.mark.parametrize("failure", [OSError("x"), EOFError(), ValueError("x")])
@pytest.mark.parametrize(("code", "message"), [(62, "Hostname mismatch"), (10, "certificate has expired")])
def test_a_certificate_that_cannot_be_read_leaves_openssls_reason(failure: Exception, code: int, message: str) -> None:
    def read() -> dict[str, Any]:
        raise failure

    err = ssl.SSLCertVerificationError(1, "x")
    err.verify_code, err.verify_message = code, message
    found = rejection(err, "c.example", read)
    assert str(found.strerror).endswith(message)
    assert ("current time 2" in str(found.strerror)) == (code == 10)
