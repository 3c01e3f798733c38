"""Documents compared, merged and taken apart by the merge semantics of their type. Pure functions.

Mirrors structured-merge-diff's typed package. Nothing here changes what it is given.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.managedfields.fieldpath import FieldSet, Path, compact, set_element
from clientgo.apimachinery.util.managedfields.schema import DEDUCED, Node


def item_element(node: Node, item: Any) -> str:
    """The path element of an item of an associative list."""
    values = item if isinstance(item, dict) else {}
    keys = {key: values.get(key, node.defaults.get(key)) for key in node.keys}
    return f"k:{compact({key: value for key, value in keys.items() if value is not None})}"


def _kind(node: Node, value: Any) -> str:
    """How to walk `value` under `node`: the node's way when the value has that shape, else as a leaf."""
    kind = node.kind
    if kind in ("struct", "map", "deduced"):
        return "map" if isinstance(value, dict) else "leaf"
    if kind in ("assoc", "set"):
        return kind if isinstance(value, list) else "leaf"
    return "leaf"


def all_paths(node: Node, value: Any, path: Path, out: FieldSet, *, containers: bool) -> None:
    """Add every path of a value. `containers`: maps and lists themselves too, as a comparison with nothing gives."""
    kind = _kind(node, value)
    if kind == "map" and value:
        if containers and path:
            out.add(path)
        for name, item in value.items():
            all_paths(node.child(name), item, (*path, f"f:{name}"), out, containers=containers)
        return
    if kind == "assoc" and value:
        if containers:
            out.add(path)
        elem = node.elem or DEDUCED
        for item in value:
            below = (*path, item_element(node, item))
            out.add(below)
            all_paths(elem, item, below, out, containers=containers)
        return
    if kind == "set" and value:
        if containers:
            out.add(path)
        out.update((*path, set_element(item)) for item in value)
        return
    if path:
        out.add(path)


class Comparison:
    """What differs between two objects."""

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
    if old is new:
        return
    kind = _kind(node, new if new is not None else old)
    if kind != _kind(node, old if old is not None else new):
        kind = "leaf"
    if kind == "leaf":
        if old != new:
            # Both are there: null is a value.
            out.modified.add(path)
        return
    if kind == "map":
        _compare_maps(node, old or {}, new or {}, path, out)
    elif kind == "assoc":
        _compare_items(node, old or [], new or [], path, out)
    else:
        before = {set_element(item) for item in old or ()}
        after = {set_element(item) for item in new or ()}
        out.added.update((*path, item) for item in after - before)
        out.removed.update((*path, item) for item in before - after)


def _compare_maps(node: Node, old: dict[str, Any], new: dict[str, Any], path: Path, out: Comparison) -> None:
    for name, item in new.items():
        below = (*path, f"f:{name}")
        if name in old:
            _compare(node.child(name), old[name], item, below, out)
        elif item is not None:
            all_paths(node.child(name), item, below, out.added, containers=True)
    for name, item in old.items():
        if name not in new and item is not None:
            all_paths(node.child(name), item, (*path, f"f:{name}"), out.removed, containers=True)


def _compare_items(node: Node, old: list[Any], new: list[Any], path: Path, out: Comparison) -> None:
    before = {item_element(node, item): item for item in old}
    after = {item_element(node, item): item for item in new}
    elem = node.elem or DEDUCED
    for name, item in after.items():
        below = (*path, name)
        if name in before:
            _compare(elem, before[name], item, below, out)
        else:
            out.added.add(below)
            all_paths(elem, item, below, out.added, containers=True)
    for name, item in before.items():
        if name not in after:
            out.removed.add((*path, name))
            all_paths(elem, item, (*path, name), out.removed, containers=True)


# ---- merge and removal


def merge(node: Node, live: Any, config: Any) -> Any:
    """The live value with what the configuration says laid over it."""
    kind = _kind(node, config)
    if kind == "map" and isinstance(live, dict):
        out = dict(live)
        for name, item in config.items():
            out[name] = merge(node.child(name), live[name], item) if name in live else item
        return out
    if kind == "assoc" and isinstance(live, list):
        return _merge_items(node, live, config)
    if kind == "set" and isinstance(live, list):
        return live + [item for item in config if item not in live]
    return config


def _merge_items(node: Node, live: list[Any], config: list[Any]) -> list[Any]:
    wanted = {item_element(node, item): item for item in config}
    elem = node.elem or DEDUCED
    out = []
    for item in live:
        name = item_element(node, item)
        out.append(merge(elem, item, wanted.pop(name)) if name in wanted else item)
    return out + list(wanted.values())


_GONE = object()


def remove(node: Node, value: Any, gone: FieldSet, path: Path = ()) -> Any:
    """The value without the paths in `gone`; containers left empty by that go too."""
    kind = _kind(node, value)
    if kind == "map":
        out: dict[str, Any] = {}
        for name, item in value.items():
            below = (*path, f"f:{name}")
            if below in gone:
                continue
            kept = remove(node.child(name), item, gone, below)
            if kept is not _GONE:
                out[name] = kept
        return out if out or not value or not path else _GONE
    if kind == "assoc":
        elem = node.elem or DEDUCED
        items = []
        for item in value:
            below = (*path, item_element(node, item))
            if below in gone:
                continue
            items.append(remove(elem, item, gone, below))
        items = [item for item in items if item is not _GONE]
        return items if items or not value else _GONE
    if kind == "set":
        kept_items = [item for item in value if (*path, f"v:{compact(item)}") not in gone]
        return kept_items if kept_items or not value else _GONE
    return value
