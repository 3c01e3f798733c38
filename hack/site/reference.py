"""The API reference: a Markdown page for each module, from its source.

The names are those of public_api.py, so the reference and hack/api-changes agree about what is public. Sphinx's autodoc
would import the two thousand modules and read their docstrings as reStructuredText; they are Markdown.

Generated packages, which have a module for each kind, get a page for each folder.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from public_api import definitions, is_public, members, module_of

__all__ = ["index", "page_of", "pages", "public_modules"]

_BY_FOLDER = re.compile(r"clientgo/(api|apiextensions|applyconfigurations|informers|kubernetes/typed|listers)/")
_FOLDER = "reference"


def public_modules(root: Path) -> list[str]:
    """Return the paths of the library's public modules, sorted."""
    paths = (path.relative_to(root).as_posix() for path in root.joinpath("clientgo").rglob("*.py"))
    return sorted(path for path in paths if is_public(path))


def page_of(path: str) -> str:
    """Return the path of the page, without a suffix, that describes a module."""
    folder = posixpath.dirname(path) if _BY_FOLDER.match(path) else ""
    return f"{_FOLDER}/{folder.replace('/', '.') or module_of(path)}"


def pages(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the path of each page, without a suffix, and its Markdown."""
    of_page: Mapping[str, list[str]] = defaultdict(list)
    for path in paths:
        of_page[page_of(path)].append(path)
    for page, modules in of_page.items():
        # A folder's own module comes first.
        ordered = sorted(modules, key=lambda path: (not path.endswith("__init__.py"), path))
        sections = [_Module(root, path).render() for path in ordered]
        yield page, "---\norphan: true\n---\n\n" + "\n".join(sections)


def index(paths: Iterable[str]) -> str:
    """Return the page that lists the modules by package."""
    packages: Mapping[str, dict[str, str]] = defaultdict(dict)
    for path in paths:
        page = page_of(path)
        name = page.removeprefix(f"{_FOLDER}/")
        package = ".".join(name.split(".")[:2])
        packages[package][name] = f"[`{name}`]({posixpath.basename(page)}.md)"
    lines = [
        "# API reference",
        "",
        "Every public name of the library, from its docstrings. `help()` in a Python shell shows the same texts.",
        "CONTRIBUTING states which names are public. The search of this site finds names too.",
        "",
    ]
    for package, links in sorted(packages.items()):
        lines += [f"## {package}", "", *(f"* {links[name]}" for name in sorted(links)), ""]
    return "\n".join(lines)


class _Module:
    """The part of a page that describes one module."""

    def __init__(self, root: Path, path: str) -> None:
        self._path = path
        self._name = module_of(path)
        self._tree = ast.parse(root.joinpath(path).read_text(encoding="utf-8"))
        # Number of entries of each name. A submodule's own page has the anchor of its name, also if a function with the
        # name of the submodule hides it.
        self._seen: Counter[str] = Counter()
        if path.endswith("__init__.py"):
            folder = root.joinpath(path).parent
            self._seen.update(each.stem for each in folder.iterdir() if _is_module(root, each))

    def render(self) -> str:
        lines = [f"# {self._name}", "", f"```{{py:module}} {self._name}", "```", ""]
        lines += [markdown(ast.get_docstring(self._tree) or ""), ""]
        imported = []
        for name, node in definitions(self._path, self._tree):
            if isinstance(node, ast.ImportFrom):
                imported.append(self._entry("py:data", name, "", f"From `{self._source_of(node)}`.", ":::"))
            else:
                lines += self._described(name, node)
        return "\n".join([*lines, *(line for lines_of_one in imported for line in lines_of_one)])

    def _source_of(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self._name.split(".")
        if self._path.endswith("__init__.py"):
            parts.append("")
        return ".".join([*parts[: -node.level], *([node.module] if node.module else [])])

    def _described(self, name: str, node: ast.AST) -> list[str]:
        if isinstance(node, ast.ClassDef):
            return self._class(name, node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return self._entry("py:function", name, _signature(node), ast.get_docstring(node) or "", ":::")
        return self._entry("py:data", name, "", _text_below(self._tree.body, node), ":::", _annotation(node))

    def _class(self, name: str, node: ast.ClassDef) -> list[str]:
        bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
        text = f"Bases: `{bases[1:-1]}`\n\n" if bases else ""
        inner = [line for member, each in members(node) for line in self._member(name, member, each, node)]
        entry = self._entry("py:class", name, "", text + (ast.get_docstring(node) or ""), "::::")
        return [*entry[:-2], *inner, *entry[-2:]]

    def _member(self, owner: str, name: str, node: ast.AST, cls: ast.ClassDef) -> list[str]:
        full = f"{owner}.{name}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            if any("property" in ast.unparse(each) for each in node.decorator_list):
                return self._entry("py:property", full, "", text, ":::")
            return self._entry("py:method", full, _signature(node, is_method=True), text, ":::")
        return self._entry("py:attribute", full, "", _text_below(cls.body, node), ":::", _annotation(node))

    def _entry(
        self, directive: str, name: str, signature: str, text: str, fence: str, annotation: str = ""
    ) -> list[str]:
        self._seen[name] += 1
        options = [f":module: {self._name}"]
        # An overload, or the setter of a property: the first entry has the anchor.
        options += [":no-index:"] if self._seen[name] > 1 else []
        options += [f":type: {annotation}"] if annotation else []
        return [f"{fence}{{{directive}}} {name}{signature}", *options, "", markdown(text), fence, ""]


def _is_module(root: Path, path: Path) -> bool:
    file = path if path.is_file() else path / "__init__.py"
    return file.is_file() and is_public(file.relative_to(root).as_posix())


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool = False) -> str:
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = re.sub(r"^(self|cls)(, /)?(, |$)", "", arguments)
    return f"({arguments})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def _annotation(node: ast.AST) -> str:
    return ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""


def _text_below(body: list[ast.stmt], node: ast.AST) -> str:
    """Return the string below an assignment, which documents it."""
    for statement, below in pairwise(body):
        if statement is node and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            return str(below.value.value) if isinstance(below.value.value, str) else ""
    return ""


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown: examples of a shell become code, and no line becomes a heading or a directive."""
    lines: list[str] = []
    fence = ""
    for line in docstring.splitlines():
        if fence == ">>>" and not line.strip():
            lines.append("```")
            fence = ""
        elif not fence and line.lstrip().startswith(">>>"):
            lines += ["", "```pycon"]
            fence = ">>>"
        elif fence != ">>>" and line.lstrip().startswith("```"):
            fence = "" if fence else "```"
        if not fence:
            line = re.sub(r"^(#|:{3,}|-{3,}|={3,})", r"\\\1", line)
        lines.append(line)
    if fence == ">>>":
        lines.append("```")
    return "\n".join(lines)
