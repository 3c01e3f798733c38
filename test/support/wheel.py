"""The project as a wheel, built once for all tests that want one, in whichever process they run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
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
    """A clone of the repository."""
    clone = directory / "clone"
    run("git", "clone", "--quiet", ROOT, clone, cwd=directory)
    return clone


def build_wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel of a fresh clone."""
    folder = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # That of the run; each process has one of its own below it.
    folder = folder / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("clientgo-*.whl")):
            clone, made = clone_into(folder), folder / "made"
            run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, clone, cwd=folder)
            (wheel,) = made.glob("clientgo-*.whl")
            wheel.rename(folder / wheel.name)
        (wheel,) = folder.glob("clientgo-*.whl")
        return wheel
