"""Comparison, merge and removal on documents by the merge semantics of their type. Pure functions.

Mirrors structured-merge-diff's typed package. Nothing here changes its arguments. `ABSENT` is a missing value, as
opposed to null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from clientgo.apimachinery.util.managedfields.fieldpath import FieldSet, Path, compact, set_element
from clientgo.apimachinery.util.managedfields.schema import DEDUCED, Node

ABSENT: Any = object()


def item_element(node: Node, item: Any) -> str:
    """Return the path element of an item of an associative list."""
    if node.kind == "set":
        return set_element(item)
    values = item if isinstance(item, dict) else {}
    pairs = []
    for key in sorted(node.keys):
        value = values.get(key, node.defaults.get(key))
        if value is not None:
            pairs.append(f"{_quoted(key)}:{_quoted(value) if isinstance(value, str) else compact(value)}")
    return f"k:{{{','.join(pairs)}}}"


# Encodes a text as `compact` does, without creating an encoder.
_quoted = json.encoder.encode_basestring


def _shape(node: Node, value: Any) -> str:
    """Return the traversal of `value`: by the node's kind if the value has that shape, otherwise as a leaf."""
    kind = node.kind
    if kind in ("struct", "map", "deduced"):
        return "map" if isinstance(value, dict) else "leaf"
    if kind in ("assoc", "set"):
        return "list" if isinstance(value, list) else "leaf"
    return "leaf"


# ---- the paths of one value


def field_set(node: Node, value: Any) -> FieldSet:
    """Return the paths that a configuration owns. Go: TypedValue.ToFieldSet."""
    out: FieldSet = set()
    _collect(node, value, (), out)
    return out


def _collect(node: Node, value: Any, path: Path, out: FieldSet) -> None:
    if isinstance(value, dict):
        if node.kind in ("struct", "map", "deduced"):
            fields = node.fields
            for name, item in value.items():
                below = (*path, f"f:{name}")
                _collect(node.child(name), item, below, out)
                # A named field with content is not a member itself; a key of a map always is.
                if item is None or item == {} or name not in fields:
                    out.add(below)
            return
    elif isinstance(value, list) and node.kind in ("assoc", "set"):
        elem = node.elem or DEDUCED
        for item in value:
            below = (*path, item_element(node, item))
            out.add(below)
            _collect(elem, item, below, out)
        return
    if path and value is not None:
        out.add(path)


def with_named_fields(node: Node, paths: FieldSet) -> FieldSet:
    """Return the set with the named fields on the paths of its members. Go: Set.EnsureNamedFieldsAreMembers."""
    out = set(paths)
    for path in paths:
        at = node
        for i, element in enumerate(path[:-1]):
            if element.startswith("f:"):
                name = element[2:]
                if name in at.fields:
                    out.add(path[: i + 1])
                at = at.child(name)
            else:
                at = at.elem or DEDUCED
    return out


# ---- comparison


