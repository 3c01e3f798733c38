"""Go's examples under cmd/examples: each runs, and prints what Go's prints."""

from __future__ import annotations

import functools
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, children, environment, eventually, python, start_apiserver

from clientgo import context, kubernetes, rest
from clientgo.rest.config import Config
from clientgo.testing.apiserver import Environment
from clientgo.tools import clientcmd

pytestmark = pytest.mark.shared_server
EXAMPLES = ROOT / "cmd" / "examples"
CTX = context.background()


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("examples") / "kubeconfig"
    with start_apiserver(path) as server:
        yield path
        assert server.stop() == 0, server.output
    assert children() == []


@pytest.mark.parametrize("example", ["create-update-delete-deployment", "dynamic-create-update-delete-deployment"])
def test_a_deployment_is_created_updated_listed_and_deleted(kubeconfig: Path, example: str) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example / "main.py"), f"-kubeconfig={kubeconfig}"],
        input="\n\n\n",
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("-> Press Return key to continue.\n", "").splitlines() == [
        "Creating deployment...",
        'Created deployment "demo-deployment".',
        "Updating deployment...",
        "Updated deployment...",
        'Listing deployments in namespace "default":',
        " * demo-deployment (1 replicas)",
        "Deleting deployment...",
        "Deleted deployment.",
    ]
    client = kubernetes.new_for_config(clientcmd.build_config_from_flags("", str(kubeconfig)))
    # In the foreground it goes after its ReplicaSets; this server has made none.
    gone = lambda: not client.apps_v1().deployments("default").list(CTX).items  # noqa: E731
    eventually("the deletion in the foreground", gone)
    client.close()


def test_a_client_with_a_kubeconfig_counts_pods(kubeconfig: Path) -> None:
    with python("cmd/examples/out-of-cluster-client-configuration/main.py", f"-kubeconfig={kubeconfig}") as program:
        program.wait_for("There are 0 pods in the cluster")
        program.wait_for("Pod example-xxxxx in namespace default not found")
        assert program.stop() == 0, program.output


def test_a_client_in_a_pod_uses_its_service_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Environment() as env:
        (tmp_path / "token").write_text(env.token)
        (tmp_path / "ca.crt").write_text(env.server.ca_certificate)
        host, port = env.server.http.address
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(port))
        config = functools.partial(rest.in_cluster_config, str(tmp_path))
        seen: list[Config] = []
        monkeypatch.setattr(rest, "in_cluster_config", lambda: seen.append(config()) or seen[0])
        example = runpy.run_path(str(EXAMPLES / "in-cluster-client-configuration" / "main.py"))
        # Its loop runs once: the context has ended when it would wait.
        ctx, cancel = context.with_cancel(CTX)
        client = kubernetes.new_for_config(example["rest"].in_cluster_config())
        example["show_pods"](ctx, client)
        cancel()
        client.close()
    assert seen[0].host.startswith("https://")
    assert capsys.readouterr().out.splitlines() == [
        "There are 0 pods in the cluster",
        "Pod example-xxxxx not found in default namespace",
    ]


def test_outside_of_a_pod_the_example_says_so() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "in-cluster-client-configuration" / "main.py")],
        capture_output=True,
        text=True,
        env={**environment(), "KUBERNETES_SERVICE_HOST": ""},
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert "ErrNotInCluster" in done.stderr


def test_the_second_candidate_leads_after_the_first_one_stops(kubeconfig: Path) -> None:
    def candidate(identity: str) -> list[str]:
        flags = ["-lease-lock-name=example", "-lease-lock-namespace=default", f"-id={identity}"]
        return ["cmd/examples/leader-election/main.py", f"-kubeconfig={kubeconfig}", *flags]

    with python(*candidate("one")) as one:
        one.wait_for("Controller loop...")
        with python(*candidate("two")) as two:
            two.wait_for('New leader elected" identity="one"')
            assert one.stop() == 0, one.output
            one.wait_for("Performing cleanup operations...")
            two.wait_for("Controller loop...")
            assert two.stop() == 0, two.output


def test_a_candidate_needs_the_name_of_its_lease() -> None:
    program = python("cmd/examples/leader-election/main.py")
    with program:
        program.wait_for("missing lease-lock-name flag")


def test_the_unit_test_with_a_fake_client_passes() -> None:
    """Go: TestFakeClient."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(EXAMPLES / "fake-client" / "test_main.py")],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_each_example_of_go_is_here() -> None:
    named = (EXAMPLES / "README.md").read_text()
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__")
    assert folders == [
        "create-update-delete-deployment",
        "dynamic-create-update-delete-deployment",
        "fake-client",
        "in-cluster-client-configuration",
        "leader-election",
        "out-of-cluster-client-configuration",
    ]
    assert all(f"]({name}/" in named for name in folders)
    assert "[workqueue](../pod-controller/main.py)" in named
