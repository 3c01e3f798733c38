"""Certificates of authorities and of servers. Mirrors client-go's util/cert/cert.go.

    certificates, key = cert.generate_self_signed_cert_key("example.com", ["10.0.0.1"], ["www.example.com"])

Certificates and keys are those of the package `cryptography`, in place of crypto/x509. Texts in PEM are bytes.
Differences: `cryptography` limits the common name to 64 characters. The names that `generate_self_signed_cert_key`
makes are cut to it; they have no meaning, since clients compare the alternative names.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from clientgo.golang.io import read_file
from clientgo.golang.os import write_file
from clientgo.util.cert.pem import encode_certificates
from clientgo.util.keyutil import marshal_private_key_to_pem

__all__ = [
    "AltNames",
    "Config",
    "IPAddress",
    "SelfSignedCertKeyOptions",
    "Signer",
    "alternative_names",
    "generate_self_signed_cert_key",
    "generate_self_signed_cert_key_with_fixtures",
    "generate_self_signed_cert_key_with_options",
    "hash_of",
    "new_self_signed_ca_cert",
]

IPAddress: TypeAlias = str | ipaddress.IPv4Address | ipaddress.IPv6Address
"""An address, as text or parsed. Go: net.IP."""

Signer: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
"""A private key that signs. Go: crypto.Signer."""

_YEAR = 365 * 24 * 3600.0
_YEARS_OF_AUTHORITY = 10
_YEARS_OF_FIXTURES = 100
# Clocks differ.
_EARLIER = timedelta(hours=1)
_RSA_BITS = 2048
_LONGEST_COMMON_NAME = 64
_LARGEST_SERIAL = 2**63 - 1


@dataclass
class AltNames:
    """The names and addresses of a certificate. Go: cert.AltNames."""

    dns_names: list[str] = field(default_factory=list)
    ips: list[IPAddress] = field(default_factory=list)


@dataclass
class Config:
    """The basic fields of a certificate. Go: cert.Config."""

    common_name: str = ""
    organization: list[str] = field(default_factory=list)
    alt_names: AltNames = field(default_factory=AltNames)
    """Programs use it for certificates that an authority signs; `new_self_signed_ca_cert` does not."""
    usages: list[x509.ObjectIdentifier] = field(default_factory=list)
    """Members of `ExtendedKeyUsageOID` of cryptography.x509.oid, used like `alt_names`."""
    not_before: datetime | None = None
    """None selects the current time."""


@dataclass
class SelfSignedCertKeyOptions:
    """The fields of a server's certificate. Go: cert.SelfSignedCertKeyOptions."""

    host: str = ""
    """The name or address of the server; required."""
    alternate_ips: Sequence[IPAddress] = ()
    alternate_dns: Sequence[str] = ()
    max_age: float = 0.0
    """The validity of the certificate in seconds; 0 selects a year. Fixtures are valid for 100 years."""
    fixture_directory: str | Path = ""
    """A folder of tests with the files `<host>_<ip>-<ip>_<name>-<name>.crt` and `.key`, which are created once."""


def new_self_signed_ca_cert(cfg: Config, key: Signer) -> x509.Certificate:
    """Return a certificate for an authority, valid for ten years and signed by its own key.

    Raises ValueError for an invalid name. Go: cert.NewSelfSignedCACert.
    """
    now = datetime.now(UTC)
    attributes = []
    if cfg.organization:
        organizations = {x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in cfg.organization}
        attributes.append(x509.RelativeDistinguishedName(organizations))
    if cfg.common_name:
        attributes.append(_common_name(cfg.common_name))
    builder = _authority(x509.Name(attributes), key).not_valid_before(cfg.not_before or now)
    builder = builder.not_valid_after(now + timedelta(seconds=_YEARS_OF_AUTHORITY * _YEAR))
    if cfg.common_name:
        builder = builder.add_extension(alternative_names([cfg.common_name], ()), critical=False)
    return builder.sign(key, hash_of(key))


def generate_self_signed_cert_key(
    host: str, alternate_ips: Iterable[IPAddress] = (), alternate_dns: Iterable[str] = ()
) -> tuple[bytes, bytes]:
    """Return a certificate, followed by its authority's, and its key, in PEM, valid for a year.

    The authority's key is discarded. Creating the keys takes a fraction of a second. Raises ValueError for an invalid
    name. Go: cert.GenerateSelfSignedCertKey.
    """
    return generate_self_signed_cert_key_with_options(
        SelfSignedCertKeyOptions(host, list(alternate_ips), list(alternate_dns))
    )


