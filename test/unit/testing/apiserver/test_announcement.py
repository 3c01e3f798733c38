"""The lines of a started server, for users and for scripts. No server runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from clientgo.testing.apiserver import __main__ as program

URL = "https://127.0.0.1:6443"
SERVER: Any = SimpleNamespace(tls_url=URL, token="secret", ca_certificate="own authority")
BEYOND = "Listening beyond loopback: every holder of a token can reach this server"


def announce(address: str = "127.0.0.1", kubeconfig: str = "", certificate: str = "") -> None:
    flags: Any = SimpleNamespace(bind_address=address, kubeconfig_out=kubeconfig, tls_cert_file=certificate)
    program._announce(SERVER, flags)


@pytest.mark.parametrize(
    ("address", "warned"), [("127.0.0.1", False), ("::1", False), ("localhost", False), ("0.0.0.0", True), ("::", True)]
)
def test_the_address_is_logged_and_printed(
    address: str, warned: bool, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    announce(address)

    output, errors = capfd.readouterr()
    logged = errors + caplog.text
    assert output == f"Listening on {URL}\n"
    assert f'"Serving" url="{URL}"' in logged
    assert (BEYOND in logged) is warned


@pytest.mark.parametrize("own", [True, False])
def test_a_kubeconfig_is_written_and_its_use_is_shown(
    own: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kubeconfig, certificate = tmp_path / "a file", tmp_path / "cert"
    certificate.write_text("given authority")
    announce(kubeconfig=str(kubeconfig), certificate="" if own else str(certificate))

    assert capfd.readouterr().out == f"Listening on {URL}\nexport KUBECONFIG='{kubeconfig}'\n"
    config = yaml.safe_load(kubeconfig.read_text())
    assert config["clusters"][0]["cluster"]["server"] == URL
    assert config["users"][0]["user"]["token"] == "secret"
