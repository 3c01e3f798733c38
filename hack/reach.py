"""Find the tests that reach a place of the sources, by one run of the tests with a probe at each statement of interest.

A probe stands on a line of its own before the statement and notes the test that runs. A bug outside of functions is
reached by every test, and so is a statement that runs outside of tests, as when its module is imported. Tests that fail
or take too long with the probes are left out.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

PROBES = "tests_reached_probes"
"""The module that the probes call. It stands in the root of the copied tree."""

# Also a plugin of pytest, which notes how long each test takes that passes.
_PROBES = """
import os

_known = set()
_file = os.open(os.path.join(os.path.dirname(__file__), "reached.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in _known:
        _known.add((number, test))
        os.write(_file, f"{number}\\t{test}\\n".encode())


def pytest_runtest_logreport(report):
    if report.when == "call" and report.passed:
        os.write(_file, f"{report.duration}\\t{report.nodeid}\\n".encode())
"""


def probe(source: str, lines: Mapping[int, int]) -> tuple[str, set[int]]:
    """Return the source with probes, and the keys that stand outside of functions. `lines`: line by key."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    text, outside = source.splitlines(keepends=True), set()
    inserted: dict[int, list[str]] = {}
    for key, line in lines.items():
        around = [node for node in functions if node.body[0].lineno <= line <= (node.end_lineno or 0)]
        if not around:
            outside.add(key)
            continue
        node = max(around, key=lambda each: each.lineno)
        statement = _statement(node, line, text)
        if statement is None:  # the body follows the colon on the same line
            outside.add(key)
            continue
        call = f"{' ' * statement.col_offset}__import__({PROBES!r}).hit({key})\n"
        inserted.setdefault(_first_line(statement), []).append(call)
    for first in sorted(inserted, reverse=True):
        text[first - 1 : first - 1] = inserted[first]
    return "".join(text), outside


def _statement(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int, text: list[str]) -> ast.stmt | None:
    """Return the innermost statement around a line before which another statement may stand, or None if there is none.

    The first statement of the function stands for lines without one, such as `else:`.
    """
    has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
    body = function.body[1:] if has_docstring else function.body
    around = [
        node
        for outer in body
        for node in ast.walk(outer)
        if isinstance(node, ast.stmt) and _first_line(node) <= line <= (node.end_lineno or 0)
    ]
    for node in [*sorted(around, key=lambda each: each.col_offset, reverse=True), body[0]]:
        source = text[_first_line(node) - 1].encode()
        if not source[: node.col_offset].strip() and not source[node.col_offset :].startswith(b"elif"):
            return node
    return None


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def prepare(root: Path, places: Mapping[int, tuple[str, int]]) -> set[int]:
    """Put probes into the tree; return the keys that stand outside of functions. `places`: file and line by key."""
    outside: set[int] = set()
    for file in {file for file, _ in places.values()}:
        lines = {key: line for key, (name, line) in places.items() if name == file}
        probed, free = probe((root / file).read_text(encoding="utf-8"), lines)
        (root / file).write_text(probed, encoding="utf-8")
        outside |= free
    (root / f"{PROBES}.py").write_text(_PROBES, encoding="utf-8")
    return outside


def read(path: Path) -> tuple[dict[int, set[str]], dict[str, float]]:
    """Return the tests that reached each key and passed, and how many seconds each test took that passed.

    A key that was reached outside of tests has all tests.
    """
    reached: dict[int, set[str]] = {}
    seconds: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, _, test = line.partition("\t")
        if "." in key:
            seconds[test] = float(key)
        else:
            reached.setdefault(int(key), set()).add(test)
    return {key: set(seconds) if "" in tests else tests & seconds.keys() for key, tests in reached.items()}, seconds


def in_order(tests: Iterable[str], seconds: Mapping[str, float], module: str, most: float) -> list[str]:
    """Return the tests to run against a bug in `module`, a path, in their order; they take `most` seconds together.

    The files that have the module's name come first, then those in a folder of the name of the module's folder, then
    the others. In each part, each file has its turn with its quickest test, so that the first tests differ.
    """
    files: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        files.setdefault(test.partition("::")[0], []).append(test)
    path = Path(module)
    named = [file for file in files if path.stem in Path(file).name]
    near = [file for file in files if path.parent.name in Path(file).parts[:-1]]
    turns = itertools.chain.from_iterable(
        itertools.chain.from_iterable(itertools.zip_longest(*(files[file] for file in sorted(part))))
        for part in (named, near, files)
    )
    chosen, left = [], most
    for test in dict.fromkeys(filter(None, turns)):
        left -= seconds[test]
        if left < 0:
            break
        chosen.append(test)
    return chosen
