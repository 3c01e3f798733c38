"""kubectl and this library read and change the same kubeconfigs, and each reads what the other wrote."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from processes import KUBECTL_MINORS, environment, kubectl_binary

from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api
from clientgo.tools.clientcmd.api.v1 import to_document

FIRST = """
apiVersion: v1
kind: Config
current-context: one
preferences: {colors: true}
clusters:
- name: c1
  cluster: {server: "https://one", extensions: [{name: x, extension: {a: 1, b: [1.5, null, "y"]}}]}
contexts:
- name: one
  context: {cluster: c1, user: u1, namespace: ns}
- name: both
  context: {cluster: c1, user: u1}
users:
- name: u1
  user: {client-certificate: client.crt, client-key: client.key}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: ./bin/plugin
      args: [a]
      env: [{name: A, value: b}]
"""

SECOND = """
apiVersion: v1
kind: Config
current-context: two
clusters:
- name: c2
  cluster:
    server: https://two
    certificate-authority: ca.crt
    proxy-url: socks5://proxy:1080
    tls-server-name: name.example
    disable-compression: true
contexts:
- name: two
  context: {cluster: c2, user: u2}
- name: both
  context: {cluster: c2, user: u2}
users:
- name: u2
  user:
    token: "1e3"
    as: me
    as-uid: "1"
    as-groups: [g]
    as-user-extra: {k: [v]}
    auth-provider: {name: p, config: {a: b}}
