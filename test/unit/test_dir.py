"""`dir()` and completion in a shell show what a package has, although many names are imported late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from libraryimports import modules
from patience import PATIENCE
from processes import ROOT, environment

PACKAGES = {
    ".".join(path.parent.relative_to(ROOT).parts): path
    for path in sorted((ROOT / "clientgo").rglob("__init__.py"))
    if "templates" not in path.parts
}

# In a process of its own, where no other test has asked for a name yet.
LOOK = """
import collections, importlib, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    missing = set(getattr(package, "__all__", ())) - set(dir(package))
    if missing:
        print(f"dir({name}) lacks {sorted(missing)}")
    if "attach" in dir(package):
        print(f"dir({name}) lists a function of the lazy loader")
    twice = [key for key, count in collections.Counter(getattr(package, "__all__", ())).items() if count > 1]
    if twice:
        print(f"{name}.__all__ has twice: {twice}")
"""

# The libraries that the extras install, save pytest, without which no plugin of pytest is imported.
OPTIONAL = "cbor2 cryptography google.protobuf hypothesis msgspec opentelemetry prometheus_client re2 websockets"

LOOK_WITHOUT_EXTRAS = """
import importlib, sys
sys.modules.update(dict.fromkeys(sys.argv[1].split()))
for name in sys.argv[2:]:
    try:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            getattr(module, public)
    except ImportError as err:
        if "pip install 'clientgo[" not in str(err):
            print(f"{name}: {err}")
"""


def _look(script: str, *arguments: str) -> str:
    """Run a script in another process and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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


def test_dir_of_every_package_lists_its_public_names_once() -> None:
    assert len(PACKAGES) > 400
    # Each of the late ones first, since importing others may ask it for names.
    for packages in ([*LATE[:1]], [*reversed(LATE)], [*PACKAGES]):
        assert _look(LOOK, *packages) == ""


def test_without_its_library_each_module_names_the_extra() -> None:
    """Also for modules that a page of the documentation does not name: a traceback may name them."""
    public = [name for name in modules() if not name.endswith("__main__")]

    assert _look(LOOK_WITHOUT_EXTRAS, OPTIONAL, *public) == ""
