"""Field ownership and server-side apply: field sets, comparison, merge, conflicts, managedFields entries.

Mirrors what structured-merge-diff and apimachinery's managedfields do together. A field set is a Python set of paths,
a path a tuple of the path elements of FieldsV1: "f:name", 'k:{"name":"x"}', 'v:"x"'. Pure functions on raw objects.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import Any

from clientgo.testing.apiserver import errors
from clientgo.testing.apiserver.jsonio import copy
from clientgo.testing.apiserver.typed import DEDUCED, Node

Json = dict[str, Any]
Path = tuple[str, ...]
FieldSet = set[Path]

MAX_UPDATE_MANAGERS = 10
_ANCIENT = "ancient-changes"
_META = ("f:metadata",)
# What the server owns itself and no manager is shown to own.
_STRIPPED = {
    ("f:apiVersion",),
    ("f:kind",),
    _META,
    *(
        (*_META, f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    ),
}

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


# ---- field sets


def parse_set(trie: Any) -> FieldSet:
    """FieldsV1 to a set of paths."""
    out: FieldSet = set()
    if isinstance(trie, dict):
        _parse_into(trie, (), out)
    return out


def _parse_into(trie: Json, path: Path, out: FieldSet) -> None:
    for name, inner in trie.items():
        if name == ".":
            out.add(path)
            continue
        below = (*path, name)
        if not inner:
            out.add(below)
        elif isinstance(inner, dict):
            _parse_into(inner, below, out)


def format_set(paths: FieldSet) -> Json:
    """A set of paths as FieldsV1: a member with children shows itself as ".".

    Equal sets give the same dict, which nobody may change: objects made alike share it, and it is most of their size.
    """
    return _format(frozenset(paths))


@lru_cache(maxsize=1024)
def _format(paths: frozenset[Path]) -> Json:
    trie: Json = {}
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


def _sorted_trie(trie: Json) -> Json:
    return {name: _sorted_trie(trie[name]) for name in sorted(trie)}


def item_element(node: Node, item: Any) -> str:
    """The path element of an item of an associative list."""
    values = item if isinstance(item, dict) else {}
    keys = {key: values.get(key, node.defaults.get(key)) for key in node.keys}
    return f"k:{_compact({key: value for key, value in keys.items() if value is not None})}"


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
        out.update((*path, f"v:{_compact(item)}") for item in value)
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
    return out.without(_STRIPPED)


def _compare(node: Node, old: Any, new: Any, path: Path, out: Comparison) -> None:
    if old is new:
        return
    kind = _kind(node, new if new is not None else old)
    if kind != _kind(node, old if old is not None else new):
        kind = "leaf"
    if kind == "leaf":
        if old != new:
            target = out.added if old is None else out.removed if new is None else out.modified
            target.add(path)
        return
    if kind == "map":
        _compare_maps(node, old or {}, new or {}, path, out)
    elif kind == "assoc":
        _compare_items(node, old or [], new or [], path, out)
    else:
        before = {_compact(item) for item in old or ()}
        after = {_compact(item) for item in new or ()}
        out.added.update((*path, f"v:{item}") for item in after - before)
        out.removed.update((*path, f"v:{item}") for item in before - after)


def _compare_maps(node: Node, old: Json, new: Json, path: Path, out: Comparison) -> None:
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
        out: Json = {}
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
        kept_items = [item for item in value if (*path, f"v:{_compact(item)}") not in gone]
        return kept_items if kept_items or not value else _GONE
    return value


# ---- managers


class Managers:
    """The managedFields of one object, decoded: entries by (manager, operation, apiVersion, subresource)."""

    Key = tuple[str, str, str, str]

    def __init__(self, entries: Any) -> None:
        self.sets: dict[Managers.Key, FieldSet] = {}
        self.times: dict[Managers.Key, str] = {}
        for entry in entries or ():
            if not isinstance(entry, dict) or (not entry.get("manager") and not entry.get("operation")):
                continue
            key = (
                entry.get("manager", ""),
                entry.get("operation", ""),
                entry.get("apiVersion", ""),
                entry.get("subresource", ""),
            )
            self.sets[key] = parse_set(entry.get("fieldsV1"))
            self.times[key] = entry.get("time") or ""

    def __repr__(self) -> str:
        return f"<Managers {[key[0] for key in self.sets]}>"

    def encode(self, now: str, before: Managers | None = None) -> list[Json]:
        """Entries in the order of the real server; an entry whose set is that of `before` keeps its time."""
        keys = [key for key, paths in self.sets.items() if paths]
        for key in keys:
            if before is None or before.sets.get(key) != self.sets[key]:
                self.times[key] = now
            elif key in before.times:
                self.times[key] = before.times[key]
        keys.sort(key=lambda key: (key[1], self.times.get(key, ""), key[0], key[2], key[3]))
        return [self._entry(key) for key in keys]

    def _entry(self, key: Managers.Key) -> Json:
        manager, operation, api_version, subresource = key
        entry: Json = {"manager": manager, "operation": operation, "apiVersion": api_version}
        if self.times.get(key):
            entry["time"] = self.times[key]
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = format_set(self.sets[key])
        if subresource:
            entry["subresource"] = subresource
        return entry

    def clone(self) -> Managers:
        out = Managers(())
        out.sets = {key: set(paths) for key, paths in self.sets.items()}
        out.times = dict(self.times)
        return out

    def cap(self) -> None:
        """Fold the oldest Update managers into one when there are too many."""
        updates = sorted((key for key in self.sets if key[1] == "Update"), key=lambda key: self.times.get(key, ""))
        surplus = len(updates) - MAX_UPDATE_MANAGERS
        if surplus <= 0:
            return
        known = [key for key in updates if key[0] == _ANCIENT]
        old = [key for key in updates if key[0] != _ANCIENT]
        # The first time the common entry itself takes a place.
        for key in old[: surplus if known else surplus + 1]:
            bucket = (_ANCIENT, "Update", key[2], "")
            self.sets[bucket] = self.sets.get(bucket, set()) | self.sets.pop(key)
            self.times[bucket] = self.times.pop(key, "")


def updated(
    node: Node,
    live: Json,
    new: Json,
    entries: Any,
    manager: str,
    api_version: str,
    subresource: str,
    now: str,
    ignored: str = "",
) -> list[Json]:
    """The managedFields after an update by `manager`. `ignored`: a top-level field that this request cannot write."""
    diff = compare(node, live, new)
    if ignored:
        head = f"f:{ignored}"
        for paths in (diff.added, diff.modified, diff.removed):
            paths.difference_update([path for path in paths if path[0] == head])
    before = Managers(entries)
    after = before.clone()
    if diff:
        key = (manager, "Update", api_version, subresource)
        changed = diff.added | diff.modified
        for other in after.sets:
            if other != key:
                after.sets[other] -= changed
            after.sets[other] -= diff.removed
        if changed:
            after.sets[key] = (after.sets.get(key) or set()) | changed
            after.times[key] = now
        after.cap()
    return after.encode(now, before)


def applied(
    node: Node,
    live: Json,
    config: Json,
    entries: Any,
    manager: str,
    api_version: str,
    subresource: str,
    force: bool,
    now: str,
    created: bool,
) -> tuple[Json, list[Json]]:
    """Server-side apply: the merged object and its managedFields. Raises ApiError 409 on conflicts without force."""
    before = Managers(entries)
    if not created and not before.sets:
        everything: FieldSet = set()
        all_paths(node, live, (), everything, containers=True)
        before.sets["before-first-apply", "Update", api_version, ""] = everything - _STRIPPED
    after = before.clone()
    key = (manager, "Apply", api_version, subresource)
    owned: FieldSet = set()
    all_paths(node, config, (), owned, containers=False)
    owned -= _STRIPPED
    if subresource:
        owned = {path for path in owned if path[0] != "f:spec" and path[0] != "f:metadata"}
    previous = after.sets.get(key) or set()
    after.sets[key] = owned

    merged = merge(node, live, config)
    kept: FieldSet = set().union(*after.sets.values())
    gone = {path for path in previous - kept if not _owned_below(path, kept)}
    if gone:
        merged = remove(node, merged, gone)
    diff = compare(node, live, merged)
    changed = diff.added | diff.modified
    conflicts = []
    for other, paths in after.sets.items():
        if other == key:
            continue
        clash = paths & changed
        if clash and not created:
            conflicts.append((other, clash))
    if conflicts and not force:
        raise conflict_error(conflicts)
    for other, clash in conflicts:
        after.sets[other] = after.sets[other] - clash
    for other in after.sets:
        if other != key:
            after.sets[other] -= diff.removed
    return copy(merged), after.encode(now, before)


def _owned_below(path: Path, kept: FieldSet) -> bool:
    size = len(path)
    return any(other[:size] == path for other in kept)


def conflict_error(conflicts: list[tuple[Managers.Key, FieldSet]]) -> errors.ApiError:
    """The 409 of apply, its text grouped by manager as the real server does."""
    causes, texts = [], []
    total = 0
    for key, paths in sorted(conflicts):
        who = f'conflict with "{key[0]}"'
        if key[3]:
            who += f' with subresource "{key[3]}"'
        if key[1] == "Update":
            who += f" using {key[2]}"
        shown = [path_text(path) for path in sorted(paths)]
        total += len(shown)
        causes += [{"reason": "FieldManagerConflict", "message": who, "field": text} for text in shown]
        texts.append(f"{who}: {shown[0]}" if len(shown) == 1 else f"{who}:\n- " + "\n- ".join(shown))
    if len(texts) == 1:
        body = texts[0]
    else:
        body = "conflicts with " + "\nconflicts with ".join(text.removeprefix("conflict with ") for text in texts)
    if total > 1 and len(texts) == 1:
        body = body.replace("conflict with", "conflicts with", 1)
    word = "conflict" if total == 1 else "conflicts"
    return errors.ApiError(409, "Conflict", f"Apply failed with {total} {word}: {body}", {"causes": causes})


def path_text(path: Path) -> str:
    """A path as fieldpath.Path prints it: .spec.containers[name="x"].image"""
    out = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            out += f".{rest}"
        elif kind == "k":
            pairs = ",".join(f"{name}={_compact(value)}" for name, value in json.loads(rest).items())
            out += f"[{pairs}]"
        else:
            out += f"[={rest}]"
    return out
