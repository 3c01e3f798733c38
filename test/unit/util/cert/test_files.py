"""Certificates in PEM and in files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.verification import PolicyBuilder, Store

from clientgo.util import cert, keyutil

CHAIN, KEY = cert.generate_self_signed_cert_key("localhost")
OTHER = cert.encode_certificates(
    cert.new_self_signed_ca_cert(cert.Config(common_name="other"), ec.generate_private_key(ec.SECP256R1()))
)
NONE = "data does not contain any valid RSA or ECDSA certificates"
BROKEN = b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"


def test_certificates_are_read_and_written_in_order() -> None:
    found = cert.parse_certs_pem(b"text\n" + KEY + CHAIN + OTHER)
    assert len(found) == 3
    assert cert.encode_certificates(*found) == CHAIN + OTHER
    assert cert.encode_certificates() == b""


def test_blocks_with_headers_and_of_other_types_are_skipped() -> None:
    with_header = OTHER.replace(b"CERTIFICATE-----\n", b"CERTIFICATE-----\nName: value\n\n", 1)
    assert cert.encode_certificates(*cert.parse_certs_pem(with_header + CHAIN)) == CHAIN
    for data in (b"", KEY, with_header, OTHER.replace(b"CERTIFICATE", b"TRUSTED CERTIFICATE")):
        with pytest.raises(ValueError, match=f"^{NONE}$"):
            cert.parse_certs_pem(data)


def test_a_malformed_certificate_is_an_error() -> None:
    with pytest.raises(ValueError, match="parsing"):
        cert.parse_certs_pem(CHAIN + BROKEN)


def test_files_of_certificates(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_bytes(CHAIN + OTHER)
    assert cert.encode_certificates(*cert.certs_from_file(file)) == CHAIN + OTHER
    file.write_bytes(KEY)
    with pytest.raises(ValueError, match=f"^error reading {file}: {NONE}$"):
        cert.certs_from_file(str(file))
    with pytest.raises(ValueError, match=f"^error creating pool from {file}: {NONE}$"):
        cert.new_pool(file)
    file.unlink()
    for read in (cert.certs_from_file, cert.new_pool):
        with pytest.raises(FileNotFoundError):
            read(file)


def test_a_pool_is_what_cryptography_verifies_with(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_bytes(OTHER)
    assert isinstance(cert.new_pool(file), Store)
    assert PolicyBuilder().store(cert.new_pool_from_bytes(CHAIN)).build_client_verifier().store is not None


def test_a_certificate_and_its_key_are_there_or_neither(tmp_path: Path) -> None:
    pair = tmp_path / "tls.crt", tmp_path / "tls.key"
    assert cert.can_read_cert_and_key(*pair) is False
    for there, missing in (pair, reversed(pair)):
        there.touch()
        said = f"error reading {missing}, certificate and key must be supplied as a pair"
        with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
            cert.can_read_cert_and_key(*pair)
        there.unlink()
    for each in pair:
        each.touch()
    assert cert.can_read_cert_and_key(*map(str, pair)) is True


def test_a_certificate_is_written_for_all_to_read(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "tls.crt"
    cert.write_cert(file, CHAIN)
    keyutil.write_key(file.with_suffix(".key"), KEY)
    assert file.read_bytes() == CHAIN
    assert file.stat().st_mode & 0o777 == 0o644
    cert.write_cert(str(file), OTHER)
    assert file.read_bytes() == OTHER
