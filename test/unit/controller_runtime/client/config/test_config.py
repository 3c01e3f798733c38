"""The source of a program's config: a flag, the environment, the pod, or the home folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from clientgo import rest
from clientgo.controller_runtime.client import config

FILES = {
    "kubeconfig-flag": ["from-flag"],
    "kubeconfig-multi-context": ["from-multi-env-1", "from-multi-env-2"],
    "kubeconfig-env-1": ["from-env-1"],
    "kubeconfig-env-2": ["from-env-2"],
    ".kube/config": ["from-home"],
}


def kubeconfig(*contexts: str) -> str:
    clusters = [f"- cluster: {{server: {name}}}\n  name: {name}" for name in contexts]
    named = [f"- context: {{cluster: {name}, user: {name}}}\n  name: {name}" for name in contexts]
    users = [f"- name: {name}" for name in contexts]
    lines = ["apiVersion: v1", "kind: Config", f"current-context: {contexts[0]}"]
    for section, entries in (("clusters", clusters), ("contexts", named), ("users", users)):
        lines += [f"{section}:", *entries]
    return "\n".join(lines) + "\n"


def set_flag(value: str) -> None:
    parser = argparse.ArgumentParser()
    config.register_flags(parser)
    parser.parse_args([f"--{config.KUBECONFIG_FLAG_NAME}", value])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty home folder. No environment variable is set."""
    monkeypatch.setenv("HOME", str(tmp_path))
    # Worked out from HOME when the module is loaded, as in Go.
    monkeypatch.setattr("clientgo.tools.clientcmd.loader.RECOMMENDED_HOME_FILE", str(tmp_path / ".kube" / "config"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    yield tmp_path
    set_flag("")


@pytest.fixture
def files(home: Path) -> Path:
    for name, contexts in FILES.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(kubeconfig(*contexts))
    return home


@pytest.mark.parametrize(
    ("flag", "environment", "context", "host"),
    [
        ("kubeconfig-flag", [], "", "from-flag"),
        ("", ["kubeconfig-multi-context"], "", "from-multi-env-1"),
        ("", [], "", "from-home"),
        ("kubeconfig-flag", ["kubeconfig-multi-context"], "", "from-flag"),
        ("", ["kubeconfig-multi-context"], "from-multi-env-2", "from-multi-env-2"),
        ("", ["kubeconfig-env-1", "kubeconfig-env-2"], "from-env-2", "from-env-2"),
    ],
)
def test_outside_a_cluster_the_flag_comes_before_the_environment_before_the_home_folder(
    files: Path, monkeypatch: pytest.MonkeyPatch, flag: str, environment: list[str], context: str, host: str
) -> None:
    """
    Go: client/config: Config > GetConfigWithContext > ?
    """
    set_flag(str(files / flag) if flag else "")
    if environment:
        monkeypatch.setenv("KUBECONFIG", ":".join(str(files / name) for name in environment))
    found = config.get_config_with_context(context)
    assert (found.host, found.qps) == (host, -1)


@pytest.mark.parametrize(("environment", "host"), [(True, "from-multi-env-1"), (False, "from-in-cluster")])
def test_in_a_cluster_the_environment_comes_first_and_the_home_folder_last(
    files: Path, monkeypatch: pytest.MonkeyPatch, environment: bool, host: str
) -> None:
    monkeypatch.setattr(rest, "in_cluster_config", lambda: rest.Config(host="from-in-cluster"))
    if environment:
        monkeypatch.setenv("KUBECONFIG", str(files / "kubeconfig-multi-context"))
    assert config.get_config().host == host


def test_without_any_there_is_an_error() -> None:
    """
    Go: client/config: Config > GetConfigWithContext > when kubeconfig files don't exist > should fail
    """
    with pytest.raises(Exception, match="no configuration has been provided"):
        config.get_config()


def test_without_any_a_program_may_end(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SystemExit) as caught:
        config.get_config_or_die()
    assert caught.value.code == 1
    assert "unable to get kubeconfig" in caplog.text


def test_a_rate_limit_that_was_chosen_is_kept(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "in_cluster_config", lambda: rest.Config(host="h", qps=7))
    assert config.get_config().qps == 7


def test_a_flag_the_program_has_already_is_followed(files: Path) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", default=str(files / "kubeconfig-env-1"))
    config.register_flags(parser)
    assert config.get_config().host == "from-env-1"
