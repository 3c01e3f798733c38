"""A name with a leading underscore belongs to the package that made it: no other one imports, reads or overrides it.

A package is a folder, together with its folder `beyond` of features that Go does not have. Modules of one package share
private names. A private name of the standard library or of another project may change with its next version.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import clientgo

ROOT = Path(clientgo.__file__).parent

# Looks private, but stands in the standard library's documentation.
DOCUMENTED = {
    "_thread",
    "sys._getframe",
    "sys._current_frames",
    "os._exit",
    "_asdict",  # of named tuples, as the next two
    "_replace",
    "_fields",
}

# A bubble puts itself in the place of what `threading`, `queue` and the clock are made of.
NEEDED = {
    "clientgo.testing.synctest.foreign": {"_flag", "_cond"},
    "clientgo.testing.synctest.primitives": {
        "Condition._acquire_restore",
        "Condition._is_owned",
        "Condition._release_save",
        "_PySimpleQueue",
        "_source",
    },
    "clientgo.testing.synctest.scheduler": {"_started", "_daemonic"},
}


PRIVATE = re.compile(r"\b_[A-Za-z]")


@dataclass(frozen=True)
class Module:
    path: Path
    name: str
    tree: ast.Module

    @property
    def package(self) -> Path:
        return with_beyond(self.path.parent)

    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]


@cache
def modules() -> dict[str, Module]:
    """Return the parsed modules. They are parsed only when a test runs, since each worker collects this file."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        source = path.read_text()
        # Most of what is generated has none, and takes long to parse.
        if PRIVATE.search(source) is not None:
            found[name] = Module(path, name, parse(source))
    return found


def parse(source: str) -> ast.Module:
    """Parse the source without the statements that contain no private name. Only a tenth remains, which saves ten
    seconds.
    """
    # How many of the lines before each have one.
    counts = [0, *itertools.accumulate(PRIVATE.search(line) is not None for line in source.split("\n"))]
    tree = ast.parse(source)
    blocks: list[ast.AST] = [tree]
    for block in blocks:
        for field in BLOCKS & set(block._fields):
            kept = [each for each in getattr(block, field) if counts[first_line(each) - 1] < counts[last_line(each)]]
            setattr(block, field, kept)
            blocks += kept
    return tree


# Where statements have statements.
BLOCKS = {"body", "orelse", "finalbody", "handlers", "cases"}


def first_line(statement: ast.AST) -> int:
    """Return the statement's first line, including its decorators, or the pattern of a `case`."""
    start = statement.pattern if isinstance(statement, ast.match_case) else statement
    return min(each.lineno for each in [start, *getattr(statement, "decorator_list", ())])


def last_line(statement: ast.AST) -> int:
    end = statement.body[-1] if isinstance(statement, ast.match_case) else statement
    return end.end_lineno


def is_private(name: str) -> bool:
    return name.startswith("_") and name != "_" and not (name.startswith("__") and name.endswith("__"))


# What `made_by`, `taken_by` and `read_in` look at.
RELEVANT = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.alias, ast.Attribute, ast.Assign),
    *(ast.Import, ast.ImportFrom),
)


def made_by(node: ast.AST) -> Iterator[str]:
    """Yield the private names that a syntax tree defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
            yield name
        case ast.Attribute(value=ast.Name(id="self" | "cls" | "new" | "made"), attr=name, ctx=ast.Store()):
            yield name
        case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
            yield from (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))


def with_beyond(folder: Path) -> Path:
    """Return the folder of Go's files for a folder of features that Go does not have, else the folder itself."""
    return folder.parent if folder.name == "beyond" else folder


def package_of(dotted: str) -> Path | None:
    """Return the folder of one of our modules."""
    path = ROOT.parent.joinpath(*dotted.split("."))
    if path.is_dir():
        return with_beyond(path)
    return with_beyond(path.parent) if path.with_suffix(".py").exists() else None


def taken_by(module: Module, made: set[str]) -> Iterator[str]:
    """Yield the private names of others that a module imports or reads."""
    for node in relevant_in(module.tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if any(map(is_private, each.name.split("."))))
            case ast.ImportFrom(module=str(source), names=names):
                if any(map(is_private, source.split("."))) and package_of(source) != module.package:
                    yield source
                if package_of(source) != module.package:
                    yield from (f"{source}.{each.name}" for each in names if is_private(each.name))
            case ast.Attribute(value=value, attr=name) if is_private(name) and name not in made:
                dotted = f"{ast.unparse(value)}.{name}"
                if name not in DOCUMENTED and dotted not in DOCUMENTED:
                    yield name


@cache
def relevant_in(node: ast.AST) -> list[ast.AST]:
    """Return the relevant nodes below this one, once for a module and its classes. Takes half the time of ast.walk."""
    found, below = [], [node]
    for each in below:
        if isinstance(each, RELEVANT):
            found.append(each)
        for field in each._fields:
            child = getattr(each, field)
            if isinstance(child, list):
                below += [one for one in child if isinstance(one, ast.AST) and not isinstance(one, ast.ClassDef)]
                found += [one for cls in child if isinstance(cls, ast.ClassDef) for one in relevant_in(cls)]
            elif isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                below.append(child)
    return found


