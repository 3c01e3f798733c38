"""hack/mutants: every bug of the list can be put in, a bad list is an error, survivors and the caught differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import mutant_list  # noqa: E402
import mutant_runs  # noqa: E402
import mutants  # noqa: E402
from described_bugs import Description  # noqa: E402
from mutant_list import BrokenListError, Mutant  # noqa: E402
from random_bugs import Bug  # noqa: E402

SOURCE = """\
def first(n):
    if n < 3:
        return 1
    return 2


def second(n):
    return 2
"""


def test_every_bug_of_the_list_can_be_put_in_and_compiles() -> None:
    """A change of a line that hack/mutants.d describes requires a change there too."""
    assert list(mutant_list.problems(mutant_list.read_list())) == []


def mutant(edit: str, function: str = "first") -> Mutant:
    return Mutant("area", "module.py", ("test_module.py",), Description(function, edit))


def test_a_bug_without_a_place_is_an_error_that_names_the_file() -> None:
    with pytest.raises(BrokenListError, match="module.py: first has no places for: drop return 4"):
        mutant("drop return 4").applied(SOURCE)


LIST = """\
# A comment.
a.py: test/a.py test/b
    C.f
        drop x = 1
        y == 1 -> y != 1
        = the result is unused

    (module)
        # Another one.
        drop z()

b.py: test/b
    g
        negate z
"""


def test_the_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(LIST)
    (tmp_path / "two.txt").write_text("c.py: test/c\n    f\n        drop x()\n")
    a, b = ("test/a.py", "test/b"), ("test/b",)
    one = [
        Mutant("one", "a.py", a, Description("C.f", "drop x = 1")),
        Mutant("one", "a.py", a, Description("C.f", "y == 1 -> y != 1"), "the result is unused"),
        Mutant("one", "a.py", a, Description("(module)", "drop z()")),
        Mutant("one", "b.py", b, Description("g", "negate z")),
    ]
    read = mutant_list.read_list(tmp_path, ["one"])
    assert read == one
    together = [each.bug.together for each in read if isinstance(each.bug, Description)]
    assert together == [("drop x = 1", "y == 1 -> y != 1")] * 2 + [("drop z()",), ("negate z",)]
    assert [each.area for each in mutant_list.read_list(tmp_path)] == ["one", "one", "one", "one", "two"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("    f\n        drop x()\n", "one.txt:2: needs a file"),
        ("a.py\n    f\n        drop x()\n", "one.txt:1: needs a file, a colon and its tests"),
        ("a.py: t\n    f\n        drop x()\n- while x:\n+ while False:\n", "one.txt:4: needs a file, a colon"),
        ("a.py: t\n        drop x()\n", "one.txt:2: needs a file, its tests and a function"),
        ("a.py: t\n    - x = 1\n    + x = 2\n", "one.txt:2: needs"),
        ("a.py: t\n    f\n        = why\n", "a reason without a bug"),
        ("a.py: t\n    f\n        drop x()\n        = why\n        = why\n", "one.txt:5: a reason without a bug"),
        ("a.py: t\n    f\n        drop x()\n        drop x()\n", "one.txt:4: in the list twice"),
        ("a.py: t\n    f\n        drop x()\n    f\n        drop x()\n", "in the list twice"),
    ],
)
def test_a_bad_list_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "one.txt").write_text(text)
    with pytest.raises(BrokenListError, match=why):
        mutant_list.read_list(tmp_path)


def test_an_area_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenListError, match="no area nope"):
        mutant_list.read_list(tmp_path, ["nope"])


def test_the_modules_of_an_area_run_the_mirrored_tests_after_their_own(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(
        "clientgo/rest/watch/a.py: test/golden/a.py\n    f\n        drop x()\n"
        "clientgo/tools/b.py: test/unit/tools/test_b.py\n    f\n        drop x()\n"
        "clientgo/c.py: test/c.py\n    f\n        drop x()\n"
    )
    for folder in ("rest", "tools"):
        (tmp_path / "test/unit" / folder).mkdir(parents=True)

    found = mutant_list.read_modules(tmp_path, "one", tmp_path)

    rest, tools = "test/unit/rest", "test/unit/tools"
    every = ["test/c.py", "test/golden/a.py", rest, tools, "test/unit/tools/test_b.py"]
    firsts = {"rest/watch/a": ["test/golden/a.py", rest], "tools/b": [f"{tools}/test_b.py", tools], "c": ["test/c.py"]}
    assert found == {
        f"clientgo/{name}.py": (*first, *(test for test in every if test not in first))
        for name, first in firsts.items()
    }


def test_a_bug_that_does_not_fit_or_compile_is_reported(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    (tmp_path / "test_module.py").write_text("")
    bugs = [
        mutant("return 1 -> return 2"),
        mutant("drop x()"),
        mutant("return 1 -> return ("),
        mutant("return 1 -> break"),
    ]
    found = list(mutant_list.problems(bugs, tmp_path))
    assert len(found) == 3
    assert "module.py: first has no places for: drop x()" in found[0]
    assert "cannot read the edit 'return 1 -> return ('" in found[1]
    assert "'break' outside loop" in found[2]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("return 1", "return 3", ["line 3:\n    first\n        return 1 -> return 3"]),
        ("2", "if n > 3:", ["line 2:\n    first\n        n < 3 -> n > 3"]),
        (
            "return 2",
            "pass",
            ["line 4:\n    first\n        drop return 2", "line 8:\n    second\n        drop return 2"],
        ),
    ],
)
def test_a_change_of_a_line_is_described_as_the_list_has_it(
    tmp_path: Path, old: str, new: str, lines: list[str]
) -> None:
    (tmp_path / "module.py").write_text(SOURCE)

    assert list(mutant_list.describe("module.py", old, new, tmp_path)) == lines


@pytest.mark.parametrize(
    ("old", "new", "why"), [("return 7", "pass", "has no line"), ("8", "return 2", "no description")]
)
def test_a_change_without_a_description_is_an_error(tmp_path: Path, old: str, new: str, why: str) -> None:
    (tmp_path / "module.py").write_text(SOURCE)

    with pytest.raises(BrokenListError, match=why):
        list(mutant_list.describe("module.py", old, new, tmp_path))


@pytest.fixture(autouse=True)
def nothing_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Preload no modules, which would take longer than these tests."""
    monkeypatch.setattr(mutant_runs, "_PRELOADED", ())