"""


class Home:
    """A folder with two kubeconfigs, one in a folder of its own, and a third one that is not there."""

    def __init__(self, folder: Path, kubectl: str) -> None:
        self.folder = folder
        self._kubectl = kubectl
        (folder / "sub").mkdir()
        for name, content in {
            "first.yaml": FIRST,
            "sub/second.yaml": SECOND,
            "sub/ca.crt": "authority",
            "client.crt": "certificate",
            "client.key": "key",
        }.items():
            (folder / name).write_text(content)
        files = [folder / "first.yaml", folder / "sub" / "second.yaml", folder / "missing.yaml"]
        self.kubeconfig = os.pathsep.join(map(str, files))

    def kubectl(self, *args: str, kubeconfig: str = "") -> str:
        env = environment(KUBECONFIG=kubeconfig or self.kubeconfig, HOME=str(self.folder))
        command = [self._kubectl, "config", *args]
        return subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def contents(self) -> dict[Path, str]:
        return {path: path.read_text() for path in sorted(self.folder.rglob("*.yaml"))}

    def restore(self, contents: dict[Path, str]) -> None:
        for path in self.contents():
            path.unlink()
        for path, content in contents.items():
            path.write_text(content)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path, kubectl_binary())
    monkeypatch.setenv("KUBECONFIG", home.kubeconfig)
    monkeypatch.chdir(tmp_path)
    return home


def normal(document: Any) -> Any:
    """Return the document without the empty preferences that older versions write."""
    document = dict(document)
    if not document.get("preferences"):
        document.pop("preferences", None)
    return document


@pytest.mark.parametrize(
    ("flags", "prepare"),
    [
        (["--raw"], []),
        (["--raw", "--flatten"], [api.flatten_config]),
        (["--raw", "--minify"], [api.minify_config]),
        (["--raw", "--flatten", "--minify"], [api.minify_config, api.flatten_config]),
    ],
)
def test_a_view_of_merged_files(home: Home, flags: list[str], prepare: list[Callable[[api.Config], None]]) -> None:
    config = clientcmd.new_default_path_options().get_starting_config()
    for change in prepare:
        change(config)
    theirs = json.loads(home.kubectl("view", "-o", "json", *flags))
    assert normal(json.loads(json.dumps(to_document(config)))) == normal(theirs)


Change = Callable[[api.Config], None]


def changing(kind: str, name: str, new: Callable[[], Any], **fields: Any) -> Change:
    def change(config: api.Config) -> None:
        entry = getattr(config, kind).setdefault(name, new())
        for attr, value in fields.items():
            setattr(entry, attr, value)

    return change


def deleting(kind: str, name: str) -> Change:
    return lambda config: getattr(config, kind).pop(name)


def using(context: str) -> Change:
    return lambda config: setattr(config, "current_context", context)


def renaming(old: str, new: str) -> Change:
    return lambda config: config.contexts.update({new: config.contexts.pop(old)})


def test_the_same_changes_leave_the_same_files(home: Home) -> None:
    authority = str(home.folder / "sub" / "ca.crt")
    steps: list[tuple[list[str], Change]] = [
        (["set-context", "two", "--namespace=other"], changing("contexts", "two", api.Context, namespace="other")),
        (
            ["set-context", "new", "--cluster=c2", "--user=u2"],
            changing("contexts", "new", api.Context, cluster="c2", auth_info="u2"),
        ),
        (
            ["set-cluster", "c1", "--certificate-authority=sub/ca.crt"],
            changing("clusters", "c1", api.Cluster, certificate_authority=authority),
        ),
        (
            ["set-cluster", "c1", "--insecure-skip-tls-verify=true"],
            changing("clusters", "c1", api.Cluster, certificate_authority="", insecure_skip_tls_verify=True),
        ),
        (["set-credentials", "u2", "--token=y"], changing("auth_infos", "u2", api.AuthInfo, token="y")),
        (
            ["set-credentials", "basic", "--username=0x1F", "--password=null"],
            changing("auth_infos", "basic", api.AuthInfo, username="0x1F", password="null"),
        ),
        (["use-context", "two"], using("two")),
        (["unset", "current-context"], using("")),
        (["unset", "current-context"], using("")),
        (["rename-context", "two", "zwei"], renaming("two", "zwei")),
        (["delete-context", "both"], deleting("contexts", "both")),
        (["delete-cluster", "c2"], deleting("clusters", "c2")),
        (["delete-user", "u2"], deleting("auth_infos", "u2")),
    ]
    for args, change in steps:
        before = home.contents()
        home.kubectl(*args)
        theirs = home.contents()
        home.restore(before)
        options = clientcmd.new_default_path_options()
        config = options.get_starting_config()
        change(config)
        clientcmd.modify_config(options, config, True)
        # Not only the same meaning but the same text, so that kubeconfigs under version control stay quiet.
        assert without_empty_preferences(home.contents()) == without_empty_preferences(theirs), args
        assert not list(home.folder.rglob("*.lock"))


def without_empty_preferences(contents: dict[Path, str]) -> dict[Path, str]:
    return {path: text.replace("preferences: {}\n", "") for path, text in contents.items()}


# Texts that some YAML library, or none, takes for a bool, number, date, nothing, or no YAML at all.
TEXTS = [
    *("y", "N", "yes", "On", "off", "true", "~", "null", "Null", "<<", "=", "-", "?", "_1", "__"),
    *("1e5", "123e4", "1.e3", ".5", "1.", "1_000", "+12", "08", "0777", "0o17", "0x1f", "-0x1F", "0b11", "e3", "1e"),
    *(".inf", "+.inf", ".nan", "nan", "12:30:45", "1:30", "2024-01-01", "123456789012345678901234567890"),
    *(" lead", "trail ", "a: b", "a #b", "@x", "`x", "%x", "!x", "&x", "*x", "- a", "{a", "[b", "it's", '"q"'),
    *("two\nlines", "tab\tx", "ünï", "\x01control", "x" * 200 + " " + "y" * 100),
]


@pytest.mark.parametrize("minor", KUBECTL_MINORS)
def test_texts_that_look_like_something_else_survive(tmp_path: Path, minor: int) -> None:
    config = api.Config()
    for number, text in enumerate(TEXTS):
        config.contexts[text] = api.Context(cluster=text, auth_info=text, namespace=text)
        config.auth_infos[str(number)] = api.AuthInfo(token=text, impersonate_groups=[text])
    ours = tmp_path / "ours.yaml"
    clientcmd.write_to_file(config, str(ours))
    home = Home(tmp_path, kubectl_binary(minor))
    seen = json.loads(home.kubectl("view", "--raw", "-o", "json", kubeconfig=str(ours)))
    assert {entry["name"]: entry["context"]["namespace"] for entry in seen["contexts"]} == {t: t for t in TEXTS}
    users = {int(entry["name"]): entry["user"] for entry in seen["users"]}
    for number, text in enumerate(TEXTS):
        assert users[number] == {"token": text, "as-groups": [text]}
    # And back, also by people who read kubeconfigs with Python's own YAML library.
    theirs = clientcmd.load(home.kubectl("view", "--raw", kubeconfig=str(ours)).encode())
    assert (theirs.contexts, theirs.auth_infos) == (config.contexts, config.auth_infos)
    assert {entry["name"] for entry in yaml.safe_load(ours.read_text())["contexts"]} == set(TEXTS)


@pytest.mark.parametrize(
    "user", ["{token: y}", "{token: 1e5}", "{token: 0o17}", "{as: on}", "{as-groups: [1.5]}", "{password: 1_0}"]
)
def test_what_kubectl_takes_for_no_text_we_do_not_either(home: Home, user: str) -> None:
    path = home.folder / "wrong.yaml"
    path.write_text(f"apiVersion: v1\nkind: Config\nusers: [{{name: u, user: {user}}}]\n")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        home.kubectl("view", kubeconfig=str(path))
    assert "cannot unmarshal" in refused.value.stderr
    with pytest.raises(ValueError, match="json: cannot unmarshal (bool|number) into"):
        clientcmd.load_from_file(str(path))


@pytest.mark.parametrize("text", ["12:30:45", "2024-01-01", "=", "1e", "0b", "0x", "off-line", "nan"])
def test_what_kubectl_takes_for_a_text_we_do_too(home: Home, text: str) -> None:
    path = home.folder / "texts.yaml"
    path.write_text(f"apiVersion: v1\nkind: Config\nusers: [{{name: u, user: {{token: {text}}}}}]\n---\nsecond: file\n")
    seen = json.loads(home.kubectl("view", "--raw", "-o", "json", kubeconfig=str(path)))
    assert seen["users"][0]["user"]["token"] == text
    assert clientcmd.load_from_file(str(path)).auth_infos["u"].token == text
