"""Certificates of authorities and servers, as OpenSSL sees them."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tlspeers import connect, server_context

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from clientgo.util import cert, keyutil

RSA_KEY = rsa.generate_private_key(65537, 2048)
YEAR = timedelta(days=365)


def names_of(certificate: x509.Certificate) -> tuple[list[str], list[str]]:
    """Return the alternative names and addresses of a certificate."""
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.DNSName), [*map(str, names.get_values_for_type(x509.IPAddress))]


def test_an_authority_has_its_name_as_alternative_name() -> None:
    """Go: TestSelfSignedCertHasSAN"""
    before = datetime.now(UTC).replace(microsecond=0)
    found = cert.new_self_signed_ca_cert(cert.Config(common_name="foo.example.com", organization=["a", "b"]), RSA_KEY)
    assert names_of(found) == (["foo.example.com"], [])
    assert {each.value for each in found.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)} == {"a", "b"}
    assert [each.value for each in found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["foo.example.com"]
    found.verify_directly_issued_by(found)
    usage = found.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert usage.value.key_encipherment
    assert usage.value.digital_signature
    assert found.extensions.get_extension_for_class(x509.BasicConstraints).value == x509.BasicConstraints(True, None)
    assert 0 < found.serial_number < 2**63
    assert before <= found.not_valid_before_utc <= datetime.now(UTC)
    assert timedelta(0) <= found.not_valid_after_utc - found.not_valid_before_utc - 10 * YEAR < timedelta(minutes=1)


def test_an_authority_without_a_name_is_valid_from_a_given_time_on() -> None:
    begin = datetime(2020, 1, 2, tzinfo=UTC)
    found = cert.new_self_signed_ca_cert(cert.Config(not_before=begin), RSA_KEY)
    assert found.subject == x509.Name([])
    with pytest.raises(x509.ExtensionNotFound):
        names_of(found)
    assert found.not_valid_before_utc == begin
    assert found.not_valid_after_utc > datetime.now(UTC) + 9 * YEAR


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        pytest.param(RSA_KEY, hashes.SHA256, id="RSA"),
        pytest.param(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256, id="P-256"),
        pytest.param(ec.generate_private_key(ec.SECP384R1()), hashes.SHA384, id="P-384"),
        pytest.param(ec.generate_private_key(ec.SECP521R1()), hashes.SHA512, id="P-521"),
        pytest.param(ed25519.Ed25519PrivateKey.generate(), type(None), id="Ed25519"),
    ],
)
def test_any_key_signs(key: rsa.RSAPrivateKey, algorithm: type) -> None:
    found = cert.new_self_signed_ca_cert(cert.Config(common_name="a"), key)
    found.verify_directly_issued_by(found)
    assert isinstance(found.signature_hash_algorithm, algorithm)
    assert len(found.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest) == 20


@pytest.mark.parametrize("name", ["localhost", "other.example.com", "127.0.0.1", "::1"])
def test_a_generated_certificate_is_for_all_its_names(name: str) -> None:
    chain, key = cert.generate_self_signed_cert_key("localhost", ["127.0.0.1", "::1"], ["other.example.com"])
    trust = ssl.create_default_context(cadata=chain.decode())
    connect(server_context(chain.decode(), key.decode()), trust, name)
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        connect(server_context(chain.decode(), key.decode()), trust, "elsewhere")


def test_a_generated_certificate_is_of_its_own_authority_and_cannot_sign() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    chain, key = cert.generate_self_signed_cert_key("10.0.0.1", ["10.0.0.2"], ["a.b"])
    own, authority = cert.parse_certs_pem(chain)
    own.verify_directly_issued_by(authority)
    assert names_of(own) == (["a.b"], ["10.0.0.1", "10.0.0.2"])
    assert key.startswith(b"-----BEGIN RSA PRIVATE KEY-----\n")
    assert keyutil.parse_public_keys_pem(key) == [own.public_key()]
    assert own.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False
    assert own.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign is False
    usages = own.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [*usages] == [ExtendedKeyUsageOID.SERVER_AUTH]
    issuer = own.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    assert issuer == authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    for each, name in ((own, "10.0.0.1@"), (authority, "10.0.0.1-ca@")):
        (attribute,) = each.subject
        assert str(attribute.value).startswith(name)
        # Clocks differ.
        assert before <= each.not_valid_before_utc + timedelta(hours=1) <= datetime.now(UTC)
        assert each.not_valid_after_utc - each.not_valid_before_utc == YEAR
    assert own.serial_number != authority.serial_number


def test_options_set_the_age_and_a_long_host_is_kept_as_alternative_name() -> None:
    host = "a" * 60 + ".example.com"
    options = cert.SelfSignedCertKeyOptions(host=host, max_age=3600.0)
    own, authority = cert.parse_certs_pem(cert.generate_self_signed_cert_key_with_options(options)[0])
    assert own.not_valid_after_utc - own.not_valid_before_utc == timedelta(hours=1)
    assert names_of(own) == ([host], [])
    assert own.issuer == authority.subject != own.subject


def test_fixtures_are_made_once(tmp_path: Path) -> None:
    made = cert.generate_self_signed_cert_key_with_fixtures("h", ["10.0.0.1", "::1"], ["a", "b"], tmp_path)
    cert_path, key_path = tmp_path / "h_10.0.0.1-::1_a-b.crt", tmp_path / "h_10.0.0.1-::1_a-b.key"
    assert made == (cert_path.read_bytes(), key_path.read_bytes())
    assert key_path.stat().st_mode & 0o777 == 0o600
    (own, _) = cert.parse_certs_pem(made[0])
    assert own.not_valid_after_utc - own.not_valid_before_utc == 100 * YEAR
    assert cert.generate_self_signed_cert_key_with_fixtures("h", ["10.0.0.1", "::1"], ["a", "b"], str(tmp_path)) == made
    key_path.unlink()
    said = f"cert {cert_path} can be read, but key {key_path} cannot: No such file"
    with pytest.raises(FileNotFoundError, match=said):
        cert.generate_self_signed_cert_key_with_fixtures("h", ["10.0.0.1", "::1"], ["a", "b"], tmp_path)
    with pytest.raises(FileNotFoundError):
        cert.generate_self_signed_cert_key_with_fixtures("h", fixture_directory=tmp_path / "none")
    assert cert.generate_self_signed_cert_key_with_fixtures("h")[0] != made[0]
