"""Expensive tests take turns: over all turns each case runs, and the summary reports how many cases wait."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, environment

TESTS = """
import pytest

def test_always():
    pass

@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_case(n, language):
    pass

@pytest.mark.takes_turns(2)
def test_alone():
    pass

@pytest.mark.takes_turns(2)
def test_the_next():
    pass
"""
TOGETHER = """
import pytest
pytestmark = pytest.mark.takes_turns(3, together=True)

@pytest.mark.parametrize("n", range(4))
def test_one(n):
    pass

def test_other():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_together.py").write_text(TOGETHER)
    return tmp_path


def run(folder: Path, *options: str) -> tuple[set[str], str]:
    """Return the tests that ran, and the output."""
    plugins = ("-p", "turns", "-p", "no:cacheprovider", "-p", "no:anyio")
    command = [sys.executable, "-m", "pytest", "-rp", *plugins, *options]
    env = environment(PYTHONPATH=str(ROOT / "test" / "support"))
    if "-n" not in options:  # all that other plugins do here is to take time
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"^PASSED (\S+)$", done.stdout, re.M)), done.stdout


def period(test: str) -> int:
    """Return in how many turns a test of TESTS or TOGETHER runs once."""
    if "test_always" in test:
        return 1
    return 2 if "test_alone" in test or "test_the_next" in test else 3


def test_over_all_turns_each_case_runs_equally_often_and_without_a_turn_all_run(folder: Path) -> None:
    everything, output = run(folder)
    assert len(everything) == 1 + 14 + 2 + 5
    assert "another turn" not in output

    turns = [run(folder, "--turn", str(turn))[0] for turn in range(6)]

    assert set().union(*turns) == everything
    for test in everything:
        ran = [turn for turn in range(6) if test in turns[turn]]
        assert ran == list(range(ran[0], 6, period(test))), test
    # Turns have equal sizes, and each has cases in both languages.
    cases = [[test for test in turn if "test_case" in test] for turn in turns]
    assert {len(turn) for turn in cases} == {4, 5}
    assert all(any("en" in test.partition("[")[2] for test in turn) for turn in cases)
    assert all(any("zh" in test.partition("[")[2] for test in turn) for turn in cases)
    # A module with a costly fixture has one turn.
    assert sorted(sum("test_together.py" in test for test in turn) for turn in turns) == [0, 0, 0, 0, 5, 5]


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])
def test_the_summary_reports_how_many_cases_wait(folder: Path, options: tuple[str, ...]) -> None:
    ran, output = run(folder, "--turn", "1", *options)

    (waiting,) = re.findall(r"^(\d+) cases of expensive tests wait for another turn: hack/test --all$", output, re.M)
    assert int(waiting) + len(ran) == 22


def test_no_two_costly_modules_share_a_turn(folder: Path) -> None:
    for name in ("test_another.py", "test_third.py"):
        (folder / name).write_text(TOGETHER)

    turns = [run(folder, "--turn", str(turn))[0] for turn in range(3)]

    modules = [{name for test in turn if (name := test.partition("::")[0]) != "test_it.py"} for turn in turns]
    assert sorted(map(sorted, modules)) == [["test_another.py"], ["test_third.py"], ["test_together.py"]]


def test_other_cases_take_turns_on_request(folder: Path) -> None:
    everything, _ = run(folder)

    turns = [run(folder, "--turn", str(turn), "--turns-of-others", "2")[0] for turn in range(6)]

    assert set().union(*turns) == everything
    assert [sum("test_always" in test for test in turn) for turn in turns] == [1, 0, 1, 0, 1, 0]
    for test in everything - {"test_it.py::test_always"}:
        ran = [turn for turn in range(6) if test in turns[turn]]
        assert ran == list(range(ran[0], 6, period(test))), test
