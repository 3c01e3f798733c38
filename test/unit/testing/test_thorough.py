"""A long search shows its progress, on a terminal only, in any project."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from clientgo.testing import thorough

TESTS = """
from hypothesis.stateful import RuleBasedStateMachine, rule
from clientgo.testing import synctest

@synctest.explore()
def test_slow(schedule):
    pass

class Slow(RuleBasedStateMachine):
    @rule()
    def step(self):
        pass

TestSlow = Slow.TestCase
"""


def run(tmp_path: Path, stdout: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    (tmp_path / "test_search.py").write_text(TESTS)
    # An update after each case stands for a search of several seconds.
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import settings\n"
        "from clientgo.testing import thorough\n"
        "settings.register_profile('longer', max_examples=60, stateful_step_count=1)\n"
        "thorough._UPDATE_EVERY = 0.0\n"
    )
    plugin = ["-p", "clientgo.testing.thorough", "--hypothesis-profile", "longer", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), *plugin, *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("HYPOTHESIS_PROFILE", "CI")}
    return subprocess.run(command, cwd=tmp_path, env=environment, stdout=stdout, stderr=stdout, timeout=PATIENCE)


def test_on_a_terminal_the_cases_the_rate_and_the_time_left_are_shown(tmp_path: Path) -> None:
    terminal, other_end = pty.openpty()
    try:
        done = run(tmp_path, other_end, "test_search.py")
        os.close(other_end)
        printed = ""
        while True:
            try:
                printed += os.read(terminal, 65536).decode()
            except OSError:  # all is read
                break
    finally:
        os.close(terminal)

    assert done.returncode == 0, printed
    for name in ("test_slow", "TestSlow::runTest"):
        assert re.search(rf"test_search.py::{name}: \d+ of 60 cases, ", printed), printed
    assert " a second, " in printed
    assert " s left" in printed


def test_in_a_pipe_it_is_silent(tmp_path: Path) -> None:
    done = run(tmp_path, subprocess.PIPE, "test_search.py", "-k", "slow")

    assert done.returncode == 0, done.stdout
    assert b"cases, " not in done.stdout


def test_progress_counts_and_estimates() -> None:
    now = 0.0
    lines: list[str] = []
    progress = thorough.Progress("test_a", 20_000, lines.append, lambda: now)
    for _ in range(640):
        now += 1 / 64
        progress.case_done()

    assert len(lines) == 10
    assert lines[-1] == "test_a: 640 of 20,000 cases, 64 a second, 5 min 2 s left"


def test_cases_on_top_of_the_expected_ones_are_counted_without_an_estimate() -> None:
    now = 0.0
    lines: list[str] = []
    progress = thorough.Progress("test_a", 1, lines.append, lambda: now)
    for _ in range(3):
        now += 1.0
        progress.case_done()

    assert lines[1:] == ["test_a: 2 cases, 1 a second", "test_a: 3 cases, 1 a second"]


@pytest.mark.parametrize(
    "program",
    [
        "import clientgo.testing.workqueue_machine",
        "import clientgo.testing.thorough",
        "from clientgo.testing import synctest; synctest.schedules()",
        "from clientgo.testing import synctest; synctest.explore()",
    ],
)
def test_without_hypothesis_the_extra_is_named(program: str) -> None:
    hidden = "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n: n != 'hypothesis' and f(n) or None; "
    done = subprocess.run([sys.executable, "-c", hidden + program], capture_output=True, text=True, timeout=PATIENCE)

    assert done.returncode == 1
    assert "needs Hypothesis, which the extra `testing` brings: pip install 'clientgo[testing]'" in done.stderr
