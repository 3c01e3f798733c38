"""hack/mutants: every bug of the list can be put in, a bad list is refused, and survivors are told from the caught."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import mutants  # noqa: E402
from mutants import BrokenListError, Mutant  # noqa: E402

SOURCE = '''\
def first(n):
    if n < 3:
        return 1
    return 2


def second(n):
    return 2
'''


def test_every_bug_of_the_list_can_be_put_in_and_compiles() -> None:
    """Whoever changes a line that is in hack/mutants.d changes it there too."""
    assert list(mutants.problems(mutants.read_list())) == []


def mutant(old: str, new: str, after: str = "") -> Mutant:
    return Mutant("area", "module.py", ("test_module.py",), old, new, after)


@pytest.mark.parametrize(
    ("old", "new", "after", "line"),
    [
        ("if n < 3:", "if n <= 3:", "", "    if n <= 3:\n"),
        ("return 1", "return 3", "", "        return 3\n"),
        ("return 2", "return 3", "def second", "def second(n):\n    return 3\n"),
    ],
)
def test_the_new_line_stands_where_the_old_one_did(old: str, new: str, after: str, line: str) -> None:
    applied = mutant(old, new, after).applied(SOURCE)
    assert line in applied
    assert len(applied.splitlines()) == len(SOURCE.splitlines())
    assert sum(a != b for a, b in zip(applied.splitlines(), SOURCE.splitlines(), strict=True)) == 1


@pytest.mark.parametrize(
    ("old", "after", "why"),
    [
        ("return 4", "", "has no line 'return 4'"),
        ("if n < 3", "", "has no line"),  # a part of one
        ("return 2", "", "has 2 lines 'return 2'"),
        ("return 1", "def second", "has no line 'return 1' after 'def second'"),
        ("return 1", "def third", "has no line"),
    ],
)
def test_a_line_that_is_not_there_once_is_an_error(old: str, after: str, why: str) -> None:
    with pytest.raises(BrokenListError, match=why):
        mutant(old, "pass", after).applied(SOURCE)


LIST = """\
# A comment.
a.py: test/a.py test/b
    - x = 1
    + x = 2
    after: def f
    - y == 1
    + y != 1
    = nobody reads it

b.py: test/b
    - z
    + pass
"""


def test_the_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(LIST)
    (tmp_path / "two.txt").write_text("c.py: test/c\n    - x\n    + y\n")
    a, b = ("test/a.py", "test/b"), ("test/b",)
    one = [
        Mutant("one", "a.py", a, "x = 1", "x = 2"),
        Mutant("one", "a.py", a, "y == 1", "y != 1", "def f", "nobody reads it"),
        Mutant("one", "b.py", b, "z", "pass"),
    ]
    assert mutants.read_list(tmp_path, ["one"]) == one
    assert [each.area for each in mutants.read_list(tmp_path)] == ["one", "one", "one", "two"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("    - x\n    + y\n", "needs a file"),
        ("a.py\n    - x\n    + y\n", "needs a file, tests"),
        ("a.py: t\n    - x\n", "needs"),
        ("a.py: t\n    - x\n    - y\n    + z\n    + z\n", "cannot read"),
        ("a.py: t\n    x\n", "cannot read"),
        ("a.py: t\n    - x\n    + x\n", "nothing changes"),
        ("a.py: t\n    - x\n    + y\n    - x\n    + y\n", "in the list twice"),
    ],
)
def test_a_bad_list_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "one.txt").write_text(text)
    with pytest.raises(BrokenListError, match=why):
        mutants.read_list(tmp_path)


def test_an_area_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenListError, match="no area nope"):
        mutants.read_list(tmp_path, ["nope"])


def test_what_does_not_fit_or_compile_is_told(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    (tmp_path / "test_module.py").write_text("")
    bugs = [mutant("return 1", "return 2"), mutant("nope", "x"), mutant("return 1", "return (")]
    found = list(mutants.problems(bugs, tmp_path))
    assert len(found) == 2
    assert "module.py has no line 'nope'" in found[0]
    assert "was never closed" in found[1]


@pytest.fixture(autouse=True)
def nothing_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would take longer than what the tests here need."""
    monkeypatch.setattr(mutants, "_PRELOADED", ())


