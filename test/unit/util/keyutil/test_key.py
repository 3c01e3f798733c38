"""Keys in PEM: which are read, under which names, and which errors files have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from clientgo.util import keyutil

RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
NO_PRIVATE_KEY = "data does not contain a valid RSA or ECDSA private key"
NO_PUBLIC_KEY = "data does not contain any valid RSA or ECDSA public keys"
PARAMETERS = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"


def pkcs8(key: keyutil.PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def traditional(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def public(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def certificate(folder: Path, key: bytes) -> bytes:
    """Return a certificate that the openssl command made for the key."""
    (folder / "key.pem").write_bytes(key)
    command = ("openssl", "req", "-new", "-x509", "-key", str(folder / "key.pem"), "-days", "30", "-subj", "/CN=some")
    return subprocess.run(command, check=True, capture_output=True).stdout


def number(key: object) -> object:
    """Return the number that identifies a key."""
    private = isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey)
    found = key.public_key() if private else key  # type: ignore[union-attr]
    assert isinstance(found, rsa.RSAPublicKey | ec.EllipticCurvePublicKey)
    return found.public_numbers()


@pytest.mark.parametrize(
    ("key", "data"),
    [
        pytest.param(RSA_KEY, traditional(RSA_KEY), id="RSA"),
        pytest.param(EC_KEY, traditional(EC_KEY), id="ECDSA"),
        pytest.param(EC_KEY, PARAMETERS + traditional(EC_KEY), id="ECDSA with parameters"),
        pytest.param(RSA_KEY, pkcs8(RSA_KEY), id="RSA in PKCS #8"),
        pytest.param(EC_KEY, pkcs8(EC_KEY), id="ECDSA in PKCS #8"),
    ],
)
def test_a_private_key_comes_from_a_file(tmp_path: Path, key: rsa.RSAPrivateKey, data: bytes) -> None:
    """Go: TestReadPrivateKey"""
    file = tmp_path / "key.pem"
    file.touch()
    with pytest.raises(ValueError, match=f"^error reading private key file {file}: {NO_PRIVATE_KEY}$"):
        keyutil.private_key_from_file(file)
    file.write_bytes(data)
    found = keyutil.private_key_from_file(str(file))
    assert number(found) == number(key)
    assert keyutil.marshal_private_key_to_pem(found) == traditional(key)
    file.unlink()
    with pytest.raises(FileNotFoundError):
        keyutil.private_key_from_file(file)


def test_public_keys_come_from_public_keys_private_keys_and_certificates(tmp_path: Path) -> None:
    """Go: TestReadPublicKeys"""
    file = tmp_path / "keys.pem"
    file.touch()
    with pytest.raises(ValueError, match=f"^error reading public key file {file}: {NO_PUBLIC_KEY}$"):
        keyutil.public_keys_from_file(file)
    ours = number(RSA_KEY), number(EC_KEY)
    certificates = certificate(tmp_path, traditional(RSA_KEY)), certificate(tmp_path, traditional(EC_KEY))
    expected = {
        public(RSA_KEY): [ours[0]],
        public(EC_KEY): [ours[1]],
        public(RSA_KEY) + b"\n" + public(EC_KEY): [*ours],
        b"".join(certificates): [*ours],
        traditional(EC_KEY) + pkcs8(RSA_KEY) + traditional(RSA_KEY): [ours[1], ours[0], ours[0]],
    }
    for data, numbers in expected.items():
        file.write_bytes(data)
        assert [number(key) for key in keyutil.public_keys_from_file(file)] == numbers
    file.unlink()
    with pytest.raises(FileNotFoundError):
        keyutil.public_keys_from_file(file)


@pytest.mark.parametrize(
    ("block_type", "data"),
    [
        pytest.param("EC PRIVATE KEY", pkcs8(EC_KEY), id="PKCS #8 as SEC 1"),
        pytest.param("EC PRIVATE KEY", traditional(RSA_KEY), id="RSA as SEC 1"),
        pytest.param("RSA PRIVATE KEY", pkcs8(RSA_KEY), id="PKCS #8 as PKCS #1"),
        pytest.param("PRIVATE KEY", traditional(RSA_KEY), id="PKCS #1 as PKCS #8"),
        pytest.param("PRIVATE KEY", traditional(EC_KEY), id="SEC 1 as PKCS #8"),
        pytest.param("SOME KEY", traditional(EC_KEY), id="another name"),
        pytest.param("PRIVATE KEY", public(EC_KEY), id="a public key"),
        pytest.param("EC PRIVATE KEY", traditional(ec.generate_private_key(ec.SECP256K1())), id="another curve"),
        pytest.param(
            "PRIVATE KEY",
            RSA_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")),
            id="encrypted",
        ),
    ],
)
def test_a_private_key_under_a_wrong_name_is_skipped(block_type: str, data: bytes) -> None:
    lines = data.splitlines()
    named = [f"-----BEGIN {block_type}-----".encode(), *lines[1:-1], f"-----END {block_type}-----".encode(), b""]
    with pytest.raises(ValueError, match=f"^{NO_PRIVATE_KEY}$"):
        keyutil.parse_private_key_pem(b"\n".join(named))
    # The next block counts.
    assert number(keyutil.parse_private_key_pem(b"\n".join(named) + traditional(EC_KEY))) == number(EC_KEY)


@pytest.mark.parametrize("make", [ed25519.Ed25519PrivateKey.generate, x25519.X25519PrivateKey.generate])
def test_pkcs_8_may_have_a_key_that_cannot_be_marshalled(make: type) -> None:
    key = make()
    found = keyutil.parse_private_key_pem(pkcs8(key))
    assert type(found) is type(key)
    with pytest.raises(TypeError, match=r"^private key is not a recognized type: .*25519PrivateKey$"):
        keyutil.marshal_private_key_to_pem(found)
    with pytest.raises(ValueError, match=f"^{NO_PUBLIC_KEY}$"):
        keyutil.parse_public_keys_pem(pkcs8(key))


def test_some_public_keys_are_skipped_as_in_go() -> None:
    rsa_in_pkcs1 = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1)
    other_curve = ec.generate_private_key(ec.SECP256K1())
    broken = b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n"
    empty = b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"
    for data in (rsa_in_pkcs1, pkcs8(EC_KEY), public(other_curve), traditional(other_curve), broken, empty):
        with pytest.raises(ValueError, match=f"^{NO_PUBLIC_KEY}$"):
            keyutil.parse_public_keys_pem(data)
    renamed = public(RSA_KEY).replace(b"PUBLIC KEY", b"ANYTHING")
    assert [number(key) for key in keyutil.parse_public_keys_pem(renamed)] == [number(RSA_KEY)]


def test_a_key_is_generated_once(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "client.key"
    data, was_generated = keyutil.load_or_generate_key_file(file)
    assert was_generated
    assert data == file.read_bytes()
    assert data.startswith(b"-----BEGIN EC PRIVATE KEY-----\n")
    found = keyutil.parse_private_key_pem(data)
    assert isinstance(found, ec.EllipticCurvePrivateKey)
    assert isinstance(found.curve, ec.SECP256R1)
    assert keyutil.load_or_generate_key_file(str(file)) == (data, False)
    assert keyutil.make_elliptic_private_key_pem() != keyutil.make_elliptic_private_key_pem()


def test_a_file_that_is_no_key_is_never_overwritten(tmp_path: Path) -> None:
    for content in (b"", b"no key"):
        file = tmp_path / "client.key"
        file.write_bytes(content)
        with pytest.raises(ValueError, match=f"^error loading key from {file}: {NO_PRIVATE_KEY}$"):
            keyutil.load_or_generate_key_file(file)
        assert file.read_bytes() == content
    with pytest.raises(IsADirectoryError, match=f"error loading key from {tmp_path}: Is a directory"):
        keyutil.load_or_generate_key_file(tmp_path)
    # Only a missing file is written.
    with pytest.raises(NotADirectoryError, match=r"error loading key from .*: Not a directory"):
        keyutil.load_or_generate_key_file(file / "below")
    (tmp_path / "dangling").symlink_to("/proc/none/key")
    with pytest.raises(FileNotFoundError, match=r"error writing key to .*dangling: No such file"):
        keyutil.load_or_generate_key_file(tmp_path / "dangling")


def test_a_key_file_is_readable_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        keyutil.write_key(tmp_path / "a" / "b" / "client.key", b"one, which is long")
    finally:
        os.umask(before)
    assert [(tmp_path / each).stat().st_mode & 0o777 for each in ("a", "a/b", "a/b/client.key")] == [
        0o755,
        0o755,
        0o600,
    ]
    file = tmp_path / "a" / "b" / "client.key"
    file.chmod(0o640)
    keyutil.write_key(file, b"two")
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o777 == 0o640
