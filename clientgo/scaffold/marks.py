"""The marks in a user's files, at which a command inserts lines: `# +kubebuilder:scaffold:imports` and the like.

Inserted lines keep the order that linters want. Existing lines are not inserted again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from clientgo.codegen import naming
from clientgo.scaffold.names import Refused

_FROM = re.compile(r"from (\S+) import (.*)")


def mark(name: str) -> str:
    """Return the comment line that marks a place for scaffolded code."""
    return f"# +kubebuilder:scaffold:{name}"


def insert(text: str, name: str, lines: Sequence[str], file: str) -> str:
    """Return the text with the lines inserted above the mark, at its indentation.

    Raises Refused unless the mark occurs exactly once.
    """
    existing, end = text.splitlines(keepends=True), _end_of(text)
    if _contains([line.strip() for line in existing], [line.strip() for line in lines if line.strip()]):
        return text
    position = _find(existing, name, lines, file)
    indent = existing[position][: -len(existing[position].lstrip())]
    existing[position:position] = [f"{indent}{line}".rstrip() + end for line in lines]
    return "".join(existing)


def add_import(text: str, line: str, package: str, file: str) -> str:
    """Return the text with an import added above the mark `imports`, in the sorted place of its section.

    Imports of the project's own `package` form the last section.
    """
    existing, end = text.splitlines(keepends=True), _end_of(text)
    new = naming.wrap_imports(line).splitlines()
    if new[0] in (each.strip() for each in existing):
        return text
    position = _find(existing, "imports", new, file)
    section = _section(line, package)
    last = None
    for index, each in enumerate(existing[:position]):
        if _section(each, package) == section:
            if import_order(each) > import_order(line):
                position = index
                break
            last = index
    else:
        # Behind the last of its section: an import may go over several lines.
        if last is not None:
            rest = range(last + 1, position + 1)
            position = next(index for index in rest if not existing[index].startswith((" ", ")")))
    existing[position:position] = [each + end for each in new]
    return "".join(existing)


def export(text: str, names: Sequence[str], file: str) -> str:
    """Return the text with the names added to the list above the mark `exports`, one per line, in sorted order."""
    existing, end = text.splitlines(keepends=True), _end_of(text)
    for name in names:
        line = f'"{name}",'
        position = _find(existing, "exports", [line], file)
        indent = existing[position][: -len(existing[position].lstrip())]
        begin = position
        while begin and existing[begin - 1].strip().startswith('"'):
            begin -= 1
        there = [each.strip().strip('",') for each in existing[begin:position]]
        if name in there:
            continue
        place = next((begin + index for index, each in enumerate(there) if _rank(each) > _rank(name)), position)
        existing.insert(place, f"{indent}{line}{end}")
    return "".join(existing)


def _find(lines: Sequence[str], name: str, new: Sequence[str], file: str) -> int:
    found = [index for index, line in enumerate(lines) if line.strip() == mark(name)]
    if len(found) == 1:
        return found[0]
    shown = "\n".join(f"    {line}" for line in new)
    if found:
        raise Refused(f"{file} has the line `{mark(name)}` {len(found)} times; leave one, where this belongs:\n{shown}")
    raise Refused(f"{file} has no line `{mark(name)}`; put it back, where this belongs:\n{shown}")


def _contains(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    dense = [line for line in lines if line]
    return any(dense[at : at + len(wanted)] == list(wanted) for at in range(len(dense) - len(wanted) + 1))


def _end_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _section(line: str, package: str) -> int | None:
    """Return the section of an import: __future__, the standard library, third parties, the project; None if not one.
    """
    match = _FROM.match(line)
    if match is None:
        return None
    top = match[1].partition(".")[0]
    if top == "__future__":
        return 0
    return 3 if top == package else 1 if top in sys.stdlib_module_names else 2


def import_order(line: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts the imports of a section like isort: numbers by value, v2 before v10."""
    parts = re.split(r"(\d+)", line)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _rank(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Return a key that sorts the names of an `__all__` like isort: constants, classes, functions.

    A single letter is no constant.
    """
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, import_order(name)
