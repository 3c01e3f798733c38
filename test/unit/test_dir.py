"""`dir()` and completion in a shell show what a package has, although many names are imported late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, environment

PACKAGES = {
    ".".join(path.parent.relative_to(ROOT).parts): path
    for path in sorted((ROOT / "clientgo").rglob("__init__.py"))
    if "templates" not in path.parts
}

# In a process of its own, where no other test has asked for a name yet.
LOOK = """
import importlib, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    missing = set(getattr(package, "__all__", ())) - set(dir(package))
    if missing:
        print(f"dir({name}) lacks {sorted(missing)}")
"""


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that a module binds at its top level, also inside `if`, and those of classes' methods."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def _makes_names_up(path: Path) -> bool:
    return "__getattr__" in _bound(ast.parse(path.read_text()))


LATE = [name for name, path in PACKAGES.items() if _makes_names_up(path)]


@pytest.mark.parametrize("package", LATE)
def test_a_package_that_imports_names_late_lists_them(package: str) -> None:
    assert "__dir__" in _bound(ast.parse(PACKAGES[package].read_text()))


def test_dir_of_every_package_lists_its_public_names() -> None:
    assert len(PACKAGES) > 400
    # Each of the late ones first, since importing others may ask it for names.
    for packages in ([*LATE[:1]], [*reversed(LATE)], [*PACKAGES]):
        done = subprocess.run(
            [sys.executable, "-c", LOOK, *packages],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment(),
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
