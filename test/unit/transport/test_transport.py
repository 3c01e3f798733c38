"""From a config to a round tripper, or to an error that says what is wrong with it. Go: transport/transport_test.go."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority

from clientgo import transport


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


def tls(**settings: Any) -> ssl.SSLContext | None:
    return transport.tls_config_for(transport.Config(tls=transport.TLSConfig(**settings)))


def test_a_config_that_asks_for_nothing_has_no_tls_of_its_own():
    """Go: TestNew/default transport"""
    assert tls() is None
    assert isinstance(transport.new(transport.Config()), transport.Transport)


def test_what_a_config_checks():
    """
    Go: TestNew/insecure
    Go: TestNew/server name
    """
    insecure, named = tls(insecure=True), tls(server_name="foo")
    assert insecure is not None and named is not None
    assert (insecure.verify_mode, insecure.check_hostname) == (ssl.CERT_NONE, False)
    assert named.verify_mode is ssl.CERT_REQUIRED


def test_an_authority_is_data_or_a_file_and_data_comes_first(authority: Authority, tmp_path: Path):
    """
    Go: TestNew/ca transport
    Go: TestNew/ca data overriding bad ca file transport
    Go: TestNew/bad ca file transport
    Go: TestNew/bad ca data transport
    """
    (tmp_path / "ca").write_bytes(authority.data)
    for settings in (
        {"ca_data": authority.data},
        {"ca_data": authority.data, "ca_file": "none"},
        {"ca_file": tmp_path / "ca"},
    ):
        context = tls(**{key: str(value) if isinstance(value, Path) else value for key, value in settings.items()})
        assert context is not None
        assert len(context.get_ca_certs()) == 1
    with pytest.raises(FileNotFoundError):
        tls(ca_file="invalid file")
    with pytest.raises(ValueError, match="unable to load root certificates"):
        tls(ca_data=b"not a certificate")


def test_a_certificate_of_the_client_is_data_or_files_and_data_comes_first(authority: Authority, tmp_path: Path):
    """
    Go: TestNew/cert transport
    Go: TestNew/key data overriding bad file cert transport
    Go: TestNew/bad cert data transport
    Go: TestNew/bad file cert transport
    """
    pair = authority.issue("client")
    cert, key = Path(pair.cert).read_bytes(), Path(pair.key).read_bytes()
    good: list[dict[str, Any]] = [
        {"cert_data": cert, "key_data": key},
        {"cert_file": str(pair.cert), "key_file": str(pair.key)},
        {"cert_data": cert, "key_data": key, "key_file": "invalid file"},
    ]
    for settings in good:
        assert tls(ca_data=authority.data, **settings) is not None
    with pytest.raises(ValueError, match="tls"):
        tls(ca_data=authority.data, cert_data=b"not a certificate", key_data=key)
    with pytest.raises(FileNotFoundError):
        tls(ca_data=authority.data, cert_data=cert, key_file="invalid file")


def test_a_callback_gives_the_certificate_unless_there_is_one(authority: Authority):
    """
    Go: TestNew/callback cert and key
    Go: TestNew/cert callback error
    Go: TestNew/cert data overrides empty callback result
    Go: TestNew/callback returns nothing
    """
    pair = authority.issue("callback")
    cert, key = Path(pair.cert).read_bytes(), Path(pair.key).read_bytes()
    asked: list[str] = []

    def holder(found: transport.Certificate | None) -> transport.GetCertHolder:
        def get_cert() -> transport.Certificate | None:
            asked.append("")
            return found

        return transport.GetCertHolder(get_cert)

    def broken() -> transport.Certificate | None:
        raise OSError("callback failed")

    assert tls(get_cert_holder=holder(transport.Certificate(cert, key))) is not None
    assert tls(get_cert_holder=holder(None)) is not None
    assert len(asked) == 2
    assert tls(get_cert_holder=holder(None), cert_data=cert, key_data=key) is not None
    assert len(asked) == 2
    with pytest.raises(OSError, match="callback failed"):
        tls(get_cert_holder=transport.GetCertHolder(broken))


@pytest.mark.parametrize(
    ("fields", "looked_at"),
    [
        # Go: TestTLSTransportCacheCARotation/CA rotation should be enabled when only the CAFile is set
        (("ca_file",), True),
        # Go: TestTLSTransportCacheCARotation/CA rotation should be disabled when both CAFile and CAData are set
        (("ca_file", "ca_data"), False),
        # Go: TestTLSTransportCacheCARotation/CA rotation should be disabled when only the CAData is set
        (("ca_data",), False),
        # Go: TestTLSTransportCacheCARotation/no TLS config
        ((), False),
    ],
)
def test_only_an_authority_from_a_file_alone_is_looked_at_again(
    authority: Authority, tmp_path: Path, fields, looked_at
):
    (tmp_path / "ca").write_bytes(authority.data)
    values: dict[str, Any] = {"ca_file": str(tmp_path / "ca"), "ca_data": authority.data}
    config = transport.Config(tls=transport.TLSConfig(**{field: values[field] for field in fields}))
    transport.tls_config_for(config)
    assert config.tls.reload_ca_files is looked_at
