"""The patch kinds: JSON patch, JSON merge patch and strategic merge patch, on raw objects.

Pure functions; the original is never changed. Strategic merge takes its facts (merge keys, strategies) from the type
facts of the built-in APIs. Errors are PatchError (the patch does not fit: 422 or 400 as the caller decides).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver import schema
from clientgo.testing.apiserver.jsonio import copy, dumps_text

Json = dict[str, Any]

MAX_OPERATIONS = 10000
_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_PRIMITIVES = "$deleteFromPrimitiveList/"


class PatchError(Exception):
    """The patch cannot be applied to this object."""


# ---- JSON merge patch (RFC 7386)


def merge_patch(original: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy(patch)
    out = dict(original) if isinstance(original, dict) else {}
    for name, value in patch.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merge_patch(out.get(name), value)
    return out


# ---- JSON patch (RFC 6902)


def json_patch(original: Any, operations: list[Any]) -> Any:
    """Apply the operations in order. Raises PatchError when one of them does not fit."""
    document = copy(original)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError("missing path")
        document = _apply_operation(document, operation)
    return document


def _apply_operation(document: Any, operation: Json) -> Any:
    kind = operation.get("op")
    path = _pointer(operation["path"])
    if kind == "test":
        if _lookup(document, path) != operation.get("value"):
            raise PatchError(f"testing value {operation['path']} failed")
        return document
    if kind == "remove":
        return _remove(document, path)
    if kind == "add":
        return _add(document, path, copy(operation.get("value")))
    if kind == "replace":
        _lookup(document, path)
        return _replace(document, path, copy(operation.get("value")))
    if kind in ("move", "copy"):
        source = _pointer(str(operation.get("from", "")))
        value = copy(_lookup(document, source))
        if kind == "move":
            if path[: len(source)] == source and len(path) > len(source):
                raise PatchError("cannot move a value into itself")
            document = _remove(document, source)
        return _add(document, path, value)
    raise PatchError(f"Unexpected kind: {kind}")


def _pointer(text: str) -> list[str]:
    if text == "":
        return []
    if not text.startswith("/"):
        raise PatchError(f"invalid path {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _index(items: list[Any], name: str, *, end: bool) -> int:
    if name == "-" and end:
        return len(items)
    if not name.lstrip("-").isascii() or not name.lstrip("-").isdigit():
        raise PatchError(f"invalid array index {name}")
    at = int(name)
    if at < 0 or at > len(items) - (0 if end else 1):
        raise PatchError(f"array index {name} out of bounds")
    return at


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        if name not in value:
            raise PatchError(f"missing key {name}")
        return value[name]
    if isinstance(value, list):
        return value[_index(value, name, end=False)]
    raise PatchError(f"no value at {name}")


def _lookup(document: Any, path: list[str]) -> Any:
    for name in path:
        document = _step(document, name)
    return document


def _parent(document: Any, path: list[str]) -> Any:
    return _lookup(document, path[:-1])


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[name] = value
    elif isinstance(parent, list):
        parent.insert(_index(parent, name, end=True), value)
    else:
        raise PatchError("add operation does not apply")
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        parent[_index(parent, name, end=False)] = value
    else:
        parent[name] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        raise PatchError("remove operation does not apply")
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        del parent[_index(parent, name, end=False)]
    elif isinstance(parent, dict) and name in parent:
        del parent[name]
    else:
        raise PatchError(f"Unable to remove nonexistent key: {name}")
    return document


# ---- strategic merge patch


def strategic_patch(original: Any, patch: Any, struct: schema.Struct | None) -> Any:
    """Merge `patch` into `original` with the merge keys of `struct`; without struct lists are replaced."""
    if not isinstance(patch, dict):
        raise PatchError("expected a map")
    return _merge_map(original if isinstance(original, dict) else {}, patch, struct)


def _merge_map(original: Json, patch: Json, struct: schema.Struct | None) -> Any:
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return _clean({name: value for name, value in patch.items() if name != _DIRECTIVE})
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise PatchError(f"unknown patch type found: {directive}")
    out = dict(original)
    if _RETAIN in patch:
        retained = patch[_RETAIN]
        if not isinstance(retained, list):
            raise PatchError("retainKeys must be a list")
        out = {name: value for name, value in out.items() if name in retained}
    for name, value in patch.items():
        if name in (_DIRECTIVE, _RETAIN) or name.startswith(_ORDER):
            continue
        if name.startswith(_DELETE_PRIMITIVES):
            _delete_primitives(out, name[len(_DELETE_PRIMITIVES) :], value)
            continue
        if value is None:
            out.pop(name, None)
            continue
        out[name] = _merge_value(out.get(name), value, struct, name, patch.get(_ORDER + name))
    for name, order in patch.items():
        if name.startswith(_ORDER) and name[len(_ORDER) :] not in patch:
            _reorder_only(out, name[len(_ORDER) :], order, struct)
    return out


def _delete_primitives(out: Json, field: str, values: Any) -> None:
    if not isinstance(values, list):
        raise PatchError(f"invalid list in {_DELETE_PRIMITIVES}{field}")
    if isinstance(out.get(field), list):
        out[field] = [item for item in out[field] if item not in values]


def _field(struct: schema.Struct | None, name: str) -> schema.Field | None:
    return None if struct is None else struct.fields.get(name)


def _inner_struct(struct: schema.Struct | None, name: str) -> schema.Struct | None:
    """The struct of a struct field or of the elements of a collection field."""
    field = _field(struct, name)
    if field is None or struct is None:
        return None
    if field.struct is not None:
        return field.struct
    elem = schema.element(field.type, struct.package)
    return None if elem is None else elem.struct


def _merge_value(current: Any, value: Any, struct: schema.Struct | None, name: str, order: Any) -> Any:
    field = _field(struct, name)
    if isinstance(value, dict):
        if struct is not None and field is not None and schema.collection_kind(field.type, struct.package) == "map":
            return _merge_plain_map(current, value, _inner_struct(struct, name))
        if field is not None and "replace" in field.merge_strategy:
            return _clean(value)
        base = current if isinstance(current, dict) else {}
        return _merge_map(base, value, _inner_struct(struct, name))
    if isinstance(value, list):
        if field is None or "merge" not in field.merge_strategy:
            return [_clean(item) for item in value]
        if not field.merge_key:
            return _merge_primitives(current, value, order)
        return _merge_items(current, value, field.merge_key, _inner_struct(struct, name), order)
    return value


def _merge_plain_map(current: Any, value: Json, struct: schema.Struct | None) -> Any:
    if value.get(_DIRECTIVE) == "replace":
        return _clean({name: item for name, item in value.items() if name != _DIRECTIVE})
    if value.get(_DIRECTIVE) == "delete":
        return {}
    out = dict(current) if isinstance(current, dict) else {}
    for name, item in value.items():
        if name == _DIRECTIVE:
            continue
        if item is None:
            out.pop(name, None)
        elif isinstance(item, dict):
            out[name] = _merge_map(out.get(name) or {}, item, struct)
        else:
            out[name] = _clean(item)
    return out


def _merge_primitives(current: Any, value: list[Any], order: Any) -> list[Any]:
    before = current if isinstance(current, list) else []
    out = before + [item for item in value if item not in before]
    return _in_order(out, order if isinstance(order, list) else value, before, lambda item: item)


def _merge_items(current: Any, value: list[Any], key: str, struct: schema.Struct | None, order: Any) -> list[Any]:
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in value):
        return [
            _clean({name: inner for name, inner in item.items() if name != _DIRECTIVE})
            for item in value
            if not (item.get(_DIRECTIVE) == "replace" and key not in item)
        ]
    out = list(current) if isinstance(current, list) else []
    for item in value:
        if not isinstance(item, dict) or key not in item:
            raise PatchError(f"map: {item} does not contain declared merge key: {key}")
        at = next((i for i, known in enumerate(out) if isinstance(known, dict) and known.get(key) == item[key]), -1)
        if item.get(_DIRECTIVE) == "delete":
            if at >= 0:
                del out[at]
        elif at >= 0:
            out[at] = _merge_map(out[at], item, struct)
        else:
            out.append(_merge_map({}, item, struct))
    before = current if isinstance(current, list) else []
    return _in_order(out, order if isinstance(order, list) else value, before, lambda item: item.get(key))


def _in_order(items: list[Any], order: list[Any], before: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    """Items that the patch names in its order, merged with the others in theirs; what is new comes first.

    `order` is $setElementOrder or else the patch itself, `before` the list on the server.
    """

    def key_of(item: Any) -> Any:
        return key(item) if isinstance(item, dict) else item

    by_key = {dumps_text(key(item)): item for item in items}
    named = [name for name in dict.fromkeys(dumps_text(key_of(item)) for item in order) if name in by_key]
    rank = {dumps_text(key(item)): i for i, item in enumerate(before)}
    others = [name for name in by_key if name not in set(named)]
    out: list[str] = []
    while named and others:
        moved_past = named[0] in rank and others[0] in rank and rank[others[0]] < rank[named[0]]
        out.append(others.pop(0) if moved_past else named.pop(0))
    return [by_key[name] for name in (*out, *named, *others)]


def _reorder_only(out: Json, field: str, order: Any, struct: schema.Struct | None) -> None:
    known = _field(struct, field)
    if known is None or not isinstance(out.get(field), list):
        return
    if not isinstance(order, list):
        raise PatchError(f"{_ORDER}{field} must be a list")
    key = known.merge_key
    out[field] = _in_order(out[field], order, out[field], (lambda item: item.get(key)) if key else (lambda item: item))


def _clean(value: Any) -> Any:
    """A value that is taken as it is: without directives and nulls."""
    if isinstance(value, dict):
        return {
            name: _clean(item)
            for name, item in value.items()
            if item is not None
            and name not in (_DIRECTIVE, _RETAIN)
            and not name.startswith((_ORDER, _DELETE_PRIMITIVES))
        }
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
