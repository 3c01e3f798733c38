"""hack/test, with everything that it runs replaced: it says what does not hold, and ends accordingly."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE

HACK = Path(__file__).resolve().parents[3] / "hack"
# Answers the question for the number of cores, and then is pytest, which collects the tests of a fresh clone before
# the first run; the second is the one without the extra.
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo 2; exit; fi
if [ "$3" = --collect-only ]; then exit 2; fi
if [ -z "$CLIENTGO_LAZY_DECODING" ]; then exit {first}; else exit {second}; fi
"""


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("lint", "first", "second", "code"),
    [(0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)],
    ids=["all holds", "lint fails", "a test fails", "a test without the extra fails"],
)
def test_it_ends_with_0_only_when_all_holds(tmp_path: Path, lint: int, first: int, second: int, code: int) -> None:
    script(tmp_path / "hack" / "lib.sh", f"root={tmp_path}\nhas_browser() {{ :; }}\nmake_test_venv() {{ :; }}\n")
    script(tmp_path / "hack" / "lint", f"#!/bin/sh\necho what lint says\nexit {lint}\n")
    script(tmp_path / ".venv-test" / "bin" / "python", PYTHON.format(first=first, second=second))
    shutil.copy(HACK / "test", tmp_path / "hack" / "test")
    environment = {name: value for name, value in os.environ.items() if name != "CLIENTGO_LAZY_DECODING"}
    environment["TMPDIR"] = str(tmp_path)

    done = subprocess.run(
        [tmp_path / "hack" / "test"], capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False
    )

    assert done.returncode == code, done.stderr
    assert "what lint says" in done.stdout
    assert ("does not hold" in done.stderr) is bool(code)
    assert list(tmp_path.glob("tmp.*")) == []
