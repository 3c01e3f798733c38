"""hack/test, with everything that it runs replaced: it says what does not hold, and ends accordingly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from patience import PATIENCE

HACK = Path(__file__).resolve().parents[3] / "hack"
UNSET = {"CLIENTGO_LAZY_DECODING", "HYPOTHESIS_PROFILE"}
# Answers the question for the number of cores, and then is pytest, which collects the tests of a fresh clone before
# the first run; the second is the one without the extra.
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo 2; exit; fi
if [ "$3" = --collect-only ]; then exit 2; fi
echo "pytest got $*"
if [ -z "$CLIENTGO_LAZY_DECODING" ]; then exit {first}; else exit {second}; fi
"""


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def run(folder: Path, *arguments: str, lint: int = 0, first: int = 0, second: int = 0) -> CompletedProcess[str]:
    """Run a copy of hack/test in a folder where lint and the two runs of pytest end with these codes."""
    script(folder / "hack" / "lib.sh", f"root={folder}\nhas_browser() {{ :; }}\nmake_test_venv() {{ :; }}\n")
    script(folder / "hack" / "lint", f"#!/bin/sh\necho what lint says\nexit {lint}\n")
    script(folder / ".venv-test" / "bin" / "python", PYTHON.format(first=first, second=second))
    shutil.copy(HACK / "test", folder / "hack" / "test")
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment["TMPDIR"] = str(folder)
    return subprocess.run(
        [folder / "hack" / "test", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize(
    ("lint", "first", "second", "code"),
    [(0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)],
    ids=["all holds", "lint fails", "a test fails", "a test without the extra fails"],
)
def test_it_ends_with_0_only_when_all_holds(tmp_path: Path, lint: int, first: int, second: int, code: int) -> None:
    done = run(tmp_path, lint=lint, first=first, second=second)

    assert done.returncode == code, done.stderr
    assert "what lint says" in done.stdout
    assert ("does not hold" in done.stderr) is bool(code)
    assert list(tmp_path.glob("tmp.*")) == []


def test_expensive_tests_take_turns_from_commit_to_commit(tmp_path: Path) -> None:
    def turns(*arguments: str) -> list[str]:
        done = run(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        found = re.findall(r"pytest got .* --turn (\d+)", done.stdout)
        # The tests and the second pass, in which a third of the cases has its turn.
        assert found[::2] == found[1::2]
        assert done.stdout.count("--turns-of-others 5") == (1 if not arguments or arguments == ("--all",) else 0)
        return found[::2]

    def commit() -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *person, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)

    assert turns() == ["0"], "without a repository"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit()
    assert turns() == ["1"]
    commit()
    assert turns() == ["2"]
    assert turns("--all") == []
    assert turns("test/unit") == []
