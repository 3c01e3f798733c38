"""The page of controllertest, as a user follows it: an empty environment, the wheel, and the first bug."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE
from wheel import build_wheel, find_python, run

from clientgo.testing import controllertest

pytestmark = [pytest.mark.takes_turns(8, together=True), pytest.mark.starts_first]

TEXT = (Path(controllertest.__file__).parent / "README.md").read_text()


def block(marker: str) -> str:
    found = re.search(rf"<!-- {re.escape(marker)} -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert found, marker
    return found[1]


class User:
    """A user with a folder and an environment that has only the wheel with the extra for tests."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        self._python = folder / ".venv" / "bin" / "python"
        run(find_python("3.13"), "-m", "venv", ".venv", cwd=folder)
        packages = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        run(self._python, "-m", "pip", "install", "--quiet", f"{wheel}[testing]", cwd=folder, **packages)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def python(self, *arguments: str, patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return subprocess.run(
            [str(self._python), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=patience,
        )

    def pytest(self) -> subprocess.CompletedProcess[str]:
        # A search takes twenty seconds of CPU, and on a busy machine a tenth of a core is left for it.
        arguments = ("-q", "-p", "no:cacheprovider", "--hypothesis-seed=2", "test_controller.py")
        return self.python("-m", "pytest", *arguments, patience=500.0)


def test_from_nothing_to_the_first_bug_and_its_correction(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    user = User(tmp_path, build_wheel(tmp_path_factory))
    for name in ("controller.py", "test_controller.py"):
        user.write(name, block(f"file: {name}"))
    assert len(block("file: controller.py").splitlines()) <= 100

    # The machine finds the bug, and prints a script of a few lines.
    found = user.pytest()
    assert found.returncode == 1, found.stdout
    lines = [line.removeprefix("E").strip() for line in found.stdout.splitlines()]
    begin = lines.index("from clientgo.testing import controllertest as ct")
    end = next(number for number in range(begin, len(lines)) if lines[number].startswith("])"))
    script = lines[begin : end + 1]
    assert len(script) <= 15
    assert "Captured log" not in found.stdout, "the lines of thousands of runs would bury the report"
    assert any("Set({'apiVersion': 'v1', 'kind': 'ConfigMap'" in line for line in script)

    # The script is a program.
    user.write("replay.py", "\n".join(script) + "\n")
    assert "ControllerFailure" in user.python("replay.py").stderr

    # The script of the page breaks the rule of the page.
    page = re.search(r"```\neach_config_map_has_its_secret: no Secret for a\n\n(.*?)```", TEXT, re.DOTALL)
    assert page
    user.write("page.py", page[1])
    assert "ControllerFailure: each_config_map_has_its_secret: no Secret for a" in user.python("page.py").stderr

    # The correction passes both.
    correction = block("replace in controller.py")
    source = (tmp_path / "controller.py").read_text()
    first, last = correction.splitlines()[0], correction.splitlines()[-1]
    old = source[source.index(first) : source.index(last) + len(last)]
    corrected = source.replace(old, correction.rstrip("\n"))
    factory = "new_shared_informer_factory(client, {})"
    with_resync = corrected.replace(factory.format("0.0"), factory.format("30.0"))
    assert source != corrected != with_resync
    user.write("controller.py", with_resync)
    both = user.python("-c", "import page, replay")
    assert both.returncode == 0, both.stderr
    machine = block("file: test_controller.py")
    few = machine.replace("cases = 400", "cases = 3")
    assert few != machine
    user.write("test_controller.py", few)
    passed = user.pytest()
    assert passed.returncode == 0, passed.stdout
