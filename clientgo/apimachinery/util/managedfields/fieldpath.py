"""Paths of fields and sets of them, as metadata.managedFields keeps them. Mirrors structured-merge-diff's fieldpath.

A field set is a Python set of paths, a path a tuple of the path elements of FieldsV1: "f:name", 'k:{"name":"x"}',
'v:"x"'.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any, NoReturn, TypeAlias

from clientgo.apimachinery.util.json import marshal
from clientgo.golang import utf8
from clientgo.golang.fmt import go_value
from clientgo.golang.strconv import parse_int, quote
from clientgo.utils.shortcache import short_cache

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = set[Path]

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
# Texts that Go may write differently: HTML characters and floats. Most texts have none, and this check is enough.
_UNUSUAL = re.compile("[<>&\u2028\u2029.]|e[-+]")


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"not a number: {text}")


def _finite(text: str) -> float:
    number = float(text)
    # Infinity would be written as a name that no reader takes for a number.
    return number if math.isfinite(number) else _no_number(text)


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def compact(value: Any) -> str:
    """Return the JSON of a value inside a path element, as a server writes it."""
    text = _compact(value)
    return marshal(value) if _UNUSUAL.search(text) else text


class NoPathError(ValueError):
    """Raised for a map or a list in a set, which no path can address."""


def set_element(item: Any) -> str:
    """Return the path element of an item of a set. Raises NoPathError."""
    if isinstance(item, (dict, list)):
        raise NoPathError("associative list without keys has an element that's a map type")
    return f"v:{compact(item)}"


def parse_set(trie: Any) -> FieldSet:
    """Parse FieldsV1 into a set of paths; skips unknown path elements. Raises ValueError for invalid ones.

    Go: fieldpath.Set.FromJSON.
    """
    out: FieldSet = set()
    _parse_into(trie, (), out)
    return out


def _parse_into(trie: Any, path: Path, out: FieldSet) -> bool:
    """Add the paths below `path`. Returns False if there are none, so that the path itself is a member."""
    if trie is None:
        return False
    if not isinstance(trie, dict):
        raise ValueError("not an object")
    has_children = False
    for name, inner in trie.items():
        if name == ".":
            if path:
                out.add(path)
            continue
        element = parse_element(name)
        if element is None:
            continue
        has_children = True
        below = (*path, element)
        if not _parse_into(inner, below, out):
            out.add(below)
    return has_children


@short_cache(maxsize=4096)
def parse_element(text: str) -> str | None:
    """Return the canonical form of a path element, or None for an unknown type. Raises ValueError.

    Go: fieldpath.DeserializePathElement.
    """
    if len(utf8.encode(text)) < 2:
        raise ValueError("key must be 2 characters long:")
    kind, rest = text[0], text[2:]
    if text[1] != ":":
        raise ValueError(f"missing colon: {text}")
    if kind == "f":
        return text
    if kind == "i":
        return f"i:{parse_int(rest)}"
    if kind not in ("k", "v"):
        return None
    try:
        value = _DECODER.decode(rest)
    except RecursionError:
        raise ValueError("exceeded max depth") from None
    if kind == "k" and value is None:
        value = {}
    if kind == "k" and not isinstance(value, dict):
        raise ValueError(f"not an object: {rest}")
    return f"{kind}:{compact(value)}"


def format_set(paths: FieldSet) -> dict[str, Any]:
    """Return a set of paths as FieldsV1: a member with children has the key ".".

    Equal sets return the same dict, which callers must not change: similar objects share it, which saves most of their
    memory.
    """
    return _format(frozenset(paths))


# A longer set belongs to one large object.
@short_cache(maxsize=1024, longest=1024)
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
    """Return a path as fieldpath.Path prints it: .spec.containers[name="x"].image"""
    out = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            out += f".{rest}"
        elif kind == "k":
            pairs = ",".join(f"{name}={_value_text(value)}" for name, value in json.loads(rest).items())
            out += f"[{pairs}]"
        elif kind == "v":
            out += f"[={_value_text(json.loads(rest))}]"
        else:
            out += f"[{rest}]"
    return out


def _value_text(value: Any) -> str:
    """Go: value.ToString."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return "".join(f"{name}={_value_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return f"[{','.join(map(_value_text, value))}]"
    return "null" if value is None else go_value(value)
