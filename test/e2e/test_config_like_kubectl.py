"""kubectl and this library make the same request of the same kubeconfig and flags, or refuse them with the same words.

Random kubeconfigs, valid and not, against a server that remembers what arrived.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import subprocess
from base64 import b64encode
from pathlib import Path
from ssl import CERT_OPTIONAL, PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

import pytest
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer
from processes import KUBECTL_MINORS, environment, kubectl_binary

from clientgo import context, rest
from clientgo.tools import clientcmd

CASES = 40
V1 = "client.authentication.k8s.io/v1"
PLUGIN = f"""#!/bin/sh
echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{{"token":"from-plugin"}}}}'
"""


class Maker:
    """Makes kubeconfigs and flags; the files they name stand in its folder, where both programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(folder, "authority")
        self.other = Authority(folder, "other")
        self.client = self.authority.issue("client")
        server = self.authority.issue("server", "IP:127.0.0.1", "DNS:alt.example")
        self.tls = SSLContext(PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(server.cert, server.key)
        self.tls.verify_mode = CERT_OPTIONAL
        self.tls.load_verify_locations(self.authority.path)
        (folder / "token").write_text("from-file\n")
        (folder / "plugin").write_text(PLUGIN)
        (folder / "plugin").chmod(0o755)

    def case(self, seed: int, plain: str, encrypted: str) -> tuple[dict[str, Any], list[str]]:
        chance = random.Random(seed)

        def some(options: dict[str, tuple[float, list[Any]]]) -> dict[str, Any]:
            return {key: chance.choice(values) for key, (odds, values) in options.items() if chance.random() < odds}

        server = chance.choice([plain, encrypted, encrypted, encrypted])
        cluster = {"server": server, **some(self.cluster())}
        if server == plain:
            cluster.pop("disable-compression", None)  # Go compresses all the same if it needs nothing else of its own
        named = some({"cluster": (0.15, ["missing"]), "user": (0.15, ["missing", ""]), "namespace": (0.5, ["ns"])})
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": chance.choice(["main"] * 6 + ["missing", ""]),
            "clusters": [{"name": "k", "cluster": cluster}],
            "users": [{"name": "u", "user": some(self.user())}, {"name": "v", "user": {"token": "other"}}],
            "contexts": [
                {"name": "main", "context": {"cluster": "k", "user": "u", **named}},
                {"name": "other", "context": {"cluster": "k", "user": "v"}},
            ],
        }
        flags = some(self.flags([plain, encrypted]))
        return document, [f"--{name}={value}" for name, value in flags.items()]

    def cluster(self) -> dict[str, tuple[float, list[Any]]]:
        return {
            "certificate-authority": (0.2, [self.authority.path, "authority.crt", self.other.path, "missing.crt"]),
            "certificate-authority-data": (0.6, [*[data(self.authority.data)] * 4, data(self.other.data), data(b"x")]),
            "insecure-skip-tls-verify": (0.15, [True]),
            "tls-server-name": (0.15, ["alt.example", "wrong.example"]),
            "disable-compression": (0.2, [True, False]),
            "proxy-url": (0.05, ["ftp://proxy", ""]),
        }

    def user(self) -> dict[str, tuple[float, list[Any]]]:
        plugin = {"apiVersion": V1, "command": "./plugin", "interactiveMode": "Never"}
        return {
            "token": (0.4, ["tok"]),
            "tokenFile": (0.2, ["token", "missing"]),
            "username": (0.15, ["name"]),
            "password": (0.15, ["pass"]),
            "as": (0.3, ["somebody"]),
            "as-uid": (0.15, ["7"]),
            "as-groups": (0.2, [["g1", "g2"]]),
            "as-user-extra": (0.15, [{"Scopes": ["a", "b"]}]),
            "client-certificate-data": (0.15, [data(self.client.cert.read_bytes())]),
            "client-certificate": (0.1, ["client.crt"]),
            "client-key-data": (0.15, [data(self.client.key.read_bytes())]),
            "client-key": (0.1, ["client.key"]),
            "exec": (0.2, [plugin, {**plugin, "command": "no-such"}, {**plugin, "interactiveMode": ""}]),
        }

    def flags(self, servers: list[str]) -> dict[str, tuple[float, list[Any]]]:
        return {
            "context": (0.1, ["other", "missing"]),
            "cluster": (0.05, ["k", "missing"]),
            "user": (0.08, ["v", "missing"]),
            "server": (0.1, servers),
            "token": (0.1, ["from-flag"]),
            "as": (0.1, ["from-flag"]),
            "as-uid": (0.05, ["9"]),
            "insecure-skip-tls-verify": (0.1, ["true"]),
            "certificate-authority": (0.1, [self.authority.path, "/missing"]),
            "tls-server-name": (0.1, ["alt.example"]),
            "request-timeout": (0.1, ["50", "50s", "x", "0"]),
        }


