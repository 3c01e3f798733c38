"""The public API of a version of the library, read from the sources, and the changes between two versions.

Public are the names that CONTRIBUTING.md says are: those without a leading underscore in modules outside of `internal`
and private packages, limited to `__all__` where a module has one; and public attributes and methods of public classes.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Change",
    "api_of",
    "changed_files",
    "changes",
    "definitions",
    "is_public",
    "members",
    "module_of",
    "newest_release",
    "read",
]


@dataclass(frozen=True)
class Name:
    """A public name: its kind, its text without defaults and bodies, and for a function its parameters."""

    kind: str
    text: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """A parameter; `kind` is one of "positional", "keyword", "*" and "**"."""

    name: str
    kind: str
    optional: bool


@dataclass(frozen=True)
class Change:
    """A change of one public name. A breaking one makes calls fail that worked."""

    name: str
    what: str
    breaking: bool

    def __str__(self) -> str:
        return f"{'BREAKING' if self.breaking else 'ok      '}  {self.name}: {self.what}"


def is_public(path: str) -> bool:
    """Report whether a file of the repository is a public module of the library."""
    parts = Path(path).with_suffix("").parts
    if not parts or parts[0] != "clientgo" or not path.endswith(".py"):
        return False
    return not any(part == "internal" or (part.startswith("_") and part != "__init__") for part in parts)


def api_of(path: str, source: str) -> dict[str, Name]:
    """Return the public names of a module by their dotted names. Raises SyntaxError."""
    module = module_of(path)
    found: dict[str, Name] = {}
    for name, node in definitions(path, ast.parse(source)):
        found[f"{module}.{name}"] = _describe(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{module}.{name}.{member}": _describe(each) for member, each in members(node)}
    return found


def module_of(path: str) -> str:
    """Return the dotted name of a module by its path in the repository."""
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def definitions(path: str, tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the public names of a module and the statements that define them, several for an overloaded function."""
    exported = _exported(tree)
    for name, node in _top_level(tree, reexports=path.endswith("__init__.py") or exported is not None):
        if name in exported if exported is not None else not name.startswith("_"):
            yield name, node


def _exported(tree: ast.Module) -> set[str] | None:
    """Return the strings of `__all__`, or None for a module without one."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            strings = ast.walk(node.value)
            return {each.value for each in strings if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return None


def _top_level(tree: ast.Module, reexports: bool) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a module defines, also in its `if` and `try` statements."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.If | ast.Try):
            waiting = [*node.body, *node.orelse, *waiting]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from _assigned(node)
        elif isinstance(node, ast.ImportFrom) and reexports:
            yield from ((alias.asname or alias.name, node) for alias in node.names)


def _assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.AST]]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                yield each.id, node


def members(cls: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """Yield the public attributes and methods of a class, and `__init__`, with the statements that define them."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name == "__init__":
                yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from ((name, node) for name, _ in _assigned(node) if not name.startswith("_"))


def _describe(node: ast.AST) -> Name:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        kind = "property" if any("property" in ast.unparse(each) for each in node.decorator_list) else "function"
        return Name(kind, f"({ast.unparse(node.args)}){returns}", tuple(_parameters(node)))
    if isinstance(node, ast.ClassDef):
        return Name("class", f"({', '.join(map(ast.unparse, node.bases))})")
    if isinstance(node, ast.AnnAssign):
        return Name("attribute", ast.unparse(node.annotation))
    # An imported name and an assigned one may hold any object: only their absence is a change.
    return Name("attribute" if isinstance(node, ast.Assign) else "import", "")


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Parameter]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for number, each in enumerate(positional):
        # A positional-only parameter has no name for callers.
        yield Parameter("" if each in arguments.posonlyargs else each.arg, "positional", number >= required)
    if arguments.vararg:
        yield Parameter("", "*", True)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(each.arg, "keyword", default is not None)
    if arguments.kwarg:
        yield Parameter("", "**", True)


def changes(before: Mapping[str, Name], after: Mapping[str, Name]) -> list[Change]:
    """Return the changes of the names, the breaking ones first."""
    found = [Change(name, "removed", True) for name in before.keys() - after.keys()]
    found += [Change(name, "added", False) for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        found += _changes_of(name, before[name], after[name])
    return sorted(found, key=lambda change: (not change.breaking, change.name))


def _changes_of(name: str, old: Name, new: Name) -> Iterator[Change]:
    if "import" in (old.kind, new.kind):
        return
    if old.kind != new.kind:
        yield Change(name, f"was a {old.kind}, is a {new.kind}", True)
    elif old.text != new.text:
        yield Change(name, f"{old.text} became {new.text}", _breaks(old.parameters, new.parameters))


def _breaks(old: tuple[Parameter, ...], new: tuple[Parameter, ...]) -> bool:
    """Report whether a call that suits the old parameters may fail with the new ones."""
    if _loses(old, new, "*") or _loses(old, new, "**"):
        return True
    positional = [each for each in new if each.kind == "positional"]
    was_positional = [each for each in old if each.kind == "positional"]
    if len(positional) < len(was_positional):
        return True
    if any(_place_breaks(*pair) for pair in zip(was_positional, positional, strict=False)):
        return True
    by_name = {each.name: each for each in new}
    keywords = [each for each in old if each.kind == "keyword"]
    if any(_keyword_breaks(each, by_name) for each in keywords):
        return True
    known = {each.name for each in keywords}
    added = [*positional[len(was_positional) :], *(each for each in new if each.kind == "keyword")]
    return any(not each.optional and each.name not in known for each in added)


def _place_breaks(old: Parameter, new: Parameter) -> bool:
    """Report whether a call may fail that fills a place by position or by name."""
    return bool(old.name and new.name != old.name) or (old.optional and not new.optional)


def _keyword_breaks(old: Parameter, by_name: Mapping[str, Parameter]) -> bool:
    new = by_name.get(old.name)
    return new is None or (old.optional and not new.optional)


def _loses(old: tuple[Parameter, ...], new: tuple[Parameter, ...], kind: str) -> bool:
    return any(each.kind == kind for each in old) and not any(each.kind == kind for each in new)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def newest_release(root: Path) -> str:
    """Return the newest tag `v*` in the history of HEAD, or "" before the first release."""
    tags = _git(root, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").split()
    return tags[0] if tags else ""


def changed_files(root: Path, before: str, after: str) -> list[str]:
    """Return the public modules that differ. `after` "" is the working tree, with files that git does not know."""
    names = set(_git(root, "diff", "--name-only", before, *([after] if after else []), "--", "clientgo").splitlines())
    if not after:
        names |= set(_git(root, "ls-files", "--others", "--exclude-standard", "clientgo").splitlines())
    return sorted(name for name in names if is_public(name))


def read(root: Path, revision: str, files: Iterable[str]) -> dict[str, Name]:
    """Return the public names of files at a revision; "" is the working tree. A missing file has none."""
    found: dict[str, Name] = {}
    known = set(_git(root, "ls-tree", "-r", "--name-only", revision, "clientgo").splitlines()) if revision else set()
    for file in files:
        if revision:
            source = _git(root, "show", f"{revision}:{file}") if file in known else ""
        else:
            path = root / file
            source = path.read_text(encoding="utf-8") if path.exists() else ""
        found |= api_of(file, source)
    return found
