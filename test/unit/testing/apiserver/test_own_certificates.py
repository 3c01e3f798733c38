"""A server without a certificate creates one, which a client can verify with the server's authority."""

from __future__ import annotations

import ast
import ssl
from pathlib import Path

import pytest
from tlspeers import connect, server_context

import clientgo
from clientgo.testing.apiserver.wire import signing
from clientgo.testing.apiserver.wire.signing import make_certificates
from clientgo.utils.clock import REAL_CLOCK

NAMES = ["localhost", "127.0.0.1", "::1", "other.example.com"]


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_is_for_all_its_names(name: str) -> None:
    authority, certificate, key = make_certificates(NAMES, REAL_CLOCK.now(), years=1)
    found = connect(server_context(certificate, key), ssl.create_default_context(cadata=authority), name)
    begin, end = (ssl.cert_time_to_seconds(str(found[each])) for each in ("notBefore", "notAfter"))
    assert begin < REAL_CLOCK.now() < end
    assert 365 <= (end - begin) / 86400 <= 367


def test_other_names_and_strangers_are_not_trusted() -> None:
    authority, certificate, key = make_certificates(["localhost"], REAL_CLOCK.now())
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        connect(server_context(certificate, key), ssl.create_default_context(cadata=authority), "elsewhere")
    stranger, _, _ = make_certificates(["localhost"], REAL_CLOCK.now())
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(server_context(certificate, key), ssl.create_default_context(cadata=stranger), "localhost")


def test_a_certificate_is_valid_from_yesterday_on() -> None:
    """Clocks differ."""
    authority, certificate, key = make_certificates(["localhost"], REAL_CLOCK.now(), ("an authority", "a server"))
    found = connect(server_context(certificate, key), ssl.create_default_context(cadata=authority), "localhost")
    assert found["issuer"] == ((("commonName", "an authority"),),)
    assert found["subject"] == ((("commonName", "a server"),),)
    old, certificate, key = make_certificates(["localhost"], REAL_CLOCK.now() - 11 * 365 * 86400)
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        connect(server_context(certificate, key), ssl.create_default_context(cadata=old), "localhost")


def test_only_the_embedded_server_and_envtest_sign_with_it() -> None:
    """It is not constant-time, so a program that keeps a key must not use it."""
    root = Path(clientgo.__file__).parent
    importers = {
        str(file.relative_to(root.parent))
        for file in [*root.rglob("*.py"), *(root.parent / "cmd").rglob("*.py")]
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == signing.__name__
    }
    assert importers == {
        "clientgo/testing/apiserver/server.py",
        "clientgo/controller_runtime/envtest/webhook.py",
    }
    assert "not constant-time" in str(signing.__doc__)