class Comparison:
    """The differences between two objects."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added: FieldSet = set()
        self.modified: FieldSet = set()
        self.removed: FieldSet = set()

    def __bool__(self) -> bool:
        return bool(self.added or self.modified or self.removed)

    def without(self, dropped: FieldSet) -> Comparison:
        self.added -= dropped
        self.modified -= dropped
        self.removed -= dropped
        return self

    def __repr__(self) -> str:
        return f"<Comparison +{len(self.added)} ~{len(self.modified)} -{len(self.removed)}>"


def compare(node: Node, old: Any, new: Any) -> Comparison:
    out = Comparison()
    _compare(node, old, new, (), out)
    return out


def _compare(node: Node, old: Any, new: Any, path: Path, out: Comparison) -> None:
    """Add the differences of two existing values; null takes the shape of the other value."""
    if old is new:
        return
    shape = _shape(node, old) if old is not None else _shape(node, new)
    other = _shape(node, new) if new is not None else shape
    # If both are empty and one is null, they differ.
    if shape == "leaf" or other == "leaf" or not (old or new):
        if old != new:
            out.modified.add(path)
        if shape == "map":
            _add_all_paths(node, old, path, out.removed, itself=False)
        elif other == "map":
            _add_all_paths(node, new, path, out.added, itself=False)
    elif shape == "map":
        _compare_maps(node, old or {}, new or {}, path, out)
    else:
        _compare_items(node, old or [], new or [], path, out)


def _compare_maps(node: Node, old: dict[str, Any], new: dict[str, Any], path: Path, out: Comparison) -> None:
    for name, item in new.items():
        below = (*path, f"f:{name}")
        if name in old:
            _compare(node.child(name), old[name], item, below, out)
        else:
            _add_all_paths(node.child(name), item, below, out.added)
    for name, item in old.items():
        if name not in new:
            _add_all_paths(node.child(name), item, (*path, f"f:{name}"), out.removed)


def _compare_items(node: Node, old: list[Any], new: list[Any], path: Path, out: Comparison) -> None:
    before, after = _by_element(node, old), _by_element(node, new)
    elem = node.elem or DEDUCED
    for name, items in after.items():
        below = (*path, name)
        known = before.get(name)
        if known is None:
            _add_all_item_paths(elem, items, below, out.added)
        elif len(items) == len(known) == 1:
            _compare(elem, known[0], items[0], below, out)
        elif items != known:
            # A manager owns all items with a duplicated key together.
            out.modified.add(below)
    for name, items in before.items():
        if name not in after:
            _add_all_item_paths(elem, items, (*path, name), out.removed)


def _by_element(node: Node, items: list[Any]) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for item in items:
        out.setdefault(item_element(node, item), []).append(item)
    return out


def _add_all_item_paths(elem: Node, items: list[Any], path: Path, out: FieldSet) -> None:
    if len(items) == 1:
        _add_all_paths(elem, items[0], path, out)
    else:
        out.add(path)


def _add_all_paths(node: Node, value: Any, path: Path, out: FieldSet, *, itself: bool = True) -> None:
    """Add all paths of a value without a counterpart, including those of maps and lists."""
    if itself:
        out.add(path)
    shape = _shape(node, value)
    if shape == "map":
        for name, item in value.items():
            _add_all_paths(node.child(name), item, (*path, f"f:{name}"), out)
    elif shape == "list":
        elem = node.elem or DEDUCED
        for name, items in _by_element(node, value).items():
            _add_all_item_paths(elem, items, (*path, name), out)


# ---- merge


def merge(node: Node, live: Any, config: Any) -> Any:
    """Return the live value overlaid with the configuration. Go: TypedValue.Merge."""
    if live is ABSENT:
        return config
    shape = _shape(node, live) if live is not None else _shape(node, config)
    if shape == "leaf" or not (live or config):
        return config
    if shape == "map":
        return _merge_maps(node, live or {}, config if isinstance(config, dict) else {})
    return _merge_items(node, live or [], config if isinstance(config, list) else [])


def _merge_maps(node: Node, live: dict[str, Any], config: dict[str, Any]) -> Any:
    out = dict(live)
    for name, item in config.items():
        out[name] = merge(node.child(name), live[name], item) if name in live else item
    return out


def _merge_items(node: Node, live: list[Any], config: list[Any]) -> list[Any]:
    """Return the items of both; common items follow the order of the configuration."""
    elem = node.elem or DEDUCED
    ours = [item_element(node, item) for item in config]
    wanted = dict(zip(ours, config, strict=True))
    theirs = [item_element(node, item) for item in live]
    known: dict[str, Any] = {}
    for name, item in zip(theirs, live, strict=True):
        # Duplicated items are replaced, not merged.
        known[name] = ABSENT if name in known else item
    shared = [name for name in ours if name in known]
    merged: set[str] = set()
    out: list[Any] = []

    def take(name: str) -> None:
        merged.add(name)
        out.append(merge(elem, known.get(name, ABSENT), wanted[name]))
        if shared and shared[0] == name:
            shared.pop(0)

    left = right = 0
    while left < len(theirs) or right < len(ours):
        if left < len(theirs):
            name = theirs[left]
            if right < len(ours):
                if name == ours[right]:
                    take(name)
                    left, right = left + 1, right + 1
                    continue
                if name in wanted and shared and shared[0] != name:
                    # Added later, at its position in the configuration.
                    left += 1
                    continue
            if name not in wanted:
                out.append(live[left])
                left += 1
                continue
            if name in merged:
                left += 1
        if right < len(ours):
            take(ours[right])
            right += 1
    return out


# ---- removal


def remove(node: Node, value: Any, gone: Iterable[Path]) -> Any:
    """Return the value without the paths in `gone`; a container that becomes empty is null.

    Go: TypedValue.RemoveItems.
    """
    paths = set(gone)
    if not paths:
        return value
    heads = {path[:i] for path in paths for i in range(1, len(path))}
    return _remove(node, value, (), paths, heads)


def _remove(node: Node, value: Any, path: Path, gone: FieldSet, heads: FieldSet) -> Any:
    if isinstance(value, dict):
        if not value or _shape(node, value) == "leaf":
            return None
        out: dict[str, Any] = {}
        for name, item in value.items():
            below = (*path, f"f:{name}")
            if below not in gone:
                out[name] = _remove(node.child(name), item, below, gone, heads) if below in heads else item
        return out or None
    if isinstance(value, list):
        if not value or _shape(node, value) == "leaf":
            return None
        elem, items = node.elem or DEDUCED, []
        for item in value:
            below = (*path, item_element(node, item))
            if below not in gone:
                items.append(_remove(elem, item, below, gone, heads) if below in heads else item)
        return items or None
    return value
