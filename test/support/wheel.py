"""The project as a wheel, what builds it, and other folders made once for all tests, in whichever process they run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import ROOT, environment


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    """Run a command as a person does, who has no project on the path; what it printed.

    Only that pip does not compile what it installs: most of it is never imported here, and what is, Python compiles.
    """
    outside = {key: value for key, value in environment(PIP_COMPILE="0").items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        env={**outside, **env},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def clone_into(directory: Path) -> Path:
    """Return a clone of the repository."""
    clone = directory / "clone"
    run("git", "clone", "--quiet", ROOT, clone, cwd=directory)
    return clone


def build_wheel(factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of a fresh clone."""
    tools = build_tools(factory)

    def make(folder: Path) -> None:
        clone = clone_into(folder)
        command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", clone)
        run(*command, cwd=folder, **tools)

    (wheel,) = (made_once(factory, "wheel", make) / "dist").glob("clientgo-*.whl")
    return wheel


def build_sdist(factory: pytest.TempPathFactory) -> Path:
    """Return the source distribution of a fresh clone, as an archive."""
    tools = build_tools(factory)

    def make(folder: Path) -> None:
        build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
        run(sys.executable, "-c", build, folder / "dist", cwd=clone_into(folder), **tools)

    (sdist,) = (made_once(factory, "sdist", make) / "dist").glob("clientgo-*.tar.gz")
    return sdist


def unpack_sdist(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the unpacked source distribution, which tests only read."""
    sdist = build_sdist(factory)

    def make(folder: Path) -> None:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")

    (folder,) = made_once(factory, "unpacked", make).iterdir()
    return folder


def find_python(version: str) -> Path:
    """Return the Python of that version, which the scripts in hack find too.

    If it is missing, the test fails in CI and is skipped elsewhere.
    """
    script = f"source hack/lib.sh; find_python_version {version}"
    done = subprocess.run(["bash", "-euc", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    if found := done.stdout.strip():
        executable = "import sys; print(sys.executable)"
        return Path(subprocess.check_output([found, "-c", executable], text=True, timeout=60).strip())
    if os.environ.get("CI"):
        pytest.fail(f"Python {version} is needed in CI")
    pytest.skip(f"no Python {version} on this machine")


def build_tools(factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment in which pip builds with the tools from pyproject.toml, installed only once.

    Without this, pip downloads and installs them for each build. The clone in test_package.py does so.
    """

    def make(folder: Path) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        needed = project["build-system"]["requires"]
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *needed, cwd=folder)

    tools = made_once(factory, "build-tools", make)
    # 0 is no isolation: pip sets the option to this. What pyproject.toml asks for has to be there.
    return {"PYTHONPATH": str(tools), "PIP_NO_BUILD_ISOLATION": "0", "PIP_CHECK_BUILD_DEPENDENCIES": "1"}


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that all workers share. The first worker fills it while the others wait."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent  # That of the run; each process has one of its own below it.
    folder = base / name
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=base) as unfinished:
                half_made = Path(unfinished) / name
                half_made.mkdir()
                make(half_made)
                half_made.rename(folder)
    return folder
