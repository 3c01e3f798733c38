"""cmd/apiserver as a person starts it: given certificates, addresses beyond loopback, how soon and how big it is."""

from __future__ import annotations

import re
import socket
import ssl
import sys
import time
from pathlib import Path

import pytest
import requests
import yaml
from certificates import Authority
from patience import PATIENCE
from processes import Program, python, start_apiserver

PODS = "/api/v1/namespaces/default/pods"


def connect(kubeconfig: Path) -> tuple[requests.Session, str]:
    """Return a session with the token of the kubeconfig, and the server's https URL."""
    config = yaml.safe_load(kubeconfig.read_text())
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {config['users'][0]['user']['token']}"
    return session, config["clusters"][0]["cluster"]["server"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


def test_a_given_certificate_is_the_one_that_is_shown(authority: Authority, kubeconfig: Path) -> None:
    pair = authority.issue("server", "IP:127.0.0.1", "DNS:localhost")
    with start_apiserver(kubeconfig, "--tls-cert-file", str(pair.cert), f"-tls-private-key-file={pair.key}") as server:
        session, url = connect(kubeconfig)
        session.close()
        # Not the default context: from Python 3.13 on that wants extensions the certificates of tests do not have.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(authority.path)
        raw = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=PATIENCE)
        with context.wrap_socket(raw, server_hostname="localhost") as sock:
            shown = sock.getpeercert(binary_form=True)
            sock.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert sock.recv(12) == b"HTTP/1.1 200"
        assert shown == ssl.PEM_cert_to_DER_cert(pair.cert.read_text())
        assert server.stop() == 0


@pytest.mark.parametrize("arguments", [["--tls-cert-file=missing.crt"], ["--tls-private-key-file=only-a-key"]])
def test_a_certificate_that_cannot_be_used_ends_the_program(arguments: list[str]) -> None:
    with python("cmd/apiserver", *arguments) as server:
        assert server.wait() == 1
    assert "Could not start the API server" in server.output
    assert "Traceback" not in server.output


def test_a_key_of_another_certificate_ends_the_program(authority: Authority) -> None:
    one, other = authority.issue("one", "DNS:one"), authority.issue("other", "DNS:other")
    with python("cmd/apiserver", f"--tls-cert-file={one.cert}", f"--tls-private-key-file={other.key}") as server:
        assert server.wait() == 1
    assert "Could not start the API server" in server.output


def test_loopback_is_where_it_listens(kubeconfig: Path) -> None:
    with start_apiserver(kubeconfig) as server:
        assert connect(kubeconfig)[1].startswith("https://127.0.0.1:")
        assert server.stop() == 0
    assert "beyond loopback" not in server.output


def test_listening_beyond_loopback_is_warned_of(kubeconfig: Path) -> None:
    with start_apiserver(kubeconfig, "--bind-address=0.0.0.0") as server:
        _, url = connect(kubeconfig)
        port = int(url.rpartition(":")[2])
        # Another of this machine's addresses than the one it listens on without the flag.
        with socket.create_connection(("127.0.0.2", port), timeout=PATIENCE) as sock:
            sock.sendall(b"GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert sock.recv(12) == b"HTTP/1.1 403"
        assert server.stop() == 0
    assert re.search("^W.*beyond loopback", server.output, re.MULTILINE), server.output


def resident(server: Program) -> float:
    """Return the resident memory in megabytes."""
    match = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_how_soon_and_how_big(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints, and fails only far beyond; test/bench/apiserver measures 10,000 pods."""
    count = 1000
    begin = time.monotonic()
    with start_apiserver(kubeconfig) as server:
        ready = time.monotonic() - begin
        empty = resident(server)
        session, url = connect(kubeconfig)
        plain = url.replace("https://", "http://")
        spec = {"containers": [{"name": "main", "image": "example.com/app:1", "ports": [{"containerPort": 80}]}]}
        with session:
            for i in range(count):
                pod = {"metadata": {"name": f"pod-{i}", "labels": {"app": "x"}}, "spec": spec}
                session.post(plain + PODS, json=pod, timeout=PATIENCE).raise_for_status()
        grown = resident(server) - empty
        assert server.stop() == 0
    with capsys.disabled():
        sys.stdout.write(
            f"\n  start to ready {ready:.2f} s; {empty:.0f} MB empty, {grown / count * 1000:.0f} KB a pod\n"
        )
    assert ready < 20
    assert grown / count < 0.1
