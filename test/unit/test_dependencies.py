"""The library's dependencies: each package that it imports and no other, within the bounds that this run tests."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from collections.abc import Iterator

import pytest
from libraryimports import imports_of, modules
from packaging.requirements import Requirement
from packaging.version import Version

# As pip calls them, by the name they are imported under.
PACKAGES = {
    "google": "protobuf",
    "opentelemetry": "opentelemetry-api",
    "prometheus_client": "prometheus-client",
    "re2": "google-re2",
    "yaml": "PyYAML",
}
# The module of each program under cmd, which `clientgo` imports from the program's folder.
OF_PROGRAMS = {"main"}
# Imported by modules that only tests of the user's own import.
OF_TESTS = {"hypothesis", "pytest"}

REQUIREMENTS = [Requirement(text) for text in importlib.metadata.requires("clientgo") or []]
# Alone, and with the extras that are for programs.
RUNTIME = {
    requirement.name: requirement
    for requirement in REQUIREMENTS
    for extra in ("", "fast", "metrics", "cel", "stream", "certificates", "cbor", "tracing")
    if requirement.marker is None or requirement.marker.evaluate({"extra": extra})
}


def named_in_calls(source: str) -> Iterator[str]:
    """Yield the modules that `importlib.import_module` imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


def imported_packages() -> set[str]:
    """Return the top-level names of other projects that modules of the library import."""
    imported: set[str] = set()
    for path in modules().values():
        for found in imports_of(path):
            if isinstance(found.node, ast.Import):
                imported.update(alias.name for alias in found.node.names)
            elif found.node.module and found.node.level == 0:
                imported.add(found.node.module)
        source = path.read_text()
        if "import_module" in source:
            imported.update(named_in_calls(source))
    names = {name.partition(".")[0] for name in imported}
    return names - set(sys.stdlib_module_names) - {"clientgo"}


def test_what_is_imported_is_required_and_the_other_way_round():
    assert {PACKAGES.get(name, name) for name in imported_packages() - OF_TESTS - OF_PROGRAMS} == set(RUNTIME)


@pytest.mark.parametrize("name", sorted(RUNTIME))
def test_an_upper_bound_is_the_next_series_after_the_one_these_tests_run_with(name):
    """An untested bound is a guess, and an old bound keeps users from a version that works."""
    try:
        installed = Version(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    bounds = {each.operator: Version(each.version) for each in RUNTIME[name].specifier}
    assert set(bounds) == {">=", "<"}
    assert bounds[">="] <= installed < bounds["<"] == Version(str(installed.major + 1))