TESTS = """\
import module

def test_first():
    assert module.first(1) == 1 and module.first(5) == 2
"""


HANGS = Mutant("area", "module.py", ("test_module.py",), Bug(3, "return 1", "import time; time.sleep(600)"))


def tree(folder: Path, tests: str = TESTS) -> mutant_runs.Tree:
    (folder / "module.py").write_text(SOURCE)
    (folder / "test_module.py").write_text(tests)
    return mutant_runs.Tree(folder)


def test_survivors_are_listed_and_no_file_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tree(tmp_path) as copy:
        before = (tmp_path / "module.py").stat().st_mtime_ns
        assert copy.run(mutant("return 1 -> return 3"))[0] == mutant_runs.CAUGHT
        assert copy.run(mutant("n < 3 -> n < 4"))[0] == mutant_runs.SURVIVED
        monkeypatch.setattr(mutant_runs, "_LEAST_SECONDS", 0.1)
        monkeypatch.setattr(mutant_runs, "_SLOWER", 0.0)
        assert copy.run(HANGS)[0] == mutant_runs.HANGS
    assert (tmp_path / "module.py").read_text() == SOURCE
    assert (tmp_path / "module.py").stat().st_mtime_ns == before


def test_a_survivor_without_a_description_does_not_end_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list cannot describe the default of an argument, for example."""

    def describe(file: str, old: str, new: str) -> list[str]:
        raise BrokenListError(f"{file}:{old}: no description says: {new}")

    monkeypatch.setattr(mutants, "describe", describe)
    progress = mutants.Progress(1)
    survivor = Mutant("area", "module.py", ("test_module.py",), Bug(1, "n: int = 0,", "n: int = 1,"))
    progress.tell(survivor, mutant_runs.SURVIVED, 1.0)
    assert progress.finish() == 1
    report = capsys.readouterr().out
    assert "module.py:1: no description says: n: int = 1," in report
    assert "of the bugs" in report


def test_an_edit_while_the_tests_of_a_draw_are_sought_moves_no_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bug survives in its own line; one line above, the module could not be imported."""
    project = tmp_path / "project"
    project.mkdir()
    tree(project).pytests.close()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    monkeypatch.setattr(mutant_runs, "ROOT", project)

    def edit(drawn: list[Mutant], folder: Path, known: Path) -> tuple[dict[int, set[str]], dict[str, float], set[int]]:
        (project / "module.py").write_text(f"# A new line.\n{SOURCE}")
        return {0: {"test_module.py::test_first"}}, {"test_module.py::test_first": 0.1}, set()

    monkeypatch.setattr(mutants, "_reached", edit)
    monkeypatch.setattr(mutants, "describe", lambda *_: [])
    survivor = Mutant("area", "module.py", ("test_module.py",), Bug(2, "if n < 3:", "if n < 4:"))
    results = mutant_runs.Results(tmp_path / "results.jsonl", project)
    assert mutants.run_drawn([survivor], results, False, tmp_path / "copies") == 1
    assert "survived" in capsys.readouterr().out


