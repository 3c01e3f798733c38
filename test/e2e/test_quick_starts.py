"""The README's quick starts on each Python, as a user types them: an empty environment, the wheel, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, Program, kubectl, kubectl_binary
from wheel import build_wheel, find_python, run

pytestmark = pytest.mark.takes_turns(8)

README = (ROOT / "README.md").read_text()
# The first line of the output by which a program in the background is ready.
READY = {
    "clientgo apiserver": "^Listening on ",
    "python cmd/sample-controller": "Started workers",
    "clientgo tour": "http",
}


class Shell:
    """A user's terminal with an activated environment: runs a page's commands in a folder of its own."""

    def __init__(self, folder: Path, programs: ExitStack) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kc"
        tools = os.path.dirname(kubectl_binary())
        self.env = {
            "PATH": f"{folder}/.venv/bin:{folder}/bin:{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "BROWSER": "true",  # the command that does nothing
            "PIP_COMPILE": "0",  # PIP_NO_COMPILE=1 would set the same option to 1, and pip would compile everything
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **{key: value for key, value in os.environ.items() if key.startswith("PIP_") or key.endswith("_proxy")},
        }
        self._programs = programs

    def start(self, line: str) -> Program:
        """Start a program and wait until it is ready."""
        command = ["bash", "-c", f"exec {line}"]
        program = self._programs.enter_context(Program(*command, env=self.env, cwd=self.folder))
        program.wait_for(next(ready for start, ready in READY.items() if line.startswith(start)))
        return program

    def type(self, block: str) -> str:
        """Run the lines of a block and return their output; those that end with & stay in the background."""
        output = ""
        for line in block.replace("/tmp/kc", str(self.kubeconfig)).splitlines():
            if line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                self.env[name] = value
            elif line.endswith("&"):
                self.start(line.removesuffix("&"))
            else:
                output += run("bash", "-euc", line, cwd=self.folder, **self.env)
        return output


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with ExitStack() as programs:
        yield Shell(tmp_path, programs)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_quick_start_of_the_readme_works_with_only_the_wheel(
    version: str, shell: Shell, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = find_python(version)
    shutil.copy(build_wheel(tmp_path_factory), shell.folder)
    (shell.folder / "bin").mkdir()
    (shell.folder / "bin" / "python3").symlink_to(python)
    install, tour, programs = blocks("sh")
    (controller,) = blocks("python")

    assert "12 of 12 checks hold" in shell.type(install)
    assert f"Python {version}." in shell.type("clientgo version")

    (line,) = tour.splitlines()
    page = shell.start(line)
    address = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", page.output)
    assert address is not None
    with urllib.request.urlopen(address[0], timeout=PATIENCE) as response:
        assert b"The informer tour" in response.read()
    page.send(signal.SIGINT)
    assert page.wait() == 0

    printed = shell.type(programs)
    assert "foo.samplecontroller.k8s.io/example-foo" in printed
    assert 'foo.samplecontroller.k8s.io "example-foo" deleted' in printed

    (shell.folder / "controller.py").write_text(f"KUBECONFIG = {str(shell.kubeconfig)!r}\n{controller}")
    with Program("bash", "-c", "exec python -u controller.py", env=shell.env, cwd=shell.folder) as program:
        kubectl(shell.kubeconfig, "run", "web", "--image=nginx")
        program.wait_for("default/web Pending")
        program.send(signal.SIGINT)
        program.wait()
    assert str(ROOT) not in program.output
