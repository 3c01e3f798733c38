"""An unreadable file of the configuration is logged on one line: its text names the file, and no code is at fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clientgo import context, klog, kubernetes, rest
from clientgo.controller_runtime import certwatcher, webhook
from clientgo.tools import clientcmd


def kubeconfig(folder: Path, cluster: dict[str, str], user: dict[str, str]) -> str:
    """Write a kubeconfig and return its path."""
    path = folder / "kubeconfig.json"
    document = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9", **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(json.dumps(document))
    return str(path)


def use(config: rest.Config) -> None:
    kubernetes.new_for_config(config).core_v1().pods("x").list(context.background())


def serve(options: webhook.Options) -> None:
    ctx, cancel = context.with_timeout(context.background(), 5.0)
    try:
        webhook.new_server(options).start(ctx)
    finally:
        cancel()


def load(path: str) -> object:
    return clientcmd.build_config_from_flags("", path)


READS: dict[str, Callable[[Path, str], object]] = {
    "kubeconfig": lambda folder, path: load(path),
    "kubeconfig by hand": lambda folder, path: clientcmd.load_from_file(path),
    "authorities": lambda folder, path: load(kubeconfig(folder, {"certificate-authority": path}, {})),
    "certificate": lambda folder, path: load(
        kubeconfig(folder, {}, {"client-certificate": path, "client-key": path})
    ),
    "token": lambda folder, path: load(kubeconfig(folder, {}, {"tokenFile": path})),
    "token of a config": lambda folder, path: use(rest.Config(host="https://127.0.0.1:9", bearer_token_file=path)),
    "watched certificate": lambda folder, path: certwatcher.new(path, path),
    "webhooks' certificate": lambda folder, path: serve(webhook.Options(cert_dir=path, host="127.0.0.1")),
    "webhooks' authorities": lambda folder, path: serve(
        webhook.Options(cert_dir=str(folder), client_ca_name=Path(path).name, host="127.0.0.1")
    ),
}


@pytest.mark.parametrize("kind", ["absent", "folder"])
@pytest.mark.parametrize("name", READS)
def test_an_unreadable_file_of_the_configuration_is_one_line_in_the_log(
    name: str, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "configured"
    if kind == "folder":
        path.mkdir()
    with pytest.raises(Exception) as raised:
        READS[name](tmp_path, str(path))
    caplog.clear()
    klog.error_s(raised.value, "Cannot start")
    (line,) = caplog.messages
    assert "configured" in line
    assert len(line.splitlines()) == 1


def test_authorities_that_are_none_are_one_line_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "ca.crt"
    for content in ("x: 1", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
        path.write_text(content)
        config = clientcmd.build_config_from_flags("", kubeconfig(tmp_path, {"certificate-authority": str(path)}, {}))
        with pytest.raises(ValueError, match="unable to load root certificates") as raised:
            use(config)
        caplog.clear()
        klog.error_s(raised.value, "Cannot start")
        assert len(caplog.messages[0].splitlines()) == 1


def test_a_missing_file_of_the_users_code_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        Path("/absent").read_text()
    klog.error_s(raised.value, "Cannot start")
    assert "Traceback" in caplog.messages[0]