def test_one_test_that_hangs_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tree(tmp_path) as copy:
        copy.seconds["test_module.py",] = 600.0
        monkeypatch.setattr(mutant_runs, "_LEAST_SECONDS", 1.0)
        monkeypatch.setattr(mutant_runs, "_ONE_SLOWER", 0.0)
        result, seconds = copy.run(HANGS)
    assert result == mutant_runs.CAUGHT
    assert seconds < 60.0


def test_what_is_loaded_beforehand_is_mutated_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant_runs, "_PRELOADED", ("module",))
    with tree(tmp_path) as copy:
        copy.seconds["test_module.py",] = 1.0
        assert copy.run(mutant("return 1 -> return 3"))[0] == mutant_runs.CAUGHT


@pytest.mark.parametrize(
    ("codes", "result"),
    [
        pytest.param((0, 0), mutant_runs.SURVIVED, id="passed"),
        pytest.param((0, 1), mutant_runs.CAUGHT, id="failed"),
        pytest.param((0, 2), mutant_runs.CAUGHT, id="could not be imported"),
        pytest.param((0, 3), mutant_runs.CAUGHT, id="its import exits the process"),
        pytest.param((0, -1), mutant_runs.HANGS, id="hung"),
    ],
)
def test_what_pytest_says_of_a_bug(tmp_path: Path, codes: tuple[int, ...], result: str) -> None:
    assert scripted(tmp_path, codes).run(mutant("return 1 -> return 3"))[0] == result


def test_a_named_test_that_cannot_be_collected_notices_the_bug(tmp_path: Path) -> None:
    copy = scripted(tmp_path, (0, 4))
    assert copy.run(mutant("return 1 -> return 3"), ("test_module.py::test_first",))[0] == mutant_runs.CAUGHT


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        pytest.param((1,), "fails without a bug", id="tests that fail anyway catch nothing"),
        pytest.param((3,), "pytest ends with 3", id="pytest breaks without a bug"),
        pytest.param((5,), "pytest ends with 5", id="no tests catch nothing"),
        pytest.param((0, 4), "pytest ends with 4", id="pytest cannot run"),
    ],
)
def test_tests_that_say_nothing_are_an_error(tmp_path: Path, codes: tuple[int, ...], why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        scripted(tmp_path, codes).run(mutant("return 1 -> return 3"))
    assert (tmp_path / "module.py").read_text() == SOURCE


def scripted(folder: Path, codes: tuple[int, ...]) -> mutant_runs.Tree:
    """Return a tree in which successive runs of pytest exit with these codes."""
    copy, left = tree(folder), iter(codes)
    copy.pytests.run = lambda *_: next(left)  # type: ignore[method-assign]
    return copy


def test_a_result_is_known_until_the_file_or_its_tests_change(tmp_path: Path) -> None:
    tree(tmp_path)
    path, one = tmp_path / "results", mutant("return 1 -> return 3")
    mutant_runs.Results(path, tmp_path).add(one, mutant_runs.CAUGHT)
    assert mutant_runs.Results(path, tmp_path).known(one) == mutant_runs.CAUGHT
    assert mutant_runs.Results(path, tmp_path).known(mutant("return 1 -> return 4")) == ""
    (tmp_path / "test_module.py").write_text(TESTS + "\n")
    assert mutant_runs.Results(path, tmp_path).known(one) == ""
