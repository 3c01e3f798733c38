"""The house's style where ruff has no rule for it: `hack/lint` checks it, `hack/lint --fix` mends it.

* Go's identifier is a sentence of its own, `Go: cache.NewStore.`, never in parentheses at the end of another.
* The body of a protocol's method ends in `...`, after its docstring.
* What an option is for stands below it, as a docstring, in every dataclass that is called a Config or Options: there
  editors and documentation tools show it, and a comment they do not.
* A package that gives names to others has `__all__`, a list, which ruff keeps sorted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("clientgo", "cmd", "hack")

# "... of the store. Go: cache.NewStore." at the end of a sentence.
_IN_PARENTHESES = re.compile(r" \(Go: ([\w.]+)\)\.")

# What a class of options is called, unless it is nobody else's.
_OPTIONS = re.compile(r"^[^_].*(Config|Options|Opts)$")
# Without one of these words there is nothing to find that needs parsing; most of what is generated has none.
_PARSED = re.compile(r"\bProtocol\b|dataclass")
_LINE = 120  # characters at most, as in ruff.toml


def problems(path: Path) -> Iterator[str]:
    """What is not as it should be in one file, as `file:line: what`."""
    source = path.read_text()
    name = path.relative_to(ROOT).as_posix()
    for number, line in enumerate(source.splitlines(), start=1):
        if _IN_PARENTHESES.search(line):
            yield f"{name}:{number}: Go's identifier in parentheses, not as a sentence of its own"
    if path.name != "__init__.py" and not _PARSED.search(source):
        return
    tree = ast.parse(source)
    for method in _bodies_without_ellipsis(tree):
        yield f"{name}:{method.lineno}: the body of {method.name}, of a protocol, does not end in `...`"
    for option in _commented_options(tree, source.splitlines()):
        yield f"{name}:{option.lineno}: what the option is for is a comment above it, not a docstring below"
    if path.name == "__init__.py" and _gives_names(tree) and not _has_all(tree):
        yield f"{name}:1: names for others, and no list __all__"


def fixed(source: str) -> str:
    """The source with what can be mended by rule."""
    source = _with_docstrings_of_options(_IN_PARENTHESES.sub(r". Go: \1.", source))
    lines = source.splitlines(keepends=True)
    for method in sorted(_bodies_without_ellipsis(ast.parse(source)), key=lambda method: -method.lineno):
        last = method.body[-1]
        lines.insert(last.end_lineno or 0, f"{' ' * last.col_offset}...\n")
    return "".join(lines)


def _classes(body: Sequence[ast.AST]) -> Iterator[ast.ClassDef]:
    """All classes in these statements and below. `ast.walk` would look at each name and number of each expression."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node
        for below in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _classes(getattr(node, below, ()))


def _commented_options(tree: ast.Module, lines: list[str]) -> Iterator[ast.AnnAssign]:
    """The public fields of dataclasses of options that have a comment above and nothing below."""
    for cls in _classes(tree.body):
        if not _OPTIONS.search(cls.name):
            continue
        if not any("dataclass" in ast.unparse(decorator) for decorator in cls.decorator_list):
            continue
        for field, below in zip_longest(cls.body, cls.body[1:]):
            if isinstance(field, ast.AnnAssign) and not _is_string(below) and _is_comment(lines[field.lineno - 2]):
                yield field


def _with_docstrings_of_options(source: str) -> str:
    lines = source.splitlines(keepends=True)
    for field in sorted(_commented_options(ast.parse(source), lines), key=lambda field: -field.lineno):
        end, start = field.end_lineno or field.lineno, field.lineno - 1
        while _is_comment(lines[start - 1]):
            start -= 1
        indent = " " * field.col_offset
        words = f"\n{indent}".join(line.strip().removeprefix("#").strip() for line in lines[start : field.lineno - 1])
        # The quotes may make the last line too long; then they get one of their own.
        last = len(words.rpartition("\n")[2]) + (0 if "\n" in words else field.col_offset + 3)
        close = '"""\n' if last + 3 <= _LINE else f'\n{indent}"""\n'
        lines[start:end] = [*lines[field.lineno - 1 : end], f'{indent}"""{words}{close}']
    return "".join(lines)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _is_string(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def _bodies_without_ellipsis(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for cls in _classes(tree.body):
        if any("Protocol" in ast.unparse(base) for base in cls.bases):
            for method in cls.body:
                if isinstance(method, ast.FunctionDef) and _is_docstring_alone(method):
                    yield method


def _is_docstring_alone(method: ast.FunctionDef) -> bool:
    (first, *more) = method.body
    return not more and _is_string(first)


def _gives_names(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.module != "__future__" for node in tree.body)


def _has_all(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" and isinstance(node.value, ast.List)
        for node in tree.body
    )


def files() -> list[Path]:
    """All modules that are checked."""
    return sorted(path for folder in CHECKED for path in (ROOT / folder).rglob("*.py"))


def main(arguments: list[str]) -> int:
    if "--fix" in arguments:
        for path in files():
            source = path.read_text()
            if (mended := fixed(source)) != source:
                path.write_text(mended)
    found = [problem for path in files() for problem in problems(path)]
    print("\n".join(found) or "All is in style.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
