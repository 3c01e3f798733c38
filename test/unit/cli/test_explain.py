"""`clientgo explain` prints what `kubectl explain` prints, for built-in kinds and for a CRD with descriptions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import kubectl_binary

from clientgo import rest
from clientgo.cli import explain, shell
from clientgo.cli import main as cli_main
from clientgo.testing.apiserver import Environment

LONG = "A gadget that a shop sells. Its description is long enough to be wrapped at the margin of seventy-six columns."
SCREW = {"type": "object", "properties": {"x": {"type": "boolean"}}}
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "description": f"{LONG}\n\n    an indented block\n* a list\n* of two {'x' * 90}",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "description": "The order of a customer.",
                                "required": ["size"],
                                "properties": {
                                    "size": {
                                        "type": "string",
                                        "enum": ["", "small", "medium", "large", "extra large", "huge"],
                                        "description": "The size.",
                                    },
                                    "colours": {"type": "array", "items": {"type": "string", "description": LONG}},
                                    "parts": {
                                        "type": "object",
                                        "additionalProperties": {
                                            "type": "object",
                                            "description": "A part.",
                                            "properties": {
                                                "weight": {"type": "integer"},
                                                "screws": {"type": "array", "items": SCREW},
                                            },
                                        },
                                    },
                                    "level": {"type": "integer", "enum": [1, 2, 3], "default": 2},
                                    "number": {"x-kubernetes-int-or-string": True},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment(crds=[CRD]) as started:
        yield started


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    "resource",
    [
        *("deployment", "deploy.spec.strategy", "deployments.apps.spec.template.spec.containers", "pod.spec.volumes"),
        *("cm", "crd.spec.versions.schema", "cronjob.spec.jobTemplate", "po.metadata.ownerReferences", "nodes.status"),
        *("gadget", "gd.spec", "gadgets.spec.size", "gadgets.spec.colours", "gadget.spec.parts"),
        *("gadget.spec.parts.screws.x", "gadget.spec.level", "gadget.spec.number", "gadgets.shop.example.com.spec"),
    ],
)
@pytest.mark.parametrize("recursive", [False, True])
def test_the_description_is_kubectls(env: Environment, resource: str, recursive: bool) -> None:
    command = [kubectl_binary(), "--kubeconfig", str(env.kubeconfig), "explain", resource, f"--recursive={recursive}"]
    want = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert explain(env.config, resource, recursive=recursive) == want


def test_another_version_is_described_on_request(env: Environment) -> None:
    assert "VERSION:    v1\n" in explain(env.config, "hpa", api_version="autoscaling/v1")
    assert "VERSION:    v2\n" in explain(env.config, "hpa")


def test_the_depth_of_a_recursive_description_can_be_limited(env: Environment) -> None:
    one = explain(env.config, "gadget.spec", recursive=True, max_depth=1)
    two = explain(env.config, "gadget.spec", recursive=True, max_depth=2)
    assert "weight" not in one
    assert "    weight\t<integer>\n" in two


@pytest.mark.parametrize(
    ("resource", "text"),
    [("foo", 'the server doesn\'t have a resource type "foo"'), ("gadget.nope", 'field "nope" does not exist')],
)
def test_an_unknown_resource_or_field_is_named(env: Environment, resource: str, text: str) -> None:
    with pytest.raises(LookupError) as caught:
        explain(env.config, resource)
    assert caught.value.args == (text,)


def test_the_command_prints_errors_on_one_line(
    env: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from clientgo.cli.explain import main

    monkeypatch.setenv("KUBECONFIG", str(env.kubeconfig))
    assert main(["gadget.spec.level"]) == 0
    assert capsys.readouterr().out.startswith("GROUP:      shop.example.com\n")
    assert main(["gadget.spec.nope"]) == 1
    assert capsys.readouterr().err == 'error: field "nope" does not exist\n'


def test_the_shell_has_clients_of_the_kubeconfig(env: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    code = (
        "print(sorted(each.get_name() for each in client.core_v1().namespaces().list(ctx).items)[0]);"
        "print(dynamic.resource(gvr('shop.example.com/v1', 'gadgets')).list(ctx).items);"
        "explain('gadget.spec.level')"
    )
    assert shell.main(["--kubeconfig", str(env.kubeconfig), "-c", code]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("default\n[]\nGROUP:      shop.example.com\n")


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("1/0", "ZeroDivisionError: division by zero"),
        ("import json; json.loads('[')", "json.decoder.JSONDecodeError: Expecting value: line 1 column 2 (char 1)"),
        ("print(", "SyntaxError: '(' was never closed"),
    ],
)
def test_a_traceback_of_the_shell_starts_at_the_users_code(
    code: str, last: str, env: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.main(["--kubeconfig", str(env.kubeconfig), "-c", code]) == 1

    printed = capsys.readouterr().err
    assert '  File "<command>", line 1' in printed
    assert "clientgo" not in printed
    assert printed.splitlines()[-1] == last


def test_the_shell_without_a_configuration_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.main(["--kubeconfig", "/does/not/exist"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("clientgo shell: ") and "/does/not/exist" in line


@pytest.mark.parametrize("command", ["explain", "shell"])
def test_a_new_user_without_a_kubeconfig_reads_how_to_get_a_server(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert cli_main([command, *(["pod"] if command == "explain" else [])]) == 1

    error, hint = capsys.readouterr().err.splitlines()
    assert "no configuration has been provided" in error
    assert "clientgo apiserver --kubeconfig-out kc" in hint


def test_a_configuration_without_a_server_raises_the_requests_error() -> None:
    with pytest.raises(Exception, match="connection refused"):
        explain(rest.Config(host="http://127.0.0.1:1"), "pod")