def data(content: bytes) -> str:
    return b64encode(content).decode()


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    return Maker(tmp_path_factory.mktemp("config"))


def seen(request: Received) -> dict[str, list[str]]:
    """Return the headers that identify the client. For no compression, http.client sends "identity" and Go sends
    nothing.
    """
    names = [name for name in request.headers if name.lower().startswith(("authorization", "impersonate-", "accept-e"))]
    values = {name.lower(): request.headers.getlist(name) for name in names}
    return {name: value for name, value in values.items() if value != ["identity"]}


def ask_by_kubectl(folder: Path, flags: list[str]) -> str:
    """Return the error text, empty if there was none."""
    env = {name: value for name, value in environment().items() if "proxy" not in name.lower()}
    env.update(KUBECONFIG=str(folder / "kubeconfig"), HOME=str(folder))
    command = [kubectl_binary(KUBECTL_MINORS[-1]), "get", "--raw", "/x", *flags]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stderr.strip() if done.returncode else ""


def ask(flags: list[str]) -> str:
    overrides = clientcmd.ConfigOverrides(cluster_defaults=clientcmd.CLUSTER_DEFAULTS)
    parser = argparse.ArgumentParser()
    clientcmd.bind_override_flags(overrides, parser, clientcmd.recommended_config_override_flags(""))
    parser.parse_args(flags)
    # Interactive like kubectl, at a terminal without a user.
    loaded = clientcmd.new_interactive_deferred_loading_client_config(
        clientcmd.new_default_client_config_loading_rules(), overrides, io.StringIO()
    )
    try:
        client = rest.unversioned_rest_client_for(loaded.client_config())
        client.get().request_uri("/x").max_retries(0).do(context.background()).raw()
        client.client.close_idle_connections()
    except Exception as err:
        return str(err)
    return ""


# What the two say in other words: Go's x509 and OpenSSL; kubectl adds advice, and prints a list as one.
OTHER_WORDS = ("failed to verify certificate", "localhost:8080")


def same_complaint(theirs: str, ours: str) -> bool:
    if any(words in theirs and words in ours for words in OTHER_WORDS):
        return True
    if ours.startswith("invalid configuration: ["):
        return all(line.removeprefix("* ") in ours for line in theirs.splitlines() if line.startswith("* "))
    return ours.removeprefix("invalid configuration: ") in theirs or theirs.removeprefix("error: ") in ours


@pytest.mark.parametrize("first", range(0, CASES, 10))
def test_the_same_request_or_the_same_complaint(maker: Maker, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    monkeypatch.setenv("KUBECONFIG", str(maker.folder / "kubeconfig"))
    monkeypatch.chdir(maker.folder)
    succeeded = 0
    with (
        ScriptedServer(lambda request: Answer(200, b"{}")) as plain,
        ScriptedServer(lambda request: Answer(200, b"{}"), maker.tls) as encrypted,
    ):
        for seed in range(first, first + 10):
            document, flags = maker.case(seed, plain.url, encrypted.url)
            (maker.folder / "kubeconfig").write_text(json.dumps(document))
            results = []
            for asking in (lambda: ask_by_kubectl(maker.folder, flags), lambda: ask(flags)):  # noqa: B023
                problem = asking()
                arrived = [*plain.requests, *encrypted.requests]
                plain.requests.clear()
                encrypted.requests.clear()
                results.append((problem, [seen(request) for request in arrived]))
            (theirs, their_requests), (ours, our_requests) = results
            story = f"seed {seed}: {document} {flags}\nkubectl: {results[0]}\nwe: {results[1]}"
            assert our_requests == their_requests, story
            assert bool(theirs) == bool(ours), story
            assert same_complaint(theirs, ours), story
            succeeded += not ours
    assert 0 < succeeded < 10, "the seeds are there to try both"
