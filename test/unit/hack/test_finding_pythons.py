"""The Python that the scripts in hack use for a version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# A Python that prints the version from its name.
_PYTHON = """#!{python}
import sys, sysconfig
sys.version_info = {version!r}
sysconfig.get_config_var = {{"Py_GIL_DISABLED": {free}}}.get
exec(sys.argv[2])
"""


def put(path: Path, version: tuple[int, ...], *, free: bool) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_PYTHON.format(python=sys.executable, version=version, free=int(free)), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path


def found(machine: Path, version: str) -> str:
    env = {"PATH": f"{machine / 'bin'}:/usr/bin:/bin", "PYENV_ROOT": str(machine / "pyenv"), "PYTHON": "/nonexistent"}
    script = f'source hack/lib.sh; find_python_version "{version}"'
    done = subprocess.run(["bash", "-euc", script], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_one_without_a_gil_is_taken_for_its_own_version_alone(machine: Path) -> None:
    free = put(machine / "pyenv/versions/8.1.2t/bin/python", (8, 1, 2), free=True)
    assert found(machine, "8.1t") == str(free)
    assert found(machine, "8.1") == ""
    usual = put(machine / "pyenv/versions/8.1.3/bin/python", (8, 1, 3), free=False)
    assert found(machine, "8.1") == str(usual)
    assert found(machine, "8.1t") == str(free)
    assert found(machine, "8.2t") == ""


def test_what_is_on_path_goes_before_pyenv_if_it_is_what_it_is_called(machine: Path) -> None:
    put(machine / "pyenv/versions/8.1.2t/bin/python", (8, 1, 2), free=True)
    put(machine / "bin/python8.1t", (8, 1, 0), free=True)
    assert found(machine, "8.1t") == "python8.1t"
    put(machine / "bin/python8.1t", (8, 1, 0), free=False)
    assert found(machine, "8.1t").startswith(str(machine / "pyenv"))


