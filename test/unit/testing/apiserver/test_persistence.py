"""The server's data on disk: versions only increase, errors name their file, and a full disk loses no data."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import ssl
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import python

from clientgo.testing.apiserver import Environment, Server
from clientgo.testing.apiserver.__main__ import main
from clientgo.testing.apiserver.store.persistence import SqliteJournal
from clientgo.testing.apiserver.store.storage import Store
from clientgo.utils.clock import testing as clocktesting

SCHEMA = {"openAPIV3Schema": {"type": "object"}}
FOO = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "foos", "kind": "Foo"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": SCHEMA}],
    },
}


def config_map(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder that a server has used."""
    data = tmp_path / "data"
    with Environment(data_dir=str(data), crds=[FOO]) as env:
        env.create(config_map("a"))
    return data


def change(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "apiserver.db") as db:
        db.execute(statement)
    db.close()


@pytest.mark.parametrize("statement", ["UPDATE version SET rv = 1", "DELETE FROM version"])
def test_versions_never_start_below_what_is_stored(folder: Path, statement: str) -> None:
    with Environment(data_dir=str(folder)) as env:
        before = max(stored.rv for _, stored in env.server.store.walk())
    change(folder, statement)
    with Environment(data_dir=str(folder)) as env:
        env.create(config_map("b"))
        made = env.server.store.get("/configmaps", "default/b")
        assert made is not None
        assert made.rv > before


def test_the_version_of_a_deletion_is_not_given_out_again(tmp_path: Path) -> None:
    """No remaining object shows the version of the deletion."""
    journal = SqliteJournal(tmp_path)
    store = Store(clocktesting.new_fake_clock(0.0), journal=journal)
    store.create("/pods", "default/a", {"metadata": {"name": "a", "uid": "u"}})
    store.delete("/pods", "default/a", expected=store.version)
    journal.close()
    again = SqliteJournal(tmp_path)
    assert again.version == store.version == 2
    again.close()


def test_a_database_that_others_may_read_becomes_private(folder: Path) -> None:
    (folder / "apiserver.db").chmod(0o644)
    (folder / "apiserver.db-wal").touch(0o644)
    with Environment(data_dir=str(folder)):
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"metadata":{}}', '{"metadata":{"name":"a"}}'])
def test_a_damaged_object_is_named(folder: Path, body: str) -> None:
    change(folder, f"UPDATE objects SET body = X'{body.encode().hex()}' WHERE key = 'default/a'")
    with pytest.raises(OSError, match=r"apiserver\.db: /configmaps default/a is damaged$"):
        Server(data_dir=str(folder))


@pytest.mark.parametrize("at", [0, 16, 100, 4096, 8192, 12288])
def test_a_damaged_database_is_named_or_read(folder: Path, at: int) -> None:
    path = folder / "apiserver.db"
    data = bytearray(path.read_bytes())
    data[at : at + 64] = b"\xa5" * len(data[at : at + 64])
    path.write_bytes(data)
    try:
        Server(data_dir=str(folder)).stop()
    except OSError as err:
        assert str(path) in str(err)


def test_a_damaged_definition_costs_only_its_group(folder: Path) -> None:
    body = json.dumps({"metadata": {"name": "foos.example.com", "uid": "u", "resourceVersion": "5"}})
    change(folder, f"UPDATE objects SET body = X'{body.encode().hex()}' WHERE key = 'foos.example.com'")
    with Environment(data_dir=str(folder)) as env:
        assert env.server.store.get("/configmaps", "default/a") is not None
        assert env.server.registry.group("example.com") is None