def generate_self_signed_cert_key_with_fixtures(
    host: str,
    alternate_ips: Iterable[IPAddress] = (),
    alternate_dns: Iterable[str] = (),
    fixture_directory: str | Path = "",
) -> tuple[bytes, bytes]:
    """Return like `generate_self_signed_cert_key`, but keep and reuse the files in a folder unless it is "".

    Raises ValueError and OSError. Go: cert.GenerateSelfSignedCertKeyWithFixtures.
    """
    return generate_self_signed_cert_key_with_options(
        SelfSignedCertKeyOptions(host, list(alternate_ips), list(alternate_dns), fixture_directory=fixture_directory)
    )


def generate_self_signed_cert_key_with_options(opts: SelfSignedCertKeyOptions) -> tuple[bytes, bytes]:
    """Return like `generate_self_signed_cert_key`, with these options. Raises ValueError and OSError.

    Go: cert.GenerateSelfSignedCertKeyWithOptions.
    """
    ips = [ipaddress.ip_address(each) for each in opts.alternate_ips]
    if not opts.fixture_directory:
        return _generate(opts, ips, opts.max_age or _YEAR)
    name = f"{opts.host}_{'-'.join(map(str, ips))}_{'-'.join(opts.alternate_dns)}"
    cert_path, key_path = (Path(opts.fixture_directory) / f"{name}.{suffix}" for suffix in ("crt", "key"))
    try:
        certificates = read_file(cert_path)
    except OSError:
        certificates, key = _generate(opts, ips, _YEARS_OF_FIXTURES * _YEAR)
        write_file(cert_path, certificates, 0o644)
        write_file(key_path, key, 0o600)
        return certificates, key
    try:
        return certificates, read_file(key_path)
    except OSError as err:
        said = f"cert {cert_path} can be read, but key {key_path} cannot: {err.strerror}"
        raise OSError(err.errno, said) from err


def _generate(
    opts: SelfSignedCertKeyOptions, ips: Sequence[ipaddress.IPv4Address | ipaddress.IPv6Address], max_age: float
) -> tuple[bytes, bytes]:
    now = datetime.now(UTC)
    begin = now - _EARLIER
    end = begin + timedelta(seconds=max_age)
    ca_key, key = (rsa.generate_private_key(65537, _RSA_BITS) for _ in range(2))
    issuer, subject = (
        x509.Name([_common_name(f"{opts.host[: _LONGEST_COMMON_NAME - len(suffix)]}{suffix}")])
        for suffix in (f"-ca@{int(now.timestamp())}", f"@{int(now.timestamp())}")
    )
    ca = _authority(issuer, ca_key).not_valid_before(begin).not_valid_after(end).sign(ca_key, hash_of(ca_key))
    hosts, addresses = [opts.host], list(ips)
    try:
        addresses.insert(0, ipaddress.ip_address(opts.host))
        hosts.clear()
    except ValueError:
        pass
    certificate = (
        _template(subject, issuer, key, is_authority=False)
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier(_key_identifier(ca_key), None, None), critical=False)
        .add_extension(alternative_names([*hosts, *opts.alternate_dns], addresses), critical=False)
        .sign(ca_key, hash_of(ca_key))
    )
    return encode_certificates(certificate, ca), marshal_private_key_to_pem(key)


def _authority(name: x509.Name, key: Signer) -> x509.CertificateBuilder:
    """Return the template of an authority's certificate without its times."""
    identifier = x509.SubjectKeyIdentifier(_key_identifier(key))
    return _template(name, name, key, is_authority=True).add_extension(identifier, critical=False)


def _template(subject: x509.Name, issuer: x509.Name, key: Signer, *, is_authority: bool) -> x509.CertificateBuilder:
    usage = x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=is_authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer)
        .public_key(key.public_key())
        .serial_number(secrets.randbelow(_LARGEST_SERIAL - 1) + 1)
        .add_extension(usage, critical=True)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )


def _common_name(name: str) -> x509.RelativeDistinguishedName:
    return x509.RelativeDistinguishedName([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_identifier(key: Signer) -> bytes:
    """Return the identifier by RFC 7093, as Go makes it from 1.25 on."""
    public = key.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        bits = public.public_bytes(Encoding.DER, PublicFormat.PKCS1)
    elif isinstance(public, ec.EllipticCurvePublicKey):
        bits = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    else:
        bits = public.public_bytes_raw()
    return hashlib.sha256(bits).digest()[:20]


def alternative_names(dns_names: Iterable[str], ips: Iterable[IPAddress]) -> x509.SubjectAlternativeName:
    """Return the extension with these names and addresses, in this order."""
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in dns_names]
    return x509.SubjectAlternativeName([*names, *(x509.IPAddress(ipaddress.ip_address(each)) for each in ips)])


def hash_of(key: Signer) -> hashes.SHA256 | hashes.SHA384 | hashes.SHA512 | None:
    """Return the hash that crypto/x509 selects for a key's signatures: by the size of a curve, SHA-256 for RSA."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return None
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.key_size > 256:
        return hashes.SHA384() if key.curve.key_size == 384 else hashes.SHA512()
    return hashes.SHA256()
