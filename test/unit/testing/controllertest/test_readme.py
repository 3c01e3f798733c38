"""The steps of the README of controllertest: the machine finds the bug, and passes after the correction."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

import clientgo
from clientgo.testing import controllertest

TEXT = (Path(controllertest.__file__).parent / "README.md").read_text()


def block(marker: str) -> str:
    found = re.search(rf"<!-- {re.escape(marker)} -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert found, marker
    return found[1]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(Path(clientgo.__file__).parent.parent)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_from_nothing_to_the_first_bug_and_its_correction(tmp_path: Path) -> None:
    for name in ("controller.py", "test_controller.py"):
        (tmp_path / name).write_text(block(f"file: {name}"))
    pytest_command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", "test_controller.py")

    # The machine finds the bug, and prints a script of a few lines.
    found = run(tmp_path, *pytest_command)
    assert found.returncode == 1, found.stdout
    lines = [line.removeprefix("E").strip() for line in found.stdout.splitlines()]
    begin = lines.index("from clientgo.testing import controllertest as ct")
    end = next(number for number in range(begin, len(lines)) if lines[number].startswith("])"))
    script = lines[begin : end + 1]
    assert len(script) <= 15
    assert "Captured log" not in found.stdout, "the lines of thousands of runs would bury the report"
    assert any("Set({'apiVersion': 'v1', 'kind': 'ConfigMap'" in line for line in script)

    # The script is a program.
    (tmp_path / "replay.py").write_text("\n".join(script) + "\n")
    assert "ControllerFailure" in run(tmp_path, "replay.py").stderr

    # The script of the page breaks the rule of the page.
    page = re.search(r"```\neach_config_map_has_its_secret: no Secret for a\n\n(.*?)```", TEXT, re.DOTALL)
    assert page
    (tmp_path / "page.py").write_text(page[1])
    assert "ControllerFailure: each_config_map_has_its_secret: no Secret for a" in run(tmp_path, "page.py").stderr

    # The correction passes both.
    correction = block("replace in controller.py")
    source = (tmp_path / "controller.py").read_text()
    first, last = correction.splitlines()[0], correction.splitlines()[-1]
    old = source[source.index(first) : source.index(last) + len(last)]
    corrected = source.replace(old, correction.rstrip("\n"))
    factory = "new_shared_informer_factory(client, {})"
    with_resync = corrected.replace(factory.format("0.0"), factory.format("30.0"))
    assert source != corrected != with_resync
    (tmp_path / "controller.py").write_text(with_resync)
    assert run(tmp_path, "replay.py").returncode == 0
    assert run(tmp_path, "page.py").returncode == 0
    machine = block("file: test_controller.py")
    few = machine.replace("cases = 400", "cases = 10")
    assert few != machine
    (tmp_path / "test_controller.py").write_text(few)
    passed = run(tmp_path, *pytest_command)
    assert passed.returncode == 0, passed.stdout
