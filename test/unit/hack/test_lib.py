"""The virtual environments of the scripts in hack: made once, and never anew under a run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]

# A Python that makes an environment in which there is another such Python.
_PYTHON = """#!/bin/sh
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-c import sys; print"*) echo 3.11 ;;
esac
"""
_MAKE = 'source hack/lib.sh; make_venv "$root/.venv" "[test]"; '

pytestmark = pytest.mark.skipif(shutil.which("flock") is None, reason="without flock nothing is held")


def begin(folder: Path, then: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHON": str(folder / "python")}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        ["bash", "-euc", _MAKE + then], cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def run(folder: Path) -> tuple[int, str]:
    process = begin(folder, "")
    _, error = process.communicate(timeout=PATIENCE)
    return process.returncode, error


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "hack").mkdir()
    shutil.copy(ROOT / "hack" / "lib.sh", tmp_path / "hack")
    for name, text in (("python", _PYTHON), ("setup.cfg", ""), ("pyproject.toml", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def test_an_environment_is_not_made_anew_under_a_run_that_uses_it(project: Path) -> None:
    made = "Making a virtual environment in .venv"
    first = begin(project, "echo ready; exec cat")
    assert first.stdout is not None and first.stdout.readline() == "ready\n"
    assert run(project) == (0, ""), "it is the same, and may be used by two"
    (project / "setup.cfg").write_text("changed", encoding="utf-8")
    code, error = run(project)
    assert (code, (project / ".venv" / "bin" / "python").exists()) == (1, True)
    assert error == ".venv has to be made anew, and another run is using it. Try again when that has ended.\n"
    assert made in first.communicate(timeout=PATIENCE)[1]
    code, error = run(project)
    assert code == 0 and made in error
    assert run(project) == (0, "")
