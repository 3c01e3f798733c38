"""The part of ARCHITECTURE.md that lists the functions through which one event passes, thread by thread.

A list is what a real event did ([eventwalk.py](../../test/support/eventwalk.py) follows it). The words beside a
function are the first sentence of its docstring, or of the method of that name which the file documents.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = (
    "<!-- Written by hack/update-docs: the functions of a real event, and the first sentences of their docstrings. -->"
)
END = "<!-- End of what hack/update-docs writes. -->"

# What a thread's name begins with, and the heading of its list; a thread that no longer exists has none.
_THREADS = {
    "watch ": "The socket",
    "reflector ": "The reflector",
    "informer-": "The informer",
    "handler ": "The handler",
}


class StaleError(Exception):
    """The text names a function that does not exist."""


@dataclass(frozen=True)
class Step:
    """A function on the way of an event."""

    path: str
    """The file, below clientgo/."""

    name: str
    """The function's name with its class."""

    is_wait: bool = False
    """True for the function in which the thread waits for the event."""

    def line(self, number: int) -> str:
        """Return the step as an item of a list. Raises StaleError if there is no such function."""
        words = _summary(self.path, self.name)
        parts = ["**waits here**"] if self.is_wait else []
        parts += [words] if words else []
        text = f": {'; '.join(parts)}" if parts else ""
        return f"{number}. [`{self.name}`](clientgo/{self.path}){text}"


def render(walks: Mapping[str, Sequence[Step]]) -> str:
    """Return the part between the marks. `walks`: the steps by name of the thread."""
    parts = [BEGIN]
    shown: set[tuple[str, str]] = set()
    for start, heading in _THREADS.items():
        for thread in sorted(name for name in walks if name.startswith(start)):
            shown |= {(step.path, step.name) for step in walks[thread]}
            number = sum(part.startswith("### ") for part in parts) + 1
            lines = [step.line(each) for each, step in enumerate(walks[thread], 1)]
            parts += [f"### {number}. {heading}: the thread `{_shown(thread, start)}`", "\n".join(lines)]
    return "\n\n".join([*parts, f"These are {len(shown)} functions.", END])


def _shown(thread: str, start: str) -> str:
    """Return the thread's name; the name of a reflector or a handler ends with where it was made."""
    return f"{start}…" if start in ("reflector ", "handler ") else thread


def read(text: str) -> dict[str, list[Step]]:
    """Return the steps that the document lists, by thread. Raises StaleError without the marks."""
    if BEGIN not in text or END not in text:
        raise StaleError("the marks of hack/update-docs are missing")
    found = {}
    for part in text[text.index(BEGIN) : text.index(END)].split("\n### ")[1:]:
        thread = re.search(r"`(.+?)`", part.splitlines()[0])
        assert thread, part.splitlines()[0]
        steps = re.findall(r"^\d+\. \[`([\w.]+)`\]\(clientgo/([\w/.]+)\)(: \*\*waits here\*\*)?", part, re.MULTILINE)
        found[thread[1]] = [Step(path, name, bool(waits)) for name, path, waits in steps]
    return found


def replaced(text: str, part: str) -> str:
    """Return the document with another part between the marks."""
    return text[: text.index(BEGIN)] + part + text[text.index(END) + len(END) :]


def asides(text: str) -> list[str]:
    """Return the files and folders that the walk leaves out, as the paragraphs above the marks list them."""
    listed = text[text.index("## One event's way") : text.index(BEGIN)]
    return re.findall(r"^\* \[`[\w/.]+`\]\(clientgo/([\w/.]+)\)", listed, re.MULTILINE)


@cache
def _functions(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / "clientgo" / path).read_text(encoding="utf-8"))
    return dict(_below(tree, ""))


def _below(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield owner + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _below(child, f"{owner}{child.name}.")
        elif isinstance(child, ast.stmt):
            yield from _below(child, owner)


def _summary(path: str, name: str) -> str:
    """Return the first sentence of the docstring without its full stop; "" for none."""
    try:
        functions = _functions(path)
    except OSError:
        functions = {}
    if name not in functions:
        raise StaleError(f"clientgo/{path} has no function {name}")
    method = name.rpartition(".")[2]
    same = [functions[each] for each in functions if "." in name and each.endswith(f".{method}")]
    texts = (_first_sentence(each) for each in (functions[name], *same) if method != "__init__" or each not in same)
    return next(filter(None, texts), "")


def _first_sentence(function: ast.FunctionDef) -> str:
    first = (ast.get_docstring(function) or "").partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=[.;])\s", first)[0].rstrip(".;")
    return "" if sentence.startswith(("Go:", "See ")) else sentence
