"""The way of a new user to the tour: the command for a clone, its progress, and the texts that mention it."""

from __future__ import annotations

import errno
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]

# Stands for Python and for the Python of the new environment: it prints what pip is asked for.
PYTHON = """#!/bin/bash
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip install "*) echo "pip: $*" >&2 ;;
  *) echo 3.13.1 ;;
esac
"""


def read_or_end(fd: int) -> bytes:
    """Return what one read brings, or b"" at the end, where a terminal without a writer has an error."""
    try:
        return os.read(fd, 10_000)
    except OSError as err:
        if err.errno != errno.EIO:
            raise
        return b""


@pytest.mark.parametrize(("on_terminal", "flag"), [(True, "--progress-bar=on"), (False, "--quiet")])
def test_the_installation_shows_its_progress_on_a_terminal(tmp_path, on_terminal, flag):
    """Downloads may take minutes, in which a silent command looks as if it hung."""
    python = tmp_path / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    script = f"source {ROOT}/hack/lib.sh; make_venv {tmp_path}/.venv '' {python}"
    subprocess.run(["bash", "-c", script], stdout=subprocess.DEVNULL, stderr=theirs, timeout=PATIENCE, check=True)
    os.close(theirs)
    printed = b"".join(iter(lambda: read_or_end(ours), b"")).decode()
    os.close(ours)
    first, second = printed.splitlines()[:2]
    assert first.startswith("Making a virtual environment in ") and second.startswith("pip: -m pip install")
    assert flag in second


# Texts that name the tour without saying how it is started: they link to one that does, or are about its parts.
OTHERS = {"CHANGELOG.md", "ARCHITECTURE.md", "GO.md"}


def texts_that_start_the_tour() -> list[Path]:
    """Return the documents that tell how to start the tour of the lessons."""
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in names.splitlines() if Path(name).name not in OTHERS]
    command = re.compile(r"^(python cmd/informer-tour|clientgo tour)$|`(python cmd/informer-tour|clientgo tour)`", re.M)
    return [path for path in paths if command.search(path.read_text(encoding="utf-8"))]


def test_each_text_that_starts_the_tour_names_the_command_for_a_fresh_clone():
    texts = texts_that_start_the_tour()
    assert {ROOT / "README.md", ROOT / "cmd" / "README.md", ROOT / "clientgo" / "tour" / "README.md"} <= {*texts}
    assert [path for path in texts if "hack/tour" not in path.read_text(encoding="utf-8")] == []
    help_text = (ROOT / "cmd" / "informer-tour" / "main.py").read_text(encoding="utf-8")
    assert "hack/tour in a fresh clone" in help_text
