"""The rooms of the embedded API server: which may import which, TYPE_CHECKING or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import clientgo.testing.apiserver

PACKAGE = "clientgo.testing.apiserver"
ROOT = Path(clientgo.testing.apiserver.__file__).parent
# From the ground up: a room imports itself and what stands before it.
ROOMS = [
    *("wire", "store", "cel", "kinds", "admission", "access", "views", "streams"),
    *("verbs", "webhooks", "policies", "controllers", "server", "local", "environment", "simulator"),
]
LONGEST = 600
IMPORTS = (ast.Import, ast.ImportFrom)


def imported_rooms(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith(PACKAGE) for alias in node.names), file
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            below = (node.module or "").removeprefix(PACKAGE).strip(".")
            yield from [below.partition(".")[0]] if below else [alias.name for alias in node.names]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    files = [ROOT / f"{room}.py"] if (ROOT / f"{room}.py").exists() else sorted((ROOT / room).rglob("*.py"))
    assert files
    allowed = ROOMS[: ROOMS.index(room) + 1]
    wrong = [(file.name, other) for file in files for other in imported_rooms(file) if other not in allowed]
    assert wrong == []


def test_every_module_has_its_room() -> None:
    found = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found == {*ROOMS, "__init__", "__main__", "fixtures"}


def test_no_module_is_longer_than_one_can_hold() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in ROOT.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def imports_inside_functions(tree: ast.AST) -> Iterator[int]:
    """Yield the line of the first import in each block of a function."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for block in [block for node in ast.walk(function) for _, block in ast.iter_fields(node)]:
            found = [node.lineno for node in block if isinstance(node, IMPORTS)] if isinstance(block, list) else []
            yield from found[:1]


def test_an_import_inside_a_function_says_why_it_stands_there() -> None:
    silent = set()
    for file in ROOT.rglob("*.py"):
        lines = file.read_text().splitlines()
        for number in imports_inside_functions(ast.parse(file.read_text())):
            if "#" not in lines[number - 1] and not lines[number - 2].lstrip().startswith("#"):
                silent.add(f"{file.relative_to(ROOT)}:{number}")
    assert silent == set()