FULL = """
import resource, sys
import requests
from clientgo.testing.apiserver import Environment
path = "/api/v1/namespaces/default/configmaps"
with Environment(data_dir=sys.argv[1]) as env, requests.Session() as session:
    session.headers["Authorization"] = f"Bearer {env.token}"
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    made = []
    def write(number):
        body = {"metadata": {"name": f"c{number}"}, "data": {"k": "x" * 50_000}}
        return session.post(env.url + path, json=body, timeout=300)
    while (answer := write(len(made))).status_code == 201:
        made.append(answer.json()["metadata"]["name"])
    assert answer.status_code == 500, answer.text
    assert "could not be written to disk" in answer.json()["message"]
    assert write(len(made)).status_code == 500
    listed = session.get(env.url + path, timeout=300).json()
    assert [item["metadata"]["name"] for item in listed["items"]] == sorted(made)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert write(len(made)).status_code == 201
    print(len(made) + 1)
"""


def test_a_full_disk_refuses_writes_and_recovers(tmp_path: Path) -> None:
    data = tmp_path / "data"
    run = subprocess.run([sys.executable, "-c", FULL, str(data)], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    lines = run.stderr.splitlines()
    assert [str(data / "apiserver.db") in line for line in lines] == [True, True], "a line for each rejected write"
    with Environment(data_dir=str(data)) as env:
        assert env.server.store.count("/configmaps") == int(run.stdout)


# ---- the program


@pytest.fixture
def unfit(tmp_path: Path) -> Path:
    """Return a folder with files that are invalid for the program's flags."""
    (tmp_path / "file").write_text("text")
    (tmp_path / "binary.csv").write_bytes(b"\xff\x00")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "apiserver.db").write_text("no database, but long enough to be read as one" * 99)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--data-dir={tmp}/file"], "{tmp}/file"),
        (["--data-dir={tmp}/damaged"], "{tmp}/damaged/apiserver.db"),
        (["--token-auth-file={tmp}/missing.csv"], "{tmp}/missing.csv"),
        (["--token-auth-file={tmp}/binary.csv"], "{tmp}/binary.csv"),
        (["--tls-cert-file={tmp}/missing.crt"], "{tmp}/missing.crt"),
        (["--tls-cert-file={tmp}/file", "--tls-private-key-file={tmp}/file"], "{tmp}/file, {tmp}/file"),
        (["--port=65536"], "65536"),
        (["--bind-address=no.such.host.invalid"], "no.such.host.invalid"),
    ],
)
def test_what_hinders_the_start_is_one_line_with_its_name(
    unfit: Path, arguments: list[str], named: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert main([argument.format(tmp=unfit) for argument in arguments]) == 1
    (line,) = caplog.text.splitlines()
    assert "Could not start the API server" in line
    assert named.format(tmp=unfit) in line


def test_a_kubeconfig_that_cannot_be_written_ends_the_program(tmp_path: Path) -> None:
    with python("cmd/apiserver", f"--kubeconfig-out={tmp_path}/missing/kc") as server:
        assert server.wait() == 1
    (line,) = (line for line in server.output.splitlines() if "Could not start" in line)
    assert f"{tmp_path}/missing/kc" in line
    assert "Traceback" not in server.output


# ---- certificates


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_serving_certificate_is_no_authority(tmp_path: Path) -> None:
    with Environment() as env:
        authority = tmp_path / "ca.crt"
        authority.write_text(env.server.ca_certificate)
        context = ssl.create_default_context(cafile=str(authority))
        address = ("127.0.0.1", int(env.url.rpartition(":")[2]))
        with (
            socket.create_connection(address, timeout=PATIENCE) as raw,
            context.wrap_socket(raw, server_hostname="localhost") as sock,
        ):
            shown = sock.getpeercert(binary_form=True)
    assert shown is not None
    serving = tmp_path / "server.crt"
    serving.write_text(ssl.DER_cert_to_PEM_cert(shown))

    def text(file: Path) -> str:
        command = ["openssl", "x509", "-noout", "-text", "-in", str(file)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert "CA:TRUE" in text(authority)
    assert "CA:FALSE" in text(serving)
    assert "Certificate Sign" not in text(serving)
    verify = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", str(authority), str(serving)]
    subprocess.run(verify, check=True, capture_output=True)
    assert "Certificate Sign" in text(authority)
