"""hack/mutants --random: which bugs are drawn, that a draw can be repeated, and that the list's excuses hold for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import mutants  # noqa: E402
import random_bugs  # noqa: E402
from mutants import BrokenListError  # noqa: E402
from random_bugs import Bug  # noqa: E402


def bugs_of(source: str) -> set[str]:
    """Return the changed lines whose program differs."""
    return {bug.new for bug in random_bugs.candidates(source) if random_bugs.changes(source, bug)}


@pytest.mark.parametrize(
    ("line", "bugs"),
    [
        pytest.param("x = a < b", {"x = a >= b", "x = a <= b"}, id="comparison inverted or off by one"),
        pytest.param("x = (a) == (b)", {"x = (a) != (b)"}, id="operands in parentheses"),
        pytest.param("x = a is not b", {"x = a is b"}, id="identity"),
        pytest.param("x = a in b", {"x = a not in b"}, id="membership"),
        pytest.param("x = not a", {"x = a"}, id="not dropped"),
        pytest.param("x = a and b", {"x = a or b"}, id="and to or"),
        pytest.param("x = a or b", {"x = a and b"}, id="or to and"),
        pytest.param("x = 3", {"x = 4", "x = 2"}, id="constant off by one"),
        pytest.param("x = 0", {"x = 1"}, id="a negative count is never drawn"),
        pytest.param("x = 0.5", {"x = 1.5", "x = -0.5"}, id="float off by one"),
        pytest.param("x = True", {"x = False"}, id="flag"),
        pytest.param("x = a + b", {"x = a - b"}, id="arithmetic"),
        pytest.param("x = min(a, b)", {"x = max(a, b)"}, id="min to max"),
        pytest.param("x = a if b else c", {"x = (c) if b else (a)"}, id="branches swapped"),
        pytest.param("f(a)", {"pass"}, id="call dropped"),
        pytest.param("a.b = c", {"pass"}, id="attribute not set"),
        pytest.param("a.b: int = c", {"pass"}, id="annotated attribute not set"),
        pytest.param("a += b", {"pass"}, id="sum not made"),
        pytest.param("raise a", {"pass"}, id="error not raised"),
        pytest.param("del a[b]", {"pass"}, id="entry not deleted"),
        pytest.param("x = [a for a in b if c(a)]", {"x = [a for a in b if not c(a)]"}, id="filter negated"),
    ],
)
def test_each_kind_of_bug_is_drawn(line: str, bugs: set[str]) -> None:
    assert bugs_of(line) == bugs


@pytest.mark.parametrize(
    ("source", "bugs"),
    [
        ("def f() -> bool:\n    return g()\n", {"return not g()", "pass"}),
        ("def f() -> int:\n    return g()\n", {"pass"}),
        ("while a:\n    break\n", {"while not a:", "pass"}),
        ("if a and b:\n    x\n", {"if a or b:", "if not (a and b):"}),
        ("for a in b:\n    continue\n", {"pass"}),
    ],
)
def test_conditions_and_results_are_negated_and_jumps_dropped(source: str, bugs: set[str]) -> None:
    assert bugs_of(source) == bugs


@pytest.mark.parametrize(
    "source",
    [
        '"""A module."""',
        "x = y",
        "assert a < b",
        "x: Literal[1]",
        "def f(a: Literal[1]) -> Literal[2]:\n    ...\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "x = f'{a + 1}'",
        "@f(1)\nclass A:\n    ...\n",
        "x = (a\n     < b)\n",
        "def f(a):\n    x = a\n    return None\n",
        "def f(a):\n    x = a\n    return\n",
        "def f(a):\n    try:\n        x = a\n    except E:\n        return None\n",
        "def f(a):\n    with a:\n        x = a\n        return\n",
        "def f(a):\n    match a:\n        case b:\n            return\n",
    ],
)
def test_what_is_no_behaviour_is_left_alone(source: str) -> None:
    assert bugs_of(source) == set()


def test_a_return_of_none_before_the_end_is_dropped() -> None:
    source = "def f(a):\n    if a():\n        return\n    x = a\n"
    assert bugs_of(source) == {"pass", "if not a():"}


def test_a_bug_is_put_in_behind_text_that_is_not_ascii() -> None:
    assert bugs_of("x = 'Größe' if a < b else c") >= {"x = 'Größe' if a >= b else c"}


SOURCES = {"a.py": "".join(f"if a{n} < {n}:\n    f{n}(b)\n" for n in range(40)), "b.py": "x = 1\n"}


def test_a_draw_depends_on_its_seed_alone() -> None:
    first = random_bugs.draw(SOURCES, 7, 10)

    assert first == random_bugs.draw(dict(reversed(SOURCES.items())), 7, 10)
    assert first != random_bugs.draw(SOURCES, 8, 10)


def test_a_draw_has_so_many_bugs_in_so_many_lines() -> None:
    drawn = random_bugs.draw(SOURCES, 7, 1000)

    assert len(drawn) == len({(file, bug.number) for file, bug in drawn}) == 81
    assert len(random_bugs.draw(SOURCES, 7, 12)) == 12
    for file, bug in drawn:
        assert random_bugs.changes(SOURCES[file], bug)
        assert SOURCES[file].splitlines()[bug.number - 1].strip() == bug.old


def listed(folder: Path, text: str) -> Path:
    (folder / "list").mkdir()
    (folder / "list" / "area.txt").write_text(text)
    for file, source in SOURCES.items():
        (folder / file).write_text(source)
    return folder / "list"


def test_an_areas_bugs_come_from_the_modules_of_the_list_and_face_all_its_tests(tmp_path: Path) -> None:
    path = listed(tmp_path, "a.py: test/a\nb.py: test/b\nb.py: test/c\n")

    drawn = mutants.draw(7, 1000, ["area"], path, tmp_path)

    assert {(each.file, each.tests) for each in drawn} == {
        ("a.py", ("test/a", "test/b", "test/c")),
        ("b.py", ("test/b", "test/c", "test/a")),
    }
    assert all(each.applied(SOURCES[each.file]) != SOURCES[each.file] for each in drawn)


def test_the_list_says_which_drawn_bug_is_none(tmp_path: Path) -> None:
    excuses = ["x = 1 -> x = 0", "= no reader", "x = 1 -> x = 2", "= too few"]
    path = listed(tmp_path, "\n        ".join(["b.py: test/b\n    (module)", *excuses]))

    (drawn,) = mutants.draw(7, 10, ["area"], path, tmp_path)

    assert isinstance(drawn.bug, Bug)
    assert drawn.no_bug == {"x = 0": "no reader", "x = 2": "too few"}[drawn.bug.new]


def test_bugs_are_drawn_from_a_folder_for_the_tests_named_after_it(tmp_path: Path) -> None:
    path = listed(tmp_path, "")

    drawn = mutants.draw(7, 1000, [".: test/x test/y"], path, tmp_path)

    assert {each.file for each in drawn} == {"a.py", "b.py"}
    assert {each.tests for each in drawn} == {("test/x", "test/y")}


@pytest.mark.parametrize("area", ["nope", "nope.py: test/x", "a.py:"])
def test_an_area_without_modules_or_tests_is_refused(tmp_path: Path, area: str) -> None:
    with pytest.raises(BrokenListError):
        mutants.draw(7, 10, [area], listed(tmp_path, ""), tmp_path)
