"""The fields of an object that a field manager owns. Mirrors k8s.io/apimachinery/pkg/util/managedfields/extract.go.

Differences from Go: no schema is necessary, since the paths of managed fields tell structs, associative lists and sets
apart; this also works for custom resources. An owned empty object stays in the result; Go makes it null, which the next
apply would remove.
"""

from __future__ import annotations

import json
from typing import Any

from clientgo.apimachinery.util.managedfields.fieldpath import FieldSet, parse_set

__all__ = ["extract_into", "extracted"]

# A tree of path elements; an empty one is owned as a whole.
_Tree = dict[str, Any]


def extract_into(document: dict[str, Any], field_manager: str, subresource: str = "") -> dict[str, Any] | None:
    """Return the part of an object's document that the manager owns by Apply, or None if it owns no fields.

    Returns copies. Raises ValueError for unreadable managed fields. Go: managedfields.ExtractInto.
    """
    for entry in (document.get("metadata") or {}).get("managedFields") or ():
        if (
            entry.get("manager") == field_manager
            and entry.get("operation") == "Apply"
            and entry.get("subresource", "") == subresource
        ):
            found = extracted(document, parse_set(entry.get("fieldsV1") or {}))
            return found if isinstance(found, dict) else {}
    return None


def extracted(value: Any, paths: FieldSet) -> Any:
    """Return a copy of the parts of a value on the paths, or None if there are none. Go: TypedValue.ExtractItems.

    Only the leaves of the set count: a path with longer ones below it selects nothing else.
    """
    tree: _Tree = {}
    for path in paths:
        at = tree
        for element in path:
            at = at.setdefault(element, {})
    return _extracted(value, tree) if tree else None


def _extracted(value: Any, tree: _Tree) -> Any:
    if not tree:
        # The embedded server starts without this package, which takes long to import.
        from clientgo.apimachinery.runtime.view import copy_json

        return copy_json(value)
    if isinstance(value, dict):
        fields = {name: _extracted(item, tree[f"f:{name}"]) for name, item in value.items() if f"f:{name}" in tree}
        return {name: item for name, item in fields.items() if item is not None} or None
    if isinstance(value, list):
        items = [
            _extracted(item, below)
            for index, item in enumerate(value)
            if (below := _of_item(index, value, tree)) is not None
        ]
        return [item for item in items if item is not None] or None
    return None


def _of_item(index: int, items: list[Any], tree: _Tree) -> _Tree | None:
    """Return the tree below a list's item, or None if the manager does not own the item."""
    item = items[index]
    for element, below in tree.items():
        kind, _, text = element.partition(":")
        if kind == "k" and isinstance(item, dict):
            keys = json.loads(text)
            if _has_keys(item, keys):
                return _tree(below)
            # A server writes the default value of a key, but other sources may omit it.
            if _may_have_keys(item, keys) and not any(_has_keys(other, keys) for other in items):
                return _tree(below)
        elif (kind == "v" and _is_same(item, json.loads(text))) or (kind == "i" and index == int(text)):
            return _tree(below)
    return None


def _tree(below: Any) -> _Tree:
    tree: _Tree = below
    return tree


def _has_keys(item: Any, keys: dict[str, Any]) -> bool:
    return isinstance(item, dict) and all(name in item and _is_same(item[name], keys[name]) for name in keys)


def _may_have_keys(item: dict[str, Any], keys: dict[str, Any]) -> bool:
    present = [name for name in keys if name in item]
    return bool(present) and all(_is_same(item[name], keys[name]) for name in present)


def _is_same(a: Any, b: Any) -> bool:
    """Report whether two JSON values are equal; true is not 1."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)
