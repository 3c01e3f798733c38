"""Paths of fields and sets of them, as metadata.managedFields keeps them. Mirrors structured-merge-diff's fieldpath.

A field set is a Python set of paths, a path a tuple of the path elements of FieldsV1: "f:name", 'k:{"name":"x"}',
'v:"x"'.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = set[Path]

compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


class NoPathError(ValueError):
    """An item of a set is a map or a list, which no path can name."""


def set_element(item: Any) -> str:
    """The path element of an item of a set. Raises NoPathError."""
    if isinstance(item, (dict, list)):
        raise NoPathError("associative list without keys has an element that's a map type")
    return f"v:{compact(item)}"


def parse_set(trie: Any) -> FieldSet:
    """FieldsV1 to a set of paths."""
    out: FieldSet = set()
    if isinstance(trie, dict):
        _parse_into(trie, (), out)
    return out


def _parse_into(trie: dict[str, Any], path: Path, out: FieldSet) -> None:
    for name, inner in trie.items():
        if name == ".":
            out.add(path)
            continue
        below = (*path, name)
        if not inner:
            out.add(below)
        elif isinstance(inner, dict):
            _parse_into(inner, below, out)


def format_set(paths: FieldSet) -> dict[str, Any]:
    """A set of paths as FieldsV1: a member with children shows itself as ".".

    Equal sets give the same dict, which nobody may change: objects made alike share it, and it is most of their size.
    """
    return _format(frozenset(paths))


@lru_cache(maxsize=1024)
def _format(paths: frozenset[Path]) -> dict[str, Any]:
    trie: dict[str, Any] = {}
    intern = sys.intern
    for path in sorted(paths):
        node = trie
        for name in path:
            node = node.setdefault(intern(name), {})
    for path in paths:
        node = trie
        for name in path:
            node = node[name]
        if any(name != "." for name in node):
            node["."] = {}
    return _sorted_trie(trie)


def _sorted_trie(trie: dict[str, Any]) -> dict[str, Any]:
    return {name: _sorted_trie(trie[name]) for name in sorted(trie)}


def path_text(path: Path) -> str:
    """A path as fieldpath.Path prints it: .spec.containers[name="x"].image"""
    out = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            out += f".{rest}"
        elif kind == "k":
            pairs = ",".join(f"{name}={compact(value)}" for name, value in json.loads(rest).items())
            out += f"[{pairs}]"
        else:
            out += f"[={rest}]"
    return out
