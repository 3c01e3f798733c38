"""A server without a certificate creates one, which a client can verify with the server's authority."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading

import pytest

from clientgo.util.cert import Authority, context_of, generate_self_signed_cert_key, load_pair, make_certificates
from clientgo.utils.clock import REAL_CLOCK


def connect(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> dict[str, object]:
    """Return the certificate that the client gets. Raises ssl.SSLError if the client does not trust it."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with ours, contextlib.suppress(OSError):
            server.wrap_socket(ours, server_side=True).close()

    thread = threading.Thread(target=serve, name="server")
    thread.start()
    try:
        with theirs, client.wrap_socket(theirs, server_hostname=name) as secure:
            return secure.getpeercert()  # type: ignore[return-value]
    finally:
        thread.join()


@pytest.mark.parametrize("name", ["localhost", "other.example.com", "127.0.0.1", "::1"])
def test_a_generated_certificate_is_for_all_its_names(name: str) -> None:
    chain, key = generate_self_signed_cert_key("localhost", ["127.0.0.1", "::1"], ["other.example.com"])
    trust = ssl.create_default_context(cadata=chain)
    found = connect(context_of(chain, key), trust, name)
    begin, end = (ssl.cert_time_to_seconds(str(found[each])) for each in ("notBefore", "notAfter"))
    assert begin < REAL_CLOCK.now() < end
    assert 365 <= (end - begin) / 86400 <= 367


def test_other_names_and_strangers_are_not_trusted() -> None:
    chain, key = generate_self_signed_cert_key("localhost")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        connect(context_of(chain, key), ssl.create_default_context(cadata=chain), "elsewhere")
    stranger, _ = generate_self_signed_cert_key("localhost")
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(context_of(chain, key), ssl.create_default_context(cadata=stranger), "localhost")


def test_a_certificate_is_valid_from_yesterday_on() -> None:
    """Clocks differ."""
    authority, certificate, key = make_certificates(["localhost"], REAL_CLOCK.now(), ("an authority", "a server"))
    found = connect(context_of(certificate, key), ssl.create_default_context(cadata=authority), "localhost")
    assert found["issuer"] == ((("commonName", "an authority"),),)
    assert found["subject"] == ((("commonName", "a server"),),)
    old, certificate, key = make_certificates(["localhost"], REAL_CLOCK.now() - 11 * 365 * 86400)
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        connect(context_of(certificate, key), ssl.create_default_context(cadata=old), "localhost")


def test_an_authority_comes_back_from_its_key_and_goes_on_signing() -> None:
    now = REAL_CLOCK.now()
    first = Authority("an authority", now)
    again = Authority("an authority", now + 1000, key=first.key, certificate=first.certificate)
    assert (again.key, again.certificate) == (first.key, first.certificate)
    for authority in (first, again):
        certificate, key = authority.issue("a node", ["localhost"], now, client=True)
        found = connect(context_of(certificate, key), ssl.create_default_context(cadata=first.certificate), "localhost")
        assert found["issuer"] == ((("commonName", "an authority"),),)
    assert first.key.strip() not in repr(first)


def test_a_client_logs_in_with_a_certificate_of_the_authority() -> None:
    authority = Authority("an authority", REAL_CLOCK.now())
    server = context_of(*authority.issue("a node", ["localhost"], REAL_CLOCK.now()))
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=authority.certificate)
    client = ssl.create_default_context(cadata=authority.certificate)
    load_pair(client, *authority.issue("root", [], REAL_CLOCK.now(), client=True))
    assert connect(server, client, "localhost")["subject"] == ((("commonName", "a node"),),)


@pytest.mark.parametrize(
    "key", ["", "x", "-----BEGIN EC PRIVATE KEY-----\n!\n-----END EC PRIVATE KEY-----\n", "other curve", "cut"]
)
def test_what_is_no_key_of_ours_is_refused(key: str) -> None:
    good = Authority("an authority", REAL_CLOCK.now()).key
    if key == "cut":
        key = "\n".join([*good.splitlines()[:2], good.splitlines()[-1]])
    if key == "other curve":
        key = good.replace("MHcCAQEE", "MHcCAQEF")
    if key:
        with pytest.raises(ValueError, match="private key"):
            Authority("an authority", 0.0, key=key)
    else:
        assert Authority("an authority", 0.0, key=key).key != good
