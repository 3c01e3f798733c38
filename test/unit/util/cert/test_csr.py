"""Requests for certificates."""

from __future__ import annotations

import pytest

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from clientgo.golang import pem
from clientgo.util import cert

SUBJECT = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-worker")])
KEY = ec.generate_private_key(ec.SECP256R1())


def test_a_request_has_its_subject_names_and_addresses() -> None:
    """Go: TestMakeCSR"""
    text = cert.make_csr(KEY, SUBJECT, ["localhost"], ["127.0.0.1"])
    (block,) = pem.blocks(text)
    assert block.type == cert.CERTIFICATE_REQUEST_BLOCK_TYPE == "CERTIFICATE REQUEST"
    found = x509.load_der_x509_csr(block.bytes)
    assert found.is_signature_valid
    assert found.subject == SUBJECT
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_a_request_without_names_has_no_extension() -> None:
    found = x509.load_pem_x509_csr(cert.make_csr(KEY, x509.Name([])))
    assert [*found.extensions] == []
    assert found.subject == x509.Name([])
    with pytest.raises(ValueError, match="subject"):
        cert.make_csr_from_template(KEY, x509.CertificateSigningRequestBuilder())


@pytest.mark.parametrize(
    ("bits", "algorithm"), [(2048, hashes.SHA256), (3071, hashes.SHA256), (3072, hashes.SHA384), (4096, hashes.SHA512)]
)
def test_large_keys_of_rsa_sign_longer_hashes(bits: int, algorithm: type) -> None:
    key = rsa.generate_private_key(65537, bits)
    found = x509.load_pem_x509_csr(cert.make_csr(key, SUBJECT))
    assert found.is_signature_valid
    assert isinstance(found.signature_hash_algorithm, algorithm)


def test_a_curve_has_the_hash_of_its_size() -> None:
    found = x509.load_pem_x509_csr(cert.make_csr(ec.generate_private_key(ec.SECP384R1()), SUBJECT))
    assert isinstance(found.signature_hash_algorithm, hashes.SHA384)
