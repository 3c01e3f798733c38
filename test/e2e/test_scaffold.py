"""From an empty folder to an operator that runs, with tests, as the README leads: with the wheel, pip and kubectl."""

from __future__ import annotations

import json
import os
import re
import shlex
import site
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, Program, eventually, kubectl, post_mortem
from wheel import build_tools, build_wheel, run

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(4)]
PAGE = (ROOT / "clientgo/scaffold/README.md").read_text()
# What a person does beside it: see each of them below.
BY_HAND = {
    "mkdir shop-operator && cd shop-operator",
    "python3 -m venv .venv && . .venv/bin/activate",
    "pip install ~/clientgo",
    "git apply order.diff",
    "python -m clientgo.testing.apiserver --kubeconfig-out /tmp/kubeconfig &",
    "export KUBECONFIG=/tmp/kubeconfig",
    "python -m shop_operator &",
}
NAMESPACE, ACCOUNT = "shop-operator-system", "shop-operator-controller-manager"


class Walk:
    """A person in a folder, with a virtual environment."""

    def __init__(self, folder: Path, factory: pytest.TempPathFactory) -> None:
        self.project = folder / "shop-operator"
        self.project.mkdir()
        self.kubeconfig = folder / "kubeconfig"
        self._steps = iter(
            line.strip() for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()
        )
        run(sys.executable, "-m", "venv", "--without-pip", ".venv", cwd=self.project)
        self.bin = self.project / ".venv" / "bin"
        # pip and the tools for tests are there already, so that nothing need be fetched.
        (packages,) = self.project.glob(".venv/lib/python3*/site-packages")
        (packages / "tools.pth").write_text("\n".join(site.getsitepackages()))
        pip = self.bin / "pip"
        building = shlex.join(f"{name}={value}" for name, value in build_tools(factory).items())
        pip.write_text(f'#!/bin/sh\nexec env {building} "{self.bin}/python" -m pip "$@"\n')
        pip.chmod(0o755)
        run(pip, "install", "--quiet", "--no-deps", build_wheel(factory), cwd=self.project)

    def go_to(self, last: str, *instead: str) -> None:
        """Run the page's commands up to this one, or up to the commands that replace it."""
        for step in self._steps:
            if step.startswith("kubectl "):
                kubectl(self.kubeconfig, *shlex.split(step)[1:], cwd=self.project)
            elif step not in BY_HAND:
                for command in instead if instead and step == last else [step]:
                    self._shell(command)
            if step == last:
                return
        raise AssertionError(f"the page has no command {last!r} here")

    def _shell(self, command: str) -> None:
        path = f"{self.bin}:{os.environ['PATH']}"
        # mypy runs once, so that its cache would not be used.
        env = {"PATH": path, "VIRTUAL_ENV": str(self.bin.parent), "MYPY_CACHE_DIR": os.devnull}
        run("bash", "-c", command, cwd=self.project, **env)

    def is_at_its_end(self) -> bool:
        """Report whether all commands of the page have run."""
        return next(self._steps, None) is None

    def python(self, *arguments: str) -> Program:
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return Program(self.bin / "python", *arguments, env=env, cwd=self.project)

    def as_service_account(self, server: Path) -> Path:
        """Return a kubeconfig of the operator's account, which may do what config/rbac says and no more."""
        token = kubectl(server, "create", "token", ACCOUNT, "-n", NAMESPACE).strip()
        config = json.loads(kubectl(server, "config", "view", "--raw", "-o", "json"))
        config["users"][0]["user"] = {"token": token}
        path = server.with_name("account")
        path.write_text(json.dumps(config))
        return path


def test_a_person_walks_from_an_empty_folder_to_an_operator_that_runs(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    walk = Walk(tmp_path, tmp_path_factory)
    project = walk.project

    # A new project with one kind holds as it is. All of hack/ci is done once, at the end: mypy takes its time.
    walk.go_to("hack/ci", "python -m ruff check .", "python -m pytest -q test/unit")

    # The user's change is a part of it from then on.
    (diff,) = re.findall(r"^```diff\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "order.diff").write_text(diff)
    run("git", "apply", tmp_path / "order.diff", cwd=project)
    walk.go_to("python -m clientgo.scaffold generate")

    with walk.python("-m", "clientgo.testing.apiserver", "--kubeconfig-out", str(walk.kubeconfig)) as server:
        server.wait_for("^Listening on ")
        walk.go_to("kubectl apply -f config/crd")
        for part in ("namespace.yaml", "rbac", "manager"):
            kubectl(walk.kubeconfig, "apply", "-f", str(project / "config" / part))
        account = walk.as_service_account(walk.kubeconfig)
        elect = ("--leader-elect", f"--leader-elect-namespace={NAMESPACE}", "--health-probe-bind-address=0")
        with walk.python("-m", "shop_operator", f"--kubeconfig={account}", *elect) as operator:
            with post_mortem([server, operator]):
                operator.wait_for("Starting workers")
                walk.go_to("kubectl apply -f config/samples")
                foo = ("get", "configmap", "order-sample", "-o", "jsonpath={.data.foo}", "--ignore-not-found")
                eventually("the ConfigMap", lambda: kubectl(walk.kubeconfig, *foo) == "bar")
                available = ("wait", "--for=condition=Available", "order/order-sample", f"--timeout={PATIENCE:g}s")
                kubectl(walk.kubeconfig, *available, f"--request-timeout={PATIENCE:g}s")
                walk.go_to("kubectl delete -f config/samples")
                eventually("the garbage collector", lambda: kubectl(walk.kubeconfig, *foo) == "")
            assert operator.stop() == 0, operator.output
        assert "forbidden" not in operator.output
        assert server.stop() == 0

    # More kinds, versions and webhooks leave the change alone, and all of it holds.
    controller = (project / "shop_operator/controller/shop/order_controller.py").read_text()
    walk.go_to("hack/ci")
    assert (project / "shop_operator/controller/shop/order_controller.py").read_text() == controller
    assert list((project / "shop_operator").rglob("*_conversion.py"))
    assert walk.is_at_its_end()


def test_every_command_of_the_page_is_run_here() -> None:
    steps = [line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()]

    assert set(steps) >= BY_HAND
    assert subprocess.run(["bash", "-n"], input="\n".join(steps), text=True).returncode == 0
