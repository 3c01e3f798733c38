"""YAML files that are rewritten without the loss of the comments that people added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from clientgo.apimachinery.util import yaml as yaml_util

_Path = tuple[str | int, ...]

# PyYAML counts these as the ends of lines, and no others; `str.splitlines` knows more.
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
# Characters that YAML would not give back from a text that stands there as it is.
_ESCAPED = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")


class _Indented(yaml.SafeDumper):
    """Lists stand further in than their keys, lines stay lines, and nothing refers to something above."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        # kubectl reads texts as Go's library does: y and 1e3 are no texts there, but are for PyYAML.
        is_plain = yaml_util.is_plain(text)
        style = '"' if _ESCAPED.search(text) else "|" if "\n" in text else None if is_plain else "'"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Indented.add_representer(str, _Indented.represent_text)


def dump(document: Any, existing: str = "") -> str:
    """Return the document as YAML with its keys in order, and with the comments of the `existing` text.

    A comment stays above its key or element; if that is gone, it moves above the enclosing one. Raises ValueError when
    `existing` is not a single YAML document.
    """
    text = yaml.dump(document, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=120)
    lines = _lines(text)
    where = {path: line for line, path in reversed(_lines_of(text).items())}
    above: dict[int, list[str]] = {}
    for path, comments in _comments(existing).items():
        while path and path not in where:
            path = path[:-1]
        above.setdefault(where[path] if path else len(lines), []).extend(comments)
    written = []
    for number, line in enumerate([*lines, ""]):
        indent = " " * (len(line) - len(line.lstrip()))
        written += [indent + comment for comment in above.get(number, ())]
        written.append(line)
    return "\n".join(written)


def _lines(text: str) -> list[str]:
    """Return the lines as PyYAML numbers them, without their ends."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _comments(text: str) -> dict[_Path, list[str]]:
    """Return the comments by the path of the key or element below or before them; () holds those at the end."""
    try:
        paths, ends = _lines_of(text), _ends_of_lines(text)
    except yaml.YAMLError as err:
        raise ValueError(f"comments in it cannot be kept, it is not one YAML document: {err}") from err
    except RecursionError:
        raise ValueError("comments in it cannot be kept, it is nested too deeply") from None
    found: dict[_Path, list[str]] = {}
    waiting: list[str] = []
    for number, line in enumerate(_lines(text)):
        rest = line[ends.get(number, 0) :].strip()
        if rest.startswith("#"):
            waiting.append(rest)
        if number in paths and waiting:
            found.setdefault(paths[number], []).extend(waiting)
            waiting = []
    if waiting:
        found[()] = waiting
    return found


def _lines_of(text: str) -> dict[int, _Path]:
    """Return the outermost key or element that begins on each line."""
    found: dict[int, _Path] = {}
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for line, path in _walk(root, (), set()):
        found.setdefault(line, path)
    return found


def _walk(node: yaml.Node | None, path: _Path, seen: set[int]) -> Iterator[tuple[int, _Path]]:
    if id(node) in seen:  # an alias, whose anchor has these lines
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key.start_mark.line, (*path, key.value)
            yield from _walk(value, (*path, key.value), seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            inner = (*path, _name_of(item) or index)
            yield item.start_mark.line, inner
            yield from _walk(item, inner, seen)


def _name_of(item: yaml.Node) -> str:
    """Return a name that lets an element keep its comments when it moves, or "" when it has none."""
    if isinstance(item, yaml.MappingNode):
        for key, value in item.value:
            if key.value == "name" and isinstance(value, yaml.ScalarNode):
                return f"name={value.value}"
    return ""


def _ends_of_lines(text: str) -> dict[int, int]:
    """Return the column at which the YAML of each line ends. Only a comment or nothing follows."""
    ends: dict[int, int] = {}
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        start, end = token.start_mark, token.end_mark
        ends[end.line] = max(ends.get(end.line, 0), end.column)
        for line in range(start.line, end.line):  # A text over several lines: all of them are its own.
            ends[line] = len(text)
    return ends
