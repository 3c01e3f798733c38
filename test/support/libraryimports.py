"""The imports of the library's modules, parsed once for all tests of the layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import clientgo

LIBRARY = Path(clientgo.__file__).parent


@dataclass(frozen=True, slots=True)
class Found:
    """An import statement, and where it stands."""

    node: ast.Import | ast.ImportFrom
    # In no function, class, `if` or `try`: it happens when the module itself is imported.
    outermost: bool
    # Below `if TYPE_CHECKING`: it never happens.
    for_checkers: bool


@cache
def modules() -> dict[str, Path]:
    """Return the library's modules by name."""
    found = {}
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_of(path: Path) -> tuple[Found, ...]:
    """Return the import statements of one module."""
    return tuple(_below(ast.parse(path.read_text()), outermost=True, for_checkers=False))


def _below(node: ast.AST, outermost: bool, for_checkers: bool) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield Found(child, outermost, for_checkers)
        elif not isinstance(child, ast.expr):  # most of a module, and no place for an import
            checkers = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from _below(child, outermost=False, for_checkers=for_checkers or checkers)
