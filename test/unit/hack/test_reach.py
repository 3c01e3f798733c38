"""hack/reach.py: probes find the tests that reach a statement, and change nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import reach  # noqa: E402

SOURCE = '''\
"""A module."""

LIMIT = 3


def first(n):
    """Return something."""

    @staticmethod
    def inner():
        return 1

    return n + LIMIT


class C:
    def second(self): return 2

    def third(self):
        if self:
            return 3
        elif not LIMIT:
            return 5
        return max(
            4,
            LIMIT,
        )
'''
TESTS = """\
import pytest
from module import C, first

@pytest.fixture(scope="module")
def made():
    return first(1)

def test_first(made):
    assert made == 4

def test_third():
    assert C().third() == 3

def test_fails():
    assert C().third() == 5

def test_nothing():
    pass
"""


def test_a_probe_stands_before_the_statement_and_only_there() -> None:
    places = {0: 3, 1: 11, 2: 13, 3: 17, 4: 21, 5: 6, 6: 22, 7: 26, 8: 10, 9: 20}
    probed, outside = reach.probe(SOURCE, places)

    assert outside == {0, 3, 5}, "the module, a body in the line of its function, a signature"
    lines = [line for line in probed.splitlines() if "hit(" not in line]
    assert lines == SOURCE.splitlines()
    after = probed.splitlines()
    behind = {
        int(line.partition("hit(")[2].rstrip(")")): next(each for each in after[i:] if "hit(" not in each).strip()
        for i, line in enumerate(after)
        if "hit(" in line
    }
    assert behind == {
        1: "return 1",
        2: "return n + LIMIT",
        4: "return 3",
        6: "if self:",
        7: "return max(",
        8: "@staticmethod",
        9: "if self:",
    }
    assert ast.get_docstring(ast.parse(probed).body[2]) == "Return something."  # type: ignore[arg-type]


def test_the_tests_that_pass_and_reach_a_function_are_found(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    (tmp_path / "test_module.py").write_text(TESTS)
    places = {0: ("module.py", 13), 1: ("module.py", 21), 2: ("module.py", 3), 3: ("module.py", 26)}
    outside = reach.prepare(tmp_path, places)
    args = ["-q", "-p", "no:cacheprovider", "-p", reach.PROBES, "test_module.py"]
    done = subprocess.run([sys.executable, "-m", "pytest", *args], cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 1, done.stdout
    reached, seconds = reach.read(tmp_path / "reached.txt")
    assert outside == {2}
    assert reached == {0: {"test_module.py::test_first"}, 1: {"test_module.py::test_third"}}
    assert sorted(seconds) == [f"test_module.py::test_{name}" for name in ("first", "nothing", "third")]


def test_a_function_that_runs_outside_of_tests_is_reached_by_all_tests(tmp_path: Path) -> None:
    lines = ["3\t\n", "4\ttest_a.py::x\n", "0.5\ttest_a.py::x\n", "0.25\ttest_a.py::y\n"]
    (tmp_path / "reached.txt").write_text("".join(lines))

    reached, _ = reach.read(tmp_path / "reached.txt")

    assert reached == {3: {"test_a.py::x", "test_a.py::y"}, 4: {"test_a.py::x"}}


def test_the_modules_own_tests_run_first_and_then_one_of_each_file_in_turn() -> None:
    seconds = {"test_a.py::x": 2.0, "test_a.py::v": 0.1, "test_b.py::y": 3.0, "test_b.py::z": 1.0, "test_c.py::w": 0.0}

    assert [each[5:] for each in reach.in_order(seconds, seconds, "clientgo/b.py", 9.0)] == [
        "b.py::z",
        "b.py::y",
        "a.py::v",
        "c.py::w",
        "a.py::x",
    ]
    assert reach.in_order(seconds, seconds, "clientgo/b.py", 4.5) == [
        "test_b.py::z",
        "test_b.py::y",
        "test_a.py::v",
        "test_c.py::w",
    ]
    assert reach.in_order(["test_a.py::x"], seconds, "clientgo/b.py", 1.0) == []


def test_the_tests_in_a_folder_of_the_modules_folder_come_before_the_others() -> None:
    seconds = {"unit/test_a.py::x": 0.1, "unit/cel/test_b.py::y": 3.0, "unit/cel/test_c.py::z": 2.0}
    order = reach.in_order(seconds, seconds, "clientgo/cel/macros.py", 9.0)
    assert order == ["unit/cel/test_b.py::y", "unit/cel/test_c.py::z", "unit/test_a.py::x"]
