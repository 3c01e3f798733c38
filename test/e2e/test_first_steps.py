"""The entry points for a new user, on each Python: an empty environment, the wheel, and the text of the pages.

test_quick_starts.py has the installation, the demo, the tour and the README's controller; test_controllertest_page.py
the property tests of a controller; test_plugin_clients.py the other clients.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE
from processes import ROOT, Program, kubectl
from wheel import build_wheel, find_python, made_once, run

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(8)]
START = (ROOT / "hack/site/pages/start.md").read_text(encoding="utf-8")
PROPERTIES = (ROOT / "test/property/README.md").read_text(encoding="utf-8")
VERSIONS = ("3.11", "3.12", "3.13")


def block(text: str, language: str, number: int = 0) -> str:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", text)[number]


class User:
    """A folder, and an environment that has the wheel with the extra for tests and nothing else."""

    def __init__(self, folder: Path, bin: Path) -> None:
        self.folder = folder
        self.bin = bin
        kept = {key: value for key, value in os.environ.items() if key.startswith("PIP_") or key.endswith("_proxy")}
        self.env = {"PATH": f"{bin}:/usr/bin:/bin", "HOME": str(folder), **kept}

    def save(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def start(self, command: str, **env: str) -> Program:
        return Program("bash", "-c", f"exec {command}", env={**self.env, **env}, cwd=self.folder)

    def type(self, command: str, cwd: Path | None = None, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=cwd or self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE,
        )
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def cluster(self) -> Iterator[Path]:
        """Run a server with TLS and tokens, and yield its administrator's kubeconfig."""
        kubeconfig = self.folder / "kc"
        with self.start(f"clientgo apiserver --kubeconfig-out {kubeconfig}") as server:
            server.wait_for("^Listening on https://")
            yield kubeconfig
            assert server.stop() == 0


@pytest.fixture(params=VERSIONS)
def user(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> User:
    python = find_python(request.param)
    wheel = f"{build_wheel(tmp_path_factory)}[testing]"

    def make(folder: Path) -> None:
        run(python, "-m", "venv", "venv", cwd=folder)
        run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)

    folder = made_once(tmp_path_factory, f"first-steps-{request.param}", make) / "venv"
    # A script of pip names the folder in which the environment was made.
    for script in ("clientgo", "pytest"):
        (folder / "bin" / script).write_text(f'#!/bin/sh\nexec "{folder}/bin/python" -m {script} "$@"\n')
    user = User(tmp_path, folder / "bin")
    user.save("labeller.py", block(START, "python"))
    user.save("test_labeller.py", block(START, "python", 1))
    user.save("labeller.yaml", block(START, "yaml"))
    return user


def test_the_first_controller_labels_and_its_test_passes_here_and_on_a_cluster(user: User) -> None:
    assert "1 passed" in user.type("pytest -q -p no:cacheprovider")

    with user.cluster() as kubeconfig:
        with user.start("python labeller.py", KUBECONFIG=str(kubeconfig)) as controller:
            kubectl(kubeconfig, "create", "configmap", "settings")
            controller.wait_for("^labelled default/settings$")
            labels = kubectl(kubeconfig, "get", "configmap", "settings", "-o", "jsonpath={.metadata.labels.seen}")
            assert labels == "yes"
            # Ctrl-C ends it, as the page says.
            controller.send(2)
            assert controller.wait() == 0
        assert "Traceback" not in controller.output

        printed = user.type(f"pytest -q -p no:cacheprovider --clientgo-kubeconfig {kubeconfig}")
        assert "1 passed" in printed
        assert "default" in kubectl(kubeconfig, "get", "namespaces")


def test_the_first_controller_runs_with_the_rights_of_the_page_and_no_others(user: User) -> None:
    with user.cluster() as kubeconfig:
        kubectl(kubeconfig, "apply", "-f", str(user.folder / "labeller.yaml"))
        document = yaml.safe_load(kubeconfig.read_text())
        document["users"][0]["user"] = {"token": kubectl(kubeconfig, "create", "token", "labeller").strip()}
        user.save("account", yaml.safe_dump(document))
        account = user.folder / "account"

        with user.start("python labeller.py", KUBECONFIG=str(account)) as controller:
            kubectl(kubeconfig, "create", "configmap", "settings")
            controller.wait_for("^labelled default/settings$")
            assert "forbidden" not in controller.output
            assert "no" in kubectl(account, "auth", "can-i", "delete", "configmaps", check=False)

            # A missing right is an error that names verb and resource.
            (role,) = (each for each in yaml.safe_load_all(block(START, "yaml")) if each["kind"] == "ClusterRole")
            role["rules"][0]["verbs"].remove("update")
            user.save("less.yaml", yaml.safe_dump(role))
            kubectl(kubeconfig, "apply", "-f", str(user.folder / "less.yaml"))
            kubectl(kubeconfig, "create", "configmap", "more")
            controller.wait_for('Error syncing.*cannot update resource .*name="default/more"')


def test_the_first_property_test_accepts_a_queue_and_finds_a_bug(user: User) -> None:
    recipe = block(PROPERTIES, "python").replace("MyQueue()", "workqueue.new_typed()")
    user.save("test_labeller.py", "from clientgo.util import workqueue\n\n" + recipe)
    assert "2 passed" in user.type("pytest -q -p no:cacheprovider --hypothesis-seed=1")

    # A queue that forgets the additions during the work.
    broken = """
class Forgetful:
    def __init__(self):
        self.queue = workqueue.new_typed()
        self.busy = set()
    def __getattr__(self, name):
        return getattr(self.queue, name)
    def add(self, item):
        if item not in self.busy:
            self.queue.add(item)
    def get(self):
        item, shutdown = self.queue.get()
        self.busy.add(item)
        return item, shutdown
    def done(self, item):
        self.busy.discard(item)
        self.queue.done(item)


"""
    text = recipe.replace("workqueue.new_typed()", "Forgetful()")
    user.save("test_labeller.py", "from clientgo.util import workqueue\n\n" + broken + text)
    printed = user.type("pytest -q -p no:cacheprovider --hypothesis-seed=1", code=1)
    assert "QueueMismatch" in printed or "QueueRace" in printed


def test_the_first_operator_is_made_installed_and_tested(user: User) -> None:
    project = user.folder / "shop-operator"
    project.mkdir()
    # An environment of its own, since the project installs its tools.
    user.type(f"{user.bin}/python -m venv .venv", cwd=project)
    wheel = next(user.bin.parents[2].glob("*/dist/clientgo-*.whl"))
    user.env["PATH"] = f"{project}/.venv/bin:/usr/bin:/bin"
    user.type(f"pip install --quiet {wheel}", cwd=project)
    user.type("clientgo scaffold init --domain example.com", cwd=project)
    user.type("clientgo scaffold create api --group shop --version v1 --kind Order", cwd=project)
    user.type("pip install --quiet --editable '.[test]'", cwd=project)

    printed = user.type("python -m pytest -q", cwd=project)

    assert re.search(r"^\d+ passed", printed, re.M), printed
    assert (project / "config" / "crd").is_dir()
    where = user.type("python -c 'import clientgo; print(clientgo.__file__)'", cwd=project)
    assert where.startswith(f"{project}/.venv/")
