"""The exception classes and the log lines of errors and warnings that a user of the library can see, from its source.

    python hack/site/messages.py        print both, and the number of `raise` statements of each class

The page errors.md explains them, and operations.md the log lines of a running controller. test_messages.py compares.
Generated code raises nothing of its own. The commands, the tour and the embedded API server report to the user of a
terminal, and util.testing to its test, in sentences that need no page.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["PAGES", "SHOWN_BY_OTHERS", "Place", "exception_classes", "explained", "log_lines", "raised", "unexplained"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "hack" / "site" / "pages"
_LEFT_OUT = ("api", "apiextensions", "applyconfigurations", "informers", "kubernetes", "listers")
_LEFT_OUT += ("cli", "codegen", "scaffold", "tour", "testing/apiserver", "util/testing")
_BUILT_IN = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}
# Functions and methods of klog, logr and logging that log an error or a warning.
_LOGS = re.compile(r"(error|warning|warn|fatal)(f|_s|_depth|_s_depth)?|exception|handle_error(_with_(context|logger))?")
# Objects with methods of these names that are no loggers: parsers of arguments, errors in Go's manner.
_NO_LOGGERS = {"parser", "http", "server", "argparse"}

_KINDS = (ast.ClassDef, ast.Call, ast.Raise)
_ENOUGH = len("bad request")
# Texts that look like a log line and are none, or that a page need not explain, with the reason.
SHOWN_BY_OTHERS = {
    "404 page not found": "the answer of an HTTP server to a client, not a line of the log",
}


class Place(NamedTuple):
    """A file of the repository and a line."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@functools.cache
def modules(root: Path = ROOT) -> tuple[tuple[str, tuple[ast.AST, ...]], ...]:
    """Return the path and all nodes of each module whose messages a user can see."""
    return tuple(_modules(root))


def _modules(root: Path) -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    for path in sorted(root.joinpath("clientgo").rglob("*.py")):
        inside = path.relative_to(root / "clientgo").as_posix()
        if not any(inside.startswith(f"{folder}/") for folder in _LEFT_OUT):
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            yield f"clientgo/{inside}", tuple(node for node in nodes if isinstance(node, _KINDS))


def exception_classes(root: Path = ROOT) -> dict[str, Place]:
    """Return the public exception classes and where each is defined."""
    bases: dict[str, set[str]] = {}
    places: dict[str, Place] = {}
    for path, nodes in modules(root):
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                names = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
                bases.setdefault(node.name, set()).update(names)
                places.setdefault(node.name, Place(path, node.lineno))
    found = set(_BUILT_IN)
    while new := {name for name, above in bases.items() if name not in found and above & found}:
        found |= new
    return {name: place for name, place in places.items() if name in found and not name.startswith("_")}


def log_lines(root: Path = ROOT) -> dict[str, Place]:
    """Return the texts that are logged as errors or warnings, and where. An f-string's text is its longest part."""
    found: dict[str, Place] = {}
    for path, nodes in modules(root):
        for node in nodes:
            if isinstance(node, ast.Call) and (text := _logged(node)):
                found.setdefault(text, Place(path, node.lineno))
    return found


def _logged(call: ast.Call) -> str:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    texts = [text for argument in call.args if (text := _literal(argument))]
    if not texts:
        return ""
    if name.startswith("info") and texts[0].startswith("Warning: "):
        return texts[0]
    if not _LOGS.fullmatch(name):
        return ""
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    return "" if owner.rpartition(".")[2] in _NO_LOGGERS else texts[0]


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return max((part.strip(" :") for part in parts), key=len, default="")
    return ""


def raised(root: Path = ROOT) -> Counter[str]:
    """Return the number of `raise` statements of each class."""
    found: Counter[str] = Counter()
    for _, nodes in modules(root):
        for node in nodes:
            if isinstance(node, ast.Raise) and node.exc is not None:
                error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                found[ast.unparse(error).rpartition(".")[2]] += 1
    return found


def explained(*pages: str) -> set[str]:
    """Return the texts in backticks in the first cells of the pages' tables."""
    cells = [cell for page in pages for cell in re.findall(r"(?m)^\| (.*?) \|", page)]
    return {text for cell in cells for text in re.findall(r"`([^`]+)`", cell)}


def unexplained(root: Path = ROOT, pages: Path = PAGES) -> list[str]:
    """Return the classes and log lines that neither a page nor SHOWN_BY_OTHERS has, with their places."""
    texts = explained(*(pages.joinpath(name).read_text(encoding="utf-8") for name in ("errors.md", "operations.md")))
    known = texts | SHOWN_BY_OTHERS.keys()
    named = {text.partition(":")[0] for text in known}
    classes = [f"{name} ({place})" for name, place in exception_classes(root).items() if name not in named]
    # A page has at least the first words of a line.
    starts = tuple(text for text in known if len(text) >= _ENOUGH)
    lines = [f"{text} ({place})" for text, place in log_lines(root).items() if not text.startswith(starts)]
    return sorted(classes) + sorted(lines)


def main() -> None:
    """Print everything, for a person who edits the page."""
    counts = raised()
    for name, place in sorted(exception_classes().items()):
        print(f"{counts[name]:4}  {name}  {place}")
    print()
    for text, place in sorted(log_lines().items()):
        print(f"{text}  {place}")
    print()
    print(", ".join(f"{name} {count}" for name, count in counts.most_common() if name in _BUILT_IN))


if __name__ == "__main__":
    main()