TESTS = """\
import module

def test_first():
    assert module.first(1) == 1 and module.first(5) == 2
"""


def tree(folder: Path, tests: str = TESTS) -> mutants.Tree:
    (folder / "module.py").write_text(SOURCE)
    (folder / "test_module.py").write_text(tests)
    return mutants.Tree(folder)


def test_survivors_are_told_from_the_caught_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tree(tmp_path) as copy:
        before = (tmp_path / "module.py").stat().st_mtime_ns
        assert copy.run(mutant("return 1", "return 3"))[0] == mutants.CAUGHT
        assert copy.run(mutant("if n < 3:", "if n < 4:"))[0] == mutants.SURVIVED
        monkeypatch.setattr(mutants, "_LEAST_SECONDS", 0.1)
        monkeypatch.setattr(mutants, "_SLOWER", 0.0)
        hangs = mutant("return 1", "import time; time.sleep(600)")
        assert copy.run(hangs)[0] == mutants.CAUGHT
    assert (tmp_path / "module.py").read_text() == SOURCE
    assert (tmp_path / "module.py").stat().st_mtime_ns == before


def test_one_test_that_hangs_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tree(tmp_path) as copy:
        copy.seconds["test_module.py",] = 600.0
        monkeypatch.setattr(mutants, "_LEAST_SECONDS", 1.0)
        monkeypatch.setattr(mutants, "_ONE_SLOWER", 0.0)
        result, seconds = copy.run(mutant("return 1", "import time; time.sleep(600)"))
    assert result == mutants.CAUGHT
    assert seconds < 60.0


def test_what_is_loaded_beforehand_is_mutated_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "_PRELOADED", ("module",))
    with tree(tmp_path) as copy:
        copy.seconds["test_module.py",] = 1.0
        assert copy.run(mutant("return 1", "return 3"))[0] == mutants.CAUGHT


@pytest.mark.parametrize(
    ("codes", "result"),
    [
        pytest.param((0, 0), mutants.SURVIVED, id="passed"),
        pytest.param((0, 1), mutants.CAUGHT, id="failed"),
        pytest.param((0, 2), mutants.CAUGHT, id="could not be imported"),
        pytest.param((0, -1), mutants.CAUGHT, id="hung"),
    ],
)
def test_what_pytest_says_of_a_bug(tmp_path: Path, codes: tuple[int, ...], result: str) -> None:
    assert scripted(tmp_path, codes).run(mutant("return 1", "return 3"))[0] == result


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        pytest.param((1,), "fails without a bug", id="tests that fail anyway catch nothing"),
        pytest.param((5,), "pytest ends with 5", id="no tests catch nothing"),
        pytest.param((0, 4), "pytest ends with 4", id="pytest cannot run"),
    ],
)
def test_tests_that_say_nothing_are_an_error(tmp_path: Path, codes: tuple[int, ...], why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        scripted(tmp_path, codes).run(mutant("return 1", "return 3"))
    assert (tmp_path / "module.py").read_text() == SOURCE


def scripted(folder: Path, codes: tuple[int, ...]) -> mutants.Tree:
    """A tree in which pytest ends with these codes, one after the other."""
    copy, left = tree(folder), iter(codes)
    copy.pytests.run = lambda *_: next(left)  # type: ignore[method-assign]
    return copy


def test_a_result_is_known_until_the_file_or_its_tests_change(tmp_path: Path) -> None:
    tree(tmp_path)
    path, one = tmp_path / "results", mutant("return 1", "return 3")
    mutants.Results(path, tmp_path).add(one, mutants.CAUGHT)
    assert mutants.Results(path, tmp_path).known(one) == mutants.CAUGHT
    assert mutants.Results(path, tmp_path).known(mutant("return 1", "return 4")) == ""
    (tmp_path / "test_module.py").write_text(TESTS + "\n")
    assert mutants.Results(path, tmp_path).known(one) == ""