def made_in(node: ast.AST) -> set[str]:
    return {name for each in relevant_in(node) for name in made_by(each) if is_private(name)}


def read_in(node: ast.AST) -> set[str]:
    """Return the private attributes of `self` that a class reads."""
    return {
        each.attr
        for each in relevant_in(node)
        if isinstance(each, ast.Attribute) and is_private(each.attr) and ast.unparse(each.value) in OWN
    }


OWN = {"self", "cls", "super()"}


def inherited_by(module: Module) -> Iterator[str]:
    """Yield the private names of a class that a base class in another package also has."""
    derived = {node.name: made_in(node) | read_in(node) for node in module.classes() if node.bases}
    loaded = importlib.import_module(module.name) if any(derived.values()) else None
    for name, used in derived.items():
        cls = getattr(loaded, name, None)
        for base in cls.__mro__[1:] if isinstance(cls, type) else ():
            if package_of(base.__module__) != module.package:
                yield from (f"{name}.{each}" for each in used & private_names_of(base))


@cache
def private_names_of(cls: type) -> set[str]:
    """Return the private names in the body of a class, and the ones that a class of ours has on `self`."""
    names = {name for name in vars(cls) if is_private(name)}
    module = modules().get(cls.__module__)
    for node in module.classes() if module is not None else ():
        if node.name == cls.__name__:
            names |= made_in(node)
    return names


def findings() -> dict[str, set[str]]:
    made: dict[Path, set[str]] = defaultdict(set)
    for module in modules().values():
        made[module.package] |= made_in(module.tree)
    found = {}
    for name, module in modules().items():
        names = {*taken_by(module, made[module.package]), *inherited_by(module)} - DOCUMENTED
        if names:
            found[name] = names
    return found


def test_no_package_uses_a_private_name_of_another():
    found = findings()
    assert {
        name: each - NEEDED.get(name, set()) for name, each in found.items() if each - NEEDED.get(name, set())
    } == {}
    assert {
        name: each - found.get(name, set()) for name, each in NEEDED.items() if each - found.get(name, set())
    } == {}, "mended: take it from the list"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from clientgo.tools.cache.store import _x", {"clientgo.tools.cache.store._x"}),
        ("from clientgo.tools._cache import x", {"clientgo.tools._cache"}),
        ("from urllib3 import _collections", {"urllib3._collections"}),
        ("import urllib3._version", {"urllib3._version"}),
        ("import _thread, threading", {"_thread"}),
        ("import urllib3; urllib3._x", {"_x"}),
        ("def f(response): return response._fp.fp", {"_fp"}),
        ("class A:\n  def f(self): return self._of_another_package", {"_of_another_package"}),
        ("class A:\n  def __init__(self): self._own = 1\n  def f(self, other): return other._own", set()),
        ("from clientgo.transport.config import _sibling", set()),
        ("from clientgo.tools.cache.beyond.backlog import _x", {"clientgo.tools.cache.beyond.backlog._x"}),
        ("import sys; sys._getframe()", set()),
        ("a.__class__, a.b, a._", set()),
    ],
)
def test_what_counts_as_taking_a_private_name(source, names):
    module = Module(ROOT / "transport" / "made_up.py", "clientgo.transport.made_up", parse(source))
    assert set(taken_by(module, made_in(module.tree))) == names


def test_a_package_shares_its_private_names_with_its_folder_beyond():
    cache = ROOT / "tools" / "cache"
    go_file = Module(cache / "store.py", "clientgo.tools.cache.store", parse("from .beyond.backlog import _x"))
    feature = Module(cache / "beyond" / "backlog.py", "clientgo.tools.cache.beyond.backlog", parse(""))
    taking = parse("from clientgo.tools.cache.store import _x")

    assert go_file.package == feature.package == cache
    assert set(taken_by(Module(feature.path, feature.name, taking), set())) == set()
    assert package_of("clientgo.tools.cache.beyond") == package_of("clientgo.tools.cache.beyond.backlog") == cache


def test_overriding_or_reading_an_inherited_private_name_is_taking_it_too(monkeypatch):
    source = """
import http.client
class Connection(http.client.HTTPConnection):
    def _tunnel(self): ...
    def _own(self): return self._output(b"")
    def request(self): return self._own
"""
    made_up = ModuleType("clientgo.transport.made_up")
    exec(source, made_up.__dict__)
    monkeypatch.setitem(sys.modules, made_up.__name__, made_up)
    module = Module(ROOT / "transport" / "made_up.py", made_up.__name__, parse(source))
    assert set(inherited_by(module)) == {"Connection._tunnel", "Connection._output"}
