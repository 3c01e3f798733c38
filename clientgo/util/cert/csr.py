"""Requests for certificates. Mirrors client-go's util/cert/csr.go.

A template is a builder of `cryptography`, in place of x509.CertificateRequest. It must have a subject, which may be
empty: `x509.Name([])`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from clientgo.golang import pem
from clientgo.util.cert.cert import IPAddress, Signer, alternative_names, hash_of
from clientgo.util.cert.pem import CERTIFICATE_REQUEST_BLOCK_TYPE

__all__ = ["make_csr", "make_csr_from_template"]


def make_csr(
    private_key: Signer, subject: x509.Name, dns_sans: Iterable[str] = (), ip_sans: Iterable[IPAddress] = ()
) -> bytes:
    """Return a request in PEM for a subject, names and addresses. Raises ValueError for an invalid name.

    Go: cert.MakeCSR.
    """
    template = x509.CertificateSigningRequestBuilder(subject)
    names = alternative_names(dns_sans, ip_sans)
    if len([*names]):
        template = template.add_extension(names, critical=False)
    return make_csr_from_template(private_key, template)


def make_csr_from_template(private_key: Signer, template: x509.CertificateSigningRequestBuilder) -> bytes:
    """Sign the certificate request that `template` describes, and return it in PEM.

    The hash depends on the size of an RSA key: SHA-384 from 3072 bits on, SHA-512 from 4096 bits on, else SHA-256.
    Raises ValueError for a template without subject, and TypeError for a key that cannot sign.
    Go: cert.MakeCSRFromTemplate.
    """
    der = template.sign(private_key, _hash_of(private_key)).public_bytes(Encoding.DER)
    return pem.encode(CERTIFICATE_REQUEST_BLOCK_TYPE, der)


def _hash_of(private_key: Signer) -> hashes.SHA256 | hashes.SHA384 | hashes.SHA512 | None:
    if isinstance(private_key, rsa.RSAPrivateKey) and private_key.key_size >= 3072:
        return hashes.SHA512() if private_key.key_size >= 4096 else hashes.SHA384()
    return hash_of(private_key)
