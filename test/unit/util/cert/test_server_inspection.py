"""The certificates that a server shows, and the authorities whose clients it accepts."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tlspeers import server_context

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives.asymmetric import ec

from clientgo.testing.apiserver import Environment
from clientgo.util import cert

CHAIN, KEY = (each.decode() for each in cert.generate_self_signed_cert_key("localhost"))
OTHER, OTHER_KEY = (each.decode() for each in cert.generate_self_signed_cert_key("other"))
AUTHORITIES = [
    cert.new_self_signed_ca_cert(cert.Config(common_name=name), ec.generate_private_key(ec.SECP256R1()))
    for name in ("one", "two")
]


@contextlib.contextmanager
def serving(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the address of a server that answers one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                answer(connection)

        thread = threading.Thread(target=serve, name="server")
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join()


def tls(context: ssl.SSLContext) -> Callable[[socket.socket], object]:
    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(1)

    return answer


@contextlib.contextmanager
def openssl(folder: Path, verify: str) -> Iterator[str]:
    """Yield the address of OpenSSL's server, which names the authorities of its clients. Python's does not."""
    for name, text in (("tls.pem", CHAIN + KEY), ("ca.pem", cert.encode_certificates(*AUTHORITIES).decode())):
        (folder / name).write_text(text)
    command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", str(folder / "tls.pem"), verify, "1"]
    command += ["-CAfile", str(folder / "ca.pem"), "-cert_chain", str(folder / "tls.pem")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        try:
            yield next(line.split()[1].decode() for line in process.stdout if line.startswith(b"ACCEPT"))
        finally:
            process.kill()


@pytest.mark.parametrize("verify", ["-verify", "-Verify"])
def test_the_accepted_authorities_of_clients_are_named(tmp_path: Path, verify: str) -> None:
    """With -Verify the server refuses a client without a certificate."""
    expected = [each.subject.public_bytes() for each in AUTHORITIES]
    with openssl(tmp_path, verify) as address:
        assert cert.get_client_ca_names(address) == expected
        assert cert.get_client_ca_names_for_url(f"https://user@{address}/path") == expected
        # And it still shows its certificates.
        certificates, _ = cert.get_serving_certificates(address)
        assert cert.encode_certificates(certificates[0]).decode() in CHAIN


def test_a_server_that_requests_no_certificate_names_no_authority() -> None:
    with serving(tls(server_context(CHAIN, KEY))) as address:
        assert cert.get_client_ca_names(address) == []


def test_the_serving_certificates_are_those_of_the_server_name() -> None:
    context, other = server_context(CHAIN, KEY), server_context(OTHER, OTHER_KEY)
    asked: list[str | None] = []

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        asked.append(name)
        if name == "other":
            connection.context = other

    context.sni_callback = choose
    for name, expected in (("", CHAIN), ("localhost", CHAIN), ("other", OTHER)):
        with serving(tls(context)) as address:
            certificates, texts = cert.get_serving_certificates(address, name)
        assert cert.encode_certificates(*certificates).decode() == expected
        assert b"\n".join(texts) + b"\n" == expected.encode()
    assert asked == [None, "localhost", "other"]
    with serving(tls(context)) as address:
        certificates, _ = cert.get_serving_certificates_for_url(f"https://{address}", "other")
    assert cert.encode_certificates(*certificates).decode() == OTHER


def test_the_embedded_server_shows_its_certificate() -> None:
    with Environment() as env:
        (found,), _ = cert.get_serving_certificates_for_url(env.server.tls_url)
        (authority,) = cert.parse_certs_pem(env.server.ca_certificate.encode())
        found.verify_directly_issued_by(authority)
        # The server goes on.
        assert cert.get_client_ca_names_for_url(env.server.tls_url) == []


def test_what_is_no_server_of_tls_1_2_is_an_error() -> None:
    context = server_context(CHAIN, KEY)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with serving(tls(context)) as address, pytest.raises(ssl.SSLError, match="VERSION"):
        cert.get_serving_certificates(address)
    refusal = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with serving(lambda each: each.sendall(refusal)) as address, pytest.raises(ssl.SSLError):
        cert.get_client_ca_names(address)
    with serving(lambda each: each.recv(1 << 16)) as address, pytest.raises(ConnectionResetError):
        cert.get_client_ca_names(address)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ConnectionRefusedError):
        cert.get_client_ca_names(address)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("localhost", "address localhost: missing port in address"),
        ("", "address : missing port in address"),
        ("[::1]", "address [::1]: missing port in address"),
        ("::1:443", "address ::1:443: too many colons in address"),
    ],
)
def test_an_address_needs_a_port(address: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        cert.get_client_ca_names(address)
    assert str(caught.value) == said
    if "::" not in address:
        with pytest.raises(ValueError, match="missing port"):
            cert.get_serving_certificates_for_url(f"https://{address}")
