"""Pairs of certificate and key are read from their files, and a new pair replaces the current one by a link."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from signers import Authority

from clientgo.util import certificate

AUTHORITY = Authority()
CERT, KEY = AUTHORITY.pair("one")
OTHER_CERT, OTHER_KEY = AUTHORITY.pair("two")


def store_in(folder: Path, cert_file: str = "", key_file: str = "") -> certificate.FileStore:
    return certificate.new_file_store("kubelet", str(folder), str(folder), cert_file, key_file)


def name_of(pair: certificate.Certificate) -> str:
    return pair.leaf.subject.rfc4514_string()


def test_an_update_creates_a_file_that_only_the_owner_reads_and_the_link(tmp_path: Path) -> None:
    """Go: TestUpdateNoRotation"""
    store = store_in(tmp_path / "pki")
    pair = store.update(CERT, KEY)

    assert name_of(pair) == name_of(store.current()) == "CN=one"
    assert (pair.cert, pair.key) == (CERT, KEY)
    current = Path(store.current_path())
    assert current.is_symlink()
    assert current == tmp_path / "pki" / "kubelet-current.pem"
    assert current.resolve().stat().st_mode & 0o777 == 0o600
    assert current.read_bytes() == CERT + KEY
    assert not (tmp_path / "pki" / "kubelet-updated.pem").is_symlink()


def test_an_update_replaces_the_current_pair(tmp_path: Path) -> None:
    """Go: TestUpdateRotation, TestUpdateSymlinkReplaceExistingSymlink, TestUpdateSymlinkNoSymlink"""
    (tmp_path / "kubelet.crt").write_bytes(CERT)
    (tmp_path / "kubelet.key").write_bytes(KEY)
    store = store_in(tmp_path)
    assert name_of(store.current()) == "CN=one"

    store.update(OTHER_CERT, OTHER_KEY)
    assert name_of(store.current()) == "CN=two"
    store.update(CERT, KEY)
    assert name_of(store.current()) == "CN=one"


def test_a_chain_is_stored_whole(tmp_path: Path) -> None:
    """Go: TestUpdateTwoCerts"""
    store = store_in(tmp_path)
    pair = store.update(CERT + OTHER_CERT, KEY)

    assert name_of(pair) == "CN=one"
    assert pair.cert == CERT + OTHER_CERT
    assert store.current().cert.count(b"BEGIN CERTIFICATE") == 2


@pytest.mark.parametrize(("cert", "key"), [(CERT, b"garbage"), (b"garbage", KEY), (CERT, OTHER_KEY), (b"", b"")])
def test_an_invalid_pair_does_not_become_the_current_one(tmp_path: Path, cert: bytes, key: bytes) -> None:
    """Go: TestUpdateWithBadCertKeyData"""
    store = store_in(tmp_path)
    store.update(CERT, KEY)
    with pytest.raises(ValueError, match="invalid|does not match|valid"):
        store.update(cert, key)
    assert name_of(store.current()) == "CN=one"


def test_a_file_in_place_of_the_link_is_an_error(tmp_path: Path) -> None:
    """Go: TestUpdateSymlinkExistingFileError"""
    (tmp_path / "kubelet-current.pem").write_bytes(CERT + KEY)
    with pytest.raises(OSError, match="to be a symlink but it is a file"):
        store_in(tmp_path).update(OTHER_CERT, OTHER_KEY)


def test_a_file_in_place_of_the_second_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kubelet-updated.pem").write_bytes(CERT + KEY)
    with pytest.raises(OSError, match="to be a symlink but it is a file"):
        store_in(tmp_path)


def test_an_interrupted_update_is_completed(tmp_path: Path) -> None:
    (tmp_path / "new.pem").write_bytes(CERT + KEY)
    (tmp_path / "kubelet-updated.pem").symlink_to(tmp_path / "new.pem")
    assert name_of(store_in(tmp_path).current()) == "CN=one"
    assert not (tmp_path / "kubelet-updated.pem").is_symlink()


@pytest.mark.parametrize(
    "data", [pytest.param(CERT + KEY, id="cert and key"), pytest.param(KEY + CERT, id="key and cert")]
)
def test_the_current_file_has_the_pair_in_any_order(tmp_path: Path, data: bytes) -> None:
    """Go: TestLoadFile, TestCurrentPairFile"""
    (tmp_path / "kubelet-current.pem").write_bytes(data)
    assert name_of(store_in(tmp_path).current()) == "CN=one"


def test_the_current_pair_precedes_the_named_files_and_those_the_default_files(tmp_path: Path) -> None:
    """Go: TestCurrentCertKeyFiles, TestCurrentTwoCerts"""
    (tmp_path / "kubelet.crt").write_bytes(CERT + OTHER_CERT)
    (tmp_path / "kubelet.key").write_bytes(KEY)
    assert name_of(store_in(tmp_path).current()) == "CN=one"

    (tmp_path / "named.crt").write_bytes(OTHER_CERT)
    (tmp_path / "named.key").write_bytes(OTHER_KEY)
    store = store_in(tmp_path, str(tmp_path / "named.crt"), str(tmp_path / "named.key"))
    assert name_of(store.current()) == "CN=two"

    (tmp_path / "kubelet-current.pem").write_bytes(CERT + KEY)
    assert name_of(store.current()) == "CN=one"


def test_a_store_without_files_has_no_pair(tmp_path: Path) -> None:
    """Go: TestCurrentNoFiles"""
    with pytest.raises(certificate.NoCertKeyError, match="no cert/key files read at"):
        store_in(tmp_path).current()


def test_a_link_to_a_missing_file_is_no_pair(tmp_path: Path) -> None:
    """Go: TestUpdateSymlinkNewFileNotExist"""
    store = store_in(tmp_path)
    store.update(CERT, KEY)
    Path(store.current_path()).resolve().unlink()
    with pytest.raises(certificate.NoCertKeyError):
        store.current()


@pytest.mark.parametrize(
    ("cert", "key", "message"),
    [
        (b"", KEY, "failed to find any PEM data in certificate input"),
        (CERT, CERT, "failed to find any PEM data in key input"),
        (CERT, OTHER_KEY, "private key does not match public key"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", KEY, "failed to parse"),
        (CERT, b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "failed to parse"),
    ],
)
def test_a_pair_that_does_not_match_is_an_error(cert: bytes, key: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certificate.x509_key_pair(cert, key)


def test_the_key_is_not_in_the_repr() -> None:
    pair = certificate.x509_key_pair(CERT, KEY)
    assert "PRIVATE" not in repr(pair)
